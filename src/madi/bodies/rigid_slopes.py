"""Derivatives: what dynamics/slopes.py, where they are derived, asks of a rigid body and the columns of its joint."""

from __future__ import annotations

from madi.bodies import rigid
from madi.bodies.fields import Arrays, Work
from madi.joints.chart import moved_rotation
from madi.joints.free import BASE
from madi.joints.kind import AGAINST
from madi.joints.ladder import quaternion_at
from madi.kernel import inline, kernel
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import (
    cross,
    dot,
    first,
    force_cross,
    join,
    motion_cross,
    plus,
    plus_scaled,
    put,
    scaled,
    second,
    six,
    three,
)


@inline
def momenta(model: Arrays, work: Work, i):
    """W, p and N of the body alone; poses, velocities and accelerations are in work."""
    rigid.inertia(model, work, i)
    K, y = work.inertia, six(work.Y, i)
    L = momentum_of(K, i, y)
    put(work.W, i, plus(momentum_of(K, i, plus(six(work.A, i), six(work.a, i))), force_cross(y, L)))
    put(work.momentum, i, first(L))
    put_coriolis(work, i, y)


@inline
def put_coriolis(work: Work, i, y):
    """N of body i for its velocity y: 2 ((h . v) 1 - v h^T - [w x] P), by rows."""
    K, N, v, w = work.inertia, work.coriolis, first(y), second(y)
    h, half = (K[i, 1], K[i, 2], K[i, 3]), 0.5 * (K[i, 4] + K[i, 7] + K[i, 9])
    s = dot(h, v)
    x = cross(w, (half - K[i, 4], -K[i, 5], -K[i, 6]))  # columns of [w x] P
    y = cross(w, (-K[i, 5], half - K[i, 7], -K[i, 8]))
    z = cross(w, (-K[i, 6], -K[i, 8], half - K[i, 9]))
    N[i, 0], N[i, 1], N[i, 2] = 2.0 * (s - v[0] * h[0] - x[0]), -2.0 * (v[0] * h[1] + y[0]), -2.0 * (v[0] * h[2] + z[0])
    N[i, 3], N[i, 4], N[i, 5] = -2.0 * (v[1] * h[0] + x[1]), 2.0 * (s - v[1] * h[1] - y[1]), -2.0 * (v[1] * h[2] + z[1])
    N[i, 6], N[i, 7], N[i, 8] = -2.0 * (v[2] * h[0] + x[2]), -2.0 * (v[2] * h[1] + y[2]), 2.0 * (s - v[2] * h[2] - z[2])


@inline
def coriolis_times(p, N, i, w):
    """C eta by row i of p and N, by the angular velocity w of eta."""
    n = (
        N[i, 0] * w[0] + N[i, 1] * w[1] + N[i, 2] * w[2],
        N[i, 3] * w[0] + N[i, 4] * w[1] + N[i, 5] * w[2],
        N[i, 6] * w[0] + N[i, 7] * w[1] + N[i, 8] * w[2],
    )
    return join(scaled(2.0, cross(w, three(p, i))), n)


@inline
def coriolis_of(p, N, i, b):
    """E = C^T b, its half in w."""
    v, w = first(b), second(b)
    n = (
        N[i, 0] * w[0] + N[i, 3] * w[1] + N[i, 6] * w[2],
        N[i, 1] * w[0] + N[i, 4] * w[1] + N[i, 7] * w[2],
        N[i, 2] * w[0] + N[i, 5] * w[1] + N[i, 8] * w[2],
    )
    return plus_scaled(n, 2.0, cross(three(p, i), v))


@inline
def moved(model: Arrays, work: Work, i, theta):
    """D, psi, psi', kappa of the columns of joint i; theta: how far coordinates are from the chart's origin."""
    l, m, p = model.v_at[i], model.v_end[i], model.parent[i]
    if l == m:
        return
    y, rate = six(work.Y, p), plus(six(work.A, p), six(work.a, p))
    if model.code[i] == BASE:  # gravity, in the base's own axes
        rate = six(work.A, i)
    for c in range(l, m):
        put(work.moved_by, c, six(work.B, c))
    if quaternion_at(model.code[i]) >= 0:
        rotation_columns(model, work, i, y, rate, theta)
    else:
        series_columns(model, work, i, y, rate)


