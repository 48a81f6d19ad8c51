"""Null-space methods: accelerations of the independent directions only, multipliers afterwards.

With J the independent rows of Phi_q over the n free columns (m of them), a right inverse I_R (J I_R = 1) and a basis of the
null space, the rows of N (J N^T = 0):

    v = I_R b + N^T z',   qdd = I_R a + N^T z'',   (N M N^T) z'' = N (P - M I_R a),   lam = I_R^T (P - M qdd),

b = -Phi_t, a = gamma. Corrections of positions and speeds are I_R times what is missing: along the constrained directions
only. The methods differ in how directions T are chosen that stay independent, and when they are chosen anew:

    pseudo-inverse  I_R = J^T (J J^T)^-1, N = T (1 - I_R J), and T <- N after every step: no criterion at all (P2)
    svd             T = V2 of J = U S V^T, anew when too much of the velocity leaves its span (Mani, Haug, Atkinson 1985)
    qr              T = Q2 of J^T = Q R, chosen anew when [J; T] grows ill-conditioned (Kim, Vanderploeg 1986)
    partition       T picks coordinates, by LU of J with complete pivoting; the same criterion (Wehage, Haug 1982)

Of the last three [I_R, N^T] is the inverse of E = [J; T], so N = the old directions carried on. A new T of svd and qr is
turned to lie as near as it can to the old one: directions do not jump. Rows that depend on others are left out (complete
pivoting, all made dimensionless by masses); their multipliers are zero. Numbers are judged here: not traced.
"""

from __future__ import annotations

from madi.kernel import inline, kernel, sqrt
from madi.loops.closing import NAN, closing
from madi.loops.kkt import (
    BASIS,
    BEST,
    CONDITION,
    DECOMPOSITIONS,
    DEFICIENT,
    EPSILON,
    FACTORISATIONS,
    IDENTITY,
    RANK,
    REFERENCE,
    TURN,
    VALID,
    WATCH,
    WAY,
    WORST,
    coefficients,
    hand_out,
    remark,
    right_hand_side,
)

PSEUDO_INVERSE, SVD, QR, PARTITION = 1, 2, 3, 4
WAYS = {"pseudo-inverse": PSEUDO_INVERSE, "svd": SVD, "qr": QR, "partition": PARTITION}
DEPENDENT = 1e-7  # pivot of a row, against the largest, below which it adds nothing
GROWN = 10.0  # condition number, against the one the directions were chosen at, at which they are chosen anew
HOPELESS = 1e12  # condition number at which they are chosen anew even within a step
LEAVES = 0.3  # share of the velocity outside the span of T, at which svd chooses anew


# ---- dense linear algebra, in place -------------------------------------------------------------------------------------


@kernel
def cholesky(a, n):
    """a (its lower half) becomes L of L L^T; returns the smallest and largest diagonal of L, NaN if it is not definite."""
    low, high = 1e300, 0.0
    for i in range(n):
        for j in range(i + 1):
            x = a[i * n + j]
            for k in range(j):
                x = x - a[i * n + k] * a[j * n + k]
            if i == j:
                x = sqrt(x) if x > 0.0 else NAN
                low, high = min(low, x), max(high, x)
                if x != x:
                    return NAN, NAN
                a[i * n + i] = x
            else:
                a[i * n + j] = x / a[j * n + j]
    return low, high


@inline
def solve_down(a, n, p, q, unit, x):
    """x <- L^-1 x, L[i, k] = a[i p + k q] below a diagonal that is 1 (unit) or a's."""
    for i in range(n):
        y = x[i]
        for k in range(i):
            y = y - a[i * p + k * q] * x[k]
        x[i] = y if unit else y / a[i * (n + 1)]


@inline
def solve_up(a, n, p, q, unit, x):
    """x <- U^-1 x, U[i, k] = a[i p + k q] above the diagonal."""
    for i in range(n - 1, -1, -1):
        y = x[i]
        for k in range(i + 1, n):
            y = y - a[i * p + k * q] * x[k]
        x[i] = y if unit else y / a[i * (n + 1)]


@kernel
def cholesky_solve(a, n, x):
    """x <- (L L^T)^-1 x."""
    solve_down(a, n, n, 1, False, x)
    solve_up(a, n, 1, n, False, x)


