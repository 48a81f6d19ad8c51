"""The absolute-coordinate equations, q = (r, p) of every body, p Euler parameters (Haug, ch. 9 and 11).

    w' = 2 G p',    m r'' + Phi_r^T lam = f,    4 G^T J G p'' + (Phi_w' 2 G)^T lam = 2 G^T (n' - w' x J w'),

Phi_r r'' + Phi_w' 2 G p'' = gamma, and p^T p'' = -p'^T p' of every body. The last is no row of its own:
k p (p^T p'' + p'^T p') is added to the equations of p, along which all their other terms vanish; so the mass matrix is
definite, 4 x 4 for the rotation of a body. Rows that depend on each other do no harm: the multipliers have -eps on their
diagonal, which proximal steps take out again.
"""

from __future__ import annotations

from madi.forces.dispatch import apply_forces
from madi.kernel import atan2, floor, kernel, sqrt
from madi.loops.kkt import (
    ACCELERATION,
    CAREFUL,
    EPSILON,
    FACTORISATIONS,
    FAILED,
    POSITION,
    VALID,
    VELOCITY,
    eliminate,
    remark,
    solve,
)
from madi.signals.tape import drive_signals, force_signals

POINT, DOT1, DOT2, DISTANCE, MEASURE, SCREW, COUPLER = range(7)
REVOLUTE, PRISMATIC, HELICAL, FIXED, CYLINDRICAL, UNIVERSAL, SPHERICAL, PLANAR, FREE = range(9)
TWO_PI = 6.283185307179586
NAN = float("nan")


# ---- bodies and links -----------------------------------------------------------------------------------------------


@kernel
def bodies(model, work):
    """Axes, G and angular velocity of every body from q, v in work."""
    R, G, q, v = work.R, work.G, work.q, work.v
    n = model.n
    for i in range(n):
        k = 7 * i
        a, b, c, d = q[k + 3], q[k + 4], q[k + 5], q[k + 6]
        R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = 1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)
        R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = 2.0 * (b * c + a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d - a * b)
        R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = 2.0 * (b * d - a * c), 2.0 * (c * d + a * b), 1.0 - 2.0 * (b * b + c * c)
        G[i, 0, 0], G[i, 0, 1], G[i, 0, 2], G[i, 0, 3] = -b, a, d, -c
        G[i, 1, 0], G[i, 1, 1], G[i, 1, 2], G[i, 1, 3] = -c, -d, a, b
        G[i, 2, 0], G[i, 2, 1], G[i, 2, 2], G[i, 2, 3] = -d, c, -b, a
        for j in range(3):
            work.r[i, j] = q[k + j]
            work.u[i, j] = v[k + j]
        x, y, z = local_spin(work, i, v, k)
        for j in range(3):
            work.w[i, j] = R[i, j, 0] * x + R[i, j, 1] * y + R[i, j, 2] * z
    for j in range(3):
        for m in range(3):
            R[n, j, m] = 1.0 if j == m else 0.0
        work.r[n, j] = 0.0
        work.u[n, j] = 0.0
        work.w[n, j] = 0.0


@kernel
def local_spin(work, i, v, k):
    """w' = 2 G p' of body i, its p' at v[k+3]."""
    G = work.G
    a, b, c, d = v[k + 3], v[k + 4], v[k + 5], v[k + 6]
    return (
        2.0 * (G[i, 0, 0] * a + G[i, 0, 1] * b + G[i, 0, 2] * c + G[i, 0, 3] * d),
        2.0 * (G[i, 1, 0] * a + G[i, 1, 1] * b + G[i, 1, 2] * c + G[i, 1, 3] * d),
        2.0 * (G[i, 2, 0] * a + G[i, 2, 1] * b + G[i, 2, 2] * c + G[i, 2, 3] * d),
    )


@kernel
def link_frames(model, work, k):
    """Origins (global, and their velocities) and axes of the two frames of link k."""
    R, E, o = work.R, work.E, work.o
    s, C = model.link_s, model.link_C
    for side in range(2):
        i, m = model.link_a[k] if side == 0 else model.link_b[k], 2 * k + side
        for j in range(3):
            for c in range(3):
                E[side, j, c] = R[i, j, 0] * C[m, 0, c] + R[i, j, 1] * C[m, 1, c] + R[i, j, 2] * C[m, 2, c]
            o[side, j] = R[i, j, 0] * s[m, 0] + R[i, j, 1] * s[m, 1] + R[i, j, 2] * s[m, 2]  # from the centre of mass
        x, y, z = o[side, 0], o[side, 1], o[side, 2]
        w0, w1, w2 = work.w[i, 0], work.w[i, 1], work.w[i, 2]
        work.od[side, 0] = work.u[i, 0] + w1 * z - w2 * y
        work.od[side, 1] = work.u[i, 1] + w2 * x - w0 * z
        work.od[side, 2] = work.u[i, 2] + w0 * y - w1 * x


@kernel
def counted(angle, before):
    """The angle with the whole turns that keep it next to what it was before."""
    return angle + TWO_PI * floor((before - angle) / TWO_PI + 0.5)


