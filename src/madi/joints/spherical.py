"""Spherical: the child turns freely about the joint's origin; unit quaternion in q, the child's axes in v."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import quaternion_to_matrix
from madi.spatial.vector import NO_VECTOR, column, join, put, put_at

KIND = JointKind(
    "spherical",
    code=6,
    weight=3.0,
    coordinates=("w", "x", "y", "z"),
    speeds=("wx", "wy", "wz"),
    units=("1", "1", "1", "1"),
    speed_units=("rad/s",) * 3,
    axes=0,
    quaternion=0,
    cut="tx ty tz",
    parts="ball",
    absolute="x y z",
)


@kernel
def pose(q, k, R, p):
    """The quaternion's rotation."""
    quaternion_to_matrix(q, k, R)
    put_at(p, 0, NO_VECTOR)


@kernel
def subspace(q, k, R, p, S):
    """Turns about the child's axes."""
    for c in range(3):
        put(S, c, join(NO_VECTOR, column(R, c)))