@kernel
def lu(a, n, order):
    """a becomes L U with rows exchanged (order[k]: the row that came to place k); smallest and largest pivot."""
    low, high = 1e300, 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i * n + k]) > abs(a[best * n + k]):
                best = i
        order[k] = best
        if best != k:
            for j in range(n):
                a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
        pivot = a[k * n + k]
        low, high = min(low, abs(pivot)), max(high, abs(pivot))
        if not abs(pivot) > 1e-300:
            return NAN, NAN
        for i in range(k + 1, n):
            x = a[i * n + k] / pivot
            a[i * n + k] = x
            if x != 0.0:
                for j in range(k + 1, n):
                    a[i * n + j] = a[i * n + j] - x * a[k * n + j]
    return low, high


@kernel
def lu_solve(a, n, order, x):
    """x <- (L U)^-1 x, rows exchanged as they were."""
    for k in range(n):
        best = int(order[k])
        x[k], x[best] = x[best], x[k]
    solve_down(a, n, n, 1, True, x)
    solve_up(a, n, n, 1, False, x)


@kernel
def lu_solve_transposed(a, n, order, x):
    """x <- (L U)^-T x."""
    solve_down(a, n, 1, n, False, x)
    solve_up(a, n, 1, n, True, x)
    for k in range(n - 1, -1, -1):
        best = int(order[k])
        x[k], x[best] = x[best], x[k]


# ---- which rows, which directions ---------------------------------------------------------------------------------------


@kernel
def choose_rows(model, work):
    """work.chosen: the independent rows, by Gaussian elimination with complete pivoting of Phi_q, made dimensionless by
    the mass each column and each row feels; work.order: the columns they take. Returns how many."""
    n, a, size = model.nn, work.spare, work.correction
    for k in range(model.nm):
        if model.m_row[k] == model.m_column[k]:
            size[model.column_place[model.m_row[k]]] = 1.0 / sqrt(work.mass[k])
    rows = 0
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            for c in range(n):
                a[rows * n + c] = 0.0
            heavy = sqrt(EPSILON / model.row_value[r, 2])
            for j in range(model.row_first[r], model.row_first[r + 1]):
                c = model.column_place[model.j_column[j]]
                a[rows * n + c] = work.jacobian[j] * size[c] * heavy
            work.chosen[rows] = r
            rows += 1
    for c in range(n):
        work.order[c] = c
    largest = 0.0
    for k in range(min(rows, n)):
        row, column, best = k, k, 0.0
        for i in range(k, rows):
            for j in range(k, n):
                if abs(a[i * n + j]) > best:
                    row, column, best = i, j, abs(a[i * n + j])
        largest = max(largest, best)
        if not best > DEPENDENT * largest:
            return k
        for j in range(n):
            a[k * n + j], a[row * n + j] = a[row * n + j], a[k * n + j]
        for i in range(rows):
            a[i * n + k], a[i * n + column] = a[i * n + column], a[i * n + k]
        work.chosen[k], work.chosen[row] = work.chosen[row], work.chosen[k]
        work.order[k], work.order[column] = work.order[column], work.order[k]
        for i in range(k + 1, rows):
            x = a[i * n + k] / a[k * n + k]
            if x != 0.0:
                for j in range(k, n):
                    a[i * n + j] = a[i * n + j] - x * a[k * n + j]
    return min(rows, n)


@kernel
def gather(model, work):
    """work.dense: the chosen rows of Phi_q, full."""
    n, m, J = model.nn, int(work.tally[RANK]), work.dense
    for i in range(m):
        r = int(work.chosen[i])
        for c in range(n):
            J[i * n + c] = 0.0
        for j in range(model.row_first[r], model.row_first[r + 1]):
            J[i * n + model.column_place[model.j_column[j]]] = work.jacobian[j]


