"""Energies and momentum of the whole system."""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.points import to_ground
from madi.kernel import kernel
from madi.spatial.vector import NO_MOTION, at, cross, dot, first, join, plus, plus_scaled, put_at, second, six, three


@kernel
def inertias(model: Arrays, work: Work):
    """Of every body alone, in its present pose: what the sums below are made of."""
    for i in range(1, model.n):
        bodies.inertia(model, work, i)


@kernel
def kinetic(model: Arrays, work: Work):
    """1/2 sum Y^T M^ Y, and what modes and rotors add."""
    total = 0.0
    for i in range(1, model.n):
        total = total + bodies.energy(model, work, i)
    for c in range(model.v_at[0]):  # behind them are first-order states: no energy
        total = total + 0.5 * model.armature[c] * work.v[c] * work.v[c]
    return total


@kernel
def gravity_potential(model: Arrays, work: Work):
    """- sum m g . c, zero at the ground's origin; m c is the inertia's first moment."""
    g, K = at(model.gravity, 0), work.inertia
    total = 0.0
    for i in range(1, model.n):
        f, h = model.frame[i], (K[i, 1], K[i, 2], K[i, 3])
        total = total - dot(g, plus_scaled(to_ground(work, f, h), K[i, 0], three(work.frame_r, f)))
    return total


@kernel
def momentum(model: Arrays, work: Work, out, k):
    """Linear momentum and angular momentum about the ground's origin, ground axes, into out[k:k+6]."""
    total = NO_MOTION
    for i in range(1, model.n):
        f, L = model.frame[i], bodies.momentum(model, work, i, six(work.Y, i), work.v)
        p, spin = to_ground(work, f, first(L)), to_ground(work, f, second(L))
        total = plus(total, join(p, plus(spin, cross(three(work.frame_r, f), p))))
    put_at(out, k, total)
