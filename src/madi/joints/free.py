"""Free: position and unit quaternion of the child in q; its velocity and angular velocity, in the child's axes, in v.

The child may carry the reference frame of its tree (P4's chassis-local frame): then the joint places that frame in the
ground, the body rests in it, and its columns are 1.

docs/references.md: [P4].
"""

from __future__ import annotations

from madi.joints.fields import Arrays, Work
from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import quaternion_to_matrix
from madi.spatial.vector import (
    NO_VECTOR,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    at,
    column,
    cross,
    join,
    plus,
    put,
    put_at,
    put_axes,
    scaled,
    six_at,
    three,
    turned,
    turned_back,
)

KIND = JointKind(
    "free",
    code=8,
    weight=6.0,
    coordinates=("x", "y", "z", "qw", "qx", "qy", "qz"),
    speeds=("vx", "vy", "vz", "wx", "wy", "wz"),
    units=("m", "m", "m", "1", "1", "1", "1"),
    speed_units=("m/s",) * 3 + ("rad/s",) * 3,
    axes=0,
    quaternion=3,
    parts="shift ball",
    carrier=9,
)
BASE = KIND.carrier


@kernel
def pose(q, k, R, p):
    """As q says."""
    quaternion_to_matrix(q, k + 3, R)
    put_at(p, 0, at(q, k))


@kernel
def subspace(q, k, R, p, S):
    """Slides along the child's axes; turns about them through p: (p x a, a)."""
    for c in range(3):
        a = column(R, c)
        put(S, c, join(a, NO_VECTOR))
        put(S, 3 + c, join(cross(at(p, 0), a), a))


@kernel
def place_base(model: Arrays, work: Work, i, q):
    """The reference frame rides on body i: its pose there is the identity and B is 1; the frame's pose is in q."""
    C, A, f = model.C, work.joint_R, model.frame[i]
    k = model.q_at[i]
    quaternion_to_matrix(q, k + 3, A)
    put_axes(work.frame_R, f, turned(C, i, column(A, 0)), turned(C, i, column(A, 1)), turned(C, i, column(A, 2)))
    put(work.frame_r, f, plus(three(model.d, i), turned(C, i, at(q, k))))
    put_axes(work.R, i, X_AXIS, Y_AXIS, Z_AXIS)
    put(work.r, i, NO_VECTOR)
    for c in range(6):
        for j in range(6):
            work.B[model.v_at[i] + c, j] = 1.0 if c == j else 0.0


@kernel
def base_velocity(model: Arrays, work: Work, i, v):
    """The body that carries the frame: Y = v, and gravity is turned into its axes (P4)."""
    g = turned_back(work.frame_R, model.frame[i], at(model.gravity, 0))
    put(work.Y, i, six_at(v, model.v_at[i]))
    put(work.A, i, join(scaled(-1.0, g), NO_VECTOR))