@kernel
def orthogonal_complement(work, m, n):
    """work.null: the n - m last columns of Q, J^T = Q R by Householder's reflections."""
    a, size = work.spare, work.correction
    for j in range(m * n):
        a[j] = work.dense[j]
    for k in range(m):  # row k of `a` is the column of J^T that the reflection takes to its first k + 1 places
        norm = 0.0
        for c in range(k, n):
            norm += a[k * n + c] * a[k * n + c]
        norm = sqrt(norm)
        if a[k * n + k] > 0.0:
            norm = -norm
        a[k * n + k] = a[k * n + k] - norm
        size[k] = -norm * a[k * n + k]  # |u|^2 / 2
        for i in range(k + 1, m):
            x = 0.0
            for c in range(k, n):
                x += a[k * n + c] * a[i * n + c]
            x = x / size[k]
            for c in range(k, n):
                a[i * n + c] = a[i * n + c] - x * a[k * n + c]
    for i in range(n - m):
        for c in range(n):
            work.null[i * n + c] = 1.0 if c == m + i else 0.0
        for k in range(m - 1, -1, -1):
            x = 0.0
            for c in range(k, n):
                x += a[k * n + c] * work.null[i * n + c]
            x = x / size[k]
            for c in range(k, n):
                work.null[i * n + c] = work.null[i * n + c] - x * a[k * n + c]


@kernel
def singular_directions(work, m, n):
    """work.null: the n - m last columns of V, J = U S V^T by Jacobi's rotations of the columns of J (one-sided)."""
    a, V, size = work.spare, work.product, work.correction
    for j in range(m * n):
        a[j] = work.dense[j]
    for i in range(n):
        for j in range(n):
            V[i * n + j] = 1.0 if i == j else 0.0
    for _ in range(60):
        turned = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                x, y, z = 0.0, 0.0, 0.0
                for i in range(m):
                    x += a[i * n + p] * a[i * n + p]
                    y += a[i * n + q] * a[i * n + q]
                    z += a[i * n + p] * a[i * n + q]
                if abs(z) <= 1e-15 * sqrt(x * y) + 1e-300:
                    continue
                turned = True
                tau = (y - x) / (2.0 * z)
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + sqrt(1.0 + tau * tau))
                c = 1.0 / sqrt(1.0 + t * t)
                s = c * t
                for i in range(m):
                    x, y = a[i * n + p], a[i * n + q]
                    a[i * n + p], a[i * n + q] = c * x - s * y, s * x + c * y
                for i in range(n):
                    x, y = V[i * n + p], V[i * n + q]
                    V[i * n + p], V[i * n + q] = c * x - s * y, s * x + c * y
        if not turned:
            break
    for c in range(n):
        size[c] = 0.0
        for i in range(m):
            size[c] = size[c] + a[i * n + c] * a[i * n + c]
    for i in range(n - m):  # the columns that vanish
        least = 0
        for c in range(1, n):
            if size[c] < size[least]:
                least = c
        size[least] = 1e300
        for c in range(n):
            work.null[i * n + c] = V[c * n + least]


@kernel
def unit_complement(model, work, m, n):
    """work.null: P2's first pick, independent columns of the projector 1 - I_R J: the longest, what is left of the others
    the longest again, made orthonormal on the way."""
    P, left = work.product, work.correction
    for c in range(n):
        for j in range(n):
            P[c * n + j] = 1.0 if c == j else 0.0
        project(model, work, m, P, c * n)
    for i in range(n - m):
        best = 0
        for c in range(n):
            left[c] = 0.0
            for j in range(n):
                left[c] = left[c] + P[c * n + j] * P[c * n + j]
            if left[c] > left[best]:
                best = c
        length = sqrt(left[best])
        for j in range(n):
            work.null[i * n + j] = P[best * n + j] / length
        for c in range(n):
            x = 0.0
            for j in range(n):
                x += work.null[i * n + j] * P[c * n + j]
            for j in range(n):
                P[c * n + j] = P[c * n + j] - x * work.null[i * n + j]


@kernel
def turn_to_old(work, m, n):
    """work.null, an orthonormal basis, is turned within its span to lie nearest to work.basis: the old directions,
    projected, and made orthonormal by the polar iteration of Newton and Schulz. False where they cannot be kept."""
    f, A, B = n - m, work.reduced, work.product
    for i in range(f):
        for j in range(f):
            x = 0.0
            for c in range(n):
                x += work.basis[i * n + c] * work.null[j * n + c]
            A[i * f + j] = x
    if not polar(A, B, f, work.short):
        return False
    for i in range(f):
        for c in range(n):
            x = 0.0
            for j in range(f):
                x += A[i * f + j] * work.null[j * n + c]
            B[i * n + c] = x
    for j in range(f * n):
        work.null[j] = B[j]
    return True


