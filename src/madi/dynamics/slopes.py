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

Flexible bodies have the same numbers, a mode being a column for each thing it moves in its own way: bodies/modal_slopes.py.
Forces of elements and multipliers are not in W here: see equations/slopes.py.

docs/references.md: [Carpentier, Mansard 2018], [Singh, Russell, Wensing 2022], [Featherstone 2008].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.recursive import composite_inertias
from madi.joints.columns import is_free
from madi.kernel import inline, kernel
from madi.spatial.vector import dot, minus, plus, put, second, six, three


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
    for i in range(1, model.n):
        bodies.momenta(model, work, i)


@kernel
def sum_forces(model: Arrays, work: Work):
    """W of every subtree from those of its bodies."""
    W = work.W
    for i in range(model.n - 1, 0, -1):
        k = model.parent[i]
        if k > 0:
            put(W, k, plus(six(W, k), six(W, i)))


@kernel
def whole_loads(model: Arrays, work: Work):
    """Of every subtree its inertia force less all that is applied to it, into work.Q, where that was."""
    Q = work.Q
    for i in range(model.n - 1, 0, -1):
        k = model.parent[i]
        if k > 0:
            put(Q, k, plus(six(Q, k), six(Q, i)))
        put(Q, i, minus(six(work.W, i), six(Q, i)))


@kernel
def columns(model: Arrays, work: Work, theta):
    """D, psi, psi', kappa of every column; then E, F and G, from the leaves."""
    motions(model, work, theta)
    for i in range(model.n - 1, 0, -1):
        bodies.answers(model, work, i)


@kernel
def motions(model: Arrays, work: Work, theta):
    """D, psi, psi', kappa of every column, from the base."""
    for i in range(1, model.n):
        bodies.moved(model, work, i, theta)


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
                    out[k], out[by_v + k], out[by_q + k] = bodies.own_entry(model, work, i, c, j)
                    if c == j:
                        out[k] = out[k] + bodies.added_inertia(model, work, c)
                    k += 1
        for c in range(l, m):
            if is_free(model, c):
                k = with_inboard(model, work, c, model.free_motion_parent[l], k, out, by_v, by_q)


@inline
def with_inboard(model: Arrays, work: Work, c, j, k, out, by_v, by_q):
    """Entries of column c with those of unit motion j and all inboard of it, which carry it, both ways; returns the next
    place."""
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
        j = model.free_motion_parent[j]
    return k
