"""Revolute: the child turns about the joint's z axis."""

from madi.joints.kind import JointKind
from madi.kernel import inline

KIND = JointKind(
    "revolute",
    code=0,
    weight=1.5,
    coordinates=("",),
    speeds=("",),
    units=("rad",),
    cut="tx ty tz rx ry",
    measured=("angle",),
    parts="turn",
    absolute="x y z xz yz",
    one_axis=True,
    hinge=True,
)


@inline
def motion(x, pitch):
    """(turn, slide) and their rates by the coordinate x."""
    return x, 0.0, 1.0, 0.0