@kernel
def polar(A, B, f, row):
    """A <- the orthogonal matrix nearest to it (singular values below sqrt(3)); whether that is sure."""
    for _ in range(100):
        worst = 0.0
        for i in range(f):
            for j in range(f):
                x = 0.0
                for k in range(f):
                    x += A[k * f + i] * A[k * f + j]
                B[i * f + j] = x
                worst = max(worst, abs(x - (1.0 if i == j else 0.0)))
        if worst < 1e-14:
            return True
        for i in range(f):  # row by row: A <- A (3 - A^T A) / 2
            for j in range(f):
                x = 0.0
                for k in range(f):
                    x += A[i * f + k] * ((3.0 if k == j else 0.0) - B[k * f + j])
                row[j] = 0.5 * x
            for j in range(f):
                A[i * f + j] = row[j]
    return worst < 1e-8


@kernel
def decompose(model, work):
    """Rows and directions chosen anew at the coefficients in work; the factor of range and null space is made."""
    tally = work.tally
    n, way, before = model.nn, int(tally[WAY]), tally[BASIS] * tally[RANK]
    m = choose_rows(model, work)
    tally[RANK] = m
    tally[DECOMPOSITIONS] = tally[DECOMPOSITIONS] + 1.0
    gather(model, work)
    keep = before == m and tally[BASIS] != 0.0
    if way == PARTITION:
        for i in range(n - m):
            for c in range(n):
                work.null[i * n + c] = 1.0 if work.order[m + i] == c else 0.0
    elif way == QR:
        orthogonal_complement(work, m, n)
    elif way == SVD:
        singular_directions(work, m, n)
    elif not keep:
        factor_rows(model, work, m, n)
        unit_complement(model, work, m, n)
    if keep and way in (QR, SVD):
        keep = turn_to_old(work, m, n)
    if not (keep and way == PSEUDO_INVERSE):
        take_basis(work, m, n)
    tally[BASIS] = 1.0
    factor(model, work)
    tally[REFERENCE] = tally[CONDITION]


@kernel
def take_basis(work, m, n):
    """T <- N; the largest change of a direction is remembered."""
    if work.tally[BASIS] != 0.0:
        for j in range((n - m) * n):
            work.tally[TURN] = max(work.tally[TURN], abs(work.basis[j] - work.null[j]))
    for j in range((n - m) * n):
        work.basis[j] = work.null[j]


# ---- range and null space -----------------------------------------------------------------------------------------------


@inline
def row_times(model, work, i, a, at):
    """The chosen row i of J times n numbers from a[at] on; rows are sparse."""
    r, x = int(work.chosen[i]), 0.0
    for j in range(model.row_first[r], model.row_first[r + 1]):
        x += work.jacobian[j] * a[at + model.column_place[model.j_column[j]]]
    return x


@inline
def add_row(model, work, i, factor, a, at):
    """a[at:] + factor times the chosen row i of J."""
    r = int(work.chosen[i])
    for j in range(model.row_first[r], model.row_first[r + 1]):
        c = at + model.column_place[model.j_column[j]]
        a[c] = a[c] + factor * work.jacobian[j]


@kernel
def factor_rows(model, work, m, n):
    """J J^T, factored, into work.square; returns the condition number of J, by its pivots."""
    G = work.square
    for i in range(m):
        for j in range(i + 1):
            G[i * m + j] = row_times(model, work, j, work.dense, i * n)
    low, high = cholesky(G, m)
    return high / low if m > 0 else 1.0


@kernel
def factor(model, work):
    """What I_R and N are made with, at the rows in work.dense."""
    tally = work.tally
    n, m = model.nn, int(tally[RANK])
    if tally[WAY] == PSEUDO_INVERSE:
        condition = factor_rows(model, work, m, n)
    else:
        E = work.square
        for j in range(m * n):
            E[j] = work.dense[j]
        for j in range((n - m) * n):
            E[m * n + j] = work.basis[j]
        low, high = lu(E, n, work.order)
        condition = high / low if n > 0 else 1.0
    tally[CONDITION] = condition
    tally[VALID] = 1.0
    tally[FACTORISATIONS] = tally[FACTORISATIONS] + 1.0


