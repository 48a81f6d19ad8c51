"""What constraints read of a model and write of an evaluation (see joints/fields.py). *Pairs* are two frames, one on each of
two bodies, that constraints compare; *rows* are scalar constraints."""

from __future__ import annotations

from madi.forces.fields import Arrays as ForceArrays
from madi.forces.fields import Work as ForceWork
from madi.kernel.fields import Ints, Reals, ints, reals, size

PARAMETER, HELD_AT, REGULARISATION = range(3)  # of row_value


class Arrays(ForceArrays):
    """Pairs, rows, and the columns that meet them."""

    nk: int = size()  # pairs
    nr: int = size()  # rows
    nj: int = size()  # entries of the constraint Jacobian
    pair_a: Ints = ints("nk")
    pair_b: Ints = ints("nk")
    row_pair: Ints = ints("nr")  # -1: a row between two columns
    row_kind: Ints = ints("nr")  # its code (RowKind)
    row_signal: Ints = ints("nr")  # what its measure is driven by (position, rate, acceleration), -1 if nothing
    row_a: Ints = ints("nr")  # columns of a coupler
    row_b: Ints = ints("nr")
    j_column: Ints = ints("nj")
    j_sign: Ints = ints("nj")  # +1: the column moves body b of the pair, -1: body a
    j_motion: Ints = ints("nj")
    j_other: Ints = ints("nj")  # unit motion by which the column moves the pair's other body too, -1 if it does not
    pair_C: Reals = reals("2*nk", 3, 3)  # the pair's frames in the internal frames of their bodies: a, b, a, b, ...
    pair_d: Reals = reals("2*nk", 3)
    row_value: Reals = reals("nr", 3)  # its parameter (length, pitch, ratio), what it is held at, its regularisation


class Work(ForceWork):
    """The frames of the pair at hand; of every row what the loop equations need."""

    pair_E: Reals = reals("2", 3, 3)  # axes and origins
    pair_o: Reals = reals("2", 3)
    phi: Reals = reals("nr")  # residual
    rate: Reals = reals("nr")  # its rate
    gamma: Reals = reals("nr")  # Phi_q qdd = gamma
    pace: Reals = reals("nr")  # rate at which its measure is driven
    psi: Reals = reals("nr", 6)  # the force vector of a unit multiplier
    lam: Reals = reals("nr")  # multipliers
