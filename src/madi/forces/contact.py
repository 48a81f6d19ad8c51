"""Contact of two shapes: at each of the points where one feels the other, a push and friction (contact_law.py).

The normal n points from b's shape to a's, the depth x is how far they overlap there, its rate x' = -n . u of the velocity u
of a's material point against b's. The force acts on both where they overlap, half way.

docs/references.md: [Hunt, Crossley 1975].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.forces.bushing import push_at
from madi.forces.contact_law import (
    EXPONENT,
    HARD,
    LAW,
    MU,
    POINT,
    ROLLING,
    SPINNING,
    STATIC,
    TURNING_POINT,
    friction,
    keep_arrival,
    leave,
    push,
)
from madi.forces.fields import Arrays, Work
from madi.forces.frames import axes, by_axes, of_axes, spin
from madi.forces.kind import ForceKind, account, add_torque, point_state, seen_from
from madi.forces.shapes import PLANE, PROBES, RIMS, between_segments, field, from_centre, rim_point
from madi.forces.takes import ANYTHING
from madi.kernel import LEAST_SIZE, inline, kernel, needed, sqrt, where
from madi.spatial.vector import NO_VECTOR, at, cross, dot, minus, plus, plus_scaled, scaled

COUNT, WAY, FIELD, BOUND = LAW, LAW + 1, LAW + 2, LAW + 3  # points, how they are found, b's shape; how far a reaches
A, B = LAW + 4, LAW + 16  # frames: centre, axes
SIZES_A, SIZES_B = LAW + 28, LAW + 31
FIRST = LAW + 34  # centres and radii of probes, four numbers each
OFF = 1e300  # s: a step that begins so late: a time-stepping method asks for what is without contact
FAR = 4.0  # of what a reaches: farther apart nothing is looked at
TOUCH, PLACE = (
    14,
    4,
)  # what is told of a point: gap, normal, place (from there on), force on a, velocity of sliding; the push
BEYOND = 1e30  # m: the gap of what is not looked at
KIND = ForceKind(
    "contact", code=26, value="push", ends=2, parameters=("law ...", "geometry ..."),
    takes={"geometry": ANYTHING, "law": ANYTHING}, memory=lambda force: 1 + force.parameters["geometry"].memory,
    touches=lambda force: force.parameters["geometry"].count,
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Push and friction on both bodies, point by point."""
    account(work, e, 0.0, 0.0, 0.0, 0.0)
    if needed(work.held[model.force_held[e]] < OFF):
        meet(model, work, e)


@kernel
def meet(model: Arrays, work: Work, e):
    """The same, where contact acts."""
    a, b, s, m = model.force_a[e], model.force_b[e], model.force_at[e], model.force_held[e]
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    place_a, velocity_a = point_state(model, work, a, s + A, common, o)
    place_b, velocity_b = point_state(model, work, b, s + B, common, o)
    frame_b = axes(model, work, b, s + B + 3, common)
    between, apart = minus(place_a, place_b), minus(velocity_a, velocity_b)
    work.kept[m] = work.now
    if needed(near(model, s, frame_b, between)):
        feel(model, work, e, place_a, place_b, frame_b, apart)
    else:
        part(model, work, e, between, apart)


@inline
def numbers_of_point(model: Arrays, s):
    """What a point remembers."""
    p = model.parameter
    return TURNING_POINT if p[s + ROLLING] > 0.0 or p[s + SPINNING] > 0.0 else POINT


@inline
def points_of(model: Arrays, e):
    """How many points an element has."""
    return int(model.parameter[model.force_at[e] + COUNT])


@inline
def near(model: Arrays, s, frame_b, between):
    """Whether the shapes can be in touch."""
    p = model.parameter
    if int(p[s + FIELD]) == PLANE:
        return dot(between, frame_b[2]) < FAR * p[s + BOUND]
    reach = FAR * p[s + BOUND]
    return dot(between, between) < reach * reach


