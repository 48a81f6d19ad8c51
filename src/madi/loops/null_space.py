"""Null-space methods: loops closed along independent directions that are carried from step to step.

With J the rows of Phi_q over the n free columns (m of them independent), a right inverse I_R (J I_R = 1) and a basis of the
null space, the rows of N (J N^T = 0):

    v = I_R b + N^T z',   qdd = I_R a + N^T z'',   (N M N^T) z'' = N (P - M I_R a),   lam = I_R^T (P - M qdd),

b = -Phi_t, a = gamma. What (N M N^T) z'' = ... solves for is the same whatever N is: accelerations, multipliers, and the
corrections at the end of a step, which are the qdd of P = 0 and a = what is missing: impulses along the constraints' own
directions only, so the least motion by mass. All of these come from the sparse factor of the loop equations (kkt.py), at a
cost that is linear in the loops; N M N^T is full wherever one body carries the loops. I_R times what is missing alone would
close the loops too, but lies where T happens to leave it: errors of the dependent directions would leak into the independent
ones, magnified by the condition of [J; T]. The methods differ in how directions T are chosen that stay independent, and when
they are chosen anew:

    pseudo-inverse  I_R = J^T (J J^T)^-1, N = T (1 - I_R J), and T <- N after every step (P2): no criterion at all
    svd             T = V2 of J = U S V^T, anew when too much of the velocity leaves its span (Mani, Haug, Atkinson 1985)
    qr              T = Q2 of J^T = Q R, chosen anew when [J; T] grows ill-conditioned (Kim, Vanderploeg 1986)
    partition       T picks coordinates, by pivoting; the same criterion (Wehage, Haug 1982)

Of the last three [I_R, N^T] is the inverse of E = [J; T], so N = the old directions carried on. All of it follows from the
projector 1 - J+ J on the null space and the pseudo-inverse J+, sparse and block by block (blocks.py): with the old
directions projected, S = T (1 - J+ J), and G = T S^T (f x f in each block) E times (J+ a + S^T s) is (a, T J+ a + G s), so

    N = G^-1 S,      I_R = J+ - N^T T J+;

what is kept in work.null is S, which spans the same. The pivots of E are those of J J^T and G, rooted: their ratio is the
condition. V2 and Q2 are the null space's orthonormal bases, determined up to a rotation: it is taken so that new directions
lie as near as they can to the old ones, the polar factor of S; directions do not jump.

All is done in coordinates made dimensionless by mass: columns are divided by the root of what they move (as it was when the
run began), rows by the root of how they yield; so heavy and light parts, metres and radians, count alike. Numbers are judged
here: not traced.

P2's own form (work.options.unweighted) has no weights: columns and rows as they are, and positions and speeds corrected by
[J; N] dq = (-Phi, 0), its eq. (5.1), which of the pseudo-inverse is dq = -I_R Phi: the least change by coordinates. There
corrections do depend on the directions, and the blocks' factors close the loops.

docs/references.md: [P2], [Mani, Haug, Atkinson 1985], [Kim, Vanderploeg 1986, QR], [Wehage, Haug 1982].
"""

from __future__ import annotations

from madi.kernel import inline, kernel, sqrt, view1
from madi.loops import projection
from madi.loops.blocks import (
    factor_blocks,
    independent_rows,
    project,
    pseudo_inverse,
    row_times,
    weigh,
)
from madi.loops.closing import closing
from madi.loops.dense import NAN, cholesky, cholesky_solve, products_of_rows
from madi.loops.directions import BY_PSEUDO_INVERSE, BY_QR, BY_SVD, ORTHONORMAL, of_block, pick, turn
from madi.loops.fields import Arrays, Work

GROWN = 10.0  # condition number, against the one the directions were chosen at, at which they are chosen anew
LEAVING_SHARE = 0.3  # share of the velocity outside the span of T, at which svd chooses anew
AT_REST = 1e-20  # J: twice the kinetic energy below which the velocity has no direction to leave the span in
STRAIGHT = 1e-3  # error of unit length and right angles whose square may stay from step to step


# ---- the directions of a block --------------------------------------------------------------------------------------------


