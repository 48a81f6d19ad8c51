"""A flexible body with modal coordinates, and the points of it on which something hangs.

In the tree the body is a frame that one of its points carries, walked to by a modal joint whose columns are the modes; its
other points are massless bodies, each on a modal joint that has no columns of its own (joints/modal.py). What is attached
to a point moves with the modes by unit motions B_x: U_c = K B_c + h_c + sum_x K_x B_x is the momentum of all that mode c
moves, and between modes there is the block

    M_cd = m_cd + B_d . (K B_c + h_c) + h_d . B_c + sum_x B_xd . K_x B_xc,

K, h and m those of the body alone (bending.py).

docs/references.md: [P3].
"""

from __future__ import annotations

from madi.bodies import rigid
from madi.bodies.bending import bent_body, mass_times, own_force, own_mass
from madi.bodies.fields import Arrays, Work
from madi.joints import modal as joint
from madi.joints.columns import is_driven, is_free
from madi.joints.place import compose, from_joint, joint_frame, parent_point
from madi.kernel import inline, kernel, separate
from madi.spatial.articulated import articulated_times, take_out
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import (
    NO_MOTION,
    axis,
    cross,
    dot,
    join,
    minus,
    plus,
    plus_scaled,
    put,
    scaled,
    six,
    six_at,
    three,
    turned,
)

MODAL = joint.KIND.code


@inline
def owns(model: Arrays, i):
    """Whether body i is a flexible body or a point of one."""
    return model.code[i] == MODAL


@inline
def is_point(model: Arrays, i):
    """Of those, whether it is a point."""
    return model.modal[i] < 0


@inline
def place(model: Arrays, work: Work, i, q):
    """Pose and unit motions; of a flexible body its inertia too, which changes with the coordinates."""
    for c in range(model.v_at[i], model.v_end[i]):
        work.xi[c] = q[model.column_q[c]]
    place_by_modes(model, work, i)


@separate
def place_by_modes(model: Arrays, work: Work, i):
    """A point of a flexible body, or (walked the other way) the body on the point it is attached to; one unit motion for
    every mode: all that the mode moves there."""
    k, B, x = model.mode_v[i], work.B, model.motion_at[i]
    joint.bow(model, i, work.xi, k, work.bow, x)
    joint.point_pose(model, i, work.xi, k, work.bow, x, work.joint_R, work.joint_p)
    compose(model, work, i)
    outward, turn = is_point(model, i), model.turn[i]
    body, sign, o = i, -1.0, three(work.r, i)
    if outward:
        body, sign = model.parent[i], 1.0
    else:
        o = parent_point(model, work, i)
    left = joint.left_jacobian(model, i, work.xi, k)
    line = cross(o, axis(work.R, body, max(min(turn, 2), 0)))
    for c in range(model.modes[i]):
        u, e = joint.direction(model, i, c, work.bow, x), joint.turning(model, i, c, left)
        v, w = scaled(sign, turned(work.R, body, u)), scaled(sign, turned(work.R, body, e))
        if turn == joint.ANYHOW:
            v = plus(v, cross(o, w))
        elif turn >= 0:  # r x e, of all modes along one line
            v = plus_scaled(v, sign * (e[0] + e[1] + e[2]), line)
        b = join(v, w)
        if outward:
            b = plus(b, six(B, k + c))
        put(B, x + c, b)
    if not outward:
        bent_body(model, work, i)


@inline
def move(model: Arrays, work: Work, i, q, v):
    """Velocity, and acceleration for qdd = 0."""
    for c in range(model.v_at[i], model.v_end[i]):
        work.xi_rate[c] = v[c]
    move_by_modes(model, work, i)


@separate
def move_by_modes(model: Arrays, work: Work, i):
    """A point of a flexible body relative to the body, or the body relative to the point it is attached to."""
    B, v = work.B, work.xi_rate
    l, b = model.mode_v[i], NO_MOTION
    for c in range(model.modes[i]):
        b = plus_scaled(b, v[l + c], six(B, model.motion_at[i] + c))
        if is_point(model, i):  # less what moves the body itself
            b = minus(b, scaled(v[l + c], six(B, l + c)))
    rigid.add_relative(model, work, i, b)
    joint.point_bias(model, i, work.xi, v, l, work.bow, model.motion_at[i], work.joint_b)
    put(work.A, i, plus(six(work.A, i), from_joint(model, i, joint_frame(model, work, i), six_at(work.joint_b, 0))))


@inline
def follow(model: Arrays, work: Work, i, qdd):
    """work.a of the body's frame; of a point, with what the modes add there."""
    rigid.follow(model, work, i, qdd)
    if is_point(model, i):
        follow_modes(model, work, i, qdd)


