"""Wheel on a road profile, without friction: a spring and damper between the wheel and the road, as long as it touches.

The wheel is a disc of radius r around a point of its body. With the distance D of that point from the road (envelope.py) and
the deflection d = r - D:  f = k d + c d', along the road's normal grad D; zero when the wheel is off or when the damper
would pull, and c sets in over the first 2 % of the radius. Potential k d^2 / 2, dissipated power c d'^2.
"""

from __future__ import annotations

from typing import Any

from madi.dynamics.points import point, point_velocity
from madi.forces.envelope import FOOT, distance, pressed
from madi.forces.fields import Arrays, Work
from madi.forces.frames import by_axes, road_axes
from madi.forces.kind import ForceKind, account, add_force
from madi.forces.road import way
from madi.forces.takes import A_ROAD, NOT_NEGATIVE, POSITIVE, samples
from madi.forces.tire_contact import SOFT
from madi.kernel import kernel, sqrt
from madi.spatial.vector import at, dot, plus, plus_scaled, scaled, three

KIND = ForceKind(
    "wheel", code=10, value="force of the road's normal", ends=1, points=1, wheel=True,
    parameters=("x", "y", "z", "radius", "stiffness", "damping", "places", "road ..."),
    takes={"radius": POSITIVE, "stiffness": POSITIVE, "damping": NOT_NEGATIVE, "places": samples(), "road": A_ROAD},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Push the wheel away from the road."""
    i, s = model.force_a[e], model.force_at[e]
    p, road, radius = model.parameter, s + 7, model.parameter[s + 3]
    axes, centre = road_axes(model, work, i, road), point(work, i, at(p, s))
    place = plus(by_axes(axes, centre), way(p, road, three(work.frame_r, model.frame[i])))
    far, by, _, _ = distance(p, model.curve, road, place, radius, int(p[s + 6]))
    normal = plus_scaled(scaled(by[0], axes[0]), by[1], axes[2])
    depth, rate = radius - far, -dot(normal, point_velocity(work, i, centre))
    f, elastic = pressed(p[s + 4], p[s + 5], SOFT * radius, depth, rate)
    if i > 0:
        add_force(work, i, centre, scaled(f, normal))
    account(work, e, f * sqrt(dot(by, by)), 0.5 * elastic * depth, -f * rate, (f - elastic) * rate)


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
    """The wheel's centre, its numbers, the road."""
    given = force.parameters
    numbers = [float(given[name]) for name in ("radius", "stiffness", "damping", "places")]
    return [*points, *numbers, *given["road"].pack(FOOT * float(given["radius"]))]
