"""Inverse dynamics, recursive Newton-Euler: the generalised forces that give prescribed accelerations."""

from __future__ import annotations

from madi.dynamics.kinematics import accelerations
from madi.dynamics.modal import generalised_force, modal_mass
from madi.dynamics.recursive import body_terms
from madi.kernel import BALANCE, call_seldom, kernel, seldom
from madi.spatial.algebra import dot6, inertia_times


@kernel
def joint_forces(model, work):
    """Force vector through every joint into work.W: W_i = M^ Ydot - Q^ summed over the subtree; all qdd in work."""
    W, a = work.W, work.a
    n = model.n
    accelerations(model, work, work.acceleration)
    for i in range(1, n):
        body_terms(model, work, i)  # W = Q^ - M^ A
        if model.modal[i] >= 0:
            call_seldom(model.seldom[BALANCE], BALANCE, model, work, i)
        f0, f1, f2, f3, f4, f5 = inertia_times(work.inertia, i, a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])
        W[i, 0], W[i, 1], W[i, 2] = f0 - W[i, 0], f1 - W[i, 1], f2 - W[i, 2]
        W[i, 3], W[i, 4], W[i, 5] = f3 - W[i, 3], f4 - W[i, 4], f5 - W[i, 5]
    for i in range(n - 1, 0, -1):
        p = model.parent[i]
        if p > 0:
            for j in range(6):
                W[p, j] = W[p, j] + W[i, j]


@seldom(BALANCE)
def modal_forces(model, work, i):
    """Of a flexible body alone: W gets what its modes' accelerations take, work.own becomes the balance of each mode."""
    l, m = model.v_at[i], model.v_end[i]
    a, qdd, g = work.a, work.acceleration, work.joint_a
    g[0], g[1], g[2], g[3], g[4], g[5] = inertia_times(work.inertia, i, a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])
    for c in range(l, m):
        for j in range(6):
            g[j] = g[j] + work.h[c, j] * qdd[c]
            work.W[i, j] = work.W[i, j] - work.h[c, j] * qdd[c]
    for c in range(l, m):
        x = dot6(work.h, c, a, i) - work.own[c]
        for j in range(6):
            x = x + work.B[c, j] * g[j]
        for d in range(l, m):
            x = x + modal_mass(model, work, i, c, d) * qdd[d]
        work.own[c] = x


@kernel
def inverse(model, work, out):
    """out = the generalised forces, beyond those of the model's own force elements, for the accelerations in work."""
    joint_forces(model, work)
    for c in range(model.nv):
        out[c] = generalised_force(model, work, c) - work.tau[c] + model.armature[c] * work.acceleration[c]
