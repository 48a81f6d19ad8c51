"""What the recursions read of a model beside what bodies do (see joints/fields.py)."""

from __future__ import annotations

from madi.bodies.fields import Arrays as BodyArrays
from madi.bodies.fields import Work as BodyWork
from madi.kernel.fields import Ints, ints

__all__ = ["Arrays", "Work"]


class Arrays(BodyArrays):
    """Paths through the tree."""

    last: Ints = ints("n")  # last body of the subtree, which is i..last[i]
    column_parent: Ints = ints("nv")  # previous column on the path to the base, -1 at its end
    free_column_parent: Ints = ints(
        "nv"
    )  # the same over columns that are solved for: those that follow a drive or are locked left out
    free_motion_parent: Ints = ints("nb")  # previous unit motion on the path whose column is solved for, -1 at its end


class Work(BodyWork):
    """What bodies write is all."""
