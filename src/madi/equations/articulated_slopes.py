"""Derivatives of the residual of a tree, O(n) numbers: what integrate/newton_tree.py eliminates without ever making the
entries, of which a chain has n^2.

By column B, psi', kappa, psi, D and the turn of what it moves, D x* W (dynamics/slopes.py); by body its own M^, p and N; the
square of each joint's own columns, to which elements add that act within the joint (springs, friction, stops, bushings
between neighbours). An element between a body and the ground, whose wrench Q follows the body's motion and velocity by the
matrices P and V, adds to the force that accelerates the body

    -P d - V (e + d x Y) + d x* Q,        d = sum D_j theta_j on its path, e = sum (B_j v_j + psi_j theta_j),

since d_j Y = D_j x Y + psi_j, and (D x B_c) . Q = -B_c . (D x* Q). The latter is meant for columns that carry c alone; D x*
W takes it off again for the others, as W is that of the inertia forces less Q. Rows of loops are not here.
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.slopes import bodies_alone, motions, sum_forces
from madi.equations.fields import Arrays, Work
from madi.equations.slopes import element_slopes, evaluate_elements, trial_state, value_count
from madi.joints.columns import is_free
from madi.kernel import inline, kernel
from madi.spatial.vector import first, force_cross, minus, plus, put, put_at, second, six, six_at, three

OF_BODY, OF_COLUMN, OF_LOAD = 22, 36, 72  # numbers of a body (M^, p, N), of a column, of an element's load
KAPPA, PSI, MOVED, TURN, RATE = 12, 18, 24, 30, 6  # of a column, behind B


@inline
def bodies_from(n_own):
    """Where the bodies begin, behind three squares of each joint: by qdd, by qd, by q."""
    return 3 * n_own


@inline
def columns_from(model: Arrays, n_own):
    """Where the columns begin."""
    return bodies_from(n_own) + OF_BODY * model.n


@inline
def loads_from(model: Arrays, n_own):
    """Where the loads from the ground begin: the force by d, row by row, then by e."""
    return columns_from(model, n_own) + OF_COLUMN * model.nv


@kernel
def articulated_slopes(model: Arrays, work: Work, t, q, v, x, out):
    """All that topology/slopes.py `articulated_plan` has a place for, at q moved by theta, for x = (theta, qdd)."""
    plan = work.slopes
    trial_state(model, work, t, q, v, x)
    bodies_alone(model, work)
    put_bodies(model, work, out, bodies_from(plan.n_all))
    for k in range(3 * plan.n_all):
        out[k] = 0.0
    if plan.n_groups > 0:
        evaluate_elements(model, work, t, q, v, x)
        put_loads(model, work, out, loads_from(model, plan.n_all))
    sum_forces(model, work)
    motions(model, work, x)
    put_columns(model, work, out, columns_from(model, plan.n_all))
    put_own(model, work, out, plan.n_all)
    if plan.n_groups > 0:
        element_slopes(model, work, out, plan.n_all, 2 * plan.n_all)


@kernel
def put_bodies(model: Arrays, work: Work, out, at):
    """M^, p and N of every body."""
    for i in range(1, model.n):
        k = at + OF_BODY * i
        for j in range(10):
            out[k + j] = work.inertia[i, j]
        put_at(out, k + 10, three(work.momentum, i))
        for j in range(9):
            out[k + 13 + j] = work.coriolis[i, j]


@kernel
def put_columns(model: Arrays, work: Work, out, at):
    """Of every column B, psi', kappa, psi, D, D x* W; of one that is not solved for, nothing."""
    for i in range(1, model.n):
        for c in range(model.v_at[i], model.v_end[i]):
            k = at + OF_COLUMN * c
            if is_free(model, c):
                put_at(out, k, six(work.B, c))
                put_at(out, k + RATE, six(work.psi_rate, c))
                put_at(out, k + KAPPA, six(work.kappa, c))
                put_at(out, k + PSI, six(work.psi_q, c))
                put_at(out, k + MOVED, six(work.moved_by, c))
                put_at(out, k + TURN, force_cross(six(work.moved_by, c), six(work.W, i)))
            else:
                for j in range(OF_COLUMN):
                    out[k + j] = 0.0


@kernel
def put_own(model: Arrays, work: Work, out, n_own):
    """The diagonal of what bodies do not give: rotors; 1 for what is prescribed."""
    at = 0
    for i in range(model.n):
        l, m = model.v_at[i], model.v_end[i]
        for c in range(l, m):
            k = at + (c - l) * (m - l + 1)
            if is_free(model, c):
                out[k] = bodies.added_inertia(model, work, c) if i > 0 else model.armature[c]
            else:
                out[k] = 1.0
        at += (m - l) * (m - l)


@kernel
def put_loads(model: Arrays, work: Work, out, begin):
    """The loads of elements between a body and the ground, summed by bodies; their wrenches are taken off W."""
    plan = work.slopes
    for k in range(begin, begin + OF_LOAD * plan.n_loads):
        out[k] = 0.0
    at = 0
    for g in range(plan.n_groups):
        if plan.group_load[g] >= 0:
            put_load(work, plan.body[plan.group_body[g]], at, out, begin + OF_LOAD * plan.group_load[g])
        at += value_count(work, g)


@inline
def put_load(work: Work, i, at, out, k):
    """The load of one element on body i, whose values begin at `at`."""
    values, y = work.slopes.element_values, six(work.Y, i)
    Q = six_at(values, at)
    put(work.W, i, minus(six(work.W, i), Q))
    for row in range(6):
        P, V = six_at(values, at + 6 + 6 * row), six_at(values, at + 42 + 6 * row)
        by_d = plus(P, force_cross(y, V))  # V . (d x Y) = (Y x* V) . d
        put_at(out, k + 6 * row, minus(six_at(out, k + 6 * row), by_d))
        put_at(out, k + 36 + 6 * row, minus(six_at(out, k + 36 + 6 * row), V))
    add_crossed(out, k + 3, first(Q))
    add_crossed(out, k + 18, first(Q))
    add_crossed(out, k + 21, second(Q))


@inline
def add_crossed(out, k, x):
    """The matrix by which a vector a gives a x x, its rows six apart, added at out[k]."""
    out[k + 1], out[k + 2] = out[k + 1] + x[2], out[k + 2] - x[1]
    out[k + 6], out[k + 8] = out[k + 6] - x[2], out[k + 8] + x[0]
    out[k + 12], out[k + 13] = out[k + 12] + x[1], out[k + 13] - x[0]
