"""A generalised force on one coordinate of a joint (torque on an angle, force on a slide): constant or a function."""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.kernel import kernel

KIND = ForceKind(
    "joint_torque", code=4, signals=1, value="torque", unit="N m", built_in=True, units=(("value", "N m", "N"),)
)


@kernel
def apply(model: Arrays, work: Work, e):
    """Add to the generalised force of the column."""
    c = model.force_a[e]
    f = work.signal[model.force_signal[e]]
    work.tau[c] = work.tau[c] + f
    account(work, e, f, 0.0, f * work.v[c], 0.0)
