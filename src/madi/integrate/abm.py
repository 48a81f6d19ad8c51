"""Adams-Bashforth-Moulton predictor-corrector (PECE), variable step and order; P0's integrator.

The unknowns are y = (q, v) itself, rotations as the unit quaternions they are in q (P0's Euler parameters), with
y' = (q'(q, v), a): a linear space, so past derivatives need not be carried from chart to chart. Predicted quaternions are
normalised before they are used, and so is each new point.

Past derivatives are kept as modified divided differences (Krogh's; see Shampine & Gordon, Computer Solution of Ordinary
Differential Equations, 1975, ch. 5). With psi_i(n) = t_n - t_{n-i},

    phi_1(n) = f_n,   phi_{i+1}(n) = psi_1(n) ... psi_i(n) f[t_n, ..., t_{n-i}],
    phi*_i = beta_i phi_i(n),   beta_i = prod_{j<i} psi_j(n+1) / psi_j(n)          (1 where steps are equal),
    phi_1(n+1) = f_{n+1},   phi_{i+1}(n+1) = phi_i(n+1) - phi*_i:

a step costs O(k n). With g_i the integrals of the node polynomials over the step,

    predictor, order k:       p = y_n + h sum_{i<=k} g_i phi*_i,
    corrector, order k + 1:   y = p + h g_{k+1} (f(p) - sum_{i<=k} phi*_i).

The bracket is the predicted phi_{k+1}(n+1); it and its neighbours estimate the errors of the orders k - 1, k, k + 1 on the
actual grid, no step ratio is assumed. The result is taken with the last term added (local extrapolation), the error is
that term. Step and order control in the manner of Shampine & Gordon; steps are changed seldom, and while they are equal
the coefficients stay. With a fixed step (option) the order, k + 1, is fixed too, and the first points come from Runge-Kutta.

docs/references.md: [P0], [Shampine, Gordon 1975], [Krogh 1974].
"""

from __future__ import annotations

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
from madi.joints.chart import coordinate_rate, normalise
from madi.joints.ladder import quaternion_at
from madi.kernel import as_model, call, kernel, view1
from madi.loops.kkt import ASKED, CAREFUL, LOWEST

MOST = 12  # highest order of the predictor
ROWS = MOST + 2  # rows phi_i kept
# state: its four numbers, y, then coefficients (PAST, BETA, G: ROWS + 1 each; LENGTH, EQUAL, MADE), then the rows phi_i
PAST, BETA, G = 0, ROWS + 1, 2 * (ROWS + 1)
LENGTH, EQUAL, MADE = 3 * (ROWS + 1), 3 * (ROWS + 1) + 1, 3 * (ROWS + 1) + 2  # of the steps before, how many, k of them
COEFFICIENTS = 3 * (ROWS + 1) + 3


@kernel
def coefficients(c, h, k, stored, w):
    """beta_i for i <= k + 1 and g_i for i <= k + 2 of a step of length h; c[PAST + i] = psi_i(n). Made anew unless the last
    k + 2 steps, and the one for which they were made, were as long as this."""
    equal = c[LENGTH] == h and c[EQUAL] >= k + 2.0
    if equal and c[MADE] == k:
        return
    c[MADE] = 1.0 * k if equal else 0.0
    c[BETA + 1], c[G + 1], c[G + 2] = 1.0, 1.0, 0.5
    for i in range(2, min(k + 1, stored) + 1):
        c[BETA + i] = c[BETA + i - 1] * (h + c[PAST + i - 2]) / c[PAST + i - 1]
    for j in range(1, k + 2):
        w[j] = 1.0 / (j * (j + 1.0))
    for i in range(3, k + 3):
        alpha = h / (h + c[PAST + i - 2])
        for j in range(1, k + 4 - i):
            w[j] = w[j] - alpha * w[j + 1]
        c[G + i] = w[1]


@kernel
def predicted(c, phi, h, k, n, y, p, total):
    """p = y + h sum g_i phi*_i, and the sum of the phi*_i, i <= k; small terms first."""
    for j in range(n):
        p[j], total[j] = 0.0, 0.0
    for i in range(k, 0, -1):
        beta = c[BETA + i]
        weight, row = c[G + i] * beta, (i - 1) * n
        for j in range(n):
            p[j] = p[j] + weight * phi[row + j]
            total[j] = total[j] + beta * phi[row + j]
    for j in range(n):
        p[j] = y[j] + h * p[j]


