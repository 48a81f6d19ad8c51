"""Points of bodies and vectors of reference frames, once positions and velocities are known."""

from __future__ import annotations

from madi.dynamics.fields import Work
from madi.kernel import inline
from madi.spatial.vector import plus, six, three, turned, turned_back, velocity_at


@inline
def point(work: Work, i, s):
    """Reference coordinates of the point s of body i (in its internal axes)."""
    return plus(three(work.r, i), turned(work.R, i, s))


@inline
def point_velocity(work: Work, i, p):
    """Velocity of the point of body i that is now at the reference coordinates p: v + w x p."""
    return velocity_at(six(work.Y, i), p)


@inline
def to_ground(work: Work, f, x):
    """A vector of reference frame f in ground axes."""
    return turned(work.frame_R, f, x)


@inline
def from_ground(work: Work, f, x):
    """A vector of ground axes in the axes of reference frame f."""
    return turned_back(work.frame_R, f, x)