@kernel
def into_range(model, work, x):
    """x <- I_R x: m numbers become n."""
    n, m = model.nn, int(work.tally[RANK])
    if work.tally[WAY] == PSEUDO_INVERSE:
        y = work.short
        cholesky_solve(work.square, m, x)
        for i in range(m):
            y[i] = x[i]
        for c in range(n):
            x[c] = 0.0
        for i in range(m):
            add_row(model, work, i, y[i], x, 0)
    else:
        for c in range(m, n):
            x[c] = 0.0
        lu_solve(work.square, n, work.order, x)


@kernel
def out_of_range(model, work, x):
    """x <- I_R^T x: n numbers become m."""
    n, m = model.nn, int(work.tally[RANK])
    if work.tally[WAY] == PSEUDO_INVERSE:
        y = work.short
        for i in range(m):
            y[i] = row_times(model, work, i, x, 0)
        cholesky_solve(work.square, m, y)
        for i in range(m):
            x[i] = y[i]
    else:
        lu_solve_transposed(work.square, n, work.order, x)


@kernel
def project(model, work, m, a, at):
    """a[at:] <- (1 - I_R J) of itself, J J^T factored in work.square."""
    y = work.short
    for i in range(m):
        y[i] = row_times(model, work, i, a, at)
    cholesky_solve(work.square, m, y)
    for i in range(m):
        add_row(model, work, i, -y[i], a, at)


@kernel
def null_directions(model, work):
    """work.null = N."""
    n, m = model.nn, int(work.tally[RANK])
    N, x = work.null, work.correction
    for i in range(n - m):
        if work.tally[WAY] == PSEUDO_INVERSE:
            for c in range(n):
                N[i * n + c] = work.basis[i * n + c]
            project(model, work, m, N, i * n)
        else:
            for c in range(n):
                x[c] = 1.0 if c == m + i else 0.0
            lu_solve(work.square, n, work.order, x)
            for c in range(n):
                N[i * n + c] = x[c]


@kernel
def mass_times(model, work, x, xat, y, yat):
    """y = M x, from places xat and yat on."""
    for c in range(model.nn):
        y[yat + c] = 0.0
    for k in range(model.nm):
        i, j = model.column_place[model.m_row[k]], model.column_place[model.m_column[k]]
        y[yat + i] = y[yat + i] + work.mass[k] * x[xat + j]
        if i != j:
            y[yat + j] = y[yat + j] + work.mass[k] * x[xat + i]


@kernel
def accelerate(model, work):
    """qdd and lam; coefficients, P and gamma are in work, and the factor is that of this very state."""
    n, m = model.nn, int(work.tally[RANK])
    f = n - m
    x, force, N, MN, H = work.unknown, work.force_left, work.null, work.product, work.reduced
    null_directions(model, work)
    right_hand_side(model, work, x)
    for c in range(n):
        force[c] = x[c]
    for i in range(m):
        work.correction[i] = x[model.row_place[int(work.chosen[i])]]
    for k in range(n, model.nu):
        x[k] = 0.0
    for i in range(m):
        x[i] = work.correction[i]
    into_range(model, work, x)
    mass_times(model, work, x, 0, work.correction, 0)
    for i in range(f):
        mass_times(model, work, N, i * n, MN, i * n)
        z = 0.0
        for c in range(n):
            z += N[i * n + c] * (force[c] - work.correction[c])
        work.short[i] = z
        for j in range(i + 1):
            y = 0.0
            for c in range(n):
                y += N[i * n + c] * MN[j * n + c]
            H[i * f + j] = y
    cholesky(H, f)
    cholesky_solve(H, f, work.short)
    for i in range(f):
        for c in range(n):
            x[c] = x[c] + work.short[i] * N[i * n + c]
    mass_times(model, work, x, 0, work.correction, 0)
    for c in range(n):
        force[c] = force[c] - work.correction[c]
    out_of_range(model, work, force)
    for i in range(m):
        x[model.row_place[int(work.chosen[i])]] = force[i]
    hand_out(model, work, x)


@kernel
def factor_here(model, work):
    """The factor at the coefficients in work; rows and directions stay as they are as long as they can."""
    if work.tally[BASIS] != 0.0:
        gather(model, work)
        factor(model, work)
    if work.tally[BASIS] == 0.0 or not work.tally[CONDITION] < HOPELESS:
        decompose(model, work)


