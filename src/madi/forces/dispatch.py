"""The only place that asks which kind a force element is."""

from __future__ import annotations

from madi.forces import applied_force, applied_torque, joint_spring, joint_torque, spring_damper
from madi.kernel import kernel

SPRING_DAMPER = spring_damper.KIND.code
JOINT_SPRING = joint_spring.KIND.code
FORCE = applied_force.KIND.code
TORQUE = applied_torque.KIND.code


@kernel
def apply_forces(model, work, tau):
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
        else:
            joint_torque.apply(model, work, e)