@kernel
def advance(c, phi, h, rows, n, f):
    """phi_i(n+1) for i <= rows from f = f_{n+1}, which is lost; the grid moves on."""
    for i in range(1, rows + 1):
        row, beta = (i - 1) * n, c[BETA + i]
        if i == rows:
            beta = 0.0
        for j in range(n):
            old = phi[row + j]
            phi[row + j] = f[j]
            f[j] = f[j] - beta * old
    for i in range(ROWS, 0, -1):
        c[PAST + i] = h + c[PAST + i - 1]
    c[EQUAL] = c[EQUAL] + 1.0 if c[LENGTH] == h else 1.0
    c[LENGTH] = h


@kernel
def derivative_of(calls, model, t, z, f, tau):
    """f = z' at z = (q, v), whose quaternions are normalised; where accelerations off the closed states are not smooth, z is
    closed first (as in contract.derivative)."""
    function, context, close, close_context, remarks = calls
    nq, nv = model.nq, model.nv
    q, v = view1(z, 0, nq), view1(z, nq, nv)
    normalise(model, q)
    if close != 0 and remarks[CAREFUL] != 0.0:
        call(close, t, q, v, tau, view1(f, nq, nv), close_context)
    else:
        call(function, t, q, v, tau, view1(f, nq, nv), context)
        remarks[ASKED] = remarks[ASKED] + 1.0
    coordinate_rate(model, q, v, f)


@kernel
def come_to(calls, model, t, z, f, tau):
    """The end of a step: z = (q, v) brought back to where the loops are closed, and f = z' there."""
    close, close_context = calls[2], calls[3]
    if close == 0:
        derivative_of(calls, model, t, z, f, tau)
        return
    nq, nv = model.nq, model.nv
    q, v = view1(z, 0, nq), view1(z, nq, nv)
    normalise(model, q)
    call(close, t, q, v, tau, view1(f, nq, nv), close_context)
    coordinate_rate(model, q, v, f)


@kernel
def tolerances(model, rtol, atol, y, weight):
    """weight[j] = 1 / (error that y_j may have). A rotation's angle is twice what its quaternion changes by."""
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        for j in range(model.v_end[i] - l):
            if at < 0 or j < at:
                weight[k + j] = 1.0 / (atol + rtol * abs(y[k + j]))
        if at >= 0:
            for j in range(4):
                weight[k + at + j] = 2.0 / (atol + rtol)
    for j in range(model.nq, model.nq + model.nv):
        weight[j] = 1.0 / (atol + rtol * abs(y[j]))


@kernel
def sizes(c, phi, delta, weight, h, k, stored, n):
    """(error at order k - 1, k, k + 1) from the predicted phi_{k+1} = delta and its neighbours; huge where there is none."""
    low, here, high = 0.0, 0.0, 0.0
    below, above = (k - 1) * n, k * n
    beta, next_beta = c[BETA + k], c[BETA + k + 1] if stored > k else 0.0
    for j in range(n):
        w = weight[j]
        e = w * abs(delta[j])
        if here == here and not e <= here:  # a NaN is taken over, and stays
            here = e
        low = max(low, w * abs(delta[j] + beta * phi[below + j]))
        high = max(high, w * abs(delta[j] - next_beta * phi[above + j]))
    here = h * abs(c[G + k + 1] - c[G + k]) * here
    low = h * abs(c[G + k] - c[G + k - 1]) * low if k > 1 else 1e200
    high = h * abs(c[G + k + 2] - c[G + k + 1]) * high if stored > k else 1e200
    return low, here, high


@kernel
def best_order(k, stored, since, low, here, high):
    """Order whose error would allow the longest step: one lower, the same, or (when settled) one higher."""
    grow = (0.5 / max(here, 1e-12)) ** (1.0 / (k + 1.0))
    order, factor = k, grow
    if k > 1:
        other = (0.5 / max(low, 1e-12)) ** (1.0 / k)
        if other > 1.05 * factor:
            order, factor = k - 1, other
    if order == k and k < MOST and stored > k and since > k:
        other = (0.5 / max(high, 1e-12)) ** (1.0 / (k + 2.0))
        if other > 1.05 * factor:
            order, factor = k + 1, other
    return order, factor


