"""Simeon's slider-crank with an elastic connecting rod (Simeon 1996; problem `crank` of the test set for IVP solvers).

A rigid crank turns at 150 rad/s; the rod, on the chord of its ends, bends by two sines and stretches by the two functions of
a quadratic element; linear elasticity, no damping, no gravity, 0.1 s. Two references:

- CONSISTENT: the published equations with the rod's true axial mass, from an independent derivation and integration (order
  12, 80-bit numbers). The published ones make the rod's sections resist the rod's turning but not its bending; that is below
  3e-10 m here.
- PUBLISHED: the test set's digits at t = 0.1. There the axial block of the mass matrix lacks the factor 1/15 of the
  quadratic element. `published_rod` repeats that in the modal masses (the block's part in the centrifugal terms, below
  3e-9 m, is not repeated).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madi.flexible import Beam, pinned_pinned, rectangle, user
from madi.model.elements import Body
from madi.model.model import Model

CRANK, ROD, WIDTH, E, RHO, SLIDER, SPEED = 0.15, 0.30, 0.008, 0.2e12, 7870.0, 0.075552, 150.0
# q (m) and rates at the start: bending 1, 2, axial at the middle and at the end; then the chord's rate
START = (0.0, 0.0, 0.103339863e-4, 0.169327969e-4)
RATES = (0.444896105, 0.463434311e-2, -0.178591076e-5, -0.268938672e-5)
CHORD = -74.99576703969453
CONSISTENT = (1.893081317490e-4, 2.376201253759e-5, -5.281024788765e-6, -8.303554481955e-6)
PUBLISHED = (1.893192899613509e-4, 2.375751249879174e-5, -5.323896770569702e-6, -8.363313279112129e-6)
PUBLISHED_SLIDER = 0.1697373328427860


def shapes() -> dict[str, Any]:
    """Two sines, and the mid and end functions of a quadratic element."""
    mid = user(lambda x: 4 * (x / ROD) * (1 - x / ROD), ROD, "middle")
    end = user(lambda x: (x / ROD) * (2 * x / ROD - 1), ROD, "end")
    return {"y": pinned_pinned(ROD, 2), "axial": [mid, end]}


def elastic_rod(m: Model) -> Body:
    """The rod as a beam."""
    return m.beam(
        "rod", (CRANK, 0, 0), (CRANK + ROD, 0, 0), rectangle(WIDTH, WIDTH), E, RHO, shapes(), y_axis=(0, 1, 0),
        stiffening=False, rotary=False, q0=START, v0=RATES,
    )  # fmt: skip


def published_rod(m: Model) -> Body:
    """The same as arrays, with the axial modal masses of the test set."""
    beam = Beam("rod", ROD, rectangle(WIDTH, WIDTH), E, RHO, modes=shapes(), stiffening=False, rotary=False)
    field, ends = beam.field, [beam.station(np.array([x, 0.0, 0.0])) for x in (0.0, ROD)]
    nodes = np.vstack([field.points, *(end.position for end in ends)])
    modes = np.concatenate([
        np.concatenate([field.psi, field.theta], axis=2),
        *(np.concatenate([end.psi, end.theta], axis=1)[:, None, :] for end in ends),
    ], axis=1)  # fmt: skip
    mass = field.modal_mass.copy()
    mass[2:, 2:] *= 15.0
    return m.flexible_body(
        "rod", nodes, [*field.masses, 0.0, 0.0], modes, field.stiffness, position=(CRANK, 0, 0), modal_mass=mass, q0=START,
        v0=RATES,
    )  # fmt: skip


def model(rod: Callable[[Model], Body] = elastic_rod) -> Model:
    """Crank and rod in line at the start."""
    m = Model("flexible slider-crank", gravity=(0, 0, 0))
    crank = m.body("crank", 0.36, inertia=(1e-3, 2.727e-3, 2.727e-3), com=(CRANK / 2, 0, 0))
    link = rod(m)
    slider = m.body("slider", SLIDER, inertia=(1e-5, 1e-5, 1e-5), position=(CRANK + ROD, 0, 0))
    m.revolute("crank", m.ground, crank, at=(0, 0, 0), axis=(0, 0, 1))
    # the joint's angle is that of the rod's end section, the chord's and the slopes of the sines there
    slope = float(np.pi / ROD * (RATES[0] + 2 * RATES[1]))
    m.revolute("pin", crank, link, at=(CRANK, 0, 0), axis=(0, 0, 1), q0=0.0, v0=CHORD - SPEED + slope)
    m.prismatic("guide", m.ground, slider, at=(0, 0, 0), axis=(1, 0, 0), q0=START[3], v0=RATES[3])
    m.revolute("gudgeon", link, slider, at=(CRANK + ROD, 0, 0), axis=(0, 0, 1), cut=True)
    m.drive("crank", lambda t: SPEED * t)
    return m


def elastic(run: Any) -> np.ndarray:
    """The four elastic coordinates over time."""
    names = [name for name in map(str, run.data["coordinate"].values) if name.startswith("rod.")]
    return np.stack([run[name] for name in names], axis=1)
