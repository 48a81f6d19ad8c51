"""The only place that asks which type a joint is.

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

from madi.joints import cylindrical, fixed, free, modal, planar, prismatic, revolute, screw, spherical, universal
from madi.kernel import PLACE, apart, call_seldom, inline, kernel, seldom, sincos, sqrt
from madi.spatial.rotation import (
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_to_matrix,
    rotation_rate,
    slide_while_turning,
    turn_by_quaternion,
)

REVOLUTE = revolute.KIND.code
PRISMATIC = prismatic.KIND.code
SCREW = screw.KIND.code  # codes up to here are one-axis joints
FIXED = fixed.KIND.code
CYLINDRICAL = cylindrical.KIND.code
UNIVERSAL = universal.KIND.code
SPHERICAL = spherical.KIND.code
PLANAR = planar.KIND.code
FREE = free.KIND.code
MODAL = modal.KIND.code
BASE = 9  # a free joint whose child carries the reference frame (P4's chassis-local frame)


@inline
def axis_motion(code, x, pitch):
    """(turn, slide) of a one-axis joint and their rates by its coordinate."""
    if code == REVOLUTE:
        return revolute.motion(x, pitch)
    if code == PRISMATIC:
        return prismatic.motion(x, pitch)
    return screw.motion(x, pitch)


@kernel
def local_pose(code, q, k, R, p):
    """Pose of the child's joint frame in F, for the joints with another number of coordinates than one."""
    if code == FIXED:
        fixed.pose(q, k, R, p)
    elif code == CYLINDRICAL:
        cylindrical.pose(q, k, R, p)
    elif code == UNIVERSAL:
        universal.pose(q, k, R, p)
    elif code == SPHERICAL:
        spherical.pose(q, k, R, p)
    elif code == PLANAR:
        planar.pose(q, k, R, p)
    else:
        free.pose(q, k, R, p)


@kernel
def local_subspace(code, q, k, R, p, S):
    """Rows of S: the columns of the relative motion, in F."""
    for c in range(6):
        for j in range(6):
            S[c, j] = 0.0
    if code == CYLINDRICAL:
        cylindrical.subspace(q, k, R, p, S)
    elif code == UNIVERSAL:
        universal.subspace(q, k, R, p, S)
    elif code == SPHERICAL:
        spherical.subspace(q, k, R, p, S)
    elif code == PLANAR:
        planar.subspace(q, k, R, p, S)
    elif code == FREE:
        free.subspace(q, k, R, p, S)


@kernel
def local_bias(code, q, k, v, l, b):
    """S° v, in F."""
    for j in range(6):
        b[j] = 0.0
    if code == UNIVERSAL:
        universal.bias(q, k, v, l, b)
    elif code == PLANAR:
        planar.bias(q, k, v, l, b)


@kernel
def drawn_subspace(code, pitch, q, R, p, S):
    """Rows of S at the coordinates q of one joint, of any type: what it allows, seen from F."""
    if code <= SCREW:
        for c in range(6):
            for j in range(6):
                S[c, j] = 0.0
        _, _, S[0, 5], S[0, 2] = axis_motion(code, q[0], pitch)
    else:
        local_pose(code, q, 0, R, p)
        local_subspace(code, q, 0, R, p, S)


@inline
def has_bias(code):
    """Whether S° v can be other than zero."""
    return code in (UNIVERSAL, PLANAR)


@inline
def place(model, work, i, q):
    """Pose of body i and the columns of its joint, in the reference frame, from the pose of its parent."""
    code = model.code[i]
    if code <= SCREW:
        place_axis_joint(model, work, i, q)
    elif code == BASE:
        place_base(model, work, i, q)
    elif code == MODAL:
        for c in range(model.v_at[i], model.v_end[i]):
            work.xi[c] = q[model.column_q[c]]
        call_seldom(model.seldom[PLACE], PLACE, model, work, i)
    else:
        place_joint(model, work, i, q)


