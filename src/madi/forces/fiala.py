"""Fiala's tire: a beam on an elastic foundation that slides from its rear end on. Contact and slip: tire_contact.py.

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

from madi.forces.fields import Arrays, Work
from madi.forces.tire_contact import (
    FRICTION,
    IN_THE_AIR,
    PATCH,
    SLIDING,
    heading,
    linear,
    pack,
    push,
    sliding,
    tire_kind,
    touch,
)
from madi.kernel import LEAST_SIZE, kernel, sqrt, where
from madi.spatial.vector import NO_DIRECTION, dot

__all__ = ["KIND", "apply", "pack"]
KIND = tire_kind("tire_fiala", 13, drawn_as="tire", choice="fiala")


@kernel
def apply(model: Arrays, work: Work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, slip = touch(model, work, e)
    square = dot(slip, slip)
    size = sqrt(where(square < 1.0, square + LEAST_SIZE, 1.0))
    limit = (p[s + FRICTION] - (p[s + FRICTION] - p[s + SLIDING]) * size) * normal
    carried = limit > IN_THE_AIR
    most = where(carried, limit, 1.0)
    f = linear(p, s, slip)
    size = sqrt(dot(f, f) + NO_DIRECTION)
    z = size / (3.0 * most)
    z = where(z < 1.0, z, 1.0)
    x, y = heading(f, slip, sliding(z))
    sticking = 2.0 * size < most
    grip = where(sticking, size, most - most * most / (4.0 * where(sticking, 1.0, size)))
    rest = 1.0 - z
    cube = rest * rest * rest
    load = where(carried, 1.0, 0.0)
    force = (load * grip * x, load * most * (1.0 - cube) * y)
    push(model, work, e, normal, force, (0.0, 0.0, -load * most * p[s + PATCH] * z * cube * y))
