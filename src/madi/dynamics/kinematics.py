"""Positions and velocities of all bodies, from the base outwards (P1 eqs. 1-9)."""

from __future__ import annotations

from madi import bodies
from madi.joints.columns import is_driven
from madi.kernel import inline, kernel
from madi.spatial.algebra import turned, turned_back
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
def positions(model, work, q):
    """Poses R, r of all bodies and the columns B of all joints; inertias of flexible bodies, which change with the pose."""
    set_ground(work)
    for i in range(1, model.n):
        bodies.place(model, work, i, q)


@inline
def set_ground(work):
    """Body 0 and reference frame 0: the ground, at rest."""
    put_axes(work.R, 0, X_AXIS, Y_AXIS, Z_AXIS)
    put_axes(work.frame_R, 0, X_AXIS, Y_AXIS, Z_AXIS)
    put(work.r, 0, NO_VECTOR)
    put(work.frame_r, 0, NO_VECTOR)
    put(work.Y, 0, NO_MOTION)
    put(work.a, 0, NO_MOTION)


@kernel
def velocities(model, work, q, v):
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
def accelerations(model, work, qdd):
    """work.a: state accelerations relative to A, so that Ydot = A + a (+ gravity)."""
    for i in range(1, model.n):
        bodies.follow(model, work, i, qdd)


@inline
def point(work, i, s0, s1, s2):
    """Reference coordinates of the point s of body i (in its internal axes)."""
    R, r = work.R, work.r
    return (
        r[i, 0] + R[i, 0, 0] * s0 + R[i, 0, 1] * s1 + R[i, 0, 2] * s2,
        r[i, 1] + R[i, 1, 0] * s0 + R[i, 1, 1] * s1 + R[i, 1, 2] * s2,
        r[i, 2] + R[i, 2, 0] * s0 + R[i, 2, 1] * s1 + R[i, 2, 2] * s2,
    )


@inline
def point_velocity(work, i, x, y, z):
    """Velocity of the point of body i that is now at the reference coordinates (x, y, z): v + w x r."""
    Y = work.Y
    return (
        Y[i, 0] + (Y[i, 4] * z - Y[i, 5] * y),
        Y[i, 1] + (Y[i, 5] * x - Y[i, 3] * z),
        Y[i, 2] + (Y[i, 3] * y - Y[i, 4] * x),
    )


@inline
def to_ground(work, f, x, y, z):
    """A vector of reference frame f in ground axes."""
    return turned(work.frame_R, f, x, y, z)


@inline
def from_ground(work, f, x, y, z):
    """A vector of ground axes in the axes of reference frame f."""
    return turned_back(work.frame_R, f, x, y, z)
