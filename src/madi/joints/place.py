"""Pose and columns of joints in the reference frame.

A joint connects frame F on the drawn parent to a frame on the drawn child; the joint files give, in F's axes and about
F's origin, the pose `(R, p)` of the child's frame, the columns `S` of the relative motion and, where it is not zero, `S° v`,
the part of their rate that an observer on F sees (constant columns have none; nor have those of a ball or a free body,
which are constant in the child: A w~ w = 0). The tree may walk the joint against its drawn direction (`reverse`): then F
sits on the tree's child, the pose is inverted and the columns change sign. Along either direction, with `Y` of the
tree's parent,

    B = ± X_F S,    D = Y x (B v) ± X_F (S° v)                                                       (P1 eqs. 6-9).

One-axis joints (revolute, prismatic, screw) are met in nearly every body, so they have a path of their own; against their
drawn direction they need no sign, because `topology` turns their z axis around.

docs/references.md: [P1].
"""

from __future__ import annotations

from madi.joints.fields import Arrays, Work
from madi.joints.free import BASE, place_base
from madi.joints.kind import AGAINST
from madi.joints.ladder import axis_motion, is_one_axis, local_bias, local_pose, local_subspace, turns
from madi.kernel import apart, inline, kernel, sincos
from madi.spatial.vector import (
    NO_VECTOR,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    along,
    at,
    axis,
    column,
    cross,
    first,
    join,
    minus,
    plus,
    plus_scaled,
    put,
    put_axes,
    scaled,
    second,
    six,
    six_at,
    three,
    turned,
    velocity_at,
)


@inline
def place(model: Arrays, work: Work, i, q):
    """Pose of body i and the columns of its joint, in the reference frame, from the pose of its parent."""
    code = model.code[i]
    if is_one_axis(code):
        place_axis_joint(model, work, i, q)
    elif code == BASE:
        place_base(model, work, i, q)
    else:
        place_joint(model, work, i, q)


@inline
def place_axis_joint(model: Arrays, work: Work, i, q):
    """A one-axis joint: B = (turn' (r x z) + slide' z, turn' z)."""
    R, parent, code = work.R, model.parent[i], model.code[i]
    turn, slide, turn_rate, slide_rate = axis_motion(code, q[model.q_at[i]], model.pitch[i])
    c, s = 1.0, 0.0
    if turns(code):
        s, c = sincos(turn)
    x, y, z = drawn_axes(model, work, i)
    r = plus_scaled(plus(three(work.r, parent), turned(R, parent, three(model.d, i))), slide, z)
    put_axes(R, i, plus(scaled(c, x), scaled(s, y)), minus(scaled(c, y), scaled(s, x)), z)
    put(work.r, i, r)
    if parent == 0:
        see_from_frame(model, work, i)
    r = three(work.r, i)
    put(work.B, model.v_at[i], join(plus(scaled(turn_rate, cross(r, z)), scaled(slide_rate, z)), scaled(turn_rate, z)))


@inline
def drawn_axes(model: Arrays, work: Work, i):
    """Axes of the frame in which joint i is drawn on the tree's parent, in the reference frame."""
    R, C, parent = work.R, model.C, model.parent[i]
    return turned(R, parent, axis(C, i, 0)), turned(R, parent, axis(C, i, 1)), turned(R, parent, axis(C, i, 2))


@inline
def see_from_frame(model: Arrays, work: Work, i):
    """A body on the ground, placed in ground coordinates: its frame's origin is put there, or r is taken from where it is.

    So inertias are about a point near the tree, wherever it stands and however far it has gone: about a far one their
    digits would go into the distance. The frame does not move: at each instant it is another one, at rest.
    """
    f, r = model.frame[i], three(work.r, i)
    if model.carries[i] == 1:
        put(work.frame_r, f, r)
        put(work.r, i, NO_VECTOR)
        put_axes(work.frame_R, f, X_AXIS, Y_AXIS, Z_AXIS)
    else:
        put(work.r, i, from_frame(work, f, r))


@inline
def from_frame(work: Work, f, x):
    """A point in the ground as seen from the origin of reference frame f."""
    o = three(work.frame_r, f)
    return apart(x[0], o[0]), apart(x[1], o[1]), apart(x[2], o[2])


@kernel
def parent_point(model: Arrays, work: Work, i):
    """Where joint i sits on the tree's parent, in the reference frame."""
    p = model.parent[i]
    x = plus(three(work.r, p), turned(work.R, p, three(model.d, i)))
    return from_frame(work, model.frame[i], x) if p == 0 else x


@kernel
def place_joint(model: Arrays, work: Work, i, q):
    """Any joint of several coordinates (or none), walked either way."""
    S, code, l = work.joint_S, model.code[i], model.v_at[i]
    local_pose(code, q, model.q_at[i], work.joint_R, work.joint_p)
    compose(model, work, i)
    if model.parent[i] == 0:
        see_from_frame(model, work, i)
    local_subspace(code, q, model.q_at[i], work.joint_R, work.joint_p, S)
    F = joint_frame(model, work, i)
    for c in range(model.v_end[i] - l):
        put(work.B, l + c, from_joint(model, i, F, six(S, c)))


@kernel
def compose(model: Arrays, work: Work, i):
    """Pose of body i from its parent's and the joint's own, (joint_R, joint_p) in F."""
    A, p, parent = work.joint_R, at(work.joint_p, 0), model.parent[i]
    x, y, z = drawn_axes(model, work, i)
    o = plus(three(work.r, parent), turned(work.R, parent, three(model.d, i)))
    if model.reverse[i] == AGAINST:  # F = G T^-1
        x, y, z = along(x, y, z, three(A, 0)), along(x, y, z, three(A, 1)), along(x, y, z, three(A, 2))
        r = minus(o, along(x, y, z, p))
    else:
        r = plus(o, along(x, y, z, p))
        x, y, z = along(x, y, z, column(A, 0)), along(x, y, z, column(A, 1)), along(x, y, z, column(A, 2))
    put_axes(work.R, i, x, y, z)
    put(work.r, i, r)


@inline
def joint_frame(model: Arrays, work: Work, i):
    """Axes and origin of F in the reference frame; bodies of joint i are placed."""
    if model.reverse[i] == AGAINST:
        return axis(work.R, i, 0), axis(work.R, i, 1), axis(work.R, i, 2), three(work.r, i)
    x, y, z = drawn_axes(model, work, i)
    return x, y, z, parent_point(model, work, i)


@inline
def from_joint(model: Arrays, i, F, s):
    """± X_F s: a motion of the drawn child, seen from F and in its axes, as one of the tree's child about the reference
    origin; F = (x, y, z, o)."""
    x, y, z, o = F
    s = scaled(-1.0 if model.reverse[i] == AGAINST else 1.0, s)
    e = along(x, y, z, second(s))
    return join(plus(along(x, y, z, first(s)), cross(o, e)), e)


@kernel
def direction(model: Arrays, work: Work, i, c):
    """Along what a force on column c of joint i acts, and about what a torque: its slide, or its turn. At the joint's own
    point a turn has no velocity, a slide has; of a screw, its torque is meant."""
    b = six(work.B, c)
    if is_one_axis(model.code[i]) and turns(model.code[i]):
        return join(NO_VECTOR, second(b))
    return join(velocity_at(b, three(work.r, i)), second(b))


@kernel
def bias(model: Arrays, work: Work, i, q, v):
    """± X_F (S° v) of joint i, about the reference origin."""
    local_bias(model.code[i], q, model.q_at[i], v, model.v_at[i], work.joint_b)
    return from_joint(model, i, joint_frame(model, work, i), six_at(work.joint_b, 0))
