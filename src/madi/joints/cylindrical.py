"""Cylindrical: the child slides along the joint's z axis and turns about it."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import put_turn

KIND = JointKind(
    "cylindrical",
    code=4,
    weight=2.0,
    coordinates=("z", "angle"),
    speeds=("z", "angle"),
    units=("m", "rad"),
    cut="tx ty rx ry",
    measured=("tz", "angle"),
    parts="z turn",
    absolute="xd yd xz yz",
)


@kernel
def pose(q, k, R, p):
    """Turn by the angle, slide by z."""
    put_turn(R, q[k + 1])
    p[0], p[1], p[2] = 0.0, 0.0, q[k]


@kernel
def subspace(q, k, R, p, S):
    """A slide and a turn, both constant."""
    S[0, 2] = 1.0
    S[1, 5] = 1.0
