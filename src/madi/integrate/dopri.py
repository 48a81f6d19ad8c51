"""Dormand-Prince 5(4), adaptive, with its dense output of fourth order.

Coefficients: Dormand & Prince, J. Comp. Appl. Math. 6 (1980); dense output and step control as in Hairer, Norsett,
Wanner: Solving ODEs I, II.4-II.6.

docs/references.md: [Dormand, Prince 1980], [Hairer, Nørsett, Wanner 1993].
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
    MAX_STEP,
    NEXT,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    ROUNDING,
    RTOL,
    SINGULAR,
    STARTED,
    STEP,
    STEP_TOO_SMALL,
    TIME,
    Method,
    all_finite,
    arrive,
    derivative,
    derivative_here,
    error_norm,
    first_outputs,
    first_step,
    leaps,
    note_step,
    scales,
    start_step,
    write,
)
from madi.joints.chart import chart_rate, retract
from madi.kernel import as_model, kernel, view1
from madi.loops.kkt import LOWEST

A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])
DENSE = np.array(
    [-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
     701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423]
)  # fmt: skip


@kernel
def dense_outputs(model, times, n_times, count, t, h, q0, x0, x1, k, Q, V, scratch):
    """Write all outputs up to t + h by the method's own interpolant."""
    n = 2 * model.nv
    y, q = view1(scratch, 0, n), view1(scratch, n, model.nq)
    while count[NEXT] < n_times and times[count[NEXT]] <= t + h * (1.0 + 1e-12):
        s = (times[count[NEXT]] - t) / h
        r = 1.0 - s
        for j in range(n):
            difference = x1[j] - x0[j]
            spline = h * k[j] - difference
            last = difference - h * k[6 * n + j] - spline
            fifth = 0.0
            for i in range(7):
                fifth += DENSE[i] * k[i * n + j]
            y[j] = x0[j] + s * (difference + r * (spline + s * (last + r * h * fifth)))
        retract(model, q0, y, q)
        write(model, count[NEXT], q, view1(y, model.nv, model.nv), Q, V)
        count[NEXT] += 1


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps q, v, the derivative at the present point, and the last error."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = 2 * nv
    q, v, d = view1(state, 5, nq), view1(state, 5 + nq, nv), view1(state, 5 + nq + nv, n)
    x0, x1 = view1(buffer, 0, n), view1(buffer, n, n)
    x, k = view1(buffer, 2 * n, n), view1(buffer, 3 * n, 7 * n)
    error, scale, scale1 = view1(buffer, 10 * n, n), view1(buffer, 11 * n, n), view1(buffer, 12 * n, n)
    q1, scratch = view1(buffer, 13 * n, nq), view1(buffer, 13 * n + nq, nq + n)
    rtol, atol = option[RTOL], option[ATOL]
    if count[STARTED] == 0:
        count[STARTED] = 1
        derivative_here(calls, model, state[TIME], q, v, d, scratch)
        scales(model, q, v, scale)
        span = state[END] - state[TIME]
        h = option[FIRST_STEP]
        if h <= 0.0:
            h = first_step(calls, model, state[TIME], span, q, v, d, scale, x, x1, scratch, 4.0, rtol, atol)
        count[EVALUATIONS] += 2
        state[STEP] = min(h, option[MAX_STEP])
        state[4] = 1e-4
        first_outputs(model, times, n_times, count, state[TIME], q, v, Q, V)
        if not all_finite(d, n):
            return NOT_FINITE
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        t, h, end = state[TIME], state[STEP], state[END]
        if h < 1e-14 * max(abs(t), abs(end)):
            return STEP_TOO_SMALL
        if t + 1.01 * h >= end:
            h = end - t
        start_step(v, nv, x0)
        for j in range(n):
            k[j] = d[j]
        for i in range(1, 7):  # the last stage stands at the new point
            for j in range(n):
                total = 0.0
                for m in range(i):
                    total += A[i, m] * k[m * n + j]
                x[j] = x0[j] + h * total
            if i < 6:
                derivative(calls, model, t + C[i] * h, q, x, view1(k, i * n, n), scratch)
        for j in range(n):
            x1[j] = x[j]
        k6 = view1(k, 6 * n, n)
        arrive(calls, model, t + h, q, x1, q1, k6, scratch)
        chart_rate(model, x1, view1(x1, nv, nv), k6)
        count[EVALUATIONS] += 6
        scales(model, q, v, scale)
        scales(model, q1, view1(x1, nv, nv), scale1)
        for j in range(n):
            total = 0.0
            for m in range(7):
                total += E[m] * k[m * n + j]
            error[j] = h * total
            scale[j] = max(scale[j], scale1[j])
        err = error_norm(model, error, scale, rtol, atol)
        if not (err < 1e300):
            # a stage left the finite numbers: come back with a shorter step, unless that is hopeless
            if h < 1e-10 * max(1.0, abs(t)):
                return NOT_FINITE
            state[STEP] = 0.1 * h if close == 0 or remarks[LOWEST] >= SINGULAR else 0.7 * h
            count[REJECTED] += 1
        elif err <= 1.0 or leaps(calls, h, err * rtol):
            note_step(calls, t + h, h)
            dense_outputs(model, times, n_times, count, t, h, q, x0, x1, k, Q, V, view1(buffer, 10 * n, n + nq))
            # PI control
            factor = 0.9 * max(err, 1e-10) ** -0.17 * state[4] ** 0.04
            # shorter steps are no cure for rounding (`leaps`)
            factor = min(5.0, max(1.0 if 1.0 < err < ROUNDING / rtol else 0.2, factor))
            state[4] = max(err, 1e-4)
            for j in range(nq):
                q[j] = q1[j]
            for c in range(nv):
                v[c] = x1[nv + c]
                d[c] = v[c]
                d[nv + c] = k[6 * n + nv + c]
            count[ACCEPTED] += 1
            state[TIME] = t + h if h < end - t else end
            state[STEP] = min(h * factor, option[MAX_STEP])
        else:
            state[STEP] = h * max(0.2, 0.9 * err**-0.2)
            count[REJECTED] += 1
    return DONE


METHOD = Method(
    "dopri",
    loop,
    order=5,
    adaptive=True,
    first=5,
    state=lambda nq, nv: 5 + nq + 3 * nv,
    buffer=lambda nq, nv: 13 * 2 * nv + 2 * nq + 2 * nv,
)