@kernel
def carry(work: Work, b, f):
    """work.null <- the directions of block b projected, work.gram <- their products, factored; returns the least and the
    largest pivot."""
    plan = work.blocks
    n = plan.first[b + 1] - plan.first[b]
    T, N = of_block(work, work.basis, b, f), of_block(work, work.null, b, f)
    for j in range(n * f):
        N[j] = T[j]
    project(work, b, N, 0, f)
    if work.options.directions == BY_PSEUDO_INVERSE:
        return 1.0, 1.0
    G = view1(work.gram, plan.square[b], f * f)
    products_of_rows(T, N, G, f, n)
    return cholesky(G, f)


@inline
def condition_of(work: Work, least, most, low, high):
    """Of [J; T] by the pivots of J and those of T; of J alone where T is its own projection."""
    if work.options.directions != BY_PSEUDO_INVERSE:
        least, most = min(least, low), max(most, high)
    return most / least if most > 0.0 else 1.0


@kernel
def leaving(model: Arrays, work: Work, b):
    """Share of the free velocity (apart from what drives impose) of block b that is outside the span of T, which has
    orthonormal rows: of N^T T v against T v."""
    plan, f, z, y = work.blocks, int(work.block_freedoms[b]), work.motion, work.short
    T, begin = of_block(work, work.basis, b, f), plan.first[b]
    for i in range(f):
        z[i] = 0.0
    for k in range(begin, plan.first[b + 1]):
        c = plan.element[k]
        if c >= 0:
            for i in range(f):
                z[i] = z[i] + T[(k - begin) * f + i] * (work.v[c] / work.column_scale[c])
    for i in range(f):
        y[i] = z[i]
    cholesky_solve(view1(work.gram, plan.square[b], f * f), f, y)
    kept, whole = 0.0, 0.0
    for i in range(f):
        kept += z[i] * z[i]
        whole += z[i] * y[i]
    return sqrt(max(0.0, 1.0 - kept / whole)) if whole > AT_REST else 0.0


@kernel
def outworn(model: Arrays, work: Work, b, condition):
    """The criteria: whether the directions of block b should be chosen anew."""
    if not condition < GROWN * work.block_reference[b]:
        return True
    work.block_reference[b] = min(work.block_reference[b], condition)
    return work.options.directions == BY_SVD and leaving(model, work, b) > LEAVING_SHARE


@kernel
def renew(model: Arrays, work: Work, b, ended):
    """The directions of block b at the factor in work, chosen where there are none of the right number or where they should
    be; (condition, whether they were chosen), NaN where numbers are not finite. `ended`: a step has, and the directions of
    the pseudo-inverse go along."""
    way = work.options.directions
    rows, least, most = independent_rows(work, b)
    if rows < 0:
        return NAN, False
    f = max(0, columns_of(work, b) - rows)
    keep = work.basis_chosen != 0 and int(work.block_freedoms[b]) == f
    condition, anew = 1.0, not keep
    work.block_freedoms[b] = f
    if keep:
        low, high = carry(work, b, f)
        condition = condition_of(work, least, most, low, high)
        if way == BY_PSEUDO_INVERSE:
            anew = ended and not turn(work, b, f, STRAIGHT)
        else:
            anew = outworn(model, work, b, condition)
    if anew:
        if not (keep and way in (BY_QR, BY_SVD) and turn(work, b, f, ORTHONORMAL)):
            pick(work, b, f)
        low, high = carry(work, b, f)
        condition = condition_of(work, least, most, low, high)
        work.block_reference[b] = condition
    return condition, anew


@inline
def columns_of(work: Work, b):
    """How many columns block b has: as many as there are directions at most."""
    plan = work.blocks
    return (plan.directions[b + 1] - plan.directions[b]) // (plan.first[b + 1] - plan.first[b])


@kernel
def renew_all(model: Arrays, work: Work, ended):
    """Factors and directions of all blocks at the coefficients in work."""
    tally = work.tally
    if work.basis_chosen == 0:
        weigh(model, work)
    factor_blocks(model, work)
    worst, chosen = 1.0, False
    for b in range(work.blocks.n_blocks):
        condition, anew = renew(model, work, b, ended)
        chosen = chosen or anew
        if not condition <= worst:
            worst = condition
    tally.condition = worst
    if chosen:
        tally.decompositions += 1
    work.basis_chosen = 1 if worst == worst else 0


# ---- the end of a step --------------------------------------------------------------------------------------------------


