"""Spring and damper along the line between two points.

With the points' distance l and its rate l', the pull on each towards the other is  f = k (l - l0) + c l'.
Potential k (l - l0)^2 / 2, dissipated power c l'^2. At zero length the line has no direction: the force is then zero,
which is exact for l0 = 0 and the mean over all directions otherwise.
"""

from __future__ import annotations

from madi.forces.kind import ForceKind, add_force_at, point_state
from madi.kernel import kernel, sqrt, where

KIND = ForceKind(
    "spring_damper",
    code=0,
    parameters=("ax", "ay", "az", "bx", "by", "bz", "stiffness", "damping", "free_length"),
    value="tension",
)
TINY = 1e-200  # squared length below which there is no direction


@kernel
def apply(model, work, e):
    """Pull both bodies together along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    k, c, l0 = model.parameter[s + 6], model.parameter[s + 7], model.parameter[s + 8]
    common = model.frame[a] == model.frame[b]  # two bodies of one tree: no need to leave its frame
    x, y, z, u, v, w = point_state(model, work, a, s, common)
    x1, y1, z1, u1, v1, w1 = point_state(model, work, b, s + 3, common)
    x, y, z = x1 - x, y1 - y, z1 - z
    u, v, w = u1 - u, v1 - v, w1 - w
    square = x * x + y * y + z * z
    nothing = square < TINY
    length = sqrt(where(nothing, 1.0, square))
    inverse = where(nothing, 0.0, 1.0 / length)
    length = where(nothing, 0.0, length)
    x, y, z = x * inverse, y * inverse, z * inverse
    rate = x * u + y * v + z * w
    stretch = length - l0
    f = k * stretch + c * rate
    add_force_at(model, work, a, s, f * x, f * y, f * z, common)
    add_force_at(model, work, b, s + 3, -f * x, -f * y, -f * z, common)
    work.force[e, 0] = f
    work.force[e, 1] = 0.5 * k * stretch * stretch
    work.force[e, 2] = -f * rate
    work.force[e, 3] = c * rate * rate
