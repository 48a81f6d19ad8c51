"""Inverse dynamics, recursive Newton-Euler: the generalised forces that give prescribed accelerations."""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.kinematics import accelerations
from madi.kernel import kernel
from madi.spatial.vector import plus, put, six


@kernel
def joint_forces(model: Arrays, work: Work):
    """Force vector through every joint into work.W: W_i = M^ Ydot - Q^ summed over the subtree; all qdd in work."""
    W = work.W
    accelerations(model, work, work.acceleration)
    for i in range(1, model.n):
        bodies.balance(model, work, i)
    for i in range(model.n - 1, 0, -1):
        p = model.parent[i]
        if p > 0:
            put(W, p, plus(six(W, p), six(W, i)))


@kernel
def inverse(model: Arrays, work: Work, out):
    """out = the generalised forces, beyond those of the model's own force elements, for the accelerations in work."""
    joint_forces(model, work)
    for c in range(model.nv):
        out[c] = bodies.generalised_force(model, work, c) - work.tau[c]
        out[c] = out[c] + bodies.added_inertia(model, work, c) * work.acceleration[c]
