"""What implicit methods solve in every step: residual, Jacobian, sparse factorisation without pivoting.

    [ c_a dR/dqdd + c_v dR/dqd + c_q dR/dq    dR/dlam ] (d, dlam) = -(R, Phi' / c_v - eps lam)
    [ Phi_q + (c_q / c_v) dPhi'/dq              -eps    ]

The values come block by block (symbolic/jacobian.py); a `plan` of integers says where each goes in the factor. Order and
regularisation are those of the loop equations (topology/pattern.py, loops/kkt.py): columns from the leaves to the root, then
rows, by minimum degree; so places are known beforehand and redundant rows do no harm. The matrix is not symmetric: below the
diagonal stands L, above it U, in one pattern.

    plan = nu, nl, nx, entries of the six blocks, then where these begin: first, index, target, place of every entry,
           unknown of every column and row (-1: none), row and column of every entry in its block
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.kernel import call, kernel, view1

NU, NL, NX, ENTRIES, FIRST, INDEX, TARGET, PLACE, UNKNOWN, ROW, COLUMN = 0, 1, 2, 3, 9, 10, 11, 12, 13, 14, 15
HEAD = 16
PARTS = 6
PART_QDD, PART_QD, PART_Q, PART_LAM, PART_PHI, PART_RATE = range(PARTS)


def make_plan(blocks: Any, arrays: Any) -> np.ndarray:
    """The plan for blocks of this pattern. `arrays`: the model."""
    from madi.topology.pattern import Factor

    nv, nr = int(arrays.nv), int(arrays.nr)
    rows = [r for r in range(nr) if arrays.row_place[r] >= 0]
    rows.sort(key=lambda r: int(arrays.row_place[r]))
    number = {c: k for k, c in enumerate(reversed(range(nv)))} | {nv + r: nv + k for k, r in enumerate(rows)}
    ends = []  # (row, column) of every entry as unknowns, -1 where one is none
    for part, (i, j) in enumerate(zip(blocks.rows, blocks.columns, strict=True)):
        i, j = i + (nv if part >= PART_PHI else 0), j + (nv if part == PART_LAM else 0)
        ends += [(number.get(int(a), -1), number.get(int(b), -1)) for a, b in zip(i, j, strict=True)]
    neighbours: list[set[int]] = [set() for _ in range(nv + len(rows))]
    for a, b in ends:
        if a >= 0 and b >= 0 and a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    factor = Factor(neighbours, nv)
    sizes, parts = factor.sizes(), factor.arrays()
    places = []
    for a, b in ends:
        if a < 0 or b < 0:
            places.append(-1)
            continue
        row, column = int(factor.rank[a]), int(factor.rank[b])
        places.append(factor.position(row, column) + (sizes["nl"] if row < column else 0))
    unknown = [int(factor.rank[number[c]]) if c in number else -1 for c in range(nv + nr)]
    lists = [parts["l_first"], parts["l_index"], parts["l_target"], np.array(places, dtype=np.int64), np.array(unknown),
             np.concatenate(blocks.rows), np.concatenate(blocks.columns)]  # fmt: skip
    begins = HEAD + np.concatenate([[0], np.cumsum([len(item) for item in lists])[:-1]])
    head = [sizes["nu"], sizes["nl"], sizes["nx"], *blocks.sizes, *begins]
    return np.concatenate([head, *lists]).astype(np.int64)


def factor_length(plan: np.ndarray) -> int:
    """Numbers of a factor."""
    return int(plan[NU] + 2 * plan[NL])


def value_length(plan: np.ndarray) -> int:
    """Entries of the six blocks."""
    return int(np.sum(plan[ENTRIES : ENTRIES + PARTS]))


@kernel
def assemble(model, plan, values, c_a, c_v, c_q, F, rates):
    """The matrix on top from the blocks' values; `rates` 0: without dPhi'/dq."""
    nu, nl = plan[NU], plan[NL]
    for k in range(nu + 2 * nl):
        F[k] = 0.0
    for r in range(model.nr):
        p = plan[plan[UNKNOWN] + model.nv + r]
        if p >= 0:
            F[p] = -model.row_value[r, 2]
    at = 0
    for part in range(PARTS):
        c = 1.0
        if part <= PART_Q:
            c = c_a if part == PART_QDD else c_v if part == PART_QD else c_q
        elif part == PART_RATE:
            if rates == 0:
                continue
            c = c_q / c_v
        for _ in range(plan[ENTRIES + part]):
            p = plan[plan[PLACE] + at]
            if p >= 0:
                F[p] = F[p] + c * values[at]
            at += 1


@kernel
def factorise(plan, F):
    """F becomes L (unit diagonal left out), the inverse diagonal and U."""
    nu, nl, p = plan[NU], plan[NL], plan[TARGET]
    first = plan[FIRST]
    for k in range(nu):
        inverse = 1.0 / F[k]
        F[k] = inverse
        begin, end = nu + plan[first + k], nu + plan[first + k + 1]
        for i in range(begin, end):
            F[i] = F[i] * inverse
        for i in range(begin, end):
            for j in range(i, end):
                t = plan[p]
                p += 1
                if i == j:
                    F[t] = F[t] - F[i] * F[nl + i]
                else:  # entries (j, i) below and (i, j) above the diagonal
                    F[t] = F[t] - F[j] * F[nl + i]
                    F[nl + t] = F[nl + t] - F[i] * F[nl + j]


@kernel
def solve(plan, F, x):
    """x <- the solution for the right-hand side x, in the order of the unknowns."""
    nu, nl = plan[NU], plan[NL]
    first, index = plan[FIRST], plan[INDEX]
    for k in range(nu):
        y = x[k]
        for i in range(plan[first + k], plan[first + k + 1]):
            j = plan[index + i]
            x[j] = x[j] - F[nu + i] * y
    for k in range(nu - 1, -1, -1):
        y = x[k]
        for i in range(plan[first + k], plan[first + k + 1]):
            y = y - F[nu + nl + i] * x[plan[index + i]]
        x[k] = y * F[k]


@kernel
def block_times(plan, values, part, x, out, n):
    """out (n numbers) = a block times x."""
    for i in range(n):
        out[i] = 0.0
    at = 0
    for k in range(part):
        at += plan[ENTRIES + k]
    for k in range(at, at + plan[ENTRIES + part]):
        i = plan[plan[ROW] + k]
        out[i] = out[i] + values[k] * x[plan[plan[COLUMN] + k]]


# ---- the same with a complex matrix: real parts first, then imaginary parts ------------------------------------------


@kernel
def assemble_complex(model, plan, values, re, im, F):
    """mu dR/dqdd + dR/dqd + dR/dq / mu and the rows, for mu = re + i im; the rows are not scaled."""
    m = plan[NU] + 2 * plan[NL]
    square = re * re + im * im
    assemble(model, plan, values, re, 1.0, re / square, F, 0)
    imaginary = view1(F, m, m)
    for k in range(m):
        imaginary[k] = 0.0
    at = 0
    for part in range(PART_LAM):
        c = im if part == PART_QDD else -im / square if part == PART_Q else 0.0
        for _ in range(plan[ENTRIES + part]):
            p = plan[plan[PLACE] + at]
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
    nu, nl, p = plan[NU], plan[NL], plan[TARGET]
    m, first = nu + 2 * nl, plan[FIRST]
    for k in range(nu):
        square = F[k] * F[k] + F[m + k] * F[m + k]
        re, im = F[k] / square, -F[m + k] / square
        F[k], F[m + k] = re, im
        begin, end = nu + plan[first + k], nu + plan[first + k + 1]
        for i in range(begin, end):
            a, b = F[i], F[m + i]
            F[i], F[m + i] = a * re - b * im, a * im + b * re
        for i in range(begin, end):
            for j in range(i, end):
                t = plan[p]
                p += 1
                if i == j:
                    take_product(F, m, t, i, nl + i)
                else:
                    take_product(F, m, t, j, nl + i)
                    take_product(F, m, nl + t, i, nl + j)


@kernel
def solve_complex(plan, F, x):
    """As `solve`; x: real parts of all unknowns, then imaginary parts."""
    nu, nl = plan[NU], plan[NL]
    m, first, index = nu + 2 * nl, plan[FIRST], plan[INDEX]
    for k in range(nu):
        c, d = x[k], x[nu + k]
        for i in range(plan[first + k], plan[first + k + 1]):
            j = plan[index + i]
            a, b = F[nu + i], F[m + nu + i]
            x[j], x[nu + j] = x[j] - (a * c - b * d), x[nu + j] - (a * d + b * c)
    for k in range(nu - 1, -1, -1):
        re, im = x[k], x[nu + k]
        for i in range(plan[first + k], plan[first + k + 1]):
            j = plan[index + i]
            a, b, c, d = F[nu + nl + i], F[m + nu + nl + i], x[j], x[nu + j]
            re, im = re - (a * c - b * d), im - (a * d + b * c)
        x[k], x[nu + k] = re * F[k] - im * F[m + k], re * F[m + k] + im * F[k]


# ---- right-hand sides, and where the blocks come from ---------------------------------------------------------------


@kernel
def right_side(model, plan, out, scale, lam, y):
    """y = -(R, scale Phi' - eps lam) in the order of the unknowns, from what `residual` gave."""
    nv, nr = model.nv, model.nr
    place = plan[UNKNOWN]
    for c in range(nv):
        y[plan[place + c]] = -out[c]
    for r in range(nr):
        p = plan[place + nv + r]
        if p >= 0:
            y[p] = -scale * out[nv + nr + r] + model.row_value[r, 2] * lam[r]


@kernel
def rows_side(model, plan, out, at, y):
    """y = -(0, Phi) for at = nv, -(0, Phi') for at = nv + nr."""
    nv = model.nv
    place = plan[UNKNOWN]
    for c in range(nv):
        y[plan[place + c]] = 0.0
    for r in range(model.nr):
        p = plan[place + nv + r]
        if p >= 0:
            y[p] = -out[at + r]


@kernel
def differences(residual, context, model, t, q, v, x, values, scratch):
    """The blocks, full, by central differences: where the model cannot be traced. scratch: 2 (nv + 2 nr) numbers."""
    nv, nr = model.nv, model.nr
    m = nv + 2 * nr
    ahead, behind = view1(scratch, 0, m), view1(scratch, m, m)
    for part in range(4):
        n = nr if part == PART_LAM else nv
        begin = nv if part == PART_QDD else 2 * nv if part == PART_LAM else 0
        for c in range(n):
            step = 1.0 if part in (PART_QDD, PART_LAM) else 1e-5
            if part == PART_QD:
                kept = v[c]
                v[c] = kept + step
                call(residual, t, q, v, x, ahead, context)
                v[c] = kept - step
                call(residual, t, q, v, x, behind, context)
                v[c] = kept
            else:
                kept = x[begin + c]
                x[begin + c] = kept + step
                call(residual, t, q, v, x, ahead, context)
                x[begin + c] = kept - step
                call(residual, t, q, v, x, behind, context)
                x[begin + c] = kept
            for i in range(nv):
                change = (ahead[i] - behind[i]) / (2.0 * step)
                if part == PART_LAM:
                    values[3 * nv * nv + c * nv + i] = change
                else:
                    values[part * nv * nv + i * nv + c] = change
            if part in (PART_QD, PART_Q):  # Phi_q, then dPhi'/dq
                at = 3 * nv * nv + (nr if part == PART_QD else 2 * nr) * nv
                for r in range(nr):
                    values[at + r * nv + c] = (ahead[nv + nr + r] - behind[nv + nr + r]) / (2.0 * step)


@kernel
def blocks_at(calls, model, t, q, v, x, values, scratch):
    """The blocks' values: exact where there is a trace, else by differences."""
    residual, residual_context, parts, parts_context = calls
    if parts != 0:
        call(parts, t, q, v, x, values, parts_context)
    else:
        differences(residual, residual_context, model, t, q, v, x, values, scratch)
