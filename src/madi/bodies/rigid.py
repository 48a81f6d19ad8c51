"""A rigid body and the columns of its joint: what the recursions in dynamics/ need of it, each derived on top of its file.

docs/references.md: [P0], [P1], [Featherstone 2008].
"""

from __future__ import annotations

from madi.bodies.fields import Arrays, Work
from madi.joints.columns import is_driven, is_free
from madi.joints.free import BASE, base_velocity
from madi.joints.ladder import has_bias
from madi.joints.place import bias
from madi.joints.place import place as place_joint
from madi.kernel import inline, kernel
from madi.spatial.articulated import articulated_times, take_out
from madi.spatial.inertia import momentum_of, put_inertia, turned_symmetric
from madi.spatial.vector import (
    NO_MOTION,
    axis,
    cross,
    dot,
    first,
    force_cross,
    join,
    minus,
    motion_cross,
    plus,
    plus_scaled,
    put,
    scaled,
    second,
    six,
    symmetric_times,
    three,
    to_point,
    turned,
    velocity_at,
)

place = place_joint


@inline
def move(model: Arrays, work: Work, i, q, v):
    """Velocity of body i, and its acceleration for qdd = 0 (kinematics.py)."""
    l, m = model.v_at[i], model.v_end[i]
    if model.code[i] == BASE:
        base_velocity(model, work, i, v)
    elif m - l == 1:
        add_relative(model, work, i, scaled(v[l], six(work.B, l)))
    else:
        b = NO_MOTION
        for c in range(l, m):
            b = plus_scaled(b, v[c], six(work.B, c))
        add_relative(model, work, i, b)
        if has_bias(model.code[i]):
            put(work.A, i, plus(six(work.A, i), bias(model, work, i, q, v)))


@inline
def add_relative(model: Arrays, work: Work, i, b):
    """Velocity and acceleration of body i from its parent's and the relative velocity b = B v: D = Y_p x b."""
    y, a = six(work.Y, model.parent[i]), six(work.A, model.parent[i])
    put(work.Y, i, plus(y, b))
    put(work.A, i, plus(a, motion_cross(y, b)))


@inline
def follow(model: Arrays, work: Work, i, qdd):
    """work.a of body i: its parent's, and what the accelerations of its columns add; those of driven ones are in A."""
    a = six(work.a, model.parent[i])
    for c in range(model.v_at[i], model.v_end[i]):
        if not is_driven(model, c):
            a = plus_scaled(a, qdd[c], six(work.B, c))
    put(work.a, i, a)


@inline
def inertia(model: Arrays, work: Work, i):
    """Ten-number inertia of body i in its present pose, into work.inertia[i]."""
    R, J, m = work.R, model.J, model.mass[i]
    if model.axisymmetric[i] == 1:
        # J = Jt 1 + (Ja - Jt) z z^T and c along z: the angle about z, a wheel's, does not matter.
        z, Jt, d = axis(R, i, 2), J[i, 0], J[i, 5] - J[i, 0]
        x, y = d * z[0], d * z[1]
        central = (Jt + x * z[0], x * z[1], x * z[2], Jt + y * z[1], y * z[2], Jt + d * z[2] * z[2])
        c = plus_scaled(three(work.r, i), model.com[i, 2], z)
    else:
        central = turned_symmetric(R, i, six(J, i))
        c = plus(three(work.r, i), turned(R, i, three(model.com, i)))
    put_inertia(work.inertia, i, m, scaled(m, c), c, central)


@inline
def terms(model: Arrays, work: Work, i):
    """Inertia of body i and W_i = Q^_i - M^_i A_i of the body alone; work.Q holds the applied forces on entry."""
    inertia(model, work, i)
    K, y = work.inertia, six(work.Y, i)
    q = minus(six(work.Q, i), force_cross(y, momentum_of(K, i, y)))
    f = momentum_of(K, i, six(work.A, i))
    put(work.Q, i, q)
    put(work.W, i, minus(q, f))


@inline
def balance(model: Arrays, work: Work, i):
    """W_i = M^_i Ydot_i - Q^_i of the body alone."""
    inertia(model, work, i)
    K, y = work.inertia, six(work.Y, i)
    f = momentum_of(K, i, plus(six(work.A, i), six(work.a, i)))
    put(work.W, i, minus(plus(f, force_cross(y, momentum_of(K, i, y))), six(work.Q, i)))


@inline
def columns(model: Arrays, work: Work, i):
    """U_c = K_i B_c of the columns of joint i."""
    for c in range(model.v_at[i], model.v_end[i]):
        column(work, i, c)


@inline
def column(work: Work, i, c):
    """U_c = K_i B_c."""
    put(work.U, c, momentum_of(work.K, i, six(work.B, c)))


