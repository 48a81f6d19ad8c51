"""Spring and damper on one coordinate of a joint: torsional on an angle, linear on a slide.

tau = -k (q - q0) - c v;  potential k (q - q0)^2 / 2, dissipated power c v^2.
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.takes import NOT_NEGATIVE, NUMBER
from madi.kernel import kernel

KIND = ForceKind(
    "joint_spring", code=1, value="torque", unit="N m", built_in=True, parameters=("stiffness", "damping", "rest"),
    units=(("stiffness", "N m", "N/m"), ("damping", "N m s", "N s/m"), ("rest", "rad", "m")),
    takes={"stiffness": NUMBER, "damping": NOT_NEGATIVE, "rest": NUMBER},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Add to the generalised force of the column."""
    c, s = model.force_a[e], model.force_at[e]
    k, d = model.parameter[s], model.parameter[s + 1]
    x, v = work.q[model.column_q[c]] - model.parameter[s + 2], work.v[c]
    f = -k * x - d * v
    work.tau[c] = work.tau[c] + f
    account(work, e, f, 0.5 * k * x * x, f * v, d * v * v)