@inline
def place_axis_joint(model, work, i, q):
    """A one-axis joint: B = (turn' (r x z) + slide' z, turn' z)."""
    R, r, C = work.R, work.r, model.C
    d, B = model.d, work.B
    parent, code, l = model.parent[i], model.code[i], model.v_at[i]
    turn, slide, turn_rate, slide_rate = axis_motion(code, q[model.q_at[i]], model.pitch[i])
    c, s = 1.0, 0.0
    if code != PRISMATIC:
        s, c = sincos(turn)
    # read before writing: the compiler cannot know that R and C do not overlap
    c00, c01 = C[i, 0, 0], C[i, 0, 1]
    c02, d0 = C[i, 0, 2], d[i, 0]
    c10, c11 = C[i, 1, 0], C[i, 1, 1]
    c12, d1 = C[i, 1, 2], d[i, 1]
    c20, c21 = C[i, 2, 0], C[i, 2, 1]
    c22, d2 = C[i, 2, 2], d[i, 2]
    for j in range(3):
        p0, p1, p2 = R[parent, j, 0], R[parent, j, 1], R[parent, j, 2]
        x = p0 * c00 + p1 * c10 + p2 * c20
        y = p0 * c01 + p1 * c11 + p2 * c21
        z = p0 * c02 + p1 * c12 + p2 * c22
        R[i, j, 0] = c * x + s * y
        R[i, j, 1] = c * y - s * x
        R[i, j, 2] = z
        r[i, j] = r[parent, j] + p0 * d0 + p1 * d1 + p2 * d2 + slide * z
    if parent == 0:
        see_from_frame(model, work, i)
    z0, z1, z2 = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
    x0, x1, x2 = r[i, 0], r[i, 1], r[i, 2]
    B[l, 0] = turn_rate * (x1 * z2 - x2 * z1) + slide_rate * z0
    B[l, 1] = turn_rate * (x2 * z0 - x0 * z2) + slide_rate * z1
    B[l, 2] = turn_rate * (x0 * z1 - x1 * z0) + slide_rate * z2
    B[l, 3] = turn_rate * z0
    B[l, 4] = turn_rate * z1
    B[l, 5] = turn_rate * z2


@inline
def see_from_frame(model, work, i):
    """A body on the ground, placed in ground coordinates: its frame's origin is put there, or r is taken from where it is.

    So inertias are about a point near the tree, wherever it stands and however far it has gone: about a far one their
    digits would go into the distance. The frame does not move: at each instant it is another one, at rest.
    """
    f, r, o = model.frame[i], work.r, work.frame_r
    for j in range(3):
        if model.carries[i] == 1:
            o[f, j] = r[i, j]
            r[i, j] = 0.0
            for k in range(3):
                work.frame_R[f, j, k] = 1.0 if j == k else 0.0
        else:
            r[i, j] = apart(r[i, j], o[f, j])


@kernel
def parent_point(model, work, i, j):
    """Coordinate j, in the reference frame, of where joint i sits on the tree's parent."""
    p, d, R = model.parent[i], model.d, work.R
    x = work.r[p, j] + R[p, j, 0] * d[i, 0] + R[p, j, 1] * d[i, 1] + R[p, j, 2] * d[i, 2]
    return apart(x, work.frame_r[model.frame[i], j]) if p == 0 else x


@kernel
def place_base(model, work, i, q):
    """The reference frame rides on body i: its pose there is the identity and B is 1; the frame's pose is in q."""
    R, r, B = work.R, work.r, work.B
    C, d = model.C, model.d
    k, l, f = model.q_at[i], model.v_at[i], model.frame[i]
    quaternion_to_matrix(q, k + 3, work.joint_R)
    for j in range(3):
        for c in range(3):
            R[i, j, c] = 1.0 if j == c else 0.0
            work.frame_R[f, j, c] = (
                C[i, j, 0] * work.joint_R[0, c] + C[i, j, 1] * work.joint_R[1, c] + C[i, j, 2] * work.joint_R[2, c]
            )
        r[i, j] = 0.0
        work.frame_r[f, j] = d[i, j] + C[i, j, 0] * q[k] + C[i, j, 1] * q[k + 1] + C[i, j, 2] * q[k + 2]
    for c in range(6):
        for j in range(6):
            B[l + c, j] = 1.0 if c == j else 0.0


@kernel
def joint_frame_axes(model, work, i, j):
    """Row j of the rotation of F in the reference frame (bodies of joint i placed already)."""
    R, C, parent = work.R, model.C, model.parent[i]
    if model.reverse[i] == 1:
        return R[i, j, 0], R[i, j, 1], R[i, j, 2]
    p0, p1, p2 = R[parent, j, 0], R[parent, j, 1], R[parent, j, 2]
    return (
        p0 * C[i, 0, 0] + p1 * C[i, 1, 0] + p2 * C[i, 2, 0],
        p0 * C[i, 0, 1] + p1 * C[i, 1, 1] + p2 * C[i, 2, 1],
        p0 * C[i, 0, 2] + p1 * C[i, 1, 2] + p2 * C[i, 2, 2],
    )


