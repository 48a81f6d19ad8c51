"""A force in ground axes on a point of a body: constant, or a function of time and state."""

from __future__ import annotations

from madi.forces.kind import ForceKind, add_force_at, point_state
from madi.kernel import kernel, sqrt

KIND = ForceKind("force", code=2, parameters=("x", "y", "z"), signals=3, value="force", ends=1)


@kernel
def apply(model, work, e):
    """Add the force at the point."""
    i, s, k = model.force_a[e], model.force_at[e], model.force_signal[e]
    f0, f1, f2 = work.signal[k], work.signal[k + 1], work.signal[k + 2]
    add_force_at(model, work, i, s, f0, f1, f2, False)
    _, _, _, u, v, w = point_state(model, work, i, s, False, 0)
    work.force[e, 0] = sqrt(f0 * f0 + f1 * f1 + f2 * f2)
    work.force[e, 1] = 0.0
    work.force[e, 2] = f0 * u + f1 * v + f2 * w
    work.force[e, 3] = 0.0
