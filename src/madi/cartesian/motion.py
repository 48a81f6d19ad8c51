"""Bodies and links in absolute coordinates: axes, velocities, and the relative motion in the joints."""

from __future__ import annotations

from madi.cartesian.fields import Arrays, Work
from madi.cartesian.words import BALL, SECOND, SHIFT, TURN, X, Y, Z
from madi.equations.fields import Arrays as TreeArrays
from madi.equations.fields import Work as TreeWork
from madi.kernel import atan2, floor, inline, kernel, sqrt
from madi.signals.tape import drive_signals
from madi.spatial.rotation import TWO_PI
from madi.spatial.vector import (
    NO_VECTOR,
    at,
    axis,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    put,
    put_at,
    put_axis,
    scaled,
    three,
    turned,
    turned_back,
)


@kernel
def take(model: Arrays, work: Work, element: TreeArrays, forces: TreeWork, t, q, v):
    """The state to work, quaternions of unit length and their rates tangential. Behind the bodies' coordinates it has the
    angles of the joints, integrated like them: quaternions forget whole turns, these count them at every step."""
    for k in range(7 * model.n):
        work.q[k], work.v[k] = q[k], v[k]
    for k in range(model.nk):
        if model.link_turn[k] >= 0:
            work.turn[k] = q[7 * model.n + model.link_turn[k]]
        if model.link_second[k] >= 0:
            work.turn2[k] = q[7 * model.n + model.link_second[k]]
    for k in range(model.nz):  # first-order states, last of all
        forces.v[element.nv - model.nz + k] = v[model.nq - model.nz + k]
    normalise(model, work)
    bodies(model, work)
    drive_signals(element, forces, t, forces.q, forces.v)


@kernel
def normalise(model: Arrays, work: Work):
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
def bodies(model: Arrays, work: Work):
    """Axes, G and angular velocity of every body from q, v in work; the ground rests."""
    R, G, n = work.R, work.G, model.n
    for i in range(n):
        k = 7 * i
        a, b, c, d = work.q[k + 3], work.q[k + 4], work.q[k + 5], work.q[k + 6]
        put_axis(R, i, X, (1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)))
        put_axis(R, i, Y, (2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d + a * b)))
        put_axis(R, i, Z, (2.0 * (b * d + a * c), 2.0 * (c * d - a * b), 1.0 - 2.0 * (b * b + c * c)))
        put_axis(G, i, 0, (-b, -c, -d))
        put_axis(G, i, 1, (a, -d, c))
        put_axis(G, i, 2, (d, a, -b))
        put_axis(G, i, 3, (-c, b, a))
        put(work.r, i, at(work.q, k))
        put(work.u, i, at(work.v, k))
        put(work.w, i, turned(R, i, local_spin(work, i, work.v, k)))
    put_axis(R, n, X, (1.0, 0.0, 0.0))
    put_axis(R, n, Y, (0.0, 1.0, 0.0))
    put_axis(R, n, Z, (0.0, 0.0, 1.0))
    put(work.r, n, NO_VECTOR)
    put(work.u, n, NO_VECTOR)
    put(work.w, n, NO_VECTOR)


@kernel
def local_spin(work: Work, i, v, k):
    """w' = 2 G p' of body i, its p' at v[k+3]."""
    w = scaled(v[k + 3], axis(work.G, i, 0))
    for m in range(1, 4):
        w = plus_scaled(w, v[k + 3 + m], axis(work.G, i, m))
    return scaled(2.0, w)


@kernel
def link_frames(model: Arrays, work: Work, k):
    """Of the two frames of link k: axes, origins from the centres of mass, and the origins' velocities."""
    for side in range(2):
        i, m = model.link_a[k] if side == 0 else model.link_b[k], 2 * k + side
        for c in range(3):
            put_axis(work.E, side, c, turned(work.R, i, axis(model.link_C, m, c)))
        s = turned(work.R, i, three(model.link_s, m))
        put(work.o, side, s)
        put(work.od, side, plus(three(work.u, i), cross(three(work.w, i), s)))


@inline
def between(work: Work, a, b):
    """From the origin of frame a to that of frame b, on bodies a, b."""
    return minus(minus(plus(three(work.r, b), three(work.o, 1)), three(work.r, a)), three(work.o, 0))


@kernel
def counted(angle, before):
    """The angle with the whole turns that keep it next to what it was before."""
    return angle + TWO_PI * floor((before - angle) / TWO_PI + 0.5)


@kernel
def turn_of(work: Work, k):
    """Angle of link k between the x axes about z of frame a (its frames are in work)."""
    x = axis(work.E, 1, X)
    work.turn[k] = counted(atan2(dot(axis(work.E, 0, Y), x), dot(axis(work.E, 0, X), x)), work.turn[k])
    return work.turn[k]


