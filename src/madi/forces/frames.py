"""What force elements with axes of their own share: directions and angular velocities of bodies, vectors by their axes."""

from __future__ import annotations

from madi.dynamics.points import from_ground, to_ground
from madi.forces.fields import Arrays, Work
from madi.kernel import inline, kernel
from madi.spatial.vector import at, cross, dot, plus_scaled, scaled, second, six, turned


@kernel
def direction(model: Arrays, work: Work, i, d, common):
    """The direction d of body i in the axes of the reference frame (common) or of the ground."""
    d = turned(work.R, i, d)
    if not common:
        d = to_ground(work, model.frame[i], d)
    return d


@kernel
def spin(model: Arrays, work: Work, i, common):
    """Angular velocity of body i, in the same axes."""
    w = second(six(work.Y, i))
    if not common:
        w = to_ground(work, model.frame[i], w)
    return w


@inline
def column(p, s, k):
    """Column k of the matrix p[s:s+9]: an axis of a frame that is drawn in a body."""
    return p[s + k], p[s + 3 + k], p[s + 6 + k]


@kernel
def axes(model: Arrays, work: Work, i, s, common):
    """The three axes parameter[s:s+9] of body i."""
    p = model.parameter
    return (
        direction(model, work, i, column(p, s, 0), common),
        direction(model, work, i, column(p, s, 1), common),
        direction(model, work, i, column(p, s, 2), common),
    )


@inline
def by_axes(E, x):
    """Components of the vector x along the axes E."""
    return dot(E[0], x), dot(E[1], x), dot(E[2], x)


@inline
def of_axes(E, x):
    """The vector whose components along the axes E are x."""
    return plus_scaled(plus_scaled(scaled(x[0], E[0]), x[1], E[1]), x[2], E[2])


@inline
def road_axes(model: Arrays, work: Work, i, s):
    """Forward, left and up of the road packed at parameter[s:], in the axes of body i's reference frame: two vectors are
    turned, and places, velocities and forces need not be."""
    p, f = model.parameter, model.frame[i]
    forward, up = from_ground(work, f, at(p, s)), from_ground(work, f, at(p, s + 3))
    return forward, cross(up, forward), up
