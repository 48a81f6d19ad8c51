"""The Adams-Bashforth method of third order, fixed step: P1's integrator. One evaluation a step.

    x_{n+1} = x_n + h/12 (23 x'_n - 16 x'_{n-1} + 5 x'_{n-2}),

all three derivatives in the chart at q_n: a past rate of rotation is carried there by the logarithm of the rotation
between. The first two steps, and a last one of another length, are by Runge-Kutta.
"""

from __future__ import annotations

from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    EVALUATIONS,
    FIXED_STEP,
    NEXT,
    NOT_FINITE,
    PAUSED,
    STARTED,
    STEP,
    TIME,
    Method,
    all_finite,
    arrive,
    derivative_here,
    first_outputs,
    hermite_outputs,
    note_step,
    start_step,
)
from madi.integrate.rk4 import next_step, rk4_step
from madi.joints.chart import chart_point, chart_rate
from madi.kernel import as_model, kernel, view1


@kernel
def carried(model, q0, q, d, out, theta):
    """The derivative d = (v, a) that held at q, as a derivative in the chart at q0."""
    nv = model.nv
    chart_point(model, q0, q, theta)
    chart_rate(model, theta, d, out)
    for c in range(nv):
        out[nv + c] = d[nv + c]


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps v and three times (q, derivative): now, one step ago, two steps ago."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = 2 * nv
    q, v = view1(state, 4, nq), view1(state, 4 + nq, nv)
    d, q_1, d_1 = view1(state, 4 + nq + nv, n), view1(state, 4 + nq + nv + n, nq), view1(state, 4 + 2 * nq + nv + n, n)
    q_2, d_2 = view1(state, 4 + 2 * nq + nv + 2 * n, nq), view1(state, 4 + 3 * nq + nv + 2 * n, n)
    x0, x1 = view1(buffer, 0, n), view1(buffer, n, n)
    x, k = view1(buffer, 2 * n, n), view1(buffer, 3 * n, n)
    d1, q1, scratch = view1(buffer, 4 * n, n), view1(buffer, 5 * n, nq), view1(buffer, 5 * n + nq, nq + n)
    if count[STARTED] == 0:
        count[STARTED] = 1
        derivative_here(calls, model, state[TIME], q, v, d, scratch)
        count[EVALUATIONS] += 1
        first_outputs(model, times, n_times, count, state[TIME], q, v, Q, V)
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        t, h = next_step(state, option, count[ACCEPTED])
        start_step(v, nv, x0)
        if count[ACCEPTED] < 2 or h < 0.999999 * option[FIXED_STEP]:
            rk4_step(calls, model, t, h, q, x0, d, x1, x, k, scratch)
            count[EVALUATIONS] += 3
        else:
            carried(model, q, q_1, d_1, x, k)
            carried(model, q, q_2, d_2, k, d1)
            for j in range(n):
                x1[j] = x0[j] + h / 12.0 * (23.0 * d[j] - 16.0 * x[j] + 5.0 * k[j])
        arrive(calls, model, t + h, q, x1, q1, d1, scratch)
        count[EVALUATIONS] += 1
        if not (all_finite(x1, n) and all_finite(d1, n)):
            return NOT_FINITE
        hermite_outputs(model, times, n_times, count, t, h, q, x0, d, x1, d1, q1, Q, V, view1(buffer, 2 * n, n + nq))
        for j in range(nq):
            q_2[j], q_1[j], q[j] = q_1[j], q[j], q1[j]
        for c in range(nv):
            v[c] = x1[nv + c]
        for j in range(n):
            d_2[j], d_1[j], d[j] = d_1[j], d[j], d1[j]
        count[ACCEPTED] += 1
        note_step(calls, t + h, h)
        state[TIME], state[STEP] = t + h, h
    return DONE


METHOD = Method(
    "ab3",
    loop,
    order=3,
    adaptive=False,
    first=4,
    state=lambda nq, nv: 4 + 3 * nq + 7 * nv,
    buffer=lambda nq, nv: 5 * 2 * nv + 2 * nq + 2 * nv,
)
