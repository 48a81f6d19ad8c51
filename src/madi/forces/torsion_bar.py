"""Torsion bar: a torque about an axis between two bodies, whatever joins them.

The axis is fixed to body a; the angle is that of body b about it, from the drawing, within half a turn either way:
torque on b  -k (angle - rest) - c w,  w the relative angular velocity about the axis.
Potential k (angle - rest)^2 / 2, dissipated power c w^2. Exact where the axes of both bodies stay together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.forces.frames import add_torque, axis, spin
from madi.forces.kind import ForceKind
from madi.forces.line import account
from madi.kernel import atan2, kernel
from madi.spatial.rotation import frame_with_z

KIND = ForceKind(
    "torsion_bar",
    code=8,
    parameters=("axes of a ...", "axes of b ...", "stiffness", "damping", "rest"),
    value="torque",
    unit="N m",
    ends=2,
)


@kernel
def apply(model, work, e):
    """Turn both bodies towards the rest angle."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    common = model.frame[a] == model.frame[b]
    p = model.parameter
    x0, x1, x2 = axis(model, work, a, s, 0, common)
    y0, y1, y2 = axis(model, work, a, s, 1, common)
    z0, z1, z2 = axis(model, work, a, s, 2, common)
    b0, b1, b2 = axis(model, work, b, s + 9, 0, common)
    angle = atan2(b0 * y0 + b1 * y1 + b2 * y2, b0 * x0 + b1 * x1 + b2 * x2) - p[s + 20]
    u0, u1, u2 = spin(model, work, a, common)
    w0, w1, w2 = spin(model, work, b, common)
    rate = z0 * (w0 - u0) + z1 * (w1 - u1) + z2 * (w2 - u2)
    k, c = p[s + 18], p[s + 19]
    n = -k * angle - c * rate
    add_torque(model, work, b, n * z0, n * z1, n * z2, common)
    add_torque(model, work, a, -n * z0, -n * z1, -n * z2, common)
    account(work, e, n, 0.5 * k * angle * angle, n * rate, c * rate * rate)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The axis as a frame in both bodies, then the numbers."""
    drawn = frame_with_z(np.asarray(force.parameters["axis"], dtype=float))
    frames = [float(v) for body in bodies for v in body.axes(drawn).reshape(-1)]
    return frames + [float(force.parameters[name]) for name in ("stiffness", "damping", "rest")]
