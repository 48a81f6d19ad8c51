"""Brush tire: bristles under a parabolic pressure, sliding from the rear end on. Contact and slip: tire_contact.py.

With F = (C_k k, C_a tan a), its size against three times the friction  z = |F| / (3 mu N)  (at most 1) and the patch's half
length b: bristles in the first part 1 - z of the patch stick, bent along F, and carry  3 z (1 - z)^2 mu N;  those behind
slide against the slip velocity and carry  z^2 (3 - 2 z) mu N.  Together, of one stiffness for both directions, mu N (3 z - 3
z^2 + z^3);  never more than mu N, and at full sliding just that against the slip. Aligning moment = -t F_s with the trail  t
= b/3 (1 - z)^3 / (1 - z + z^2/3)  and the F_s of one stiffness.

Reference: Pacejka, Tire and Vehicle Dynamics (2nd ed. 2006) sec. 3.2, eqs. 3.8-3.14, with the slip of tire_contact.py; with
two stiffnesses an approximation (sliding bristles also move as they unbend: up to 8 degrees near z = 1), exact with one.

docs/references.md: [Pacejka 2006].
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.tire_contact import FRICTION, IN_THE_AIR, PATCH, heading, linear, pack, push, sliding, tire_kind, touch
from madi.kernel import kernel, sqrt, where
from madi.spatial.vector import NO_DIRECTION, dot, scaled

__all__ = ["KIND", "apply", "pack"]
KIND = tire_kind("tire_brush", 14, drawn_as="tire", choice="brush")


@kernel
def apply(model: Arrays, work: Work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, slip = touch(model, work, e)
    f, most = linear(p, s, slip), p[s + FRICTION] * normal
    size, carried = sqrt(dot(f, f) + NO_DIRECTION), most > IN_THE_AIR
    z = size / (3.0 * where(carried, most, 1.0))
    z = where(z < 1.0, z, 1.0)
    rest, share = 1.0 - z, where(carried, most * z * (3.0 - 3.0 * z + z * z), 0.0)
    trail = p[s + PATCH] / 3.0 * rest * rest * rest / (1.0 - z + z * z / 3.0)
    u = heading(f, slip, sliding(z))
    push(model, work, e, normal, scaled(share, u), (0.0, 0.0, -trail * share * f[1] / size))