@kernel
def place_joint(model, work, i, q):
    """Any joint of several coordinates (or none), walked either way."""
    S, code, l = work.joint_S, model.code[i], model.v_at[i]
    local_pose(code, q, model.q_at[i], work.joint_R, work.joint_p)
    compose(model, work, i)
    if model.parent[i] == 0:
        see_from_frame(model, work, i)
        for j in range(3):
            work.joint_o[j] = apart(work.joint_o[j], work.frame_r[model.frame[i], j])
    local_subspace(code, q, model.q_at[i], work.joint_R, work.joint_p, S)
    for c in range(model.v_end[i] - l):
        put_column(model, work, i, l + c, S[c, 0], S[c, 1], S[c, 2], S[c, 3], S[c, 4], S[c, 5])


@kernel
def compose(model, work, i):
    """Pose of body i from its parent's and the joint's own, (joint_R, joint_p) in F; joint_o: the origin of F."""
    R, r, C = work.R, work.r, model.C
    d, A, p = model.d, work.joint_R, work.joint_p
    parent, reverse = model.parent[i], model.reverse[i] == 1
    for j in range(3):
        p0, p1, p2 = R[parent, j, 0], R[parent, j, 1], R[parent, j, 2]
        x = p0 * C[i, 0, 0] + p1 * C[i, 1, 0] + p2 * C[i, 2, 0]
        y = p0 * C[i, 0, 1] + p1 * C[i, 1, 1] + p2 * C[i, 2, 1]
        z = p0 * C[i, 0, 2] + p1 * C[i, 1, 2] + p2 * C[i, 2, 2]
        o = r[parent, j] + p0 * d[i, 0] + p1 * d[i, 1] + p2 * d[i, 2]
        if reverse:  # F = G T^-1
            a = x * A[0, 0] + y * A[0, 1] + z * A[0, 2]
            b = x * A[1, 0] + y * A[1, 1] + z * A[1, 2]
            c = x * A[2, 0] + y * A[2, 1] + z * A[2, 2]
            r[i, j] = o - (a * p[0] + b * p[1] + c * p[2])
            work.joint_o[j] = r[i, j]
        else:
            a = x * A[0, 0] + y * A[1, 0] + z * A[2, 0]
            b = x * A[0, 1] + y * A[1, 1] + z * A[2, 1]
            c = x * A[0, 2] + y * A[1, 2] + z * A[2, 2]
            r[i, j] = o + x * p[0] + y * p[1] + z * p[2]
            work.joint_o[j] = o
        R[i, j, 0], R[i, j, 1], R[i, j, 2] = a, b, c


@kernel
def put_column(model, work, i, c, s0, s1, s2, s3, s4, s5):
    """B_c = ± X_F S_c; bodies of joint i are placed, joint_o is the origin of F."""
    B, o = work.B, work.joint_o
    sign = -1.0 if model.reverse[i] == 1 else 1.0
    for j in range(3):
        x, y, z = joint_frame_axes(model, work, i, j)
        B[c, j] = sign * (x * s0 + y * s1 + z * s2)
        B[c, 3 + j] = sign * (x * s3 + y * s4 + z * s5)
    w0, w1, w2 = B[c, 3], B[c, 4], B[c, 5]
    B[c, 0] = B[c, 0] + (o[1] * w2 - o[2] * w1)
    B[c, 1] = B[c, 1] + (o[2] * w0 - o[0] * w2)
    B[c, 2] = B[c, 2] + (o[0] * w1 - o[1] * w0)


@kernel
def direction(model, work, i, c):
    """Along what a force on column c of joint i acts, and about what a torque: its slide, or its turn. At the joint's own
    point a turn has no velocity, a slide has; of a screw, its torque is meant."""
    B, x, y, z = work.B, work.r[i, 0], work.r[i, 1], work.r[i, 2]
    e0, e1, e2 = B[c, 3], B[c, 4], B[c, 5]
    u0, u1, u2 = B[c, 0] + (e1 * z - e2 * y), B[c, 1] + (e2 * x - e0 * z), B[c, 2] + (e0 * y - e1 * x)
    if model.code[i] == SCREW:
        u0, u1, u2 = 0.0, 0.0, 0.0
    return u0, u1, u2, e0, e1, e2


