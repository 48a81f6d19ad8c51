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

from madi.dynamics.kinematics import from_ground, point, to_ground
from madi.forces.envelope import distance, pressed
from madi.forces.frames import add_torque, spin
from madi.forces.kind import add_force, point_state
from madi.forces.line import account
from madi.kernel import inline, kernel, sqrt, where
from madi.road import way

PARAMETERS = ("x", "y", "z", "axis x", "axis y", "axis z", "radius", "stiffness", "damping", "places", "slip stiffness",
              "cornering stiffness", "friction", "low speed", "rolling resistance", "sliding friction", "patch",
              "road ...")  # fmt: skip
NUMBERS = (
    "radius", "stiffness", "damping", "places", "slip_stiffness", "cornering_stiffness", "friction", "low_speed",
    "rolling_resistance", "sliding_friction", "patch",
)  # fmt: skip
POSITIVE = ("radius", "stiffness", "low_speed")
RADIUS, STIFFNESS, DAMPING, PLACES, ALONG, ACROSS, FRICTION, LOW_SPEED, ROLLING, SLIDING, PATCH, ROAD = range(6, 18)
SOFT = 0.02  # of the radius: the deflection over which the damper sets in
LEAN = 0.5  # cos g below which a wheel counts as lying more and more on its side
# work.contact: force f, its elastic part, rate and deflection; force and torque on the wheel per f; n, l, s, e, the arm to
# the contact point, its velocity over the road, the centre's velocity, the wheel's angular velocity, how upright it is
LOAD, ELASTIC, RATE, DEPTH, PUSH, TILT, NORMAL, WAY, SIDE, AXIS, ARM, SLIDE, SPEED, SPIN, UPRIGHT = (
    0, 1, 2, 3, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34)  # fmt: skip


