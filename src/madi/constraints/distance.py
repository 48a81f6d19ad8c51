"""Two points keep their distance (a massless rod): Phi = (d . d - l^2) / (2 l), d = o_b - o_a.

As a force: along d / l through o_b. Seen from a both d and o_b move with u: extra = u . u / l + (u x d/l) . w.
"""

from __future__ import annotations

from madi.kernel import kernel


@kernel
def row(work, length, u0, u1, u2, w0, w1, w2):
    """(Phi, f, n, extra)."""
    o, inverse = work.pair_o, 1.0 / length
    x, y, z = o[1, 0], o[1, 1], o[1, 2]
    d0, d1, d2 = (x - o[0, 0]) * inverse, (y - o[0, 1]) * inverse, (z - o[0, 2]) * inverse
    phi = 0.5 * length * (d0 * d0 + d1 * d1 + d2 * d2 - 1.0)
    extra = (u0 * u0 + u1 * u1 + u2 * u2) * inverse
    extra = extra + (u1 * d2 - u2 * d1) * w0 + (u2 * d0 - u0 * d2) * w1 + (u0 * d1 - u1 * d0) * w2
    return phi, d0, d1, d2, y * d2 - z * d1, z * d0 - x * d2, x * d1 - y * d0, extra