@inline
def mass_entry(model: Arrays, work: Work, i, c, x):
    """M of column c of joint i and the column of unit motion x on its path: B_x^T K_i B_c."""
    return dot(six(work.B, x), six(work.U, c))


@inline
def added_inertia(model: Arrays, work: Work, c):
    """What the diagonal of M has for column c beside the bodies: a rotor; of a held column, more than anything."""
    return model.armature[c] + work.hold[c] if model.n_held > 0 else model.armature[c]


@inline
def generalised_force(model: Arrays, work: Work, i, c):
    """B^T W of column c of joint i."""
    return dot(six(work.B, c), six(work.W, i))


@inline
def eliminate(model: Arrays, work: Work, i):
    """Take the free columns of joint i out of the articulated inertia and force of body i, the last first."""
    for c in range(model.v_end[i] - 1, model.v_at[i] - 1, -1):
        if is_free(model, c):
            eliminate_column(model, work, i, c)


@inline
def eliminate_column(model: Arrays, work: Work, i, c):
    """I' = I - U U^T / d, p' = p + U u / d; u goes to P (articulated.py)."""
    b, w = six(work.B, c), six(work.W, i)  # w = -p
    U = articulated_times(work.articulated, i, b)
    inverse = 1.0 / (dot(b, U) + added_inertia(model, work, c))
    u = work.tau[c] + dot(b, w)
    work.P[c] = u
    work.d_inverse[c] = inverse
    put(work.U, c, U)
    put(work.W, i, minus(w, scaled(u * inverse, U)))
    take_out(work.articulated, i, U, inverse)


@inline
def accelerate(model: Arrays, work: Work, i):
    """qdd_c = (u - U^T a) / d of the free columns of joint i, and what they add to a of body i, which is its parent's."""
    a = six(work.a, i)
    for c in range(model.v_at[i], model.v_end[i]):
        if is_free(model, c):
            x = (work.P[c] - dot(six(work.U, c), a)) * work.d_inverse[c]
            work.acceleration[c] = x
            a = plus_scaled(a, x, six(work.B, c))
    put(work.a, i, a)


@inline
def transform(model: Arrays, work: Work, i):
    """Its part of B^T M B and B^T (Q - M Bdot v), about its centre of mass (velocity_transform.py)."""
    M, P = work.M, work.P
    B, T, nv = work.B, work.T, model.nv
    m, c = model.mass[i], plus(three(work.r, i), turned(work.R, i, three(model.com, i)))
    J = central_inertia(model, work, i, c)
    Q = cartesian_force(work, i, m, c, J)
    put(work.Q, i, Q)
    x = model.tip_motion[i]
    while x >= 0:
        b = six(B, x)
        put(T, x, join(velocity_at(b, c), second(b)))
        x = model.motion_parent[x]
    x = model.tip_motion[i]
    while x >= 0:
        k, b = model.motion_column[x], six(T, x)
        L = join(scaled(m, first(b)), symmetric_times(J, second(b)))
        P[k] = P[k] + dot(b, Q)
        y = x
        while y >= 0:
            j = k * nv + model.motion_column[y]
            M[j] = M[j] + dot(L, six(T, y))
            y = model.motion_parent[y]
        x = model.motion_parent[x]


@kernel
def central_inertia(model: Arrays, work: Work, i, c):
    """J about the centre of mass c in reference axes: the parallel-axis terms taken off again."""
    inertia(model, work, i)
    K, m = work.inertia, model.mass[i]
    return (
        K[i, 4] - m * (c[1] * c[1] + c[2] * c[2]),
        K[i, 5] + m * c[0] * c[1],
        K[i, 6] + m * c[0] * c[2],
        K[i, 7] - m * (c[0] * c[0] + c[2] * c[2]),
        K[i, 8] + m * c[1] * c[2],
        K[i, 9] - m * (c[0] * c[0] + c[1] * c[1]),
    )


@kernel
def cartesian_force(work: Work, i, m, c, J):
    """Q - M Bdot v at the centre of mass c; Bdot v follows from A by c'' = v' + w' x c + w x c'."""
    Y, A, Q = six(work.Y, i), six(work.A, i), six(work.Q, i)
    w, e = second(Y), second(A)
    a = plus(velocity_at(A, c), cross(w, velocity_at(Y, c)))
    gyroscopic = plus(cross(w, symmetric_times(J, w)), symmetric_times(J, e))
    return join(minus(first(Q), scaled(m, a)), minus(to_point(Q, c), gyroscopic))


@inline
def momentum(model: Arrays, work: Work, i, y, rate):
    """M^ y."""
    return momentum_of(work.inertia, i, y)


@inline
def energy(model: Arrays, work: Work, i):
    """1/2 Y^T M^ Y."""
    y = six(work.Y, i)
    return 0.5 * dot(momentum_of(work.inertia, i, y), y)
