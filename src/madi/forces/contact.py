"""What all tires share: contact with the road, slip, and where their forces go. A tire law is a file of its own that turns
load and slip into forces (tire.py, fiala.py, brush.py, tire_magic.py).

Contact. With the road's height h and slope h' as the wheel feels them (forces/wheel.py), deflection d = h + r - z and its
rate d' = h' x' - z':  f = k d + c d', zero when the wheel is off the road or when the damper would pull; over the first
2 % of the radius c grows from zero, so that touching down does not jump. The force on the wheel is f (up - h' forward),
along the gradient of d: the road's normal, with the potential k d^2 / 2 on any profile.
Slip. The tire touches the road r - d / sqrt(1 + h'^2) from the centre, along the normal n. With the spin axis e: l = e x n
the way it rolls, s = n x l across; u the velocity of its lowest point over the road, V = sqrt(x'^2 + V0^2) the speed of the
centre along l. Slip is -(u_l, u_s) / V: along, a share of the speed; across, the tangent of the slip angle. V0 makes it a
viscous law near standstill: finite, through zero and into reverse.
Rolling resistance: a moment c_r f r against the spin. Dissipated: damper, slip and rolling.
Bernard and Clover, SAE 950311 (1995), have a speed floor in the slip; DADS' own manual is not public: the damper's onset is
ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.kinematics import from_ground, point, to_ground
from madi.forces.frames import add_torque, spin
from madi.forces.kind import add_force, point_state
from madi.forces.line import account
from madi.forces.wheel import felt
from madi.kernel import kernel, sqrt, where
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
# work.contact: force along the gradient, the spring's part of it, rate and deflection; the road's gradient, n, l, s, e, the
# arm to the lowest point, the centre's velocity, the wheel's angular velocity
LOAD, ELASTIC, RATE, DEPTH, GRADIENT, NORMAL, WAY, SIDE, AXIS, ARM, SPEED, SPIN = 0, 1, 2, 3, 4, 7, 10, 13, 16, 19, 22, 25


@kernel
def touch(model, work, e):
    """(force of the road's normal, slip along, slip across) of tire e; the geometry is left in work.contact."""
    i, s = model.force_a[e], model.force_at[e]
    p, k = model.parameter, work.contact
    road = s + ROAD
    radius, stiffness, damping = p[s + RADIUS], p[s + STIFFNESS], p[s + DAMPING]
    x, y, z, u0, u1, u2 = point_state(model, work, i, s, False, 0)
    along, left, up = way(p, road, x, y, z)
    forward, _, rise = way(p, road, u0, u1, u2)
    h, slope = felt(p, road, along, left, radius, int(p[s + PLACES]))
    depth = h + radius - up
    rate = slope * forward - rise
    touching = depth > 0.0
    elastic = where(touching, stiffness * depth, 0.0)
    soft = SOFT * radius
    load = elastic + damping * where(depth < soft, depth / soft, 1.0) * rate
    load = where(touching, where(load > 0.0, load, 0.0), 0.0)
    # the road's normal, its length sqrt(1 + slope^2)
    g0, g1, g2 = p[road + 3] - slope * p[road], p[road + 4] - slope * p[road + 1], p[road + 5] - slope * p[road + 2]
    steep = sqrt(1.0 + slope * slope)
    n0, n1, n2 = g0 / steep, g1 / steep, g2 / steep
    e0, e1, e2 = spin_axis(model, work, i, s + 3)
    l0, l1, l2 = e1 * n2 - e2 * n1, e2 * n0 - e0 * n2, e0 * n1 - e1 * n0
    size = l0 * l0 + l1 * l1 + l2 * l2
    flat = size < 1e-12  # the wheel lies on its side: it rolls nowhere
    size = 1.0 / sqrt(where(flat, 1.0, size))
    l0, l1, l2 = l0 * size, l1 * size, l2 * size
    s0, s1, s2 = n1 * l2 - n2 * l1, n2 * l0 - n0 * l2, n0 * l1 - n1 * l0
    w0, w1, w2 = spin(model, work, i, False)
    # the tire's lowest point, from the centre, and its velocity over the road
    arm = radius - where(touching, depth, 0.0) / steep
    a0, a1, a2 = -arm * n0, -arm * n1, -arm * n2
    c0, c1, c2 = u0 + (w1 * a2 - w2 * a1), u1 + (w2 * a0 - w0 * a2), u2 + (w0 * a1 - w1 * a0)
    pace = u0 * l0 + u1 * l1 + u2 * l2
    slow = 1.0 / sqrt(pace * pace + p[s + LOW_SPEED] * p[s + LOW_SPEED])
    k[LOAD], k[ELASTIC], k[RATE], k[DEPTH] = load, elastic, rate, depth
    k[GRADIENT], k[GRADIENT + 1], k[GRADIENT + 2] = g0, g1, g2
    k[NORMAL], k[NORMAL + 1], k[NORMAL + 2] = n0, n1, n2
    k[WAY], k[WAY + 1], k[WAY + 2] = l0, l1, l2
    k[SIDE], k[SIDE + 1], k[SIDE + 2] = s0, s1, s2
    k[AXIS], k[AXIS + 1], k[AXIS + 2] = e0, e1, e2
    k[ARM], k[ARM + 1], k[ARM + 2] = a0, a1, a2
    k[SPEED], k[SPEED + 1], k[SPEED + 2] = u0, u1, u2
    k[SPIN], k[SPIN + 1], k[SPIN + 2] = w0, w1, w2
    return load * steep, -slow * (c0 * l0 + c1 * l1 + c2 * l2), -slow * (c0 * s0 + c1 * s1 + c2 * s2)


@kernel
def push(model, work, e, normal, fl, fs, ml, ms, mz):
    """Forces along and across the road and moments about both and about its normal, beside the normal's own force, onto
    the wheel."""
    i, s = model.force_a[e], model.force_at[e]
    p, k = model.parameter, work.contact
    radius, low = p[s + RADIUS], p[s + LOW_SPEED] / p[s + RADIUS]
    a0, a1, a2 = k[ARM], k[ARM + 1], k[ARM + 2]
    e0, e1, e2 = k[AXIS], k[AXIS + 1], k[AXIS + 2]
    u0, u1, u2 = k[SPEED], k[SPEED + 1], k[SPEED + 2]
    w0, w1, w2 = k[SPIN], k[SPIN + 1], k[SPIN + 2]
    f0, f1, f2 = fl * k[WAY] + fs * k[SIDE], fl * k[WAY + 1] + fs * k[SIDE + 1], fl * k[WAY + 2] + fs * k[SIDE + 2]
    turn = w0 * e0 + w1 * e1 + w2 * e2
    drag = -p[s + ROLLING] * normal * radius * turn / sqrt(turn * turn + low * low)
    t0 = a1 * f2 - a2 * f1 + drag * e0 + ml * k[WAY] + ms * k[SIDE] + mz * k[NORMAL]
    t1 = a2 * f0 - a0 * f2 + drag * e1 + ml * k[WAY + 1] + ms * k[SIDE + 1] + mz * k[NORMAL + 1]
    t2 = a0 * f1 - a1 * f0 + drag * e2 + ml * k[WAY + 2] + ms * k[SIDE + 2] + mz * k[NORMAL + 2]
    load, elastic = k[LOAD], k[ELASTIC]
    f0, f1, f2 = f0 + load * k[GRADIENT], f1 + load * k[GRADIENT + 1], f2 + load * k[GRADIENT + 2]
    power = f0 * u0 + f1 * u1 + f2 * u2 + t0 * w0 + t1 * w1 + t2 * w2
    potential = where(k[DEPTH] > 0.0, 0.5 * elastic * k[DEPTH], 0.0)
    account(work, e, normal, potential, power, -power - elastic * k[RATE])
    f0, f1, f2 = from_ground(work, model.frame[i], f0, f1, f2)
    x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
    add_force(work, i, x, y, z, f0, f1, f2)
    add_torque(model, work, i, t0, t1, t2, False)


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
