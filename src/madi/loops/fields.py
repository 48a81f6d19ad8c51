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


class BlockPlan(Factored):
    """The blocks of Phi_q, rows and free columns that nothing ties to others, as null-space methods see them
    (topology/blocks.py lists them, blocks.py works with them); empty in a scratch that nobody asks for them. *Unknowns* are
    here columns and rows of [[1, J^T], [J, -eps]], block by block, each block in its order of elimination."""

    n_blocks: int = size()
    first: Ints = ints("n_blocks+1")  # of each block its first unknown,
    product: Ints = ints("n_blocks+1")  # the first product of its factorisation,
    directions: Ints = ints("n_blocks+1")  # and where T and N begin, as many directions as columns at most,
    square: Ints = ints("n_blocks+1")  # and products of directions
    element: Ints = ints("nu")  # column, or -1 - row, each unknown is
    column_at: Ints = ints("nv")  # and back: -1 where it is driven
    row_at: Ints = ints("nr")  # -1: the row vanishes identically
    j_at: Ints = ints("nj")  # of each entry of Phi_q its place in the factor


class Work(SignalWork, LoopMemory):
    """The loop equations, and what null-space methods make of them (null_space.py)."""

    options: LoopOptions = part(LoopOptions)
    tally: LoopTally = part(LoopTally)
    m_value: Reals = reals("nm")  # entries of M
    j_value: Reals = reals("nj")  # entries of Phi_q
    factor: Reals = reals("nu+nl")  # diagonal, then what is below it
    unknown: Reals = reals("nu")
    correction: Reals = reals("nu")
    row_scale: Reals = reals("nr")  # null-space methods: what rows and columns are measured by
    column_scale: Reals = reals("nv")
    blocks: BlockPlan = part(BlockPlan)
    j_scaled: Reals = reals("nj")  # entries of Phi_q, measured so: J
    block_factor: Reals = reals("block_entries")  # of [[1, J^T], [J, -eps]]
    block_inverse: Reals = reals("block_entries")  # entries of its inverse, where the factor has some
    block_epsilon: Reals = reals("n_blocks")
    block_freedoms: Reals = reals("n_blocks")  # how many directions each block has
    block_reference: Reals = reals("n_blocks")  # condition number at which they were chosen
    basis: Reals = reals("block_directions")  # T: directions that stay independent, side by side, block by block
    null: Reals = reals("block_directions")  # the same projected: a basis of the null space
    gram: Reals = reals("block_squares")  # their products with each other, factored
    motion: Reals = reals("block_unknowns")  # vectors on the way
    short: Reals = reals("block_unknowns")
    rest: Reals = reals("block_unknowns")
