"""The origin of frame b stays where it is along axis k of frame a: Phi = e . (o_b - o_a).

As a force: along e, through o_b. Seen from a, e rests and o_b moves with u: extra = (u x e) . w.
"""

from __future__ import annotations

from madi.kernel import kernel


@kernel
def row(work, k, u0, u1, u2, w0, w1, w2):
    """(Phi, f, n, extra); u: velocity of o_b seen from a, w: angular velocity of b seen from a."""
    E, o = work.pair_E, work.pair_o
    e0, e1, e2 = E[0, 0, k], E[0, 1, k], E[0, 2, k]
    x, y, z = o[1, 0], o[1, 1], o[1, 2]
    phi = e0 * (x - o[0, 0]) + e1 * (y - o[0, 1]) + e2 * (z - o[0, 2])
    extra = (u1 * e2 - u2 * e1) * w0 + (u2 * e0 - u0 * e2) * w1 + (u0 * e1 - u1 * e0) * w2
    return phi, e0, e1, e2, y * e2 - z * e1, z * e0 - x * e2, x * e1 - y * e0, extra
