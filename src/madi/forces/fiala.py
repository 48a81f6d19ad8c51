"""Fiala's tire: a beam on an elastic foundation that slides from its rear end on. Contact and slip: contact.py.

With the whole slip S = |(k, tan a)|, at most 1, friction falls from mu to mu_s:  U = mu - (mu - mu_s) S. With the load N:
along, up to k* = U N / (2 C_k):  F = C_k k,  beyond:  U N - (U N)^2 / (4 C_k k);
across, up to tan a* = 3 U N / C_a:  H = 1 - C_a tan a / (3 U N),  F = U N (1 - H^3),  beyond:  U N;
aligning moment  M = -U N b (1 - H) H^3,  b half the length of the patch, beyond: none.
All are continuous, with their slopes along k, and vanish with the load.
Both slips at once, by similarity: both curves are taken at  |(C_k k, C_a tan a)|  and multiplied by the parts of a unit
vector, which turns from that direction to that of the slip as a brush's force does. The circle U N is never left.

References: E. Fiala, VDI-Zeitschrift 96 (1954) 973; pure slip in this form, with falling friction and longitudinal slip, the
tire of that name in multibody codes (MSC Adams/Tire manual, Fiala model), which lets both forces act at once without a
common circle; similarity: Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012) sec. 4.2.

docs/references.md: [Fiala 1954], [Pacejka 2012].
"""

from __future__ import annotations

from madi.forces.contact import (
    ACROSS,
    ALONG,
    FRICTION,
    PARAMETERS,
    PATCH,
    POSITIVE,
    SLIDING,
    heading,
    pack,
    push,
    sliding,
    touch,
)
from madi.forces.kind import ForceKind
from madi.kernel import kernel, sqrt, where

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
    fl, fs = p[s + ALONG] * along, p[s + ACROSS] * across
    size = sqrt(fl * fl + fs * fs + 1e-200)
    z = size / (3.0 * safe)
    z = where(z < 1.0, z, 1.0)
    x, y = heading(fl, fs, along, across, sliding(z))
    sticking = 2.0 * size < safe
    grip = where(sticking, size, safe - safe * safe / (4.0 * where(sticking, 1.0, size)))
    rest = 1.0 - z
    cube = rest * rest * rest
    load = where(carried, 1.0, 0.0)
    push(
        model, work, e, normal, load * grip * x, load * safe * (1.0 - cube) * y, 0.0, 0.0,
        -load * safe * p[s + PATCH] * z * cube * y,
    )  # fmt: skip
