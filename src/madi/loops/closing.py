"""Closing the loops at the end of a step: positions, then speeds, by quasi-Newton steps; then what the method does last.

A method of closing is three kernels. `refactor(model, work)` makes its matrix at the configuration in work;
`step_for(model, work, force, wanted)` leaves in work.unknown the step under `force` that changes the rows by -wanted;
`finish(model, work)` gives accelerations and multipliers at the closed state. The matrix is the one of the last evaluation,
at a nearby state, and made anew when a step gains too little; and at every step where rows are nearly dependent. Iterations
end at rounding, or at the tolerance of the user (P0's eps, work.options.tolerance): m and rad of Phi, m/s and rad/s of Phi'.
"""

from __future__ import annotations

from madi.bodies import generalised_force
from madi.bodies import inertia as body_inertia
from madi.constraints.dispatch import evaluate_rows
from madi.dynamics.impulse import drive_impulse
from madi.dynamics.kinematics import positions, velocities
from madi.dynamics.recursive import composite_inertias, composites
from madi.joints.chart import retract
from madi.kernel import Kernel, kernel
from madi.loops.dense import NAN
from madi.loops.fields import Arrays, Work
from madi.loops.joint_friction import found_with
from madi.loops.kkt import NEARLY_SINGULAR, coefficients
from madi.loops.memory import AT_POSITIONS, AT_VELOCITIES, NOT
from madi.signals.tape import apply_forces

MOST_ITERATIONS = 30  # of one level
POSITION_TINY, POSITION_GOOD = 2e-13, 5e-11  # m or rad: stop at once; stop when nothing more is gained
VELOCITY_TINY, VELOCITY_GOOD = 2e-12, 5e-10
VELOCITY_ROUNDING = 1e-15  # of the largest speed: what its rounding leaves of a row
NEARLY_CLOSED = 1e-3  # m or rad: so near, Newton's steps converge unless rows contradict each other
LEAST_ACCELERATION = 1e-3  # m/s2, rad/s2: smaller ones count as this much, so that a mechanism may be at rest
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
def composite_masses(model: Arrays, work: Work):
    """M and Phi_q at the configuration in work; its rows are evaluated."""
    for i in range(1, model.n):
        body_inertia(model, work, i)
    composite_inertias(model, work)
    coefficients(model, work)


def closing_positions(refactor: Kernel, step_for: Kernel) -> Kernel:
    """The kernel that closes positions."""

    @kernel
    def close_positions(model: Arrays, work: Work):
        """Quasi-Newton on Phi(work.q) = 0; returns whether it holds. Rows are evaluated at the end."""
        positions(model, work, work.q)
        evaluate_rows(model, work)
        size = worst(work.phi, model.nr)
        work.tally.violation_before = size
        fresh = False
        near = work.tally.independence < NEARLY_SINGULAR
        tiny, good = max(work.options.tolerance, POSITION_TINY), max(work.options.tolerance, POSITION_GOOD)
        for _ in range(MOST_ITERATIONS):
            if size <= tiny and not near:
                return True
            if near:  # a row's weak direction turns from step to step: only the matrix of this very state sees it
                work.factor_valid = 0
            if work.factor_valid == 0:
                refactor(model, work)
                fresh = True
            step_for(model, work, work.P, work.phi)
            for c in range(model.nv):  # theta, in tau: forces are not there yet
                work.tau[c] = work.unknown[model.column_place[c]] if model.column_place[c] >= 0 else 0.0
            retract(model, work.q, work.tau, work.q)
            positions(model, work, work.q)
            evaluate_rows(model, work)
            work.tally.position_steps += 1
            now = worst(work.phi, model.nr)
            if not now < SLOW * size:
                if now <= good:
                    return True
                if now != now or now > 1e3 * (size + 1.0):
                    return False
                if fresh and now > 0.9 * size and now < NEARLY_CLOSED:
                    return False  # the exact matrix does not help: the rows contradict each other
                work.factor_valid = 0
            fresh = False
            size = now
        return size <= good

    return close_positions


def closing_velocities(refactor: Kernel, step_for: Kernel) -> Kernel:
    """The kernel that closes speeds."""

    @kernel
    def close_velocities(model: Arrays, work: Work, v):
        """Quasi-Newton on Phi' = 0; returns whether it holds. Linear: with a fresh matrix only eps is left to take out.
        Where drives' speeds are not those of v, as carried by the integrator, the first step gets their impulse too."""
        velocities(model, work, work.q, work.v)
        evaluate_rows(model, work)
        rounding = VELOCITY_ROUNDING * worst(work.v, model.nv)
        tiny = max(work.options.tolerance, VELOCITY_TINY) + rounding
        good = max(work.options.tolerance, VELOCITY_GOOD) + 10.0 * rounding
        size = worst(work.rate, model.nr)
        fresh = False
        near = work.tally.independence < NEARLY_SINGULAR
        if near:
            work.factor_valid = 0
        pushed = drive_impulse(model, work, v) > VELOCITY_TINY + rounding
        for _ in range(MOST_ITERATIONS):
            if size <= tiny and not (near or pushed):
                return True
            if work.factor_valid == 0:
                refactor(model, work)
                fresh = True
            step_for(model, work, work.P, work.rate)
            for c in range(model.nv):
                work.P[c] = 0.0
                if model.column_place[c] >= 0:
                    work.v[c] = work.v[c] + work.unknown[model.column_place[c]]
            pushed = False
            velocities(model, work, work.q, work.v)
            evaluate_rows(model, work)
            work.tally.velocity_steps += 1
            now = worst(work.rate, model.nr)
            if not now < SLOW * size:
                if now <= good:
                    return True
                if now != now:
                    return False
                if not fresh:
                    work.factor_valid = 0
            size = now
        return size <= good

    return close_velocities


def closing(refactor: Kernel, step_for: Kernel, finish: Kernel) -> Kernel:
    """The kernel `close` of a method."""
    close_positions, close_velocities = closing_positions(refactor, step_for), closing_velocities(refactor, step_for)

    friction = found_with(finish)

    @kernel
    def close(model: Arrays, work: Work, t, q, v, tau, out):
        """q, v <- the closed state nearest to them; out = the accelerations there, or NaN if the loops cannot be closed."""
        for c in range(model.nv):
            out[c] = 0.0
            work.P[c] = 0.0
        work.tally.failed = NOT
        if work.tally.close_stages != 0:
            # a stage of a step is closed too, from farther away: with an old matrix the direction of its projection would
            # depend on where that came from, and the method would lose an order
            work.factor_valid = 0
        closed = close_positions(model, work)
        if not closed:
            work.tally.failed = AT_POSITIONS
        else:
            closed = close_velocities(model, work, v)
            if not closed:
                work.tally.failed = AT_VELOCITIES
        if not closed:
            for c in range(model.nv):
                out[c] = NAN
            return
        for j in range(model.nq):
            q[j] = work.q[j]
        for c in range(model.nv):
            v[c] = work.v[c]
        apply_forces(model, work, t, tau)
        composites(model, work)
        for c in range(model.nv):
            work.P[c] = generalised_force(model, work, c) + work.tau[c]
        coefficients(model, work)
        finish(model, work)
        friction(model, work)
        for c in range(model.nv):
            out[c] = work.acceleration[c]

    return close
