"""What force elements between two points share: the line, and a pull along it."""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import add_force_at, point_state, seen_from
from madi.kernel import kernel, sqrt, where
from madi.spatial.vector import NO_DIRECTION, dot, minus, scaled


@kernel
def line(model: Arrays, work: Work, a, b, s):
    """Length, its rate and the unit vector from the point parameter[s:s+3] of body a to that at s + 3 of body b.

    In the tree's own axes if both bodies are in one tree, else in the ground's. At zero length the direction is zero.
    """
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    place_a, velocity_a = point_state(model, work, a, s, common, o)
    place_b, velocity_b = point_state(model, work, b, s + 3, common, o)
    d = minus(place_b, place_a)
    square = dot(d, d)
    nothing = square < NO_DIRECTION
    length = sqrt(where(nothing, 1.0, square))
    direction = scaled(where(nothing, 0.0, 1.0 / length), d)
    return where(nothing, 0.0, length), dot(direction, minus(velocity_b, velocity_a)), direction


@kernel
def pull(model: Arrays, work: Work, a, b, s, f, u):
    """Pull both points together with force f along the line's unit vector u."""
    common = model.frame[a] == model.frame[b]
    add_force_at(model, work, a, s, scaled(f, u), common)
    add_force_at(model, work, b, s + 3, scaled(-f, u), common)
