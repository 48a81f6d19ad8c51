"""What implicit methods solve in every step: residual, Jacobian, sparse factorisation without pivoting.

    [ c_a dR/dqdd + c_v dR/dqd + c_q dR/dq    dR/dlam ] (d, dlam) = -(R, Phi' / c_v - eps lam)
    [ Phi_q + (c_q / c_v) dPhi'/dq              -eps    ]

d is the change of the accelerations an implicit method solves for, c_a, c_v and c_q what it moves qdd, qd and q by. The
values come block by block (symbolic/jacobian.py); a `Plan` says where each goes in the factor. The rule of elimination and
the regularisation are those of the loop equations (topology/pattern.py, loops/kkt.py), for a graph of its own: driven
columns are unknowns too, and forces couple columns that M does not. So places are known beforehand and redundant rows do
no harm. The matrix is not symmetric: below the diagonal stands L, above it U, in one pattern. Of deep trees entries are
never made: newton_tree.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.constraints.fields import REGULARISATION
from madi.equations.fields import Arrays
from madi.integrate.memory import Memory
from madi.integrate.newton_full import factorise_full, factorise_full_complex, solve_full, solve_full_complex
from madi.integrate.newton_tree import (
    NARROW,
    WIDE,
    assemble_tree,
    factor_length,
    factorise_tree,
    solve_tree,
    times_tree,
)
from madi.integrate.newton_tree_complex import assemble_tree_complex, factorise_tree_complex, solve_tree_complex
from madi.kernel import call, kernel, present, view1
from madi.kernel.fields import Fields, Ints, Reals, function, integer, ints, part, reals, size
from madi.topology.pattern import Unsymmetric
from madi.topology.slopes import TreeValues

PARTS = 6
PART_QDD, PART_QD, PART_Q, PART_LAM, PART_PHI, PART_RATE = range(PARTS)
DIFFERENCE = 1e-5  # m, rad, m/s, rad/s: of central differences by q and qd; R is linear in the rest


class Plan(Fields):
    """Where the entries of the blocks go, and how the matrix is factored."""

    nu: int = size()  # unknowns
    ns: int = size()  # those that are eliminated by lists, the first
    nd: int = size()  # the others, a full block
    nl: int = size()  # entries below the diagonal in the columns of the first
    nx: int = size()  # their products
    n_factor: int = size()  # numbers of the factor
    n_entries: int = size()  # values: entries of the six blocks together, or what newton_tree.py takes
    n_placed: int = size()  # of them those that have a place in the factor
    # of a tree that is eliminated without its entries (newton_tree.py):
    width: int = size()  # numbers of its state, 0: by entries
    n_own: int = size()  # entries of the squares of all joints' own columns
    n_bodies: int = size()
    load: Ints = ints("n_bodies")  # what ties each to the ground, -1: nothing
    entries: Ints = ints(str(PARTS))  # of each block
    first: Ints = ints("ns+1")  # entries below the diagonal of each unknown's column
    index: Ints = ints("nl")
    target: Ints = ints("nx")  # where each product goes, below the diagonal and above it
    mirror: Ints = ints("nx")
    place: Ints = ints("n_placed")  # of every entry in the factor, -1: none
    row: Ints = ints("n_placed")  # and in its block
    column: Ints = ints("n_placed")
    unknown: Ints = ints("nv+nr")  # of every column and row, -1: none
    diagonal: Ints = ints("nu")  # where their diagonal entries are


class BlockMemory(Fields):
    """What blocks are made in."""

    model: Arrays = part(Arrays)
    residual: Any = function()
    blocks: Any = function()  # of its Jacobian; ABSENT: by differences
    entries: Reals = reals("n_entries")  # of the blocks
    # (theta, qdd, lam, held values), and behind it (generated C takes them together) c_a, c_v, c_q
    trial: Reals = reals("2*nv+nr+n_held")
    coefficients: Reals = reals("3")
    balance: Reals = reals("nv+2*nr")  # (R, Phi, Phi') there
    ahead: Reals = reals("nv+2*nr")
    behind: Reals = reals("nv+2*nr")


class ImplicitMemory(Memory, BlockMemory):
    """Memory of a method that solves with the Jacobian of the residual."""

    plan: Plan = part(Plan)
    newtons: int = integer()  # iterations made
    jacobians: int = integer()  # matrices made


def make_plan(blocks: Any, arrays: Any) -> Plan:
    """The plan for blocks of this pattern. `arrays`: the model."""
    if isinstance(blocks, TreeValues):
        return make_tree_plan(blocks, arrays)
    nv, nr = int(arrays.nv), int(arrays.nr)
    rows = [r for r in range(nr) if arrays.row_place[r] >= 0]
    rows.sort(key=lambda r: int(arrays.row_place[r]))
    number = np.full(nv + nr, -1)  # among the unknowns, -1: none of them
    number[:nv] = np.arange(nv)[::-1]
    number[nv + np.array(rows, dtype=np.int64)] = nv + np.arange(len(rows))
    i = np.concatenate([part + (nv if block >= PART_PHI else 0) for block, part in enumerate(blocks.rows)])
    j = np.concatenate([part + (nv if block == PART_LAM else 0) for block, part in enumerate(blocks.columns)])
    i, j = number[i], number[j]  # row and column of every entry
    there = (i >= 0) & (j >= 0)
    neighbours: list[set[int]] = [set() for _ in range(nv + len(rows))]
    for a, b in zip(i[there].tolist(), j[there].tolist(), strict=True):
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    factor = Unsymmetric(neighbours, nv)
    sizes = {"n_entries": sum(blocks.sizes), "n_placed": sum(blocks.sizes), "width": 0, "n_own": 0, "n_bodies": 0}
    plan = Plan(factor.sizes() | sizes | {"nv": nv, "nr": nr})
    plan.entries[:] = blocks.sizes
    for name, values in factor.arrays().items():
        getattr(plan, name)[:] = values
    plan.row[:], plan.column[:] = np.concatenate(blocks.rows), np.concatenate(blocks.columns)
    plan.place[:] = -1
    plan.place[there] = factor.places(factor.rank[i[there]], factor.rank[j[there]])
    plan.diagonal[:] = factor.places(np.arange(factor.nu), np.arange(factor.nu))
    plan.unknown[:] = np.where(number >= 0, factor.rank[number], -1)
    return plan


def make_tree_plan(values: TreeValues, arrays: Any) -> Plan:
    """The plan of a tree that is eliminated without its entries."""
    n, nv, width = int(arrays.n), int(arrays.nv), WIDE if values.n_loads else NARROW
    count = factor_length(n, nv, values.n_own, width)
    sizes = {"nu": nv, "nv": nv, "n_factor": count, "n_entries": values.count, "width": width, "n_own": values.n_own}
    plan = Plan(dict.fromkeys(("nr", "ns", "nd", "nl", "nx", "n_placed"), 0) | sizes | {"n_bodies": n})
    plan.load[:], plan.unknown[:] = values.load, np.arange(nv)
    return plan


@kernel
def assemble(model, plan, values, c_a, c_v, c_q, F, rates):
    """The matrix of the module's docstring from the blocks' values; `rates` 0: without dPhi'/dq."""
    if plan.width > 0:
        assemble_tree(model, plan, values, c_a, c_v, c_q, F)
        return
    for k in range(plan.n_factor):
        F[k] = 0.0
    for r in range(model.nr):
        p = plan.unknown[model.nv + r]
        if p >= 0:
            F[plan.diagonal[p]] = -model.row_value[r, REGULARISATION]
    at = 0
    for block in range(PARTS):
        c = 1.0
        if block <= PART_Q:
            c = c_a if block == PART_QDD else c_v if block == PART_QD else c_q
        elif block == PART_RATE:
            if rates == 0:
                continue
            c = c_q / c_v
        for _ in range(plan.entries[block]):
            p = plan.place[at]
            if p >= 0:
                F[p] = F[p] + c * values[at]
            at += 1


