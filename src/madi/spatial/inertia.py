"""Ten-number inertias, all about the reference origin.

An inertia is stored as `(m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz)`: mass, first moment `h = m c`, and the inertia
about the *reference origin*. In this form composite inertias are sums (P1 eq. 16), and

    momentum = M^ Y = (m v + w x h,  h x v + I w)       (P1 eq. 11 times Y).

docs/references.md: [P1], [Featherstone 2008].
"""

from __future__ import annotations

from madi.kernel import inline
from madi.spatial.vector import cross, first, join, plus, plus_scaled, second, symmetric_times


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
def turned_symmetric(R, i, S):
    """R_i S R_i^T of a symmetric matrix (xx, xy, xz, yy, yz, zz)."""
    a, b, e = (
        (R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]),
        (R[i, 1, 0], R[i, 1, 1], R[i, 1, 2]),
        (R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]),
    )
    p, q, t = symmetric_times(S, a), symmetric_times(S, b), symmetric_times(S, e)  # rows of R S
    return (
        p[0] * a[0] + p[1] * a[1] + p[2] * a[2],
        p[0] * b[0] + p[1] * b[1] + p[2] * b[2],
        p[0] * e[0] + p[1] * e[1] + p[2] * e[2],
        q[0] * b[0] + q[1] * b[1] + q[2] * b[2],
        q[0] * e[0] + q[1] * e[1] + q[2] * e[2],
        t[0] * e[0] + t[1] * e[1] + t[2] * e[2],
    )
