"""Three- and six-tuples with words: formulas read like their derivation, and cost what their scalars cost.

A vector is a tuple of three numbers, a motion (v, w) or a force (f, n) about the reference origin one of six. Sums,
multiples and `dot` also take pairs, the vectors of a plane. Tuples live in registers: all functions here are inlined in
machine code, and a trace sees only the scalars. `three`, `six` read a row of an array, `put` writes one. Read before
writing: the compiler cannot know that two arrays do not overlap.
"""

from __future__ import annotations

from madi.kernel import inline

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NO_VECTOR = (0.0, 0.0, 0.0)
NO_MOTION = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
NO_DIRECTION = 1e-200  # squared length below which a vector has none; added to that, its inverse is a number


@inline
def three(a, i):
    """Row i of a as a vector."""
    return a[i, 0], a[i, 1], a[i, 2]


@inline
def six(a, i):
    """Row i of a as a motion or force."""
    return a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5]


@inline
def at(a, k):
    """The vector a[k:k+3] of a flat array."""
    return a[k], a[k + 1], a[k + 2]


@inline
def six_at(a, k):
    """The six numbers a[k:k+6] of a flat array."""
    return a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5]


@inline
def put(a, i, x):
    """Row i of a is x, of three or six numbers."""
    a[i, 0] = x[0]
    a[i, 1] = x[1]
    a[i, 2] = x[2]
    if len(x) == 6:
        a[i, 3] = x[3]
        a[i, 4] = x[4]
        a[i, 5] = x[5]


@inline
def put_at(a, k, x):
    """a[k:] begins with x, of three or six numbers."""
    a[k] = x[0]
    a[k + 1] = x[1]
    a[k + 2] = x[2]
    if len(x) == 6:
        a[k + 3] = x[3]
        a[k + 4] = x[4]
        a[k + 5] = x[5]


@inline
def plus(a, b):
    """a + b, of two, three or six numbers."""
    if len(a) == 2:
        return a[0] + b[0], a[1] + b[1]
    if len(a) == 3:
        return a[0] + b[0], a[1] + b[1], a[2] + b[2]
    return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]


@inline
def minus(a, b):
    """a - b, of two, three or six numbers."""
    if len(a) == 2:
        return a[0] - b[0], a[1] - b[1]
    if len(a) == 3:
        return a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5]


@inline
def scaled(s, a):
    """s a, of two, three or six numbers."""
    if len(a) == 2:
        return s * a[0], s * a[1]
    if len(a) == 3:
        return s * a[0], s * a[1], s * a[2]
    return s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5]


@inline
def plus_scaled(a, s, b):
    """a + s b, of two, three or six numbers."""
    if len(a) == 2:
        return a[0] + s * b[0], a[1] + s * b[1]
    if len(a) == 3:
        return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3], a[4] + s * b[4], a[5] + s * b[5]


@inline
def dot(a, b):
    """a . b; of a motion and a force their power."""
    if len(a) == 2:
        return a[0] * b[0] + a[1] * b[1]
    if len(a) == 3:
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@inline
def cross(a, b):
    """a x b of vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def along(x, y, z, a):
    """The vector with the components a along x, y, z."""
    return plus_scaled(plus_scaled(scaled(a[0], x), a[1], y), a[2], z)


@inline
def first(x):
    """v of a motion (v, w), f of a force (f, n)."""
    return x[0], x[1], x[2]


@inline
def second(x):
    """w of a motion (v, w), n of a force (f, n)."""
    return x[3], x[4], x[5]


@inline
def join(a, b):
    """(v, w) or (f, n) of its two vectors."""
    return a[0], a[1], a[2], b[0], b[1], b[2]


@inline
def symmetric_times(S, x):
    """S x for a symmetric matrix S = (xx, xy, xz, yy, yz, zz)."""
    return (
        S[0] * x[0] + S[1] * x[1] + S[2] * x[2],
        S[1] * x[0] + S[3] * x[1] + S[4] * x[2],
        S[2] * x[0] + S[4] * x[1] + S[5] * x[2],
    )


@inline
def turned(R, i, x):
    """R_i x: a vector of frame i's axes in the axes R_i refers to."""
    return (
        R[i, 0, 0] * x[0] + R[i, 0, 1] * x[1] + R[i, 0, 2] * x[2],
        R[i, 1, 0] * x[0] + R[i, 1, 1] * x[1] + R[i, 1, 2] * x[2],
        R[i, 2, 0] * x[0] + R[i, 2, 1] * x[1] + R[i, 2, 2] * x[2],
    )


@inline
def turned_back(R, i, x):
    """R_i^T x."""
    return (
        R[i, 0, 0] * x[0] + R[i, 1, 0] * x[1] + R[i, 2, 0] * x[2],
        R[i, 0, 1] * x[0] + R[i, 1, 1] * x[1] + R[i, 2, 1] * x[2],
        R[i, 0, 2] * x[0] + R[i, 1, 2] * x[1] + R[i, 2, 2] * x[2],
    )


@inline
def axis(R, i, k):
    """Column k of R_i: an axis of frame i."""
    return R[i, 0, k], R[i, 1, k], R[i, 2, k]


@inline
def put_axes(R, i, x, y, z):
    """The axes of frame i are x, y, z."""
    R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = x[0], y[0], z[0]
    R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = x[1], y[1], z[1]
    R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = x[2], y[2], z[2]


@inline
def column(A, k):
    """Column k of a single 3 x 3 matrix."""
    return A[0, k], A[1, k], A[2, k]


@inline
def motion_cross(a, b):
    """(v, w) x (v', w') = (w x v' + v x w', w x w'): the rate of a motion b that is carried along by a."""
    return join(plus(cross(second(a), first(b)), cross(first(a), second(b))), cross(second(a), second(b)))


@inline
def force_cross(a, f):
    """(v, w) x* (f, n) = (w x f, v x f + w x n): the rate of a force that is carried along by a."""
    return join(cross(second(a), first(f)), plus(cross(first(a), first(f)), cross(second(a), second(f))))


@inline
def to_point(f, p):
    """Moment at the point p of the force (f, n) about the origin: n - p x f."""
    return minus(second(f), cross(p, first(f)))


@inline
def velocity_at(y, p):
    """Velocity at the point p of the motion (v, w) about the origin: v + w x p."""
    return plus(first(y), cross(second(y), p))


@inline
def put_axis(R, i, k, x):
    """Column k of R_i is x."""
    R[i, 0, k] = x[0]
    R[i, 1, k] = x[1]
    R[i, 2, k] = x[2]
