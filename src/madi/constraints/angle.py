"""The turn of frame b about z of frame a is held at an angle, or driven: Phi = angle - wanted, the nearest way round.

The z axes are kept together by other rows of the same joint; then the angle's rate is z . w, and z rests on a. A screw
holds the advance against the turn: Phi = z . (o_b - o_a) - h angle, whole turns apart.
"""

from __future__ import annotations

from madi.kernel import atan2, floor, kernel, where


@kernel
def turn(work):
    """Angle between the x axes about z of frame a, in (-pi, pi]."""
    E = work.pair_E
    c = E[0, 0, 0] * E[1, 0, 0] + E[0, 1, 0] * E[1, 1, 0] + E[0, 2, 0] * E[1, 2, 0]
    s = E[0, 0, 1] * E[1, 0, 0] + E[0, 1, 1] * E[1, 1, 0] + E[0, 2, 1] * E[1, 2, 0]
    return atan2(s, c)


@kernel
def nearest(x, period):
    """x less the whole periods nearest to it; x itself if there is no period."""
    none = period == 0.0
    turns = floor(x / where(none, 1.0, period) + 0.5)
    return x - where(none, 0.0, period * turns)


@kernel
def row(work, wanted):
    """(Phi, f, n, extra)."""
    E = work.pair_E
    return nearest(turn(work) - wanted, 6.283185307179586), 0.0, 0.0, 0.0, E[0, 0, 2], E[0, 1, 2], E[0, 2, 2], 0.0


@kernel
def screw(work, pitch, u0, u1, u2, w0, w1, w2):
    """(Phi, f, n, extra) for an advance of `pitch` per radian."""
    E, o = work.pair_E, work.pair_o
    z0, z1, z2 = E[0, 0, 2], E[0, 1, 2], E[0, 2, 2]
    x, y, z = o[1, 0], o[1, 1], o[1, 2]
    advance = z0 * (x - o[0, 0]) + z1 * (y - o[0, 1]) + z2 * (z - o[0, 2])
    phi = nearest(advance - pitch * turn(work), 6.283185307179586 * pitch)
    extra = (u1 * z2 - u2 * z1) * w0 + (u2 * z0 - u0 * z2) * w1 + (u0 * z1 - u1 * z0) * w2
    n0, n1, n2 = y * z2 - z * z1 - pitch * z0, z * z0 - x * z2 - pitch * z1, x * z1 - y * z0 - pitch * z2
    return phi, z0, z1, z2, n0, n1, n2, extra
