"""What is known of a column of the equations of motion: `model.drive[c]` is a signal that prescribes it, or one of these."""

from __future__ import annotations

from madi.joints.fields import Arrays
from madi.kernel import inline

FREE_COLUMN, LOCKED = -1, -2


@inline
def is_free(model: Arrays, c):
    """Whether column c is solved for."""
    return model.drive[c] == FREE_COLUMN


@inline
def is_driven(model: Arrays, c):
    """Whether a signal prescribes position, rate and acceleration of column c."""
    return model.drive[c] >= 0
