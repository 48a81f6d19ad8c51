"""Time stepping with hard contact (Moreau and Jean): steps of a fixed length, contact and friction as impulses in each.

    (q_0, v_0) = a step of the classical Runge-Kutta method without contact,
    v' = v_0 + K^-1 J^T p,     q' = q_0 moved by h/2 K^-1 J^T p,

J and K at q_0, the impulses p such that nothing goes on into what it touches, and friction dissipates most
(equations/impulses.py). An impact in the step is one at its end, resolved with the others; steps need not find it. Of first
order at contacts, of fourth between them, whatever the stiffness of things: there is none. Stops and friction of joints are
impulses likewise. What is left of an overlap at the end of a step is taken out by moving bodies, not by a force.

docs/references.md: [Moreau 1988], [Jean 1999].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from madi.errors import InputError
from madi.forces.contact import OFF
from madi.integrate.march import begin_with_accelerations, fixed_steps
from madi.integrate.memory import DONE
from madi.integrate.method import Method, a_time
from madi.integrate.runge_kutta import CLASSICAL, ClassicalMemory
from madi.integrate.step import accelerations, close_and_accelerate
from madi.joints.chart import exponential, retract, same_in_space
from madi.kernel import call, kernel, present
from madi.kernel.fields import Reals, function, integer, real, reals

TOO_MANY = 7  # of a step: more points in touch than there is room for


class ContactMemory(ClassicalMemory):
    """Memory of a time-stepping method."""

    impulses: Any = function()  # equations/impulses.py
    tolerance: float = real()  # m/s, rad/s: the change of a speed below which impulses are found
    sweeps: int = integer()  # at most, for that
    worst: float = real()  # what was left at the end of a step, the largest
    swept: int = integer()  # sweeps in all
    met: int = integer()  # points, stops and frictions at once, the most
    theta: Reals = reals("nv")
    around: Reals = reals("nv+n_held")  # speeds before the step, held values
    alone: Reals = reals("nv+n_held")  # what is applied where nothing touches
    told: Reals = reals("nv+3")  # what impulses are given and give


@kernel
def ask(m: ContactMemory, t, h, q, v):
    """Impulses of a step of length h that would lead to (q, v), into v; 0: only to put held values under this method. The
    forces of the step before are in m.around, those of this one come into m.applied."""
    nv = m.model.nv
    for c in range(nv):
        m.around[c] = m.v[c]
    m.told[0], m.told[1], m.told[2] = h, m.tolerance, 1.0 * m.sweeps
    call(m.impulses, t, q, v, m.around, m.told)
    for k in range(m.model.n_held):
        m.applied[nv + k] = m.around[nv + k]


@kernel
def alone(m: ContactMemory, t, h):
    """m.x1 = (theta, v): where the step leads if nothing touches."""
    nv = m.model.nv
    for k in range(m.model.n_held):
        m.around[nv + k], m.applied[nv + k] = m.applied[nv + k], m.alone[nv + k]
    accelerations(m, t, m.q, m.v, m.a)
    CLASSICAL(m, t, h)


@kernel
def step(m: ContactMemory, t, h):
    """(q1, v1, a1) from (q, v)."""
    nv = m.model.nv
    alone(m, t, h)
    retract(m.model, m.q, m.x1, m.q1)
    for c in range(nv):
        m.v1[c] = m.x1[nv + c]
    if present(m.impulses):
        ask(m, t + h, h, m.q1, m.v1)
        if m.told[0] < 0.0:
            return TOO_MANY
        m.worst = max(m.worst, m.told[0])
        m.swept += int(m.told[1])
        m.met = max(m.met, int(m.told[2]))
        for c in range(nv):
            m.theta[c] = 0.5 * h * (m.v1[c] - m.x1[nv + c]) + m.told[3 + c]
        exponential(m.model, m.q1, m.theta, m.q_stage)
        same_in_space(m.model, m.theta, m.v1)
        for j in range(m.model.nq):
            m.q1[j] = m.q_stage[j]
    if present(m.close):
        close_and_accelerate(m, t + h)
    for c in range(nv):
        m.a1[c] = (m.v1[c] - m.v[c]) / h
    return DONE


@kernel
def begin(m: ContactMemory):
    """No force of a contact law is at work from now on. The forces of the start are those that a first step finds."""
    for k in range(m.model.n_held):
        m.around[m.model.nv + k] = m.applied[m.model.nv + k]
    if present(m.impulses):
        ask(m, m.t, 0.0, m.q, m.v)
    for k in range(m.model.nv + m.model.n_held):
        m.alone[k] = m.applied[k]
        m.applied[k] = 0.0 if m.applied[k] >= OFF else m.applied[k]
    if present(m.impulses):
        status = step(m, m.t, m.step)
        if status != DONE:
            return status
    return begin_with_accelerations(m)


LOOP = fixed_steps("time-stepping", ContactMemory, step, begin)


@dataclass(frozen=True)
class TimeStepping(Method):
    """Hard contact at velocity level, with steps of a fixed length: `step` (s; or that of `simulate`). `tolerance` (m/s):
    the change of a speed below which impulses count as found; `sweeps`: how often they are gone through for that, at
    most."""

    name = "time-stepping"
    order = 4  # without contact; with it, first
    hard = True
    fixed = LOOP
    step: float | None = None
    tolerance: float = 1e-8
    sweeps: int = 1000

    def __post_init__(self) -> None:
        if self.step is not None:
            a_time(self.step, "step")
        a_time(self.tolerance, "tolerance")
        if not isinstance(self.sweeps, int) or isinstance(self.sweeps, bool) or self.sweeps < 1:
            raise InputError(f"sweeps={self.sweeps!r}: give a whole number >= 1")

    def put(self, memory: Any) -> None:
        """See Method."""
        memory.tolerance, memory.sweeps = self.tolerance, self.sweeps

    def refuse(self, step: float | None) -> None:
        """See Method."""
        if self.step is not None and step != self.step:
            raise InputError(f"step={step!r}, and TimeStepping(step={self.step!r}): give one of them")
