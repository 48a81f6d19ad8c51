"""Positions and velocities of all bodies, from the base outwards (P1 eqs. 1-9)."""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.joints.columns import is_driven
from madi.kernel import inline, kernel
from madi.spatial.vector import (
    NO_MOTION,
    NO_VECTOR,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    at,
    join,
    plus_scaled,
    put,
    put_axes,
    scaled,
    six,
)


@kernel
def positions(model: Arrays, work: Work, q):
    """Poses R, r of all bodies and the columns B of all joints; inertias of flexible bodies, which change with the pose."""
    set_ground(work)
    for i in range(1, model.n):
        bodies.place(model, work, i, q)


@inline
def set_ground(work: Work):
    """Body 0 and reference frame 0: the ground, at rest."""
    put_axes(work.R, 0, X_AXIS, Y_AXIS, Z_AXIS)
    put_axes(work.frame_R, 0, X_AXIS, Y_AXIS, Z_AXIS)
    put(work.r, 0, NO_VECTOR)
    put(work.frame_r, 0, NO_VECTOR)
    put(work.Y, 0, NO_MOTION)
    put(work.a, 0, NO_MOTION)


@kernel
def velocities(model: Arrays, work: Work, q, v):
    """Y_j = Y_i + B_j v_j, and A_j = A_i + D_j: what is left of Ydot_j when all qdd are zero.

    A starts with minus gravity at the base, so gravity needs no force on any body. Prescribed accelerations of driven
    columns (work.acceleration) are part of A as well: they are known.
    """
    A = work.A
    put(A, 0, join(scaled(-1.0, at(model.gravity, 0)), NO_VECTOR))
    for i in range(1, model.n):
        bodies.move(model, work, i, q, v)
        for c in range(model.v_at[i], model.v_end[i]):
            if is_driven(model, c):
                put(A, i, plus_scaled(six(A, i), work.acceleration[c], six(work.B, c)))


@kernel
def accelerations(model: Arrays, work: Work, qdd):
    """work.a: state accelerations relative to A, so that Ydot = A + a (+ gravity)."""
    for i in range(1, model.n):
        bodies.follow(model, work, i, qdd)
