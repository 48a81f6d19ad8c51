"""P1's recursive equations of motion: composite inertias, M qdd = P, solved without filling in.

Backwards over the tree (P1 eqs. 16, 17):

    K_i = M^_i + sum_c K_c,      L_i = Q^_i + sum_c (L_c - K_c D_c),      P_i = B_i^T (L_i - K_i sum_{j on path} D_j).

The bracket W_i = L_i - K_i sum D_j has the recursion W_i = Q^_i - M^_i A_i + sum_c W_c with A_i = sum D_j, which spares
one product of a composite inertia per body; L_i = W_i + K_i A_i where it is wanted.

A rotor that turns with a joint's coordinate and nothing else (armature) adds to the diagonal of M.

M has the sparsity of the tree: entries only between a column and its ancestors. Eliminated from the leaves to the root
(M = L^T D L) it does not fill in.

docs/references.md: [P1], [Walker, Orin 1982], [Featherstone 2008].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.joints.columns import is_free
from madi.kernel import kernel
from madi.spatial.vector import dot, plus, put, six


@kernel
def composites(model: Arrays, work: Work):
    """K, W of every subtree and U_c = K B_c of every column."""
    W = work.W
    for i in range(1, model.n):
        bodies.terms(model, work, i)
    composite_inertias(model, work)
    for i in range(model.n - 1, 0, -1):
        p = model.parent[i]
        if p > 0:
            put(W, p, plus(six(W, p), six(W, i)))


@kernel
def composite_inertias(model: Arrays, work: Work):
    """K of every subtree from the bodies' own inertias, and U_c = K B_c."""
    K = work.K
    for i in range(1, model.n):
        for j in range(10):
            K[i, j] = work.inertia[i, j]
    for i in range(model.n - 1, 0, -1):
        p = model.parent[i]
        if p > 0:
            for j in range(10):
                K[p, j] = K[p, j] + K[i, j]
        bodies.columns(model, work, i)


@kernel
def subtree_inertias(model: Arrays, work: Work):
    """K of every subtree and U_c = K B_c, from positions only."""
    for i in range(1, model.n):
        bodies.inertia(model, work, i)
    composite_inertias(model, work)


@kernel
def mass_diagonal(model: Arrays, work: Work, out):
    """The diagonal of M, O(n): of every column the inertia it moves while all others are held."""
    subtree_inertias(model, work)
    for c in range(model.nv):
        if model.n_other == 0:
            out[c] = dot(six(work.B, c), six(work.U, c)) + model.armature[c]
        else:
            out[c] = bodies.mass_entry(model, work, c, c) + model.armature[c]


@kernel
def mass_matrix(model: Arrays, work: Work):
    """M, full, from positions only: M_cj = B_j^T K_c B_c for j on the path of c."""
    M, nv = work.M, model.nv
    subtree_inertias(model, work)
    for c in range(nv):
        for j in range(nv):
            M[c * nv + j] = 0.0
    for c in range(nv):
        x = c
        if model.n_other == 0:
            while x >= 0:
                M[c * nv + x] = dot(six(work.B, x), six(work.U, c))
                M[x * nv + c] = M[c * nv + x]
                x = model.column_parent[x]
        while x >= 0:  # flexible bodies: x is a unit motion
            j = model.motion_column[x]
            M[c * nv + j] = bodies.mass_entry(model, work, c, x)
            M[j * nv + c] = M[c * nv + j]
            x = model.motion_parent[x]
        M[c * nv + c] = M[c * nv + c] + model.armature[c]


@kernel
def equations(model: Arrays, work: Work):
    """M (lower part, free columns) and P of M qdd = P; positions, velocities, applied forces and tau are in work."""
    M, P, nv = work.M, work.P, model.nv
    composites(model, work)
    for c in range(nv):
        if is_free(model, c):
            P[c] = bodies.generalised_force(model, work, c) + work.tau[c]
            j = c
            if model.n_other == 0:
                while j >= 0:
                    M[c * nv + j] = dot(six(work.B, j), six(work.U, c))
                    j = model.free_column_parent[j]
            while j >= 0:  # flexible bodies: j is a unit motion
                M[c * nv + model.motion_column[j]] = bodies.mass_entry(model, work, c, j)
                j = model.free_motion_parent[j]
            M[c * nv + c] = M[c * nv + c] + bodies.added_inertia(model, work, c)


@kernel
def solve(model: Arrays, M, P, x):
    """x of M x = P over the free columns: M = L^T D L in place, then three sweeps. Driven entries of x stay."""
    lam = model.free_column_parent
    nv = model.nv
    for k in range(nv - 1, -1, -1):
        if not is_free(model, k):
            continue
        x[k] = P[k]
        inverse = 1.0 / M[k * nv + k]
        M[k * nv + k] = inverse
        i = lam[k]
        while i >= 0:
            a = M[k * nv + i] * inverse
            j = i
            while j >= 0:
                M[i * nv + j] = M[i * nv + j] - a * M[k * nv + j]
                j = lam[j]
            M[k * nv + i] = a
            i = lam[i]
    sweeps(model, M, x)


@kernel
def substitute(model: Arrays, M, P, x):
    """The same for another P, M as `solve` has left it."""
    for k in range(model.nv):
        if is_free(model, k):
            x[k] = P[k]
    sweeps(model, M, x)


@kernel
def sweeps(model: Arrays, M, x):
    """x of L^T D L x = x."""
    lam = model.free_column_parent
    nv = model.nv
    for k in range(nv - 1, -1, -1):
        if is_free(model, k):
            i = lam[k]
            while i >= 0:
                x[i] = x[i] - M[k * nv + i] * x[k]
                i = lam[i]
    for k in range(nv):
        if is_free(model, k):
            x[k] = x[k] * M[k * nv + k]
            i = lam[k]
            while i >= 0:
                x[k] = x[k] - M[k * nv + i] * x[i]
                i = lam[i]


@kernel
def forward(model: Arrays, work: Work):
    """qdd of the free columns into work.acceleration."""
    equations(model, work)
    solve(model, work.M, work.P, work.acceleration)
