"""Slot: the child slides along x of the joint's frame on the parent and turns about z, as a pin does in a slot."""

from madi.joints.kind import JointKind
from madi.kernel import kernel
from madi.spatial.rotation import put_turn

KIND = JointKind(
    "slot",
    code=11,
    weight=2.2,
    coordinates=("x", "angle"),
    speeds=("x", "angle"),
    units=("m", "rad"),
    cut="ty tz rx ry",
    measured=("tx", "angle"),
    parts="x turn",
    absolute="yd zd xz yz",
)


@kernel
def pose(q, k, R, p):
    """Slide to x, turn by the angle."""
    put_turn(R, q[k + 1])
    p[0], p[1], p[2] = q[k], 0.0, 0.0


@kernel
def subspace(q, k, R, p, S):
    """x, and a turn about z through p: (p x z, z)."""
    S[0, 0] = 1.0
    S[1, 1] = -p[0]
    S[1, 5] = 1.0


@kernel
def bias(q, k, v, l, b):
    """The axis of the turn moves with the child: (p' x z) angle'."""
    b[1] = -v[l] * v[l + 1]
