"""Hydropneumatic suspension unit (HSU): a polytropic gas spring and one-way damping, along the line between two points.

With the compression x = l0 - l the gas, at the absolute pressure p0 + pa (p0 gauge pressure and V0 gas volume at the length
l0, pa the ambient pressure), follows p V^n = const, and the air outside pushes back:

    f = A ((p0 + pa) (V0 / (V0 - A x))^n - pa),

A the piston's area, n the polytropic exponent (1 isothermal, 1.4 adiabatic). The throttle pushes with c x', c the larger or
smaller of two values while the unit is compressed or extended. Potential: the work of both,
(p0 + pa) V0 ((V0 / (V0 - A x))^(n-1) - 1) / (n - 1) - pa A x,  for n = 1  (p0 + pa) V0 ln(V0 / (V0 - A x)) - pa A x.
The gas cannot be pressed below a twentieth of its volume; there the force goes on as a straight line.
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.forces.takes import LENGTH, NOT_NEGATIVE, ONE_OR_MORE, POSITIVE, number
from madi.kernel import exp, fabs, kernel, log, where

KIND = ForceKind(
    "hydropneumatic", code=5, value="push", ends=2, points=2, line=True,
    parameters=("ax", "ay", "az", "bx", "by", "bz", "pressure", "area", "volume", "exponent", "compression", "rebound",
                "free_length", "ambient"),
    takes={
        "pressure": POSITIVE, "area": POSITIVE, "volume": POSITIVE, "compression": NOT_NEGATIVE,
        "exponent": number((*ONE_OR_MORE, "Isothermal gas is 1.0, adiabatic 1.4")), "rebound": NOT_NEGATIVE,
        "free_length": LENGTH, "ambient": NOT_NEGATIVE,
    },
)  # fmt: skip
LEAST_GAS = 0.05  # of the volume
ISOTHERMAL = 1e-9  # |n - 1| below which the work is the limit, a logarithm: the difference over n - 1 loses all digits there


@kernel
def apply(model: Arrays, work: Work, e):
    """Push the bodies apart along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    outside, area, volume, n = p[s + 13], p[s + 7], p[s + 8], p[s + 9]
    p0 = p[s + 6] + outside
    length, rate, u = line(model, work, a, b, s)
    stroke = p[s + 12] - length
    share = 1.0 - area * stroke / volume
    low = share < LEAST_GAS
    gas = where(low, LEAST_GAS, share)
    logarithm = log(gas)
    pressure = exp(-n * logarithm)
    force = p0 * area * pressure
    stiff = n * force * area / (volume * gas)
    beyond = where(low, (LEAST_GAS - share) * volume / area, 0.0)
    push = force + stiff * beyond - outside * area
    isothermal = fabs(n - 1.0) < ISOTHERMAL
    more = where(isothermal, 1.0, n - 1.0)
    work_done = where(isothermal, -logarithm, (gas * pressure - 1.0) / more)
    potential = p0 * volume * work_done + force * beyond + 0.5 * stiff * beyond * beyond - outside * area * stroke
    c = where(rate < 0.0, p[s + 10], p[s + 11])
    f = push - c * rate
    pull(model, work, a, b, s, -f, u)
    account(work, e, f, potential, f * rate, c * rate * rate)
