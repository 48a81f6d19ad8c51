"""Spin-up of a cantilever on a turning hub (Kane, Ryan, Banerjee 1987; data of Simo and Vu-Quoc).

L = 10 m, E A = 2.8e7 N, E I = 1.4e4 N m², rho A = 1.2 kg/m; the hub reaches 6 rad/s, more than the beam's first frequency of
3.8 rad/s, in 15 s. Without geometric stiffening the model diverges; with it the tip lags by 0.574 m and comes back.

TIP: deflection in the turning axes by geometrically exact finite elements, of two programs that agree to 2e-7 m (40
elements, shear-rigid, undamped): not from here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from madi.flexible import Section, clamped_free
from madi.kernel import cos, where
from madi.model.model import Model

LENGTH, SPEED, RAMP = 10.0, 6.0, 15.0
TIP = {
    2.5: -0.1512738,
    5.0: -0.4684421,
    6.5: -0.5699059,
    7.5: -0.5590393,
    10.0: -0.3627655,
    12.5: -0.1126810,
    17.5: 0.0036301,
}
LARGEST = -0.5737870


def angle(t: Any) -> Any:
    """Of the hub: its speed grows smoothly."""
    early = SPEED / RAMP * (t * t / 2 + (RAMP / (2 * math.pi)) ** 2 * (cos(2 * math.pi * t / RAMP) - 1))
    return where(t < RAMP, early, SPEED * (t - RAMP / 2))


def model(stiffening: bool = True, modes: int = 3) -> Model:
    """The beam on its hub."""
    m = Model("spin-up", gravity=(0, 0, 0))
    beam = m.beam(
        "beam", (0, 0, 0), (LENGTH, 0, 0), Section(4e-4, 2e-7, 2e-7, 1e-7), 7e10, 3000.0,
        {"y": clamped_free(LENGTH, modes)}, y_axis=(0, 1, 0), stiffening=stiffening,
        rotary=False, points={"tip": LENGTH},
    )  # fmt: skip
    m.revolute("hub", m.ground, beam, at=(0, 0, 0), axis=(0, 0, 1))
    m.drive("hub", angle)
    return m


def tip(run: Any, modes: int = 3) -> np.ndarray:
    """Deflection of the tip in the turning axes, m."""
    return sum(shape(LENGTH) * run[f"beam.y{k}"] for k, shape in enumerate(clamped_free(LENGTH, modes), start=1))