@kernel
def part(model: Arrays, work: Work, e, between, apart):
    """Far from each other: nothing is remembered but how fast they come nearer, by their middles."""
    s, m = model.force_at[e], model.force_held[e] + 1
    rate = -dot(between, apart) / sqrt(dot(between, between) + LEAST_SIZE)
    for k in range(int(model.parameter[s + COUNT])):
        leave(work, m, rate, numbers_of_point(model, s))
        m += numbers_of_point(model, s)
        nothing_there(model, work, e, k)


@kernel
def nothing_there(model: Arrays, work: Work, e, k):
    """What is told of a point of shapes that are far apart."""
    i = model.force_touch[e] + k
    for j in range(TOUCH):
        work.touch[i, j] = 0.0
    work.touch[i, 0] = BEYOND


@kernel
def where_near(model: Arrays, s, k, place_a, frame_a, place_b, frame_b):
    """(gap, normal, place) at point k."""
    p = model.parameter
    way, kind = int(p[s + WAY]), int(p[s + FIELD])
    if way == PROBES:
        probe, radius = at(p, s + FIRST + 4 * k), p[s + FIRST + 4 * k + 3]
        x = plus(place_a, of_axes(frame_a, probe))
        d, n = field(p, s + SIZES_B, kind, by_axes(frame_b, minus(x, place_b)))
        gap, normal = d - radius, of_axes(frame_b, n)
        return gap, normal, plus_scaled(x, -(radius + 0.5 * gap), normal)
    if way == RIMS:
        _, down = field(p, s + SIZES_B, kind, by_axes(frame_b, minus(place_a, place_b)))
        offset, _ = rim_point(k, p[s + SIZES_A], p[s + SIZES_A + 1], frame_a, of_axes(frame_b, down))
        x = plus(place_a, offset)
        gap, n = field(p, s + SIZES_B, kind, by_axes(frame_b, minus(x, place_b)))
        normal = of_axes(frame_b, n)
        return gap, normal, plus_scaled(x, -0.5 * gap, normal)
    d, x = between_segments(place_a, frame_a[2], p[s + SIZES_A + 1], place_b, frame_b[2], p[s + SIZES_B + 1])
    gap, normal = from_centre(d, p[s + SIZES_A] + p[s + SIZES_B])
    return gap, normal, plus_scaled(x, -(p[s + SIZES_A] + 0.5 * gap), normal)


@kernel
def feel(model: Arrays, work: Work, e, place_a, place_b, frame_b, apart):
    """All points of shapes that are near each other."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    frame_a = axes(model, work, a, s + A + 3, common)
    spin_a, spin_b = spin(model, work, a, common), spin(model, work, b, common)
    m, began = model.force_held[e] + 1, work.held[model.force_held[e]]
    for k in range(int(model.parameter[s + COUNT])):
        gap, n, x = where_near(model, s, k, place_a, frame_a, place_b, frame_b)
        u = plus(apart, minus(cross(spin_a, minus(x, place_a)), cross(spin_b, minus(x, place_b))))
        f, torque = touch(model, work, e, k, m, work.now - began, gap, (n, x, u), frame_b, minus(spin_a, spin_b))
        push_at(model, work, a, x, f, common, o)
        push_at(model, work, b, x, scaled(-1.0, f), common, o)
        if numbers_of_point(model, s) == TURNING_POINT:
            add_torque(model, work, a, torque, common)
            add_torque(model, work, b, scaled(-1.0, torque), common)
        m += numbers_of_point(model, s)


@kernel
def met_at(model: Arrays, work: Work, e, k):
    """(gap, normal, place, axes of b) at point k, as bodies are seen (`seen_from`); for time-stepping methods."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    place_a, _ = point_state(model, work, a, s + A, common, o)
    place_b, _ = point_state(model, work, b, s + B, common, o)
    frame_a, frame_b = axes(model, work, a, s + A + 3, common), axes(model, work, b, s + B + 3, common)
    gap, n, x = where_near(model, s, k, place_a, frame_a, place_b, frame_b)
    return gap, n, x, frame_b


