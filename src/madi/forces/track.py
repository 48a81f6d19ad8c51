"""Track between two neighbouring wheels: tension, bridging, and support of the ground between them.

Assumptions. The track is a massless belt that runs along the road's forward axis, under the two wheels (or over them: the
return run). Between them it is straight along the common tangent of both circles, and it does not slip on the bodies it is
given: those that carry the wheels (a wheel that spins would wind it up). So a wheel that is lifted over its neighbours is
pulled down by both spans, and one in a hole is carried: the track bridges. Where the road between the wheels comes above the
belt, it is pushed up at a few places along it, with stiffness and damping per place, and hands the force on to the two
wheels: obstacles reach a wheel before the wheel reaches them. Pads, pin friction, slip on the ground and the track's own
inertia are left out.

In the plane of forward and up, c leads from centre a to centre b, w = r_b - r_a, and t along the belt, m outwards, obey
c = l t - w m,  l = sqrt(c^2 - w^2).  With o = 1 where m is on the right of t (a belt under wheels, drawn forwards), else -1,

    dt = -o m dp,    dm = o t dp,    dp = -o (m . dc) / l,

p the belt's inclination. A body that turns by a about the left axis carries its tangent point back by o r a, so the belt is
stretched by  e = sqrt(l^2 + y^2) - l0 - o w p - o r_b a_b + o r_a a_a  (y the distance aside), and its tension
T = T0 + k e, never negative, acts along the tangent line as the gradient of e has it: in the plane, action and reaction have
one line. A place at q on the belt is (1 - q) C_a + q C_b + r_q m, r_q = (1 - q) r_a + q r_b; the force F on it divides by
the lever rule, and r_q (F . t) / l m as a couple. Potential: of the tension and of the support; dissipated: the damper of
the support.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.kinematics import from_ground, point
from madi.forces.contact import SOFT, along_road, spin_axis
from madi.forces.envelope import FOOT, pressed, tangent_distance
from madi.forces.frames import add_torque, spin
from madi.forces.kind import ForceKind, add_force, point_state
from madi.forces.line import account
from madi.kernel import asin, atan2, inline, kernel, sqrt, where
from madi.road import way

KIND = ForceKind(
    "track",
    code=11,
    parameters=("centre a", "centre b", "radius a", "radius b", "tension", "stiffness", "length", "support",
                "support damping", "places", "side", "drawn forward", "drawn up", "forward in a ...",
                "forward in b ...", "road ..."),
    value="tension",
    ends=2,
    positive=("tension",),
)  # fmt: skip
SIDE, DRAWN, FORWARD, ROAD = 14, 15, 17, 23


@kernel
def apply(model, work, e):
    """Tension along the span, support across it."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    road = s + ROAD
    x, y, z, vx, vy, vz = point_state(model, work, a, s, False, 0)
    x1, y1, z1, wx, wy, wz = point_state(model, work, b, s + 3, False, 0)
    first, left, height = way(p, road, x, y, z)
    forward, aside, up = way(p, road, x1 - x, y1 - y, z1 - z)
    pace, _, rise = way(p, road, vx, vy, vz)
    pace1, drift1, rise1 = way(p, road, wx - vx, wy - vy, wz - vz)
    ra, rb, side = p[s + 6], p[s + 7], p[s + SIDE]
    wider = rb - ra
    square = forward * forward + up * up
    free = square - wider * wider
    span = sqrt(where(free > 1e-12, free, 1e-12))
    # t and m: c = span t - wider m
    tx, tz = (span * forward + side * wider * up) / square, (span * up - side * wider * forward) / square
    mx, mz = side * tz, -side * tx
    turn = -side * (mx * pace1 + mz * rise1) / span
    f0, u0 = p[s + DRAWN], p[s + DRAWN + 1]
    lean = atan2(f0 * up - u0 * forward, f0 * forward + u0 * up) - asin(side * wider / sqrt(square))
    angle_a, xa, ya, za, spin_a = turned(model, work, a, s + FORWARD, road)
    angle_b, xb, yb, zb, spin_b = turned(model, work, b, s + FORWARD + 3, road)
    length = sqrt(span * span + aside * aside)
    stretch = length - p[s + 10] - side * (wider * lean + rb * angle_b - ra * angle_a)
    pulled = p[s + 8] + p[s + 9] * stretch
    tight = pulled > 0.0
    tension = where(tight, pulled, 0.0)
    slack = p[s + 8] * p[s + 8] / where(p[s + 9] > 0.0, p[s + 9], 1.0)  # twice the energy down to no tension at all
    potential = where(tight, p[s + 8] * stretch + 0.5 * p[s + 9] * stretch * stretch, -0.5 * slack)
    # de = t . dc + (y / length) dy, but for what y takes from the plane's part
    share = span / length
    more = tension * (1.0 - share) * wider / span
    bx, bz = -tension * share * tx - more * mx, -tension * share * tz - more * mz
    by = -tension * aside / length
    ax, az = -bx, -bz
    rate = share * (tx * pace1 + tz * rise1) + aside / length * drift1 + (share - 1.0) * side * wider * turn
    power = -tension * (rate - side * (rb * spin_b - ra * spin_a))
    lost = 0.0
    places = int(p[s + 13])
    for k in range(places):
        q = (k + 1.0) / (places + 1.0)
        arm = (1.0 - q) * ra + q * rb
        far, by_x, by_z, _, _, _ = tangent_distance(
            p, road, first + q * forward + arm * mx, left + q * aside, height + q * up + arm * mz, FOOT * arm
        )
        along, climb = pace + q * pace1 + arm * side * tx * turn, rise + q * rise1 + arm * side * tz * turn
        closing = -(by_x * along + by_z * climb)
        n, elastic = pressed(p[s + 11], p[s + 12], SOFT * arm, -far, closing)
        fx, fz = n * by_x, n * by_z
        couple = arm * (fx * tx + fz * tz) / span
        ax, az = ax + (1.0 - q) * fx + couple * mx, az + (1.0 - q) * fz + couple * mz
        bx, bz = bx + q * fx - couple * mx, bz + q * fz - couple * mz
        potential = potential - 0.5 * elastic * far
        power = power - n * closing
        lost = lost + (n - elastic) * closing
    carry(model, work, a, s, road, ax, -by, az)
    carry(model, work, b, s + 3, road, bx, by, bz)
    wound = side * tension
    add_torque(model, work, a, -wound * ra * xa, -wound * ra * ya, -wound * ra * za, False)
    add_torque(model, work, b, wound * rb * xb, wound * rb * yb, wound * rb * zb, False)
    account(work, e, tension, potential, power, lost)


