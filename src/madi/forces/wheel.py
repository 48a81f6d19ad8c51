"""Wheel on a road profile, vertical: a spring and damper under the wheel, as long as it touches.

The wheel is a disc of radius r around a point of its body. Under it the road is felt at a few places s_k within the disc,
and the highest counts (a rigid disc laid on the profile):  h = max_k (h(x + s_k) + sqrt(r^2 - s_k^2) - r);  one place is the
road right below. With the deflection d = h + r - z and its rate: f = k d + c d', upwards, zero when the wheel is off or when
the damper would pull. Potential k d^2 / 2. No forces along or across the road; so a slope under a wheel at speed puts energy
in, and what is reported as dissipated is net of it: then energy balances on any road.
"""

from __future__ import annotations

from typing import Any

from madi.dynamics.kinematics import from_ground, point
from madi.forces.kind import ForceKind, add_force, point_state
from madi.forces.line import account
from madi.kernel import kernel, sqrt, where
from madi.road import profile, way

KIND = ForceKind(
    "wheel",
    code=10,
    parameters=("x", "y", "z", "radius", "stiffness", "damping", "places", "road ..."),
    value="vertical force",
    ends=1,
    positive=("radius", "stiffness"),
)
REACH = 0.95  # of the radius: how far ahead and behind the road is felt


@kernel
def felt(p, s, x, y, radius, places):
    """(height, slope) of the profile at p[s:] as a disc of this radius feels it."""
    h, slope = profile(p, s, x, y)
    if places == 1:
        return h, slope
    # first the place, a constant as far as derivatives go; then the profile there, once
    at, below = 0.0 * p[s], 0.0 * p[s]
    for k in range(places // 2):
        reach = REACH * radius * (k + 1.0) / (places // 2)
        drop = sqrt(radius * radius - reach * reach) - radius
        for side in range(2):
            sign = -1.0 if side == 0 else 1.0
            h1, _ = profile(p, s, x + sign * reach, y)
            higher = h1 + drop > h
            h, at, below = where(higher, h1 + drop, h), where(higher, sign * reach, at), where(higher, drop, below)
    h, slope = profile(p, s, x + at, y)
    return h + below, slope


@kernel
def apply(model, work, e):
    """Push the wheel up."""
    i, s = model.force_a[e], model.force_at[e]
    p = model.parameter
    x, y, z, u, v, w = point_state(model, work, i, s, False, 0)
    along, left, up = way(p, s + 7, x, y, z)
    forward, _, rise = way(p, s + 7, u, v, w)
    h, slope = felt(p, s + 7, along, left, p[s + 3], int(p[s + 6]))
    depth = h + p[s + 3] - up
    rate = slope * forward - rise
    touching = depth > 0.0
    elastic = where(touching, p[s + 4] * depth, 0.0)
    f = elastic + p[s + 5] * rate
    f = where(touching, where(f > 0.0, f, 0.0), 0.0)
    f0, f1, f2 = from_ground(work, model.frame[i], f * p[s + 10], f * p[s + 11], f * p[s + 12])
    x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
    add_force(work, i, x, y, z, f0, f1, f2)
    account(work, e, f, where(touching, 0.5 * elastic * depth, 0.0), f * rise, (f - elastic) * rate - f * slope * forward)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The wheel's centre, its numbers, the road."""
    given = force.parameters
    numbers = [float(given[name]) for name in ("radius", "stiffness", "damping", "places")]
    return [*points, *numbers, *given["road"].pack()]
