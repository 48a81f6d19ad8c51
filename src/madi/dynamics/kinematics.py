"""Positions and velocities of all bodies, from the base outwards (P1 eqs. 1-9)."""

from __future__ import annotations

from madi.joints import modal
from madi.joints.dispatch import BASE, MODAL, bias, has_bias, place, put_bias
from madi.kernel import INERTIA, MOVE, call_seldom, inline, kernel, seldom
from madi.spatial.algebra import motion_cross, turned, turned_back


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
    for j in range(6):
        work.Y[0, j] = 0.0
        work.a[0, j] = 0.0


@kernel
def velocities(model, work, q, v):
    """Y_j = Y_i + B_j v_j, and A_j = A_i + D_j: what is left of Ydot_j when all qdd are zero.

    A starts with minus gravity at the base, so gravity needs no force on any body. Prescribed accelerations of driven
    columns (work.acceleration) are part of A as well: they are known.
    """
    Y, A, B = work.Y, work.A, work.B
    for j in range(3):
        A[0, j] = -model.gravity[j]
        A[0, 3 + j] = 0.0
    for i in range(1, model.n):
        p, l, m = model.parent[i], model.v_at[i], model.v_end[i]
        if model.code[i] == BASE:
            base_velocity(model, work, i, v)
        elif model.code[i] == MODAL:
            for c in range(l, m):
                work.xi_rate[c] = v[c]
            call_seldom(model.seldom[MOVE], MOVE, model, work, i)
        elif m - l == 1:
            # the one-axis joint: B v and its rate in scalars
            x = v[l]
            b0, b1, b2 = B[l, 0] * x, B[l, 1] * x, B[l, 2] * x
            b3, b4, b5 = B[l, 3] * x, B[l, 4] * x, B[l, 5] * x
            add_relative(Y, A, p, i, b0, b1, b2, b3, b4, b5)
        else:
            b0, b1, b2 = 0.0, 0.0, 0.0
            b3, b4, b5 = 0.0, 0.0, 0.0
            for c in range(l, m):
                x = v[c]
                b0, b1, b2 = b0 + B[c, 0] * x, b1 + B[c, 1] * x, b2 + B[c, 2] * x
                b3, b4, b5 = b3 + B[c, 3] * x, b4 + B[c, 4] * x, b5 + B[c, 5] * x
            add_relative(Y, A, p, i, b0, b1, b2, b3, b4, b5)
            if has_bias(model.code[i]):
                s0, s1, s2, s3, s4, s5 = bias(model, work, i, q, v)
                A[i, 0] = A[i, 0] + s0
                A[i, 1] = A[i, 1] + s1
                A[i, 2] = A[i, 2] + s2
                A[i, 3] = A[i, 3] + s3
                A[i, 4] = A[i, 4] + s4
                A[i, 5] = A[i, 5] + s5
        for c in range(l, m):
            if model.drive[c] >= 0:
                for j in range(6):
                    A[i, j] = A[i, j] + B[c, j] * work.acceleration[c]


@inline
def add_relative(Y, A, p, i, b0, b1, b2, b3, b4, b5):
    """Velocity and acceleration of body i from its parent's and the relative velocity b: D = Y_p x b."""
    y0, y1, y2 = Y[p, 0], Y[p, 1], Y[p, 2]
    y3, y4, y5 = Y[p, 3], Y[p, 4], Y[p, 5]
    d0, d1, d2, d3, d4, d5 = motion_cross(y0, y1, y2, y3, y4, y5, b0, b1, b2, b3, b4, b5)
    Y[i, 0], Y[i, 1], Y[i, 2] = y0 + b0, y1 + b1, y2 + b2
    Y[i, 3], Y[i, 4], Y[i, 5] = y3 + b3, y4 + b4, y5 + b5
    A[i, 0], A[i, 1], A[i, 2] = A[p, 0] + d0, A[p, 1] + d1, A[p, 2] + d2
    A[i, 3], A[i, 4], A[i, 5] = A[p, 3] + d3, A[p, 4] + d4, A[p, 5] + d5


@seldom(MOVE)
def modal_velocity(model, work, i):
    """A point of a flexible body relative to the body, or the body relative to the point it is attached to."""
    Y, A, B = work.Y, work.A, work.B
    v = work.xi_rate
    l, outward = model.mode_v[i], model.modal[i] < 0
    b0, b1, b2 = 0.0, 0.0, 0.0
    b3, b4, b5 = 0.0, 0.0, 0.0
    for c in range(model.modes[i]):
        k, f = model.blade_at[i] + c, v[l + c]
        b0, b1, b2 = b0 + B[k, 0] * f, b1 + B[k, 1] * f, b2 + B[k, 2] * f
        b3, b4, b5 = b3 + B[k, 3] * f, b4 + B[k, 4] * f, b5 + B[k, 5] * f
        if outward:  # less what moves the body itself
            k = l + c
            b0, b1, b2 = b0 - B[k, 0] * f, b1 - B[k, 1] * f, b2 - B[k, 2] * f
            b3, b4, b5 = b3 - B[k, 3] * f, b4 - B[k, 4] * f, b5 - B[k, 5] * f
    add_relative(Y, A, model.parent[i], i, b0, b1, b2, b3, b4, b5)
    modal.bias(model, i, work.xi, l, v, l, work.joint_b)
    s0, s1, s2, s3, s4, s5 = put_bias(model, work, i)
    A[i, 0], A[i, 1], A[i, 2] = A[i, 0] + s0, A[i, 1] + s1, A[i, 2] + s2
    A[i, 3], A[i, 4], A[i, 5] = A[i, 3] + s3, A[i, 4] + s4, A[i, 5] + s5


@kernel
def base_velocity(model, work, i, v):
    """The body that carries the frame: Y = v, and gravity is turned into its axes (P4)."""
    l, f = model.v_at[i], model.frame[i]
    R, g = work.frame_R, model.gravity
    for j in range(6):
        work.Y[i, j] = v[l + j]
    for j in range(3):
        work.A[i, j] = -(R[f, 0, j] * g[0] + R[f, 1, j] * g[1] + R[f, 2, j] * g[2])
        work.A[i, 3 + j] = 0.0


@kernel
def accelerations(model, work, qdd):
    """work.a: state accelerations relative to A, so that Ydot = A + a (+ gravity)."""
    a, B = work.a, work.B
    for i in range(1, model.n):
        p = model.parent[i]
        for j in range(6):
            a[i, j] = a[p, j]
        for c in range(model.v_at[i], model.v_end[i]):
            if model.drive[c] < 0:
                for j in range(6):
                    a[i, j] = a[i, j] + B[c, j] * qdd[c]
        if model.code[i] == MODAL and model.modal[i] < 0:
            point_acceleration(model, work, i, qdd)


@inline
def point_acceleration(model, work, i, qdd):
    """Of a point of a flexible body: what the modes add there to work.a of the body."""
    a, B = work.a, work.B
    for c in range(model.modes[i]):
        k, l = model.blade_at[i] + c, model.mode_v[i] + c
        if model.drive[l] < 0:
            for j in range(6):
                a[i, j] = a[i, j] + (B[k, j] - B[l, j]) * qdd[l]


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
