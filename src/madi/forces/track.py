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

from madi.errors import finite_numbers
from madi.forces.envelope import FOOT, pressed, tangent_distance
from madi.forces.fields import Arrays, Work
from madi.forces.frames import direction, spin
from madi.forces.kind import ForceKind, account, add_force_and_torque, point_state
from madi.forces.road import HEAD, WIDTH, Road, along_road, in_plane, way
from madi.forces.takes import A_ROAD, NOT_NEGATIVE, POSITIVE, Problems, must, samples, several
from madi.forces.tire_contact import SOFT
from madi.joints import KINDS as JOINTS
from madi.kernel import LEAST_SIZE, asin, atan2, inline, kernel, sqrt, where
from madi.spatial.vector import at, cross, dot, minus, plus, plus_scaled, scaled

A_SIDE = must(lambda x: isinstance(x, bool), "over={value!r}", "Write True (the return run) or False", adjustable=False)
KIND = ForceKind(
    "track", code=11, value="tension", ends=2, points=2, turns=True,
    parameters=("centre a", "centre b", "radius a", "radius b", "tension", "stiffness", "length", "support",
                "support damping", "places", "side", "drawn forward", "drawn up", "forward in a ...",
                "forward in b ...", "roads ..."),
    takes={
        "radii": several(2, lambda x: np.all(x > 0)), "tension": POSITIVE, "stiffness": NOT_NEGATIVE,
        "length": NOT_NEGATIVE.or_none(), "support": NOT_NEGATIVE, "support_damping": NOT_NEGATIVE,
        "places": samples(odd=False), "over": A_SIDE, "road": A_ROAD,
    },
)  # fmt: skip
NO_SPAN = 1e-12  # m^2: square of a span below which wheels touch each other; its root has a slope
NO_TANGENT, ON_AXIS = 1e-9, 1e-6  # m: centres apart, less the difference of radii; a wheel's centre that near to an axle
SIDE, DRAWN, FORWARD, ROAD = 14, 15, 17, 23


