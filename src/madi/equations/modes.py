"""Which modes hold, and which follow when an event ends one (forces/modes.py).

`watch` tells of every mode how far it is from the end of its validity. `switch`, at an event, chooses those that go on:

1. *Impacts.* Where a hard stop is reached, an impulse p at its coordinate changes all speeds by K^-1 e_c p, K the loop
   equations' matrix (M in a tree), so that the coordinate leaves with -e v'. Stops follow each other until nothing
   arrives at any. No finite friction resists an impulse.
2. *Rest.* What neither slides nor leaves may hold. With those that hold solved for, friction that would have to bear more
   than it can slides, the way it would be moved; a stop that would have to pull lets go; what slides against its own
   friction holds after all. All that contradict themselves change at once, then, if that goes in circles, one at a time: the
   pivoting of a linear complementarity problem whose matrix is M's.

Numbers are judged here: these kernels are not traced.

docs/references.md: [Pfeiffer, Glocker 1996], [Cottle, Pang, Stone 1992], [Moreau 1988].
"""

from __future__ import annotations

from madi.constraints.dispatch import evaluate_rows
from madi.dynamics import recursive
from madi.dynamics.kinematics import positions, velocities
from madi.equations.accelerations import loop_equations
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, kinematics_and_forces
from madi.forces.hard_stop import LOWER, REST, RESTITUTION, UPPER
from madi.forces.modes import (
    AT_LOWER,
    AT_UPPER,
    BACKWARD,
    BY_STATE,
    EVENT,
    FORWARD,
    FRICTION,
    HOLDS,
    OPEN,
    STOP,
    STUCK,
)
from madi.joints.columns import is_free
from madi.kernel import inline, kernel
from madi.loops.projection import refactor, step_for

AT_REST = 1e-11  # m/s, rad/s; of the largest speed, which counts as 1 at least: slower is not at all
REACHED = 1e-9  # m, rad; of the coordinate, which counts as 1 at least: so near, a stop is reached
TOGETHER = 8  # rounds in which all modes that contradict themselves change at once
IMPACTS = 100  # that may follow each other in an instant
MAY_HOLD = 1.0  # work.fired: candidates of step 2; those that held until now
HELD_BEFORE = 2.0


@kernel
def accelerations_with_modes(model: Arrays, work: Work, t, q, v, x):
    """Accelerations with what x holds, and margins; in a trial of modes too."""
    if model.nr > 0:
        loop_equations(model, work, t, q, v, x)
    else:
        kinematics_and_forces(model, work, t, q, v, x)
        recursive.forward(model, work)


@inline
def bearing(model: Arrays, work: Work, k):
    """What column held_column[k] is held with, -HELD times the acceleration left, and how far that is within the bounds
    of all that holds it."""
    c, low, high = model.held_column[k], 0.0, 0.0
    for j in range(model.n_held):
        if model.held_column[j] == c and work.held[j] >= HOLDS:
            low += work.low[j]
            high += work.high[j]
    force = -work.hold[c] * work.acceleration[c]
    return force, min(force - low, high - force)


@kernel
def watch(model: Arrays, work: Work, t, q, v, x, out):
    """Of every held value its margin; then 1 where it shall change sides unnoticed."""
    accelerations_with_modes(model, work, t, q, v, x)
    n = model.n_held
    for k in range(n):
        out[k], out[n + k] = work.margin[k], 0.0
        if work.held[k] >= HOLDS:
            _, margin = bearing(model, work, k)
            out[k] = margin
        elif model.held_kind[k] == EVENT and work.low[k] * work.held[k] < 0.0 and work.margin[k] > 0.0:
            out[n + k] = 1.0


@kernel
def switch(model: Arrays, work: Work, t, q, v, x, out):
    """The modes that go on from the state (q, v), in place: held values in x, speeds after impacts in v, coordinates at the
    stops they have reached in q. `out`: margins; negative where an event has come. It becomes the energy lost in impacts."""
    for k in range(model.n_held):
        work.fired[k] = 0.0
        held = x[model.nv + k]
        if model.held_kind[k] == EVENT:
            change_sides(model, work, t, q, v, x, out, k)
        elif held == BY_STATE and model.held_kind[k] == STOP:
            x[model.nv + k] = OPEN
    take_places(model, q)
    apply_drives(model, work, t, q, v)
    lose = work.lost
    for k in range(model.n_held):
        lose[k] = 0.0
    impacts(model, work, t, q, v, x)
    rest(model, work, v, x, out)
    settle_modes(model, work, t, q, v, x)
    for k in range(model.n_held):
        out[k] = lose[k]


@kernel
def change_sides(model: Arrays, work: Work, t, q, v, x, out, k):
    """An event's side: the other one, where it has come; at the start the one it is on."""
    at = model.nv + k
    if x[at] == BY_STATE:
        accelerations_with_modes(model, work, t, q, v, x)
        x[at] = BACKWARD if work.low[k] < 0.0 else FORWARD
    elif out[k] < 0.0:
        x[at] = -x[at]


@kernel
def take_places(model: Arrays, q):
    """Coordinates that have come to a stop, to rounding, are there."""
    for k in range(model.n_held):
        if model.held_kind[k] == STOP:
            s, j = model.force_at[model.held_of[k]], model.column_q[model.held_column[k]]
            for end in (LOWER, UPPER):
                place = model.parameter[s + end]
                if abs(q[j] - place) <= REACHED * max(1.0, abs(place)):
                    q[j] = place


