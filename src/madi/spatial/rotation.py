"""Rotation matrices (body axes to reference axes) and unit quaternions (w, x, y, z).

Steps on the rotation group use the chart `A = A0 exp(theta~)` at the present rotation A0. With the angular velocity `w`
in the child's axes,

    theta' = w + 1/2 theta~ w + c theta~ theta~ w,   c = 1/|theta|^2 - (1 + cos|theta|) / (2 |theta| sin|theta|),

the inverse of the right Jacobian of the exponential map.

docs/references.md: [Iserles et al. 2000].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.kernel import atan2, cos, inline, kernel, sin, sincos, sqrt, where
from madi.spatial.vector import cross, dot, plus, plus_scaled, scaled

SMALL = 1e-4  # |theta|^2 below which the series serve; their next terms are below 1e-16 there
SMALL_SLOPE = 1e-2  # the same of their derivatives, which divide by it twice: 1e-12
TWO_PI = 6.283185307179586
NO_LENGTH = 1e-12  # of a direction or quaternion as given: below it points nowhere
PARALLEL = 1e-9  # sine of the angle of two directions as given: below they are along one line
ORTHONORMAL = 1e-8  # entries of R R^T - 1 of a matrix as given: it may have been written with nine digits


@kernel
def quaternion_to_matrix(q, k, A):
    """Rotation matrix A of the unit quaternion q[k:k+4]."""
    w, x = q[k], q[k + 1]
    y, z = q[k + 2], q[k + 3]
    A[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    A[0, 1] = 2.0 * (x * y - w * z)
    A[0, 2] = 2.0 * (x * z + w * y)
    A[1, 0] = 2.0 * (x * y + w * z)
    A[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    A[1, 2] = 2.0 * (y * z - w * x)
    A[2, 0] = 2.0 * (x * z - w * y)
    A[2, 1] = 2.0 * (y * z + w * x)
    A[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@inline
def put_turn(R, angle):
    """R <- a turn about z."""
    s, c = sincos(angle)
    R[0, 0], R[0, 1], R[0, 2] = c, -s, 0.0
    R[1, 0], R[1, 1], R[1, 2] = s, c, 0.0
    R[2, 0], R[2, 1], R[2, 2] = 0.0, 0.0, 1.0


@inline
def quaternion(q, k):
    """The quaternion q[k:k+4] of a flat array."""
    return q[k], q[k + 1], q[k + 2], q[k + 3]


@inline
def put_quaternion(q, k, s, x):
    """q[k:k+4] = s times the quaternion x."""
    q[k] = s * x[0]
    q[k + 1] = s * x[1]
    q[k + 2] = s * x[2]
    q[k + 3] = s * x[3]


@inline
def square(q):
    """Square of a quaternion's length."""
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]


@inline
def conjugate(q):
    """The quaternion of the rotation back."""
    return q[0], -q[1], -q[2], -q[3]


