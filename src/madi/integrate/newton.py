"""What implicit methods solve in every step: residual, Jacobian, sparse factorisation without pivoting.

    [ c_a dR/dqdd + c_v dR/dqd + c_q dR/dq    dR/dlam ] (d, dlam) = -(R, Phi' / c_v - eps lam)
    [ Phi_q + (c_q / c_v) dPhi'/dq              -eps    ]

The values come block by block (symbolic/jacobian.py); a `Plan` says where each goes in the factor. Order and
regularisation are those of the loop equations (topology/pattern.py, loops/kkt.py): columns from the leaves to the root, then
rows, by minimum degree; so places are known beforehand and redundant rows do no harm. The matrix is not symmetric: below the
diagonal stands L, above it U, in one pattern.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.constraints.fields import REGULARISATION
from madi.equations.fields import Arrays
from madi.integrate.memory import Memory
from madi.kernel import call, kernel, present, view1
from madi.kernel.fields import Fields, Ints, Reals, function, integer, ints, part, reals, size
from madi.topology.pattern import Factor

PARTS = 6
PART_QDD, PART_QD, PART_Q, PART_LAM, PART_PHI, PART_RATE = range(PARTS)
DIFFERENCE = 1e-5  # m, rad, m/s, rad/s: of central differences by q and qd; R is linear in the rest


class Plan(Fields):
    """Where the entries of the blocks go, and how the matrix is factored."""

    nu: int = size()  # unknowns
    nl: int = size()  # entries below the diagonal of the factor
    nx: int = size()  # products of the factorisation
    n_factor: int = size()  # numbers of the factor: nu + 2 nl
    n_entries: int = size()  # entries of the six blocks together
    entries: Ints = ints(str(PARTS))  # of each block
    first: Ints = ints("nu+1")  # entries below the diagonal of each unknown's column
    index: Ints = ints("nl")
    target: Ints = ints("nx")  # where each product goes
    place: Ints = ints("n_entries")  # of every entry in the factor, -1: none
    row: Ints = ints("n_entries")  # and in its block
    column: Ints = ints("n_entries")
    unknown: Ints = ints("nv+nr")  # of every column and row, -1: none


class BlockMemory(Fields):
    """What blocks are made in."""

    model: Arrays = part(Arrays)
    residual: Any = function()
    blocks: Any = function()  # of its Jacobian; ABSENT: by differences
    entries: Reals = reals("n_entries")  # of the blocks
    trial: Reals = reals("2*nv+nr")  # (theta, qdd, lam), and behind it (generated C takes them together) c_a, c_v, c_q
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
    nv, nr = int(arrays.nv), int(arrays.nr)
    rows = [r for r in range(nr) if arrays.row_place[r] >= 0]
    rows.sort(key=lambda r: int(arrays.row_place[r]))
    number = {c: k for k, c in enumerate(reversed(range(nv)))} | {nv + r: nv + k for k, r in enumerate(rows)}
    ends = []  # (row, column) of every entry as unknowns, -1 where one is none
    for block, (i, j) in enumerate(zip(blocks.rows, blocks.columns, strict=True)):
        i, j = i + (nv if block >= PART_PHI else 0), j + (nv if block == PART_LAM else 0)
        ends += [(number.get(int(a), -1), number.get(int(b), -1)) for a, b in zip(i, j, strict=True)]
    neighbours: list[set[int]] = [set() for _ in range(nv + len(rows))]
    for a, b in ends:
        if a >= 0 and b >= 0 and a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    factor = Factor(neighbours, nv)
    sizes, parts = factor.sizes(), factor.arrays()
    counts = {"n_factor": sizes["nu"] + 2 * sizes["nl"], "n_entries": sum(blocks.sizes), "nv": nv, "nr": nr}
    plan = Plan(sizes | counts)
    plan.entries[:] = blocks.sizes
    plan.first[:], plan.index[:], plan.target[:] = parts["l_first"], parts["l_index"], parts["l_target"]
    plan.row[:], plan.column[:] = np.concatenate(blocks.rows), np.concatenate(blocks.columns)
    for k, (a, b) in enumerate(ends):
        row, column = (int(factor.rank[x]) if x >= 0 else -1 for x in (a, b))
        above = sizes["nl"] if row < column else 0
        plan.place[k] = factor.position(row, column) + above if min(row, column) >= 0 else -1
    plan.unknown[:] = [int(factor.rank[number[c]]) if c in number else -1 for c in range(nv + nr)]
    return plan


@kernel
def assemble(model, plan, values, c_a, c_v, c_q, F, rates):
    """The matrix on top from the blocks' values; `rates` 0: without dPhi'/dq."""
    nu, nl = plan.nu, plan.nl
    for k in range(nu + 2 * nl):
        F[k] = 0.0
    for r in range(model.nr):
        p = plan.unknown[model.nv + r]
        if p >= 0:
            F[p] = -model.row_value[r, REGULARISATION]
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
def factorise(plan, F):
    """F becomes L (unit diagonal left out), the inverse diagonal and U."""
    nu, nl, p = plan.nu, plan.nl, 0
    first = plan.first
    for k in range(nu):
        inverse = 1.0 / F[k]
        F[k] = inverse
        begin, end = nu + first[k], nu + first[k + 1]
        for i in range(begin, end):
            F[i] = F[i] * inverse
        for i in range(begin, end):
            for j in range(i, end):
                t = plan.target[p]
                p += 1
                if i == j:
                    F[t] = F[t] - F[i] * F[nl + i]
                else:  # entries (j, i) below and (i, j) above the diagonal
                    F[t] = F[t] - F[j] * F[nl + i]
                    F[nl + t] = F[nl + t] - F[i] * F[nl + j]


@kernel
def solve(plan, F, x):
    """x <- the solution for the right-hand side x, in the order of the unknowns."""
    nu, nl = plan.nu, plan.nl
    first, index = plan.first, plan.index
    for k in range(nu):
        y = x[k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            x[j] = x[j] - F[nu + i] * y
    for k in range(nu - 1, -1, -1):
        y = x[k]
        for i in range(first[k], first[k + 1]):
            y = y - F[nu + nl + i] * x[index[i]]
        x[k] = y * F[k]


@kernel
def block_times(plan, values, part, x, out, n):
    """out (n numbers) = a block times x."""
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
def factorise_complex(plan, F):
    """As `factorise`."""
    nu, nl, p = plan.nu, plan.nl, 0
    m, first = plan.n_factor, plan.first
    for k in range(nu):
        square = F[k] * F[k] + F[m + k] * F[m + k]
        re, im = F[k] / square, -F[m + k] / square
        F[k], F[m + k] = re, im
        begin, end = nu + first[k], nu + first[k + 1]
        for i in range(begin, end):
            a, b = F[i], F[m + i]
            F[i], F[m + i] = a * re - b * im, a * im + b * re
        for i in range(begin, end):
            for j in range(i, end):
                t = plan.target[p]
                p += 1
                if i == j:
                    take_product(F, m, t, i, nl + i)
                else:
                    take_product(F, m, t, j, nl + i)
                    take_product(F, m, nl + t, i, nl + j)


@kernel
def solve_complex(plan, F, x):
    """As `solve`; x: real parts of all unknowns, then imaginary parts."""
    nu, nl = plan.nu, plan.nl
    m, first, index = plan.n_factor, plan.first, plan.index
    for k in range(nu):
        c, d = x[k], x[nu + k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            a, b = F[nu + i], F[m + nu + i]
            x[j], x[nu + j] = x[j] - (a * c - b * d), x[nu + j] - (a * d + b * c)
    for k in range(nu - 1, -1, -1):
        re, im = x[k], x[nu + k]
        for i in range(first[k], first[k + 1]):
            j = index[i]
            a, b, c, d = F[nu + nl + i], F[m + nu + nl + i], x[j], x[nu + j]
            re, im = re - (a * c - b * d), im - (a * d + b * c)
        x[k], x[nu + k] = re * F[k] - im * F[m + k], re * F[m + k] + im * F[k]


# ---- right-hand sides, and where the blocks come from ---------------------------------------------------------------


@kernel
def right_side(model, plan, out, scale, lam, y):
    """y = -(R, scale Phi' - eps lam) in the order of the unknowns, from what `residual` gave."""
    nv, nr = model.nv, model.nr
    place = plan.unknown
    for c in range(nv):
        y[place[c]] = -out[c]
    for r in range(nr):
        p = place[nv + r]
        if p >= 0:
            y[p] = -scale * out[nv + nr + r] + model.row_value[r, REGULARISATION] * lam[r]


@kernel
def rows_side(model, plan, out, at, y):
    """y = -(0, Phi) for at = nv, -(0, Phi') for at = nv + nr."""
    nv = model.nv
    place = plan.unknown
    for c in range(nv):
        y[place[c]] = 0.0
    for r in range(model.nr):
        p = place[nv + r]
        if p >= 0:
            y[p] = -out[at + r]


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
