"""Positions and velocities of all bodies, from the base outwards (P1 eqs. 1-9)."""

from __future__ import annotations

from madi.joints import modal
from madi.joints.columns import is_driven
from madi.joints.free import BASE, base_velocity
from madi.joints.ladder import has_bias
from madi.joints.place import MODAL, bias, from_joint, joint_frame, place
from madi.kernel import INERTIA, MOVE, call_seldom, inline, kernel, seldom
from madi.spatial.algebra import turned, turned_back
from madi.spatial.vector import (
    NO_MOTION,
    NO_VECTOR,
    at,
    join,
    minus,
    motion_cross,
    plus,
    plus_scaled,
    put,
    scaled,
    six,
    six_at,
)


@kernel
def positions(model, work, q):
    """Poses R, r of all bodies and the columns B of all joints; inertias of flexible bodies, which change with the pose."""
    set_ground(work)
    for i in range(1, model.n):
        place(model, work, i, q)
        if model.modal[i] >= 0:
            call_seldom(model.seldom[INERTIA], INERTIA, model, work, i)


@inline
def set_ground(work):
    """Body 0 and reference frame 0: the ground, at rest."""
    for j in range(3):
        for k in range(3):
            work.R[0, j, k] = 1.0 if j == k else 0.0
            work.frame_R[0, j, k] = 1.0 if j == k else 0.0
        work.r[0, j] = 0.0
        work.frame_r[0, j] = 0.0
    put(work.Y, 0, NO_MOTION)
    put(work.a, 0, NO_MOTION)


@kernel
def velocities(model, work, q, v):
    """Y_j = Y_i + B_j v_j, and A_j = A_i + D_j: what is left of Ydot_j when all qdd are zero.

    A starts with minus gravity at the base, so gravity needs no force on any body. Prescribed accelerations of driven
    columns (work.acceleration) are part of A as well: they are known.
    """
    A, B = work.A, work.B
    put(A, 0, join(scaled(-1.0, at(model.gravity, 0)), NO_VECTOR))
    for i in range(1, model.n):
        l, m = model.v_at[i], model.v_end[i]
        if model.code[i] == BASE:
            base_velocity(model, work, i, v)
        elif model.code[i] == MODAL:
            for c in range(l, m):
                work.xi_rate[c] = v[c]
            call_seldom(model.seldom[MOVE], MOVE, model, work, i)
        elif m - l == 1:
            add_relative(model, work, i, scaled(v[l], six(B, l)))
        else:
            b = NO_MOTION
            for c in range(l, m):
                b = plus_scaled(b, v[c], six(B, c))
            add_relative(model, work, i, b)
            if has_bias(model.code[i]):
                put(A, i, plus(six(A, i), bias(model, work, i, q, v)))
        for c in range(l, m):
            if is_driven(model, c):
                put(A, i, plus_scaled(six(A, i), work.acceleration[c], six(B, c)))


@inline
def add_relative(model, work, i, b):
    """Velocity and acceleration of body i from its parent's and the relative velocity b = B v: D = Y_p x b."""
    y, a = six(work.Y, model.parent[i]), six(work.A, model.parent[i])
    put(work.Y, i, plus(y, b))
    put(work.A, i, plus(a, motion_cross(y, b)))


@seldom(MOVE)
def modal_velocity(model, work, i):
    """A point of a flexible body relative to the body, or the body relative to the point it is attached to."""
    B, v = work.B, work.xi_rate
    l, b = model.mode_v[i], NO_MOTION
    for c in range(model.modes[i]):
        b = plus_scaled(b, v[l + c], six(B, model.blade_at[i] + c))
        if model.modal[i] < 0:  # less what moves the body itself
            b = minus(b, scaled(v[l + c], six(B, l + c)))
    add_relative(model, work, i, b)
    modal.point_bias(model, i, work.xi, l, v, l, work.joint_b)
    put(work.A, i, plus(six(work.A, i), from_joint(model, i, joint_frame(model, work, i), six_at(work.joint_b, 0))))


@kernel
def accelerations(model, work, qdd):
    """work.a: state accelerations relative to A, so that Ydot = A + a (+ gravity)."""
    for i in range(1, model.n):
        a = six(work.a, model.parent[i])
        for c in range(model.v_at[i], model.v_end[i]):
            if not is_driven(model, c):
                a = plus_scaled(a, qdd[c], six(work.B, c))
        put(work.a, i, a)
        if model.code[i] == MODAL and model.modal[i] < 0:
            point_acceleration(model, work, i, qdd)


@inline
def point_acceleration(model, work, i, qdd):
    """Of a point of a flexible body: what the modes add there to work.a of the body."""
    a, B = six(work.a, i), work.B
    for c in range(model.modes[i]):
        k, l = model.blade_at[i] + c, model.mode_v[i] + c
        if not is_driven(model, l):
            a = plus_scaled(a, qdd[l], minus(six(B, k), six(B, l)))
    put(work.a, i, a)


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
