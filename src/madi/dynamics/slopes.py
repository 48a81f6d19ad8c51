"""Derivatives of inverse dynamics by q, q' and q'', O(1) for each entry: R_c = B_c . W_c, W_c the force that accelerates all
that column c moves.

Say theta_j moves its joint by the motion D_j (= B_j, but in a chart of rotations off its origin), and let y and y' be
velocity and acceleration of what carries B_j itself: the parent (a column that is constant in it), the child (one that is
constant there), in a joint of several coordinates, which is one coordinate after the other, what is between them. Outboard
of j a displacement is a turn of everything by D_j, relative to which the base seems to move the other way:

    d_j Y_i  = D_j x Y_i + psi_j,                               psi_j  = y x D_j,
    d_j Y_i' = D_j x Y_i' + psi_j x Y_i + psi'_j,               psi'_j = y' x D_j + y x psi_j,

and a speed v_j moves Y_i by B_j, Y_i' by B_j x Y_i + kappa_j, kappa_j = (Y_before + Y_after) x B_j, before and after the
column. For the force f_i = M^ Y_i' + Y_i x* M^ Y_i of a body a change eta of all velocities counts by

    C_i eta = M^ (eta x Y_i) + eta x* M^ Y_i + Y_i x* M^ eta = (2 w x p_i, N_i w),      eta = (e, w):

by Jacobi's identity e drops out, and what is left are twelve numbers, the momentum p_i = m v + w_i x h and
N_i = 2 ((h . v) 1 - v h^T - [w_i x] P_i), P_i = int r r^T dm = tr(I)/2 1 - I. All are about one origin, so those of subtrees
are sums, as inertias are. With K, C and W of the subtree of column c and U_c = K_c B_c, E_c = 2 p_c x b_v + N_c^T b_w
(= C_c^T B_c, its half in w),

    dR_c/dtheta_j = U_c . psi'_j + E_c . psi_j          j carries c   (the turn by D_j does no work: both turn),
                    B_c . F_j                           else,  F_j = K_j psi'_j + C_j psi_j + D_j x* W_j,
    dR_c/dv_j     = U_c . kappa_j + E_c . B_j           j carries c,
                    B_c . G_j                           else,  G_j = K_j kappa_j + C_j B_j.

Forces of elements and multipliers are not in W here: see equations/slopes.py.

docs/references.md: [Carpentier, Mansard 2018], [Singh, Russell, Wensing 2022], [Featherstone 2008].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.recursive import composite_inertias
from madi.joints.chart import moved_rotation
from madi.joints.columns import is_free
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


@kernel
def subtrees(model: Arrays, work: Work):
    """K, W, p and N of every subtree, and U_c; poses, velocities and accelerations are in work."""
    p, N = work.momentum, work.coriolis
    bodies_alone(model, work)
    composite_inertias(model, work)
    sum_forces(model, work)
    for i in range(model.n - 1, 0, -1):
        k = model.parent[i]
        if k > 0:
            put(p, k, plus(three(p, k), three(p, i)))
            for j in range(9):
                N[k, j] = N[k, j] + N[i, j]


@kernel
def bodies_alone(model: Arrays, work: Work):
    """M^, W, p and N of every body by itself."""
    K = work.inertia
    for i in range(1, model.n):
        bodies.inertia(model, work, i)
        y = six(work.Y, i)
        L = momentum_of(K, i, y)
        put(work.W, i, plus(momentum_of(K, i, plus(six(work.A, i), six(work.a, i))), force_cross(y, L)))
        put(work.momentum, i, first(L))
        put_coriolis(work, i, y)


@kernel
def sum_forces(model: Arrays, work: Work):
    """W of every subtree from those of its bodies."""
    W = work.W
    for i in range(model.n - 1, 0, -1):
        k = model.parent[i]
        if k > 0:
            put(W, k, plus(six(W, k), six(W, i)))


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
def coriolis_times(work: Work, i, w):
    """C_i eta of the subtree of body i, by the angular velocity w of eta."""
    N = work.coriolis
    n = (
        N[i, 0] * w[0] + N[i, 1] * w[1] + N[i, 2] * w[2],
        N[i, 3] * w[0] + N[i, 4] * w[1] + N[i, 5] * w[2],
        N[i, 6] * w[0] + N[i, 7] * w[1] + N[i, 8] * w[2],
    )
    return join(scaled(2.0, cross(w, three(work.momentum, i))), n)


@inline
def coriolis_of(work: Work, i, b):
    """E = C_i^T b, its half in w."""
    N, v, w = work.coriolis, first(b), second(b)
    n = (
        N[i, 0] * w[0] + N[i, 3] * w[1] + N[i, 6] * w[2],
        N[i, 1] * w[0] + N[i, 4] * w[1] + N[i, 7] * w[2],
        N[i, 2] * w[0] + N[i, 5] * w[1] + N[i, 8] * w[2],
    )
    return plus_scaled(n, 2.0, cross(three(work.momentum, i), v))


@inline
def put_base(work: Work, c, y, rate):
    """psi_c and psi'_c for the velocity y of what carries the column, and its acceleration."""
    d = six(work.moved_by, c)
    psi = motion_cross(y, d)
    put(work.psi_q, c, psi)
    put(work.psi_rate, c, plus(motion_cross(rate, d), motion_cross(y, psi)))