@kernel
def refactor(model: Arrays, work: Work):
    """Coefficients and factor at the configuration in work; its rows are evaluated. In P2's own form the blocks' too."""
    projection.refactor(model, work)
    if work.options.unweighted != 0:
        renew_all(model, work, False)


@kernel
def right_inverse_times(model: Arrays, work: Work, b, x):
    """x <- I_R x of block b: what is at its rows becomes what is at its columns."""
    plan, z = work.blocks, work.rest
    pseudo_inverse(model, work, b, x)
    if work.options.directions == BY_PSEUDO_INVERSE:
        return
    f, begin, end = int(work.block_freedoms[b]), plan.first[b], plan.first[b + 1]
    T, S = of_block(work, work.basis, b, f), of_block(work, work.null, b, f)
    for i in range(f):
        z[i] = 0.0
    for k in range(begin, end):
        for i in range(f):
            z[i] = z[i] + T[(k - begin) * f + i] * x[k]
    cholesky_solve(view1(work.gram, plan.square[b], f * f), f, z)
    for k in range(begin, end):
        y = 0.0
        for i in range(f):
            y += S[(k - begin) * f + i] * z[i]
        x[k] = x[k] - y


@kernel
def step_for(model: Arrays, work: Work, force, violation):
    """work.unknown: the motion under `force` that changes the rows by -violation; with no force the one that is least by
    mass, or P2's own."""
    pushed = 0.0
    for c in range(model.nv):
        if model.column_place[c] >= 0:
            pushed = max(pushed, abs(force[c]))
    if work.options.unweighted == 0 or pushed > 0.0:
        projection.step_for(model, work, force, violation)
        return
    plan, x = work.blocks, work.motion
    for k in range(plan.nu):
        r = -1 - plan.element[k]
        x[k] = -violation[r] * work.row_scale[r] if r >= 0 else 0.0
    for b in range(plan.n_blocks):
        right_inverse_times(model, work, b, x)
    for c in range(model.nv):
        p = model.column_place[c]
        if p >= 0:
            work.unknown[p] = x[plan.column_at[c]] * work.column_scale[c] if work.basis_chosen != 0 else NAN


@kernel
def identities(model: Arrays, work: Work, b):
    """Largest error in block b of J N^T = 0 and of J I_R a = a, a each column of J: where rows are independent, of
    J I_R = 1."""
    plan, x, f, worst = work.blocks, work.motion, int(work.block_freedoms[b]), 0.0
    begin, end, N = plan.first[b], plan.first[b + 1], of_block(work, work.null, b, f)
    for j in range(f):
        for k in range(begin, end):
            x[k] = N[(k - begin) * f + j]
        for k in range(begin, end):
            if plan.element[k] < 0:
                worst = max(worst, abs(row_times(model, work, -1 - plan.element[k], x)))
    for column in range(begin, end):
        if plan.element[column] >= 0:
            for k in range(begin, end):
                x[k] = entry(model, work, -1 - plan.element[k], plan.element[column]) if plan.element[k] < 0 else 0.0
            right_inverse_times(model, work, b, x)
            for k in range(begin, end):
                r = -1 - plan.element[k]
                if r >= 0:
                    wanted = entry(model, work, r, plan.element[column])
                    worst = max(worst, abs(row_times(model, work, r, x) - wanted))
    return worst


@inline
def entry(model: Arrays, work: Work, r, c):
    """J at row r and column c."""
    x = 0.0
    for j in range(model.row_first[r], model.row_first[r + 1]):
        if model.j_column[j] == c:
            x = work.j_scaled[j]
    return x


@kernel
def finish(model: Arrays, work: Work):
    """Accelerations of the closed state, what is to be said about the rows, and the directions of the next step."""
    tally = work.tally
    projection.finish(model, work)
    renew_all(model, work, True)
    tally.worst_condition = max(tally.worst_condition, tally.condition)
    if work.options.watch != 0:
        tally.identity_error = 0.0
        for b in range(work.blocks.n_blocks):
            tally.identity_error = max(tally.identity_error, identities(model, work, b))


close_any = closing(refactor, step_for, finish)


@kernel
def close(model: Arrays, work: Work, t, q, v, tau, out):
    """See closing.py. P2's own form corrects with the blocks' factors, which the stages of a step do not make."""
    if work.options.unweighted != 0 and work.basis_chosen == 0:
        work.factor_valid = 0
    close_any(model, work, t, q, v, tau, out)
