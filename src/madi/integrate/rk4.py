"""The classical Runge-Kutta method of fourth order, fixed step."""

from __future__ import annotations

from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    END,
    EVALUATIONS,
    FIXED_STEP,
    NEXT,
    NOT_FINITE,
    PAUSED,
    START,
    STARTED,
    STEP,
    TIME,
    Method,
    all_finite,
    arrive,
    derivative,
    derivative_here,
    first_outputs,
    hermite_outputs,
    note_step,
    start_step,
)
from madi.kernel import as_model, kernel, view1


@kernel
def rk4_step(calls, model, t, h, q0, x0, k1, x1, x, k, scratch):
    """x1 from x0 and its derivative k1; x and k are scratch."""
    n = 2 * model.nv
    for j in range(n):
        x[j] = x0[j] + 0.5 * h * k1[j]
        x1[j] = x0[j] + h / 6.0 * k1[j]
    derivative(calls, model, t + 0.5 * h, q0, x, k, scratch)
    for j in range(n):
        x[j] = x0[j] + 0.5 * h * k[j]
        x1[j] = x1[j] + h / 3.0 * k[j]
    derivative(calls, model, t + 0.5 * h, q0, x, k, scratch)
    for j in range(n):
        x[j] = x0[j] + h * k[j]
        x1[j] = x1[j] + h / 3.0 * k[j]
    derivative(calls, model, t + h, q0, x, k, scratch)
    for j in range(n):
        x1[j] = x1[j] + h / 6.0 * k[j]


@kernel
def next_step(state, option, accepted):
    """Size of the step from grid point `accepted`; the last one ends where the run ends (to rounding: a step that differs in
    its last digits would be another one to a method that keeps a matrix for its length)."""
    h = option[FIXED_STEP]
    t = state[START] + accepted * h
    end = state[END]
    return t, (h if t + h * (1.0 - 1e-9) < end else end - t)


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps q, v and the derivative at the present point."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = 2 * nv
    q, v, d = view1(state, 4, nq), view1(state, 4 + nq, nv), view1(state, 4 + nq + nv, n)
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
        rk4_step(calls, model, t, h, q, x0, d, x1, x, k, scratch)
        arrive(calls, model, t + h, q, x1, q1, d1, scratch)
        count[EVALUATIONS] += 4
        if not (all_finite(x1, n) and all_finite(d1, n)):
            return NOT_FINITE
        hermite_outputs(model, times, n_times, count, t, h, q, x0, d, x1, d1, q1, Q, V, view1(buffer, 2 * n, n + nq))
        for j in range(nq):
            q[j] = q1[j]
        for c in range(nv):
            v[c] = x1[nv + c]
        for j in range(n):
            d[j] = d1[j]
        count[ACCEPTED] += 1
        note_step(calls, t + h, h)
        state[TIME], state[STEP] = t + h, h
    return DONE


METHOD = Method(
    "rk4",
    loop,
    order=4,
    adaptive=False,
    first=4,
    state=lambda nq, nv: 4 + nq + 3 * nv,
    buffer=lambda nq, nv: 5 * 2 * nv + 2 * nq + 2 * nv,
)