@kernel
def interpolated(c, phi, f, k, n, h, back, y, z, row, w):
    """z = y + the integral from the end of the step, at y, to `back` < 0 before it, of the polynomial through f, the
    derivative at the predicted end, and the k before it: rows phi_i(n+1) as they go, from f and the phi*_i. row: scratch."""
    for j in range(1, k + 2):
        w[j] = 1.0 / j
    for j in range(n):
        row[j] = f[j]
        z[j] = f[j]
    before = 0.0
    for i in range(2, k + 2):
        psi, at, beta = h + c[PAST + i - 2], (i - 2) * n, c[BETA + i - 1]
        shift, part = (back + before) / psi, back / psi
        for j in range(1, k + 3 - i):
            w[j] = shift * w[j] - part * w[j + 1]
        for j in range(n):
            row[j] = row[j] - beta * phi[at + j]
            z[j] = z[j] + w[1] * row[j]
        before = psi
    for j in range(n):
        z[j] = y[j] + back * z[j]


@kernel
def outputs_within(model, times, n_times, count, c, phi, f, k, end, h, y, Q, V, z, row, w):
    """Write all outputs before `end`, where a step of length h comes to y: not closed yet, and not struck by a drive."""
    nq, nv = model.nq, model.nv
    while count[NEXT] < n_times and times[count[NEXT]] < end - 1e-9 * h:
        interpolated(c, phi, f, k, nq + nv, h, times[count[NEXT]] - end, y, z, row, w)
        normalise(model, z)
        write(model, count[NEXT], z, view1(z, nq, nv), Q, V)
        count[NEXT] += 1


@kernel
def outputs_at(model, times, n_times, count, end, h, y, Q, V):
    """Write the output at the end of a step, if one is wanted there."""
    while count[NEXT] < n_times and times[count[NEXT]] <= end + 1e-9 * h:
        write(model, count[NEXT], y, view1(y, model.nq, model.nv), Q, V)
        count[NEXT] += 1


@kernel
def runge_kutta(calls, model, t, h, y, f, z, buffer):
    """z, and f there, one step after y by Runge-Kutta; x0, d0, x1, d1 of a cubic are left at the start of buffer."""
    nq, nv = model.nq, model.nv
    n = 2 * nv
    x0, d0, x1, d1 = view1(buffer, 0, n), view1(buffer, n, n), view1(buffer, 2 * n, n), view1(buffer, 3 * n, n)
    x, k, scratch = view1(buffer, 4 * n, n), view1(buffer, 5 * n, n), view1(buffer, 6 * n, nq + nv)
    start_step(view1(y, nq, nv), nv, x0)
    for c in range(nv):
        d0[c], d0[nv + c] = y[nq + c], f[nq + c]
    rk4_step(calls, model, t, h, y, x0, d0, x1, x, k, scratch)
    arrive(calls, model, t + h, y, x1, z, d1, scratch)
    for c in range(nv):
        z[nq + c], f[nq + c] = x1[nv + c], d1[nv + c]
    coordinate_rate(model, z, view1(z, nq, nv), f)


