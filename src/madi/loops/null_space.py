"""Null-space methods: loops closed along independent directions that are carried from step to step.

With J the independent rows of Phi_q over the n free columns (m of them), a right inverse I_R (J I_R = 1) and a basis of the
null space, the rows of N (J N^T = 0):

    v = I_R b + N^T z',   qdd = I_R a + N^T z'',   (N M N^T) z'' = N (P - M I_R a),   lam = I_R^T (P - M qdd),

b = -Phi_t, a = gamma. Accelerations and multipliers are the same whatever N is: they come from the sparse factor of the loop
equations (kkt.py), at a cost that is linear in the loops; N M N^T is full. The directions are needed at the end of a step,
for its corrections: of positions or speeds they are the qdd of P = 0 and a = what is missing, impulses along the
constraints' own directions only, so the least motion by mass. I_R times what is missing alone would close the loops too, but
lies where T happens to leave it: errors of the dependent directions would leak into the independent ones, magnified by the
condition of [J; T]. The methods differ in how directions T are chosen that stay independent, and when they are chosen anew:

    pseudo-inverse  I_R = J^T (J J^T)^-1, N = T (1 - I_R J), and T <- N after every step (P2): no criterion but for the rows
    svd             T = V2 of J = U S V^T, anew when too much of the velocity leaves its span (Mani, Haug, Atkinson 1985)
    qr              T = Q2 of J^T = Q R, chosen anew when [J; T] grows ill-conditioned (Kim, Vanderploeg 1986)
    partition       T picks coordinates, by LU of J with complete pivoting; the same criterion (Wehage, Haug 1982)

Of the last three [I_R, N^T] is the inverse of E = [J; T], so N = the old directions carried on. A new T of svd and qr is
turned to lie as near as it can to the old one: directions do not jump. Rows that depend on others are left out of J
(complete pivoting). All of it is done in coordinates made dimensionless by mass: columns are divided by the root of what
they move (as it was when the run began), rows by the root of how they yield; so heavy and light parts, metres and radians,
count alike. Numbers are judged here: not traced.

P2's own form (work.options.unweighted) has no weights: columns and rows as they are, and positions and speeds corrected by
[J; N] dq = (-Phi, 0), its eq. (5.1), which of the pseudo-inverse is dq = -I_R Phi: the least change by coordinates.

All four choose the rows anew when the condition number has grown too much.

docs/references.md: [P2], [Mani, Haug, Atkinson 1985], [Kim, Vanderploeg 1986, QR], [Wehage, Haug 1982].
"""

from __future__ import annotations

from madi.kernel import inline, kernel, sqrt
from madi.loops.closing import closing, composite_masses
from madi.loops.dense import (
    NAN,
    cholesky,
    cholesky_solve,
    cholesky_solve_all,
    lu,
    lu_solve,
    lu_solve_all,
    products_of_rows,
)
from madi.loops.directions import (
    choose_rows,
    gather,
    orthogonal_complement,
    singular_directions,
    straighten,
    turn_to_old,
    weigh,
)
from madi.loops.fields import Arrays, Work
from madi.loops.kkt import accelerate, factorise
from madi.loops.projection import look_at_pivots

BY_PSEUDO_INVERSE, BY_SVD, BY_QR, BY_PARTITION = 1, 2, 3, 4  # LoopOptions.directions
GROWN = 10.0  # condition number, against the one the directions were chosen at, at which they are chosen anew
REDECOMPOSE_AT = 1e12  # condition number at which they are chosen anew even within a step
REDECOMPOSE_SQUARED_AT = 1e7  # the same for the pseudo-inverse, which squares it
REPROJECT_AT = 1e3  # condition number from which on the pseudo-inverse projects twice
LEAVING_SHARE = 0.3  # share of the velocity outside the span of T, at which svd chooses anew
AT_REST = 1e-20  # J: twice the kinetic energy below which the velocity has no direction to leave the span in


# ---- rows and directions ---------------------------------------------------------------------------------------


@kernel
def unit_complement(model: Arrays, work: Work, m, n):
    """work.null: P2's first pick, by pivoted Gram-Schmidt on the columns of the projector 1 - I_R J: the longest that is
    left is normalised and taken out of the others."""
    P, left = work.product, work.correction
    for c in range(n):
        for j in range(n):
            P[c * n + j] = 1.0 if c == j else 0.0
        project(model, work, m, P, c * n)
    f = n - m
    for i in range(f):
        best = 0
        for c in range(n):
            left[c] = 0.0
            for j in range(n):
                left[c] = left[c] + P[c * n + j] * P[c * n + j]
            if left[c] > left[best]:
                best = c
        length = sqrt(left[best])
        for j in range(n):
            work.null[j * f + i] = P[best * n + j] / length
        for c in range(n):
            x = 0.0
            for j in range(n):
                x += work.null[j * f + i] * P[c * n + j]
            for j in range(n):
                P[c * n + j] = P[c * n + j] - x * work.null[j * f + i]


