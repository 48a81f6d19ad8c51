"""Directions that span what the rows leave free: how null-space methods choose them, block by block.

T and N of a block lie behind each other in work.basis and work.null from the block's place on: a line for each unknown (zero
at the rows), the f directions side by side. All in coordinates measured by mass (blocks.weigh); see null_space.py.
"""

from __future__ import annotations

from madi.kernel import HUGE, inline, kernel, sqrt, view1
from madi.loops.blocks import invert, project
from madi.loops.dense import straighten
from madi.loops.fields import Work

ORTHONORMAL, MOST_TURNS = 1e-7, 60  # error of N N^T = 1 whose square is rounding; iterations
BY_PSEUDO_INVERSE, BY_SVD, BY_QR, BY_PARTITION = 1, 2, 3, 4  # LoopOptions.directions


@inline
def of_block(work: Work, a, b, f):
    """The directions of block b in `a`."""
    plan = work.blocks
    return view1(a, plan.directions[b], (plan.first[b + 1] - plan.first[b]) * f)


@kernel
def freest(work: Work, b):
    """The column of block b of which most is left in the diagonal of the projector, among its unknowns."""
    plan, left = work.blocks, work.block_inverse
    best, most = -1, -HUGE
    for k in range(plan.first[b], plan.first[b + 1]):
        if plan.element[k] >= 0 and (best < 0 or left[k] > most):
            best, most = k, left[k]
    return best


@kernel
def pick(work: Work, b, f):
    """work.null: an orthonormal basis of the null space, P2's: of the projector's columns the longest that is left,
    normalised and taken out of the others, again and again. (The projector is its own square: what is left of a column has
    the square of its length on the diagonal, so that only the columns chosen are computed: a Cholesky factorisation with
    pivoting.) work.basis: the same; of `partition` the coordinates chosen."""
    plan, left, x = work.blocks, work.block_inverse, work.motion
    begin, end = plan.first[b], plan.first[b + 1]
    N, T = of_block(work, work.null, b, f), of_block(work, work.basis, b, f)
    for j in range((end - begin) * f):
        T[j] = 0.0
    invert(work, b)
    for i in range(f):
        best = freest(work, b)
        for k in range(begin, end):
            x[k] = 1.0 if k == best else 0.0
        project(work, b, x, begin, 1)
        length = take_out(work, b, N, f, i)
        for k in range(begin, end):
            N[(k - begin) * f + i] = x[k] / length
            left[k] = left[k] - (x[k] / length) * (x[k] / length)
        left[best] = -HUGE
        if work.options.directions == BY_PARTITION:
            T[(best - begin) * f + i] = 1.0
    if work.options.directions != BY_PARTITION:
        for j in range((end - begin) * f):
            T[j] = N[j]


@kernel
def take_out(work: Work, b, N, f, i):
    """work.motion less its part along the first i directions, twice; returns its length."""
    plan, x = work.blocks, work.motion
    begin, end = plan.first[b], plan.first[b + 1]
    square = 0.0
    for _ in range(2):
        for j in range(i):
            y = 0.0
            for k in range(begin, end):
                y += N[(k - begin) * f + j] * x[k]
            for k in range(begin, end):
                x[k] = x[k] - y * N[(k - begin) * f + j]
        square = 0.0
        for k in range(begin, end):
            square += x[k] * x[k]
    return sqrt(square)


@kernel
def turn(work: Work, b, f, enough):
    """T <- N made orthonormal by turning it as little as can be: the orthonormal basis of the null space nearest to the old
    directions is the polar factor of their projections. Iterated until the error of N N^T = 1 was below `enough`, which
    leaves its square; False, and T as it was, where that cannot be done."""
    T, N = of_block(work, work.basis, b, f), of_block(work, work.null, b, f)
    plan = work.blocks
    n, gram, worst = plan.first[b + 1] - plan.first[b], view1(work.gram, plan.square[b], f * f), 0.0
    for _ in range(MOST_TURNS):
        worst = straighten(N, gram, work.motion, f, n)
        if worst < enough:
            break
    if not worst < enough:
        return False
    for j in range(n * f):
        work.tally.largest_turn = max(work.tally.largest_turn, abs(T[j] - N[j]))
        T[j] = N[j]
    return True
