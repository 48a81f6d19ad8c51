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
stretched by  e = sqrt(l^2 + y^2) - l0 - o w (p + a_b) - o r_a (a_b - a_a)  (y the distance aside; these two angles, of a
body against the belt and between both bodies, do not jump where the vehicle turns over), and its tension T = T0 + k e, never
negative, acts along the tangent line as the gradient of e has it: in the plane, action and reaction have one line. A place
at q on the belt is (1 - q) C_a + q C_b + r_q m, r_q = (1 - q) r_a + q r_b; the force F on it divides by the lever rule, and
r_q (F . t) / l m as a couple. Potential: of the tension and of the support; dissipated: the damper of the support.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.points import point, point_velocity
from madi.errors import finite_numbers
from madi.forces.envelope import FOOT, pressed, tangent_distance
from madi.forces.fields import Arrays, Work
from madi.forces.frames import by_axes, direction, of_axes, road_axes, spin
from madi.forces.kind import ForceKind, account, add_force_and_torque, origin_apart
from madi.forces.road import HEAD, WIDTH, Road, has_shapes, in_plane, way
from madi.forces.takes import A_ROAD, NOT_NEGATIVE, POSITIVE, Problems, must, samples, several
from madi.forces.tire_contact import SOFT
from madi.joints import KINDS as JOINTS
from madi.kernel import LEAST_SIZE, atan2, fabs, inline, kernel, needed, sqrt, where
from madi.spatial.vector import at, cross, dot, minus, plus, plus_scaled, scaled, three

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
    p, road, f, g = model.parameter, s + ROAD, model.frame[a], model.frame[b]
    E = road_axes(model, work, a, road)
    F = E
    if f != g:
        F = road_axes(model, work, b, road)
    way_a, gradient_a, spin_a = turning(model, work, a, s + FORWARD, E)
    way_b, gradient_b, spin_b = turning(model, work, b, s + FORWARD + 3, F)
    wound = p[s + 6] * between(way_a, way_b)
    at_a, at_b = point(work, a, at(p, s)), point(work, b, at(p, s + 3))
    from_a, pace = by_axes(E, at_a), by_axes(E, point_velocity(work, a, at_a))
    start = plus(from_a, way(p, road, three(work.frame_r, f)))
    c = plus(minus(by_axes(F, at_b), from_a), way(p, road, origin_apart(work, g, f)))
    c_rate = minus(by_axes(F, point_velocity(work, b, at_b)), pace)
    span, t, m = belt(p, s, in_plane(c))
    ra, rb, side, inverse = p[s + 6], p[s + 7], p[s + SIDE], 1.0 / span
    turn = -side * dot(m, in_plane(c_rate)) * inverse
    wider, aside = rb - ra, c[1]
    if needed(wider != 0.0):
        drawn = (p[s + DRAWN], -p[s + DRAWN + 1])
        wound = wound + wider * between((1.0, 0.0), both_turns(both_turns(drawn, t), way_b))
    on_a, on_b, stored, driven, lost = support(
        p, model.curve, s, start, c, in_plane(pace), in_plane(c_rate), turn, inverse, t, m
    )
    length = sqrt(span * span + aside * aside)
    tension, potential = tension_of(p, s, length - p[s + 10] - side * wound)
    # de = t . dc + (y / length) dy, but for what y takes from the plane's part
    share, across = span / length, tension * aside / length
    rate = share * dot(t, in_plane(c_rate)) + aside / length * c_rate[1] + (share - 1.0) * side * wider * turn
    power = -tension * (rate - side * (rb * spin_b - ra * spin_a))
    pull = plus_scaled(scaled(tension * share, t), tension * (1.0 - share) * wider * inverse, m)
    on_a, on_b = plus(on_a, pull), minus(on_b, pull)
    force_a, force_b = (on_a[0], across, on_a[1]), (on_b[0], -across, on_b[1])
    couple = side * tension
    add_force_and_torque(work, a, at_a, of_axes(E, force_a), scaled(-couple * ra, gradient_a))
    add_force_and_torque(work, b, at_b, of_axes(F, force_b), scaled(couple * rb, gradient_b))
    account(work, e, tension, potential + stored, power + driven, lost)


@inline
def belt(p, s, c):
    """(l, t, m): the span, along it and outwards; c from centre to centre."""
    forward, up = c
    wider, side = p[s + SIDE] * (p[s + 7] - p[s + 6]), p[s + SIDE]
    square = dot(c, c)
    free = square - wider * wider
    span = sqrt(where(free > NO_SPAN, free, NO_SPAN))
    t = ((span * forward + wider * up) / square, (span * up - wider * forward) / square)
    return span, t, (side * t[1], -side * t[0])


