"""Tire, linear within a friction circle: P4's, after DADS. Contact and slip: contact.py.

Linear forces F = (C_k slip along, C_a slip across) are shortened by  mu N / sqrt((mu N)^2 + |F|^2):  the slope at no slip
is C, no force leaves the circle mu N, and none jumps, nor at lift-off (the circle shrinks to nothing).

References: P4 (2009) sec. 2.2 and Table 3; slip and friction circle as in Pacejka, Tire and Vehicle Dynamics, ch. 1 and 3.
The smooth shortening is ours.
"""

from __future__ import annotations

from madi.forces.contact import ACROSS, ALONG, FRICTION, PARAMETERS, POSITIVE, pack, push, touch
from madi.forces.kind import ForceKind
from madi.kernel import kernel, sqrt, where

__all__ = ["KIND", "apply", "pack"]
KIND = ForceKind("tire", code=12, parameters=PARAMETERS, value="force of the road's normal", ends=1, positive=POSITIVE)


@kernel
def apply(model, work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, along, across = touch(model, work, e)
    fl, fs = p[s + ALONG] * along, p[s + ACROSS] * across
    circle = p[s + FRICTION] * normal
    square = circle * circle + fl * fl + fs * fs
    nothing = square < 1e-200
    short = where(nothing, 0.0, circle / sqrt(where(nothing, 1.0, square)))
    push(model, work, e, normal, short * fl, short * fs, 0.0, 0.0, 0.0)
