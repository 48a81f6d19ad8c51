"""All that kernels read of a model, and all that an evaluation writes (see joints/fields.py)."""

from __future__ import annotations

from madi.kernel.fields import Reals, reals
from madi.loops.fields import Arrays
from madi.loops.fields import Work as LoopWork

__all__ = ["Arrays", "Work"]


class Work(LoopWork):
    """An evaluation's."""

    moved: Reals = reals("nq")  # coordinates of a trial state of an implicit step
