"""P0's projection: after a step, position, velocity and acceleration with ONE factored coefficient matrix.

    position:      min 1/2 dq^T M dq   subject to  Phi(q) = 0,
    velocity:      min 1/2 dv^T M dv   subject to  Phi_q v = -Phi_t,
    acceleration:  M qdd + Phi_q^T lam = P,  Phi_q qdd = gamma,

each by quasi-Newton steps (dq, mu) = K^-1 (0, -Phi) and so on, K the matrix that happens to be factored: the one of the
last evaluation, a hair away. It is factored anew when a step gains too little; for the acceleration at once where that is
no dearer than the steps it saves (CHEAP); and where rows are redundant or nearly so (see `close`). Numbers are judged here,
so this kernel is not traced.
"""

from __future__ import annotations

from madi.constraints.dispatch import evaluate_rows
from madi.dynamics.kinematics import positions, velocities
from madi.dynamics.recursive import composite_inertias, composites
from madi.forces.dispatch import apply_forces
from madi.joints.dispatch import retract
from madi.kernel import kernel
from madi.loops.kkt import (
    ACCELERATION,
    CAREFUL,
    CLOSENESS,
    EPSILON,
    FAILED,
    NEAR,
    POSITION,
    VALID,
    VELOCITY,
    coefficients,
    factorise,
    hand_out,
    remark,
    residual,
    right_hand_side,
    solve,
)
from madi.signals.tape import force_signals
from madi.spatial.algebra import body_inertia, dot6

MOST = 30  # iterations of one level
POSITION_TINY, POSITION_GOOD = 2e-13, 5e-11  # m or rad: stop at once; stop when nothing more is gained
VELOCITY_TINY, VELOCITY_GOOD = 2e-12, 5e-10
NAN = float("nan")
CHEAP = 6  # products of a factorisation against those of a solution
SLOW = 0.2  # a step that leaves more than this is no longer worth its matrix


@kernel
def worst(values, n):
    """Largest size among n values; NaN if one is."""
    size = 0.0
    for r in range(n):
        x = abs(values[r])
        if not x <= size:
            size = x
    return size


@kernel
def refactor(model, work):
    """Coefficients and factor at the configuration in work; its rows are evaluated."""
    for i in range(1, model.n):
        body_inertia(model, work, i)
    composite_inertias(model, work)
    coefficients(model, work)
    factorise(model, work, 0.0)


@kernel
def step_for(model, work, wanted):
    """work.unknown = K^-1 (0, -wanted): the least motion, by mass, that changes the rows by -wanted."""
    x = work.unknown
    for k in range(model.nu):
        x[k] = 0.0
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            x[model.row_place[r]] = -wanted[r]
    solve(model, work.factor, x)


@kernel
def close_positions(model, work):
    """Quasi-Newton on Phi(work.q) = 0; returns whether it holds. Rows are evaluated at the end."""
    positions(model, work, work.q)
    evaluate_rows(model, work)
    size = worst(work.phi, model.nr)
    fresh = False
    near = work.tally[CLOSENESS] < NEAR
    for _ in range(MOST):
        if size <= POSITION_TINY and not near:
            return True
        if near:  # a row's weak direction turns from step to step: only the matrix of this very state sees it
            work.tally[VALID] = 0.0
        if work.tally[VALID] == 0.0:
            refactor(model, work)
            fresh = True
        step_for(model, work, work.phi)
        for c in range(model.nv):
            work.tau[c] = work.unknown[model.column_place[c]] if model.column_place[c] >= 0 else 0.0
        retract(model, work.q, work.tau, work.q)
        positions(model, work, work.q)
        evaluate_rows(model, work)
        work.tally[POSITION] = work.tally[POSITION] + 1.0
        now = worst(work.phi, model.nr)
        if not now < SLOW * size:
            if now <= POSITION_GOOD:
                return True
            if now != now or now > 1e3 * (size + 1.0):
                return False
            if fresh and now > 0.9 * size and now < 1e-3:
                return False  # the exact matrix does not help: the rows contradict each other
            work.tally[VALID] = 0.0
        fresh = False
        size = now
    return size <= POSITION_GOOD


