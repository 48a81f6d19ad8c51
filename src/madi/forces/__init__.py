"""Force elements. A new one is a file beside these, a line in `MODULES` and its line in `dispatch.py`.

A force file has a `KIND` (what the model calls it, the names of its parameters) and a kernel `apply(model, work, e)` that
adds to the force vectors work.Q or the generalised forces work.tau and accounts for its energy in work.force[e]: value,
potential energy, power delivered to the system, power dissipated.
"""

from madi.forces import applied_force, applied_torque, joint_spring, joint_torque, spring_damper
from madi.forces.kind import ForceKind

MODULES = (spring_damper, joint_spring, applied_force, applied_torque, joint_torque)
KINDS: dict[str, ForceKind] = {module.KIND.name: module.KIND for module in MODULES}