@inline
def both_turns(x, y):
    """The turn x, then y: turns as cosine and sine, of any common size."""
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


@inline
def between(x, y):
    """The angle from the turn x to y."""
    return atan2(x[0] * y[1] - x[1] * y[0], dot(x, y))


@inline
def tension_of(p, s, stretch):
    """The tension and the energy it has taken, or given until it went slack."""
    start, k = p[s + 8], p[s + 9]
    pulled = start + k * stretch
    tight = pulled > 0.0
    slack = start * start / where(k > 0.0, k, 1.0)  # twice the energy down to no tension at all
    return where(tight, pulled, 0.0), where(tight, start * stretch + 0.5 * k * stretch * stretch, -0.5 * slack)


@inline
def support(p, curve, s, start, c, pace, c_rate, turn, inverse, t, m):
    """Forces of the ground on both wheels through the belt between them; energy stored, power, power dissipated."""
    ra, side, road = p[s + 6], p[s + SIDE], s + ROAD
    wider, largest = p[s + 7] - ra, where(p[s + 7] > ra, p[s + 7], ra)
    places, size = int(p[s + 13]), HEAD + WIDTH * int(p[road + 7])
    part, level = 1.0 / (places + 1.0), p[road + 6]
    # both linear in q: heights over the road's level, and their rates
    high, rise = start[2] + ra * m[1] - level, c[2] + wider * m[1]
    lift, lift_rise = pace[1] + turn * side * ra * t[1], c_rate[1] + turn * side * wider * t[1]
    total, shared = (0.0, 0.0), (0.0, 0.0)  # sums of F and of q F
    stored, lost = 0.0, 0.0
    reach = 0.5 * fabs(c[0]) + (fabs(m[0]) + FOOT) * largest
    if needed(has_shapes(p, road, start[0] + 0.5 * c[0], reach)):
        for k in range(places):
            q = (k + 1.0) * part
            arm = ra + q * wider
            x, y, z = plus_scaled(start, q, c)
            place = (x + arm * m[0], y, z + arm * m[1])
            far, by, _, _ = tangent_distance(p, curve, road + k * size, place, FOOT * arm)
            velocity = plus_scaled(plus_scaled(pace, q, c_rate), turn, scaled(arm * side, t))
            rate = dot(by, velocity)
            n, elastic = pressed(p[s + 11], p[s + 12], SOFT * arm, -far, -rate)
            total, shared = plus_scaled(total, n, by), plus_scaled(shared, q * n, by)
            stored, lost = stored - 0.5 * elastic * far, lost + (elastic - n) * rate
    elif needed(where(rise < 0.0, high + places * part * rise, high + part * rise) < 0.0):  # some place is below the level
        up, up_shared = 0.0, 0.0
        for k in range(places):
            q = (k + 1.0) * part
            far, rate = high + q * rise, lift + q * lift_rise
            n, elastic = pressed(p[s + 11], p[s + 12], SOFT * (ra + q * wider), -far, -rate)
            up, up_shared = up + n, up_shared + q * n
            stored, lost = stored - 0.5 * elastic * far, lost + (elastic - n) * rate
        total, shared = (0.0, up), (0.0, up_shared)
    lever = plus_scaled(scaled(ra, total), wider, shared)  # sum of r_q F
    couple = scaled(dot(lever, t) * inverse, m)
    power = dot(total, pace) + dot(shared, c_rate) + turn * side * dot(lever, t)
    return plus(minus(total, shared), couple), minus(shared, couple), stored, power, lost


@inline
def turning(model: Arrays, work: Work, i, s, axes):
    """How far body i has turned about the road's left axis since the drawing (cosine and sine, of any size), the gradient of
    that angle, and its rate: parameter[s:s+3] is what pointed forward; by the road's axes in its reference frame."""
    if i == 0:
        return (1.0, 0.0), (0.0, 0.0, 0.0), 0.0
    forward, _, up = axes
    d = direction(model, work, i, at(model.parameter, s), True)
    A, B = dot(d, forward), -dot(d, up)
    size = 1.0 / (A * A + B * B + LEAST_SIZE)
    # (A dB - B dA) / (A^2 + B^2) = (A u + B f) x d / (A^2 + B^2)
    gradient = cross(scaled(size, plus_scaled(scaled(A, up), B, forward)), d)
    return (A, B), gradient, dot(gradient, spin(model, work, i, True))


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
