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

from madi.constraints.dispatch import evaluate_rows, jacobian_entry
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
    HELD,
    HOLDS,
    MEMORY,
    OPEN,
    STOP,
    STUCK,
    TOLD,
)
from madi.joints.columns import is_free
from madi.kernel import HUGE, inline, kernel
from madi.loops.projection import refactor, step_for

AT_REST = 1e-11  # m/s, rad/s; of the largest speed, which counts as 1 at least: slower is not at all
REACHED = 1e-9  # m, rad; of the coordinate, which counts as 1 at least: so near, a stop is reached
REACHED_IN_LOOPS = 1e-12  # the same where moving a coordinate there opens loops, which what holds may not let close
TOGETHER = 8  # rounds in which all modes that contradict themselves change at once
IMPACTS = 60  # that may follow each other in an instant, before all come to rest together
MAY_HOLD = 1.0  # work.fired: candidates of step 2; those that held until now
HELD_BEFORE = 2.0
FAR = 1.0  # margin of memory: it ends nothing
STRUCK = 3.0  # those of step 1 that come to rest together


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
def keep(model: Arrays, work: Work, t, q, v, x, out):
    """What elements remember of a step that ends at (t, q, v), in place of what x had. `out`: how many points of friction
    have given way, where a force may jump."""
    work.broke = 0.0
    kinematics_and_forces(model, work, t, q, v, x)
    for k in range(model.n_held):
        if model.held_kind[k] == MEMORY:
            x[model.nv + k] = work.kept[k]
    out[0] = work.broke


@kernel
def watch(model: Arrays, work: Work, t, q, v, x, out):
    """Of every held value its margin; then 1 where it shall change sides unnoticed."""
    accelerations_with_modes(model, work, t, q, v, x)
    n = model.n_held
    for k in range(n):
        memory = model.held_kind[k] in (MEMORY, TOLD)
        out[k], out[n + k] = FAR if memory else work.margin[k], 0.0
        if memory:
            continue
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
    slow = AT_REST * largest_speed(model, v)  # one measure for both: impacts may make all slower
    impacts(model, work, q, v, slow)
    rest(model, work, v, x, out, slow)
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
    near = REACHED if model.nr == 0 else REACHED_IN_LOOPS
    for k in range(model.n_held):
        if model.held_kind[k] == STOP:
            s, j = model.force_at[model.held_of[k]], model.column_q[model.held_column[k]]
            for end in (LOWER, UPPER):
                place = model.parameter[s + end]
                if abs(q[j] - place) <= near * max(1.0, abs(place)):
                    q[j] = place


@inline
def leaves(model: Arrays, q, v, k):
    """The rate at which stop k is left now, negative where something arrives; HUGE where it is not reached."""
    s, c = model.force_at[model.held_of[k]], model.held_column[k]
    x = q[model.column_q[c]]
    if x <= model.parameter[s + LOWER]:
        return v[c]
    return -v[c] if x >= model.parameter[s + UPPER] else HUGE


@inline
def struck(model: Arrays, q, v, k, slow):
    """By how much the rate at stop k changes now: what arrives leaves, or rests; what would leave too slowly rests too."""
    s, c, leaving = model.force_at[model.held_of[k]], model.held_column[k], leaves(model, q, v, k)
    e, rest_speed = model.parameter[s + RESTITUTION], model.parameter[s + REST]
    if abs(leaving) <= slow or leaving > rest_speed:
        return 0.0
    after = -e * leaving if -e * leaving > rest_speed else 0.0
    return after - leaving if leaving == v[c] else leaving - after


@kernel
def largest_speed(model: Arrays, v):
    """At least 1."""
    largest = 1.0
    for c in range(model.v_at[0]):
        largest = max(largest, abs(v[c]))
    return largest


@kernel
def impacts(model: Arrays, work: Work, q, v, slow):
    """Step 1."""
    for _ in range(IMPACTS):
        first, change = -1, 0.0
        for k in range(model.n_held):
            if model.held_kind[k] == STOP:
                by = struck(model, q, v, k, slow)
                if abs(by) > abs(change):
                    first, change = k, by
        if first < 0:
            return
        c = model.held_column[first]
        for j in range(model.nv):
            work.hold[j], work.P[j] = 0.0, 0.0
        work.P[c] = 1.0
        masses(model, work)
        respond(model, work)
        impulse, before = change / work.acceleration[c], v[c]
        for j in range(model.nv):
            if is_free(model, j):
                v[j] = v[j] + impulse * work.acceleration[j]
        work.lost[first] = work.lost[first] - 0.5 * impulse * (before + v[c])
    rest_together(model, work, q, v)