@kernel
def factorise(model, plan, F):
    """F becomes its own factor: the inverse diagonal, L by columns, its unit diagonal left out, U by rows; then the same
    of the full block, in its place."""
    if plan.width > 0:
        factorise_tree(model, plan, F)
        return
    ns, nl, first, p = plan.ns, plan.nl, plan.first, 0
    for k in range(ns):
        inverse = 1.0 / F[k]
        F[k] = inverse
        begin, end = ns + first[k], ns + first[k + 1]
        for i in range(begin, end):
            F[i] = F[i] * inverse
        for i in range(begin, end):
            for j in range(i, end):
                t, m = plan.target[p], plan.mirror[p]
                p += 1
                F[t] = F[t] - F[j] * F[nl + i]
                if i != j:  # entries (j, i) below and (i, j) above the diagonal
                    F[m] = F[m] - F[i] * F[nl + j]
    factorise_full(view1(F, ns + 2 * nl, plan.nd * plan.nd), plan.nd)


@kernel
def solve(model, plan, F, x):
    """x <- the solution for the right-hand side x, in the order of the unknowns."""
    if plan.width > 0:
        solve_tree(model, plan, F, x)
        return
    ns, nl, first, index = plan.ns, plan.nl, plan.first, plan.index
    for k in range(ns):
        y = x[k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            x[j] = x[j] - F[ns + i] * y
    solve_full(view1(F, ns + 2 * nl, plan.nd * plan.nd), plan.nd, view1(x, ns, plan.nd))
    for k in range(ns - 1, -1, -1):
        y = x[k]
        for i in range(first[k], first[k + 1]):
            y = y - F[ns + nl + i] * x[index[i]]
        x[k] = y * F[k]


@kernel
def block_times(model, plan, values, part, F, x, out, n):
    """out (n numbers) = a block times x; F: a factor, whose scratch is used."""
    if plan.width > 0:
        times_tree(model, plan, values, part, F, x, out)
        return
    for i in range(n):
        out[i] = 0.0
    at = 0
    for k in range(part):
        at += plan.entries[k]
    for k in range(at, at + plan.entries[part]):
        i = plan.row[k]
        out[i] = out[i] + values[k] * x[plan.column[k]]


# ---- the same with a complex matrix: real parts first, then imaginary parts ------------------------------------------


@kernel
def assemble_complex(model, plan, values, re, im, F):
    """mu dR/dqdd + dR/dqd + dR/dq / mu and the rows, for mu = re + i im; the rows are not scaled."""
    m = plan.n_factor
    if plan.width > 0:
        assemble_tree_complex(model, plan, values, re, im, view1(F, 0, m), view1(F, m, m))
        return
    square = re * re + im * im
    assemble(model, plan, values, re, 1.0, re / square, F, 0)
    imaginary = view1(F, m, m)
    for k in range(m):
        imaginary[k] = 0.0
    at = 0
    for block in range(PART_LAM):
        c = im if block == PART_QDD else -im / square if block == PART_Q else 0.0
        for _ in range(plan.entries[block]):
            p = plan.place[at]
            if p >= 0:
                imaginary[p] = imaginary[p] + c * values[at]
            at += 1


@kernel
def take_product(F, m, t, i, j):
    """F[t] -= F[i] F[j], complex."""
    a, b, c, d = F[i], F[m + i], F[j], F[m + j]
    F[t] = F[t] - (a * c - b * d)
    F[m + t] = F[m + t] - (a * d + b * c)


@kernel
def factorise_complex(model, plan, F):
    """As `factorise`."""
    ns, nl, p = plan.ns, plan.nl, 0
    m, first = plan.n_factor, plan.first
    if plan.width > 0:
        factorise_tree_complex(model, plan, view1(F, 0, m), view1(F, m, m))
        return
    for k in range(ns):
        square = F[k] * F[k] + F[m + k] * F[m + k]
        re, im = F[k] / square, -F[m + k] / square
        F[k], F[m + k] = re, im
        begin, end = ns + first[k], ns + first[k + 1]
        for i in range(begin, end):
            a, b = F[i], F[m + i]
            F[i], F[m + i] = a * re - b * im, a * im + b * re
        for i in range(begin, end):
            for j in range(i, end):
                take_product(F, m, plan.target[p], j, nl + i)
                if i != j:
                    take_product(F, m, plan.mirror[p], i, nl + j)
                p += 1
    size, at = plan.nd * plan.nd, ns + 2 * nl
    factorise_full_complex(view1(F, at, size), view1(F, m + at, size), plan.nd)


@kernel
def solve_complex(model, plan, F, x):
    """As `solve`; x: real parts of all unknowns, then imaginary parts."""
    nu, ns, nl, nd = plan.nu, plan.ns, plan.nl, plan.nd
    m, first, index = plan.n_factor, plan.first, plan.index
    if plan.width > 0:
        solve_tree_complex(model, plan, view1(F, 0, m), view1(F, m, m), view1(x, 0, nu), view1(x, nu, nu))
        return
    for k in range(ns):
        c, d = x[k], x[nu + k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            a, b = F[ns + i], F[m + ns + i]
            x[j], x[nu + j] = x[j] - (a * c - b * d), x[nu + j] - (a * d + b * c)
    at = ns + 2 * nl
    solve_full_complex(view1(F, at, nd * nd), view1(F, m + at, nd * nd), nd, view1(x, ns, nd), view1(x, nu + ns, nd))
    for k in range(ns - 1, -1, -1):
        re, im = x[k], x[nu + k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            a, b, c, d = F[ns + nl + i], F[m + ns + nl + i], x[j], x[nu + j]
            re, im = re - (a * c - b * d), im - (a * d + b * c)
        x[k], x[nu + k] = re * F[k] - im * F[m + k], re * F[m + k] + im * F[k]


# ---- right-hand sides, and where the blocks come from ---------------------------------------------------------------


@kernel
def hold_trial(m: ImplicitMemory):
    """Held values of the trial state."""
    at = 2 * m.model.nv + m.model.nr
    for k in range(m.model.n_held):
        m.trial[at + k] = m.applied[m.model.nv + k]


@kernel
def right_side(model, plan, balance, scale, lam, y):
    """y = -(R, scale Phi' - eps lam) in the order of the unknowns, from what `residual` gave."""
    nv, nr = model.nv, model.nr
    place = plan.unknown
    for c in range(nv):
        y[place[c]] = -balance[c]
    for r in range(nr):
        p = place[nv + r]
        if p >= 0:
            y[p] = -scale * balance[nv + nr + r] + model.row_value[r, REGULARISATION] * lam[r]


@kernel
def rows_side(model, plan, balance, at, y):
    """y = -(0, Phi) for at = nv, -(0, Phi') for at = nv + nr."""
    nv = model.nv
    place = plan.unknown
    for c in range(nv):
        y[place[c]] = 0.0
    for r in range(model.nr):
        p = place[nv + r]
        if p >= 0:
            y[p] = -balance[at + r]


@kernel
def blocks_at(m: BlockMemory, t, q, v):
    """The blocks' values at the trial state from q: exact where there is a trace, else by differences."""
    if present(m.blocks):
        call(m.blocks, t, q, v, m.trial, m.entries)
    else:
        differences(m, t, q, v)


@kernel
def differences(m: BlockMemory, t, q, v):
    """The blocks, full, by central differences: where the model cannot be traced."""
    nv, nr = m.model.nv, m.model.nr
    for c in range(nv):
        difference(m, t, q, v, v, c, DIFFERENCE, PART_QD, c)
        difference(m, t, q, v, m.trial, c, DIFFERENCE, PART_Q, c)
        difference(m, t, q, v, m.trial, nv + c, 1.0, PART_QDD, c)
    for r in range(nr):
        difference(m, t, q, v, m.trial, 2 * nv + r, 1.0, PART_LAM, r)


@kernel
def difference(m: BlockMemory, t, q, v, x, place, step, part, c):
    """Column c of a block, and of those of Phi' beside it: by x[place], of the trial state or of the speeds v."""
    nv, nr = m.model.nv, m.model.nr
    kept = x[place]
    x[place] = kept + step
    call(m.residual, t, q, v, m.trial, m.ahead)
    x[place] = kept - step
    call(m.residual, t, q, v, m.trial, m.behind)
    x[place] = kept
    for i in range(nv):
        at = 3 * nv * nv + c * nv + i if part == PART_LAM else part * nv * nv + i * nv + c
        m.entries[at] = (m.ahead[i] - m.behind[i]) / (2.0 * step)
    if part in (PART_QD, PART_Q):  # Phi_q, then dPhi'/dq
        at = 3 * nv * nv + (nr if part == PART_QD else 2 * nr) * nv + c
        for r in range(nr):
            m.entries[at + r * nv] = (m.ahead[nv + nr + r] - m.behind[nv + nr + r]) / (2.0 * step)
