"""Planar: the child slides along x and y of the joint's frame, which stay with the parent, and turns about z."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import put_turn

KIND = JointKind(
    "planar",
    code=7,
    weight=3.1,
    coordinates=("x", "y", "angle"),
    speeds=("x", "y", "angle"),
    units=("m", "m", "rad"),
    cut="tz rx ry",
    measured=("tx", "ty", "angle"),
    parts="x y turn",
    absolute="zd xz yz",
)


@kernel
def pose(q, k, R, p):
    """Slide to (x, y), turn by the angle."""
    put_turn(R, q[k + 2])
    p[0], p[1], p[2] = q[k], q[k + 1], 0.0


@kernel
def subspace(q, k, R, p, S):
    """x, y, and a turn about z through p: (p x z, z)."""
    S[0, 0] = 1.0
    S[1, 1] = 1.0
    S[2, 0] = p[1]
    S[2, 1] = -p[0]
    S[2, 5] = 1.0


@kernel
def bias(q, k, v, l, b):
    """The axis of the turn moves with the child: (p' x z) angle'."""
    b[0] = v[l + 1] * v[l + 2]
    b[1] = -v[l] * v[l + 2]
