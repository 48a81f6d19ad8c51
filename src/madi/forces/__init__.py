"""Force elements. A new one is a file beside these and a line in `MODULES`.

A force file has a `KIND` (what the model calls it, the names of its parameters, what the rest of the package must know of
it: kind.py) and a kernel `apply(model, work, e)` that adds to the force vectors work.Q or the generalised forces work.tau
and accounts for its energy in work.force[e]: value, potential energy, power delivered to the system, power dissipated. If
its parameters are more than points and numbers, it has `pack(force, points, bodies)`, which turns what the user gave into
numbers; `points` are in internal coordinates by then, `bodies` the internal frames of its two bodies in the drawing. What
its parameters must be together, `check(force, joints)` tells: (problem, cure), one by one.
"""

from types import ModuleType

from madi.forces import (
    applied_force,
    applied_torque,
    brush,
    bump_stop,
    bushing,
    characteristic,
    contact,
    elastic,
    event,
    fiala,
    friction,
    hard_stop,
    hydropneumatic,
    joint_characteristic,
    joint_spring,
    joint_torque,
    spring_damper,
    state,
    stop,
    tire,
    tire_magic,
    tire_magic_relaxed,
    torsion_bar,
    track,
    two_point_force,
    wheel,
)
from madi.forces.kind import ForceKind

MODULES: tuple[ModuleType, ...] = (
    spring_damper, joint_spring, applied_force, applied_torque, joint_torque,
    hydropneumatic, bump_stop, characteristic, torsion_bar, bushing, wheel, track, tire, fiala, brush, tire_magic,
    tire_magic_relaxed, elastic, stop, two_point_force, friction, hard_stop, event,
    joint_characteristic, state, contact,
)  # fmt: skip
KINDS: dict[str, ForceKind] = {module.KIND.name: module.KIND for module in MODULES}
BY_CODE: dict[int, ModuleType] = {module.KIND.code: module for module in MODULES}
