"""The joints. A new one is a file beside these, a line in `MODULES` and its lines in `dispatch.py`."""

from madi.joints import cylindrical, fixed, free, modal, planar, prismatic, revolute, screw, spherical, universal
from madi.joints.kind import JointKind

MODULES = (revolute, prismatic, screw, fixed, cylindrical, universal, spherical, planar, free, modal)
KINDS: dict[str, JointKind] = {module.KIND.name: module.KIND for module in MODULES}