# ---- in the joints: for forces on their coordinates, and for results ------------------------------------------------


@inline
def spin_rate(model: Arrays, work: Work, i):
    """Angular acceleration of body i (accelerations in work.a). 2 G p'' is that in body axes: G' p' = 0."""
    if i < model.n:
        return turned(work.R, i, local_spin(work, i, work.a, 7 * i))
    return NO_VECTOR


@inline
def origin_acceleration(model: Arrays, work: Work, i, side, e):
    """Acceleration of the origin of a frame on body i, e its angular acceleration: r'' + e x s + w x (w x s)."""
    s, w = three(work.o, side), three(work.w, i)
    g = plus(cross(e, s), cross(w, cross(w, s)))
    if i < model.n:
        g = plus(at(work.a, 7 * i), g)
    return g


@kernel
def relative(model: Arrays, work: Work, k):
    """Of link k: d, d', d'' between the origins and w, w' of b against a, as an observer on frame a sees them, in global
    axes; body accelerations are in work.a. Leaves the frames in work."""
    link_frames(model, work, k)
    a, b = model.link_a[k], model.link_b[k]
    spin, e = three(work.w, a), spin_rate(model, work, a)
    e_b = spin_rate(model, work, b)
    d = between(work, a, b)
    carried = cross(spin, d)
    u = minus(minus(three(work.od, 1), three(work.od, 0)), carried)
    g = minus(origin_acceleration(model, work, b, 1, e_b), origin_acceleration(model, work, a, 0, e))
    g = minus(minus(g, plus(cross(e, d), cross(spin, carried))), scaled(2.0, cross(spin, u)))
    w = minus(three(work.w, b), spin)
    return d, u, g, w, minus(minus(e_b, e), cross(spin, w))


@kernel
def first_turn(work: Work, k, w, e):
    """Angle of link k about z of frame a, its rate and acceleration, for w, w' of `relative`."""
    z = axis(work.E, 0, Z)
    return turn_of(work, k), dot(z, w), dot(z, e)


@kernel
def second_turn(work: Work, k, w, e):
    """The same about x of frame b, which the first turn carries along: x' = (z . w) z x x."""
    x, y, z = axis(work.E, 1, X), axis(work.E, 1, Y), axis(work.E, 0, Z)
    work.turn2[k] = counted(atan2(dot(z, y), dot(z, axis(work.E, 1, Z))), work.turn2[k])
    return work.turn2[k], dot(x, w), dot(x, e) + dot(z, w) * dot(cross(z, x), w)


@kernel
def angles(model: Arrays, work: Work, q, v, a):
    """The angles of all joints that have some, their rates and accelerations, behind the bodies' coordinates of q, v, a."""
    for k in range(model.nk):
        if model.link_turn[k] >= 0:
            _, _, _, w, e = relative(model, work, k)
            i = 7 * model.n + model.link_turn[k]
            q[i], v[i], a[i] = first_turn(work, k, w, e)
            if model.link_second[k] >= 0:
                i = 7 * model.n + model.link_second[k]
                q[i], v[i], a[i] = second_turn(work, k, w, e)


@kernel
def joint_state(model: Arrays, work: Work, forces: TreeWork, q, v, a):
    """Coordinates, speeds and accelerations of all joints that the tree kept, as it names them."""
    for k in range(model.nk):
        i, c = model.link_q[k], model.link_v[k]
        if i < 0:
            continue
        d, u, g, w, e = relative(model, work, k)
        for p in range(model.link_parts[k]):
            part = model.link_part[k, p]
            if part == TURN:
                q[i], v[c], a[c] = first_turn(work, k, w, e)
                i, c = i + 1, c + 1
            elif part == SECOND:
                q[i], v[c], a[c] = second_turn(work, k, w, e)
                i, c = i + 1, c + 1
            elif part == BALL:
                quaternion(work, forces.joint_R, q, i)
                put_at(v, c, turned_back(work.E, 1, w))
                put_at(a, c, turned_back(work.E, 1, e))
                i, c = i + 4, c + 3
            elif part == SHIFT:
                put_at(q, i, turned_back(work.E, 0, d))
                put_at(v, c, turned_back(work.E, 1, u))
                put_at(a, c, turned_back(work.E, 1, minus(g, cross(w, u))))  # the axes of its speeds turn
                i, c = i + 3, c + 3
            else:
                s = axis(work.E, 0, part)
                q[i], v[c], a[c] = dot(s, d), dot(s, u), dot(s, g)
                i, c = i + 1, c + 1


@kernel
def quaternion(work: Work, R, q, i):
    """Unit quaternion of frame b seen from frame a, next to what is in q already; R: scratch."""
    for j in range(3):
        for m in range(3):
            R[j, m] = dot(axis(work.E, 0, j), axis(work.E, 1, m))
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