@kernel
def columns(model: Arrays, work: Work, theta):
    """D, psi, psi', kappa of every column, then E, F and G."""
    motions(model, work, theta)
    for i in range(1, model.n):
        for c in range(model.v_at[i], model.v_end[i]):
            finish_column(work, i, c)


@kernel
def motions(model: Arrays, work: Work, theta):
    """D, psi, psi', kappa of every column."""
    for i in range(1, model.n):
        l, m, p = model.v_at[i], model.v_end[i], model.parent[i]
        if l == m:
            continue
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
def finish_column(work: Work, i, c):
    """E_c, F_c and G_c; U_c is there."""
    K, b = work.K, six(work.B, c)
    put(work.E, c, coriolis_of(work, i, b))
    psi, psi_rate, kappa = six(work.psi_q, c), six(work.psi_rate, c), six(work.kappa, c)
    turned = force_cross(six(work.moved_by, c), six(work.W, i))
    put(work.F, c, plus(plus(momentum_of(K, i, psi_rate), coriolis_times(work, i, second(psi))), turned))
    put(work.G, c, plus(momentum_of(K, i, kappa), coriolis_times(work, i, second(b))))


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


@kernel
def tree_slopes(model: Arrays, work: Work, out, by_v, by_q):
    """M, dR/dv and dR/dtheta of the free columns, entry by entry in the order of topology/slopes.py: of each body the square
    of its own columns, then each of them with all inboard, both ways. `by_v`, `by_q`: where the latter two begin in out."""
    k = 0
    for i in range(1, model.n):
        l, m = model.v_at[i], model.v_end[i]
        for c in range(l, m):
            if not is_free(model, c):
                continue
            for j in range(l, m):
                if is_free(model, j):
                    own_joint(model, work, c, j, k, out, by_v, by_q)
                    k += 1
        for c in range(l, m):
            if is_free(model, c):
                k = with_inboard(model, work, c, model.free_column_parent[l], k, out, by_v, by_q)


@inline
def own_joint(model: Arrays, work: Work, c, j, k, out, by_v, by_q):
    """Entry (c, j) of two columns of one joint."""
    out[k] = dot(six(work.B, j), six(work.U, c))
    if c == j:
        out[k] = out[k] + bodies.added_inertia(model, work, c)
    if carries(model, j, c):
        out[by_q + k], out[by_v + k] = carried(work, c, j)
    else:
        out[by_q + k], out[by_v + k] = not_carried(work, c, j)


@inline
def with_inboard(model: Arrays, work: Work, c, j, k, out, by_v, by_q):
    """Entries (c, j) and (j, c) of column c and all from j inboard, which carry it; returns the next place."""
    U, E, F, G = six(work.U, c), three(work.E, c), six(work.F, c), six(work.G, c)
    while j >= 0:
        b = six(work.B, j)
        out[k] = dot(b, U)
        out[k + 1] = out[k]
        out[by_q + k] = dot(U, six(work.psi_rate, j)) + dot(E, second(six(work.psi_q, j)))
        out[by_v + k] = dot(U, six(work.kappa, j)) + dot(E, second(b))
        out[by_q + k + 1] = dot(b, F)
        out[by_v + k + 1] = dot(b, G)
        k += 2
        j = model.free_column_parent[j]
    return k
