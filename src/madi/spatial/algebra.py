"""Motion vectors `(v, w)`, force vectors `(f, n)` and ten-number inertias, all about the reference origin.

An inertia is stored as `(m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz)`: mass, first moment `h = m c`, and the inertia
about the *reference origin*. In this form composite inertias are sums (P1 eq. 16), and

    momentum = M^ Y = (m v + w x h,  h x v + I w)       (P1 eq. 11 times Y).

docs/references.md: [P1], [Featherstone 2008].
"""

from __future__ import annotations

from madi.kernel import inline


@inline
def dot6(a, i, b, j):
    """Product of row i of a with row j of b: a power, or an entry of the mass matrix."""
    return (
        a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2] + a[i, 3] * b[j, 3] + a[i, 4] * b[j, 4] + a[i, 5] * b[j, 5]
    )


@inline
def turned(R, i, x, y, z):
    """R_i (x, y, z): a vector of frame i's axes in the axes R_i refers to."""
    return (
        R[i, 0, 0] * x + R[i, 0, 1] * y + R[i, 0, 2] * z,
        R[i, 1, 0] * x + R[i, 1, 1] * y + R[i, 1, 2] * z,
        R[i, 2, 0] * x + R[i, 2, 1] * y + R[i, 2, 2] * z,
    )


@inline
def turned_back(R, i, x, y, z):
    """R_i^T (x, y, z)."""
    return (
        R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * z,
        R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * z,
        R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * z,
    )


@inline
def inertia_times(K, i, y0, y1, y2, y3, y4, y5):
    """M^ Y for the ten-number inertia in row i of K."""
    m, hx = K[i, 0], K[i, 1]
    hy, hz = K[i, 2], K[i, 3]
    return (
        m * y0 + (y4 * hz - y5 * hy),
        m * y1 + (y5 * hx - y3 * hz),
        m * y2 + (y3 * hy - y4 * hx),
        (hy * y2 - hz * y1) + K[i, 4] * y3 + K[i, 5] * y4 + K[i, 6] * y5,
        (hz * y0 - hx * y2) + K[i, 5] * y3 + K[i, 7] * y4 + K[i, 8] * y5,
        (hx * y1 - hy * y0) + K[i, 6] * y3 + K[i, 8] * y4 + K[i, 9] * y5,
    )


@inline
def motion_cross(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """(v, w) x (v', w') = (w x v' + v x w', w x w'): the rate of a motion vector b that is carried along by a."""
    return (
        (a4 * b2 - a5 * b1) + (a1 * b5 - a2 * b4),
        (a5 * b0 - a3 * b2) + (a2 * b3 - a0 * b5),
        (a3 * b1 - a4 * b0) + (a0 * b4 - a1 * b3),
        a4 * b5 - a5 * b4,
        a5 * b3 - a3 * b5,
        a3 * b4 - a4 * b3,
    )


@inline
def force_cross(a0, a1, a2, a3, a4, a5, f0, f1, f2, f3, f4, f5):
    """(v, w) x* (f, n) = (w x f, v x f + w x n): the rate of a force vector that is carried along by a."""
    return (
        a4 * f2 - a5 * f1,
        a5 * f0 - a3 * f2,
        a3 * f1 - a4 * f0,
        (a1 * f2 - a2 * f1) + (a4 * f5 - a5 * f4),
        (a2 * f0 - a0 * f2) + (a5 * f3 - a3 * f5),
        (a0 * f1 - a1 * f0) + (a3 * f4 - a4 * f3),
    )


@inline
def body_inertia(model, work, i):
    """Ten-number inertia of body i about the reference origin, from its present pose, into work.inertia[i]. That of a
    flexible body is there already (dynamics/modal.py)."""
    if model.modal[i] >= 0:
        return
    R, r = work.R, work.r
    J, out = model.J, work.inertia
    m = model.mass[i]
    if model.axisymmetric[i] == 1:
        # J = Jt 1 + (Ja - Jt) z z^T and c along z: the angle about z, a wheel's, does not matter.
        z0, z1, z2 = R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]
        length, Jt, d = model.com[i, 2], J[i, 0], J[i, 5] - J[i, 0]
        c0, c1, c2 = r[i, 0] + length * z0, r[i, 1] + length * z1, r[i, 2] + length * z2
        d0, d1 = d * z0, d * z1
        xx, xy, xz = Jt + d0 * z0, d0 * z1, d0 * z2
        yy, yz, zz = Jt + d1 * z1, d1 * z2, Jt + d * z2 * z2
    else:
        a0, a1, a2 = R[i, 0, 0], R[i, 0, 1], R[i, 0, 2]
        b0, b1, b2 = R[i, 1, 0], R[i, 1, 1], R[i, 1, 2]
        e0, e1, e2 = R[i, 2, 0], R[i, 2, 1], R[i, 2, 2]
        j0, j1, j2 = J[i, 0], J[i, 1], J[i, 2]
        j3, j4, j5 = J[i, 3], J[i, 4], J[i, 5]
        s0, s1, s2 = model.com[i, 0], model.com[i, 1], model.com[i, 2]
        c0 = r[i, 0] + a0 * s0 + a1 * s1 + a2 * s2
        c1 = r[i, 1] + b0 * s0 + b1 * s1 + b2 * s2
        c2 = r[i, 2] + e0 * s0 + e1 * s1 + e2 * s2
        # rows of R J, then R J R^T
        p0, p1, p2 = a0 * j0 + a1 * j1 + a2 * j2, a0 * j1 + a1 * j3 + a2 * j4, a0 * j2 + a1 * j4 + a2 * j5
        q0, q1, q2 = b0 * j0 + b1 * j1 + b2 * j2, b0 * j1 + b1 * j3 + b2 * j4, b0 * j2 + b1 * j4 + b2 * j5
        t0, t1, t2 = e0 * j0 + e1 * j1 + e2 * j2, e0 * j1 + e1 * j3 + e2 * j4, e0 * j2 + e1 * j4 + e2 * j5
        xx, xy, xz = p0 * a0 + p1 * a1 + p2 * a2, p0 * b0 + p1 * b1 + p2 * b2, p0 * e0 + p1 * e1 + p2 * e2
        yy, yz = q0 * b0 + q1 * b1 + q2 * b2, q0 * e0 + q1 * e1 + q2 * e2
        zz = t0 * e0 + t1 * e1 + t2 * e2
    h0, h1, h2 = m * c0, m * c1, m * c2
    s00, s11, s22 = h0 * c0, h1 * c1, h2 * c2
    out[i, 0] = m
    out[i, 1] = h0
    out[i, 2] = h1
    out[i, 3] = h2
    out[i, 4] = xx + (s11 + s22)
    out[i, 5] = xy - h0 * c1
    out[i, 6] = xz - h0 * c2
    out[i, 7] = yy + (s00 + s22)
    out[i, 8] = yz - h1 * c2
    out[i, 9] = zz + (s00 + s11)
