"""Free: position and unit quaternion of the child in q; its velocity and angular velocity, in the child's axes, in v."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import quaternion_to_matrix
from madi.spatial.vector import NO_VECTOR, at, column, cross, join, put, put_at

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
)


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
