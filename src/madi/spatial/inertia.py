"""Ten-number inertias, all about the reference origin.

An inertia is stored as `(m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz)`: mass, first moment `h = m c`, and the inertia
about the *reference origin*. In this form composite inertias are sums (P1 eq. 16), and

    momentum = M^ Y = (m v + w x h,  h x v + I w)       (P1 eq. 11 times Y).

docs/references.md: [P1], [Featherstone 2008].
"""

from __future__ import annotations

from madi.kernel import inline
from madi.spatial.vector import (
    cross,
    dot,
    first,
    join,
    plus,
    plus_scaled,
    second,
    symmetric_times,
)


@inline
def momentum_of(K, i, y):
    """M^ y for the ten-number inertia in row i of K."""
    h, v, w = (K[i, 1], K[i, 2], K[i, 3]), first(y), second(y)
    S = (K[i, 4], K[i, 5], K[i, 6], K[i, 7], K[i, 8], K[i, 9])
    return join(plus_scaled(cross(w, h), K[i, 0], v), plus(cross(h, v), symmetric_times(S, w)))


@inline
def put_inertia(K, i, m, h, c, J):
    """Row i of K of a body of mass m, m c = h, from its inertia J about the centre of mass c, in reference axes."""
    xx, yy, zz = h[0] * c[0], h[1] * c[1], h[2] * c[2]
    K[i, 0] = m
    K[i, 1] = h[0]
    K[i, 2] = h[1]
    K[i, 3] = h[2]
    K[i, 4] = J[0] + (yy + zz)
    K[i, 5] = J[1] - h[0] * c[1]
    K[i, 6] = J[2] - h[0] * c[2]
    K[i, 7] = J[3] + (xx + zz)
    K[i, 8] = J[4] - h[1] * c[2]
    K[i, 9] = J[5] + (xx + yy)


@inline
def put_inertia_from(K, i, m, r, S, J):
    """The same from the first moment S and the inertia J about a point r, as 2 r.S + m r.r and so on."""
    h = plus_scaled(S, m, r)
    e = plus(h, S)
    xx, yy, zz = e[0] * r[0], e[1] * r[1], e[2] * r[2]
    K[i, 0] = m
    K[i, 1] = h[0]
    K[i, 2] = h[1]
    K[i, 3] = h[2]
    K[i, 4] = J[0] + (yy + zz)
    K[i, 5] = J[1] - (h[0] * r[1] + r[0] * S[1])
    K[i, 6] = J[2] - (h[0] * r[2] + r[0] * S[2])
    K[i, 7] = J[3] + (xx + zz)
    K[i, 8] = J[4] - (h[1] * r[2] + r[1] * S[2])
    K[i, 9] = J[5] + (xx + yy)


@inline
def turned_symmetric(R, i, S):
    """R_i S R_i^T of a symmetric matrix (xx, xy, xz, yy, yz, zz)."""
    a, b = (R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]), (R[i, 1, 0], R[i, 1, 1], R[i, 1, 2])
    e = (R[i, 2, 0], R[i, 2, 1], R[i, 2, 2])
    p, q, t = symmetric_times(S, a), symmetric_times(S, b), symmetric_times(S, e)  # rows of R S
    return dot(p, a), dot(p, b), dot(p, e), dot(q, b), dot(q, e), dot(t, e)
