"""The projector on the null space and the pseudo-inverse, sparse and block by block: what null-space methods are made of.

In columns measured by mass (`measure`) and with J = Phi_q of one block (topology/blocks.py), the factor of

    [[1, J^T], [J, -eps]] (x, mu) = (t, a)

gives x = (1 - I_R J) t for a = 0, the projection, and x = I_R a for t = 0, I_R = J^T (J J^T)^-1, the pseudo-inverse, both
but for eps; done twice, but for its square. eps is 1e-12 of the block's largest row, far above rounding, and makes every
pivot exist where rows depend on others. The pivot of a row is the square of its distance from the rows before it: these tell
the condition. Of the inverse all entries that the factor has follow from its last column
backward, at the cost of the factorisation: among them the diagonal of the projector, how much of each column is free.

docs/references.md: [Vanderbei 1995], [Erisman, Tinney 1975].
"""

from __future__ import annotations

from madi.constraints.fields import REGULARISATION
from madi.kernel import HUGE, LEAST_SIZE, inline, kernel, sqrt
from madi.loops.dense import NAN
from madi.loops.fields import Arrays, Work
from madi.loops.kkt import EPSILON, eliminate

TINY = 1e-12  # eps, against the square of a block's largest row
DEPENDENT = 1e-9  # the same of a row's distance from those before it, below which it adds nothing
SURE = 1e-3  # and above which, in all rows, none depends on others


@kernel
def weigh(model: Arrays, work: Work):
    """work.column_scale, work.row_scale: what columns and rows are measured by; nothing, in P2's own form."""
    if work.options.unweighted != 0:
        for c in range(model.nv):
            work.column_scale[c] = 1.0
        for r in range(model.nr):
            work.row_scale[r] = 1.0
        return
    for k in range(model.nm):
        if model.m_row[k] == model.m_column[k]:
            work.column_scale[model.m_row[k]] = 1.0 / sqrt(work.m_value[k])
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            work.row_scale[r] = sqrt(EPSILON / model.row_value[r, REGULARISATION])


@kernel
def measure(model: Arrays, work: Work):
    """work.j_scaled, work.block_factor: J, and the matrices of all blocks; work.block_epsilon."""
    plan, F, eps = work.blocks, work.block_factor, work.block_epsilon
    for k in range(plan.nu):
        F[k] = 1.0
    for k in range(plan.nu, plan.nu + plan.nl):
        F[k] = 0.0
    for r in range(model.nr):
        p = plan.row_at[r]
        if p >= 0:
            F[p] = 0.0
            for j in range(model.row_first[r], model.row_first[r + 1]):
                x = work.j_value[j] * work.column_scale[model.j_column[j]] * work.row_scale[r]
                work.j_scaled[j] = x
                F[plan.j_at[j]] = x
                F[p] = F[p] + x * x
    for b in range(plan.n_blocks):
        largest = 0.0
        for k in range(plan.first[b], plan.first[b + 1]):
            if plan.element[k] < 0 and not F[k] <= largest:
                largest = F[k]
        eps[b] = max(TINY * largest, LEAST_SIZE)
        for k in range(plan.first[b], plan.first[b + 1]):
            if plan.element[k] < 0:
                F[k] = -eps[b]


@kernel
def factor_blocks(model: Arrays, work: Work):
    """The factors of all blocks at the coefficients in work."""
    measure(model, work)
    eliminate(work.blocks, work.block_factor)
    work.tally.factorisations += 1


@kernel
def independent_rows(work: Work, b):
    """Of a factored block how many rows are independent (-1 where numbers are not finite), and the smallest and the largest
    of their distances from the rows before them. Where some distance is small, what is left of later rows is eps, magnified,
    and the pivots cannot be counted; the rows that depend on others are then the trace of eps (J J^T + eps)^-1: the sum of
    eps / (sigma^2 + eps) over the singular values of J, each one or nothing."""
    plan, F, eps = work.blocks, work.block_factor, work.block_epsilon[b]
    count, low, high, least = 0, HUGE, 0.0, HUGE
    for k in range(plan.first[b], plan.first[b + 1]):
        if plan.element[k] < 0:
            x = -1.0 / F[k] - eps
            if not abs(x) < HUGE:
                return -1, NAN, NAN
            count, least = count + 1, min(least, x)
            if x * TINY > DEPENDENT * eps:
                low, high = min(low, x), max(high, x)
    if least * TINY < SURE * eps:
        invert(work, b)
        trace = 0.0
        for k in range(plan.first[b], plan.first[b + 1]):
            if plan.element[k] < 0:
                trace -= eps * work.block_inverse[k]
        if not 0.0 <= trace <= count:
            trace = 0.0 if trace < 0.0 else count
        count -= int(trace + 0.5)
    return count, sqrt(low), sqrt(high)