@kernel
def turn_of(model, work, k):
    """Angle of link k between the x axes about z of frame a (its frames are in work)."""
    E = work.E
    c = E[0, 0, 0] * E[1, 0, 0] + E[0, 1, 0] * E[1, 1, 0] + E[0, 2, 0] * E[1, 2, 0]
    s = E[0, 0, 1] * E[1, 0, 0] + E[0, 1, 1] * E[1, 1, 0] + E[0, 2, 1] * E[1, 2, 0]
    work.turn[k] = counted(atan2(s, c), work.turn[k])
    return work.turn[k]


# ---- constraints ----------------------------------------------------------------------------------------------------


@kernel
def dot1(work, a, b, i, j):
    """p . s for axis i of frame a and axis j of frame b: value, rate, -gamma; gradient by the turns into z[3:6], z[9:12]."""
    E, w, z = work.E, work.w, work.z
    p0, p1, p2 = E[0, 0, i], E[0, 1, i], E[0, 2, i]
    s0, s1, s2 = E[1, 0, j], E[1, 1, j], E[1, 2, j]
    n0, n1, n2 = p1 * s2 - p2 * s1, p2 * s0 - p0 * s2, p0 * s1 - p1 * s0
    for m in range(12):
        z[m] = 0.0
    z[3], z[4], z[5] = n0, n1, n2
    z[9], z[10], z[11] = -n0, -n1, -n2
    # rates of the axes, then the accelerations they have without angular accelerations
    a0, a1, a2 = w[a, 1] * p2 - w[a, 2] * p1, w[a, 2] * p0 - w[a, 0] * p2, w[a, 0] * p1 - w[a, 1] * p0
    b0, b1, b2 = w[b, 1] * s2 - w[b, 2] * s1, w[b, 2] * s0 - w[b, 0] * s2, w[b, 0] * s1 - w[b, 1] * s0
    c0, c1, c2 = w[a, 1] * a2 - w[a, 2] * a1, w[a, 2] * a0 - w[a, 0] * a2, w[a, 0] * a1 - w[a, 1] * a0
    d0, d1, d2 = w[b, 1] * b2 - w[b, 2] * b1, w[b, 2] * b0 - w[b, 0] * b2, w[b, 0] * b1 - w[b, 1] * b0
    bias = c0 * s0 + c1 * s1 + c2 * s2 + d0 * p0 + d1 * p1 + d2 * p2 + 2.0 * (a0 * b0 + a1 * b1 + a2 * b2)
    rate = a0 * s0 + a1 * s1 + a2 * s2 + b0 * p0 + b1 * p1 + b2 * p2
    return p0 * s0 + p1 * s1 + p2 * s2, rate, bias


@kernel
def along(work, a, b, p0, p1, p2, moving):
    """p . d for the vector d from origin a to origin b: value, rate, -gamma; p rests on frame a (moving) or ground."""
    o, od, r, w, z = work.o, work.od, work.r, work.w, work.z
    d0 = r[b, 0] + o[1, 0] - r[a, 0] - o[0, 0]
    d1 = r[b, 1] + o[1, 1] - r[a, 1] - o[0, 1]
    d2 = r[b, 2] + o[1, 2] - r[a, 2] - o[0, 2]
    e0, e1, e2 = od[1, 0] - od[0, 0], od[1, 1] - od[0, 1], od[1, 2] - od[0, 2]
    z[0], z[1], z[2] = -p0, -p1, -p2
    z[6], z[7], z[8] = p0, p1, p2
    # d/d(turn) of R s is s x: (turn x s) . p = turn . (s x p)
    x, y, t = o[0, 0], o[0, 1], o[0, 2]
    z[3], z[4], z[5] = -(y * p2 - t * p1), -(t * p0 - x * p2), -(x * p1 - y * p0)
    x, y, t = o[1, 0], o[1, 1], o[1, 2]
    z[9], z[10], z[11] = y * p2 - t * p1, t * p0 - x * p2, x * p1 - y * p0
    g0, g1, g2 = 0.0, 0.0, 0.0  # w x (w x s) of b less that of a
    for side in range(2):
        i = a if side == 0 else b
        sign = -1.0 if side == 0 else 1.0
        x, y, t = o[side, 0], o[side, 1], o[side, 2]
        w0, w1, w2 = w[i, 0], w[i, 1], w[i, 2]
        h0, h1, h2 = w1 * t - w2 * y, w2 * x - w0 * t, w0 * y - w1 * x
        g0, g1, g2 = g0 + sign * (w1 * h2 - w2 * h1), g1 + sign * (w2 * h0 - w0 * h2), g2 + sign * (w0 * h1 - w1 * h0)
    rate = p0 * e0 + p1 * e1 + p2 * e2
    bias = p0 * g0 + p1 * g1 + p2 * g2
    if moving:
        w0, w1, w2 = w[a, 0], w[a, 1], w[a, 2]
        z[3], z[4], z[5] = z[3] + (p1 * d2 - p2 * d1), z[4] + (p2 * d0 - p0 * d2), z[5] + (p0 * d1 - p1 * d0)
        h0, h1, h2 = w1 * p2 - w2 * p1, w2 * p0 - w0 * p2, w0 * p1 - w1 * p0
        rate = rate + h0 * d0 + h1 * d1 + h2 * d2
        f0, f1, f2 = w1 * h2 - w2 * h1, w2 * h0 - w0 * h2, w0 * h1 - w1 * h0
        bias = bias + 2.0 * (h0 * e0 + h1 * e1 + h2 * e2) + f0 * d0 + f1 * d1 + f2 * d2
    return p0 * d0 + p1 * d1 + p2 * d2, rate, bias


