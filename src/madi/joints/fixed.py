"""Fixed: the child does not move on its parent."""

from madi.joints.kind import JointKind
from madi.kernel import kernel

KIND = JointKind(
    "fixed",
    code=3,
    weight=0.1,
    coordinates=(),
    speeds=(),
    units=(),
    axes=0,
    cut="tx ty tz rx ry rz",
    absolute="x y z xz yz yx",
)


@kernel
def pose(q, k, R, p):
    """The identity."""
    for i in range(3):
        for j in range(3):
            R[i, j] = 1.0 if i == j else 0.0
        p[i] = 0.0
