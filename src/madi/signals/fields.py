"""What signals read of a model and write of an evaluation (see joints/fields.py): users' functions as a tape."""

from __future__ import annotations

from madi.constraints.fields import Arrays as ConstraintArrays
from madi.constraints.fields import Work as ConstraintWork
from madi.kernel.fields import Ints, Reals, ints, reals, size


class Arrays(ConstraintArrays):
    """The tape (tape.py)."""

    nt: int = size()  # instructions
    nd: int = size()  # of these those that belong to drives, the first ones
    nc: int = size()  # functions that stay in Python
    tape_op: Ints = ints("nt")
    tape_a: Ints = ints("nt")
    tape_b: Ints = ints("nt")
    callback: Ints = ints("nc", 3)  # (address, first signal, count) of functions that stay in Python
    tape_constant: Reals = reals("nt")


class Work(ConstraintWork):
    """What the tape computes."""

    tape: Reals = reals("nt")