@seldom(PLACE)
def place_modal(model, work, i):
    """A point of a flexible body, or (walked the other way) the body on the point it is attached to; one blade for every
    mode: all that the mode moves there."""
    k, B = model.mode_v[i], work.B
    modal.pose(model, i, work.xi, k, work.joint_R, work.joint_p)
    compose(model, work, i)
    outward = model.modal[i] < 0
    sign = 1.0 if outward else -1.0
    body = model.parent[i] if outward else i
    R, r, o = work.R, work.r, work.joint_o
    for j in range(3):  # the point, as it is displaced
        o[j] = r[i, j] if outward else parent_point(model, work, i, j)
    turn = max(min(model.turn[i], 2), 0)
    z0, z1, z2 = R[body, 0, turn], R[body, 1, turn], R[body, 2, turn]
    g0, g1, g2 = o[1] * z2 - o[2] * z1, o[2] * z0 - o[0] * z2, o[0] * z1 - o[1] * z0
    for c in range(model.modes[i]):
        x = model.blade_at[i] + c
        u0, u1, u2 = modal.direction(model, i, c, work.xi, k)
        e0, e1, e2 = modal.turning(model, i, c, work.xi, k)
        for j in range(3):
            B[x, j] = sign * (R[body, j, 0] * u0 + R[body, j, 1] * u1 + R[body, j, 2] * u2)
            B[x, 3 + j] = sign * (R[body, j, 0] * e0 + R[body, j, 1] * e1 + R[body, j, 2] * e2)
        if model.turn[i] == modal.ANYHOW:
            w0, w1, w2 = B[x, 3], B[x, 4], B[x, 5]
            B[x, 0] = B[x, 0] + (o[1] * w2 - o[2] * w1)
            B[x, 1] = B[x, 1] + (o[2] * w0 - o[0] * w2)
            B[x, 2] = B[x, 2] + (o[0] * w1 - o[1] * w0)
        elif model.turn[i] >= 0:  # r x e, of all modes along one line
            e = sign * (e0 + e1 + e2)
            B[x, 0], B[x, 1], B[x, 2] = B[x, 0] + e * g0, B[x, 1] + e * g1, B[x, 2] + e * g2
        if outward:
            for j in range(6):
                B[x, j] = B[x, j] + B[k + c, j]


@kernel
def bias(model, work, i, q, v):
    """± X_F (S° v) of joint i, about the reference origin."""
    b = work.joint_b
    local_bias(model.code[i], q, model.q_at[i], v, model.v_at[i], b)
    return put_bias(model, work, i)


@kernel
def put_bias(model, work, i):
    """± X_F b, b = S° v in joint_b."""
    b = work.joint_b
    sign = -1.0 if model.reverse[i] == 1 else 1.0
    a, o = work.joint_a, work.joint_o
    for j in range(3):
        x, y, z = joint_frame_axes(model, work, i, j)
        a[j] = sign * (x * b[0] + y * b[1] + z * b[2])
        a[3 + j] = sign * (x * b[3] + y * b[4] + z * b[5])
        o[j] = work.r[i, j] if model.reverse[i] == 1 else parent_point(model, work, i, j)
    return (
        a[0] + (o[1] * a[5] - o[2] * a[4]),
        a[1] + (o[2] * a[3] - o[0] * a[5]),
        a[2] + (o[0] * a[4] - o[1] * a[3]),
        a[3],
        a[4],
        a[5],
    )


# ---- coordinates and generalised velocities: charts of the configuration space --------------------------------------
# First-order states, the columns of the ground, have no coordinate: a chart carries their integral, and q does not see it.


@inline
def quaternion_at(code):
    """Where in a joint's coordinates its unit quaternion starts, -1 if it has none."""
    if code == SPHERICAL:
        return 0
    if code in (FREE, BASE):
        return 3
    return -1


@kernel
def retract(model, q0, theta, q):
    """q = q0 moved by `theta`, one number for each velocity: sums, and A0 exp(theta~) for rotations."""
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if at < 0:
            for j in range(model.v_end[i] - l):
                q[k + j] = q0[k + j] + theta[l + j]
            continue
        a = k + at
        old = (q0[a], q0[a + 1], q0[a + 2], q0[a + 3])
        if at == 3:  # the position moves along the axes of the old rotation
            x, y, z = turn_by_quaternion(old, theta[l], theta[l + 1], theta[l + 2])
            q[k], q[k + 1], q[k + 2] = q0[k] + x, q0[k + 1] + y, q0[k + 2] + z
        m = l + at
        w, x, y, z = quaternion_product(old, quaternion_exp(theta[m], theta[m + 1], theta[m + 2]))
        scale = 1.5 - 0.5 * (w * w + x * x + y * y + z * z)  # one Newton step back to unit length
        q[a], q[a + 1] = scale * w, scale * x
        q[a + 2], q[a + 3] = scale * y, scale * z


