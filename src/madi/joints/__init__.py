"""The joints. A new one is a file beside these and its place in `MODULES`; `ladder.py` is built from that."""

from madi.joints import cylindrical, fixed, free, modal, planar, prismatic, revolute, screw, spherical, universal
from madi.joints.kind import JointKind

MODULES = (revolute, prismatic, screw, fixed, cylindrical, universal, spherical, planar, free, modal)
KINDS: dict[str, JointKind] = {module.KIND.name: module.KIND for module in MODULES}
