"""Hydropneumatic suspension unit (HSU): a polytropic gas spring and one-way damping, along the line between two points.

With the compression x = l0 - l, the gas pushes with  f = p0 A (V0 / (V0 - A x))^n  (p0 gauge pressure and V0 gas volume at
the length l0, A the piston's area, n the polytropic exponent), and the throttle with c x', c the larger or smaller of two
values while the unit is compressed or extended. Potential: the work of the gas, p0 V0 ((V0/(V0 - A x))^(n-1) - 1) / (n - 1).
The gas cannot be pressed below a twentieth of its volume; there the force goes on as a straight line.
"""

from __future__ import annotations

from madi.forces.kind import ForceKind
from madi.forces.line import account, line, pull
from madi.kernel import exp, kernel, log, where

KIND = ForceKind(
    "hydropneumatic",
    code=5,
    parameters=("ax", "ay", "az", "bx", "by", "bz", "pressure", "area", "volume", "exponent", "compression", "rebound",
                "free_length"),
    value="push",
    ends=2,
    positive=("pressure", "area", "volume"),
)  # fmt: skip
LEAST = 0.05  # of the volume


@kernel
def apply(model, work, e):
    """Push the bodies apart along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    p0, area, volume, n = p[s + 6], p[s + 7], p[s + 8], p[s + 9]
    length, rate, x, y, z = line(model, work, a, b, s)
    stroke = p[s + 12] - length
    share = 1.0 - area * stroke / volume
    low = share < LEAST
    gas = where(low, LEAST, share)
    force = p0 * area * exp(-n * log(gas))
    stiff = n * force * area / (volume * gas)
    beyond = where(low, (LEAST - share) * volume / area, 0.0)
    push = force + stiff * beyond
    potential = p0 * volume * (exp(-(n - 1.0) * log(gas)) - 1.0) / (n - 1.0) + force * beyond + 0.5 * stiff * beyond * beyond
    c = where(rate < 0.0, p[s + 10], p[s + 11])
    f = push - c * rate
    pull(model, work, a, b, s, -f, x, y, z)
    account(work, e, f, potential, f * rate, c * rate * rate)
