"""All forces on the bodies: the model's force elements, gravity, and forces on joint coordinates."""

from __future__ import annotations

from madi.cartesian.fields import Arrays, Work
from madi.cartesian.motion import joint_state, link_frames
from madi.cartesian.words import BALL, SECOND, SHIFT, TURN, X, Z
from madi.equations.fields import Arrays as TreeArrays
from madi.equations.fields import Work as TreeWork
from madi.kernel import kernel
from madi.signals.tape import apply_forces
from madi.spatial.vector import (
    NO_VECTOR,
    at,
    axis,
    cross,
    first,
    join,
    minus,
    plus,
    plus_scaled,
    put,
    put_axis,
    six,
    three,
    to_point,
    turned,
)


@kernel
def show_bodies(model: Arrays, work: Work, forces: TreeWork):
    """Poses and velocities of the bodies as force elements know them: by a frame of their own, about the origin of their
    tree."""
    for i in range(model.n):
        b = model.tree_body[i]
        if b >= 0:
            for m in range(3):
                put_axis(forces.R, b, m, turned(work.R, i, axis(model.inner_R, i, m)))
            r, w = three(work.r, i), three(work.w, i)
            put(forces.r, b, plus(r, turned(work.R, i, three(model.inner_r, i))))
            put(forces.Y, b, join(minus(three(work.u, i), cross(w, r)), w))


@kernel
def apply(model: Arrays, work: Work, element: TreeArrays, forces: TreeWork, t):
    """work.force: all forces on each body at its centre of mass. `element`, `forces`: model and scratch of the force
    elements, which give force vectors about the origin of their tree."""
    show_bodies(model, work, forces)
    joint_state(model, work, forces, forces.q, forces.v, forces.acceleration)
    for c in range(element.nv):
        forces.P[c] = 0.0
    apply_forces(element, forces, t, forces.P)
    for i in range(model.n):
        b = model.tree_body[i]
        if b < 0:  # a rotor stands apart: only what turns with it moves it
            put(work.force, i, join(NO_VECTOR, NO_VECTOR))
        else:
            Q = six(forces.Q, b)
            f = plus_scaled(first(Q), model.mass[i], at(model.gravity, 0))
            put(work.force, i, join(f, to_point(Q, three(work.r, i))))
    for k in range(model.nk):
        if model.link_v[k] >= 0:
            joint_forces(model, work, forces, k)


@kernel
def joint_forces(model: Arrays, work: Work, forces: TreeWork, k):
    """Forces on the coordinates of joint k, as a force at and a couple on its two bodies; a shift and a ball have none."""
    c, tau = model.link_v[k], forces.tau
    link_frames(model, work, k)
    f, n = NO_VECTOR, NO_VECTOR
    for p in range(model.link_parts[k]):
        part = model.link_part[k, p]
        if part in (SHIFT, BALL):
            c += 3
            continue
        if part == TURN:
            n = plus_scaled(n, tau[c], axis(work.E, 0, Z))
        elif part == SECOND:
            n = plus_scaled(n, tau[c], axis(work.E, 1, X))
        else:
            f = plus_scaled(f, tau[c], axis(work.E, 0, part))
        c += 1
    o = plus(three(work.r, model.link_b[k]), three(work.o, 1))  # both forces act at the origin of frame b
    for side in range(2):
        i = model.link_a[k] if side == 0 else model.link_b[k]
        if i < model.n:
            load = join(f, plus(cross(minus(o, three(work.r, i)), f), n))
            put(work.force, i, plus_scaled(six(work.force, i), -1.0 if side == 0 else 1.0, load))
