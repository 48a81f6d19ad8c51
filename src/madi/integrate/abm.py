"""Adams-Bashforth-Moulton predictor-corrector (PECE), variable step and order; P0's integrator.

With the derivatives f at past points t_n, t_{n-1}, ... in Newton's form,

    predictor, order k:       x_n + h sum_{i<k}  b_i f[t_n, ..., t_{n-i}],
    corrector, order k + 1:   x_n + h sum_{i<=k} c_i f[t_{n+1}, t_n, ..., t_{n+1-i}],

where b_i, c_i are integrals of the node polynomials over the step: the actual grid is used, no step ratio is assumed. The
terms of the corrector's sum, term by term, are the error estimates of all orders. The result is taken with the last term
added (local extrapolation), the error is that term. Divided differences are made anew in the chart at q_n at every step,
from the stored points (q, v, a), so rotations need no special treatment.

Step and order control in the manner of Shampine & Gordon, Computer Solution of Ordinary Differential Equations (1975).
With a fixed step (option) the order, k + 1, is fixed too, and the first points come from Runge-Kutta.
"""

from __future__ import annotations

from madi.integrate.ab3 import carried
from madi.integrate.contract import (
    ACCEPTED,
    ATOL,
    DONE,
    END,
    EVALUATIONS,
    FIRST_STEP,
    FIXED_STEP,
    MAX_STEP,
    NEXT,
    NOT_FINITE,
    ORDER,
    PAUSED,
    REJECTED,
    RTOL,
    SINCE,
    SINGULAR,
    STARTED,
    STEP,
    STEP_TOO_SMALL,
    STORED,
    TIME,
    WANTED_ORDER,
    Method,
    all_finite,
    arrive,
    derivative,
    derivative_here,
    error_norm,
    first_outputs,
    first_step,
    hermite_outputs,
    leaps,
    note_step,
    scales,
    start_step,
    write,
)
from madi.integrate.rk4 import next_step, rk4_step
from madi.joints.dispatch import retract
from madi.kernel import as_model, kernel, view1
from madi.loops.kkt import LOWEST

MOST = 12  # highest order of the predictor
POINTS = MOST + 2  # points kept


@kernel
def node_integrals(nodes, m, s, polynomial, out):
    """out[i] = integral over [0, s] of (s - nodes[0]) ... (s - nodes[i-1]), i < m."""
    polynomial[0] = 1.0
    for i in range(m):
        total, power = 0.0, s
        for j in range(i + 1):
            total += polynomial[j] * power / (j + 1.0)
            power *= s
        out[i] = total
        polynomial[i + 1] = 0.0
        for j in range(i + 1, 0, -1):
            polynomial[j] = polynomial[j - 1] - nodes[i] * polynomial[j]
        polynomial[0] = -nodes[i] * polynomial[0]


@kernel
def divide(F, nodes, m, n):
    """Rows of F (values at nodes 0..m-1) become the divided differences f[0..i]."""
    for i in range(1, m):
        for j in range(m - 1, i - 1, -1):
            w = 1.0 / (nodes[j] - nodes[j - i])
            for c in range(n):
                F[j * n + c] = (F[j * n + c] - F[(j - 1) * n + c]) * w


@kernel
def remember(state, at, points, t, q, d, nq, n):
    """Push the point (t, q, derivative) in front of the stored ones."""
    width = 1 + nq + n
    for j in range(points * width - 1, width - 1, -1):
        state[at + j] = state[at + j - width]
    state[at] = t
    for j in range(nq):
        state[at + 1 + j] = q[j]
    for j in range(n):
        state[at + 1 + nq + j] = d[j]


@kernel
def best_order(k, stored, since, low, here, high):
    """Order whose error would allow the longest step: one lower, the same, or (when settled) one higher."""
    grow = (0.5 / max(here, 1e-12)) ** (1.0 / (k + 1.0))
    order, factor = k, grow
    if k > 1:
        other = (0.5 / max(low, 1e-12)) ** (1.0 / k)
        if other > 1.05 * factor:
            order, factor = k - 1, other
    if order == k and k < MOST and stored >= k + 1 and since > k:
        other = (0.5 / max(high, 1e-12)) ** (1.0 / (k + 2.0))
        if other > 1.05 * factor:
            order, factor = k + 1, other
    return order, factor


