"""The turn of frame b about z of frame a is held at an angle, or driven: Phi = angle - wanted, the nearest way round.

The z axes are kept together by other rows of the same joint; then the angle's rate is z . w, and z rests on a. A screw
holds the advance against the turn: Phi = z . (o_b - o_a) - h angle, whole turns apart.
"""

from __future__ import annotations

from madi.constraints.fields import PARAMETER, Arrays, Work
from madi.constraints.kind import RowKind, wanted
from madi.kernel import atan2, floor, kernel, where
from madi.spatial.rotation import TWO_PI
from madi.spatial.vector import NO_VECTOR, axis, cross, dot, join, minus, plus, scaled, second, three, velocity_at

X, Y, Z = range(3)


@kernel
def turn(work: Work):
    """Angle between the x axes about z of frame a, in (-pi, pi]."""
    x = axis(work.pair_E, 1, X)
    return atan2(dot(axis(work.pair_E, 0, Y), x), dot(axis(work.pair_E, 0, X), x))


@kernel
def nearest(x, period):
    """x less the whole periods nearest to it; x itself if there is no period."""
    none = period == 0.0
    turns = floor(x / where(none, 1.0, period) + 0.5)
    return x - where(none, 0.0, period * turns)


@kernel
def angle(model: Arrays, work: Work, r, u, w):
    """(Phi, psi, extra)."""
    return nearest(turn(work) - wanted(model, work, r, 0), TWO_PI), join(NO_VECTOR, axis(work.pair_E, 0, Z)), 0.0


@kernel
def screw(model: Arrays, work: Work, r, u, w):
    """(Phi, psi, extra) for an advance of h per radian."""
    h, z, o = model.row_value[r, PARAMETER], axis(work.pair_E, 0, Z), three(work.pair_o, 1)
    phi = nearest(dot(z, minus(o, three(work.pair_o, 0))) - h * turn(work), TWO_PI * h)
    return phi, join(z, minus(cross(o, z), scaled(h, z))), dot(cross(u, z), w)


@kernel
def angle_swing(model: Arrays, work: Work, r, a, b):
    """Change of psi: z moves with body a."""
    return join(NO_VECTOR, cross(second(a), axis(work.pair_E, 0, Z)))


@kernel
def screw_swing(model: Arrays, work: Work, r, a, b):
    """The same, and o_b moves with b."""
    h, z, o = model.row_value[r, PARAMETER], axis(work.pair_E, 0, Z), three(work.pair_o, 1)
    turn = cross(second(a), z)
    return join(turn, minus(plus(cross(velocity_at(b, o), z), cross(o, turn)), scaled(h, turn)))


ROWS = (
    RowKind("angle", "angle", angle, angle_swing, turn=Z),
    RowKind("screw", "advance of the screw", screw, screw_swing, unit="m", number="pitch"),
)
