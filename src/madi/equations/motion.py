"""The state as drives prescribe it, and everything an equation of motion starts from."""

from __future__ import annotations

from madi.dynamics.kinematics import positions, velocities
from madi.equations.fields import Arrays, Work
from madi.joints.columns import LOCKED
from madi.kernel import inline, kernel
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
def kinematics_and_forces(model: Arrays, work: Work, t, q, v, tau):
    """Everything an equation of motion starts from: positions, velocities, forces."""
    apply_drives(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, tau)


@inline
def give(values, n, out):
    """Copy the first n of `values` to `out`."""
    for c in range(n):
        out[c] = values[c]