@inline
def follow_modes(model: Arrays, work: Work, i, qdd):
    """Of a point of a flexible body: what the modes add there to work.a of the body."""
    a, B = six(work.a, i), work.B
    for c in range(model.modes[i]):
        k, l = model.motion_at[i] + c, model.mode_v[i] + c
        if not is_driven(model, l):
            a = plus_scaled(a, qdd[l], minus(six(B, k), six(B, l)))
    put(work.a, i, a)


@inline
def inertia(model: Arrays, work: Work, i):
    """M^ of the body as it is bent is there since `place`; a point is a rigid body without mass."""
    if is_point(model, i):
        rigid.inertia(model, work, i)


@separate
def terms(model: Arrays, work: Work, i):
    """W = Q^ - M^ A of the body alone; work.own: what it adds to the equations of its modes, for xi'' = 0. Q^ follows (for
    loads)."""
    if is_point(model, i):
        rigid.terms(model, work, i)
    else:
        own_terms(model, work, i, 0)


@kernel
def own_terms(model: Arrays, work: Work, i, later):
    """The same of a flexible body (`later`: see bending.py)."""
    W = minus(six(work.Q, i), own_force(model, work, i, later))
    put(work.W, i, W)
    put(work.Q, i, plus(W, momentum_of(work.inertia, i, six(work.A, i))))
    for c in range(model.v_at[i], model.v_end[i]):
        work.own[c] = work.own[c] + dot(six(work.B, c), W)


@inline
def momentum(model: Arrays, work: Work, i, y, rate):
    """M^ y + h_c rate_c."""
    L = momentum_of(work.inertia, i, y)
    for c in range(model.v_at[i], model.v_end[i]):
        L = plus_scaled(L, rate[c], six(work.h, c))
    return L


@inline
def modal_mass(model: Arrays, work: Work, i, c, d):
    """m_cd of two columns of body i, alone and as it is bent."""
    l = model.v_at[i]
    return work.own_mass[model.block_at[i] + (c - l) * model.modes[i] + d - l]


@inline
def block_place(model: Arrays, i, c, d):
    """Where M_cd of two columns of body i is in work.block; d <= c."""
    l = model.v_at[i]
    return model.block_at[i] + (c - l) * model.modes[i] + d - l


@separate
def columns(model: Arrays, work: Work, i):
    """U and the block of M of the modes of body i; U of its points' unit motions is there already. Of a point, that."""
    if is_point(model, i):
        for x in range(model.motion_at[i], model.motion_at[i] + model.modes[i]):
            rigid.column(work, i, x)
    else:
        own_columns(model, work, i)


@kernel
def own_columns(model: Arrays, work: Work, i):
    """Of the body's frame and modes; all that hangs on its points is in U of their unit motions."""
    own_mass(model, work, i)
    l = model.v_at[i]
    B, U, h = work.B, work.U, work.h
    for c in range(l, model.v_end[i]):
        b = six(B, c)
        u = plus(momentum_of(work.inertia, i, b), six(h, c))
        put(U, c, u)
        for d in range(l, c + 1):
            m = modal_mass(model, work, i, c, d) + dot(six(B, d), u) + dot(six(h, d), b)
            work.block[block_place(model, i, c, d)] = m
    for x in range(model.copy_at[i], model.copy_end[i]):
        c, u = model.motion_column[x], six(U, x)
        put(U, c, plus(six(U, c), u))
        for d in range(l, c + 1):
            place = block_place(model, i, c, d)
            work.block[place] = work.block[place] + dot(six(B, x - c + d), u)


@inline
def mass_entry(model: Arrays, work: Work, i, c, x):
    """M of mode c and the column of unit motion x on its path."""
    if model.column_body[model.motion_column[x]] == i:
        return work.block[block_place(model, i, c, model.motion_column[x])]
    return rigid.mass_entry(model, work, i, c, x)


@inline
def generalised_force(model: Arrays, work: Work, i, c):
    """B^T W of mode c: its own body's part and what each of its points carries."""
    total = work.own[c]
    for x in range(model.copy_at[i] + c - model.v_at[i], model.copy_end[i], model.modes[i]):
        total = total + dot(six(work.B, x), six(work.W, model.motion_body[x]))
    return total


