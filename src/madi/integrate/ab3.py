"""The Adams-Bashforth method of third order, fixed step: P1's integrator. One evaluation a step.

    x_{n+1} = x_n + h/12 (23 x'_n - 16 x'_{n-1} + 5 x'_{n-2}),

all three derivatives in the chart at q_n: a past rate of rotation is carried there by the logarithm of the rotation
between. The first two steps, and a last one of another length, are by Runge-Kutta.
"""

from __future__ import annotations

from dataclasses import dataclass

from madi.integrate.march import fixed_steps
from madi.integrate.memory import DONE
from madi.integrate.method import Method
from madi.integrate.runge_kutta import CLASSICAL, ClassicalMemory
from madi.integrate.step import end_step, start_step
from madi.joints.chart import chart_point, chart_rate
from madi.kernel import kernel, view1
from madi.kernel.fields import Reals, reals

ANOTHER_LENGTH = 1e-6  # of a step


class AB3Memory(ClassicalMemory):
    """States one and two steps ago."""

    q_1: Reals = reals("nq")
    v_1: Reals = reals("nv")
    a_1: Reals = reals("nv")
    q_2: Reals = reals("nq")
    v_2: Reals = reals("nv")
    a_2: Reals = reals("nv")


@kernel
def carried(m: AB3Memory, q, v, out):
    """theta' in the chart at m.q, for the speeds v that held at q."""
    theta = m.x
    chart_point(m.model, m.q, q, theta)
    chart_rate(m.model, theta, v, out)


@kernel
def step(m: AB3Memory, t, h):
    """See the head of this file."""
    nv = m.model.nv
    if m.grid < 2 or h < (1.0 - ANOTHER_LENGTH) * m.step:
        CLASSICAL(m, t, h)
    else:
        once, twice = view1(m.k, 0, nv), view1(m.k, nv, nv)
        start_step(m)
        carried(m, m.q_1, m.v_1, once)
        carried(m, m.q_2, m.v_2, twice)
        for c in range(nv):
            m.x1[c] = m.x0[c] + h / 12.0 * (23.0 * m.v[c] - 16.0 * once[c] + 5.0 * twice[c])
            m.x1[nv + c] = m.x0[nv + c] + h / 12.0 * (23.0 * m.a[c] - 16.0 * m.a_1[c] + 5.0 * m.a_2[c])
    end_step(m, t + h, m.x1)
    return DONE


@kernel
def remember(m: AB3Memory):
    """This state becomes a past one."""
    for j in range(m.model.nq):
        m.q_2[j], m.q_1[j] = m.q_1[j], m.q[j]
    for c in range(m.model.nv):
        m.v_2[c], m.v_1[c] = m.v_1[c], m.v[c]
        m.a_2[c], m.a_1[c] = m.a_1[c], m.a[c]


@dataclass(frozen=True)
class AB3(Method):
    """Adams-Bashforth of third order: one evaluation a step, fixed step."""

    name = "ab3"
    order = 3
    stable, exported = 0.54, True
    fixed = fixed_steps("ab3", AB3Memory, step, remember=remember)
