"""Outputs at the times asked for: at ends of steps, and in between by a method's interpolant, or by a cubic."""

from __future__ import annotations

from madi.integrate.memory import Memory
from madi.joints.chart import chart_point, chart_rate, retract
from madi.kernel import kernel, view1

AT_END = 1e-9  # of a step: an output that near to its end is the end


@kernel
def wanted(m: Memory, until):
    """Whether an output is wanted up to this time."""
    return m.next < m.upto and m.outputs.times[m.next] <= until


@kernel
def write(m: Memory, q, v):
    """The next output is the state (q, v)."""
    k, nq, nv = m.next, m.model.nq, m.model.nv
    for j in range(nq):
        m.outputs.q_out[k * nq + j] = q[j]
    for c in range(nv):
        m.outputs.v_out[k * nv + c] = v[c]
    for j in range(m.model.n_held):
        m.outputs.held_out[k * m.model.n_held + j] = m.applied[nv + j]
    m.next = k + 1


@kernel
def write_stage(m: Memory, x):
    """The next output is at x = (theta, v) in the chart at q."""
    retract(m.model, m.q, x, m.q_stage)
    write(m, m.q_stage, view1(x, m.model.nv, m.model.nv))


@kernel
def first_outputs(m: Memory):
    """Outputs wanted at the start itself."""
    while wanted(m, m.t):
        write(m, m.q, m.v)


@kernel
def end_outputs(m: Memory, until):
    """Outputs at the end of a step."""
    while wanted(m, until):
        write(m, m.q1, m.v1)


@kernel
def cubic_outputs(m: Memory, t, h):
    """All outputs up to t + h: the end itself, or a cubic through both ends of x and x' in the chart at q in between."""
    nv, tiny = m.model.nv, AT_END * h
    if not wanted(m, t + h + tiny):
        return
    n = 2 * nv
    x0, d0, x1, d1 = view1(m.cubic, 0, n), view1(m.cubic, n, n), view1(m.cubic, 2 * n, n), view1(m.cubic, 3 * n, n)
    x = view1(m.cubic, 4 * n, n)
    cubic_ends(m, x0, d0, x1, d1)
    while wanted(m, t + h + tiny):
        s = (m.outputs.times[m.next] - t) / h
        if s >= 1.0 - AT_END:
            write(m, m.q1, m.v1)
        else:
            cubic_point(m, s, h, x)
            write_stage(m, x)


@kernel
def cubic_point(m: Memory, s, h, x):
    """x at the part s of the step, on the cubic whose ends are in m.cubic."""
    n = 2 * m.model.nv
    x0, d0, x1, d1 = view1(m.cubic, 0, n), view1(m.cubic, n, n), view1(m.cubic, 2 * n, n), view1(m.cubic, 3 * n, n)
    a, b = (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * (1.0 - s) * (1.0 - s) * h
    c, d = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * h
    for j in range(n):
        x[j] = a * x0[j] + b * d0[j] + c * x1[j] + d * d1[j]


@kernel
def cubic_ends(m: Memory, x0, d0, x1, d1):
    """x and x' at both ends of the step, in the chart at q."""
    nv = m.model.nv
    chart_point(m.model, m.q, m.q1, x1)
    chart_rate(m.model, x1, m.v1, d1)
    for c in range(nv):
        x0[c], x0[nv + c] = 0.0, m.v[c]
        d0[c], d0[nv + c] = m.v[c], m.a[c]
        x1[nv + c], d1[nv + c] = m.v1[c], m.a1[c]