@kernel
def apply(model: Arrays, work: Work, e):
    """Tension along the span, support across it."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p, road = model.parameter, s + ROAD
    place_a, velocity_a = point_state(model, work, a, s, False, 0)
    place_b, velocity_b = point_state(model, work, b, s + 3, False, 0)
    start, c = way(p, road, place_a), way(p, road, minus(place_b, place_a))
    pace, c_rate = in_plane(way(p, road, velocity_a)), way(p, road, minus(velocity_b, velocity_a))
    span, t, m, lean = belt(p, s, in_plane(c))
    ra, rb, side = p[s + 6], p[s + 7], p[s + SIDE]
    turn = -side * dot(m, in_plane(c_rate)) / span
    on_a, on_b, stored, driven, lost = support(p, model.curve, s, start, c, pace, in_plane(c_rate), turn, span, t, m)
    angle_a, gradient_a, spin_a = turning(model, work, a, s + FORWARD, road)
    angle_b, gradient_b, spin_b = turning(model, work, b, s + FORWARD + 3, road)
    wider, aside = rb - ra, c[1]
    length = sqrt(span * span + aside * aside)
    tension, potential = tension_of(p, s, length - p[s + 10] - side * (wider * lean + rb * angle_b - ra * angle_a))
    # de = t . dc + (y / length) dy, but for what y takes from the plane's part
    share, across = span / length, tension * aside / length
    rate = share * dot(t, in_plane(c_rate)) + aside / length * c_rate[1] + (share - 1.0) * side * wider * turn
    power = -tension * (rate - side * (rb * spin_b - ra * spin_a))
    pull = plus_scaled(scaled(tension * share, t), tension * (1.0 - share) * wider / span, m)
    on_a, on_b = plus(on_a, pull), minus(on_b, pull)
    force_a, force_b = (on_a[0], across, on_a[1]), (on_b[0], -across, on_b[1])
    wound = side * tension
    add_force_and_torque(model, work, a, s, along_road(p, road, force_a), scaled(-wound * ra, gradient_a))
    add_force_and_torque(model, work, b, s + 3, along_road(p, road, force_b), scaled(wound * rb, gradient_b))
    account(work, e, tension, potential + stored, power + driven, lost)


@inline
def belt(p, s, c):
    """(l, t, m, p): the span, along it and outwards, and its inclination since the drawing; c from centre to centre."""
    forward, up = c
    wider, side = p[s + SIDE] * (p[s + 7] - p[s + 6]), p[s + SIDE]
    square = dot(c, c)
    free = square - wider * wider
    span = sqrt(where(free > NO_SPAN, free, NO_SPAN))
    t = ((span * forward + wider * up) / square, (span * up - wider * forward) / square)
    drawn = (p[s + DRAWN], p[s + DRAWN + 1])
    lean = atan2(drawn[0] * up - drawn[1] * forward, dot(drawn, c)) - asin(wider / sqrt(square))
    return span, t, (side * t[1], -side * t[0]), lean


@inline
def tension_of(p, s, stretch):
    """The tension and the energy it has taken, or given until it went slack."""
    start, k = p[s + 8], p[s + 9]
    pulled = start + k * stretch
    tight = pulled > 0.0
    slack = start * start / where(k > 0.0, k, 1.0)  # twice the energy down to no tension at all
    return where(tight, pulled, 0.0), where(tight, start * stretch + 0.5 * k * stretch * stretch, -0.5 * slack)


@inline
def support(p, curve, s, start, c, pace, c_rate, turn, span, t, m):
    """Forces of the ground on both wheels through the belt between them; energy stored, power, power dissipated."""
    ra, rb, side = p[s + 6], p[s + 7], p[s + SIDE]
    on_a, on_b = (0.0, 0.0), (0.0, 0.0)
    stored, power, lost = 0.0, 0.0, 0.0
    places, size = int(p[s + 13]), HEAD + WIDTH * int(p[s + ROAD + 7])
    for k in range(places):
        q = (k + 1.0) / (places + 1.0)
        arm = (1.0 - q) * ra + q * rb
        x, y, z = plus_scaled(start, q, c)
        far, by, _, _ = tangent_distance(p, curve, s + ROAD + k * size, (x + arm * m[0], y, z + arm * m[1]), FOOT * arm)
        velocity = plus_scaled(plus_scaled(pace, q, c_rate), turn, scaled(arm * side, t))
        rate = dot(by, velocity)
        n, elastic = pressed(p[s + 11], p[s + 12], SOFT * arm, -far, -rate)
        f = scaled(n, by)
        couple = scaled(arm * dot(f, t) / span, m)
        on_a, on_b = plus(plus_scaled(on_a, 1.0 - q, f), couple), minus(plus_scaled(on_b, q, f), couple)
        stored = stored + 0.5 * elastic * -far
        power = power + n * rate
        lost = lost + (elastic - n) * rate
    return on_a, on_b, stored, power, lost


@kernel
def turning(model: Arrays, work: Work, i, s, road):
    """How far body i has turned about the road's left axis since the drawing, the gradient of that angle (ground axes), and
    its rate: parameter[s:s+3] is what pointed forward."""
    p = model.parameter
    if i == 0:
        return 0.0, (0.0, 0.0, 0.0), 0.0
    b, forward, up = direction(model, work, i, at(p, s), False), at(p, road), at(p, road + 3)
    A, B = dot(b, forward), -dot(b, up)
    size = 1.0 / (A * A + B * B + LEAST_SIZE)
    # (A dB - B dA) / (A^2 + B^2) = (A u + B f) x b / (A^2 + B^2)
    gradient = cross(scaled(size, plus_scaled(scaled(A, up), B, forward)), b)
    return atan2(B, A), gradient, dot(gradient, spin(model, work, i, False))


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
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
    # the road as each place along the belt feels it: their footprints differ where the wheels do
    places = int(given["places"])
    shares = [(k + 1.0) / (places + 1.0) for k in range(places)]
    roads = [x for q in shares for x in given["road"].pack(FOOT * ((1.0 - q) * radii[0] + q * radii[1]))]
    ahead = [float(x) for body in bodies for x in body.axes(forward.reshape(3, 1)).reshape(-1)]
    return [*points, *radii, *map(float, numbers), side, float(np.cos(angle)), float(np.sin(angle)), *ahead,
            *roads]  # fmt: skip


def check(force: Any, joints: Any) -> Problems:
    """A tangent must exist, and the bodies must not turn without end."""
    given, ends = force.parameters, [at for at in (finite_numbers(at, 3) for at in force.at) if at is not None]
    radii, road = finite_numbers(given["radii"], 2), given["road"]
    if not len(force.at) == len(ends) == 2 or radii is None or not isinstance(road, Road):
        return
    forward, up = road.axes()
    between = ends[1] - ends[0]
    if np.hypot(between @ forward, between @ up) <= abs(radii[1] - radii[0]) + NO_TANGENT:
        yield "its wheels have no common tangent", "Put their centres farther apart along the road"
    left = np.cross(up, forward)
    for body, centre in zip((force.a, force.b), ends, strict=True):
        for joint in joints:
            axis, at = finite_numbers(joint.axes[0], 3) if joint.axes else None, finite_numbers(joint.at, 3)
            if joint.child != body or not JOINTS[joint.kind].hinge or at is None or axis is None or not np.any(axis):
                continue
            axis, arm = axis / np.linalg.norm(axis), centre - at
            if abs(axis @ left) > 0.99 and np.linalg.norm(arm - (arm @ axis) * axis) < ON_AXIS:
                yield (f"{body!r} spins about the wheel's axis: the belt would wind up on it",
                       f"Name the body that carries it, {joint.parent!r}")  # fmt: skip
