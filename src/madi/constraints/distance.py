"""Two points keep their distance (a massless rod): Phi = (d . d - l^2) / (2 l), d = o_b - o_a.

As a force: along e = d / l through o_b. Seen from a both d and o_b move with u: extra = u . u / l + (u x e) . w.
"""

from __future__ import annotations

import numpy as np

from madi.constraints.fields import PARAMETER, Arrays, Work
from madi.constraints.kind import ConstraintKind, RowKind
from madi.errors import finite_numbers
from madi.kernel import kernel
from madi.spatial.vector import cross, dot, join, minus, plus, scaled, three, velocity_at


@kernel
def row(model: Arrays, work: Work, r, u, w):
    """(Phi, psi, extra)."""
    length, o = model.row_value[r, PARAMETER], three(work.pair_o, 1)
    inverse = 1.0 / length
    e = scaled(inverse, minus(o, three(work.pair_o, 0)))
    phi = 0.5 * length * (dot(e, e) - 1.0)
    return phi, join(e, cross(o, e)), dot(u, u) * inverse + dot(cross(u, e), w)


@kernel
def swing(model: Arrays, work: Work, r, a, b):
    """Change of psi: both ends of e move."""
    inverse, o = 1.0 / model.row_value[r, PARAMETER], three(work.pair_o, 1)
    p = three(work.pair_o, 0)
    e, end = scaled(inverse, minus(o, p)), velocity_at(b, o)
    turn = scaled(inverse, minus(end, velocity_at(a, p)))
    return join(turn, plus(cross(end, e), cross(o, turn)))


def _length(points, parameters):
    """As given, or as drawn."""
    given = parameters["length"]
    return float(np.linalg.norm(points[1] - points[0]) if given is None else given)


def _check(c, points, joints):
    """A rod must have a length."""
    given = c.parameters["length"]
    length = finite_numbers(np.linalg.norm(points[1] - points[0]) if given is None else given)
    if length is None or length.shape != () or length <= 0:
        yield (f"its length {given if given is not None else 0.0!r} is not a number > 0",
               "Give length= in metres; points that coincide are a spherical joint")  # fmt: skip


ROWS = (RowKind("distance", "length", row, swing, unit="m", number="length"),)
CONSTRAINTS = (ConstraintKind("distance", "distance", "distance", _length, rod=True, check=_check),)