@kernel
def decompose(model: Arrays, work: Work, rows):
    """Directions chosen anew at the coefficients in work, with `rows` the rows too; the factor is made. Where numbers are
    not finite nothing is chosen: basis_chosen becomes 0."""
    tally = work.tally
    n, way = model.nn, work.options.directions
    before = work.rank if work.basis_chosen != 0 else -1
    m = before
    if before < 0:
        weigh(model, work)
    if rows or before < 0:
        m = choose_rows(model, work)
        if m < 0:
            work.basis_chosen, work.rank, work.factor_valid = 0, 0, 0
            tally.condition, work.smallest_pivot = NAN, NAN
            return
    work.rank = m
    work.most_rank = max(work.most_rank, work.rank)
    tally.decompositions += 1
    gather(model, work)
    keep = before == m
    if way == BY_PARTITION:
        for i in range(n - m):
            for c in range(n):
                work.null[c * (n - m) + i] = 1.0 if work.column_order[m + i] == c else 0.0
    elif way == BY_QR:
        orthogonal_complement(work, m, n)
    elif way == BY_SVD:
        singular_directions(work, m, n)
    elif not keep:
        factor_rows(model, work, m, n, work.square)
        unit_complement(model, work, m, n)
    if keep and way in (BY_QR, BY_SVD):
        keep = turn_to_old(work, m, n)
    if not (keep and way == BY_PSEUDO_INVERSE):
        take_basis(work, m, n)
    work.basis_chosen = 1
    factor(model, work)
    work.reference_condition = tally.condition


@kernel
def take_basis(work: Work, m, n):
    """T <- N; the largest change of a direction is remembered."""
    if work.basis_chosen != 0:
        for j in range((n - m) * n):
            work.tally.largest_turn = max(work.tally.largest_turn, abs(work.basis[j] - work.null[j]))
    for j in range((n - m) * n):
        work.basis[j] = work.null[j]


# ---- range and null space -----------------------------------------------------------------------------------------------


@inline
def row_times(model: Arrays, work: Work, i, a, at):
    """The chosen row i of J times n numbers from a[at] on; rows are sparse."""
    r, x = int(work.row_order[i]), 0.0
    for j in range(model.row_first[r], model.row_first[r + 1]):
        x += work.j_scaled[j] * a[at + model.column_number[model.j_column[j]]]
    return x


@inline
def add_row(model: Arrays, work: Work, i, factor, a, at):
    """a[at:] + factor times the chosen row i of J."""
    r = int(work.row_order[i])
    for j in range(model.row_first[r], model.row_first[r + 1]):
        c = at + model.column_number[model.j_column[j]]
        a[c] = a[c] + factor * work.j_scaled[j]


@kernel
def factor_rows(model: Arrays, work: Work, m, n, G):
    """G = J J^T, factored; returns the smallest and the largest pivot of J."""
    for i in range(m):
        for j in range(i, m):
            G[i * m + j] = row_times(model, work, i, work.dense, j * n)
    return cholesky(G, m)


@kernel
def factor(model: Arrays, work: Work):
    """What I_R and N are made with, at the rows in work.dense."""
    tally = work.tally
    n, m = model.nn, work.rank
    if work.options.directions == BY_PSEUDO_INVERSE:
        low, high = factor_rows(model, work, m, n, work.square)
    else:
        E = work.square
        for j in range(m * n):
            E[j] = work.dense[j]
        for i in range(n - m):
            for c in range(n):
                E[(m + i) * n + c] = work.basis[c * (n - m) + i]
        low, high = lu(E, n, work.column_order)
    tally.condition = high / low if high != 0.0 else 1.0  # nothing to factor: all rows vanish
    work.smallest_pivot = low
    work.factor_valid = 1
    tally.factorisations += 1


@kernel
def right_inverse_times(model: Arrays, work: Work, x):
    """x <- I_R x: m numbers become n."""
    n, m = model.nn, work.rank
    if work.options.directions == BY_PSEUDO_INVERSE:
        y, wanted = work.short, work.rest
        for i in range(m):
            wanted[i] = x[i]
            y[i] = x[i]
        for c in range(n):
            x[c] = 0.0
        for _ in range(2):  # J J^T has the square of J's condition: one refinement
            cholesky_solve(work.square, m, y)
            for i in range(m):
                add_row(model, work, i, y[i], x, 0)
            for i in range(m):
                y[i] = wanted[i] - row_times(model, work, i, x, 0)
    else:
        for c in range(m, n):
            x[c] = 0.0
        lu_solve(work.square, n, work.column_order, x)


