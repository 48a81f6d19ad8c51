"""Joints, drives and constraints as rows: residual, rate, right-hand side and Jacobian (Haug, ch. 9.4).

A measure of two frames gives (value, rate, bias, ga, gb): bias is its acceleration without those of the bodies, -gamma; ga
and gb are its gradients by (r, turn) of bodies a and b, six-tuples like forces (f, n) at their centres of mass.
"""

from __future__ import annotations

from madi.cartesian.fields import Arrays, Work
from madi.cartesian.motion import between, counted, link_frames, turn_of
from madi.cartesian.words import COUPLER, DISTANCE, DOT1, DOT2, HELIX, MEASURE, POINT, TURN, Z
from madi.constraints.fields import HELD_AT, PARAMETER
from madi.equations.fields import Work as TreeWork
from madi.kernel import inline, kernel
from madi.spatial.vector import (
    NO_VECTOR,
    axis,
    cross,
    dot,
    first,
    join,
    minus,
    plus,
    put,
    scaled,
    second,
    three,
    turned_back,
)


@inline
def dot1(work: Work, a, b, i, j):
    """p . s for axis i of frame a and axis j of frame b. Each turns with its body: p' = w x p, p'' = w x p' and the rest."""
    wa, wb = three(work.w, a), three(work.w, b)
    p, s = axis(work.E, 0, i), axis(work.E, 1, j)
    pd, sd = cross(wa, p), cross(wb, s)
    bias = dot(cross(wa, pd), s) + dot(cross(wb, sd), p) + 2.0 * dot(pd, sd)
    n = cross(p, s)
    return dot(p, s), dot(pd, s) + dot(sd, p), bias, join(NO_VECTOR, n), join(NO_VECTOR, scaled(-1.0, n))


@inline
def drift(work: Work, i, side):
    """w x (w x s) of the origin of a frame."""
    w = three(work.w, i)
    return cross(w, cross(w, three(work.o, side)))


@inline
def along(work: Work, a, b, p):
    """p . d for the vector d from origin a to origin b, p at rest: (turn x s) . p = turn . (s x p)."""
    rate = dot(p, minus(three(work.od, 1), three(work.od, 0)))
    bias = dot(p, minus(drift(work, b, 1), drift(work, a, 0)))
    ga = scaled(-1.0, join(p, cross(three(work.o, 0), p)))
    return dot(p, between(work, a, b)), rate, bias, ga, join(p, cross(three(work.o, 1), p))


@inline
def along_axis(work: Work, a, b, i):
    """p . d for axis i of frame a, which turns with it: p' . d besides, and 2 p' . d' + p'' . d in the bias."""
    p, w, d = axis(work.E, 0, i), three(work.w, a), between(work, a, b)
    pd = cross(w, p)
    value, rate, bias, ga, gb = along(work, a, b, p)
    bias = bias + 2.0 * dot(pd, minus(three(work.od, 1), three(work.od, 0))) + dot(cross(w, pd), d)
    return value, rate + dot(pd, d), bias, join(first(ga), plus(second(ga), cross(p, d))), gb


@inline
def distance(work: Work, a, b, length):
    """(d . d - l^2) / (2 l): as along d / l, and d' . d' / l in the bias."""
    d, u = between(work, a, b), minus(three(work.od, 1), three(work.od, 0))
    _, rate, bias, ga, gb = along(work, a, b, scaled(1.0 / length, d))
    return 0.5 * (dot(d, d) - length * length) / length, rate, bias + dot(u, u) / length, ga, gb


@inline
def measured(model: Arrays, work: Work, k, part):
    """A part of the motion of link k: its turn about z of frame a, or its slide along an axis of it."""
    a, b = model.link_a[k], model.link_b[k]
    if part == TURN:
        z, wa, wb = axis(work.E, 0, Z), three(work.w, a), three(work.w, b)
        bias = dot(cross(wa, z), wb)
        return turn_of(work, k), dot(z, minus(wb, wa)), bias, join(NO_VECTOR, scaled(-1.0, z)), join(NO_VECTOR, z)
    return along_axis(work, a, b, part)


@inline
def measure(model: Arrays, work: Work, r):
    """What row r measures between the frames of its link, which are in work."""
    k, kind, i = model.row_link[r], model.row_kind[r], model.row_i[r]
    a, b = model.link_a[k], model.link_b[k]
    if kind == POINT:
        return along(work, a, b, (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0))
    if kind == DOT1:
        return dot1(work, a, b, i, model.row_j[r])
    if kind == DOT2:
        return along_axis(work, a, b, i)
    if kind == DISTANCE:
        return distance(work, a, b, model.row_value[r, PARAMETER])
    return measured(model, work, k, i)


@kernel
def put_gradient(model: Arrays, work: Work, r, slot, g):
    """The gradient g by (r, w) of the body in this slot of row r, and by its coordinates (r, p), where a turn w dt is 2 G dp
    in body axes."""
    i, m = model.row_body[r, slot], 4 * r + slot
    put(work.turning, m, g)
    if i < model.n:
        put(work.jacobian, m, first(g))
        n = scaled(2.0, turned_back(work.R, i, second(g)))
        for j in range(4):
            work.jacobian[m, 3 + j] = dot(n, axis(work.G, i, j))


@kernel
def rows(model: Arrays, work: Work, forces: TreeWork):
    """Residual, rate, right-hand side and Jacobian of every row; signals are in the force elements' scratch."""
    before = -1
    for r in range(model.nr):
        k, kind = model.row_link[r], model.row_kind[r]
        if k != before:
            link_frames(model, work, k)
            before = k
        value, rate, bias, ga, gb = measure(model, work, r)
        put_gradient(model, work, r, 0, ga)
        put_gradient(model, work, r, 1, gb)
        if kind in (HELIX, COUPLER):
            factor, other = -model.row_value[r, PARAMETER], model.row_other[r]
            if other != k:
                link_frames(model, work, other)
                before = other
            y, yd, ydd, ga, gb = measured(model, work, other, model.row_j[r])
            put_gradient(model, work, r, 2, scaled(factor, ga))
            put_gradient(model, work, r, 3, scaled(factor, gb))
            value, rate, bias = value + factor * y, rate + factor * yd, bias + factor * ydd
        s = model.row_signal[r]
        wanted, wanted_rate, wanted_acceleration = model.row_value[r, HELD_AT], 0.0, 0.0
        if s >= 0:
            wanted, wanted_rate, wanted_acceleration = forces.signal[s], forces.signal[s + 1], forces.signal[s + 2]
        value = value - wanted
        if kind == MEASURE and model.row_i[r] == TURN:
            value = counted(value, 0.0)  # the nearest way round
        elif kind == HELIX and model.row_value[r, PARAMETER] != 0.0:
            period = model.row_value[r, PARAMETER]
            value = period * counted(value / period, 0.0)
        work.phi[r], work.rate[r], work.gamma[r] = value, rate - wanted_rate, wanted_acceleration - bias