@kernel
def close_velocities(model, work):
    """Quasi-Newton on Phi' = 0; returns whether it holds. Linear: with a fresh matrix only eps is left to take out."""
    velocities(model, work, work.q, work.v)
    evaluate_rows(model, work)
    rounding = 1e-15 * worst(work.v, model.nv)
    size = worst(work.rate, model.nr)
    fresh = False
    near = work.tally[CLOSENESS] < NEAR
    if near:
        work.tally[VALID] = 0.0
    for _ in range(MOST):
        if size <= VELOCITY_TINY + rounding and not near:
            return True
        if work.tally[VALID] == 0.0:
            refactor(model, work)
            fresh = True
        step_for(model, work, work.rate)
        for c in range(model.nv):
            if model.column_place[c] >= 0:
                work.v[c] = work.v[c] + work.unknown[model.column_place[c]]
        velocities(model, work, work.q, work.v)
        evaluate_rows(model, work)
        work.tally[VELOCITY] = work.tally[VELOCITY] + 1.0
        now = worst(work.rate, model.nr)
        if not now < SLOW * size:
            if now <= VELOCITY_GOOD + 10.0 * rounding:
                return True
            if now != now:
                return False
            if not fresh:
                work.tally[VALID] = 0.0
        size = now
    return size <= VELOCITY_GOOD + 10.0 * rounding


@kernel
def close_accelerations(model, work):
    """qdd, lam by quasi-Newton with the factor at hand; coefficients and right-hand sides are in work.

    A correction against the one before it tells what the next would be; that one must not matter any more.
    """
    x, y = work.unknown, work.correction
    # where a factorisation costs no more than the steps it saves (small or very sparse systems), it is made at once
    fresh = work.tally[VALID] == 0.0 or model.nx <= CHEAP * (model.nl + model.nu)
    if fresh:
        factorise(model, work, 0.0)
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    last = 0.0
    for _ in range(MOST):
        residual(model, work, x, y, 1)
        solve(model, work.factor, y)
        size, scale = 0.0, 1e-3
        for c in range(model.nv):
            p = model.column_place[c]
            if p >= 0:
                x[p] = x[p] + y[p]
                scale = max(scale, abs(x[p]))
                if not abs(y[p]) <= size:
                    size = abs(y[p])
        for r in range(model.nr):
            p = model.row_place[r]
            if p >= 0:
                x[p] = x[p] + y[p]
        work.tally[ACCELERATION] = work.tally[ACCELERATION] + 1.0
        if last == 0.0:
            last = scale
        if size * size <= 1e-14 * scale * last:
            break
        if not size < SLOW * last:
            if size <= 1e-11 * scale:
                break
            if not fresh:
                factorise(model, work, 0.0)
                right_hand_side(model, work, x)
                solve(model, work.factor, x)
                fresh = True
                last = 0.0
                continue
        last = size
    hand_out(model, work, x)


@kernel
def look_at_pivots(model, work):
    """How near the rows are to losing their independence: the smallest pivot, against what rows usually have."""
    deficient, near = 0.0, 1.0
    for r in range(model.nr):
        p = model.row_place[r]
        if p >= 0:
            ratio = -EPSILON / (work.factor[p] * model.row_value[r, 2])
            if ratio < 1e-7:
                deficient += 1.0
            elif ratio < near:
                near = ratio
    remark(work.tally, deficient, near)


@kernel
def close(model, work, t, q, v, tau, out):
    """q, v <- the closed state nearest to them; out = the accelerations there, or NaN if the loops cannot be closed."""
    for c in range(model.nv):
        out[c] = 0.0
    work.tally[FAILED] = 0.0
    if work.tally[CAREFUL] != 0.0:
        # a stage of a step is closed too, from farther away: with an old matrix the direction of its projection would
        # depend on where that came from, and the method would lose an order
        work.tally[VALID] = 0.0
    closed = close_positions(model, work)
    if not closed:
        work.tally[FAILED] = 1.0
    else:
        closed = close_velocities(model, work)
        if not closed:
            work.tally[FAILED] = 2.0
    if not closed:
        for c in range(model.nv):
            out[c] = NAN
        return
    for j in range(model.nq):
        q[j] = work.q[j]
    for c in range(model.nv):
        v[c] = work.v[c]
    force_signals(model, work, t, work.q, work.v)
    apply_forces(model, work, tau)
    composites(model, work)
    for c in range(model.nv):
        work.P[c] = dot6(work.B, c, work.W, model.column_body[c]) + work.tau[c]
    coefficients(model, work)
    close_accelerations(model, work)
    for c in range(model.nv):
        out[c] = work.acceleration[c]
    look_at_pivots(model, work)