@kernel
def quaternion_product(a, b):
    """The quaternion of rotation a followed, in the turned axes, by b."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inline
def skew_series(theta, f, g, x):
    """x + f theta~ x + g theta~ theta~ x: what all functions of a rotation vector look like."""
    y = cross(theta, x)
    return plus_scaled(plus_scaled(x, f, y), g, cross(theta, y))


@kernel
def quaternion_exp(theta):
    """Unit quaternion of the rotation vector theta."""
    s = dot(theta, theta)
    small = s < SMALL
    angle = sqrt(where(small, 1.0, s))
    c = where(small, 1.0 - s * (1.0 / 8.0 - s * (1.0 / 384.0 - s / 46080.0)), cos(0.5 * angle))
    f = where(small, 0.5 - s * (1.0 / 48.0 - s * (1.0 / 3840.0 - s / 645120.0)), sin(0.5 * angle) / angle)
    return c, f * theta[0], f * theta[1], f * theta[2]


@kernel
def slide_factors(s):
    """f = (1 - cos t)/t^2 and g = (t - sin t)/t^3, for s = t^2."""
    small = s < SMALL
    safe = where(small, 1.0, s)
    angle = sqrt(safe)
    f = where(small, 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s / 40320.0)), (1.0 - cos(angle)) / safe)
    g = where(small, 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s / 362880.0)), (1.0 - sin(angle) / angle) / safe)
    return f, g


@kernel
def slide_while_turning(theta, x):
    """Where a body gets that slides by x, in its own axes, while it turns by theta: the exponential of both,
    V x = x + f theta~ x + g theta~ theta~ x."""
    f, g = slide_factors(dot(theta, theta))
    return skew_series(theta, f, g, x)


@kernel
def turn_by(theta, d):
    """How a body turns, in its own axes, when the rotation vector it has turned by changes from theta to theta + d: V^T
    d."""
    f, g = slide_factors(dot(theta, theta))
    return skew_series(theta, -f, g, d)


@kernel
def slide_by(theta, x, d):
    """How such a body slides, in its own axes, when theta changes by d: exp(-theta~) (dV/dtheta . d) x, V of
    slide_while_turning; with s = theta . theta,  df/ds = (sin t/t - 2 f)/(2 s),  dg/ds = ((sin t/t - cos t)/(2 s) - g)/s."""
    s = dot(theta, theta)
    small = s < SMALL_SLOPE
    safe = where(small, 1.0, s)
    angle = sqrt(safe)
    f, g = slide_factors(s)
    part = where(small, 1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s / 5040.0)), sin(angle) / angle)
    f_s = where(small, -1.0 / 24.0 + s * (1.0 / 360.0 - s / 13440.0), 0.5 * (part - 2.0 * f) / safe)
    g_s = where(small, -1.0 / 120.0 + s * (1.0 / 2520.0 - s / 120960.0), (0.5 * (part - cos(angle)) / safe - g) / safe)
    y, z = cross(theta, x), cross(d, x)
    along = 2.0 * dot(theta, d)
    change = plus(scaled(f, z), scaled(g, plus(cross(d, y), cross(theta, z))))
    change = plus_scaled(plus_scaled(change, along * f_s, y), along * g_s, cross(theta, y))
    return skew_series(theta, -part, f, change)


@kernel
def quaternion_log(q):
    """Rotation vector, shorter than pi, of a unit quaternion."""
    x = (q[1], q[2], q[3])
    s = dot(x, x)
    small = s < SMALL
    n = sqrt(where(small, 1.0, s))
    sign = where(q[0] < 0.0, -1.0, 1.0)
    # 2 asin(n)/n = 2 (1 + n^2/6 + 3 n^4/40 + 15 n^6/336 + ...)
    series = 2.0 * (1.0 + s * (1.0 / 6.0 + s * (3.0 / 40.0 + s * 15.0 / 336.0)))
    return scaled(sign * where(small, series, 2.0 * atan2(n, sign * q[0]) / n), x)


@kernel
def rate_factor(s):
    """c of the equation on top, for s = |theta|^2."""
    small = s < SMALL
    safe = where(small, 1.0, s)
    angle = sqrt(safe)
    series = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s / 1209600.0))
    return where(small, series, 1.0 / safe - 0.5 * (1.0 + cos(angle)) / (angle * sin(angle)))


@kernel
def rotation_rate(theta, w):
    """theta' for the angular velocity w in the child's axes (equation on top)."""
    return skew_series(theta, 0.5, rate_factor(dot(theta, theta)), w)


@kernel
def turn_by_quaternion(q, x):
    """The vector x turned by the unit quaternion q."""
    axis = (q[1], q[2], q[3])
    y = scaled(2.0, cross(axis, x))
    return plus(plus_scaled(x, q[0], y), cross(axis, y))


# ---- outside the kernels: what a user may hand in -------------------------------------------------------------------


def as_rotation(orientation: Any, what: str) -> np.ndarray:
    """A rotation matrix from None, a matrix or a quaternion (w, x, y, z)."""
    if orientation is None:
        return np.eye(3)
    given = np.asarray(orientation, dtype=float)
    if given.shape == (4,):
        norm = float(np.linalg.norm(given))
        if not math.isfinite(norm) or norm < NO_LENGTH:
            raise InputError(f"{what}: the quaternion {given.tolist()} has no direction; give (w, x, y, z), not all zero")
        matrix = np.empty((3, 3))
        quaternion_to_matrix(given / norm, 0, matrix)
        return matrix
    if given.shape == (3, 3):
        if not np.allclose(given @ given.T, np.eye(3), atol=ORTHONORMAL) or np.linalg.det(given) < 0:
            raise InputError(f"{what}: the 3x3 matrix is not a rotation; its rows must be orthonormal, determinant +1")
        return given
    raise InputError(f"{what}: give a rotation matrix (3x3), a quaternion (w, x, y, z) or None, not shape {given.shape}")


def matrix_to_quaternion(A: np.ndarray) -> np.ndarray:
    """Unit quaternion (w, x, y, z), w >= 0, of one rotation matrix or of a stack (..., 3, 3)."""
    A = np.asarray(A, dtype=float)
    m00, m11, m22 = A[..., 0, 0], A[..., 1, 1], A[..., 2, 2]
    # Four times the squares of the components; the largest gives the others without loss of digits.
    squares = np.stack([1 + m00 + m11 + m22, 1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22], axis=-1)
    a, b, c = A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]
    d, e, f = A[..., 0, 1] + A[..., 1, 0], A[..., 0, 2] + A[..., 2, 0], A[..., 1, 2] + A[..., 2, 1]
    s, best = np.moveaxis(squares, -1, 0), np.argmax(squares, axis=-1)
    rows = ((s[0], a, b, c), (a, s[1], d, e), (b, d, s[2], f), (c, e, f, s[3]))
    q = np.stack([np.choose(best, row) for row in rows], axis=-1)  # (symmetric: a row is what a component may be)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., :1] < 0, -q, q)


def quaternions_to_matrices(q: np.ndarray) -> np.ndarray:
    """Rotation matrices of unit quaternions (w, x, y, z), any number of them."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def bryant_angles(A: np.ndarray) -> np.ndarray:
    """Bryant angles (P4 eq. 8), A = A_x A_y A_z, of rotation matrices (..., 3, 3). Output only: at a second angle of 90
    degrees the other two are not determined, so nothing is integrated in them."""
    second = np.arcsin(np.clip(A[..., 0, 2], -1.0, 1.0))
    return np.stack([np.arctan2(-A[..., 1, 2], A[..., 2, 2]), second, np.arctan2(-A[..., 0, 1], A[..., 0, 0])], axis=-1)


def frame_with_z(z: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
    """Rotation whose third column is along `z`, the first along `x` made perpendicular (default: a global axis).

    Along a global axis the entries are exactly 0 and ±1: a trace can then drop them. Lengths and products are those of
    `math` and plain sums: in NumPy's the last bit depends on the machine, and a drawing is the same everywhere.
    """
    z = np.asarray(z, dtype=float)
    z = z / math.hypot(*z)
    if x is None:
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = np.asarray(x, dtype=float)
    x = x - (x[0] * z[0] + x[1] * z[1] + x[2] * z[2]) * z
    x = x / math.hypot(*x)
    return np.column_stack([x, np.cross(z, x), z]) + 0.0  # + 0.0: no negative zeros
