"""A pull along the line between two points by the user's law f(length, rate, t): an actuator, or any spring and damper that
has a formula. P0's spring-damper-actuator is a spring_damper and one of these between the same points.

Positive pulls the points together, as the tension of a spring. Its power, -f l', is delivered by whatever drives it: nothing
is stored or dissipated by the element itself.
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.kernel import kernel

KIND = ForceKind(
    "two_point_force", code=19, signals=1, law=True, value="tension", ends=2, points=2, line=True,
    parameters=("ax", "ay", "az", "bx", "by", "bz"),
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Pull both bodies together along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    _, rate, u = line(model, work, a, b, s)
    f = work.signal[model.force_signal[e]]
    pull(model, work, a, b, s, f, u)
    account(work, e, f, 0.0, -f * rate, 0.0)
