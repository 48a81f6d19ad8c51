"""Friction of joints by their own loads: loads, friction and accelerations, found together.

With accelerations at hand, the load of a joint is P1's reaction (eq. 30), for each joint that is asked; its friction
changes the right-hand side of one column, and accelerations follow by the factor that is there. That is repeated until
friction no longer changes: each time what is left is smaller by some mu r / L, r the radius of a pin and L the distance of
the masses.

docs/references.md: [P1].
"""

from __future__ import annotations

from madi.dynamics.kinematics import accelerations
from madi.dynamics.loads import reaction
from madi.forces.load_friction import RADIUS, SPAN, STATIC, coefficient
from madi.joints.place import direction
from madi.kernel import LEAST_SIZE, Kernel, fabs, inline, kernel, needed, sqrt, where
from madi.loops.fields import Arrays, Work
from madi.spatial.vector import dot, first, minus, plus, plus_scaled, scaled, second, six, three, to_point, velocity_at

HINGE, SLIDE, THREAD = range(3)  # coordinates, by what presses on them
ROUNDS = 30  # at most; in traces too, which take them all
SETTLED = 1e-14  # of the largest friction: a change that is none


@kernel
def load_through(model: Arrays, work: Work, i):
    """R_i, multipliers included; composites, accelerations of bodies and multipliers are in work."""
    R = reaction(model, work, i, work.acceleration)
    for r in range(model.nr):
        k = model.row_pair[r]
        if k >= 0:
            load = scaled(work.lam[r], six(work.psi, r))
            if model.pair_a[k] >= i and model.pair_a[k] <= model.last[i]:
                R = minus(R, load)
            if model.pair_b[k] >= i and model.pair_b[k] <= model.last[i]:
                R = plus(R, load)
    return R


@kernel
def pressing(model: Arrays, work: Work, e, way, R, towards):
    """(N, its arm) of element e from the load R about the reference origin, where it slides `towards` (1, -1; 0: it does
    not)."""
    c, s, p = model.force_a[e], model.force_at[e], model.parameter
    i = model.column_body[c]
    way_of, x = direction(model, work, i, c), three(work.r, i)
    F, n = first(R), to_point(R, x)
    moment = 2.0 / p[s + SPAN] if p[s + SPAN] > 0.0 else 0.0
    if way == SLIDE:
        d = first(way_of)
        return size(plus_scaled(F, -dot(F, d), d)) + moment * size(n), 1.0
    d = second(way_of)
    if way == HINGE:
        return size(F) + moment * size(plus_scaled(n, -dot(n, d), d)), p[s + RADIUS]
    lead, along = dot(velocity_at(six(work.B, c), x), d), dot(F, d)
    slope = fabs(lead) / p[s + RADIUS]
    cosine, side = 1.0 / sqrt(1.0 + slope * slope), towards * lead * along
    upward = where(side > 0.0, 1.0, where(side < 0.0, -1.0, 0.0))
    mu = coefficient(model, s, fabs(work.v[c]))
    return fabs(along) / (cosine * (1.0 - upward * mu * slope)), p[s + RADIUS] / cosine


@kernel
def rub(model: Arrays, work: Work):
    """Friction for the accelerations at hand, into the right-hand side; the largest change, against the largest."""
    accelerations(model, work, work.acceleration)
    change, largest = 0.0, LEAST_SIZE
    for k in range(model.n_loaded):
        e = model.loaded[k]
        c = model.force_a[e]
        before = work.rubbed[e]
        now = friction_of(model, work, k, load_through(model, work, model.column_body[c]))
        work.P[c] = work.P[c] + (now - before)
        work.tau[c] = work.tau[c] + (now - before)
        change = larger(change, fabs(now - before))
        largest = larger(largest, fabs(now))
    return change / largest


@kernel
def friction_of(model: Arrays, work: Work, k, R):
    """What loaded friction k does under the load R, and what it can hold."""
    e = model.loaded[k]
    c, s, h = model.force_a[e], model.force_at[e], model.force_held[e]
    side, way, static = work.rub_side[e], model.loaded_way[k], model.parameter[s + STATIC]
    N, arm = pressing(model, work, e, way, R, side)
    now = -side * coefficient(model, s, fabs(work.v[c])) * arm * N
    forward, back = N, N
    if way == THREAD:  # which way it would be moved decides how much it holds
        forward, _ = pressing(model, work, e, way, R, 1.0)
        back, _ = pressing(model, work, e, way, R, -1.0)
    work.low[h], work.high[h] = -static * arm * forward, static * arm * back
    work.rub_load[e], work.rubbed[e] = N, now
    return now


@kernel
def with_given_accelerations(model: Arrays, work: Work, out):
    """The same where accelerations are given: work.W has the loads (dynamics/inverse.py), `out` what is left of forces."""
    for k in range(model.n_loaded):
        c = model.force_a[model.loaded[k]]
        out[c] = out[c] - friction_of(model, work, k, six(work.W, model.column_body[c]))


def found_with(again: Kernel) -> Kernel:
    """The kernel that finds friction and accelerations together; `again(model, work)`: accelerations for another
    right-hand side."""

    @kernel
    def find(model: Arrays, work: Work):
        change = 1.0
        for _ in range(ROUNDS if model.n_loaded > 0 else 0):
            if needed(change > SETTLED):
                change = rub(model, work)
                again(model, work)

    return find


@inline
def larger(a, b):
    """The larger of two."""
    return where(a > b, a, b)


@inline
def size(x):
    """Length of a vector."""
    return sqrt(dot(x, x) + LEAST_SIZE)
