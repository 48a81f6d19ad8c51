"""The loop equations, sparse: [[M, Phi_q^T], [Phi_q, -eps]] (qdd, lam) = (P, gamma), factored as L D L^T without pivoting.

The small negative block makes the matrix quasi-definite: every pivot exists, whether rows are redundant or not, and where a
mechanism passes a singular position. A few proximal steps, lam <- lam + (solution for the residual gamma - Phi_q qdd), take
eps out of the answer; along redundant directions they stay at the multipliers of least lam^T eps lam. eps is relative to
each row's own 1/(effective mass), see topology/settle.py. Places and order are fixed beforehand by topology/pattern.py.

docs/references.md: [Vanderbei 1995], [Rockafellar 1976], [Carpentier, Budhiraja, Mansard 2021].
"""

from __future__ import annotations

from madi.bodies import added_inertia, mass_entry
from madi.constraints.dispatch import jacobian_entry
from madi.constraints.fields import REGULARISATION
from madi.kernel import inline, kernel
from madi.loops.fields import Arrays, Factored, Work
from madi.spatial.vector import dot, six

EPSILON = 1e-10  # regularisation of a row against what its diagonal usually is
PROXIMAL = 1  # steps after the first solution; each gains the factor eps on a regular mechanism
NEARLY_SINGULAR = 2e-3  # pivot ratio below which the rows are no longer safely independent
DEPENDENT_PIVOT = 1e-7  # pivot ratio below which a row depends on others: eps and rounding are all that is left


@kernel
def update_verdict(tally, dependent, near):
    """What the pivots say: how many rows depend on others, and how near the others are to it. Where more depend on others
    than at other times, the mechanism is in a singular position."""
    if tally.fewest_dependent == 0 or dependent + 1 < tally.fewest_dependent:
        tally.fewest_dependent = dependent + 1
    if dependent + 1 > tally.fewest_dependent:
        near = 0.0
    tally.dependent = dependent
    tally.independence = near
    tally.lowest = min(tally.lowest, near)
    tally.close_stages = 1 if dependent > 0 or near < NEARLY_SINGULAR else 0


@kernel
def coefficients(model: Arrays, work: Work):
    """M and Phi_q, entry by entry; composites, columns and rows are in work."""
    for k in range(model.nm):
        if model.n_other == 0:
            work.m_value[k] = dot(six(work.B, model.m_column[k]), six(work.U, model.m_row[k]))
        else:
            work.m_value[k] = mass_entry(model, work, model.m_row[k], model.m_motion[k])
        if model.m_row[k] == model.m_column[k]:
            work.m_value[k] = work.m_value[k] + added_inertia(model, work, model.m_row[k])
    for r in range(model.nr):
        for j in range(model.row_first[r], model.row_first[r + 1]):
            work.j_value[j] = jacobian_entry(model, work, r, j)


@kernel
def factorise(model: Arrays, work: Work, softness):
    """L and D^-1 of the coefficients in work, into work.factor; eps is made larger by `softness` (augmented Lagrangian)."""
    F, nu = work.factor, model.nu
    for k in range(nu + model.nl):
        F[k] = 0.0
    for k in range(model.nm):
        F[model.m_place[k]] = work.m_value[k]
    for r in range(model.nr):
        p = model.row_place[r]
        if p >= 0:
            F[p] = -model.row_value[r, REGULARISATION] * (1.0 + softness)
            for j in range(model.row_first[r], model.row_first[r + 1]):
                F[model.j_place[j]] = work.j_value[j]
    eliminate(model, F)
    work.tally.factorisations += 1


@kernel
def eliminate(model: Factored, F):
    """F, a matrix in the pattern of `model`, becomes its own L and D^-1: a list of products, their places known."""
    p, nu = 0, model.nu
    for k in range(nu):
        inverse = 1.0 / F[k]
        F[k] = inverse
        first, end = nu + model.l_first[k], nu + model.l_first[k + 1]
        for i in range(first, end):
            x = F[i] * inverse
            for j in range(i, end):
                t = model.l_target[p]
                F[t] = F[t] - x * F[j]
                p += 1
        for i in range(first, end):
            F[i] = F[i] * inverse


@kernel
def solve(model: Factored, F, x):
    """x <- (L D L^T)^-1 x."""
    nu = model.nu
    first, index = model.l_first, model.l_index
    for k in range(nu):
        y = x[k]
        for i in range(first[k], first[k + 1]):
            x[index[i]] = x[index[i]] - F[nu + i] * y
    for k in range(nu - 1, -1, -1):
        y = x[k] * F[k]
        for i in range(first[k], first[k + 1]):
            y = y - F[nu + i] * x[index[i]]
        x[k] = y


@inline
def row_target(work: Work, r):
    """gamma of row r, with Baumgarte's feedback where it is asked for."""
    return work.gamma[r] - work.options.feedback_rate * work.rate[r] - work.options.feedback_position * work.phi[r]


@inline
def right_hand_side(model: Arrays, work: Work, x):
    """x = (P, gamma)."""
    for c in range(model.nv):
        if model.column_place[c] >= 0:
            x[model.column_place[c]] = work.P[c]
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            x[model.row_place[r]] = row_target(work, r)


@kernel
def residual(model: Arrays, work: Work, x, out, columns):
    """out = (P, gamma) - K x, with the coefficients in work; the columns' part only where asked for, else zero."""
    right_hand_side(model, work, out)
    for c in range(model.nv):
        if columns == 0 and model.column_place[c] >= 0:
            out[model.column_place[c]] = 0.0
    for r in range(model.nr):
        p = model.row_place[r]
        if p >= 0:
            for j in range(model.row_first[r], model.row_first[r + 1]):
                c = model.column_place[model.j_column[j]]
                out[p] = out[p] - work.j_value[j] * x[c]
                if columns == 1:
                    out[c] = out[c] - work.j_value[j] * x[p]
    if columns == 1:
        for k in range(model.nm):
            i, j = model.column_place[model.m_row[k]], model.column_place[model.m_column[k]]
            out[i] = out[i] - work.m_value[k] * x[j]
            if i != j:
                out[j] = out[j] - work.m_value[k] * x[i]


@kernel
def accelerate(model: Arrays, work: Work):
    """qdd and lam with the factor of this very state."""
    x, y = work.unknown, work.correction
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    for _ in range(PROXIMAL + work.options.proximal_steps):
        residual(model, work, x, y, 0)
        solve(model, work.factor, y)
        for k in range(model.nu):
            x[k] = x[k] + y[k]
    scatter_solution(model, work, x)


@kernel
def scatter_solution(model: Arrays, work: Work, x):
    """Unknowns to accelerations and multipliers."""
    for c in range(model.nv):
        if model.column_place[c] >= 0:
            work.acceleration[c] = x[model.column_place[c]]
    for r in range(model.nr):
        work.lam[r] = x[model.row_place[r]] if model.row_place[r] >= 0 else 0.0