@kernel
def distance(work, a, b, length):
    """(d . d - l^2) / (2 l): value, rate, -gamma."""
    o, od, r = work.o, work.od, work.r
    d0 = r[b, 0] + o[1, 0] - r[a, 0] - o[0, 0]
    d1 = r[b, 1] + o[1, 1] - r[a, 1] - o[0, 1]
    d2 = r[b, 2] + o[1, 2] - r[a, 2] - o[0, 2]
    e0, e1, e2 = od[1, 0] - od[0, 0], od[1, 1] - od[0, 1], od[1, 2] - od[0, 2]
    _, rate, bias = along(work, a, b, d0 / length, d1 / length, d2 / length, False)
    value = 0.5 * (d0 * d0 + d1 * d1 + d2 * d2 - length * length) / length
    return value, rate, bias + (e0 * e0 + e1 * e1 + e2 * e2) / length


@kernel
def measured(model, work, k, part):
    """A coordinate of link k: its slide along axis `part` of frame a, or (3) its turn about z: value, rate, -gamma."""
    E, w, z = work.E, work.w, work.z
    a, b = model.link_a[k], model.link_b[k]
    if part < 3:
        return along(work, a, b, E[0, 0, part], E[0, 1, part], E[0, 2, part], True)
    for m in range(12):
        z[m] = 0.0
    z0, z1, z2 = E[0, 0, 2], E[0, 1, 2], E[0, 2, 2]
    z[3], z[4], z[5] = -z0, -z1, -z2
    z[9], z[10], z[11] = z0, z1, z2
    rate = z0 * (w[b, 0] - w[a, 0]) + z1 * (w[b, 1] - w[a, 1]) + z2 * (w[b, 2] - w[a, 2])
    h0, h1, h2 = w[a, 1] * z2 - w[a, 2] * z1, w[a, 2] * z0 - w[a, 0] * z2, w[a, 0] * z1 - w[a, 1] * z0
    work.spin[k] = rate
    return turn_of(model, work, k), rate, h0 * w[b, 0] + h1 * w[b, 1] + h2 * w[b, 2]


@kernel
def add_gradient(model, work, r, slot, factor):
    """The gradient in z, of the two bodies in slots `slot`, `slot` + 1 of row r, times `factor`, to row r: by (r, w) and
    by the coordinates (r, p), where a turn w dt is 2 G dp in body axes."""
    z, J, G, R = work.z, work.jacobian, work.G, work.R
    for side in range(2):
        i = model.row_body[r, slot + side]
        for m in range(6):
            work.turning[r, 6 * (slot + side) + m] = factor * z[6 * side + m]
        if i < model.n:
            at = 7 * (slot + side)
            x, y, t = factor * z[6 * side + 3], factor * z[6 * side + 4], factor * z[6 * side + 5]
            l0 = R[i, 0, 0] * x + R[i, 1, 0] * y + R[i, 2, 0] * t
            l1 = R[i, 0, 1] * x + R[i, 1, 1] * y + R[i, 2, 1] * t
            l2 = R[i, 0, 2] * x + R[i, 1, 2] * y + R[i, 2, 2] * t
            for m in range(3):
                J[r, at + m] = factor * z[6 * side + m]
            for m in range(4):
                J[r, at + 3 + m] = 2.0 * (l0 * G[i, 0, m] + l1 * G[i, 1, m] + l2 * G[i, 2, m])


@kernel
def rows(model, work, forces):
    """Residual, rate, right-hand side and Jacobian of every row; signals are in the force elements' scratch."""
    E = work.E
    before = -1
    for r in range(model.nr):
        k, kind = model.row_link[r], model.row_kind[r]
        a, b = model.link_a[k], model.link_b[k]
        if k != before:
            link_frames(model, work, k)
            before = k
        i, j = model.row_i[r], model.row_j[r]
        if kind == POINT:
            value, rate, bias = along(
                work, a, b, 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0, False
            )
        elif kind == DOT1:
            value, rate, bias = dot1(work, a, b, i, j)
        elif kind == DOT2:
            value, rate, bias = along(work, a, b, E[0, 0, i], E[0, 1, i], E[0, 2, i], True)
        elif kind == DISTANCE:
            value, rate, bias = distance(work, a, b, model.row_value[r, 0])
        else:
            value, rate, bias = measured(model, work, k, 2 if kind == SCREW else i)
        add_gradient(model, work, r, 0, 1.0)
        if kind in (SCREW, COUPLER):
            factor, other = -model.row_value[r, 0], model.row_other[r]
            if other != k:
                link_frames(model, work, other)
                before = other
            y, yd, ydd = measured(model, work, other, j)
            add_gradient(model, work, r, 2, factor)
            value, rate, bias = value + factor * y, rate + factor * yd, bias + factor * ydd
        s = model.row_signal[r]
        wanted, wanted_rate, wanted_acceleration = model.row_value[r, 1], 0.0, 0.0
        if s >= 0:
            wanted, wanted_rate, wanted_acceleration = forces.signal[s], forces.signal[s + 1], forces.signal[s + 2]
        value = value - wanted
        if kind == MEASURE and i == 3:
            value = counted(value, 0.0)  # the nearest way round
        elif kind == SCREW and model.row_value[r, 0] != 0.0:
            period = model.row_value[r, 0]
            value = period * counted(value / period, 0.0)
        work.phi[r], work.rate[r], work.gamma[r] = value, rate - wanted_rate, wanted_acceleration - bias


