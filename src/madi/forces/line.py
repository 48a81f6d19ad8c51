"""What force elements between two points share: the line, and a pull along it."""

from __future__ import annotations

from madi.forces.kind import add_force_at, point_state, seen_from
from madi.kernel import kernel, sqrt, where

TINY = 1e-200  # squared length below which there is no direction


@kernel
def line(model, work, a, b, s):
    """Length, its rate and the unit vector from the point parameter[s:s+3] of body a to that at s + 3 of body b.

    In the tree's own axes if both bodies are in one tree, else in the ground's. At zero length the direction is zero.
    """
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    x, y, z, u, v, w = point_state(model, work, a, s, common, o)
    x1, y1, z1, u1, v1, w1 = point_state(model, work, b, s + 3, common, o)
    x, y, z = x1 - x, y1 - y, z1 - z
    u, v, w = u1 - u, v1 - v, w1 - w
    square = x * x + y * y + z * z
    nothing = square < TINY
    length = sqrt(where(nothing, 1.0, square))
    inverse = where(nothing, 0.0, 1.0 / length)
    length = where(nothing, 0.0, length)
    x, y, z = x * inverse, y * inverse, z * inverse
    return length, x * u + y * v + z * w, x, y, z


@kernel
def pull(model, work, a, b, s, f, x, y, z):
    """Pull both points together with force f along the line's unit vector (x, y, z)."""
    common = model.frame[a] == model.frame[b]
    add_force_at(model, work, a, s, f * x, f * y, f * z, common)
    add_force_at(model, work, b, s + 3, -f * x, -f * y, -f * z, common)


@kernel
def account(work, e, value, potential, power, dissipated):
    """The four numbers every force element leaves behind."""
    work.force[e, 0] = value
    work.force[e, 1] = potential
    work.force[e, 2] = power
    work.force[e, 3] = dissipated
