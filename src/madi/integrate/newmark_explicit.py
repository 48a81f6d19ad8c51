"""Explicit Newmark (beta = 0, gamma = 1/2): one evaluation a step (P4's fastest method).

    q1 = q moved by h v + h^2/2 a,    a1 = a(q1, w),    v1 = v + h/2 (a + a1).

Forces that depend on speed see a predicted one, w; so a1 is kept for the next step and not evaluated again. With loops the
end of the step is closed, which gives its acceleration too. Two predictors, on x'' + 2 D w0 x' + w0^2 x = 0:

    newmark-explicit        w = v + h/2 a: the usual one, central differences that see speeds half a step late. Of second
                            order where neither forces nor inertia depend on speed, else of first;
                            stable to h w0 = 2 (sqrt(1 + D^2) - D)
    newmark-explicit-full   w = v + h a: always of second order; stable to h w0 = 2 (sqrt(1 + 4 D^2) - 2 D), which is
                            half of the other where damping decides
"""

from __future__ import annotations

from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    EVALUATIONS,
    NEXT,
    NOT_FINITE,
    PAUSED,
    STARTED,
    STEP,
    TIME,
    Method,
    all_finite,
    derivative_here,
    first_outputs,
    hermite_outputs,
    note_step,
)
from madi.integrate.rk4 import next_step
from madi.joints.chart import chart_point, chart_rate, exponential
from madi.kernel import as_model, call, view1
from madi.loops.kkt import ASKED

PREDICTOR = 6  # option[...]


def loop(function, context, close, close_context, remarks, model, times, Q, V, state, count, option, buffer, n_times, limit):
    """See contract.py. state keeps q, v and (v, a)."""
    calls = (function, context, close, close_context, remarks)
    model = as_model(model)
    nq, nv = model.nq, model.nv
    n = 2 * nv
    q, v, d = view1(state, 4, nq), view1(state, 4 + nq, nv), view1(state, 4 + nq + nv, n)
    a = view1(d, nv, nv)
    x0, x1, d1 = view1(buffer, 0, n), view1(buffer, n, n), view1(buffer, 2 * n, n)
    theta, v1, a1 = view1(buffer, 3 * n, nv), view1(x1, nv, nv), view1(d1, nv, nv)
    ahead, q1, scratch = view1(buffer, 3 * n + nv, nv), view1(buffer, 4 * n, nq), view1(buffer, 4 * n + nq, nq + n)
    tau = view1(scratch, nq, nv)
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
        for c in range(nv):
            theta[c] = h * v[c] + 0.5 * h * h * a[c]
            ahead[c] = v[c] + option[PREDICTOR] * h * a[c]
            tau[c] = 0.0
        exponential(model, q, theta, q1)
        call(function, t + h, q1, ahead, tau, a1, context)
        remarks[ASKED] = remarks[ASKED] + 1.0
        for c in range(nv):
            v1[c] = v[c] + 0.5 * h * (a[c] + a1[c])
        count[EVALUATIONS] += 1
        if close != 0:
            call(close, t + h, q1, v1, tau, a1, close_context)
            count[EVALUATIONS] += 1
        if not (all_finite(v1, nv) and all_finite(a1, nv) and all_finite(q1, nq)):
            return NOT_FINITE
        for c in range(nv):
            x0[c], x0[nv + c] = 0.0, v[c]
            d[c] = v[c]
        chart_point(model, q, q1, x1)
        chart_rate(model, x1, v1, d1)
        hermite_outputs(model, times, n_times, count, t, h, q, x0, d, x1, d1, q1, Q, V, scratch)
        for j in range(nq):
            q[j] = q1[j]
        for c in range(nv):
            v[c], a[c] = v1[c], a1[c]
        count[ACCEPTED] += 1
        note_step(calls, t + h, h)
        state[TIME], state[STEP] = t + h, h
    return DONE


def _method(name, order, predictor):
    return Method(
        name,
        loop,
        order=order,
        adaptive=False,
        first=4,
        state=lambda nq, nv: 4 + nq + 3 * nv,
        buffer=lambda nq, nv: 4 * 2 * nv + 2 * nq + 2 * nv,
        own=(predictor,),
    )


METHOD, FULL = _method("newmark-explicit", 1, 0.5), _method("newmark-explicit-full", 2, 1.0)