@kernel
def solve_block(work: Work, b, X, at, f):
    """X <- the solutions for f right-hand sides side by side, the unknowns of block b from X[at] on."""
    plan, F = work.blocks, work.block_factor
    begin, end, below, index = plan.first[b], plan.first[b + 1], plan.nu, plan.l_index
    for k in range(begin, end):
        here = at + (k - begin) * f
        for i in range(plan.l_first[k], plan.l_first[k + 1]):
            there, x = at + (index[i] - begin) * f, F[below + i]
            for j in range(f):
                X[there + j] = X[there + j] - x * X[here + j]
    for k in range(end - 1, begin - 1, -1):
        here = at + (k - begin) * f
        for j in range(f):
            X[here + j] = X[here + j] * F[k]
        for i in range(plan.l_first[k], plan.l_first[k + 1]):
            there, x = at + (index[i] - begin) * f, F[below + i]
            for j in range(f):
                X[here + j] = X[here + j] - x * X[there + j]


@kernel
def clear_rows(work: Work, b, X, at, f):
    """X: zero at the rows of block b."""
    plan = work.blocks
    begin = plan.first[b]
    for k in range(begin, plan.first[b + 1]):
        if plan.element[k] < 0:
            for j in range(at + (k - begin) * f, at + (k - begin + 1) * f):
                X[j] = 0.0


@kernel
def project(work: Work, b, X, at, f):
    """X <- (1 - I_R J) X of f directions side by side, which are zero at the rows."""
    for _ in range(2):
        solve_block(work, b, X, at, f)
        clear_rows(work, b, X, at, f)


@inline
def row_times(model: Arrays, work: Work, r, x):
    """Row r of J times the unknowns x."""
    y = 0.0
    for j in range(model.row_first[r], model.row_first[r + 1]):
        y += work.j_scaled[j] * x[work.blocks.column_at[model.j_column[j]]]
    return y


@kernel
def pseudo_inverse(model: Arrays, work: Work, b, x):
    """x <- I_R x of block b: what is at its rows becomes what is at its columns; J J^T has the square of J's condition: one
    refinement."""
    plan, wanted, y = work.blocks, work.rest, work.short
    begin, end = plan.first[b], plan.first[b + 1]
    for k in range(begin, end):
        wanted[k], y[k] = x[k], x[k]
        x[k] = 0.0
    for _ in range(2):
        solve_block(work, b, y, begin, 1)
        clear_rows(work, b, y, begin, 1)
        for k in range(begin, end):
            x[k], y[k] = x[k] + y[k], 0.0
        for k in range(begin, end):
            if plan.element[k] < 0:
                y[k] = wanted[k] - row_times(model, work, -1 - plan.element[k], x)


@kernel
def invert(work: Work, b):
    """work.block_inverse: of the inverse of block b the entries where the factor has some, from the last unknown backward:
    with L D L^T Z = 1, Z_ik = -sum_j Z_ij L_jk and Z_kk = 1/D_k - sum_j L_jk Z_jk, j the places below the diagonal."""
    plan, F, Z = work.blocks, work.block_factor, work.block_inverse
    below, target = plan.nu, plan.l_target
    p = plan.product[b + 1]
    for k in range(plan.first[b + 1] - 1, plan.first[b] - 1, -1):
        first, end = plan.l_first[k], plan.l_first[k + 1]
        p -= (end - first) * (end - first + 1) // 2
        t = p
        for i in range(first, end):
            Z[below + i] = 0.0
        for i in range(first, end):
            for j in range(i, end):
                z = Z[target[t]]
                t += 1
                Z[below + i] = Z[below + i] - z * F[below + j]
                if j != i:
                    Z[below + j] = Z[below + j] - z * F[below + i]
        x = F[k]
        for i in range(first, end):
            x -= F[below + i] * Z[below + i]
        Z[k] = x
