"""P0's projection: after a step, position, velocity and acceleration with ONE factored coefficient matrix.

    position:      min 1/2 dq^T M dq   subject to  Phi(q) = 0,
    velocity:      min 1/2 dv^T M dv   subject to  Phi_q (v + dv) = -Phi_t,
    acceleration:  M qdd + Phi_q^T lam = P,  Phi_q qdd = gamma,

each by quasi-Newton steps (dq, mu) = K^-1 (0, -Phi) and so on (closing.py), K the matrix that happens to be factored. For
the acceleration it is factored at once where that is no more expensive than the steps it saves (CHEAP). Numbers are judged
here, so this kernel is not traced.

docs/references.md: [P0], [Bayo, Ledesma 1996].
"""

from __future__ import annotations

from madi.constraints.fields import REGULARISATION
from madi.kernel import kernel
from madi.loops.closing import LEAST_ACCELERATION, MOST_ITERATIONS, SLOW, closing, composite_masses
from madi.loops.fields import Arrays, Work
from madi.loops.kkt import (
    DEPENDENT_PIVOT,
    EPSILON,
    factorise,
    residual,
    right_hand_side,
    scatter_solution,
    solve,
    update_verdict,
)

NEXT_TINY, ACCELERATION_GOOD = 1e-14, 1e-11  # of the largest: the correction to come; one that no longer falls
CHEAP = 6  # products of a factorisation against those of a solution


@kernel
def refactor(model: Arrays, work: Work):
    """Coefficients and factor at the configuration in work; its rows are evaluated."""
    composite_masses(model, work)
    factorise(model, work, 0.0)
    work.factor_valid = 1


@kernel
def step_for(model: Arrays, work: Work, force, wanted):
    """work.unknown = K^-1 (force, -wanted); without force the least motion, by mass, that changes the rows by -wanted."""
    x = work.unknown
    for k in range(model.nu):
        x[k] = 0.0
    for c in range(model.nv):
        if model.column_place[c] >= 0:
            x[model.column_place[c]] = force[c]
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            x[model.row_place[r]] = -wanted[r]
    solve(model, work.factor, x)


@kernel
def close_accelerations(model: Arrays, work: Work):
    """qdd, lam by quasi-Newton with the factor at hand; coefficients and right-hand sides are in work.

    A correction against the one before it tells what the next would be; that one must not matter any more.
    """
    x, y = work.unknown, work.correction
    # where a factorisation costs no more than the steps it saves (small or very sparse systems), it is made at once
    fresh = work.factor_valid == 0 or model.nx <= CHEAP * (model.nl + model.nu)
    if fresh:
        factorise(model, work, 0.0)
        work.factor_valid = 1
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    last = 0.0
    for _ in range(MOST_ITERATIONS):
        residual(model, work, x, y, 1)
        solve(model, work.factor, y)
        size, scale = 0.0, LEAST_ACCELERATION
        for c in range(model.nv):
            p = model.column_place[c]
            if p >= 0:
                x[p] = x[p] + y[p]
                scale = max(scale, abs(x[p]))
                if not abs(y[p]) <= size:
                    size = abs(y[p])
        for r in range(model.nr):
            p = model.row_place[r]
            if p >= 0:
                x[p] = x[p] + y[p]
        work.tally.acceleration_steps += 1
        if last == 0.0:
            last = scale
        if size * size <= NEXT_TINY * scale * last:
            break
        if not size < SLOW * last:
            if size <= ACCELERATION_GOOD * scale:
                break
            if not fresh:
                factorise(model, work, 0.0)
                work.factor_valid = 1
                right_hand_side(model, work, x)
                solve(model, work.factor, x)
                fresh = True
                last = 0.0
                continue
        last = size
    scatter_solution(model, work, x)


@kernel
def look_at_pivots(model: Arrays, work: Work):
    """How near the rows are to losing their independence: the smallest pivot, against what rows usually have."""
    dependent, near = 0, 1.0
    for r in range(model.nr):
        p = model.row_place[r]
        if p >= 0:
            ratio = -EPSILON / (work.factor[p] * model.row_value[r, REGULARISATION])
            if ratio < DEPENDENT_PIVOT:
                dependent += 1
            elif ratio < near:
                near = ratio
    update_verdict(work.tally, dependent, near)


@kernel
def finish(model: Arrays, work: Work):
    """Accelerations of the closed state; what the pivots say."""
    close_accelerations(model, work)
    look_at_pivots(model, work)


close = closing(refactor, step_for, finish)
