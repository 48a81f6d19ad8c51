"""All forces on the bodies: the model's force elements, gravity, and forces on joint coordinates."""

from __future__ import annotations

from madi.cartesian.motion import (
    CYLINDRICAL,
    FIXED,
    FREE,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    UNIVERSAL,
    joint_state,
    link_frames,
)
from madi.kernel import kernel
from madi.signals.tape import apply_forces


@kernel
def apply(model, work, element, forces, t):
    """work.force: all forces on each body at its centre of mass. `element`, `forces`: model and scratch of the force
    elements, which know bodies by a frame of their own and give force vectors about the origin of their tree."""
    R, C = work.R, model.inner_R
    for i in range(model.n):
        b = model.tree_body[i]
        if b < 0:
            continue
        for j in range(3):
            for m in range(3):
                forces.R[b, j, m] = R[i, j, 0] * C[i, 0, m] + R[i, j, 1] * C[i, 1, m] + R[i, j, 2] * C[i, 2, m]
            s = model.inner_r
            forces.r[b, j] = work.r[i, j] + R[i, j, 0] * s[i, 0] + R[i, j, 1] * s[i, 1] + R[i, j, 2] * s[i, 2]
        x, y, z = work.r[i, 0], work.r[i, 1], work.r[i, 2]
        w0, w1, w2 = work.w[i, 0], work.w[i, 1], work.w[i, 2]
        forces.Y[b, 0] = work.u[i, 0] - (w1 * z - w2 * y)
        forces.Y[b, 1] = work.u[i, 1] - (w2 * x - w0 * z)
        forces.Y[b, 2] = work.u[i, 2] - (w0 * y - w1 * x)
        forces.Y[b, 3], forces.Y[b, 4], forces.Y[b, 5] = w0, w1, w2
    joint_state(model, work, forces, forces.q, forces.v, forces.acceleration)
    for c in range(element.nv):
        forces.P[c] = 0.0
    apply_forces(element, forces, t, forces.P)
    for i in range(model.n):
        b, m = model.tree_body[i], model.mass[i]
        Q, r, F = forces.Q, work.r, work.force
        if b < 0:  # a rotor stands apart: only what turns with it moves it
            for j in range(6):
                F[i, j] = 0.0
            continue
        f0, f1, f2 = Q[b, 0], Q[b, 1], Q[b, 2]
        F[i, 3] = Q[b, 3] - (r[i, 1] * f2 - r[i, 2] * f1)
        F[i, 4] = Q[b, 4] - (r[i, 2] * f0 - r[i, 0] * f2)
        F[i, 5] = Q[b, 5] - (r[i, 0] * f1 - r[i, 1] * f0)
        F[i, 0], F[i, 1], F[i, 2] = f0 + m * model.gravity[0], f1 + m * model.gravity[1], f2 + m * model.gravity[2]
    for k in range(model.nk):
        if model.link_code[k] >= 0 and model.link_v[k] >= 0:
            joint_forces(model, work, forces, k)


@kernel
def joint_forces(model, work, forces, k):
    """Forces on the coordinates of joint k, as a force at and a couple on its two bodies."""
    code, c, tau, E = model.link_code[k], model.link_v[k], forces.tau, work.E
    if code in (SPHERICAL, FREE, FIXED):
        return
    link_frames(model, work, k)
    x, y, z, n, n2 = 0.0, 0.0, 0.0, 0.0, 0.0
    if code in (REVOLUTE, HELICAL):
        n = tau[c]
    elif code == PRISMATIC:
        z = tau[c]
    elif code == CYLINDRICAL:
        z, n = tau[c], tau[c + 1]
    elif code == PLANAR:
        x, y, n = tau[c], tau[c + 1], tau[c + 2]
    elif code == UNIVERSAL:
        n, n2 = tau[c], tau[c + 1]
    F = work.force
    for side in range(2):
        i = model.link_a[k] if side == 0 else model.link_b[k]
        sign = -1.0 if side == 0 else 1.0
        if i < model.n:
            o = work.o
            # both forces act at the origin of frame b
            s0 = work.r[model.link_b[k], 0] + o[1, 0] - work.r[i, 0]
            s1 = work.r[model.link_b[k], 1] + o[1, 1] - work.r[i, 1]
            s2 = work.r[model.link_b[k], 2] + o[1, 2] - work.r[i, 2]
            f0 = sign * (x * E[0, 0, 0] + y * E[0, 0, 1] + z * E[0, 0, 2])
            f1 = sign * (x * E[0, 1, 0] + y * E[0, 1, 1] + z * E[0, 1, 2])
            f2 = sign * (x * E[0, 2, 0] + y * E[0, 2, 1] + z * E[0, 2, 2])
            F[i, 0], F[i, 1], F[i, 2] = F[i, 0] + f0, F[i, 1] + f1, F[i, 2] + f2
            F[i, 3] = F[i, 3] + s1 * f2 - s2 * f1 + sign * (n * E[0, 0, 2] + n2 * E[1, 0, 0])
            F[i, 4] = F[i, 4] + s2 * f0 - s0 * f2 + sign * (n * E[0, 1, 2] + n2 * E[1, 1, 0])
            F[i, 5] = F[i, 5] + s0 * f1 - s1 * f0 + sign * (n * E[0, 2, 2] + n2 * E[1, 2, 0])