@kernel
def exponential(model, q0, theta, q):
    """q = q0 moved for a unit of time with the velocities `theta`, held constant: as `retract`, but a free body slides and
    turns at once. In this chart theta'' = v' at its origin, which is what Newmark's formulas take for granted."""
    retract(model, q0, theta, q)
    for i in range(1, model.n):
        if quaternion_at(model.code[i]) == 3:
            k, l = model.q_at[i], model.v_at[i]
            m = l + 3
            a, b, c = slide_while_turning(theta[m], theta[m + 1], theta[m + 2], theta[l], theta[l + 1], theta[l + 2])
            x, y, z = turn_by_quaternion((q0[k + 3], q0[k + 4], q0[k + 5], q0[k + 6]), a, b, c)
            q[k], q[k + 1], q[k + 2] = q0[k] + x, q0[k + 1] + y, q0[k + 2] + z


@kernel
def chart_rate(model, theta, v, rate):
    """rate = theta' in the chart at q0, at the point `theta`, for the velocities v."""
    for c in range(model.v_at[0], model.v_end[0]):
        rate[c] = v[c]
    for i in range(1, model.n):
        l, at = model.v_at[i], quaternion_at(model.code[i])
        if at < 0:
            for j in range(l, model.v_end[i]):
                rate[j] = v[j]
            continue
        m = l + at
        x, y, z = theta[m], theta[m + 1], theta[m + 2]
        if at == 3:
            rate[l], rate[l + 1], rate[l + 2] = turn_by_quaternion(quaternion_exp(x, y, z), v[l], v[l + 1], v[l + 2])
        rate[m], rate[m + 1], rate[m + 2] = rotation_rate(x, y, z, v[m], v[m + 1], v[m + 2])


@kernel
def chart_point(model, q0, q, theta):
    """The inverse of `retract`: the theta that leads from q0 to q."""
    for c in range(model.v_at[0], model.v_end[0]):
        theta[c] = 0.0
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if at < 0:
            for j in range(model.v_end[i] - l):
                theta[l + j] = q[k + j] - q0[k + j]
            continue
        a = k + at
        back = (q0[a], -q0[a + 1], -q0[a + 2], -q0[a + 3])
        if at == 3:
            x, y, z = turn_by_quaternion(back, q[k] - q0[k], q[k + 1] - q0[k + 1], q[k + 2] - q0[k + 2])
            theta[l], theta[l + 1], theta[l + 2] = x, y, z
        w, x, y, z = quaternion_product(back, (q[a], q[a + 1], q[a + 2], q[a + 3]))
        m = l + at
        theta[m], theta[m + 1], theta[m + 2] = quaternion_log(w, x, y, z)


# ---- coordinates as plain numbers: rotations as the quaternions they are in q ---------------------------------------


@kernel
def coordinate_rate(model, q, v, rate):
    """rate = q' for the velocities v: of a rotation, q' = q (0, w) / 2."""
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if at < 0:
            for j in range(model.v_end[i] - l):
                rate[k + j] = v[l + j]
            continue
        a, m = k + at, l + at
        turn = (q[a], q[a + 1], q[a + 2], q[a + 3])
        if at == 3:
            rate[k], rate[k + 1], rate[k + 2] = turn_by_quaternion(turn, v[l], v[l + 1], v[l + 2])
        w = (0.0, 0.5 * v[m], 0.5 * v[m + 1], 0.5 * v[m + 2])
        rate[a], rate[a + 1], rate[a + 2], rate[a + 3] = quaternion_product(turn, w)


@kernel
def normalise(model, q):
    """Quaternions to unit length."""
    for i in range(1, model.n):
        at = quaternion_at(model.code[i])
        if at >= 0:
            a = model.q_at[i] + at
            scale = 1.0 / sqrt(q[a] * q[a] + q[a + 1] * q[a + 1] + q[a + 2] * q[a + 2] + q[a + 3] * q[a + 3])
            for j in range(a, a + 4):
                q[j] = scale * q[j]
