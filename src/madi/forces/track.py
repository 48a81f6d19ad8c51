"""Track between two neighbouring wheels: tension, bridging, and support of the ground between them.

Assumptions. The track is a massless belt under tension T = T0 + k (l - l0), never negative, along the straight line between
the lowest points of the two wheels (their centres, a wheel's radius down). So a wheel that is lifted over its neighbours is
pulled down by both spans, and one in a hole is carried: the track bridges. Where the road between the wheels comes above
that line, the belt is pushed up at a few places along it, with stiffness and damping per place, and hands the force on to
the two wheels by the lever rule: obstacles are felt before a wheel reaches them. Pads, pin friction, slip, sprocket torque
and the track's own inertia are left out; the return run is one more span without a road.
Potential: of the tension and of the support; dissipated: the damper of the support, net of what a slope at speed puts in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.kinematics import from_ground, point
from madi.forces.kind import ForceKind, add_force, point_state
from madi.forces.line import account
from madi.kernel import kernel, sqrt, where
from madi.road import profile, way

KIND = ForceKind(
    "track",
    code=11,
    parameters=("centre a", "centre b", "radius a", "radius b", "tension", "stiffness", "length", "support",
                "support damping", "places", "road ..."),
    value="tension",
    ends=2,
    positive=("tension",),
)  # fmt: skip


@kernel
def apply(model, work, e):
    """Tension along the span, support across it."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    road = s + 14
    u0, u1, u2 = p[road + 3], p[road + 4], p[road + 5]
    x, y, z, vx, vy, vz = point_state(model, work, a, s, False, 0)
    x1, y1, z1, wx, wy, wz = point_state(model, work, b, s + 3, False, 0)
    x, y, z = x - p[s + 6] * u0, y - p[s + 6] * u1, z - p[s + 6] * u2
    x1, y1, z1 = x1 - p[s + 7] * u0, y1 - p[s + 7] * u1, z1 - p[s + 7] * u2
    d0, d1, d2 = x1 - x, y1 - y, z1 - z
    length = sqrt(d0 * d0 + d1 * d1 + d2 * d2)
    stretch = length - p[s + 10]
    pulled = p[s + 8] + p[s + 9] * stretch
    tight = pulled > 0.0
    tension = where(tight, pulled, 0.0)
    slack = p[s + 8] * p[s + 8] / where(p[s + 9] > 0.0, p[s + 9], 1.0)  # twice the energy down to no tension at all
    potential = where(tight, p[s + 8] * stretch + 0.5 * p[s + 9] * stretch * stretch, -0.5 * slack)
    f = tension / length
    ax, ay, az = f * d0, f * d1, f * d2
    bx, by, bz = -ax, -ay, -az
    power = -f * (d0 * (wx - vx) + d1 * (wy - vy) + d2 * (wz - vz))
    lost = 0.0
    places = int(p[s + 13])
    for k in range(places):
        q = (k + 1.0) / (places + 1.0)
        along, left, up = way(p, road, x + q * d0, y + q * d1, z + q * d2)
        forward, _, rise = way(p, road, vx + q * (wx - vx), vy + q * (wy - vy), vz + q * (wz - vz))
        h, slope = profile(p, road, along, left)
        depth = h - up
        rate = slope * forward - rise
        touching = depth > 0.0
        elastic = where(touching, p[s + 11] * depth, 0.0)
        n = elastic + p[s + 12] * rate
        n = where(touching, where(n > 0.0, n, 0.0), 0.0)
        ax, ay, az = ax + (1.0 - q) * n * u0, ay + (1.0 - q) * n * u1, az + (1.0 - q) * n * u2
        bx, by, bz = bx + q * n * u0, by + q * n * u1, bz + q * n * u2
        potential = potential + where(touching, 0.5 * elastic * depth, 0.0)
        power = power + n * rise
        lost = lost + (n - elastic) * rate - n * slope * forward
    carry(model, work, a, s, ax, ay, az)
    carry(model, work, b, s + 3, bx, by, bz)
    account(work, e, tension, potential, power, lost)


@kernel
def carry(model, work, i, s, f0, f1, f2):
    """A force in ground axes on a wheel's centre: rolling takes no moment."""
    if i > 0:
        f0, f1, f2 = from_ground(work, model.frame[i], f0, f1, f2)
        p = model.parameter
        x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
        add_force(work, i, x, y, z, f0, f1, f2)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Centres, numbers, road; the length as drawn if none is given."""
    given = force.parameters
    radii = [float(r) for r in given["radii"]]
    length = given["length"]
    if length is None:
        _, up = given["road"].axes()
        ends = [np.asarray(c, dtype=float) - r * up for c, r in zip(force.at, radii, strict=True)]
        length = float(np.linalg.norm(ends[1] - ends[0]))
    numbers = [given["tension"], given["stiffness"], length, given["support"], given["support_damping"], given["places"]]
    return [*points, *radii, *map(float, numbers), *given["road"].pack()]