@kernel
def are_near(model: Arrays, work: Work, e):
    """Whether the shapes of element e can be in touch."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    place_a, _ = point_state(model, work, a, s + A, common, o)
    place_b, _ = point_state(model, work, b, s + B, common, o)
    return near(model, s, axes(model, work, b, s + B + 3, common), minus(place_a, place_b))


@kernel
def touch(model: Arrays, work: Work, e, k, m, tau, gap, met, frame_b, turning):
    """(force, torque) on a at point k, with memory from held[m] on; what is told of it, and what is kept. `met`: normal,
    place, velocity."""
    s, (n, _x, u) = model.force_at[e], met
    p = model.parameter
    rate = -dot(n, u)
    F, elastic = push(p, s, -gap, rate, work.held[m])
    touching = gap < 0.0
    depth = where(touching, -gap, 1.0)
    share = elastic / depth, (p[s + EXPONENT] - 1.0) * rate / depth
    told = work.held[m + 1] == HARD
    keep_arrival(work, m, rate, touching)
    work.kept[m + 1] = 0.0
    soft, torque, stored, lost = scaled(F, n), NO_VECTOR, 0.0, 0.0
    if p[s + MU] > 0.0 or p[s + STATIC] > 0.0:
        seen, about = by_axes(frame_b, u), by_axes(frame_b, turning)
        f, torque, (stored, lost) = friction(
            model, work, s, m + 1, tau, seen, about, by_axes(frame_b, n), F, share, touching
        )
        soft, torque = plus(soft, of_axes(frame_b, f)), of_axes(frame_b, torque)
    given = hard_force(work, m, n, frame_b)
    f = plus_scaled(scaled(where(told, 0.0, 1.0), soft), where(told, 1.0, 0.0), given)
    note(model, work, e, k, gap, met, f)
    potential = where(touching, elastic * -gap / (p[s + EXPONENT] + 1.0), 0.0)
    by_hand = -dot(f, u) + dot(f, n) * dot(n, u)  # friction's, of a time-stepping method
    lost = where(told, by_hand, lost + (F - elastic) * rate)
    work_done = dot(f, u) + where(told, 0.0, dot(torque, turning))
    add_account(work, e, dot(f, n), where(told, 0.0, potential + stored), work_done, lost)
    return f, scaled(where(told, 0.0, 1.0), torque)


@inline
def hard_force(work: Work, m, n, frame_b):
    """The force that a time-stepping method has found: the push, then friction in b's axes."""
    return plus(scaled(work.held[m], n), of_axes(frame_b, at(work.held, m + 2)))


@kernel
def add_account(work: Work, e, value, potential, power, dissipated):
    """One point more."""
    f = work.force
    f[e, 0] = f[e, 0] + value
    f[e, 1] = f[e, 1] + potential
    f[e, 2] = f[e, 2] + power
    f[e, 3] = f[e, 3] + dissipated


@kernel
def note(model: Arrays, work: Work, e, k, gap, met, f):
    """What is told of a point, in the axes the bodies are seen in (equations/observe.py turns them)."""
    i, (n, x, u) = model.force_touch[e] + k, met
    work.touch[i, 0] = gap
    for j in range(3):
        work.touch[i, 1 + j], work.touch[i, 4 + j] = n[j], x[j]
        work.touch[i, 7 + j], work.touch[i, 10 + j] = f[j], u[j] - dot(u, n) * n[j]
    work.touch[i, 13] = dot(f, n)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The law's numbers, then the shapes in internal axes."""
    given, law = force.parameters["geometry"], force.parameters["law"]
    a, b = given.a, given.b
    frames = []
    for shape, body in ((a, bodies[0]), (b, bodies[1])):
        frames += [*body.point(shape.place), *body.axes(shape.axes).reshape(-1)]
    numbers = [*law, given.count, given.way, given.field, given.bound, *frames, *a.sizes, *b.sizes]
    return [float(x) for x in (*numbers, *np.asarray(given.probes, dtype=float).reshape(-1))]