# ---- relative motion in the joints: for forces on joint coordinates, and for results --------------------------------


@kernel
def relative(model, work, k):
    """work.state = seen from frame a: d, d', d'' of the origins and the relative W, W' (body accelerations in work.a)."""
    E, o, w, x = work.E, work.o, work.w, work.state
    a, b = model.link_a[k], model.link_b[k]
    link_frames(model, work, k)
    for j in range(3):
        x[j] = work.r[b, j] + o[1, j] - work.r[a, j] - o[0, j]
        x[3 + j] = work.od[1, j] - work.od[0, j]
        x[6 + j] = 0.0
        x[9 + j] = w[b, j] - w[a, j]
        x[12 + j] = 0.0
        x[15 + j] = 0.0  # angular acceleration of a
    for side in range(2):
        i = a if side == 0 else b
        sign = -1.0 if side == 0 else 1.0
        if i < model.n:
            e0, e1, e2 = local_spin(work, i, work.a, 7 * i)  # 2 G p'' is w'' in body axes: G' p' = 0
            for j in range(3):
                work.z[j] = work.R[i, j, 0] * e0 + work.R[i, j, 1] * e1 + work.R[i, j, 2] * e2
                x[12 + j] = x[12 + j] + sign * work.z[j]
                x[6 + j] = x[6 + j] + sign * work.a[7 * i + j]
                if side == 0:
                    x[15 + j] = work.z[j]
            s0, s1, s2 = o[side, 0], o[side, 1], o[side, 2]
            w0, w1, w2 = w[i, 0], w[i, 1], w[i, 2]
            h0, h1, h2 = w1 * s2 - w2 * s1, w2 * s0 - w0 * s2, w0 * s1 - w1 * s0
            e0, e1, e2 = work.z[0], work.z[1], work.z[2]
            x[6] = x[6] + sign * (e1 * s2 - e2 * s1 + w1 * h2 - w2 * h1)
            x[7] = x[7] + sign * (e2 * s0 - e0 * s2 + w2 * h0 - w0 * h2)
            x[8] = x[8] + sign * (e0 * s1 - e1 * s0 + w0 * h1 - w1 * h0)
    # as an observer on a sees them
    w0, w1, w2 = w[a, 0], w[a, 1], w[a, 2]
    d0, d1, d2 = x[0], x[1], x[2]
    u0, u1, u2 = x[3] - (w1 * d2 - w2 * d1), x[4] - (w2 * d0 - w0 * d2), x[5] - (w0 * d1 - w1 * d0)
    h0, h1, h2 = w1 * d2 - w2 * d1, w2 * d0 - w0 * d2, w0 * d1 - w1 * d0
    e0, e1, e2 = x[15], x[16], x[17]
    x[6] = x[6] - (e1 * d2 - e2 * d1) - (w1 * h2 - w2 * h1) - 2.0 * (w1 * u2 - w2 * u1)
    x[7] = x[7] - (e2 * d0 - e0 * d2) - (w2 * h0 - w0 * h2) - 2.0 * (w2 * u0 - w0 * u2)
    x[8] = x[8] - (e0 * d1 - e1 * d0) - (w0 * h1 - w1 * h0) - 2.0 * (w0 * u1 - w1 * u0)
    x[3], x[4], x[5] = u0, u1, u2
    v0, v1, v2 = x[9], x[10], x[11]
    x[12], x[13], x[14] = x[12] - (w1 * v2 - w2 * v1), x[13] - (w2 * v0 - w0 * v2), x[14] - (w0 * v1 - w1 * v0)
    for m in range(5):
        d0, d1, d2 = x[3 * m], x[3 * m + 1], x[3 * m + 2]
        for j in range(3):
            x[3 * m + j] = E[0, 0, j] * d0 + E[0, 1, j] * d1 + E[0, 2, j] * d2


@kernel
def relative_axes(work, R):
    """R = frame b seen from frame a."""
    E = work.E
    for i in range(3):
        for j in range(3):
            R[i, j] = E[0, 0, i] * E[1, 0, j] + E[0, 1, i] * E[1, 1, j] + E[0, 2, i] * E[1, 2, j]


