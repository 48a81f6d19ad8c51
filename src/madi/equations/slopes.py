"""Derivatives of the residual of an implicit step, R = M qdd + Phi_q^T lam - P and Phi', by recursion: the system Jacobian
of a model of any size, at a cost for each of its entries.

Inertia: dynamics/slopes.py. A row of a pair has on its bodies the load f = lam psi; with psi's change by the motion of its
bodies (`swing` in constraints/), s_c = 1 or -1 where column c moves body b or a, and columns that move both left out,

    d(s_c B_c . f)/dtheta_j = s_c (B_c . d_j f + (D_j x B_c) . f),      the latter where j carries c,
    dPhi'/dtheta_j = d_j psi . dY + s_j psi . (D_j x Y + psi_j),         dY = Y_b - Y_a, Y of the body that j moves.

A mode of a flexible body moves both bodies of a pair, each by a unit motion of its own: then both terms are there. What the
modes of one body do to each other by what hangs on it takes the whole load of every point, dynamics/slopes.py `whole_loads`.

Force elements are traced by themselves, as functions of the poses and velocities of the bodies they see (symbolic/
elements.py): small programs, their number that of the elements. They give the wrenches Q of a group of bodies, and how these
change by motions and velocities of the bodies; of R_c = -B_c . Q this is used as above.

docs/references.md: [Carpentier, Mansard 2018].
"""

from __future__ import annotations

from madi.constraints.dispatch import evaluate_rows, jacobian_entry, pair_frames, pair_swing
from madi.dynamics.kinematics import accelerations, positions, velocities
from madi.dynamics.slopes import columns, subtrees, tree_slopes, whole_loads
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, take_held
from madi.equations.residual import TRIAL_A, TRIAL_HELD, TRIAL_LAM
from madi.joints.chart import exponential
from madi.joints.columns import is_free
from madi.kernel import call, inline, kernel
from madi.spatial.vector import (
    NO_MOTION,
    dot,
    minus,
    motion_cross,
    plus,
    plus_scaled,
    put,
    scaled,
    six,
    six_at,
)


@kernel
def slopes(model: Arrays, work: Work, t, q, v, x, out):
    """The six blocks of topology/slopes.py behind each other, for x = (theta, qdd, lam) at q moved by theta."""
    plan = work.slopes
    trial_state(model, work, t, q, v, x)
    by_v, by_q = plan.n_tree, plan.n_tree + plan.n_all
    for k in range(plan.n_tree, plan.n_all):
        out[by_v + k], out[by_q + k] = 0.0, 0.0
    subtrees(model, work)
    if model.nr > 0:
        evaluate_rows(model, work)
    if plan.n_groups > 0:
        evaluate_elements(model, work, t, q, v, x)
    if model.n_other > 0:
        applied_loads(model, work, x)
        whole_loads(model, work)
    columns(model, work, x)
    tree_slopes(model, work, out, by_v, by_q)
    k = plan.n_tree - plan.n_alone
    for s in range(plan.n_alone):
        out[k + s] = 1.0 if not is_free(model, plan.alone[s]) else model.armature[plan.alone[s]]
        out[by_v + k + s], out[by_q + k + s] = 0.0, 0.0
    if model.nr > 0:
        row_slopes(model, work, x, out, by_q)
    if plan.n_groups > 0:
        element_slopes(model, work, out, by_v, by_q)


@kernel
def trial_state(model: Arrays, work: Work, t, q, v, x):
    """Poses, velocities and accelerations at a trial state of an implicit step."""
    exponential(model, q, x, work.moved)
    take_held(model, work, x, TRIAL_HELD(model))
    apply_drives(model, work, t, work.moved, v)
    for c in range(model.nv):
        if is_free(model, c):
            work.acceleration[c] = x[TRIAL_A(model) + c]
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    accelerations(model, work, work.acceleration)


@kernel
def applied_loads(model: Arrays, work: Work, x):
    """What force elements and multipliers put on the bodies, into work.Q; values of elements and psi are there."""
    plan, Q = work.slopes, work.Q
    for i in range(model.n):
        put(Q, i, NO_MOTION)
    at = 0
    for g in range(plan.n_groups):
        for e in range(plan.group_body[g], plan.group_body[g + 1]):
            i = plan.body[e]
            put(Q, i, plus(six(Q, i), six_at(plan.element_values, at + 6 * (e - plan.group_body[g]))))
        at += value_count(work, g)
    for r in range(model.nr):
        k = model.row_pair[r]
        if k >= 0 and model.row_place[r] >= 0:
            load, a, b = scaled(x[TRIAL_LAM(model) + r], six(work.psi, r)), model.pair_a[k], model.pair_b[k]
            put(Q, a, plus(six(Q, a), load))
            put(Q, b, minus(six(Q, b), load))