@kernel
def touch(model, work, e):
    """(force of the road's normal, slip along, slip across) of tire e; the geometry is left in work.contact."""
    i, s = model.force_a[e], model.force_at[e]
    p, k = model.parameter, work.contact
    road, radius = s + ROAD, p[s + RADIUS]
    x, y, z, u0, u1, u2 = point_state(model, work, i, s, False, 0)
    along, left, up = way(p, road, x, y, z)
    far, by_x, by_z, rise, rise_x, rise_z = distance(p, road, along, left, up, radius, int(p[s + PLACES]))
    level = 1.0 / sqrt(1.0 + rise * rise)
    n0, n1, n2 = along_road(p, road, -rise * level, level)
    e0, e1, e2 = spin_axis(model, work, i, s + 3)
    # e x n = cos(g) l; e - sin(g) n = cos(g) s
    l0, l1, l2 = e1 * n2 - e2 * n1, e2 * n0 - e0 * n2, e0 * n1 - e1 * n0
    lean = e0 * n0 + e1 * n1 + e2 * n2
    square = l0 * l0 + l1 * l1 + l2 * l2
    flat = square < 1e-12  # the wheel lies on its side: it rolls nowhere
    cosine = sqrt(where(flat, 1e-12, square))
    leaning = cosine < LEAN
    chi = where(leaning, 0.5 * LEAN + 0.5 / LEAN * square, cosine)  # cos(g), with its slope at LEAN and none at zero
    slope = where(leaning, 1.0 / LEAN, 1.0 / cosine)  # d chi / d cos(g), over cos(g)
    offset = far * lean * slope / chi  # of the contact point, along cos(g) s
    tilt = offset / chi
    # where the road is curved, sin(g) changes with the place: d(e . n) = -(e . t) d rise / (1 + rise^2), t its tangent
    f0, f1, f2 = along_road(p, road, level, rise * level)
    bend = tilt * level * level * (e0 * f0 + e1 * f1 + e2 * f2)
    f0, f1, f2 = along_road(p, road, by_x / chi - bend * rise_x, by_z / chi - bend * rise_z)
    t0, t1, t2 = tilt * l0, tilt * l1, tilt * l2
    w0, w1, w2 = spin(model, work, i, False)
    depth = radius - far / chi
    rate = -(f0 * u0 + f1 * u1 + f2 * u2) - (t0 * w0 + t1 * w1 + t2 * w2)
    load, elastic = pressed(p[s + STIFFNESS], p[s + DAMPING], SOFT * radius, depth, rate)
    # from the centre to the contact point, and its velocity over the road
    far = where(far < radius, far, radius)
    offset = where(depth > 0.0, offset, 0.0)
    a0 = offset * (e0 - lean * n0) - far * n0
    a1 = offset * (e1 - lean * n1) - far * n1
    a2 = offset * (e2 - lean * n2) - far * n2
    size = where(flat, 0.0, 1.0 / cosine)
    l0, l1, l2 = l0 * size, l1 * size, l2 * size
    s0, s1, s2 = n1 * l2 - n2 * l1, n2 * l0 - n0 * l2, n0 * l1 - n1 * l0
    c0, c1, c2 = u0 + (w1 * a2 - w2 * a1), u1 + (w2 * a0 - w0 * a2), u2 + (w0 * a1 - w1 * a0)
    away = c0 * n0 + c1 * n1 + c2 * n2
    c0, c1, c2 = c0 - away * n0, c1 - away * n1, c2 - away * n2
    pace = u0 * l0 + u1 * l1 + u2 * l2
    slow = 1.0 / sqrt(pace * pace + p[s + LOW_SPEED] * p[s + LOW_SPEED])
    upright = where(leaning, cosine / LEAN, 1.0)
    k[LOAD], k[ELASTIC], k[RATE], k[DEPTH] = load, elastic, rate, depth
    k[PUSH], k[PUSH + 1], k[PUSH + 2] = f0, f1, f2
    k[TILT], k[TILT + 1], k[TILT + 2] = t0, t1, t2
    k[NORMAL], k[NORMAL + 1], k[NORMAL + 2] = n0, n1, n2
    k[WAY], k[WAY + 1], k[WAY + 2] = l0, l1, l2
    k[SIDE], k[SIDE + 1], k[SIDE + 2] = s0, s1, s2
    k[AXIS], k[AXIS + 1], k[AXIS + 2] = e0, e1, e2
    k[ARM], k[ARM + 1], k[ARM + 2] = a0, a1, a2
    k[SLIDE], k[SLIDE + 1], k[SLIDE + 2] = c0, c1, c2
    k[SPEED], k[SPEED + 1], k[SPEED + 2] = u0, u1, u2
    k[SPIN], k[SPIN + 1], k[SPIN + 2] = w0, w1, w2
    k[UPRIGHT] = upright * upright * (3.0 - 2.0 * upright)
    normal = load * (f0 * n0 + f1 * n1 + f2 * n2)
    normal = where(normal > 0.0, normal, 0.0)  # over an edge sharper than one place can see
    return normal, -slow * (c0 * l0 + c1 * l1 + c2 * l2), -slow * (c0 * s0 + c1 * s1 + c2 * s2)


@inline
def along_road(p, s, x, z):
    """x forward + z up, along the axes of the road packed at p[s:]."""
    return x * p[s] + z * p[s + 3], x * p[s + 1] + z * p[s + 4], x * p[s + 2] + z * p[s + 5]