@kernel
def joint_state(model, work, forces, q, v, a):
    """Coordinates, speeds and accelerations of all joints that the tree kept, as it names them."""
    x, R = work.state, forces.joint_R
    for k in range(model.nk):
        code, i, c = model.link_code[k], model.link_q[k], model.link_v[k]
        if code < 0 or i < 0:
            continue
        relative(model, work, k)
        work.spin[k] = x[11]
        if code in (REVOLUTE, HELICAL):
            q[i], v[c], a[c] = turn_of(model, work, k), x[11], x[14]
        elif code == PRISMATIC:
            q[i], v[c], a[c] = x[2], x[5], x[8]
        elif code == CYLINDRICAL:
            q[i], v[c], a[c] = x[2], x[5], x[8]
            q[i + 1], v[c + 1], a[c + 1] = turn_of(model, work, k), x[11], x[14]
        elif code == PLANAR:
            q[i], v[c], a[c] = x[0], x[3], x[6]
            q[i + 1], v[c + 1], a[c + 1] = x[1], x[4], x[7]
            q[i + 2], v[c + 2], a[c + 2] = turn_of(model, work, k), x[11], x[14]
        elif code == UNIVERSAL:
            relative_axes(work, R)
            q[i], v[c], a[c] = turn_of(model, work, k), x[11], x[14]
            work.turn2[k] = counted(atan2(R[2, 1], R[2, 2]), work.turn2[k])
            q[i + 1], v[c + 1] = work.turn2[k], R[0, 0] * x[9] + R[1, 0] * x[10]
            a[c + 1] = R[0, 0] * x[12] + R[1, 0] * x[13] + x[11] * (R[0, 0] * x[10] - R[1, 0] * x[9])
        elif code in (SPHERICAL, FREE):
            relative_axes(work, R)
            shift = 3 if code == FREE else 0
            quaternion(R, q, i + shift)
            for j in range(3):
                v[c + shift + j] = R[0, j] * x[9] + R[1, j] * x[10] + R[2, j] * x[11]
                a[c + shift + j] = R[0, j] * x[12] + R[1, j] * x[13] + R[2, j] * x[14]
                if code == FREE:
                    q[i + j] = x[j]
                    v[c + j] = R[0, j] * x[3] + R[1, j] * x[4] + R[2, j] * x[5]
                    a[c + j] = R[0, j] * x[6] + R[1, j] * x[7] + R[2, j] * x[8]
            if code == FREE:  # the axes turn: less w x v
                w0, w1, w2 = v[c + 3], v[c + 4], v[c + 5]
                a[c] = a[c] - (w1 * v[c + 2] - w2 * v[c + 1])
                a[c + 1] = a[c + 1] - (w2 * v[c] - w0 * v[c + 2])
                a[c + 2] = a[c + 2] - (w0 * v[c + 1] - w1 * v[c])


