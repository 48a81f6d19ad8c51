"""N four-bar windows in a row (IFToMM A02): N + 1 vertical rockers, N couplers, all uniform rods of 1 m and 1 kg.

It swings through positions where every rocker is horizontal and the mobility jumps from 1 to N + 1. Closed form: all
windows stay parallelograms, so with th the rockers' turn from the vertical, J = (N + 1)/3 + N and G = (N + 1)/2 + N,

    J th'^2 / 2 + G g cos th = E,      B0 = (sin th, cos th),     th(t) = pi + 2 am(Om t/2 - K)

with E from B0's start at 1 m/s. Definition: González, Dopico, Luaces, Cuadrado: A benchmarking system for MBS simulation
software, Multibody System Dynamics 16 (2006).
"""

from __future__ import annotations

import numpy as np

from madi.model.model import Model

GRAVITY = 9.81


def model(windows: int) -> Model:
    """In the plane x, y, gravity along -y; B0 starts with 1 m/s along x."""
    m = Model(f"{windows} four-bars", gravity=(0.0, -GRAVITY, 0.0))
    across, along = (1 / 12, 1e-4, 1 / 12), (1e-4, 1 / 12, 1 / 12)
    z = (0.0, 0.0, 1.0)
    rockers = [m.body(f"rocker{i}", 1.0, inertia=across, position=(i, 0.5, 0.0)) for i in range(windows + 1)]
    couplers = [m.body(f"coupler{i}", 1.0, inertia=along, position=(i + 0.5, 1.0, 0.0)) for i in range(windows)]
    for i, rocker in enumerate(rockers):
        m.revolute(f"A{i}", m.ground, rocker, at=(i, 0, 0), axis=z, v0=-1.0 if i == 0 else None)
    for i, coupler in enumerate(couplers):
        m.revolute(f"B{i}", rockers[i], coupler, at=(i, 1, 0), axis=z)
        m.revolute(f"C{i}", coupler, rockers[i + 1], at=(i + 1, 1, 0), axis=z)
    return m


def energy(windows: int) -> float:
    """Total energy, J: of the start."""
    return inertia(windows) / 2 + moment(windows) * GRAVITY


def inertia(windows: int) -> float:
    """J in the closed form."""
    return (windows + 1) / 3 + windows


def moment(windows: int) -> float:
    """G in the closed form."""
    return (windows + 1) / 2 + windows


def corner(windows: int, times: np.ndarray) -> np.ndarray:
    """(x, y) of B0 by the closed form."""
    from scipy.special import ellipj, ellipk

    J, G = inertia(windows), moment(windows)
    lowest = np.sqrt(1.0 + 4 * G * GRAVITY / J)  # th' at the bottom, th = pi: J th'^2/2 = J/2 + 2 G g
    m = 4 * G * GRAVITY / (J * lowest**2)
    *_, am = ellipj(lowest * np.asarray(times) / 2 - ellipk(m), m)
    th = np.pi + 2 * am
    return np.column_stack([np.sin(th), np.cos(th)])
