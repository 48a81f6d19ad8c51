"""Products of rows given number by number; `vector.py` and `inertia.py` have the words that take their place."""

from __future__ import annotations

from madi.kernel import inline


@inline
def dot6(a, i, b, j):
    """Product of row i of a with row j of b: a power, or an entry of the mass matrix."""
    return (
        a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2] + a[i, 3] * b[j, 3] + a[i, 4] * b[j, 4] + a[i, 5] * b[j, 5]
    )


@inline
def turned(R, i, x, y, z):
    """R_i (x, y, z): a vector of frame i's axes in the axes R_i refers to."""
    return (
        R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@inline
def turned_back(R, i, x, y, z):
    """R_i^T (x, y, z)."""
    return (
        R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * z,
        R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * z,
        R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * z,
    )


@inline
def motion_cross(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """(v, w) x (v', w') = (w x v' + v x w', w x w'): the rate of a motion vector b that is carried along by a."""
    return (
        (a4 * b2 - a5 * b1) + (a1 * b5 - a2 * b4),
        (a5 * b0 - a3 * b2) + (a2 * b3 - a0 * b5),
        (a3 * b1 - a4 * b0) + (a0 * b4 - a1 * b3),
        a4 * b5 - a5 * b4,
        a5 * b3 - a3 * b5,
        a3 * b4 - a4 * b3,
    )