@inline
def put_base(work: Work, c, y, rate):
    """psi_c and psi'_c for the velocity y of what carries the column, and its acceleration."""
    d = six(work.moved_by, c)
    psi = motion_cross(y, d)
    put(work.psi_q, c, psi)
    put(work.psi_rate, c, plus(motion_cross(rate, d), motion_cross(y, psi)))


@inline
def series_columns(model: Arrays, work: Work, i, y, rate):
    """One coordinate after the other, from the inboard side: each is carried by those before it."""
    l, m = model.v_at[i], model.v_end[i]
    for k in range(m - l):
        c = m - 1 - k if model.reverse[i] == AGAINST and m - l > 1 else l + k
        put_base(work, c, y, rate)
        b = scaled(work.v[c], six(work.B, c))
        after = plus(y, b)
        put(work.kappa, c, motion_cross(plus(y, after), six(work.B, c)))
        rate = plus(plus_scaled(rate, work.acceleration[c], six(work.B, c)), motion_cross(y, b))
        y = after


@kernel
def rotation_columns(model: Arrays, work: Work, i, y, rate, theta):
    """A ball or a free body: its columns are constant in the drawn child, so they carry each other or none does."""
    l, m = model.v_at[i], model.v_end[i]
    both = plus(y, six(work.Y, i))
    if model.reverse[i] == AGAINST:
        y, rate = six(work.Y, i), plus(six(work.A, i), six(work.a, i))
    moved_rotation(model, i, theta, work.B, work.moved_by)
    for c in range(l, m):
        put_base(work, c, y, rate)
        put(work.kappa, c, motion_cross(both, six(work.B, c)))


@inline
def answers(model: Arrays, work: Work, i):
    """E, F and G of the columns of joint i; U is there."""
    for c in range(model.v_at[i], model.v_end[i]):
        answer(work, i, c)


@inline
def answer(work: Work, i, c):
    """The same of unit motion c, which moves the subtree of body i."""
    K, b, p, N = work.K, six(work.B, c), work.momentum, work.coriolis
    put(work.E, c, coriolis_of(p, N, i, b))
    psi, psi_rate, kappa = six(work.psi_q, c), six(work.psi_rate, c), six(work.kappa, c)
    turned = force_cross(six(work.moved_by, c), six(work.W, i))
    put(work.F, c, plus(plus(momentum_of(K, i, psi_rate), coriolis_times(p, N, i, second(psi))), turned))
    put(work.G, c, plus(momentum_of(K, i, kappa), coriolis_times(p, N, i, second(b))))


@inline
def carried(work: Work, c, j):
    """(dR_c/dtheta_j, dR_c/dv_j) where j carries c."""
    U, E = six(work.U, c), three(work.E, c)
    return (
        dot(U, six(work.psi_rate, j)) + dot(E, second(six(work.psi_q, j))),
        dot(U, six(work.kappa, j)) + dot(E, second(six(work.B, j))),
    )


@inline
def not_carried(work: Work, c, j):
    """The same where it does not."""
    b = six(work.B, c)
    return dot(b, six(work.F, j)), dot(b, six(work.G, j))


@inline
def carries(model: Arrays, j, c):
    """Whether column j carries column c of the same joint. (In a ball, off the chart's origin, each column itself too.)"""
    i = model.column_body[c]
    against = model.reverse[i] == AGAINST
    if quaternion_at(model.code[i]) >= 0:
        return not against
    return c != j and (c < j) == against


@inline
def own_entry(model: Arrays, work: Work, i, c, j):
    """(M_cj, dR_c/dv_j, dR_c/dtheta_j) of two columns of joint i."""
    mass = dot(six(work.B, j), six(work.U, c))
    by_q, by_v = carried(work, c, j) if carries(model, j, c) else not_carried(work, c, j)
    return mass, by_v, by_q