@kernel
def equations(model, work):
    """Accelerations and multipliers at a stage: coefficients, P and rows are in work."""
    factor_here(model, work)
    accelerate(model, work)


# ---- the end of a step --------------------------------------------------------------------------------------------------


@kernel
def refactor(model, work):
    """Factor at the configuration in work; its rows are evaluated."""
    coefficients(model, work)
    factor_here(model, work)


@kernel
def step_for(model, work, wanted):
    """work.unknown = -I_R wanted: along the constrained directions only."""
    for i in range(int(work.tally[RANK])):
        work.unknown[i] = -wanted[int(work.chosen[i])]
    into_range(model, work, work.unknown)


@kernel
def leaving(model, work):
    """Share of the velocity that is outside the span of T (orthonormal rows)."""
    n, m = model.nn, int(work.tally[RANK])
    x, whole = work.correction, 0.0
    for c in range(model.nv):
        if model.column_place[c] >= 0:
            x[model.column_place[c]] = work.v[c]
            whole += work.v[c] * work.v[c]
    for i in range(n - m):
        y = 0.0
        for c in range(n):
            y += work.basis[i * n + c] * x[c]
        for c in range(n):
            x[c] = x[c] - y * work.basis[i * n + c]
    left = 0.0
    for c in range(n):
        left += x[c] * x[c]
    return sqrt(left / whole) if whole > 1e-20 else 0.0


@kernel
def renew(model, work):
    """The criteria: rows and directions as they should be for the next step. The factor is fresh."""
    tally = work.tally
    n, way = model.nn, int(tally[WAY])
    anew = not tally[CONDITION] < GROWN * tally[REFERENCE]
    if way == SVD and leaving(model, work) > LEAVES:
        anew = True
    if anew:
        decompose(model, work)
    else:
        tally[REFERENCE] = min(tally[REFERENCE], tally[CONDITION])
    if way == PSEUDO_INVERSE:  # P2: the projected directions are the next ones, kept at unit length
        m = int(tally[RANK])
        null_directions(model, work)
        straighten(work, n - m, n)
        take_basis(work, m, n)


@kernel
def straighten(work, f, n):
    """One step of the polar iteration on the rows of work.null: N <- (3 - N N^T) N / 2."""
    N, A, B = work.null, work.reduced, work.product
    for i in range(f):
        for j in range(f):
            x = 0.0
            for c in range(n):
                x += N[i * n + c] * N[j * n + c]
            A[i * f + j] = (1.5 if i == j else 0.0) - 0.5 * x
    for i in range(f):
        for c in range(n):
            x = 0.0
            for j in range(f):
                x += A[i * f + j] * N[j * n + c]
            B[i * n + c] = x
    for j in range(f * n):
        N[j] = B[j]


@kernel
def identities(model, work):
    """Largest error of J N^T = 0 and J I_R = 1."""
    n, m = model.nn, int(work.tally[RANK])
    x, worst = work.correction, 0.0
    for i in range(m):
        for j in range(n - m):
            y = 0.0
            for c in range(n):
                y += work.dense[i * n + c] * work.null[j * n + c]
            worst = max(worst, abs(y))
    for k in range(m):
        for c in range(n):
            x[c] = 1.0 if c == k else 0.0
        into_range(model, work, x)
        for i in range(m):
            y = 0.0
            for c in range(n):
                y += work.dense[i * n + c] * x[c]
            worst = max(worst, abs(y - (1.0 if i == k else 0.0)))
    work.tally[IDENTITY] = worst


@kernel
def finish(model, work):
    """Accelerations of the closed state, the directions of the next step, and what is to be said about the rows."""
    tally = work.tally
    factor_here(model, work)
    renew(model, work)
    accelerate(model, work)
    if tally[WATCH] != 0.0:
        identities(model, work)
    active = 0.0
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            active += 1.0
    tally[WORST] = max(tally[WORST], tally[CONDITION])
    tally[BEST] = tally[CONDITION] if tally[BEST] == 0.0 else min(tally[BEST], tally[CONDITION])
    near = tally[BEST] / tally[CONDITION]
    remark(tally, 0.0, min(1.0, near * near))
    tally[DEFICIENT] = active - tally[RANK]


close = closing(refactor, step_for, finish)
