"""Equations as residuals: inverse dynamics, the residual of implicit methods, constraints, the mass matrix."""

from __future__ import annotations

from madi.constraints.dispatch import apply_multipliers, evaluate_rows, jacobian
from madi.dynamics import recursive
from madi.dynamics.inverse import inverse
from madi.dynamics.kinematics import positions, velocities
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, take_held
from madi.equations.row import Row
from madi.joints.chart import exponential
from madi.joints.columns import is_free
from madi.kernel import kernel, view1
from madi.loops.joint_friction import with_given_accelerations
from madi.signals.tape import apply_forces

TERMS = Row(phi="nr", rate="nr", gamma="nr", jacobian="nr*nv")  # of the constraints; Phi_q row by row
# of an implicit step: displacement in the chart, accelerations, multipliers; held values
TRIAL = Row(theta="nv", a="nv", lam="nr", held="n_held")
BALANCE = Row(R="nv", phi="nr", rate="nr")
GAPS = Row(phi="nr", rate="nr")
PHI, RATE, GAMMA, JACOBIAN = (TERMS.place(name) for name in TERMS.named)
TRIAL_A, TRIAL_LAM, TRIAL_HELD = TRIAL.place("a"), TRIAL.place("lam"), TRIAL.place("held")
BALANCE_PHI, BALANCE_RATE = BALANCE.place("phi"), BALANCE.place("rate")


@kernel
def rows_at(model: Arrays, work: Work, t, q, v):
    """Phi, Phi', gamma and psi of all rows into work, at the state as given."""
    apply_drives(model, work, t, q, v)
    for j in range(model.nq):
        work.q[j] = q[j]
    for c in range(model.nv):
        work.v[c] = v[c]
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    evaluate_rows(model, work)


@kernel
def gaps(model: Arrays, work: Work, t, q, v, x, out):
    """Of all rows Phi and Phi' at the state as given. psi, of which the entries of Phi_q are made, stay in work."""
    rows_at(model, work, t, q, v)
    nr = model.nr
    for r in range(nr):
        out[r], out[nr + r] = work.phi[r], work.rate[r]


@kernel
def constraints(model: Arrays, work: Work, t, q, v, x, out):
    """Of all rows Phi, Phi', gamma at the state as given; then the joint-space Jacobian Phi_q, full, row by row."""
    rows_at(model, work, t, q, v)
    nr = model.nr
    for r in range(nr):
        out[PHI(model) + r], out[RATE(model) + r], out[GAMMA(model) + r] = work.phi[r], work.rate[r], work.gamma[r]
    jacobian(model, work, view1(out, JACOBIAN(model), nr * model.nv))


@kernel
def inverse_dynamics(model: Arrays, work: Work, t, q, v, x, out):
    """Generalised forces for the accelerations x, at the state as given (drives do not act)."""
    take_held(model, work, x, model.nv)
    for c in range(model.nv):
        work.v[c] = v[c]
        work.acceleration[c] = x[c]
        work.P[c] = 0.0
    for j in range(model.nq):
        work.q[j] = q[j]
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    inverse(model, work, out)
    with_given_accelerations(model, work, out)


@kernel
def residual(model: Arrays, work: Work, t, q, v, x, out):
    """R = M qdd + Phi_q^T lam - P of all columns, then Phi and Phi' of all rows, for x = (theta, qdd, lam) at q moved by
    theta. Of a driven column, R is how far qdd is from what is prescribed; of a row that vanishes, lam."""
    nv, nr = model.nv, model.nr
    a, lam, phi, rate = TRIAL_A(model), TRIAL_LAM(model), BALANCE_PHI(model), BALANCE_RATE(model)
    exponential(model, q, x, work.moved)
    take_held(model, work, x, TRIAL_HELD(model))
    apply_drives(model, work, t, work.moved, v)
    for c in range(nv):
        if is_free(model, c):
            work.acceleration[c] = x[a + c]
        work.P[c] = 0.0
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    if nr > 0:
        for r in range(nr):
            work.lam[r] = x[lam + r]
        evaluate_rows(model, work)
        apply_multipliers(model, work)
    inverse(model, work, out)
    with_given_accelerations(model, work, out)
    for c in range(nv):
        if not is_free(model, c):
            out[c] = x[a + c] - work.acceleration[c]
    for r in range(nr):
        out[phi + r] = work.phi[r] if model.row_place[r] >= 0 else x[lam + r]
        out[rate + r] = work.rate[r] if model.row_place[r] >= 0 else 0.0 * x[lam + r]


@kernel
def mass_matrix(model: Arrays, work: Work, t, q, v, x, out):
    """M, row by row."""
    positions(model, work, q)
    recursive.mass_matrix(model, work)
    nv = model.nv
    for c in range(nv):
        for j in range(nv):
            out[c * nv + j] = work.M[c * nv + j]
