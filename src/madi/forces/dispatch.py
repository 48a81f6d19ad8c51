"""The only place that asks which kind a force element is.

The elements nearly every model has are built into the forward kernels. The others are compiled one by one, when a model
first needs them, and called by address: a model without wheels does not wait for them to be compiled.
"""

from __future__ import annotations

from madi.forces import BY_CODE, applied_force, applied_torque, joint_spring, joint_torque, spring_damper
from madi.forces.line import line
from madi.kernel import kernel

SPRING_DAMPER = spring_damper.KIND.code
JOINT_SPRING = joint_spring.KIND.code
FORCE = applied_force.KIND.code
TORQUE = applied_torque.KIND.code
JOINT_TORQUE = joint_torque.KIND.code
BUILT_IN = JOINT_TORQUE  # the last of them


@kernel
def measure_lines(model, work):
    """work.measure: length and rate of the elements whose law sees them."""
    for k in range(model.na):
        e = model.measured[k]
        length, rate, _ = line(model, work, model.force_a[e], model.force_b[e], model.force_at[e])
        work.measure[2 * k], work.measure[2 * k + 1] = length, rate


@kernel
def apply_elements(model, work, tau):
    """work.Q = applied force vectors, work.tau = generalised forces: those handed in and those of the elements."""
    Q = work.Q
    for i in range(model.n):
        for j in range(6):
            Q[i, j] = 0.0
    for c in range(model.nv):
        work.tau[c] = tau[c]
    for e in range(model.ne):
        kind = model.force_kind[e]
        if kind == SPRING_DAMPER:
            spring_damper.apply(model, work, e)
        elif kind == JOINT_SPRING:
            joint_spring.apply(model, work, e)
        elif kind == FORCE:
            applied_force.apply(model, work, e)
        elif kind == TORQUE:
            applied_torque.apply(model, work, e)
        elif kind == JOINT_TORQUE:
            joint_torque.apply(model, work, e)
        else:
            call_element(model.force_call[e], model, work, e)


def call_element(address, model, work, e):
    """An element that is not built in: plain and traced, its kernel; jitted, the C function at its address (abi.py)."""
    BY_CODE[int(model.force_kind[e])].apply(model, work, e)