@kernel
def quaternion(R, q, i):
    """Unit quaternion of R, next to what is in q already."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        s = sqrt(1.0 + t)
        w, x, y, z = 0.5 * s, 0.5 * (R[2, 1] - R[1, 2]) / s, 0.5 * (R[0, 2] - R[2, 0]) / s, 0.5 * (R[1, 0] - R[0, 1]) / s
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        s = sqrt(1.0 + R[0, 0] - R[1, 1] - R[2, 2])
        w, x, y, z = 0.5 * (R[2, 1] - R[1, 2]) / s, 0.5 * s, 0.5 * (R[0, 1] + R[1, 0]) / s, 0.5 * (R[0, 2] + R[2, 0]) / s
    elif R[1, 1] >= R[2, 2]:
        s = sqrt(1.0 - R[0, 0] + R[1, 1] - R[2, 2])
        w, x, y, z = 0.5 * (R[0, 2] - R[2, 0]) / s, 0.5 * (R[0, 1] + R[1, 0]) / s, 0.5 * s, 0.5 * (R[1, 2] + R[2, 1]) / s
    else:
        s = sqrt(1.0 - R[0, 0] - R[1, 1] + R[2, 2])
        w, x, y, z = 0.5 * (R[1, 0] - R[0, 1]) / s, 0.5 * (R[0, 2] + R[2, 0]) / s, 0.5 * (R[1, 2] + R[2, 1]) / s, 0.5 * s
    sign = -1.0 if w * q[i] + x * q[i + 1] + y * q[i + 2] + z * q[i + 3] < 0.0 else 1.0
    q[i], q[i + 1], q[i + 2], q[i + 3] = sign * w, sign * x, sign * y, sign * z


# ---- forces ---------------------------------------------------------------------------------------------------------


@kernel
def apply(model, work, element, forces, t):
    """work.force: all forces on each body at its centre of mass. `element`, `forces`: model and scratch of the force
    elements, which know bodies by a frame of their own and give force vectors about the global origin."""
    R, C = work.R, model.inner_R
    for i in range(model.n):
        b = model.tree_body[i]
        for j in range(3):
            for m in range(3):
                forces.R[b, j, m] = R[i, j, 0] * C[i, 0, m] + R[i, j, 1] * C[i, 1, m] + R[i, j, 2] * C[i, 2, m]
            s = model.inner_r
            forces.r[b, j] = work.r[i, j] + R[i, j, 0] * s[i, 0] + R[i, j, 1] * s[i, 1] + R[i, j, 2] * s[i, 2]
        x, y, z = work.r[i, 0], work.r[i, 1], work.r[i, 2]
        w0, w1, w2 = work.w[i, 0], work.w[i, 1], work.w[i, 2]
        forces.Y[b, 0] = work.u[i, 0] - (w1 * z - w2 * y)
        forces.Y[b, 1] = work.u[i, 1] - (w2 * x - w0 * z)
        forces.Y[b, 2] = work.u[i, 2] - (w0 * y - w1 * x)
        forces.Y[b, 3], forces.Y[b, 4], forces.Y[b, 5] = w0, w1, w2
    joint_state(model, work, forces, forces.q, forces.v, forces.acceleration)
    force_signals(element, forces, t, forces.q, forces.v)
    for c in range(element.nv):
        forces.P[c] = 0.0
    apply_forces(element, forces, forces.P)
    for i in range(model.n):
        b, m = model.tree_body[i], model.mass[i]
        Q, r, F = forces.Q, work.r, work.force
        f0, f1, f2 = Q[b, 0], Q[b, 1], Q[b, 2]
        F[i, 3] = Q[b, 3] - (r[i, 1] * f2 - r[i, 2] * f1)
        F[i, 4] = Q[b, 4] - (r[i, 2] * f0 - r[i, 0] * f2)
        F[i, 5] = Q[b, 5] - (r[i, 0] * f1 - r[i, 1] * f0)
        F[i, 0], F[i, 1], F[i, 2] = f0 + m * model.gravity[0], f1 + m * model.gravity[1], f2 + m * model.gravity[2]
    for k in range(model.nk):
        if model.link_code[k] >= 0 and model.link_v[k] >= 0:
            joint_forces(model, work, forces, k)


@kernel
def joint_forces(model, work, forces, k):
    """Forces on the coordinates of joint k, as a force at and a couple on its two bodies."""
    code, c, tau, E = model.link_code[k], model.link_v[k], forces.tau, work.E
    if code in (SPHERICAL, FREE, FIXED):
        return
    link_frames(model, work, k)
    x, y, z, n, n2 = 0.0, 0.0, 0.0, 0.0, 0.0
    if code in (REVOLUTE, HELICAL):
        n = tau[c]
    elif code == PRISMATIC:
        z = tau[c]
    elif code == CYLINDRICAL:
        z, n = tau[c], tau[c + 1]
    elif code == PLANAR:
        x, y, n = tau[c], tau[c + 1], tau[c + 2]
    elif code == UNIVERSAL:
        n, n2 = tau[c], tau[c + 1]
    F = work.force
    for side in range(2):
        i = model.link_a[k] if side == 0 else model.link_b[k]
        sign = -1.0 if side == 0 else 1.0
        if i < model.n:
            o = work.o
            # both forces act at the origin of frame b
            s0 = work.r[model.link_b[k], 0] + o[1, 0] - work.r[i, 0]
            s1 = work.r[model.link_b[k], 1] + o[1, 1] - work.r[i, 1]
            s2 = work.r[model.link_b[k], 2] + o[1, 2] - work.r[i, 2]
            f0 = sign * (x * E[0, 0, 0] + y * E[0, 0, 1] + z * E[0, 0, 2])
            f1 = sign * (x * E[0, 1, 0] + y * E[0, 1, 1] + z * E[0, 1, 2])
            f2 = sign * (x * E[0, 2, 0] + y * E[0, 2, 1] + z * E[0, 2, 2])
            F[i, 0], F[i, 1], F[i, 2] = F[i, 0] + f0, F[i, 1] + f1, F[i, 2] + f2
            F[i, 3] = F[i, 3] + s1 * f2 - s2 * f1 + sign * (n * E[0, 0, 2] + n2 * E[1, 0, 0])
            F[i, 4] = F[i, 4] + s2 * f0 - s0 * f2 + sign * (n * E[0, 1, 2] + n2 * E[1, 1, 0])
            F[i, 5] = F[i, 5] + s0 * f1 - s1 * f0 + sign * (n * E[0, 2, 2] + n2 * E[1, 2, 0])


# ---- equations of motion --------------------------------------------------------------------------------------------


@kernel
def masses(model, work):
    """The mass matrix of every body: m three times, then the upper triangle of 4 G^T J G + k p p^T, k the trace of J."""
    G, J, q, M = work.G, model.J, work.q, work.mass
    for i in range(model.n):
        for j in range(3):
            M[i, j] = model.mass[i]
        stiff = J[i, 0, 0] + J[i, 1, 1] + J[i, 2, 2]
        at = 3
        for a in range(4):
            x = J[i, 0, 0] * G[i, 0, a] + J[i, 0, 1] * G[i, 1, a] + J[i, 0, 2] * G[i, 2, a]
            y = J[i, 1, 0] * G[i, 0, a] + J[i, 1, 1] * G[i, 1, a] + J[i, 1, 2] * G[i, 2, a]
            z = J[i, 2, 0] * G[i, 0, a] + J[i, 2, 1] * G[i, 1, a] + J[i, 2, 2] * G[i, 2, a]
            for b in range(a, 4):
                M[i, at] = (
                    4.0 * (x * G[i, 0, b] + y * G[i, 1, b] + z * G[i, 2, b]) + stiff * q[7 * i + 3 + a] * q[7 * i + 3 + b]
                )
                at += 1


@kernel
def factorise(model, work):
    """The factor for the masses and Jacobian in work."""
    F = work.factor
    for k in range(model.nu + model.nl):
        F[k] = 0.0
    for i in range(model.n):
        for j in range(13):
            F[model.m_place[i, j]] = work.mass[i, j]
    for r in range(model.nr):
        F[model.row_place[r]] = -model.row_value[r, 2]
        for slot in range(4):
            if model.row_body[r, slot] < model.n:
                for j in range(7 * slot, 7 * slot + 7):
                    p = model.j_place[r, j]
                    if p >= 0:
                        F[p] = F[p] + work.jacobian[r, j]
    eliminate(model, F)
    work.tally[VALID] = 1.0
    work.tally[FACTORISATIONS] = work.tally[FACTORISATIONS] + 1.0


@kernel
def right_hand_side(model, work, x):
    """x = (forces, gamma)."""
    G, J = work.G, model.J
    for i in range(model.n):
        k, R, F = 7 * i, work.R, work.force
        w0, w1, w2 = local_spin(work, i, work.v, k)
        h0 = J[i, 0, 0] * w0 + J[i, 0, 1] * w1 + J[i, 0, 2] * w2
        h1 = J[i, 1, 0] * w0 + J[i, 1, 1] * w1 + J[i, 1, 2] * w2
        h2 = J[i, 2, 0] * w0 + J[i, 2, 1] * w1 + J[i, 2, 2] * w2
        n0 = R[i, 0, 0] * F[i, 3] + R[i, 1, 0] * F[i, 4] + R[i, 2, 0] * F[i, 5] - (w1 * h2 - w2 * h1)
        n1 = R[i, 0, 1] * F[i, 3] + R[i, 1, 1] * F[i, 4] + R[i, 2, 1] * F[i, 5] - (w2 * h0 - w0 * h2)
        n2 = R[i, 0, 2] * F[i, 3] + R[i, 1, 2] * F[i, 4] + R[i, 2, 2] * F[i, 5] - (w0 * h1 - w1 * h0)
        a, b, c, d = work.v[k + 3], work.v[k + 4], work.v[k + 5], work.v[k + 6]
        stiff = (J[i, 0, 0] + J[i, 1, 1] + J[i, 2, 2]) * (a * a + b * b + c * c + d * d)
        for j in range(3):
            x[model.q_place[k + j]] = F[i, j]
        for j in range(4):
            x[model.q_place[k + 3 + j]] = (
                2.0 * (G[i, 0, j] * n0 + G[i, 1, j] * n1 + G[i, 2, j] * n2) - stiff * work.q[k + 3 + j]
            )
    for r in range(model.nr):
        x[model.row_place[r]] = work.gamma[r]


@kernel
def residual(model, work, x, out):
    """out = right-hand side less the matrix in work times x."""
    right_hand_side(model, work, out)
    for i in range(model.n):
        k, at = 7 * i, 3
        for j in range(3):
            p = model.q_place[k + j]
            out[p] = out[p] - work.mass[i, j] * x[p]
        for a in range(4):
            p = model.q_place[k + 3 + a]
            for b in range(a, 4):
                s = model.q_place[k + 3 + b]
                out[p] = out[p] - work.mass[i, at] * x[s]
                if a != b:
                    out[s] = out[s] - work.mass[i, at] * x[p]
                at += 1
    for r in range(model.nr):
        p = model.row_place[r]
        for slot in range(4):
            i = model.row_body[r, slot]
            if i < model.n:
                for j in range(7):
                    if model.j_place[r, 7 * slot + j] >= 0:
                        s, y = model.q_place[7 * i + j], work.jacobian[r, 7 * slot + j]
                        out[p] = out[p] - y * x[s]
                        out[s] = out[s] - y * x[p]


@kernel
def accelerations(model, work, fresh):
    """a and lam by quasi-Newton steps with the factor at hand, which is made anew if they gain too little."""
    x, y = work.unknown, work.correction
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    last = 1e300
    for _ in range(30):
        residual(model, work, x, y)
        solve(model, work.factor, y)
        size, scale = 0.0, 1e-3
        for k in range(model.nu):
            x[k] = x[k] + y[k]
        for k in range(7 * model.n):
            p = model.q_place[k]
            scale = max(scale, abs(x[p]))
            if not abs(y[p]) <= size:
                size = abs(y[p])
        work.tally[ACCELERATION] = work.tally[ACCELERATION] + 1.0
        if size <= 1e-12 * scale:
            break
        if not size < 0.2 * last:
            if size <= 1e-10 * scale:
                break
            if not fresh:
                factorise(model, work)
                right_hand_side(model, work, x)
                solve(model, work.factor, x)
                fresh = True
        last = size
    for k in range(7 * model.n):
        work.a[k] = x[model.q_place[k]]
    for r in range(model.nr):
        work.lam[r] = x[model.row_place[r]]


@kernel
def take(model, work, element, forces, t, q, v):
    """The state to work, quaternions of unit length and their rates tangential; angles are carried on to time t, so that
    whole turns are counted right from one evaluation to the next, and from one output to the next."""
    for k in range(7 * model.n):
        work.q[k], work.v[k] = q[k], v[k]
    for k in range(model.nk):
        work.turn[k] = work.turn[k] + work.spin[k] * (t - work.clock[0])
    work.clock[0] = t
    normalise(model, work)
    bodies(model, work)
    drive_signals(element, forces, t, forces.q, forces.v)


@kernel
def normalise(model, work):
    """p of unit length, p' normal to it."""
    q, v = work.q, work.v
    for i in range(model.n):
        k = 7 * i + 3
        size = 1.0 / sqrt(q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3])
        for j in range(4):
            q[k + j] = q[k + j] * size
        along_p = q[k] * v[k] + q[k + 1] * v[k + 1] + q[k + 2] * v[k + 2] + q[k + 3] * v[k + 3]
        for j in range(4):
            v[k + j] = v[k + j] - along_p * q[k + j]


