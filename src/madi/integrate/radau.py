"""Radau IIA of fifth order, three stages, for stiff models at any accuracy (Hairer, Wanner: Solving ODEs II, IV.8).

The stages' increments Z of x = (theta, v) solve  A^-1 Z / h = x'(x0 + Z).  With W = T^-1 Z, T the eigenvectors of A^-1, a
simplified Newton step falls apart into one real system (mu - J) w = r, mu = g/h, and one complex, mu = (a - ib)/h. J is that
of x' = (v, v'), v' from R = 0; its first row is trivial, so of each system only the half in v is left (newton.py):

    (mu dR/dqdd + dR/dqd + dR/dq / mu) dv + Phi_q^T nu = dR/dqdd r_v - dR/dq r_theta / mu,     Phi_q dv = Phi_q r_v / mu,
    dtheta = (r_theta + dv) / mu.

Stages are evaluated with the full accelerations, loops solved; what the matrix leaves out (the chart's curvature, the
change of gamma) costs iterations, not accuracy. Error estimate, step and Jacobian control as in RADAU5.

docs/references.md: [Hairer, Wanner 1996], [Gustafsson 1994].
"""

from __future__ import annotations

import numpy as np

from madi.integrate.contract import (
    ACCEPTED,
    ATOL,
    DONE,
    END,
    EVALUATIONS,
    FIRST_STEP,
    FIXED_STEP,
    MAX_STEP,
    NEWTON_FAILED,
    NEXT,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    RTOL,
    SINCE,
    STARTED,
    STEP,
    STEP_TOO_SMALL,
    STORED,
    TIME,
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
)
from madi.integrate.newton import (
    ENTRIES,
    NL,
    NU,
    PART_PHI,
    PART_Q,
    PART_QDD,
    PARTS,
    UNKNOWN,
    assemble,
    assemble_complex,
    block_times,
    blocks_at,
    factor_length,
    factorise,
    factorise_complex,
    right_side,
    solve,
    solve_complex,
    value_length,
)
from madi.integrate.rk4 import next_step
from madi.joints.chart import chart_rate
from madi.kernel import as_model, call, kernel, view1

