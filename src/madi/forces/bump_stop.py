"""Bump stop between two points: nothing while they are farther apart than `clearance`, then a progressive push.

With the penetration d = clearance - l > 0:  f = k d^n (1 + c d'), never pulling. Potential k d^(n+1) / (n + 1); what is
dissipated is what the push does beyond it. n >= 1; with the default n = 1.5 force and stiffness begin at zero.
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.forces.takes import ABOVE_ZERO, NOT_NEGATIVE, ONE_OR_MORE, POSITIVE, number
from madi.kernel import exp, kernel, log, where

EXPONENT = number((*ABOVE_ZERO, "It must be positive"), (*ONE_OR_MORE, "1 is a spring, 1.5 begins softly"))
KIND = ForceKind(
    "bump_stop", code=6, value="push", ends=2, points=2, line=True,
    parameters=("ax", "ay", "az", "bx", "by", "bz", "clearance", "stiffness", "exponent", "damping"),
    takes={"clearance": POSITIVE, "stiffness": POSITIVE, "exponent": EXPONENT, "damping": NOT_NEGATIVE},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Push the bodies apart along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    length, rate, u = line(model, work, a, b, s)
    depth = p[s + 6] - length
    touching = depth > 0.0
    safe = where(touching, depth, 1.0)
    n = p[s + 8]
    elastic = where(touching, p[s + 7] * exp(n * log(safe)), 0.0)
    factor = 1.0 - p[s + 9] * rate
    f = elastic * where(factor > 0.0, factor, 0.0)
    pull(model, work, a, b, s, -f, u)
    account(work, e, f, elastic * depth / (n + 1.0), f * rate, (elastic - f) * rate)
