"""What all tires share: contact with the road, slip, and where their forces go. A tire law is a file of its own that turns
load and slip into forces (tire.py, fiala.py, brush.py, tire_magic.py).

Contact (ISO 8855, axis system W). The wheel is a disc of radius r about its centre, normal to the spin axis e. With the
centre's distance D from the road and the road's normal n (envelope.py), the camber g against the road has sin g = e . n and
cos g = |e x n|; l = e x n / cos g is the way the wheel rolls, s = n x l across. The wheel's plane, the road and the plane of
e and n meet in the contact point, the loaded radius r_l = D / cos g from the centre: at -D n + D tan g s. The deflection is
d = r - r_l, the force f = k d + c d' (c sets in over the first 2 % of the radius, and nothing pulls: envelope.py). It acts
as the gradient of d: N = f / cos g along n in the contact point, a moment N D tan g along l about the centre; potential
k d^2 / 2. A disc that leans by more than 60 degrees would press on its rim: there cos g in r_l goes smoothly over to
1/4 + cos^2 g, and the contact point back below the centre.
A torus of section radius t would have r_l = t + (D - t) / cos g and its contact point (D - t) tan g aside of the centre, in
place of D tan g: what a motorcycle tire needs. The flat tread of a car tire is nearer to the disc, and what it differs by is
in the overturning moment of .tir files.

Slip. u is the velocity over the road of the wheel's point of contact, V = sqrt(x'^2 + V0^2), x' the velocity of the centre
along l. Slip is -(u_l, u_s) / V: along, a part of the speed; across, the tangent of the slip angle. V0 makes it a viscous
law near standstill: finite, through zero and into reverse. A tire that lies on its side (cos g < 1/2) has no way to roll:
its law fades out, and friction against u, of any direction, fades in.
Rolling resistance: a moment c_r N r against the spin. Dissipated: damper, slip and rolling (and the aligning moment on a yaw
rate, of either sign: turn slip is not modelled).

Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012), sec. 2.2, 4.3 and 9.2; Bernard and Clover, SAE 950311 (1995), have a speed
floor in the slip; DADS' own manual is not public: the damper's onset is ours.

docs/references.md: [ISO 8855], [Pacejka 2012], [Bernard, Clover 1995].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.points import point, point_velocity
from madi.forces.envelope import FOOT, distance, pressed
from madi.forces.fields import Arrays, Work
from madi.forces.frames import by_axes, direction, of_axes, road_axes, spin
from madi.forces.kind import ForceKind, account, add_force_and_torque
from madi.forces.road import way
from madi.forces.takes import A_ROAD, DIRECTION, NOT_NEGATIVE, POSITIVE, Takes, samples
from madi.kernel import inline, kernel, sqrt, where
from madi.spatial.vector import NO_DIRECTION, at, cross, dot, minus, plus, plus_scaled, put_at, scaled, three

NUMBERS = (
    "radius", "stiffness", "damping", "places", "slip_stiffness", "cornering_stiffness", "friction", "low_speed",
    "rolling_resistance", "sliding_friction", "patch",
)  # fmt: skip
PARAMETERS = ("x", "y", "z", "axis x", "axis y", "axis z", *(name.replace("_", " ") for name in NUMBERS), "road ...")
TAKES = {
    **dict.fromkeys(NUMBERS, NOT_NEGATIVE), **dict.fromkeys(("radius", "stiffness", "low_speed"), POSITIVE),
    "places": samples(), "axis": DIRECTION, "road": A_ROAD,
}  # fmt: skip
RADIUS, STIFFNESS, DAMPING, PLACES, ALONG, ACROSS, FRICTION, LOW_SPEED, ROLLING, SLIDING, PATCH, ROAD = range(6, 18)
SOFT = 0.02  # of the radius: the deflection over which the damper sets in
LEAN = 0.5  # cos g below which a wheel counts as lying more and more on its side
ON_ITS_SIDE = 1e-12  # cos^2 g below which it rolls nowhere: 1 / cos g stays a number
IN_THE_AIR = 1e-9  # N: friction below which a tire carries nothing, and is not divided by
# work.tire_contact: force f, its elastic part, rate and deflection; force and torque on the wheel per f; n, l, s, e, the
# arm to the contact point, its velocity over the road, the centre's velocity, the wheel's angular velocity, how upright it
# is, its centre
LOAD, ELASTIC, RATE, DEPTH, PUSH, TILT, NORMAL, WAY, SIDE, AXIS, ARM, SLIDE, SPEED, SPIN, UPRIGHT, CENTRE = (
    0, 1, 2, 3, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 35)  # fmt: skip


def tire_kind(name: str, code: int, more: tuple[str, ...] = (), takes: dict[str, Takes] = TAKES, **flags: Any) -> ForceKind:
    """The kind of a tire law; `more`: parameters behind those of all tires."""
    return ForceKind(
        name, code, parameters=(*PARAMETERS, *more), value="force of the road's normal", ends=1, points=1, wheel=True,
        tire=True, takes=takes, **flags,
    )  # fmt: skip


@kernel
def touch(model: Arrays, work: Work, e):
    """(force of the road's normal, slip along and across) of tire e; the geometry is left in work.tire_contact, in the axes
    of the reference frame."""
    i, s = model.force_a[e], model.force_at[e]
    p, k, axes = model.parameter, work.tire_contact, road_axes(model, work, i, s + ROAD)
    centre = point(work, i, at(p, s))
    u, axis, w = point_velocity(work, i, centre), direction(model, work, i, at(p, s + 3), True), spin(model, work, i, True)
    place = plus(by_axes(axes, centre), way(p, s + ROAD, three(work.frame_r, model.frame[i])))
    ground = distance(p, model.curve, s + ROAD, place, p[s + RADIUS], int(p[s + PLACES]))
    n, l, cosine, arm, depth, force, torque = meet(p[s + RADIUS], ground, axis, axes[0], axes[2])
    rate = -dot(force, u) - dot(torque, w)
    load, elastic = pressed(p[s + STIFFNESS], p[s + DAMPING], SOFT * p[s + RADIUS], depth, rate)
    side, slide, slip = slipping(p[s + LOW_SPEED], n, l, plus(u, cross(w, arm)), u)
    upright = where(cosine < LEAN, cosine / LEAN, 1.0)
    k[LOAD], k[ELASTIC], k[RATE], k[DEPTH] = load, elastic, rate, depth
    k[UPRIGHT] = upright * upright * (3.0 - 2.0 * upright)
    put_at(k, CENTRE, centre)
    put_at(k, PUSH, force)
    put_at(k, TILT, torque)
    put_at(k, NORMAL, n)
    put_at(k, WAY, l)
    put_at(k, SIDE, side)
    put_at(k, AXIS, axis)
    put_at(k, ARM, arm)
    put_at(k, SLIDE, slide)
    put_at(k, SPEED, u)
    put_at(k, SPIN, w)
    normal = load * dot(force, n)
    return where(normal > 0.0, normal, 0.0), slip  # less than none: over an edge sharper than one place can see


@inline
def meet(radius, ground, axis, forward, up):
    """Where the wheel meets a ground at that `distance`, by the road's axes: (n, l, cos g, arm from the centre to the
    contact point, deflection, and the gradient of that: force and torque on the wheel per f)."""
    far, by, rise, rise_by = ground
    level = 1.0 / sqrt(1.0 + rise * rise)
    n = plus_scaled(scaled(-rise * level, forward), level, up)
    tangent = plus_scaled(scaled(level, forward), rise * level, up)
    rolling, lean = cross(axis, n), dot(axis, n)  # cos(g) l, sin(g)
    square = dot(rolling, rolling)
    flat = square < ON_ITS_SIDE
    cosine = sqrt(where(flat, ON_ITS_SIDE, square))
    leaning, steep = cosine < LEAN, 1.0 / cosine
    # 1 / cos(g), of a cosine with its slope at LEAN and none at zero; then that slope, over cos(g)
    inverse = 1.0 / where(leaning, 0.5 * LEAN + 0.5 / LEAN * square, cosine)
    slope = where(leaning, 1.0 / LEAN, steep)
    loaded = far * inverse
    offset = loaded * lean * slope  # of the contact point, along cos(g) s
    tilt = offset * inverse
    # where the road is curved, sin(g) changes with the place: d(e . n) = -(e . t) d rise / (1 + rise^2), t its tangent
    bend = tilt * level * level * dot(axis, tangent)
    ahead, upward = minus(scaled(inverse, by), scaled(bend, rise_by))
    force = plus_scaled(scaled(ahead, forward), upward, up)
    depth = radius - loaded
    far, offset = where(far < radius, far, radius), where(depth > 0.0, offset, 0.0)
    arm = minus(scaled(offset, minus(axis, scaled(lean, n))), scaled(far, n))  # e - sin(g) n = cos(g) s
    return n, scaled(where(flat, 0.0, steep), rolling), cosine, arm, depth, force, scaled(tilt, rolling)


@inline
def slipping(low, n, l, velocity, u):
    """(s, velocity over the road, slip along and across) of the velocities of the contact point and of the centre."""
    side, slide = cross(n, l), minus(velocity, scaled(dot(velocity, n), n))
    pace = dot(u, l)
    slow = 1.0 / sqrt(pace * pace + low * low)
    return side, slide, (-slow * dot(slide, l), -slow * dot(slide, side))


@kernel
def push(model: Arrays, work: Work, e, normal, f, m):
    """Forces f along and across the road and moments m about both and about its normal, beside the normal's own force, onto
    the wheel."""
    i, s = model.force_a[e], model.force_at[e]
    p, k = model.parameter, work.tire_contact
    radius, slow, upright = p[s + RADIUS], p[s + LOW_SPEED], k[UPRIGHT]
    l, side, axis, slide = at(k, WAY), at(k, SIDE), at(k, AXIS), at(k, SLIDE)
    along, moments = scaled(upright, f), scaled(upright, m)
    scrape = -(1.0 - upright) * p[s + FRICTION] * normal / sqrt(dot(slide, slide) + slow * slow)
    force = plus_scaled(plus_scaled(scaled(along[0], l), along[1], side), scrape, slide)
    turn, low = dot(at(k, SPIN), axis), slow / radius
    drag = -p[s + ROLLING] * normal * radius * turn / sqrt(turn * turn + low * low)
    torque = plus_scaled(cross(at(k, ARM), force), drag, axis)
    torque = plus(torque, of_axes((l, side, at(k, NORMAL)), moments))
    load, elastic = k[LOAD], k[ELASTIC]
    force, torque = plus_scaled(force, load, at(k, PUSH)), plus_scaled(torque, load, at(k, TILT))
    power = dot(force, at(k, SPEED)) + dot(torque, at(k, SPIN))
    potential = where(k[DEPTH] > 0.0, 0.5 * elastic * k[DEPTH], 0.0)
    account(work, e, normal, potential, power, -power - elastic * k[RATE])
    add_force_and_torque(work, i, at(k, CENTRE), force, torque)


@inline
def linear(p, s, slip):
    """The force (C_k k, C_a tan a) of a slip (k, tan a)."""
    return p[s + ALONG] * slip[0], p[s + ACROSS] * slip[1]


@inline
def sliding(z):
    """What part of a brush's force is that of bristles that slide, z = |F| / (3 mu N) from no slip (0) to full sliding (1):
    they oppose the sliding velocity, the others are bent along F (brush.py)."""
    return z * (3.0 - 2.0 * z) / (3.0 * (1.0 - z) * (1.0 - z) + z * (3.0 - 2.0 * z))


@inline
def heading(f, slip, share):
    """Direction of a tire's force, at most of unit length: along f, its part `share` along the slip."""
    along = scaled((1.0 - share) / sqrt(dot(f, f) + NO_DIRECTION), f)
    return plus_scaled(along, share / sqrt(dot(slip, slip) + NO_DIRECTION), slip)


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
    """The wheel's centre and axis in its body, its numbers, the road."""
    given = force.parameters
    axis = np.asarray(given["axis"], dtype=float)
    inside = bodies[0].axes((axis / np.linalg.norm(axis)).reshape(3, 1)).reshape(-1)
    road = given["road"].pack(FOOT * float(given["radius"]))
    return [*points, *map(float, inside), *(float(given[name]) for name in NUMBERS), *road]