@kernel
def row_slopes(model: Arrays, work: Work, x, out, by_q):
    """R by lam, Phi_q, Phi' by q, and what the multipliers add to R by q. Rows of a pair follow each other and have the same
    columns."""
    lam, n = TRIAL_LAM(model), work.slopes.n_row_entries
    by_lam = by_q + work.slopes.n_all
    phi, rate = by_lam + n, by_lam + 2 * n
    e, p, before, load = 0, 0, -1, NO_MOTION
    for r in range(model.nr):
        if model.row_place[r] < 0:
            continue
        k, first = model.row_pair[r], model.row_first[r]
        count = model.row_first[r + 1] - first
        if k >= 0 and k != before:
            pair_frames(model, work, k)
            load = NO_MOTION
            for j in range(count):
                put(work.slopes.swing, j, NO_MOTION)
        before = k
        for j in range(count):
            out[by_lam + e] = jacobian_entry(model, work, r, first + j)
            out[phi + e] = out[by_lam + e]
            out[rate + e] = rate_slope(model, work, r, first, j, x[lam + r]) if k >= 0 else 0.0
            e += 1
        if k >= 0:
            load = plus_scaled(load, x[lam + r], six(work.psi, r))
            if next_pair(model, r) != k:
                p = pair_slopes(model, work, first, count, load, p, out, by_q)


@inline
def next_pair(model: Arrays, r):
    """The pair of the next active row behind row r, -1 if there is none."""
    found, k = -1, r + 1
    while k < model.nr:
        if model.row_place[k] >= 0:
            found = model.row_pair[k]
            k = model.nr
        k += 1
    return found


@inline
def rate_slope(model: Arrays, work: Work, r, first, j, lam):
    """dPhi'/dtheta of row r by column j of its pair; lam times the change of psi is added to the pair's swing."""
    k, x, y = model.row_pair[r], model.j_motion[first + j], model.j_other[first + j]
    a, b, d, e = model.pair_a[k], model.pair_b[k], six(work.moved_by, x), NO_MOTION
    if y >= 0:  # a mode that moves both
        e = six(work.moved_by, y)
        change = pair_swing(model, work, r, e, d)
        rate = minus(motion_rate(work, b, x), motion_rate(work, a, y))
    elif model.j_sign[first + j] > 0:
        change, rate = pair_swing(model, work, r, NO_MOTION, d), motion_rate(work, b, x)
    else:
        change, rate = pair_swing(model, work, r, d, NO_MOTION), scaled(-1.0, motion_rate(work, a, x))
    put(work.slopes.swing, j, plus_scaled(six(work.slopes.swing, j), lam, change))
    return dot(change, minus(six(work.Y, b), six(work.Y, a))) + dot(six(work.psi, r), rate)


@inline
def motion_rate(work: Work, i, x):
    """How unit motion x, which moves body i, changes its velocity: D x Y + psi."""
    return plus(motion_cross(six(work.moved_by, x), six(work.Y, i)), six(work.psi_q, x))


@inline
def pair_slopes(model: Arrays, work: Work, first, count, load, p, out, by_q):
    """What the multipliers of a pair add to R by q; `load`: theirs on body b. Returns the next place."""
    plan = work.slopes
    for j in range(count):
        change = six(plan.swing, j)
        for i in range(count):
            x, y = model.j_motion[first + i], model.j_other[first + i]
            s = dot(six(work.B, x), change)
            s = s if model.j_sign[first + i] > 0 else -s
            if y >= 0:
                s = s - dot(six(work.B, y), change)
            if plan.pair_carried[p] > 0:
                s = s + turned_power(model, work, first + j, first + i, plan.pair_carried[p], load)
            k = by_q + plan.pair_place[p]
            out[k] = out[k] + s
            p += 1
    return p


@kernel
def turned_power(model: Arrays, work: Work, j, i, ways, load):
    """(D_j x B_i) . load of entries j and i of a pair's rows, on the way to b less that on the way to a (pair_carried)."""
    s = 0.0
    for way in range(2):
        if (ways >> way) & 1 == 1:
            d, b = six(work.moved_by, motion_to(model, j, way)), six(work.B, motion_to(model, i, way))
            power = dot(motion_cross(d, b), load)
            s = s + (power if way == 0 else -power)
    return s


@inline
def motion_to(model: Arrays, e, way):
    """The unit motion of entry e of a pair's rows on the way to b (0) or a (1)."""
    if way == 1 and model.j_other[e] >= 0:
        return model.j_other[e]
    return model.j_motion[e]


# ---- force elements -----------------------------------------------------------------------------------------------------


@inline
def row_count(work: Work, g):
    """Wrenches and generalised forces of a group: numbers."""
    plan = work.slopes
    return 6 * (plan.group_body[g + 1] - plan.group_body[g]) + plan.group_tau[g + 1] - plan.group_tau[g]


@inline
def value_count(work: Work, g):
    """How many of the elements' values are a group's."""
    plan = work.slopes
    bodies = plan.group_body[g + 1] - plan.group_body[g]
    direct = plan.group_by_q[g + 1] - plan.group_by_q[g] + plan.group_by_v[g + 1] - plan.group_by_v[g]
    return 6 * bodies + (12 * bodies + direct) * row_count(work, g)


@kernel
def evaluate_elements(model: Arrays, work: Work, t, q, v, x):
    """Wrenches of all groups, and how they change, into plan.element_values."""
    gather_state(model, work, x)
    call(work.slopes.elements, t, q, v, work.slopes.state, work.slopes.element_values)


