"""Bodies and links in absolute coordinates: axes, velocities, and the relative motion in the joints."""

from __future__ import annotations

from madi.kernel import atan2, floor, kernel, sqrt
from madi.signals.tape import drive_signals

REVOLUTE, PRISMATIC, HELICAL, FIXED, CYLINDRICAL, UNIVERSAL, SPHERICAL, PLANAR, FREE = range(9)
TWO_PI = 6.283185307179586


@kernel
def take(model, work, element, forces, t, q, v):
    """The state to work, quaternions of unit length and their rates tangential. Behind the bodies' coordinates it has the
    angles of the joints, integrated like them: quaternions forget whole turns, these count them at every step."""
    for k in range(7 * model.n):
        work.q[k], work.v[k] = q[k], v[k]
    for k in range(model.nk):
        if model.link_turn[k] >= 0:
            at = 7 * model.n + model.link_turn[k]
            work.turn[k] = q[at]
            if model.link_code[k] == UNIVERSAL:
                work.turn2[k] = q[at + 1]
    for k in range(model.nz):  # first-order states, last of all
        forces.v[element.nv - model.nz + k] = v[model.nq - model.nz + k]
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


# ---- in the joints: for forces on their coordinates, and for results ------------------------------------------------


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
def second_turn(work, k, R):
    """Angle of universal joint k about the axis of its child, its rate and acceleration; relative motion and axes are in
    work and R."""
    x = work.state
    work.turn2[k] = counted(atan2(R[2, 1], R[2, 2]), work.turn2[k])
    acceleration = R[0, 0] * x[12] + R[1, 0] * x[13] + x[11] * (R[0, 0] * x[10] - R[1, 0] * x[9])
    return work.turn2[k], R[0, 0] * x[9] + R[1, 0] * x[10], acceleration


@kernel
def angles(model, work, R, q, v, a):
    """The angles of all joints that have some, their rates and accelerations, behind the bodies' coordinates of q, v, a."""
    x = work.state
    for k in range(model.nk):
        if model.link_turn[k] >= 0:
            at = 7 * model.n + model.link_turn[k]
            relative(model, work, k)
            q[at], v[at], a[at] = turn_of(model, work, k), x[11], x[14]
            if model.link_code[k] == UNIVERSAL:
                relative_axes(work, R)
                q[at + 1], v[at + 1], a[at + 1] = second_turn(work, k, R)


@kernel
def joint_state(model, work, forces, q, v, a):
    """Coordinates, speeds and accelerations of all joints that the tree kept, as it names them."""
    x, R = work.state, forces.joint_R
    for k in range(model.nk):
        code, i, c = model.link_code[k], model.link_q[k], model.link_v[k]
        if code < 0 or i < 0:
            continue
        relative(model, work, k)
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
            q[i + 1], v[c + 1], a[c + 1] = second_turn(work, k, R)
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
