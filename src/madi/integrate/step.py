"""Evaluations within a step: derivatives in the chart at q, and the arrival at its end.

Integrators are not traced: their kernels may branch on values. Driven coordinates are prescribed inside the system function;
what an integrator carries for them is not used.
"""

from __future__ import annotations

from madi.integrate.memory import Memory, StageMemory
from madi.joints.chart import chart_point, chart_rate, retract
from madi.kernel import call, kernel, present, view1

BEYOND = 1e30  # m, m/s, m/s2, rad ...: no state gets there


@kernel
def accelerations(m: Memory, t, q, v, a):
    """a at a state."""
    call(m.forward, t, q, v, m.applied, a)
    m.evaluations += 1
    m.tally.asked += 1


@kernel
def accelerations_of_stage(m: Memory, t, q, v, a):
    """The same at a state that need not be closed. Where the constraints are not safely independent (redundant, or near a
    singular position), accelerations off the closed states are not smooth: there q and v are closed first."""
    if present(m.close) and m.tally.close_stages != 0:
        call(m.close, t, q, v, m.applied, a)
        m.evaluations += 1
    else:
        accelerations(m, t, q, v, a)


@kernel
def derivative(m: Memory, t, x, dx):
    """dx = x' at x = (theta, v) in the chart at q; x is given up where the stage must be closed."""
    nv = m.model.nv
    theta, v = view1(x, 0, nv), view1(x, nv, nv)
    retract(m.model, m.q, theta, m.q_stage)
    accelerations_of_stage(m, t, m.q_stage, v, view1(dx, nv, nv))
    chart_rate(m.model, theta, v, dx)


@kernel
def close_and_accelerate(m: Memory, t):
    """The state (q1, v1), brought back to where the loops are closed, and a1 there; NaN where that fails."""
    if present(m.close):
        call(m.close, t, m.q1, m.v1, m.applied, m.a1)
        m.evaluations += 1
    else:
        accelerations(m, t, m.q1, m.v1, m.a1)


@kernel
def end_step(m: Memory, t, x):
    """The end of a step at x = (theta, v): (q1, v1, a1) there. With loops x follows what closing them changed."""
    nv = m.model.nv
    theta = view1(x, 0, nv)
    retract(m.model, m.q, theta, m.q1)
    for c in range(nv):
        m.v1[c] = x[nv + c]
    close_and_accelerate(m, t)
    if present(m.close):
        chart_point(m.model, m.q, m.q1, theta)
        for c in range(nv):
            x[nv + c] = m.v1[c]


@kernel
def start_step(m: StageMemory):
    """x0 = (0, v)."""
    nv = m.model.nv
    for c in range(nv):
        m.x0[c] = 0.0
        m.x0[nv + c] = m.v[c]


@kernel
def all_finite(x, n):
    """Whether n numbers are finite, and of a size that mechanisms have: what blows up need not be followed to infinity."""
    total = 0.0
    for j in range(n):
        total += abs(x[j])
    return total < BEYOND


@kernel
def end_is_finite(m: Memory):
    """Whether the end of the step is a state."""
    return all_finite(m.q1, m.model.nq) and all_finite(m.v1, m.model.nv) and all_finite(m.a1, m.model.nv)


@kernel
def shift_state(m: Memory):
    """The end of the step is where the next begins."""
    for j in range(m.model.nq):
        m.q[j] = m.q1[j]
    for c in range(m.model.nv):
        m.v[c] = m.v1[c]
        m.a[c] = m.a1[c]
