"""Accelerations, by every formulation; with loops and where drives jump, what closes the end of a step."""

from __future__ import annotations

from madi.bodies import generalised_force
from madi.constraints.dispatch import evaluate_rows
from madi.dynamics import articulated, recursive, velocity_transform
from madi.dynamics.impulse import drive_impulse
from madi.dynamics.kinematics import positions
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, give, kinematics_and_forces, take_held
from madi.joints.columns import is_free
from madi.kernel import kernel
from madi.loops import kkt, null_space, projection


@kernel
def forward_recursive(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations by P1's composite recursion."""
    kinematics_and_forces(model, work, t, q, v, x)
    recursive.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def forward_articulated(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations by the O(n) recursion."""
    kinematics_and_forces(model, work, t, q, v, x)
    articulated.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def forward_velocity_transform(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations by P0's velocity transformation."""
    kinematics_and_forces(model, work, t, q, v, x)
    velocity_transform.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def loop_coefficients(model: Arrays, work: Work, t, q, v, x):
    """M, P, Phi_q and gamma of a mechanism with loops, by composite inertias."""
    kinematics_and_forces(model, work, t, q, v, x)
    recursive.composites(model, work)
    for c in range(model.nv):
        work.P[c] = generalised_force(model, work, c) + work.tau[c]
    evaluate_rows(model, work)
    kkt.coefficients(model, work)


@kernel
def loop_equations(model: Arrays, work: Work, t, q, v, x):
    """qdd and lam, the sparse loop equations refactorised."""
    loop_coefficients(model, work, t, q, v, x)
    kkt.factorise(model, work, work.options.softness)
    kkt.accelerate(model, work)
    work.factor_valid = 1


@kernel
def forward_loops(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations with loops."""
    loop_equations(model, work, t, q, v, x)
    give(work.acceleration, model.nv, out)


@kernel
def forward_loops_velocity_transform(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations with loops, M and P by P0's velocity transformation: Mq = B^T M B."""
    kinematics_and_forces(model, work, t, q, v, x)
    velocity_transform.equations(model, work)
    evaluate_rows(model, work)
    recursive.composite_inertias(model, work)
    kkt.coefficients(model, work)
    for k in range(model.nm):
        work.m_value[k] = work.M[model.m_row[k] * model.nv + model.m_column[k]]
    kkt.factorise(model, work, work.options.softness)
    kkt.accelerate(model, work)
    work.factor_valid = 1
    give(work.acceleration, model.nv, out)


@kernel
def multipliers(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations, then the multipliers of all rows."""
    loop_equations(model, work, t, q, v, x)
    give(work.acceleration, model.nv, out)
    for r in range(model.nr):
        out[model.nv + r] = work.lam[r]


@kernel
def close_loops(model: Arrays, work: Work, t, q, v, x, out):
    """P0's projection, in place: q, v become the closed state, out its accelerations (loops/projection.py)."""
    take_held(model, work, x, model.nv)
    apply_drives(model, work, t, q, v)
    projection.close(model, work, t, q, v, x, out)


@kernel
def meet_drives(model: Arrays, work: Work, t, q, v, x, out):
    """A tree at the end of a step, in place: drives as prescribed, the others' speeds after the impulse of those that jump;
    out = the accelerations there."""
    take_held(model, work, x, model.nv)
    apply_drives(model, work, t, q, v)
    positions(model, work, work.q)
    recursive.mass_matrix(model, work)
    if drive_impulse(model, work, v) > 0.0:
        recursive.solve(model, work.M, work.P, work.acceleration)
        for c in range(model.nv):
            v[c] = v[c] + work.acceleration[c] if is_free(model, c) else work.v[c]
    forward_recursive(model, work, t, q, v, x, out)


@kernel
def close_null_space(model: Arrays, work: Work, t, q, v, x, out):
    """The loops closed by the null-space method of work.options, in place, at the end of a step: q, v become the closed
    state, out its accelerations."""
    take_held(model, work, x, model.nv)
    apply_drives(model, work, t, q, v)
    null_space.close(model, work, t, q, v, x, out)