_R = 6.0**0.5
C = np.array([(4.0 - _R) / 10.0, (4.0 + _R) / 10.0, 1.0])
_A = np.array(
    [[(88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225],
     [(296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225],
     [(16 - _R) / 36, (16 + _R) / 36, 1 / 9]]
)  # fmt: skip


def _eigen():
    """(g, a, b, T): A^-1 T = T [[g, 0, 0], [0, a, b], [0, -b, a]]."""
    values, vectors = np.linalg.eig(np.linalg.inv(_A))
    real = int(np.argmin(np.abs(values.imag)))
    pair = int(np.argmax(values.imag))
    T = np.column_stack([vectors[:, real].real, vectors[:, pair].real, vectors[:, pair].imag])
    return float(values[real].real), float(values[pair].real), float(values[pair].imag), T


G, ALPHA, BETA, T = _eigen()
TI = np.linalg.inv(T)
D1, D2, D3 = -(13.0 + 7.0 * _R) / 3.0, (-13.0 + 7.0 * _R) / 3.0, -1.0 / 3.0  # of the error estimate
# of the polynomial through (0, 0) and the stages, its value in the middle of the step
HALF = np.array([np.prod([(0.5 - c) / (C[i] - c) for c in (0.0, *np.delete(C, i))]) for i in range(3)])
MOST = 8  # iterations; of a fixed step five times as many
JACOBIANS, NEWTONS = SINCE, STORED  # count[...]
OLD_H, OLD_ERROR, FACTOR_H, FRESH, FIRST = range(4, 9)  # state[...]: then q, v, (v, a), Z of the last step, blocks


@kernel
def newton_blocks(calls, model, plan, t, q, v, a, x, out, y, F, values, scratch):
    """The blocks at a state with accelerations a; with loops the multipliers are found first, from what R lacks."""
    nv, nr = model.nv, model.nr
    for c in range(nv):
        x[c], x[nv + c] = 0.0, a[c]
    for r in range(nr):
        x[2 * nv + r] = 0.0
    blocks_at(calls, model, t, q, v, x, values, scratch)
    if nr > 0:
        assemble(model, plan, values, 1.0, 0.0, 0.0, F, 0)
        factorise(plan, F)
        call(calls[0], t, q, v, x, out, calls[1])
        for r in range(nr):
            out[nv + nr + r] = 0.0
        right_side(model, plan, out, 1.0, view1(x, 2 * nv, nr), y)
        solve(plan, F, y)
        for r in range(nr):
            p = plan[plan[UNKNOWN] + nv + r]
            if p >= 0:
                x[2 * nv + r] = y[p]
        blocks_at(calls, model, t, q, v, x, values, scratch)


@kernel
def solve_real(model, plan, values, F, mu, r, y, z):
    """w of (mu - J) w = r in place of r = (r_theta, r_v). z: scratch of nv + nr."""
    nv, nr = model.nv, model.nr
    place = plan[UNKNOWN]
    for k in range(plan[NU]):
        y[k] = 0.0
    block_times(plan, values, PART_QDD, view1(r, nv, nv), z, nv)
    for c in range(nv):
        y[plan[place + c]] = z[c]
    block_times(plan, values, PART_Q, r, z, nv)
    for c in range(nv):
        y[plan[place + c]] = y[plan[place + c]] - z[c] / mu
    if nr > 0:
        block_times(plan, values, PART_PHI, view1(r, nv, nv), z, nr)
        for k in range(nr):
            p = plan[place + nv + k]
            if p >= 0:
                y[p] = z[k] / mu
    solve(plan, F, y)
    for c in range(nv):
        dv = y[plan[place + c]]
        r[c] = (r[c] + dv) / mu
        r[nv + c] = dv


@kernel
def solve_pair(model, plan, values, F, mu, nu, r2, r3, y, z):
    """The same for the complex mu + i nu and r2 + i r3; y: twice the unknowns."""
    nv, nr = model.nv, model.nr
    place, n = plan[UNKNOWN], plan[NU]
    square = mu * mu + nu * nu
    re, im = mu / square, -nu / square  # 1 / (mu + i nu)
    for k in range(2 * n):
        y[k] = 0.0
    for side in range(2):
        r = r2 if side == 0 else r3
        block_times(plan, values, PART_QDD, view1(r, nv, nv), z, nv)
        for c in range(nv):
            p = plan[place + c] + side * n
            y[p] = y[p] + z[c]
        block_times(plan, values, PART_Q, r, z, nv)
        for c in range(nv):
            p = plan[place + c]
            if side == 0:
                y[p], y[n + p] = y[p] - re * z[c], y[n + p] - im * z[c]
            else:
                y[p], y[n + p] = y[p] + im * z[c], y[n + p] - re * z[c]
        if nr > 0:
            block_times(plan, values, PART_PHI, view1(r, nv, nv), z, nr)
            for k in range(nr):
                p = plan[place + nv + k]
                if p >= 0:
                    if side == 0:
                        y[p], y[n + p] = y[p] + re * z[k], y[n + p] + im * z[k]
                    else:
                        y[p], y[n + p] = y[p] - im * z[k], y[n + p] + re * z[k]
    solve_complex(plan, F, y)
    for c in range(nv):
        p = plan[place + c]
        d2, d3 = y[p], y[n + p]
        a, b = r2[c] + d2, r3[c] + d3
        r2[c], r3[c] = re * a - im * b, re * b + im * a
        r2[nv + c], r3[nv + c] = d2, d3


@kernel
def transform(A, X, Y, n):
    """Y = A X over the three stages: A = T from the eigenvectors' parts to the stages, A = T^-1 back."""
    for j in range(n):
        a, b, c = X[j], X[n + j], X[2 * n + j]
        for i in range(3):
            Y[i * n + j] = A[i, 0] * a + A[i, 1] * b + A[i, 2] * c


@kernel
def doubt(model, h, x0, d0, x1, d1, Z, scale, rtol, atol, gap):
    """How far the cubic through both ends, of which outputs are taken, is in the middle from the one through the stages,
    against the tolerance: both err by as much."""
    n = 2 * model.nv
    for j in range(n):
        ends = 0.5 * (x0[j] + x1[j]) + 0.125 * h * (d0[j] - d1[j])
        gap[j] = ends - (x0[j] + HALF[0] * Z[j] + HALF[1] * Z[n + j] + HALF[2] * Z[2 * n + j])
    return error_norm(model, gap, scale, rtol, atol)


@kernel
def extrapolate(Z, n, ratio):
    """The last step's collocation polynomial, continued over a step `ratio` times as long, as the first guess of Z."""
    for j in range(n):
        z1, z2, z3 = Z[j], Z[n + j], Z[2 * n + j]
        # Newton's divided differences through 0, c1, c2, 1
        d1 = z1 / C[0]
        d2 = ((z2 - z1) / (C[1] - C[0]) - d1) / C[1]
        d3 = (((z3 - z2) / (1.0 - C[1]) - (z2 - z1) / (C[1] - C[0])) / (1.0 - C[0]) - d2) / 1.0
        for i in range(3):
            s = 1.0 + C[i] * ratio
            Z[i * n + j] = s * (d1 + (s - C[0]) * (d2 + (s - C[1]) * d3)) - z3


@kernel
def weighed(model, error, n, scale, rtol, atol):
    """error_norm over the three parts of W."""
    worst = 0.0
    for i in range(3):
        e = error_norm(model, view1(error, i * n, n), scale, rtol, atol)
        if worst == worst and not e <= worst:
            worst = e
    return worst


@kernel
def newton(
    calls, model, plan, values, FR, FC, t, h, q, x0, Z, W, R, x, scale, rtol, atol, small, most, y, z, scratch, count
):
    """Solve for the stages; (iterations, last rate of convergence), iterations 0 where it fails."""
    n = 2 * model.nv
    transform(TI, Z, W, n)
    before, rate = 0.0, 1.0
    for k in range(most):
        for i in range(3):
            for j in range(n):
                x[j] = x0[j] + Z[i * n + j]
            derivative(calls, model, t + C[i] * h, q, x, view1(R, i * n, n), scratch)
        count[EVALUATIONS] += 3
        count[NEWTONS] += 1
        for j in range(n):
            a, b, c = R[j], R[n + j], R[2 * n + j]
            w1, w2, w3 = W[j], W[n + j], W[2 * n + j]
            R[j] = TI[0, 0] * a + TI[0, 1] * b + TI[0, 2] * c - G / h * w1
            R[n + j] = TI[1, 0] * a + TI[1, 1] * b + TI[1, 2] * c - (ALPHA * w2 + BETA * w3) / h
            R[2 * n + j] = TI[2, 0] * a + TI[2, 1] * b + TI[2, 2] * c - (ALPHA * w3 - BETA * w2) / h
        solve_real(model, plan, values, FR, G / h, R, y, z)
        solve_pair(model, plan, values, FC, ALPHA / h, -BETA / h, view1(R, n, n), view1(R, 2 * n, n), y, z)
        change = weighed(model, R, n, scale, rtol, atol)
        for j in range(3 * n):
            W[j] = W[j] + R[j]
        transform(T, W, Z, n)
        if k > 0:
            rate = change / before
        if most > MOST and k > 0 and change < 1.0 and rate > 0.3:  # of a fixed step: rounding, at rest
            return k + 1, rate
        if (
            not change < 1e300
            or (k > 0 and rate >= 1.0)
            or (k > 0 and rate ** (most - 1 - k) / (1.0 - rate) * change > 10.0 * small and k > 2)
        ):
            return 0, rate
        if change == 0.0 or (k > 0 and rate / (1.0 - rate) * change <= small):
            return k + 1, rate
        before = change
    return 0, rate


def loop(function, context, close, close_context, remarks, residual, residual_context, parts, parts_context, stepper,
         stepper_context, plan, model, times, Q, V, state, count, option, buffer, n_times, limit):  # fmt: skip
    """See contract.py. state keeps q, v, (v, a), the stages of the last step, the blocks."""
    calls = (function, context, close, close_context, remarks)
    newton_calls = (residual, residual_context, parts, parts_context)
    model = as_model(model)
    nq, nv, nr = model.nq, model.nv, model.nr
    n, m = 2 * nv, plan[NU] + 2 * plan[NL]
    q, v, d = view1(state, FIRST, nq), view1(state, FIRST + nq, nv), view1(state, FIRST + nq + nv, n)
    a = view1(d, nv, nv)
    Z = view1(state, FIRST + nq + 3 * nv, 3 * n)
    entries = 0
    for part in range(PARTS):
        entries += plan[ENTRIES + part]
    values = view1(state, FIRST + nq + 3 * nv + 3 * n, entries)
    FR, FC = view1(buffer, 0, m), view1(buffer, m, 2 * m)
    at = 3 * m
    x0, x1, d1, x = (
        view1(buffer, at, n),
        view1(buffer, at + n, n),
        view1(buffer, at + 2 * n, n),
        view1(buffer, at + 3 * n, n),
    )
    error, scale, scale1 = view1(buffer, at + 4 * n, n), view1(buffer, at + 5 * n, n), view1(buffer, at + 6 * n, n)
    W, R = view1(buffer, at + 7 * n, 3 * n), view1(buffer, at + 10 * n, 3 * n)
    at = at + 13 * n
    trial, out = view1(buffer, at, n + nr), view1(buffer, at + n + nr, nv + 2 * nr)
    at = at + n + nr + nv + 2 * nr
    y, z = view1(buffer, at, 2 * plan[NU]), view1(buffer, at + 2 * plan[NU], nv + nr)
    at = at + 2 * plan[NU] + nv + nr
    q1, scratch, rest = (
        view1(buffer, at, nq),
        view1(buffer, at + nq, nq + n),
        view1(buffer, at + 2 * nq + n, n + 4 * nr + nq),
    )
    rtol, atol, fixed = option[RTOL], option[ATOL], option[FIXED_STEP]
    small, most = max(1e-14 / rtol, min(0.03, rtol**0.5)), MOST
    if fixed > 0.0:  # nothing else judges the step: to rounding
        rtol, atol, small, most = 1e-10, 1e-10, 1e-2, 5 * MOST
    if count[STARTED] == 0:
        count[STARTED] = 1
        derivative_here(calls, model, state[TIME], q, v, d, scratch)
        scales(model, q, v, scale)
        h = option[FIRST_STEP]
        if h <= 0.0:
            span = state[END] - state[TIME]
            h = first_step(calls, model, state[TIME], span, q, v, d, scale, x, x1, scratch, 3.0, rtol, atol)
        count[EVALUATIONS] += 2
        state[STEP] = min(h, option[MAX_STEP])
        state[OLD_H], state[OLD_ERROR], state[FACTOR_H], state[FRESH] = 0.0, 1.0, 0.0, 0.0
        first_outputs(model, times, n_times, count, state[TIME], q, v, Q, V)
        if not all_finite(d, n):
            return NOT_FINITE
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        t, h, end = state[TIME], state[STEP], state[END]
        if fixed > 0.0:
            t, h = next_step(state, option, count[ACCEPTED])
        elif h < 1e-14 * max(abs(t), abs(end)):
            return STEP_TOO_SMALL
        elif t + 1.01 * h >= end:
            h = end - t
        start_step(v, nv, x0)
        if state[FRESH] <= 0.0:  # 1: made at this point, 2: made before, and still good
            newton_blocks(newton_calls, model, plan, t, q, v, a, trial, out, y, FR, values, rest)
            count[JACOBIANS] += 1
            state[FRESH], state[FACTOR_H] = 1.0, 0.0
        if state[FACTOR_H] != h:
            assemble(model, plan, values, G / h, 1.0, h / G, FR, 0)
            factorise(plan, FR)
            assemble_complex(model, plan, values, ALPHA / h, -BETA / h, FC)
            factorise_complex(plan, FC)
            state[FACTOR_H] = h
        scales(model, q, v, scale)
        if state[OLD_H] > 0.0:
            extrapolate(Z, n, h / state[OLD_H])
        else:
            for j in range(3 * n):
                Z[j] = 0.0
        iterations, rate = newton(
            calls,
            model,
            plan,
            values,
            FR,
            FC,
            t,
            h,
            q,
            x0,
            Z,
            W,
            R,
            x,
            scale,
            rtol,
            atol,
            small,
            most,
            y,
            z,
            scratch,
            count,
        )
        if iterations == 0:
            count[REJECTED] += 1
            again = state[FRESH] == 2.0 or state[OLD_H] > 0.0  # a matrix of this point, a guess without the last step
            state[FRESH] = 1.0 if state[FRESH] == 1.0 else 0.0
            state[OLD_H] = 0.0
            if not (again and fixed > 0.0):
                if fixed > 0.0 or h < 1e-10 * max(1.0, abs(t)):
                    return NEWTON_FAILED
                state[STEP] = h if again else 0.5 * h
            continue
        for j in range(n):
            x1[j] = x0[j] + Z[2 * n + j]
            error[j] = d[j] + (D1 * Z[j] + D2 * Z[n + j] + D3 * Z[2 * n + j]) / h
        solve_real(model, plan, values, FR, G / h, error, y, z)
        scales(model, q, view1(x1, nv, nv), scale1)
        for j in range(n):
            scale[j] = max(scale[j], scale1[j])
        err = error_norm(model, error, scale, rtol, atol)
        if fixed <= 0.0 and err >= 1.0 and (count[ACCEPTED] == 0 or state[OLD_H] == 0.0):
            for j in range(n):
                x[j] = x0[j] + error[j]
            derivative(calls, model, t, q, x, d1, scratch)
            count[EVALUATIONS] += 1
            for j in range(n):
                error[j] = d1[j] + (D1 * Z[j] + D2 * Z[n + j] + D3 * Z[2 * n + j]) / h
            solve_real(model, plan, values, FR, G / h, error, y, z)
            err = error_norm(model, error, scale, rtol, atol)
        quickly = 0.9 * (2.0 * MOST + 1.0) / (2.0 * MOST + iterations)
        factor = min(8.0, max(0.2, quickly * max(err, 1e-10) ** -0.25))
        if fixed > 0.0 or err < 1.0 or leaps(calls, h, err * rtol):
            arrive(calls, model, t + h, q, x1, q1, d1, scratch)
            count[EVALUATIONS] += 1
            if not (all_finite(x1, n) and all_finite(d1, n)):
                return NOT_FINITE
            chart_rate(model, x1, view1(x1, nv, nv), d1)
            between = count[NEXT] < n_times and times[count[NEXT]] < t + h * (1.0 - 1e-9)
            if between and fixed <= 0.0 and doubt(model, h, x0, d, x1, d1, Z, scale, rtol, atol, error) > 1.0:
                state[STEP], state[OLD_H] = times[count[NEXT]] - t, 0.0  # a step of its own to the next output
                continue
            note_step(calls, t + h, h)
            hermite_outputs(model, times, n_times, count, t, h, q, x0, d, x1, d1, q1, Q, V, rest)
            for j in range(nq):
                q[j] = q1[j]
            for c in range(nv):
                v[c] = x1[nv + c]
                d[c], a[c] = v[c], d1[nv + c]
            if state[OLD_H] > 0.0 and count[ACCEPTED] > 0:  # Gustafsson's prediction
                factor = min(factor, max(0.2, 0.9 * h / state[OLD_H] * (max(err, 1e-2) ** -0.5 * state[OLD_ERROR] ** 0.25)))
            state[OLD_ERROR], state[OLD_H] = max(1e-2, err), h
            state[FRESH] = 2.0 if rate < 1e-3 or iterations <= 2 else 0.0
            count[ACCEPTED] += 1
            state[TIME] = t + h if h < end - t else end
            if factor >= 1.0 and factor <= 1.2 and state[FRESH] == 2.0:
                factor = 1.0
            state[STEP] = h if fixed > 0.0 else min(h * factor, option[MAX_STEP])
        else:
            count[REJECTED] += 1
            state[OLD_H] = 0.0
            state[STEP] = h * min(factor, 0.9)
    return DONE


def _state(nq, nv, nr, plan):
    return FIRST + nq + 3 * nv + 6 * nv + value_length(plan)


def _buffer(nq, nv, nr, plan):
    vectors = 13 * 2 * nv + 2 * nv + nr + nv + 2 * nr + 2 * int(plan[NU]) + nv + nr
    return 3 * factor_length(plan) + vectors + nq + nq + 2 * nv + 2 * nv + 4 * nr + nq


METHOD = Method(
    "radau", loop, order=5, adaptive=True, first=FIRST, state=_state, buffer=_buffer, fixed_too=True, implicit=True
)
