"""Torsion bar: a torque about an axis between two bodies, whatever joins them and however their axes tilt.

The angle is the twist of body b against body a about the axis, counted from the drawing within half a turn either way: with
the axes x, y of both, that coincide in the drawing,

    A = x_a . x_b + y_a . y_b,    B = y_a . x_b - x_a . y_b,    angle = atan2(B, A)

(the turn about z that is left when the rotation is split into a swing and a twist; it does not matter which body is a). The
torque is along its gradient,  g = (A dB - B dA) / (A^2 + B^2)  with  dA = x_b x x_a + y_b x y_a,  dB = x_b x y_a - y_b x
x_a:  g = x_b x u - y_b x v  with  u = (A y_a - B x_a) / (A^2 + B^2)  and  v = (A x_a + B y_a) / (A^2 + B^2),  which is the
axis itself as long as both stay together. Torque on b  (-k (angle - rest) - c g . w) g,  w the relative angular velocity.
Potential k (angle - rest)^2 / 2, dissipated power c (g . w)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.forces.fields import Arrays, Work
from madi.forces.frames import column, direction, spin
from madi.forces.kind import ForceKind, account, add_torque
from madi.forces.takes import DIRECTION, NOT_NEGATIVE, NUMBER
from madi.kernel import atan2, kernel, where
from madi.spatial.rotation import frame_with_z
from madi.spatial.vector import cross, dot, minus, plus, scaled

UPSIDE_DOWN = 1e-12  # A^2 + B^2 (4 as drawn) below which body b is: it has no twist, and nothing is divided by
KIND = ForceKind(
    "torsion_bar", code=8, value="torque", unit="N m", ends=2, turns=True,
    parameters=("axes of a ...", "axes of b ...", "stiffness", "damping", "rest"),
    takes={"axis": DIRECTION, "stiffness": NUMBER, "damping": NOT_NEGATIVE, "rest": NUMBER},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Turn both bodies towards the rest angle."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    common = model.frame[a] == model.frame[b]
    p = model.parameter
    x_a, y_a = direction(model, work, a, column(p, s, 0), common), direction(model, work, a, column(p, s, 1), common)
    x_b, y_b = direction(model, work, b, column(p, s + 9, 0), common), direction(model, work, b, column(p, s + 9, 1), common)
    A, B = dot(x_a, x_b) + dot(y_a, y_b), dot(y_a, x_b) - dot(x_a, y_b)
    angle = atan2(B, A) - p[s + 20]
    size = A * A + B * B
    size = 1.0 / where(size > UPSIDE_DOWN, size, UPSIDE_DOWN)
    A, B = A * size, B * size
    u, v = minus(scaled(A, y_a), scaled(B, x_a)), plus(scaled(A, x_a), scaled(B, y_a))
    g = minus(cross(x_b, u), cross(y_b, v))
    rate = dot(g, minus(spin(model, work, b, common), spin(model, work, a, common)))
    k, c = p[s + 18], p[s + 19]
    n = -k * angle - c * rate
    add_torque(model, work, b, scaled(n, g), common)
    add_torque(model, work, a, scaled(-n, g), common)
    account(work, e, n, 0.5 * k * angle * angle, n * rate, c * rate * rate)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The axis as a frame in both bodies, then the numbers."""
    drawn = frame_with_z(np.asarray(force.parameters["axis"], dtype=float))
    frames = [float(v) for body in bodies for v in body.axes(drawn).reshape(-1)]
    return frames + [float(force.parameters[name]) for name in ("stiffness", "damping", "rest")]
