"""A torque in ground axes on a body: constant, or a function of time and state."""

from __future__ import annotations

from madi.dynamics.points import from_ground
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account, add_torque
from madi.kernel import kernel, sqrt
from madi.spatial.vector import at, dot, second, six

KIND = ForceKind("torque", code=3, signals=3, value="torque", unit="N m", ends=1, turns=True, built_in=True)


@kernel
def apply(model: Arrays, work: Work, e):
    """Add the torque to the body's force vector."""
    i, k = model.force_a[e], model.force_signal[e]
    n = from_ground(work, model.frame[i], at(work.signal, k))
    add_torque(model, work, i, n, True)
    account(work, e, sqrt(dot(n, n)), 0.0, dot(n, second(six(work.Y, i))), 0.0)
