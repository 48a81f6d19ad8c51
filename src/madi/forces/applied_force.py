"""A force in ground axes on a point of a body: constant, or a function of time and state."""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account, add_force_at, point_state
from madi.kernel import kernel, sqrt
from madi.spatial.vector import at, dot

KIND = ForceKind(
    "force", code=2, signals=3, value="force", ends=1, points=1, given=True, built_in=True, parameters=("x", "y", "z"),
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Add the force at the point."""
    i, s, k = model.force_a[e], model.force_at[e], model.force_signal[e]
    f = at(work.signal, k)
    add_force_at(model, work, i, s, f, False)
    _, velocity = point_state(model, work, i, s, False, 0)
    account(work, e, sqrt(dot(f, f)), 0.0, dot(f, velocity), 0.0)
