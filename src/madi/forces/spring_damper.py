"""Spring and damper along the line between two points.

With the points' distance l and its rate l', the pull on each towards the other is  f = k (l - l0) + c l'.
Potential k (l - l0)^2 / 2, dissipated power c l'^2. At zero length the line has no direction: the force is then zero,
which is exact for l0 = 0 and the mean over all directions otherwise.
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.forces.takes import LENGTH, NOT_NEGATIVE, NUMBER
from madi.kernel import kernel

KIND = ForceKind(
    "spring_damper", code=0, value="tension", ends=2, points=2, line=True, built_in=True,
    parameters=("ax", "ay", "az", "bx", "by", "bz", "stiffness", "damping", "free_length"),
    takes={"stiffness": NUMBER, "damping": NOT_NEGATIVE, "free_length": LENGTH},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Pull both bodies together along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    k, c = model.parameter[s + 6], model.parameter[s + 7]
    length, rate, u = line(model, work, a, b, s)
    stretch = length - model.parameter[s + 8]
    f = k * stretch + c * rate
    pull(model, work, a, b, s, f, u)
    account(work, e, f, 0.5 * k * stretch * stretch, -f * rate, c * rate * rate)