@separate
def balance(model: Arrays, work: Work, i):
    """W = M^ Ydot - Q^ of the body alone, with what its modes' accelerations take; work.own: the balance of each mode."""
    if is_point(model, i):
        rigid.balance(model, work, i)
        return
    own_terms(model, work, i, 1)
    l, m = model.v_at[i], model.v_end[i]
    a, qdd = six(work.a, i), work.acceleration
    force = momentum(model, work, i, a, qdd)
    put(work.W, i, minus(force, six(work.W, i)))
    mass_times(model, work, i, qdd, 1)
    for c in range(l, m):
        x = dot(six(work.h, c), a) - work.own[c] + dot(six(work.B, c), force)
        work.own[c] = x + work.modal_momentum[c]


@separate
def eliminate(model: Arrays, work: Work, i):
    """Take the modes of a flexible body out of its articulated inertia and force, the last first. Between them is the block
    of which c's row stays for the way outwards: xi_c'' = (u - U^T a - sum_{d<c} M_cd xi_d'') / d.
    Of a point: what its unit motions carry."""
    I, W, U = work.articulated, work.W, work.U
    if is_point(model, i):
        for x in range(model.motion_at[i], model.motion_at[i] + model.modes[i]):
            put(U, x, articulated_times(I, i, six(work.B, x)))
        return
    l, m = model.v_at[i], model.v_end[i]
    own_columns(model, work, i)
    for c in range(l, m):
        work.P[c] = generalised_force(model, work, i, c) + work.tau[c]
    for c in range(m - 1, l - 1, -1):
        if not is_free(model, c):
            continue
        inverse, u = 1.0 / work.block[block_place(model, i, c, c)], six(U, c)
        work.d_inverse[c] = inverse
        take_out(I, i, u, inverse)
        put(W, i, minus(six(W, i), scaled(work.P[c] * inverse, u)))
        for d in range(l, c):
            if is_free(model, d):
                y = work.block[block_place(model, i, c, d)] * inverse
                work.P[d] = work.P[d] - y * work.P[c]
                put(U, d, minus(six(U, d), scaled(y, u)))
                for k in range(l, d + 1):
                    at = block_place(model, i, d, k)
                    work.block[at] = work.block[at] - y * work.block[block_place(model, i, c, k)]


@separate
def accelerate(model: Arrays, work: Work, i):
    """Accelerations of the modes, then of the body's frame; or of a point."""
    if is_point(model, i):
        follow_modes(model, work, i, work.acceleration)
        return
    a, l = six(work.a, i), model.v_at[i]
    for c in range(l, model.v_end[i]):
        if is_free(model, c):
            x = work.P[c] - dot(six(work.U, c), a)
            for d in range(l, c):
                if is_free(model, d):
                    x = x - work.block[block_place(model, i, c, d)] * work.acceleration[d]
            work.acceleration[c] = x * work.d_inverse[c]
    for c in range(l, model.v_end[i]):
        if is_free(model, c):
            a = plus_scaled(a, work.acceleration[c], six(work.B, c))
    put(work.a, i, a)


@separate
def transform(model: Arrays, work: Work, i):
    """Its part of B^T M B with M over the frame's motion and the modes: K, h and m."""
    if is_point(model, i):
        rigid.transform(model, work, i)
        return
    M, P = work.M, work.P
    B, h, nv = work.B, work.h, model.nv
    terms(model, work, i)
    own_mass(model, work, i)
    x = model.tip_motion[i]
    while x >= 0:
        c, b = model.motion_column[x], six(B, x)
        L = momentum_of(work.inertia, i, b)  # K B + h: the body's momentum for a unit of the column
        if model.motion_body[x] == i:
            L = plus(L, six(h, x))
            P[x] = P[x] + work.own[x]
        else:
            P[c] = P[c] + dot(b, six(work.W, i))
        y = x
        while y >= 0:
            j = c * nv + model.motion_column[y]
            M[j] = M[j] + dot(six(B, y), L)
            if model.motion_body[y] == i:
                M[j] = M[j] + dot(six(h, y), b) + modal_mass(model, work, i, x, y)
            y = model.motion_parent[y]
        x = model.motion_parent[x]


@inline
def energy(model: Arrays, work: Work, i):
    """Kinetic energy of the frame's motion and beyond it."""
    total = rigid.energy(model, work, i)
    if not is_point(model, i):
        modal_energy(model, work, i)
        total = total + work.own[model.v_at[i]]
    return total


@separate
def modal_energy(model: Arrays, work: Work, i):
    """Kinetic energy beyond that of the frame, Y . h_c xi_c' + 1/2 m_cd xi_c' xi_d', into work.own of the first mode."""
    total = 0.0
    mass_times(model, work, i, work.xi_rate, 0)
    for c in range(model.v_at[i], model.v_end[i]):
        x = dot(six(work.h, c), six(work.Y, i)) + 0.5 * work.modal_momentum[c]
        total = total + x * work.xi_rate[c]
    work.own[model.v_at[i]] = total
