"""Joints, drives and constraints as rows: residual, rate, right-hand side and Jacobian (Haug, ch. 9.4)."""

from __future__ import annotations

from madi.cartesian.motion import counted, link_frames, turn_of
from madi.kernel import kernel

POINT, DOT1, DOT2, DISTANCE, MEASURE, SCREW, COUPLER = range(7)


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
