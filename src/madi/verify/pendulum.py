"""The simple pendulum of IFToMM's library (A01): 1 kg at 1 m, from rest at the horizontal.

Closed form: sin(phi/2) = k sn(K - w t, k), k^2 = 1/2, w^2 = g; x = -sin phi, y = -cos phi.
"""

from __future__ import annotations

import numpy as np

from madi.model.model import Model

GRAVITY = 9.81


def model() -> Model:
    """A point mass on a massless bar, in the plane x, y."""
    m = Model("simple pendulum", gravity=(0.0, -GRAVITY, 0.0))
    bob = m.body("bob", 1.0, position=(-1.0, 0.0, 0.0))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 0, 1))
    return m


def position(times: np.ndarray) -> np.ndarray:
    """(x, y) by elliptic functions."""
    from scipy.special import ellipj, ellipk

    sn, *_ = ellipj(ellipk(0.5) - np.sqrt(GRAVITY) * np.asarray(times), 0.5)
    phi = 2 * np.arcsin(np.sqrt(0.5) * sn)
    return np.column_stack([-np.sin(phi), -np.cos(phi)])
