"""Free: position and unit quaternion of the child in q; its velocity and angular velocity, in the child's axes, in v."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import quaternion_to_matrix

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
    p[0], p[1], p[2] = q[k], q[k + 1], q[k + 2]


@kernel
def subspace(q, k, R, p, S):
    """Slides along the child's axes; turns about them through p: (p x a, a)."""
    for c in range(3):
        for j in range(3):
            S[c, j] = R[j, c]
            S[3 + c, 3 + j] = R[j, c]
        S[3 + c, 0] = p[1] * R[2, c] - p[2] * R[1, c]
        S[3 + c, 1] = p[2] * R[0, c] - p[0] * R[2, c]
        S[3 + c, 2] = p[0] * R[1, c] - p[1] * R[0, c]
