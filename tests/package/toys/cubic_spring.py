"""A spring on a joint coordinate that grows with its cube: tau = -k q^3, potential k q^4 / 4."""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.takes import NUMBER
from madi.kernel import kernel

KIND = ForceKind("cubic_spring", code=98, parameters=("stiffness",), value="torque", unit="N m", takes={"stiffness": NUMBER})


@kernel
def apply(model: Arrays, work: Work, e):
    """Add to the generalised force of the column."""
    c, k = model.force_a[e], model.parameter[model.force_at[e]]
    x = work.q[model.column_q[c]]
    f = -k * x * x * x
    work.tau[c] = work.tau[c] + f
    account(work, e, f, 0.25 * k * x * x * x * x, f * work.v[c], 0.0)
