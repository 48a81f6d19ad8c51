"""Bushing: six springs and dampers between two frames that coincide in the drawing.

In the axes of the frame on a: d the displacement of b's origin, d' its rate seen from a, theta the rotation vector of b's
frame, w its relative angular velocity. Force on b  -k d - c d', at its point; torque on b  -T^T(theta) k theta - c w, where
theta' = T w: so the springs have the potential (k d^2 + k theta^2) / 2 whatever the angles are. The counterforce acts on a
at the same point. Dissipated: c d'^2 + c w^2, component by component. w and torques are in the axes of b's frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.kinematics import from_ground
from madi.forces.frames import add_torque, axis, spin
from madi.forces.kind import ForceKind, add_force, point_state, seen_from
from madi.forces.line import account
from madi.kernel import apart, atan2, kernel, sqrt, where
from madi.spatial.rotation import frame_with_z, rate_factor

KIND = ForceKind(
    "bushing",
    code=9,
    parameters=("point on a", "point on b", "axes of a ...", "axes of b ...", "stiffness (6)", "damping (6)"),
    value="force",
    ends=2,
)


@kernel
def rotation_vector(m00, m01, m02, m10, m11, m12, m20, m21, m22):
    """Rotation vector of a matrix, shorter than a half turn."""
    x, y, z = 0.5 * (m21 - m12), 0.5 * (m02 - m20), 0.5 * (m10 - m01)
    s = sqrt(x * x + y * y + z * z + 1e-300)
    c = 0.5 * (m00 + m11 + m22 - 1.0)
    angle = atan2(s, c)
    factor = where(s * s < 1e-12, 1.0 + s * s / 6.0, angle / s)
    return factor * x, factor * y, factor * z


@kernel
def transposed_rate(t0, t1, t2, y0, y1, y2):
    """T^T y with theta' = T w: y - theta x y / 2 + c theta x (theta x y) (spatial/rotation.py)."""
    c = rate_factor(t0 * t0 + t1 * t1 + t2 * t2)
    a0, a1, a2 = t1 * y2 - t2 * y1, t2 * y0 - t0 * y2, t0 * y1 - t1 * y0
    return (
        y0 - 0.5 * a0 + c * (t1 * a2 - t2 * a1),
        y1 - 0.5 * a1 + c * (t2 * a0 - t0 * a2),
        y2 - 0.5 * a2 + c * (t0 * a1 - t1 * a0),
    )


