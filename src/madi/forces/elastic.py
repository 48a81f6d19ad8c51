"""What a flexible body's own stiffness and damping do to its modes: tau = -K xi - D xi'.

Potential xi^T K xi / 2, dissipated power xi'^T D xi'. It comes with the body; nobody draws it.
"""

from __future__ import annotations

from typing import Any

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.kernel import kernel

KIND = ForceKind("elastic", code=17, parameters=("stiffness ...", "damping ..."), value="energy", unit="J", ends=1)


@kernel
def apply(model: Arrays, work: Work, e):
    """Add to the generalised forces of the modes."""
    i, s, p = model.force_a[e], model.force_at[e], model.parameter
    k, l, g = model.modes[i], model.v_at[i], model.q_at[i]
    energy, lost, power = 0.0, 0.0, 0.0
    for c in range(k):
        x, y = 0.0, 0.0
        for d in range(k):
            x = x + p[s + c * k + d] * work.q[g + d]
            y = y + p[s + (k + c) * k + d] * work.v[l + d]
        work.tau[l + c] = work.tau[l + c] - x - y
        energy = energy + 0.5 * x * work.q[g + c]
        lost = lost + y * work.v[l + c]
        power = power - (x + y) * work.v[l + c]
    account(work, e, energy, energy, power, lost)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Both matrices, by rows."""
    return [float(x) for name in ("stiffness", "damping") for x in force.parameters[name].reshape(-1)]