@kernel
def newton_sum(F, n, nodes, m, weights, h, x, copy):
    """x += h sum_i weights[i] f[1..1+i] for the values in rows 1..m of F, which stay as they are."""
    for j in range(m * n):
        copy[j] = F[n + j]
    divide(copy, view1(nodes, 1, m), m, n)
    for i in range(m):
        for j in range(n):
            x[j] = x[j] + h * weights[i] * copy[i * n + j]


@kernel
def term_norm(model, F, n, i, m, weight, scale, rtol, atol, error):
    """Size of term i of the corrector's sum; huge where there are too few points for it."""
    if i < 1 or i >= m:
        return 1e200
    for j in range(n):
        error[j] = weight * F[i * n + j]
    return error_norm(model, error, scale, rtol, atol)


@kernel
def newton_outputs(model, times, n_times, count, t, h, q0, x0, F, nodes, m, polynomial, weights, q1, x1, Q, V, scratch):
    """Write all outputs up to t + h: the corrector's polynomial integrated to the time asked for."""
    n = 2 * model.nv
    y, q = view1(scratch, 0, n), view1(scratch, n, model.nq)
    while count[NEXT] < n_times and times[count[NEXT]] <= t + h * (1.0 + 1e-12):
        s = (times[count[NEXT]] - t) / h
        if s >= 1.0 - 1e-12:
            write(model, count[NEXT], q1, view1(x1, model.nv, model.nv), Q, V)
        else:
            node_integrals(nodes, m, s, polynomial, weights)
            for j in range(n):
                total = 0.0
                for i in range(m):
                    total += weights[i] * F[i * n + j]
                y[j] = x0[j] + h * total
            retract(model, q0, y, q)
            write(model, count[NEXT], q, view1(y, model.nv, model.nv), Q, V)
        count[NEXT] += 1


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps q, v, the derivative, then POINTS times (t, q, derivative), newest first."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = 2 * nv
    width = 1 + nq + n
    q, v, d = view1(state, 4, nq), view1(state, 4 + nq, nv), view1(state, 4 + nq + nv, n)
    past = 4 + nq + nv + n
    x0, x1 = view1(buffer, 0, n), view1(buffer, n, n)
    x, k_ = view1(buffer, 2 * n, n), view1(buffer, 3 * n, n)
    d1, scale, error = view1(buffer, 4 * n, n), view1(buffer, 5 * n, n), view1(buffer, 6 * n, n)
    F = view1(buffer, 7 * n, (POINTS + 1) * n)
    a = (8 + POINTS) * n
    nodes, weights, polynomial = view1(buffer, a, 20), view1(buffer, a + 20, 20), view1(buffer, a + 40, 20)
    q1, scratch = view1(buffer, a + 60, nq), view1(buffer, a + 60 + nq, nq + n)
    rtol, atol = option[RTOL], option[ATOL]
    fixed = option[FIXED_STEP] > 0.0
    if count[STARTED] == 0:
        count[STARTED] = 1
        derivative_here(calls, model, state[TIME], q, v, d, scratch)
        count[EVALUATIONS] += 1
        scales(model, q, v, scale)
        h = option[FIRST_STEP]
        if h <= 0.0 and not fixed:
            span = state[END] - state[TIME]
            h = first_step(calls, model, state[TIME], span, q, v, d, scale, x, x1, scratch, 1.0, rtol, atol)
            count[EVALUATIONS] += 1
        state[STEP] = min(h, option[MAX_STEP])
        count[ORDER] = max(1, int(option[WANTED_ORDER]) - 1) if fixed else 1
        count[SINCE] = 0
        remember(state, past, POINTS, state[TIME], q, d, nq, n)
        count[STORED] = 1
        first_outputs(model, times, n_times, count, state[TIME], q, v, Q, V)
        if not all_finite(d, n):
            return NOT_FINITE
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        order = count[ORDER]
        t, h, end = state[TIME], state[STEP], state[END]
        if fixed:
            t, h = next_step(state, option, count[ACCEPTED])
        elif h < 1e-14 * max(abs(t), abs(end)):
            return STEP_TOO_SMALL
        elif t + 1.01 * h >= end:
            h = end - t
        start_step(v, nv, x0)
        if fixed and count[STORED] < order:
            rk4_step(calls, model, t, h, q, x0, d, x1, x, k_, scratch)
            count[EVALUATIONS] += 3
            err, low, high = 0.0, 0.0, 0.0
        else:
            # the stored derivatives in the chart at q_n, rows 1.. of F; nodes in units of h from t_n
            stored = min(count[STORED], order + 1)
            for i in range(stored):
                at = past + i * width
                nodes[1 + i] = (state[at] - t) / h
                carried(model, q, view1(state, at + 1, nq), view1(state, at + 1 + nq, n), view1(F, (1 + i) * n, n), error)
            node_integrals(view1(nodes, 1, stored), min(order, stored), 1.0, polynomial, weights)
            for j in range(n):
                x[j] = x0[j]
            newton_sum(F, n, nodes, min(order, stored), weights, h, x, view1(buffer, a + 60 + 2 * nq + n, POINTS * n))
            derivative(calls, model, t + h, q, x, view1(F, 0, n), scratch)
            count[EVALUATIONS] += 1
            nodes[0] = 1.0
            m = stored + 1
            divide(F, nodes, m, n)
            node_integrals(nodes, m, 1.0, polynomial, weights)
            for j in range(n):
                total = 0.0
                for i in range(min(order + 1, m)):
                    total += weights[i] * F[i * n + j]
                x1[j] = x0[j] + h * total
            scales(model, q, v, scale)
            err = term_norm(model, F, n, order, m, h * weights[min(order, m - 1)], scale, rtol, atol, error)
            low = term_norm(model, F, n, order - 1, m, h * weights[max(order - 1, 0)], scale, rtol, atol, error)
            high = term_norm(model, F, n, order + 1, m, h * weights[min(order + 1, m - 1)], scale, rtol, atol, error)
        if not fixed and not (err < 1e300):
            if h < 1e-10 * max(1.0, abs(t)):
                return NOT_FINITE
            state[STEP] = 0.1 * h if close == 0 or remarks[LOWEST] >= SINGULAR else 0.7 * h
            count[REJECTED] += 1
        elif not fixed and err > 1.0 and not leaps(calls, h, err * rtol):
            count[REJECTED] += 1
            count[SINCE] = 0
            state[STEP] = h * min(0.7, max(0.2, (0.5 / err) ** (1.0 / (order + 1.0))))
            if order > 1 and low < err:
                count[ORDER] = order - 1
        else:
            arrive(calls, model, t + h, q, x1, q1, d1, scratch)
            count[EVALUATIONS] += 1
            if not (all_finite(x1, n) and all_finite(d1, n)):
                return NOT_FINITE
            if fixed:
                hermite_outputs(model, times, n_times, count, t, h, q, x0, d, x1, d1, q1, Q, V, view1(buffer, 2 * n, n + nq))
            else:
                newton_outputs(model, times, n_times, count, t, h, q, x0, F, nodes, min(order + 1, m), polynomial, weights,
                               q1, x1, Q, V, view1(buffer, 2 * n, n + nq))  # fmt: skip
            for j in range(nq):
                q[j] = q1[j]
            for c in range(nv):
                v[c] = x1[nv + c]
            for j in range(n):
                d[j] = d1[j]
            note_step(calls, t + h, h)
            count[ACCEPTED] += 1
            state[TIME] = t + h if h < end - t else end
            remember(state, past, POINTS, state[TIME], q, d, nq, n)
            count[STORED] = min(count[STORED] + 1, POINTS)
            if not fixed:
                count[SINCE] += 1
                order, factor = best_order(order, stored, count[SINCE], low, err, high)
                if order != count[ORDER]:
                    count[ORDER] = order
                    count[SINCE] = 0
                # small changes of the step are not worth making
                if factor >= 2.0:
                    h = 2.0 * h
                elif factor < 1.0:
                    h = h * max(0.5, min(0.9, factor))
                elif factor > 1.3:
                    h = 1.2 * h
                state[STEP] = min(h, option[MAX_STEP])
            else:
                state[STEP] = h
    return DONE


METHOD = Method(
    "abm",
    loop,
    order=4,
    adaptive=True,
    first=4,
    state=lambda nq, nv: 4 + nq + 3 * nv + POINTS * (1 + nq + 2 * nv),
    buffer=lambda nq, nv: (8 + 2 * POINTS) * 2 * nv + 60 + 2 * nq + 2 * nv,
    fixed_too=True,
    limits={ORDER: (1, MOST), STORED: (1, POINTS)},
)
