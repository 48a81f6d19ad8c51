"""Prismatic (the papers' translational joint): the child slides along the joint's z axis."""

from madi.joints.kind import JointKind
from madi.kernel import inline

KIND = JointKind(
    "prismatic",
    code=1,
    weight=1.0,
    coordinates=("",),
    speeds=("",),
    units=("m",),
    cut="tx ty rx ry rz",
    measured=("tz",),
    parts="z",
    absolute="xd yd xz yz yx",
    one_axis=True,
    turns=False,
)


@inline
def motion(x, pitch):
    """(turn, slide) and their rates by the coordinate x."""
    return 0.0, x, 0.0, 1.0