@kernel
def turned(model, work, i, s, road):
    """How far body i has turned about the road's left axis since the drawing, the gradient of that angle (ground axes), and
    its rate: parameter[s:s+3] is what pointed forward."""
    p = model.parameter
    if i == 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    b0, b1, b2 = spin_axis(model, work, i, s)
    f0, f1, f2 = p[road], p[road + 1], p[road + 2]
    u0, u1, u2 = p[road + 3], p[road + 4], p[road + 5]
    A, B = b0 * f0 + b1 * f1 + b2 * f2, -(b0 * u0 + b1 * u1 + b2 * u2)
    size = 1.0 / (A * A + B * B + 1e-300)
    # (A dB - B dA) / (A^2 + B^2) = -b x (A u + B f) / (A^2 + B^2)
    c0, c1, c2 = size * (A * u0 + B * f0), size * (A * u1 + B * f1), size * (A * u2 + B * f2)
    g0, g1, g2 = b2 * c1 - b1 * c2, b0 * c2 - b2 * c0, b1 * c0 - b0 * c1
    w0, w1, w2 = spin(model, work, i, False)
    return atan2(B, A), g0, g1, g2, g0 * w0 + g1 * w1 + g2 * w2


@inline
def carry(model, work, i, s, road, x, y, z):
    """A force along the road's axes on a wheel's centre."""
    if i > 0:
        p = model.parameter
        f0, f1, f2 = along_road(p, road, x, z)
        l0 = p[road + 4] * p[road + 2] - p[road + 5] * p[road + 1]
        l1 = p[road + 5] * p[road] - p[road + 3] * p[road + 2]
        l2 = p[road + 3] * p[road + 1] - p[road + 4] * p[road]
        f0, f1, f2 = from_ground(work, model.frame[i], f0 + y * l0, f1 + y * l1, f2 + y * l2)
        x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
        add_force(work, i, x, y, z, f0, f1, f2)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Centres, numbers, the span as drawn, road; the length as drawn if none is given."""
    given = force.parameters
    radii = [float(r) for r in given["radii"]]
    forward, up = given["road"].axes()
    between = np.subtract(*(np.asarray(c, dtype=float) for c in reversed(force.at)))
    plane = np.array([between @ forward, between @ up])
    span = float(np.sqrt(max(plane @ plane - (radii[1] - radii[0]) ** 2, 0.0)))
    side = (1.0 if plane[0] >= 0 else -1.0) * (-1.0 if given["over"] else 1.0)
    # the inclination is counted from the drawing
    angle = np.arctan2(plane[1], plane[0]) - np.arcsin(np.clip(side * (radii[1] - radii[0]) / np.linalg.norm(plane), -1, 1))
    length = float(np.hypot(span, between @ np.cross(up, forward))) if given["length"] is None else float(given["length"])
    numbers = [given["tension"], given["stiffness"], length, given["support"], given["support_damping"], given["places"]]
    ahead = [float(x) for body in bodies for x in body.axes(forward.reshape(3, 1)).reshape(-1)]
    return [*points, *radii, *map(float, numbers), side, float(np.cos(angle)), float(np.sin(angle)), *ahead,
            *given["road"].pack()]  # fmt: skip
