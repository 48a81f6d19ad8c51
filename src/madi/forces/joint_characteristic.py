"""A spring and a damper on one coordinate of a joint by their measured curves: torque over angle (force over way, on a
slide) and over its rate. The tables are those of forces/characteristic.py; as of joint_spring, positive values push back.
"""

from __future__ import annotations

from typing import Any

from madi.forces.characteristic import TABLES, curve, tables
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.takes import NUMBER
from madi.kernel import kernel

KIND = ForceKind(
    "joint_characteristic", code=20, parameters=("rest", "spring", "damper"), value="torque", unit="N m",
    takes={**TABLES, "rest": NUMBER},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Add to the generalised force of the column."""
    c, s = model.force_a[e], model.force_at[e]
    p, v = model.parameter, work.v[c]
    spring, potential = curve(model.curve, int(p[s + 1]), work.q[model.column_q[c]] - p[s])
    damper, _ = curve(model.curve, int(p[s + 2]), v)
    f = -(spring + damper)
    work.tau[c] = work.tau[c] + f
    account(work, e, f, potential, f * v, damper * v)


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
    """Where it is at rest, the two tables."""
    return [*points, float(force.parameters["rest"]), *tables(force.parameters)]
