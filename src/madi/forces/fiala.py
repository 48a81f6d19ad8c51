"""Fiala's tire: a beam on an elastic foundation that slides from its rear end on. Contact and slip: contact.py.

With the whole slip S = |(k, tan a)|, at most 1, friction falls from mu to mu_s:  U = mu - (mu - mu_s) S. With the load N:
along, up to k* = U N / (2 C_k):  F = C_k k,  beyond:  U N - (U N)^2 / (4 C_k k);
across, up to tan a* = 3 U N / C_a:  H = 1 - C_a tan a / (3 U N),  F = U N (1 - H^3),  beyond:  U N;
aligning moment  M = -U N b (1 - H) H^3,  b the width of the patch, beyond: none.
All are continuous, with their slopes along k, and vanish with the load. Along and across do not share one circle.

References: E. Fiala, VDI-Zeitschrift 96 (1954) 973; in this form, with falling friction and longitudinal slip, the tire of
that name in multibody codes (MSC Adams/Tire manual, Fiala model).
"""

from __future__ import annotations

from madi.forces.contact import ACROSS, ALONG, FRICTION, PARAMETERS, PATCH, POSITIVE, SLIDING, pack, push, touch
from madi.forces.kind import ForceKind
from madi.kernel import copysign, fabs, kernel, sqrt, where

__all__ = ["KIND", "apply", "pack"]
KIND = ForceKind("tire_fiala", code=13, parameters=PARAMETERS, value="force of the road's normal", ends=1, positive=POSITIVE)


@kernel
def apply(model, work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, along, across = touch(model, work, e)
    square = along * along + across * across
    slip = sqrt(where(square < 1.0, square + 1e-300, 1.0))
    limit = (p[s + FRICTION] - (p[s + FRICTION] - p[s + SLIDING]) * slip) * normal
    carried = limit > 1e-9
    safe = where(carried, limit, 1.0)
    stiff, size = p[s + ALONG], fabs(along)
    sticking = 2.0 * stiff * size < safe
    grip = where(sticking, stiff * size, safe - safe * safe / (4.0 * where(sticking, 1.0, stiff * size)))
    fl = where(carried, copysign(grip, along), 0.0)
    rest = 1.0 - p[s + ACROSS] * fabs(across) / (3.0 * safe)
    rest = where(rest > 0.0, rest, 0.0)
    cube = rest * rest * rest
    fs = where(carried, copysign(safe * (1.0 - cube), across), 0.0)
    mz = where(carried, copysign(safe * p[s + PATCH] * (1.0 - rest) * cube, across), 0.0)
    push(model, work, e, normal, fl, fs, 0.0, 0.0, -mz)