@kernel
def apply(model, work, e):
    """Force and torque on both bodies."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    k, c = s + 24, s + 30
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    ax, ay, az, au, av, aw = point_state(model, work, a, s, common, o)
    bx, by, bz, bu, bv, bw = point_state(model, work, b, s + 3, common, o)
    d0, d1, d2 = bx - ax, by - ay, bz - az
    o0, o1, o2 = spin(model, work, a, common)
    w0, w1, w2 = spin(model, work, b, common)
    # velocity of b's point seen from a
    v0, v1, v2 = bu - au - (o1 * d2 - o2 * d1), bv - av - (o2 * d0 - o0 * d2), bw - aw - (o0 * d1 - o1 * d0)
    x0, x1, x2 = axis(model, work, a, s + 6, 0, common)
    y0, y1, y2 = axis(model, work, a, s + 6, 1, common)
    z0, z1, z2 = axis(model, work, a, s + 6, 2, common)
    i0, i1, i2 = axis(model, work, b, s + 15, 0, common)
    j0, j1, j2 = axis(model, work, b, s + 15, 1, common)
    k0, k1, k2 = axis(model, work, b, s + 15, 2, common)
    e0, e1, e2 = x0 * d0 + x1 * d1 + x2 * d2, y0 * d0 + y1 * d1 + y2 * d2, z0 * d0 + z1 * d1 + z2 * d2
    r0, r1, r2 = x0 * v0 + x1 * v1 + x2 * v2, y0 * v0 + y1 * v1 + y2 * v2, z0 * v0 + z1 * v1 + z2 * v2
    f0, f1, f2 = -p[k] * e0 - p[c] * r0, -p[k + 1] * e1 - p[c + 1] * r1, -p[k + 2] * e2 - p[c + 2] * r2
    t0, t1, t2 = rotation_vector(
        x0 * i0 + x1 * i1 + x2 * i2, x0 * j0 + x1 * j1 + x2 * j2, x0 * k0 + x1 * k1 + x2 * k2,
        y0 * i0 + y1 * i1 + y2 * i2, y0 * j0 + y1 * j1 + y2 * j2, y0 * k0 + y1 * k1 + y2 * k2,
        z0 * i0 + z1 * i1 + z2 * i2, z0 * j0 + z1 * j1 + z2 * j2, z0 * k0 + z1 * k1 + z2 * k2,
    )  # fmt: skip
    q0, q1, q2 = w0 - o0, w1 - o1, w2 - o2
    g0, g1, g2 = i0 * q0 + i1 * q1 + i2 * q2, j0 * q0 + j1 * q1 + j2 * q2, k0 * q0 + k1 * q1 + k2 * q2
    n0, n1, n2 = transposed_rate(t0, t1, t2, p[k + 3] * t0, p[k + 4] * t1, p[k + 5] * t2)
    n0, n1, n2 = -n0 - p[c + 3] * g0, -n1 - p[c + 4] * g1, -n2 - p[c + 5] * g2
    # to the axes both bodies share
    fx, fy, fz = f0 * x0 + f1 * y0 + f2 * z0, f0 * x1 + f1 * y1 + f2 * z1, f0 * x2 + f1 * y2 + f2 * z2
    nx, ny, nz = n0 * i0 + n1 * j0 + n2 * k0, n0 * i1 + n1 * j1 + n2 * k1, n0 * i2 + n1 * j2 + n2 * k2
    push_at(model, work, b, bx, by, bz, fx, fy, fz, common, o)
    push_at(model, work, a, bx, by, bz, -fx, -fy, -fz, common, o)
    add_torque(model, work, b, nx, ny, nz, common)
    add_torque(model, work, a, -nx, -ny, -nz, common)
    potential = 0.5 * (p[k] * e0 * e0 + p[k + 1] * e1 * e1 + p[k + 2] * e2 * e2)
    potential = potential + 0.5 * (p[k + 3] * t0 * t0 + p[k + 4] * t1 * t1 + p[k + 5] * t2 * t2)
    lost = p[c] * r0 * r0 + p[c + 1] * r1 * r1 + p[c + 2] * r2 * r2
    lost = lost + p[c + 3] * g0 * g0 + p[c + 4] * g1 * g1 + p[c + 5] * g2 * g2
    power = f0 * r0 + f1 * r1 + f2 * r2 + n0 * g0 + n1 * g1 + n2 * g2
    account(work, e, sqrt(f0 * f0 + f1 * f1 + f2 * f2), potential, power, lost)


@kernel
def push_at(model, work, i, x, y, z, f0, f1, f2, common, o):
    """A force on body i at a place given as `point_state` does."""
    if i > 0:
        if not common:
            f, O = model.frame[i], work.frame_r
            x, y, z = x - apart(O[f, 0], O[o, 0]), y - apart(O[f, 1], O[o, 1]), z - apart(O[f, 2], O[o, 2])
            x, y, z = from_ground(work, f, x, y, z)
            f0, f1, f2 = from_ground(work, f, f0, f1, f2)
        add_force(work, i, x, y, z, f0, f1, f2)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The point and the axes in both bodies, then the numbers."""
    at = np.asarray(force.at[0], dtype=float)
    z = force.parameters["axis"]
    drawn = np.eye(3) if z is None else frame_with_z(np.asarray(z, dtype=float))
    numbers = [float(v) for body in bodies for v in body.point(at)]
    numbers += [float(v) for body in bodies for v in body.axes(drawn).reshape(-1)]
    return numbers + [float(v) for name in ("stiffness", "damping") for v in force.parameters[name]]