@kernel
def forward(model, work, element, forces, t, q, v, x, out):
    """Accelerations r'', p'' of all bodies."""
    take(model, work, element, forces, t, q, v)
    apply(model, work, element, forces, t)
    rows(model, work, forces)
    masses(model, work)
    factorise(model, work)
    accelerations(model, work, True)
    for k in range(7 * model.n):
        out[k] = work.a[k]


@kernel
def largest(values, n):
    """Largest size among n values; NaN if one is."""
    size = 0.0
    for r in range(n):
        if not abs(values[r]) <= size:
            size = abs(values[r])
    return size


@kernel
def correct(model, work, values, of):
    """of += the least change, by mass, that takes `values` off the rows."""
    x = work.unknown
    for k in range(model.nu):
        x[k] = 0.0
    for r in range(model.nr):
        x[model.row_place[r]] = -values[r]
    solve(model, work.factor, x)
    for k in range(7 * model.n):
        of[k] = of[k] + x[model.q_place[k]]
    normalise(model, work)
    bodies(model, work)


@kernel
def settle(model, work, forces, level):
    """Positions (level 0) or velocities (1) on the constraints; whether they are."""
    tiny, good = (2e-13, 5e-11) if level == 0 else (2e-12, 5e-10)
    rows(model, work, forces)
    rounding = 1e-15 * largest(work.v, 7 * model.n) if level == 1 else 0.0
    size = largest(work.phi if level == 0 else work.rate, model.nr)
    for _ in range(40):
        if size <= tiny + rounding:
            return True
        if work.tally[VALID] == 0.0:
            masses(model, work)
            factorise(model, work)
        if level == 0:
            correct(model, work, work.phi, work.q)
            work.tally[POSITION] = work.tally[POSITION] + 1.0
        else:
            correct(model, work, work.rate, work.v)
            work.tally[VELOCITY] = work.tally[VELOCITY] + 1.0
        rows(model, work, forces)
        now = largest(work.phi if level == 0 else work.rate, model.nr)
        if not now < 0.2 * size:
            if now <= good + 10.0 * rounding:
                return True
            if now != now:
                return False
            work.tally[VALID] = 0.0
        size = now
    return size <= good + 10.0 * rounding