@kernel
def masses(model: Arrays, work: Work):
    """M, and with loops Phi_q, at the coordinates in work."""
    positions(model, work, work.q)
    recursive.mass_matrix(model, work)
    if model.nr > 0:
        velocities(model, work, work.q, work.v)
        evaluate_rows(model, work)
        for r in range(model.nr):
            work.gamma[r] = 0.0


@kernel
def respond(model: Arrays, work: Work):
    """work.acceleration = K^-1 (P, gamma), held columns held; M is lost."""
    for j in range(model.nv):
        work.acceleration[j] = 0.0
    if model.nr == 0:
        for j in range(model.nv):
            work.M[j * model.nv + j] = work.M[j * model.nv + j] + work.hold[j]
        recursive.solve(model, work.M, work.P, work.acceleration)
        return
    refactor(model, work)
    for r in range(model.nr):
        work.gamma[r] = -work.gamma[r]
    step_for(model, work, work.P, work.gamma)
    for j in range(model.nv):
        if model.column_place[j] >= 0:
            work.acceleration[j] = work.unknown[model.column_place[j]]
    work.factor_valid = 0


@kernel
def rest_together(model: Arrays, work: Work, q, v):
    """Where impacts do not end, stops that are reached come to rest at once: v' = v - u + w, u what arrives there, w held
    there, M w = M u with all that holds; what would have to be pulled for it leaves. The first has the energy's loss."""
    nv = model.nv
    for k in range(model.n_held):
        if model.held_kind[k] == STOP and leaves(model, q, v, k) <= model.parameter[model.force_at[model.held_of[k]] + REST]:
            work.fired[k] = STRUCK
    for _ in range(2 * model.n_held):
        masses(model, work)
        for j in range(nv):
            work.hold[j], work.P[j] = 0.0, 0.0
        for k in range(model.n_held):
            c = model.held_column[k]
            if work.fired[k] == STRUCK and work.hold[c] == 0.0:
                work.hold[c] = HELD
                for j in range(nv):
                    work.P[j] = work.P[j] + work.M[j * nv + c] * v[c]
                for r in range(model.nr):
                    for e in range(model.row_first[r], model.row_first[r + 1]):
                        if model.j_column[e] == c:
                            work.gamma[r] = work.gamma[r] + jacobian_entry(model, work, r, e) * v[c]
        respond(model, work)
        changed = False
        for k in range(model.n_held):
            if model.held_kind[k] == STOP:
                c = model.held_column[k]
                lower = q[model.column_q[c]] <= model.parameter[model.force_at[model.held_of[k]] + LOWER]
                push = -work.hold[c] * work.acceleration[c]
                if work.fired[k] == STRUCK and (push < 0.0 if lower else push > 0.0):
                    work.fired[k], changed = 0.0, True
        if not changed:
            break
    before = motion_energy(model, work, v)
    for j in range(nv):
        if is_free(model, j):
            v[j] = (0.0 if work.hold[j] > 0.0 else v[j]) + work.acceleration[j]
    first = -1
    for k in range(model.n_held):
        if work.fired[k] == STRUCK:
            first = k if first < 0 else first
            v[model.held_column[k]], work.fired[k] = 0.0, 0.0
    if first >= 0:
        work.lost[first] = work.lost[first] + before - motion_energy(model, work, v)


@kernel
def motion_energy(model: Arrays, work: Work, v):
    """v^T M v / 2."""
    masses(model, work)
    total, nv = 0.0, model.nv
    for c in range(nv):
        for j in range(nv):
            total += 0.5 * v[c] * work.M[c * nv + j] * v[j]
    return total


@kernel
def rest(model: Arrays, work: Work, v, x, out, slow):
    """What may hold (work.fired), and a first guess of all modes: what came to rest or held until now holds."""
    for k in range(model.n_held):
        c, at = model.held_column[k], model.nv + k
        if model.held_kind[k] in (EVENT, MEMORY, TOLD):
            continue
        held = x[at]
        came = held < HOLDS and held != BY_STATE and out[k] < 0.0
        if model.held_kind[k] == FRICTION:
            if abs(v[c]) <= slow or (came and abs(v[c]) < REACHED / AT_REST * slow):
                v[c] = 0.0
                work.fired[k] = HELD_BEFORE if held >= HOLDS else MAY_HOLD
                if came or held == BY_STATE:
                    x[at] = STUCK
            else:
                x[at] = FORWARD if v[c] > 0.0 else BACKWARD
        else:
            s, place = model.force_at[model.held_of[k]], work.q[model.column_q[c]]
            low = place <= model.parameter[s + LOWER]
            reached = low or place >= model.parameter[s + UPPER]
            if reached and abs(v[c]) <= max(slow, model.parameter[s + REST]):  # it leaves faster, or not at all
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