@kernel
def element_slopes(model: Arrays, work: Work, out, by_v, by_q):
    """What force elements add to R by qd and by q, from plan.element_values."""
    plan = work.slopes
    at, p = 0, 0
    for g in range(plan.n_groups):
        bodies, rows = plan.group_body[g + 1] - plan.group_body[g], row_count(work, g)
        by_motion = at + 6 * bodies  # values of a group: wrenches; by motions, by velocities of its bodies; direct ones
        by_rate = by_motion + 6 * bodies * rows
        direct = by_rate + 6 * bodies * rows
        for e in range(plan.group_motion[g], plan.group_motion[g + 1]):
            answer(model, work, g, e, rows, by_motion, by_rate)
            p = add_group(model, work, g, plan.motion[e], at, p, out, by_v, by_q)
        for e in range(plan.group_by_q[g + 1] - plan.group_by_q[g]):
            for k in range(rows):
                plan.answer_q[k], plan.answer_v[k] = plan.element_values[direct + e * rows + k], 0.0
            p = add_group(model, work, g, -1, at, p, out, by_v, by_q)
        direct += (plan.group_by_q[g + 1] - plan.group_by_q[g]) * rows
        for e in range(plan.group_by_v[g + 1] - plan.group_by_v[g]):
            for k in range(rows):
                plan.answer_q[k], plan.answer_v[k] = 0.0, plan.element_values[direct + e * rows + k]
            p = add_group(model, work, g, -1, at, p, out, by_v, by_q)
        at += value_count(work, g)


@kernel
def gather_state(model: Arrays, work: Work, x):
    """plan.state: theta, then poses of the reference frames, poses and velocities of the bodies, held values."""
    state, k = work.slopes.state, model.nv
    for c in range(model.nv):
        state[c] = x[c]
    for f in range(1, model.nf):
        for i in range(3):
            for j in range(3):
                state[k + 3 * i + j] = work.frame_R[f, i, j]
            state[k + 9 + i] = work.frame_r[f, i]
        k += 12
    for b in range(1, model.n):
        for i in range(3):
            for j in range(3):
                state[k + 3 * i + j] = work.R[b, i, j]
            state[k + 9 + i] = work.r[b, i]
        for i in range(6):
            state[k + 12 + i] = work.Y[b, i]
        k += 18
    for j in range(model.n_held):
        state[k + j] = work.held[j]


@kernel
def answer(model: Arrays, work: Work, g, e, rows, by_motion, by_rate):
    """plan.answer_q, answer_v: how a group's wrenches and generalised forces change by coordinate and speed of a column."""
    plan = work.slopes
    c, moves, first = plan.motion[e], plan.moves[e], plan.group_body[g]
    d, b, psi = six(work.moved_by, c), six(work.B, c), six(work.psi_q, c)
    for k in range(rows):
        plan.answer_q[k], plan.answer_v[k] = 0.0, 0.0
    for i in range(plan.group_body[g + 1] - first):
        if (moves >> i) & 1 == 1:
            rate = plus(motion_cross(d, six(work.Y, plan.body[first + i])), psi)
            for k in range(rows):
                P, V = (
                    six_at(plan.element_values, by_motion + 6 * (i * rows + k)),
                    six_at(plan.element_values, by_rate + 6 * (i * rows + k)),
                )
                plan.answer_q[k] = plan.answer_q[k] + dot(P, d) + dot(V, rate)
                plan.answer_v[k] = plan.answer_v[k] + dot(V, b)


@kernel
def add_group(model: Arrays, work: Work, g, j, at, p, out, by_v, by_q):
    """Take what the group answers to column j (-1: one it depends on directly) off R of all columns that its bodies hang on,
    and of those it acts on; `at`: its wrenches among the values. Returns the next place."""
    plan = work.slopes
    bodies = plan.group_body[g + 1] - plan.group_body[g]
    for e in range(plan.group_motion[g], plan.group_motion[g + 1]):
        c, f, change_q, change_v = plan.motion[e], NO_MOTION, NO_MOTION, NO_MOTION
        for i in range(bodies):
            if (plan.moves[e] >> i) & 1 == 1:
                f = plus(f, six_at(plan.element_values, at + 6 * i))
                change_q, change_v = (
                    plus(change_q, six_at(plan.answer_q, 6 * i)),
                    plus(change_v, six_at(plan.answer_v, 6 * i)),
                )
        b, k = six(work.B, c), plan.place[p]
        s = dot(b, change_q)
        if plan.carried[p] == 1:
            s = s + dot(motion_cross(six(work.moved_by, j), b), f)
        out[by_q + k] = out[by_q + k] - s
        out[by_v + k] = out[by_v + k] - dot(b, change_v)
        p += 1
    for i in range(plan.group_tau[g + 1] - plan.group_tau[g]):
        k = plan.place[p]
        out[by_q + k] = out[by_q + k] - plan.answer_q[6 * bodies + i]
        out[by_v + k] = out[by_v + k] - plan.answer_v[6 * bodies + i]
        p += 1
    return p
