"""Wheel on a road profile, without friction: a spring and damper between the wheel and the road, as long as it touches.

The wheel is a disc of radius r around a point of its body. With the distance D of that point from the road (envelope.py) and
the deflection d = r - D:  f = k d + c d', along the road's normal grad D; zero when the wheel is off or when the damper
would pull, and c sets in over the first 2 % of the radius. Potential k d^2 / 2, dissipated power c d'^2.
"""

from __future__ import annotations

from typing import Any

from madi.dynamics.kinematics import from_ground, point
from madi.forces.contact import SOFT, along_road
from madi.forces.envelope import distance, pressed
from madi.forces.kind import ForceKind, add_force, point_state
from madi.forces.line import account
from madi.kernel import kernel, sqrt
from madi.road import way

KIND = ForceKind(
    "wheel",
    code=10,
    parameters=("x", "y", "z", "radius", "stiffness", "damping", "places", "road ..."),
    value="force of the road's normal",
    ends=1,
    positive=("radius", "stiffness"),
)


@kernel
def apply(model, work, e):
    """Push the wheel away from the road."""
    i, s = model.force_a[e], model.force_at[e]
    p, road, radius = model.parameter, s + 7, model.parameter[s + 3]
    x, y, z, u, v, w = point_state(model, work, i, s, False, 0)
    along, left, up = way(p, road, x, y, z)
    forward, _, rise = way(p, road, u, v, w)
    far, by_x, by_z, _, _, _ = distance(p, road, along, left, up, radius, int(p[s + 6]))
    depth, rate = radius - far, -(by_x * forward + by_z * rise)
    f, elastic = pressed(p[s + 4], p[s + 5], SOFT * radius, depth, rate)
    f0, f1, f2 = along_road(p, road, f * by_x, f * by_z)
    f0, f1, f2 = from_ground(work, model.frame[i], f0, f1, f2)
    x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
    add_force(work, i, x, y, z, f0, f1, f2)
    account(work, e, f * sqrt(by_x * by_x + by_z * by_z), 0.5 * elastic * depth, -f * rate, (f - elastic) * rate)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The wheel's centre, its numbers, the road."""
    given = force.parameters
    numbers = [float(given[name]) for name in ("radius", "stiffness", "damping", "places")]
    return [*points, *numbers, *given["road"].pack()]
