"""Derivatives of the residual of an implicit step, R = M qdd + Phi_q^T lam - P and Phi', by recursion: the system Jacobian
of a model of any size, at a cost for each of its entries.

Inertia: dynamics/slopes.py. A row of a pair has on its bodies the load f = lam psi; with psi's change by the motion of its
bodies (`swing` in constraints/), s_c = 1 or -1 where column c moves body b or a, and columns that move both left out,

    d(s_c B_c . f)/dtheta_j = s_c (B_c . d_j f + (D_j x B_c) . f),      the latter where j carries c,
    dPhi'/dtheta_j = d_j psi . dY + s_j psi . (D_j x Y + psi_j),         dY = Y_b - Y_a, Y of the body that j moves.

Force elements are traced by themselves, as functions of the poses and velocities of the bodies they see (symbolic/
elements.py): small programs, their number that of the elements. They give the wrenches Q of a group of bodies, and how these
change by motions and velocities of the bodies; of R_c = -B_c . Q this is used as above.

docs/references.md: [Carpentier, Mansard 2018].
"""

from __future__ import annotations

from madi.constraints.dispatch import evaluate_rows, jacobian_entry, pair_frames, pair_swing
from madi.dynamics.kinematics import accelerations, positions, velocities
from madi.dynamics.slopes import columns, subtrees, tree_slopes
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
    columns(model, work, x)
    tree_slopes(model, work, out, by_v, by_q)
    k = plan.n_tree - plan.n_alone
    for s in range(plan.n_alone):
        out[k + s] = 1.0 if not is_free(model, plan.alone[s]) else model.armature[plan.alone[s]]
        out[by_v + k + s], out[by_q + k + s] = 0.0, 0.0
    if model.nr > 0:
        row_slopes(model, work, x, out, by_q)
    if plan.n_groups > 0:
        element_slopes(model, work, t, q, v, x, out, by_v, by_q)


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
def row_slopes(model: Arrays, work: Work, x, out, by_q):
    """R by lam, Phi_q, Phi' by q, and what the multipliers add to R by q. Rows of a pair follow each other and have the same
    columns."""
    lam, n = TRIAL_LAM(model), work.slopes.n_row_entries
    by_lam = by_q + work.slopes.n_all
    phi, rate = by_lam + n, by_lam + 2 * n
    evaluate_rows(model, work)
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
    k, c, on_b = model.row_pair[r], model.j_column[first + j], model.j_sign[first + j] > 0
    a, b, d = model.pair_a[k], model.pair_b[k], six(work.moved_by, c)
    if on_b:
        change, sign, moved = pair_swing(model, work, r, NO_MOTION, d), 1.0, b
    else:
        change, sign, moved = pair_swing(model, work, r, d, NO_MOTION), -1.0, a
    put(work.slopes.swing, j, plus_scaled(six(work.slopes.swing, j), lam, change))
    y = minus(six(work.Y, b), six(work.Y, a))
    rate = plus(motion_cross(d, six(work.Y, moved)), six(work.psi_q, c))
    return dot(change, y) + sign * dot(six(work.psi, r), rate)


@inline
def pair_slopes(model: Arrays, work: Work, first, count, load, p, out, by_q):
    """What the multipliers of a pair add to R by q; `load`: theirs on body b. Returns the next place."""
    plan = work.slopes
    for j in range(count):
        d, change = six(work.moved_by, model.j_column[first + j]), six(plan.swing, j)
        for i in range(count):
            b = six(work.B, model.j_column[first + i])
            s = dot(b, change)
            if plan.pair_carried[p] == 1:
                s = s + dot(motion_cross(d, b), load)
            k = by_q + plan.pair_place[p]
            out[k] = out[k] + (s if model.j_sign[first + i] > 0 else -s)
            p += 1
    return p


# ---- force elements -----------------------------------------------------------------------------------------------------


@kernel
def element_slopes(model: Arrays, work: Work, t, q, v, x, out, by_v, by_q):
    """What force elements add to R by qd and by q."""
    evaluate_elements(model, work, t, q, v, x)
    group_slopes(model, work, out, by_v, by_q)


@kernel
def evaluate_elements(model: Arrays, work: Work, t, q, v, x):
    """Wrenches of all groups, and how they change, into plan.element_values."""
    gather_state(model, work, x)
    call(work.slopes.elements, t, q, v, work.slopes.state, work.slopes.element_values)


@kernel
def group_slopes(model: Arrays, work: Work, out, by_v, by_q):
    """What the groups add to R by qd and by q, from plan.element_values."""
    plan = work.slopes
    at, p = 0, 0
    for g in range(plan.n_groups):
        bodies = plan.group_body[g + 1] - plan.group_body[g]
        rows = 6 * bodies + plan.group_tau[g + 1] - plan.group_tau[g]
        by_motion = at + 6 * bodies  # values of a group: wrenches; by motions, by velocities of its bodies; direct ones
        by_rate = by_motion + 6 * bodies * rows
        direct = by_rate + 6 * bodies * rows
        for e in range(plan.group_column[g], plan.group_column[g + 1]):
            answer(model, work, g, e, rows, by_motion, by_rate)
            p = add_group(model, work, g, plan.column[e], at, p, out, by_v, by_q)
        for e in range(plan.group_by_q[g + 1] - plan.group_by_q[g]):
            for k in range(rows):
                plan.answer_q[k], plan.answer_v[k] = plan.element_values[direct + e * rows + k], 0.0
            p = add_group(model, work, g, -1, at, p, out, by_v, by_q)
        direct += (plan.group_by_q[g + 1] - plan.group_by_q[g]) * rows
        for e in range(plan.group_by_v[g + 1] - plan.group_by_v[g]):
            for k in range(rows):
                plan.answer_q[k], plan.answer_v[k] = 0.0, plan.element_values[direct + e * rows + k]
            p = add_group(model, work, g, -1, at, p, out, by_v, by_q)
        at = direct + (plan.group_by_v[g + 1] - plan.group_by_v[g]) * rows


@kernel
def gather_state(model: Arrays, work: Work, x):
    """plan.state: theta, then poses of the reference frames, poses and velocities of the bodies."""
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


@kernel
def answer(model: Arrays, work: Work, g, e, rows, by_motion, by_rate):
    """plan.answer_q, answer_v: how a group's wrenches and generalised forces change by coordinate and speed of a column."""
    plan = work.slopes
    c, moves, first = plan.column[e], plan.moves[e], plan.group_body[g]
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
    for e in range(plan.group_column[g], plan.group_column[g + 1]):
        c, f, change_q, change_v = plan.column[e], NO_MOTION, NO_MOTION, NO_MOTION
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
