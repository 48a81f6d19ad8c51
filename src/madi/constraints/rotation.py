"""An axis p of frame b stays perpendicular to an axis s of frame a: Phi = p . s.

As a torque: p x s. Seen from a only p moves: extra = ((w x p) x s) . w. With p = z_b, s = x_a this is the turn about y, and
so on: what a revolute, prismatic or fixed joint forbids. At a half turn the residual vanishes as well; assembly looks
at the axes themselves (loops/assemble.py).
"""

from __future__ import annotations

from madi.kernel import kernel


@kernel
def row(work, i, j, sign, w0, w1, w2):
    """(Phi, f, n, extra) for axis i of frame b and axis j of frame a."""
    E = work.pair_E
    p0, p1, p2 = sign * E[1, 0, i], sign * E[1, 1, i], sign * E[1, 2, i]
    s0, s1, s2 = E[0, 0, j], E[0, 1, j], E[0, 2, j]
    a0, a1, a2 = w1 * p2 - w2 * p1, w2 * p0 - w0 * p2, w0 * p1 - w1 * p0
    extra = (a1 * s2 - a2 * s1) * w0 + (a2 * s0 - a0 * s2) * w1 + (a0 * s1 - a1 * s0) * w2
    phi = p0 * s0 + p1 * s1 + p2 * s2
    return phi, 0.0, 0.0, 0.0, p1 * s2 - p2 * s1, p2 * s0 - p0 * s2, p0 * s1 - p1 * s0, extra