@inline
def arrives(model: Arrays, q, v, k, slow):
    """The rate at which stop k is reached now: > 0; 0 where nothing arrives."""
    s, c = model.force_at[model.held_of[k]], model.held_column[k]
    x, rate = q[model.column_q[c]], 0.0
    if x <= model.parameter[s + LOWER]:
        rate = -v[c]
    elif x >= model.parameter[s + UPPER]:
        rate = v[c]
    return rate if rate > slow else 0.0


@kernel
def largest_speed(model: Arrays, v):
    """At least 1."""
    largest = 1.0
    for c in range(model.v_at[0]):
        largest = max(largest, abs(v[c]))
    return largest


@kernel
def impacts(model: Arrays, work: Work, t, q, v, x):
    """Step 1."""
    slow = AT_REST * largest_speed(model, v)
    for _ in range(IMPACTS):
        first, fastest = -1, 0.0
        for k in range(model.n_held):
            if model.held_kind[k] == STOP:
                rate = arrives(model, q, v, k, slow)
                if rate > fastest:
                    first, fastest = k, rate
        if first < 0:
            return
        s, c = model.force_at[model.held_of[first]], model.held_column[first]
        response(model, work, t, q, v, x, c)
        e = model.parameter[s + RESTITUTION]
        after = e * fastest if e * fastest > model.parameter[s + REST] else 0.0
        change = after + fastest if v[c] < 0.0 else -after - fastest
        scale = change / work.acceleration[c]  # the impulse p; energy goes by -p (v + v') / 2
        work.lost[first] = work.lost[first] + 0.5 * abs(scale) * (fastest - after)
        for j in range(model.nv):
            if is_free(model, j):
                v[j] = v[j] + scale * work.acceleration[j]
        if after == 0.0:
            v[c] = 0.0


@kernel
def response(model: Arrays, work: Work, t, q, v, x, c):
    """work.acceleration: the change of all speeds by a unit impulse at column c."""
    for j in range(model.nv):
        work.hold[j], work.P[j], work.acceleration[j] = 0.0, 0.0, 0.0
    work.P[c] = 1.0
    positions(model, work, work.q)
    if model.nr == 0:
        recursive.mass_matrix(model, work)
        recursive.solve(model, work.M, work.P, work.acceleration)
        return
    velocities(model, work, work.q, work.v)
    evaluate_rows(model, work)
    refactor(model, work)
    for r in range(model.nr):
        work.gamma[r] = 0.0
    step_for(model, work, work.P, work.gamma)
    for j in range(model.nv):
        if model.column_place[j] >= 0:
            work.acceleration[j] = work.unknown[model.column_place[j]]
    work.factor_valid = 0


@kernel
def rest(model: Arrays, work: Work, v, x, out):
    """What may hold (work.fired), and a first guess of all modes: what came to rest or held until now holds."""
    slow = AT_REST * largest_speed(model, v)
    for k in range(model.n_held):
        c, at = model.held_column[k], model.nv + k
        if model.held_kind[k] == EVENT:
            continue
        held = x[at]
        came = held < HOLDS and held != BY_STATE and out[k] < 0.0
        if model.held_kind[k] == FRICTION:
            if abs(v[c]) <= slow or (came and abs(v[c]) < REACHED * largest_speed(model, v)):
                v[c] = 0.0
                work.fired[k] = HELD_BEFORE if held >= HOLDS else MAY_HOLD
                if came or held == BY_STATE:
                    x[at] = STUCK
            else:
                x[at] = FORWARD if v[c] > 0.0 else BACKWARD
        else:
            s, place = model.force_at[model.held_of[k]], work.q[model.column_q[c]]
            low = place <= model.parameter[s + LOWER]
            if (low or place >= model.parameter[s + UPPER]) and abs(v[c]) <= slow:
                v[c] = 0.0
                work.fired[k] = MAY_HOLD
                x[at] = AT_LOWER if low else AT_UPPER
            else:
                x[at] = OPEN


@kernel
def settle_modes(model: Arrays, work: Work, t, q, v, x):
    """Step 2."""
    most = 0
    for k in range(model.n_held):
        if work.fired[k] != 0.0:
            most += 2
    for round in range(TOGETHER + most * most):
        accelerations_with_modes(model, work, t, q, v, x)
        changed = False
        for k in range(model.n_held):
            if work.fired[k] != 0.0 and not (changed and round >= TOGETHER):
                better = another_mode(model, work, x, k)
                if better != x[model.nv + k]:
                    x[model.nv + k] = better
                    changed = True
        if not changed:
            return


@kernel
def another_mode(model: Arrays, work: Work, x, k):
    """The mode of k that its own force or motion asks for; the same, if it contradicts neither."""
    c, held = model.held_column[k], x[model.nv + k]
    if held >= HOLDS:
        force, margin = bearing(model, work, k)
        if margin >= 0.0:
            return held
        if model.held_kind[k] == STOP:
            pulls = force < 0.0 if held == AT_LOWER else force > 0.0
            return OPEN if pulls else held
        if work.high[k] - abs(force) >= 0.0 and shared(model, work, k):
            return held
        return BACKWARD if force > 0.0 else FORWARD
    if model.held_kind[k] == FRICTION:
        against = held * work.acceleration[c] < 0.0
        return STUCK if against and work.fired[k] == MAY_HOLD else held
    s, place = model.force_at[model.held_of[k]], work.q[model.column_q[c]]
    if place <= model.parameter[s + LOWER] and work.acceleration[c] < 0.0:
        return AT_LOWER
    if place >= model.parameter[s + UPPER] and work.acceleration[c] > 0.0:
        return AT_UPPER
    return held


@inline
def shared(model: Arrays, work: Work, k):
    """Whether another element holds the same column."""
    found = False
    for j in range(model.n_held):
        if j != k and model.held_column[j] == model.held_column[k] and work.held[j] >= HOLDS:
            found = True
    return found
