"""The state as drives prescribe it, and everything an equation of motion starts from."""

from __future__ import annotations

from madi.dynamics.kinematics import positions, velocities
from madi.equations.fields import Arrays, Work
from madi.forces.modes import HELD, HOLDS
from madi.joints.columns import LOCKED
from madi.kernel import inline, kernel, where
from madi.signals.tape import apply_forces, drive_signals


@kernel
def apply_drives(model: Arrays, work: Work, t, q, v):
    """work.q, work.v: the state, driven coordinates, rates and accelerations as prescribed at time t."""
    for j in range(model.nq):
        work.q[j] = q[j]
    for c in range(model.nv):
        work.v[c] = v[c]
        work.acceleration[c] = 0.0
        if model.drive[c] == LOCKED:
            work.v[c] = 0.0
    drive_signals(model, work, t, q, v)
    for c in range(model.nv):
        s = model.drive[c]
        if s >= 0:
            work.q[model.column_q[c]] = work.signal[s]
            work.v[c] = work.signal[s + 1]
            work.acceleration[c] = work.signal[s + 2]


@kernel
def hold_columns(model: Arrays, work: Work, x, at):
    """See take_held."""
    for c in range(model.nv):
        work.hold[c] = 0.0
    for k in range(model.n_held):
        work.held[k] = x[at + k]
        c = model.held_column[k]
        if c >= 0:
            work.hold[c] = work.hold[c] + where(x[at + k] >= HOLDS, HELD, 0.0)


@inline
def take_held(model: Arrays, work: Work, x, at):
    """The held values, which begin at x[at], and the columns that are held."""
    if model.n_held > 0:
        hold_columns(model, work, x, at)


@kernel
def kinematics_and_forces(model: Arrays, work: Work, t, q, v, tau):
    """Everything an equation of motion starts from: positions, velocities, forces. Held values follow tau."""
    take_held(model, work, tau, model.nv)
    apply_drives(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, tau)


@inline
def give(values, n, out):
    """Copy the first n of `values` to `out`."""
    for c in range(n):
        out[c] = values[c]