@kernel
def close(model, work, element, forces, t, q, v, x, out):
    """q, v onto the constraints (in place), and the accelerations there; NaN where that fails."""
    take(model, work, element, forces, t, q, v)
    work.tally[FAILED] = 0.0
    if work.tally[CAREFUL] != 0.0:
        work.tally[VALID] = 0.0
    closed = settle(model, work, forces, 0)
    if not closed:
        work.tally[FAILED] = 1.0
    else:
        closed = settle(model, work, forces, 1)
        if not closed:
            work.tally[FAILED] = 2.0
    if not closed:
        for k in range(7 * model.n):
            out[k] = NAN
        return
    for k in range(7 * model.n):
        q[k], v[k] = work.q[k], work.v[k]
    apply(model, work, element, forces, t)
    masses(model, work)
    fresh = work.tally[VALID] == 0.0
    if fresh:
        factorise(model, work)
    accelerations(model, work, fresh)
    deficient, near = 0.0, 1.0
    for r in range(model.nr):
        ratio = -EPSILON / (work.factor[model.row_place[r]] * model.row_value[r, 2])
        if ratio < 1e-7:
            deficient += 1.0
        elif ratio < near:
            near = ratio
    remark(work.tally, deficient, near)
    for k in range(7 * model.n):
        out[k] = work.a[k]


@kernel
def report(model, work, element, forces, t, q, v, x, out):
    """Everything a result records, for the accelerations x: joint coordinates, speeds, accelerations; of each body axes,
    r, r', w, r'', w'; of each force element its four numbers; generalised forces on joint coordinates; of each row
    (f, n) on body b of its link, and of a coupler's second link, by unit lam."""
    take(model, work, element, forces, t, q, v)
    for k in range(7 * model.n):
        work.a[k] = x[k]
    apply(model, work, element, forces, t)
    rows(model, work, forces)
    joint_state(model, work, forces, forces.q, forces.v, forces.acceleration)
    at = 0
    for j in range(element.nq):
        out[at + j] = forces.q[j]
    at += element.nq
    for c in range(element.nv):
        out[at + c], out[at + element.nv + c] = forces.v[c], forces.acceleration[c]
    at += 2 * element.nv
    for i in range(model.n):
        e0, e1, e2 = local_spin(work, i, work.a, 7 * i)
        for j in range(3):
            for m in range(3):
                out[at + 3 * j + m] = work.R[i, j, m]
            out[at + 9 + j], out[at + 12 + j], out[at + 15 + j] = work.r[i, j], work.u[i, j], work.w[i, j]
            out[at + 18 + j] = work.a[7 * i + j]
            out[at + 21 + j] = work.R[i, j, 0] * e0 + work.R[i, j, 1] * e1 + work.R[i, j, 2] * e2
        at += 24
    for e in range(element.ne):
        for j in range(4):
            out[at + j] = forces.force[e, j]
        at += 4
    for c in range(element.nv):
        out[at + c] = forces.tau[c]
    at += element.nv
    for r in range(model.nr):
        for j in range(6):
            out[at + j] = work.turning[r, 6 + j]
            out[at + 6 + j] = work.turning[r, 18 + j]
        at += 12