@kernel
def changed(h, factor):
    """The next step; small changes are not worth making."""
    if factor >= 2.0:
        return 2.0 * h
    if factor < 1.0:
        return h * max(0.5, min(0.9, factor))
    return 1.2 * h if factor > 1.3 else h


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps y = (q, v), the coefficients, the rows phi_i; count[STORED] of these are good."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = nq + nv
    y, c, phi = view1(state, 4, n), view1(state, 4 + n, COEFFICIENTS), view1(state, 4 + n + COEFFICIENTS, ROWS * n)
    z, p, f = view1(buffer, 0, n), view1(buffer, n, n), view1(buffer, 2 * n, n)
    delta, weight, tau = view1(buffer, 3 * n, n), view1(buffer, 4 * n, n), view1(buffer, 5 * n, nv)
    w, rest = view1(buffer, 5 * n + nv, ROWS + 2), view1(buffer, 5 * n + nv + ROWS + 2, 12 * nv + 2 * n)
    rtol, atol = option[RTOL], option[ATOL]
    fixed = option[FIXED_STEP] > 0.0
    if count[STARTED] == 0:
        count[STARTED] = 1
        derivative_of(calls, model, state[TIME], y, phi, tau)
        count[EVALUATIONS] += 1
        h = option[FIRST_STEP]
        if h <= 0.0 and not fixed:
            # twice nv numbers each: with first-order states more than the n of p and weight
            x, dx, d0 = view1(rest, 0, 2 * nv), view1(rest, 2 * nv, 2 * nv), view1(rest, 4 * nv, 2 * nv)
            scale, scratch = view1(rest, 6 * nv, 2 * nv), view1(rest, 8 * nv, n)
            for k in range(nv):
                d0[k], d0[nv + k] = y[nq + k], phi[nq + k]
            scales(model, y, view1(y, nq, nv), scale)
            span = state[END] - state[TIME]
            h = first_step(calls, model, state[TIME], span, y, view1(y, nq, nv), d0, scale, x, dx, scratch, 1.0, rtol, atol)
            count[EVALUATIONS] += 1
        state[STEP] = min(h, option[MAX_STEP])
        count[ORDER] = max(1, int(option[WANTED_ORDER]) - 1) if fixed else 1
        count[SINCE], count[STORED] = 0, 1
        first_outputs(model, times, n_times, count, state[TIME], y, view1(y, nq, nv), Q, V)
        if not all_finite(phi, n):
            return NOT_FINITE
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        k, stored = count[ORDER], count[STORED]
        t, h, end = state[TIME], state[STEP], state[END]
        if fixed:
            t, h = next_step(state, option, count[ACCEPTED])
        elif h < 1e-14 * max(abs(t), abs(end)):
            return STEP_TOO_SMALL
        elif t + 1.01 * h >= end:
            h = end - t
        coefficients(c, h, k, stored, w)
        low, err, high = 0.0, 0.0, 0.0
        began = fixed and stored < k  # too few points yet
        if began:
            for j in range(n):
                f[j] = phi[j]
            runge_kutta(calls, model, t, h, y, f, z, rest)
            count[EVALUATIONS] += 3
        else:
            predicted(c, phi, h, k, n, y, p, delta)
            for j in range(n):
                z[j] = p[j]
            derivative_of(calls, model, t + h, z, f, tau)
            count[EVALUATIONS] += 1
            for j in range(n):
                delta[j] = f[j] - delta[j]
                z[j] = p[j] + h * c[G + k + 1] * delta[j]
            if not fixed:
                tolerances(model, rtol, atol, y, weight)
                low, err, high = sizes(c, phi, delta, weight, h, k, stored, n)
        if not fixed and not (err < 1e300):
            if h < 1e-10 * max(1.0, abs(t)):
                return NOT_FINITE
            state[STEP] = 0.1 * h if close == 0 or remarks[LOWEST] >= SINGULAR else 0.7 * h
            count[REJECTED] += 1
            continue
        if not fixed and err > 1.0 and not leaps(calls, h, err * rtol):
            count[REJECTED] += 1
            count[SINCE] = 0
            state[STEP] = h * min(0.7, max(0.2, (0.5 / err) ** (1.0 / (k + 1.0))))
            if k > 1 and low < err:
                count[ORDER] = k - 1
            continue
        at, written = t + h if h < end - t else end, count[NEXT]
        if not began:
            outputs_within(model, times, n_times, count, c, phi, f, k, at, h, z, Q, V, p, delta, w)
            come_to(calls, model, t + h, z, f, tau)
        count[EVALUATIONS] += 1
        if not (all_finite(z, n) and all_finite(f, n)):
            count[NEXT] = written  # a step that does not arrive leaves no outputs
            return NOT_FINITE
        if began:
            x0, d0 = view1(rest, 0, 2 * nv), view1(rest, 2 * nv, 2 * nv)
            x1, d1, more = view1(rest, 4 * nv, 2 * nv), view1(rest, 6 * nv, 2 * nv), view1(rest, 8 * nv, 2 * nv + nq)
            hermite_outputs(model, times, n_times, count, t, h, y, x0, d0, x1, d1, z, Q, V, more)
        count[STORED] = min(stored + 1, k + 2)
        advance(c, phi, h, count[STORED], n, f)
        for j in range(n):
            y[j] = z[j]
        state[TIME] = at
        outputs_at(model, times, n_times, count, at, h, y, Q, V)
        note_step(calls, t + h, h)
        count[ACCEPTED] += 1
        state[STEP] = h
        if not fixed:
            count[SINCE] += 1
            order, factor = best_order(k, stored, count[SINCE], low, err, high)
            if order != k:
                count[ORDER], count[SINCE] = order, 0
            state[STEP] = min(changed(h, factor), option[MAX_STEP])
    return DONE


METHOD = Method(
    "abm",
    loop,
    order=4,
    adaptive=True,
    first=4,
    state=lambda nq, nv: 4 + nq + nv + COEFFICIENTS + ROWS * (nq + nv),
    buffer=lambda nq, nv: 7 * (nq + nv) + 13 * nv + ROWS + 2,
    fixed_too=True,
    limits={ORDER: (1, MOST), STORED: (1, ROWS)},
)
