"""Brush tire: bristles under a parabolic pressure, sliding from the rear end on. Contact and slip: contact.py.

With F = (C_k k, C_a tan a), its size against three times the friction  z = |F| / (3 mu N)  and the patch's half length b:
force along F of size  mu N (3 z - 3 z^2 + z^3)  for z < 1,  mu N beyond; aligning moment = -t F_s with the trail
t = b/3 (1 - z)^3 / (1 - z + z^2/3),  none beyond. One circle for both directions.

Reference: Pacejka, Tire and Vehicle Dynamics (2nd ed. 2006) sec. 3.2, eqs. 3.8-3.14, with the slip of contact.py.
"""

from __future__ import annotations

from madi.forces.contact import ACROSS, ALONG, FRICTION, PARAMETERS, PATCH, POSITIVE, pack, push, touch
from madi.forces.kind import ForceKind
from madi.kernel import kernel, sqrt, where

__all__ = ["KIND", "apply", "pack"]
KIND = ForceKind("tire_brush", code=14, parameters=PARAMETERS, value="force of the road's normal", ends=1, positive=POSITIVE)


@kernel
def apply(model, work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, along, across = touch(model, work, e)
    fl, fs = p[s + ALONG] * along, p[s + ACROSS] * across
    size = sqrt(fl * fl + fs * fs + 1e-300)
    most = p[s + FRICTION] * normal
    carried = most > 1e-9
    z = size / (3.0 * where(carried, most, 1.0))
    z = where(z < 1.0, z, 1.0)
    share = where(carried, most * z * (3.0 - 3.0 * z + z * z) / size, 0.0)
    rest = 1.0 - z
    trail = p[s + PATCH] / 3.0 * rest * rest * rest / (1.0 - z + z * z / 3.0)
    push(model, work, e, normal, share * fl, share * fs, 0.0, 0.0, -trail * share * fs)
