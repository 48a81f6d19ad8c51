"""Energies and momentum of the whole system."""

from __future__ import annotations

from madi.dynamics.kinematics import to_ground
from madi.dynamics.modal import add_momentum
from madi.kernel import ENERGY, call_seldom, kernel
from madi.spatial.algebra import body_inertia, inertia_times


@kernel
def inertias(model, work):
    """Of every body alone, in its present pose: what the sums below are made of."""
    for i in range(1, model.n):
        body_inertia(model, work, i)


@kernel
def kinetic(model, work):
    """1/2 sum Y^T M^ Y, and what modes and rotors add."""
    Y = work.Y
    total = 0.0
    for i in range(1, model.n):
        y0, y1, y2 = Y[i, 0], Y[i, 1], Y[i, 2]
        y3, y4, y5 = Y[i, 3], Y[i, 4], Y[i, 5]
        p0, p1, p2, p3, p4, p5 = inertia_times(work.inertia, i, y0, y1, y2, y3, y4, y5)
        total = total + 0.5 * (p0 * y0 + p1 * y1 + p2 * y2 + p3 * y3 + p4 * y4 + p5 * y5)
        if model.modal[i] >= 0:
            call_seldom(model.seldom[ENERGY], ENERGY, model, work, i)
            total = total + work.own[model.v_at[i]]
    for c in range(model.v_at[0]):  # behind them are first-order states: no energy
        total = total + 0.5 * model.armature[c] * work.v[c] * work.v[c]
    return total


@kernel
def gravity_potential(model, work):
    """- sum m g . c, zero at the ground's origin; m c is the inertia's first moment."""
    g, K = model.gravity, work.inertia
    total = 0.0
    for i in range(1, model.n):
        f = model.frame[i]
        x, y, z = to_ground(work, f, K[i, 1], K[i, 2], K[i, 3])
        r0, r1, r2 = work.frame_r[f, 0], work.frame_r[f, 1], work.frame_r[f, 2]
        total = total - (g[0] * (x + K[i, 0] * r0) + g[1] * (y + K[i, 0] * r1) + g[2] * (z + K[i, 0] * r2))
    return total


@kernel
def momentum(model, work, out, at):
    """Linear momentum and angular momentum about the ground's origin, ground axes, into out[at:at+6]."""
    Y, L = work.Y, work.W
    for j in range(6):
        out[at + j] = 0.0
    for i in range(1, model.n):
        f = model.frame[i]
        p0, p1, p2, p3, p4, p5 = inertia_times(work.inertia, i, Y[i, 0], Y[i, 1], Y[i, 2], Y[i, 3], Y[i, 4], Y[i, 5])
        L[i, 0], L[i, 1], L[i, 2] = p0, p1, p2
        L[i, 3], L[i, 4], L[i, 5] = p3, p4, p5
        if model.modal[i] >= 0:
            add_momentum(model, work, i, work.v, L, i)
        p0, p1, p2 = to_ground(work, f, L[i, 0], L[i, 1], L[i, 2])
        p3, p4, p5 = to_ground(work, f, L[i, 3], L[i, 4], L[i, 5])
        x, y, z = work.frame_r[f, 0], work.frame_r[f, 1], work.frame_r[f, 2]
        out[at], out[at + 1], out[at + 2] = out[at] + p0, out[at + 1] + p1, out[at + 2] + p2
        out[at + 3] = out[at + 3] + p3 + (y * p2 - z * p1)
        out[at + 4] = out[at + 4] + p4 + (z * p0 - x * p2)
        out[at + 5] = out[at + 5] + p5 + (x * p1 - y * p0)
