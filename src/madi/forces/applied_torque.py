"""A torque in ground axes on a body: constant, or a function of time and state."""

from __future__ import annotations

from madi.dynamics.kinematics import from_ground
from madi.forces.kind import ForceKind
from madi.kernel import kernel, sqrt

KIND = ForceKind("torque", code=3, signals=3, value="torque", unit="N m", ends=1)


@kernel
def apply(model, work, e):
    """Add the torque to the body's force vector."""
    i, k = model.force_a[e], model.force_signal[e]
    n0, n1, n2 = from_ground(work, model.frame[i], work.signal[k], work.signal[k + 1], work.signal[k + 2])
    Q, Y = work.Q, work.Y
    Q[i, 3], Q[i, 4], Q[i, 5] = Q[i, 3] + n0, Q[i, 4] + n1, Q[i, 5] + n2
    work.force[e, 0] = sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    work.force[e, 1] = 0.0
    work.force[e, 2] = n0 * Y[i, 3] + n1 * Y[i, 4] + n2 * Y[i, 5]
    work.force[e, 3] = 0.0