@kernel
def push(model, work, e, normal, fl, fs, ml, ms, mz):
    """Forces along and across the road and moments about both and about its normal, beside the normal's own force, onto
    the wheel."""
    i, s = model.force_a[e], model.force_at[e]
    p, k = model.parameter, work.contact
    radius, slow = p[s + RADIUS], p[s + LOW_SPEED]
    low = slow / radius
    a0, a1, a2 = k[ARM], k[ARM + 1], k[ARM + 2]
    e0, e1, e2 = k[AXIS], k[AXIS + 1], k[AXIS + 2]
    c0, c1, c2 = k[SLIDE], k[SLIDE + 1], k[SLIDE + 2]
    u0, u1, u2 = k[SPEED], k[SPEED + 1], k[SPEED + 2]
    w0, w1, w2 = k[SPIN], k[SPIN + 1], k[SPIN + 2]
    upright = k[UPRIGHT]
    fl, fs, ml, ms, mz = upright * fl, upright * fs, upright * ml, upright * ms, upright * mz
    scrape = -(1.0 - upright) * p[s + FRICTION] * normal / sqrt(c0 * c0 + c1 * c1 + c2 * c2 + slow * slow)
    f0 = fl * k[WAY] + fs * k[SIDE] + scrape * c0
    f1 = fl * k[WAY + 1] + fs * k[SIDE + 1] + scrape * c1
    f2 = fl * k[WAY + 2] + fs * k[SIDE + 2] + scrape * c2
    turn = w0 * e0 + w1 * e1 + w2 * e2
    drag = -p[s + ROLLING] * normal * radius * turn / sqrt(turn * turn + low * low)
    load, elastic = k[LOAD], k[ELASTIC]
    t0 = a1 * f2 - a2 * f1 + drag * e0 + ml * k[WAY] + ms * k[SIDE] + mz * k[NORMAL] + load * k[TILT]
    t1 = a2 * f0 - a0 * f2 + drag * e1 + ml * k[WAY + 1] + ms * k[SIDE + 1] + mz * k[NORMAL + 1] + load * k[TILT + 1]
    t2 = a0 * f1 - a1 * f0 + drag * e2 + ml * k[WAY + 2] + ms * k[SIDE + 2] + mz * k[NORMAL + 2] + load * k[TILT + 2]
    f0, f1, f2 = f0 + load * k[PUSH], f1 + load * k[PUSH + 1], f2 + load * k[PUSH + 2]
    power = f0 * u0 + f1 * u1 + f2 * u2 + t0 * w0 + t1 * w1 + t2 * w2
    potential = where(k[DEPTH] > 0.0, 0.5 * elastic * k[DEPTH], 0.0)
    account(work, e, normal, potential, power, -power - elastic * k[RATE])
    f0, f1, f2 = from_ground(work, model.frame[i], f0, f1, f2)
    x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
    add_force(work, i, x, y, z, f0, f1, f2)
    add_torque(model, work, i, t0, t1, t2, False)


@inline
def sliding(z):
    """What part of a brush's force is that of bristles that slide, z = |F| / (3 mu N) from no slip (0) to full sliding (1):
    they oppose the sliding velocity, the others are bent along F (brush.py)."""
    return z * (3.0 - 2.0 * z) / (3.0 * (1.0 - z) * (1.0 - z) + z * (3.0 - 2.0 * z))


@inline
def heading(fl, fs, along, across, share):
    """Direction of a tire's force, at most of unit length: along (fl, fs), its part `share` along the slip."""
    force = (1.0 - share) / sqrt(fl * fl + fs * fs + 1e-200)
    slip = share / sqrt(along * along + across * across + 1e-200)
    return force * fl + slip * along, force * fs + slip * across


@kernel
def spin_axis(model, work, i, s):
    """The direction parameter[s:s+3] of body i in ground axes."""
    p, R = model.parameter, work.R
    return to_ground(
        work, model.frame[i],
        R[i, 0, 0] * p[s] + R[i, 0, 1] * p[s + 1] + R[i, 0, 2] * p[s + 2],
        R[i, 1, 0] * p[s] + R[i, 1, 1] * p[s + 1] + R[i, 1, 2] * p[s + 2],
        R[i, 2, 0] * p[s] + R[i, 2, 1] * p[s + 1] + R[i, 2, 2] * p[s + 2],
    )  # fmt: skip


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The wheel's centre and axis in its body, its numbers, the road."""
    given = force.parameters
    axis = np.asarray(given["axis"], dtype=float)
    inside = bodies[0].axes((axis / np.linalg.norm(axis)).reshape(3, 1)).reshape(-1)
    return [*points, *map(float, inside), *(float(given[name]) for name in NUMBERS), *given["road"].pack()]
