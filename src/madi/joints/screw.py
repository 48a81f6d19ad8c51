"""Screw: the child turns about the joint's z axis and advances along it; `pitch` is the advance per radian in here."""

from madi.joints.kind import JointKind
from madi.kernel import inline

KIND = JointKind(
    "screw",
    code=2,
    weight=1.6,
    coordinates=("",),
    speeds=("",),
    units=("rad",),
    cut="tx ty rx ry screw",
    measured=("angle",),
    parts="turn",
    absolute="xd yd xz yz screw",
    one_axis=True,
)


@inline
def motion(x, pitch):
    """(turn, slide) and their rates by the coordinate x."""
    return x, pitch * x, 1.0, pitch
