"""Inverse dynamics, recursive Newton-Euler: the generalised forces that give prescribed accelerations."""

from __future__ import annotations

from madi.dynamics.kinematics import accelerations
from madi.dynamics.modal import add_momentum, generalised_force, modal_mass
from madi.dynamics.recursive import body_terms
from madi.kernel import BALANCE, call_seldom, kernel, seldom
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import NO_MOTION, dot, minus, plus, put, six


@kernel
def joint_forces(model, work):
    """Force vector through every joint into work.W: W_i = M^ Ydot - Q^ summed over the subtree; all qdd in work."""
    W = work.W
    accelerations(model, work, work.acceleration)
    for i in range(1, model.n):
        body_terms(model, work, i)  # W = Q^ - M^ A
        if model.modal[i] >= 0:
            call_seldom(model.seldom[BALANCE], BALANCE, model, work, i)
        put(W, i, minus(momentum_of(work.inertia, i, six(work.a, i)), six(W, i)))
    for i in range(model.n - 1, 0, -1):
        p = model.parent[i]
        if p > 0:
            put(W, p, plus(six(W, p), six(W, i)))


@seldom(BALANCE)
def modal_forces(model, work, i):
    """Of a flexible body alone: W gets what its modes' accelerations take, work.own becomes the balance of each mode."""
    l, m = model.v_at[i], model.v_end[i]
    a, qdd = six(work.a, i), work.acceleration
    taken = add_momentum(model, work, i, qdd, NO_MOTION)
    force = plus(momentum_of(work.inertia, i, a), taken)
    put(work.W, i, minus(six(work.W, i), taken))
    for c in range(l, m):
        x = dot(six(work.h, c), a) - work.own[c] + dot(six(work.B, c), force)
        for d in range(l, m):
            x = x + modal_mass(model, work, i, c, d) * qdd[d]
        work.own[c] = x


@kernel
def inverse(model, work, out):
    """out = the generalised forces, beyond those of the model's own force elements, for the accelerations in work."""
    joint_forces(model, work)
    for c in range(model.nv):
        out[c] = generalised_force(model, work, c) - work.tau[c] + model.armature[c] * work.acceleration[c]