@kernel
def project(model: Arrays, work: Work, m, a, at):
    """a[at:] <- (1 - I_R J) of itself, J J^T factored in work.square."""
    y = work.short
    for _ in range(1 if work.tally.condition < REPROJECT_AT else 2):
        for i in range(m):
            y[i] = row_times(model, work, i, a, at)
        cholesky_solve(work.square, m, y)
        for i in range(m):
            add_row(model, work, i, -y[i], a, at)


@kernel
def project_all(model: Arrays, work: Work, m, f, N, Y):
    """N <- (1 - I_R J) N of f directions at once; Y: scratch, m x f."""
    for _ in range(1 if work.tally.condition < REPROJECT_AT else 2):
        for i in range(m):
            for k in range(f):
                Y[i * f + k] = 0.0
            r = int(work.row_order[i])
            for j in range(model.row_first[r], model.row_first[r + 1]):
                c, x = model.column_number[model.j_column[j]], work.j_scaled[j]
                for k in range(f):
                    Y[i * f + k] = Y[i * f + k] + x * N[c * f + k]
        cholesky_solve_all(work.square, m, Y, f)
        for i in range(m):
            r = int(work.row_order[i])
            for j in range(model.row_first[r], model.row_first[r + 1]):
                c, x = model.column_number[model.j_column[j]], work.j_scaled[j]
                for k in range(f):
                    N[c * f + k] = N[c * f + k] - x * Y[i * f + k]


@kernel
def null_directions(model: Arrays, work: Work):
    """work.null = N^T."""
    n, m = model.nn, work.rank
    f, N = n - m, work.null
    if work.options.directions == BY_PSEUDO_INVERSE:
        for j in range(n * f):
            N[j] = work.basis[j]
        project_all(model, work, m, f, N, work.product)
        return
    for j in range(n * f):
        N[j] = 0.0
    for i in range(f):
        N[(m + i) * f + i] = 1.0
    lu_solve_all(work.square, n, work.column_order, N, f)


@kernel
def mass_times(model: Arrays, work: Work, x, xat, y, yat):
    """y = M x, from places xat and yat on."""
    for c in range(model.nn):
        y[yat + c] = 0.0
    for k in range(model.nm):
        i, j = model.column_number[model.m_row[k]], model.column_number[model.m_column[k]]
        mass = work.m_scaled[k]
        y[yat + i] = y[yat + i] + mass * x[xat + j]
        if i != j:
            y[yat + j] = y[yat + j] + mass * x[xat + i]


@kernel
def reduced_mass(model: Arrays, work: Work, known):
    """N (unless it is known already) and H = N M N^T, factored, at the state of the factor."""
    n = model.nn
    f, N, MN, H = n - work.rank, work.null, work.product, work.reduced
    if not known:
        null_directions(model, work)
    for j in range(n * f):
        MN[j] = 0.0
    for k in range(model.nm):
        i, j = model.column_number[model.m_row[k]], model.column_number[model.m_column[k]]
        mass = work.m_scaled[k]
        for c in range(f):
            MN[i * f + c] = MN[i * f + c] + mass * N[j * f + c]
        if i != j:
            for c in range(f):
                MN[j * f + c] = MN[j * f + c] + mass * N[i * f + c]
    products_of_rows(N, MN, H, f, n)
    cholesky(H, f)


@kernel
def solve_constrained(model: Arrays, work: Work, force, x):
    """x <- the n numbers with J x = (the m numbers in x) and N (force - M x) = 0."""
    n = model.nn
    f, N, z = n - work.rank, work.null, work.short
    right_inverse_times(model, work, x)
    mass_times(model, work, x, 0, work.correction, 0)
    for i in range(f):
        z[i] = 0.0
    for c in range(n):
        left = force[c] - work.correction[c]
        for i in range(f):
            z[i] = z[i] + N[c * f + i] * left
    cholesky_solve(work.reduced, f, z)
    for c in range(n):
        y = 0.0
        for i in range(f):
            y += N[c * f + i] * z[i]
        x[c] = x[c] + y


@kernel
def factor_here(model: Arrays, work: Work):
    """The factor at the coefficients in work; rows and directions stay as they are as long as they can."""
    tally = work.tally
    most = REDECOMPOSE_SQUARED_AT if work.options.directions == BY_PSEUDO_INVERSE else REDECOMPOSE_AT
    if work.basis_chosen != 0 and work.rank >= work.most_rank:
        gather(model, work)
        factor(model, work)
    else:  # the first time; or rows were left out in a singular position: they may be back
        tally.condition = NAN
    if not tally.condition < most:
        decompose(model, work, True)


