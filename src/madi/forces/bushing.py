"""Bushing: six springs and dampers between two frames that coincide in the drawing.

In the axes of the frame on a: d the displacement of b's origin, d' its rate seen from a, theta the rotation vector of b's
frame, w its relative angular velocity. Force on b  -k d - c d', at its point; torque on b  -T^T(theta) k theta - c w, where
theta' = T w: so the springs have the potential (k d^2 + k theta^2) / 2 whatever the angles are. The counterforce acts on a
at the same point. Dissipated: c d'^2 + c w^2, component by component. w and torques are in the axes of b's frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.dynamics.points import from_ground
from madi.forces.fields import Arrays, Work
from madi.forces.frames import axes, by_axes, of_axes, spin
from madi.forces.kind import ForceKind, account, add_force, add_torque, origin_apart, point_state, seen_from
from madi.forces.takes import DIRECTION, several
from madi.kernel import LEAST_SIZE, atan2, inline, kernel, sqrt, where
from madi.spatial.rotation import frame_with_z, rate_factor
from madi.spatial.vector import at, cross, dot, minus, plus, plus_scaled, scaled

SIX = several(6, lambda x: np.all(x >= 0), "{name} {value!r} is not six numbers >= 0", "Three along, three about the axes")
SMALL_TURN = 1e-12  # sin^2 of the angle below which its series serves; the next term is below 1e-24
KIND = ForceKind(
    "bushing", code=9, value="force", ends=2, points=1, turns=True, mount=True,
    parameters=("point on a", "point on b", "axes of a ...", "axes of b ...", "stiffness (6)", "damping (6)"),
    takes={"axis": DIRECTION.or_none(), "stiffness": SIX, "damping": SIX},
)  # fmt: skip


@inline
def each(k, x):
    """k x component by component: a diagonal matrix times a vector."""
    return k[0] * x[0], k[1] * x[1], k[2] * x[2]


@kernel
def rotation_vector(A, B):
    """Rotation vector, shorter than a half turn, of the axes B seen in the axes A: of the matrix A^T B."""
    x = scaled(0.5, (
        dot(A[2], B[1]) - dot(A[1], B[2]),
        dot(A[0], B[2]) - dot(A[2], B[0]),
        dot(A[1], B[0]) - dot(A[0], B[1]),
    ))  # fmt: skip
    s, c = sqrt(dot(x, x) + LEAST_SIZE), 0.5 * (dot(A[0], B[0]) + dot(A[1], B[1]) + dot(A[2], B[2]) - 1.0)
    return scaled(where(s * s < SMALL_TURN, 1.0 + s * s / 6.0, atan2(s, c) / s), x)


@kernel
def transposed_rate(theta, y):
    """T^T y with theta' = T w: y - theta x y / 2 + c theta x (theta x y) (spatial/rotation.py)."""
    a = cross(theta, y)
    return plus_scaled(minus(y, scaled(0.5, a)), rate_factor(dot(theta, theta)), cross(theta, a))


@kernel
def apply(model: Arrays, work: Work, e):
    """Force and torque on both bodies."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p, k, c = model.parameter, s + 24, s + 30
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    A, B = axes(model, work, a, s + 6, common), axes(model, work, b, s + 15, common)
    place_a, velocity_a = point_state(model, work, a, s, common, o)
    place, velocity = point_state(model, work, b, s + 3, common, o)
    between, spin_a = minus(place, place_a), spin(model, work, a, common)
    d, seen = by_axes(A, between), minus(minus(velocity, velocity_a), cross(spin_a, between))
    rate, theta = by_axes(A, seen), rotation_vector(A, B)
    w = by_axes(B, minus(spin(model, work, b, common), spin_a))
    # what pulls b's frame back to that on a
    spring, damper = each(at(p, k), d), each(at(p, c), rate)
    twist, brake = each(at(p, k + 3), theta), each(at(p, c + 3), w)
    f, n = plus(spring, damper), plus(transposed_rate(theta, twist), brake)
    force, torque = of_axes(A, f), of_axes(B, n)
    push_at(model, work, a, place, force, common, o)
    push_at(model, work, b, place, scaled(-1.0, force), common, o)
    add_torque(model, work, a, torque, common)
    add_torque(model, work, b, scaled(-1.0, torque), common)
    potential = 0.5 * (dot(spring, d) + dot(twist, theta))
    account(work, e, sqrt(dot(f, f)), potential, -(dot(f, rate) + dot(n, w)), dot(damper, rate) + dot(brake, w))


@kernel
def push_at(model: Arrays, work: Work, i, x, f, common, o):
    """A force f on body i at a place x given as `point_state` does."""
    if i > 0:
        if not common:
            frame = model.frame[i]
            x = from_ground(work, frame, minus(x, origin_apart(work, frame, o)))
            f = from_ground(work, frame, f)
        add_force(work, i, x, f)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The point and the axes in both bodies, then the numbers."""
    place = np.asarray(force.at[0], dtype=float)
    z = force.parameters["axis"]
    drawn = np.eye(3) if z is None else frame_with_z(np.asarray(z, dtype=float))
    numbers = [float(v) for body in bodies for v in body.point(place)]
    numbers += [float(v) for body in bodies for v in body.axes(drawn).reshape(-1)]
    return numbers + [float(v) for name in ("stiffness", "damping") for v in force.parameters[name]]
