"""What the loop equations read of a model and write of an evaluation (see joints/fields.py). *Unknowns* are free columns and
multipliers, in the order of elimination (topology/pattern.py)."""

from __future__ import annotations

from madi.kernel.fields import Fields, Ints, Reals, ints, part, reals, size
from madi.loops.memory import LoopMemory, LoopOptions, LoopTally
from madi.signals.fields import Arrays as SignalArrays
from madi.signals.fields import Work as SignalWork


class Factored(Fields):
    """The factor of a symmetric matrix L D L^T, as a list of products."""

    nu: int = size()  # unknowns
    nl: int = size()  # entries below the diagonal
    nx: int = size()  # multiplications
    l_first: Ints = ints("nu+1")  # entries below the diagonal of each unknown's column
    l_index: Ints = ints("nl")
    l_target: Ints = ints("nx")  # where each product goes


class Arrays(SignalArrays, Factored):
    """Places of all entries of the loop equations in their factor."""

    nm: int = size()  # entries of the mass matrix
    nn: int = size()  # free columns, where there are loops
    row_place: Ints = ints("nr")  # a row's multiplier among the unknowns, -1: the row vanishes identically
    row_first: Ints = ints("nr+1")  # first of its entries in the constraint Jacobian
    column_place: Ints = ints("nv")  # a column among the unknowns, -1 if driven
    column_number: Ints = ints("nv")  # the same among the free columns alone (null-space methods)
    j_place: Ints = ints("nj")  # of each entry its place in the factor
    m_place: Ints = ints("nm")
    m_row: Ints = ints("nm")
    m_column: Ints = ints("nm")
    m_motion: Ints = ints("nm")  # the column as seen from that of m_row


class Work(SignalWork, LoopMemory):
    """The loop equations, and what null-space methods make of them (null_space.py): full matrices, by rows."""

    options: LoopOptions = part(LoopOptions)
    tally: LoopTally = part(LoopTally)
    m_value: Reals = reals("nm")  # entries of M
    j_value: Reals = reals("nj")  # entries of Phi_q
    factor: Reals = reals("nu+nl")  # diagonal, then what is below it
    unknown: Reals = reals("nu")
    correction: Reals = reals("nu")
    row_scale: Reals = reals("nr")  # null-space methods: what rows and columns are measured by
    column_scale: Reals = reals("nn")
    j_scaled: Reals = reals("nj")  # entries of Phi_q and M, measured so
    m_scaled: Reals = reals("nm")
    row_order: Reals = reals("nr")  # rows, the independent ones first
    column_order: Reals = reals("nn")  # order of the columns, or rows, of `square`
    dense: Reals = reals("nr*nn")  # the Jacobian of the independent rows
    spare: Reals = reals("nr*nn")
    square: Reals = reals("nn*nn")  # what range and null space are solved with, factored
    basis: Reals = reals("nn*nn")  # T: directions that stay independent, side by side
    null: Reals = reals("nn*nn")  # N: the basis of the null space made of them
    product: Reals = reals("nn*nn")
    reduced: Reals = reals("nn*nn")  # their mass matrix, N M N^T
    motion: Reals = reals("nn")  # of the free columns, measured by mass
    short: Reals = reals("nn")  # vectors on the way
    rest: Reals = reals("nn")
    force_left: Reals = reals("nn")