# ---- the end of a step --------------------------------------------------------------------------------------------------


@kernel
def refactor(model: Arrays, work: Work):
    """Factor at the configuration in work; its rows are evaluated. Where rows are left out, they are chosen anew: it is
    called when corrections gain too little."""
    composite_masses(model, work)
    if work.basis_chosen != 0 and work.rank < active_rows(model):
        decompose(model, work, True)
    else:
        factor_here(model, work)
    if work.basis_chosen != 0:
        reduced_mass(model, work, False)


@kernel
def active_rows(model: Arrays):
    """Rows that do not vanish identically."""
    rows = 0
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            rows += 1
    return rows


@kernel
def step_for(model: Arrays, work: Work, force, violation):
    """work.unknown: the motion under `force` that changes the rows by -violation; with no force the one that is least by
    mass."""
    x, left = work.motion, work.force_left
    if work.basis_chosen == 0:
        for k in range(model.nu):
            work.unknown[k] = NAN
        return
    for i in range(work.rank):
        r = int(work.row_order[i])
        x[i] = -violation[r] * work.row_scale[r]
    pushed = 0.0
    for c in range(model.nv):
        k = model.column_number[c]
        if k >= 0:
            left[k] = force[c] * work.column_scale[k]
            pushed = max(pushed, abs(left[k]))
    if work.options.unweighted != 0 and pushed == 0.0:
        right_inverse_times(model, work, x)
    else:
        solve_constrained(model, work, left, x)
    for c in range(model.nv):
        k = model.column_number[c]
        if k >= 0:
            work.unknown[model.column_place[c]] = x[k] * work.column_scale[k]


@kernel
def leaving(model: Arrays, work: Work):
    """Share of the free velocity (apart from what drives impose) that is outside the span of T, which has orthonormal
    rows."""
    n, m = model.nn, work.rank
    x, y = work.correction, work.rest
    for c in range(model.nv):
        if model.column_number[c] >= 0:
            k = model.column_number[c]
            x[k] = work.v[c] / work.column_scale[k]
    kept = 0.0
    for i in range(m):
        y[i] = 0.0
    f = n - m
    for i in range(f):
        z = 0.0
        for c in range(n):
            z += work.basis[c * f + i] * x[c]
        y[m + i] = z
        kept += z * z
    lu_solve(work.square, n, work.column_order, y)
    whole = 0.0
    for c in range(n):
        whole += y[c] * y[c]
    return sqrt(max(0.0, 1.0 - kept / whole)) if whole > AT_REST else 0.0


@kernel
def renew(model: Arrays, work: Work):
    """The criteria: rows and directions as they should be for the next step. The factor is fresh."""
    tally = work.tally
    n, way = model.nn, work.options.directions
    if not tally.condition < GROWN * work.reference_condition:
        decompose(model, work, True)
    elif way == BY_SVD and leaving(model, work) > LEAVING_SHARE:
        decompose(model, work, False)
    else:
        work.reference_condition = min(work.reference_condition, tally.condition)
    if way == BY_PSEUDO_INVERSE and work.basis_chosen != 0:  # P2: the projected directions are the next ones, at unit length
        m = work.rank
        null_directions(model, work)
        straighten(work, n - m, n)
        take_basis(work, m, n)


@kernel
def identities(model: Arrays, work: Work):
    """Largest error of J N^T = 0 and J I_R = 1."""
    n, m = model.nn, work.rank
    x, worst = work.correction, 0.0
    for i in range(m):
        for j in range(n - m):
            y = 0.0
            for c in range(n):
                y += work.dense[i * n + c] * work.null[c * (n - m) + j]
            worst = max(worst, abs(y))
    for k in range(m):
        for c in range(n):
            x[c] = 1.0 if c == k else 0.0
        right_inverse_times(model, work, x)
        for i in range(m):
            y = 0.0
            for c in range(n):
                y += work.dense[i * n + c] * x[c]
            worst = max(worst, abs(y - (1.0 if i == k else 0.0)))
    work.tally.identity_error = worst


@kernel
def finish(model: Arrays, work: Work):
    """Accelerations of the closed state by the sparse factor, the directions of the next step, and what is to be said about
    the rows."""
    tally = work.tally
    factor_here(model, work)
    renew(model, work)
    if work.basis_chosen != 0:
        reduced_mass(model, work, work.options.directions == BY_PSEUDO_INVERSE)
    factorise(model, work, 0.0)
    accelerate(model, work)
    if work.options.watch != 0:
        identities(model, work)
    tally.worst_condition = max(tally.worst_condition, tally.condition)
    look_at_pivots(model, work)


close = closing(refactor, step_for, finish)
