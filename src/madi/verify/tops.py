"""Tops with closed forms: the free symmetric top, and the heavy one in steady precession.

Free: w_x + i w_y turns in the body with the rate (I3 - I1)/I1 w3. Heavy, tilted by th, spin s about its axis, mass m, its
centre at l: steady precession p solves  I1 p^2 cos th - I3 (s + p cos th) p + m g l = 0,  I1 about the fixed point; the
centre then goes round the vertical with p for ever.
"""

from __future__ import annotations

import numpy as np

from madi.model.model import Model

ACROSS, ALONG, SPIN = 0.4, 0.7, 9.0
WOBBLE = (0.8, -0.3)
MASS, LENGTH, TILT, GRAVITY, FAST = 1.5, 0.6, 0.7, 9.81, 60.0


def free() -> Model:
    """No gravity, a free joint."""
    m = Model("free top", gravity=(0.0, 0.0, 0.0))
    top = m.body("top", 1.0, inertia=(ACROSS, ACROSS, ALONG))
    m.free("top", m.ground, top, v0=(0, 0, 0, *WOBBLE, SPIN))
    return m


def free_spin(times: np.ndarray) -> np.ndarray:
    """(w_x, w_y) in body axes."""
    w = complex(*WOBBLE) * np.exp(1j * (ALONG - ACROSS) / ACROSS * SPIN * np.asarray(times))
    return np.column_stack([w.real, w.imag])


def precession() -> float:
    """The slow steady precession."""
    about = ACROSS + MASS * LENGTH**2
    a, b, c = (about - ALONG) * np.cos(TILT), -ALONG * FAST, MASS * GRAVITY * LENGTH
    roots = np.roots([a, b, c])
    return float(roots[np.argmin(np.abs(roots))].real)


def heavy() -> Model:
    """On a ball joint at the origin, drawn upright, started tilted in steady precession."""
    m = Model("heavy top", gravity=(0.0, 0.0, -GRAVITY))
    top = m.body("top", MASS, inertia=(ACROSS, ACROSS, ALONG), position=(0, 0, LENGTH))
    p = precession()
    # tilt about y; in body axes: spin along z, and the precession about the vertical
    v0 = np.array([-p * np.sin(TILT), 0.0, FAST + p * np.cos(TILT)])
    m.spherical("tip", m.ground, top, at=(0, 0, 0), q0=(np.cos(TILT / 2), 0, np.sin(TILT / 2), 0), v0=v0)
    return m


def heavy_centre(times: np.ndarray) -> np.ndarray:
    """The centre of mass: round the vertical with the precession."""
    angle = precession() * np.asarray(times)
    r = LENGTH * np.sin(TILT)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(len(angle), LENGTH * np.cos(TILT))])
