"""Torsion bar: a torque about an axis between two bodies, whatever joins them and however their axes tilt.

The angle is the twist of body b against body a about the axis, counted from the drawing within half a turn either way: with
the axes x, y of both, that coincide in the drawing,

    A = x_a . x_b + y_a . y_b,    B = y_a . x_b - x_a . y_b,    angle = atan2(B, A)

(the turn about z that is left when the rotation is split into a swing and a twist; it does not matter which body is a). The
torque is along its gradient,  g = (A dB - B dA) / (A^2 + B^2)  with  dA = x_b x x_a + y_b x y_a,  dB = x_b x y_a - y_b x
x_a, which is the axis itself as long as both stay together:  torque on b  (-k (angle - rest) - c g . w) g,  w the relative
angular velocity. Potential k (angle - rest)^2 / 2, dissipated power c (g . w)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.forces.frames import add_torque, axis, spin
from madi.forces.kind import ForceKind
from madi.forces.line import account
from madi.kernel import atan2, kernel, where
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
    b0, b1, b2 = axis(model, work, b, s + 9, 0, common)
    c0, c1, c2 = axis(model, work, b, s + 9, 1, common)
    A = x0 * b0 + x1 * b1 + x2 * b2 + y0 * c0 + y1 * c1 + y2 * c2
    B = y0 * b0 + y1 * b1 + y2 * b2 - x0 * c0 - x1 * c1 - x2 * c2
    angle = atan2(B, A) - p[s + 20]
    # A y_a - B x_a and A x_a + B y_a over A^2 + B^2: what x_b and y_b are turned against
    size = A * A + B * B
    size = 1.0 / where(size > 1e-12, size, 1e-12)  # body b upside down has no twist
    A, B = A * size, B * size
    u0, u1, u2 = A * y0 - B * x0, A * y1 - B * x1, A * y2 - B * x2
    v0, v1, v2 = A * x0 + B * y0, A * x1 + B * y1, A * x2 + B * y2
    z0 = b1 * u2 - b2 * u1 - (c1 * v2 - c2 * v1)
    z1 = b2 * u0 - b0 * u2 - (c2 * v0 - c0 * v2)
    z2 = b0 * u1 - b1 * u0 - (c0 * v1 - c1 * v0)
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
