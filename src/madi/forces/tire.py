"""Tire, linear within a friction circle: P4's, after DADS. Contact and slip: tire_contact.py.

Linear forces F = (C_k slip along, C_a slip across) are saturated by  mu N / sqrt((mu N)^2 + |F|^2):  the slope at no slip
is C, no force leaves the circle mu N, and none jumps, nor at lift-off (the circle shrinks to nothing). The direction goes
from that of F to that of the slip by the part  |F|^2 / ((mu N)^2 + |F|^2):  a tire that slides is opposed to its sliding.

References: P4 (2009) sec. 2.2 and Table 3; slip and friction circle as in Pacejka, Tire and Vehicle Dynamics, ch. 1 and 3.
The smooth saturation and its direction are ours.

docs/references.md: [P4], [Pacejka 2012].
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.tire_contact import FRICTION, heading, linear, pack, push, tire_kind, touch
from madi.kernel import kernel, sqrt
from madi.spatial.vector import NO_DIRECTION, dot, scaled

__all__ = ["KIND", "apply", "pack"]
KIND = tire_kind("tire", 12, drawn_as="tire", choice="smooth")


@kernel
def apply(model: Arrays, work: Work, e):
    """Contact and slip forces on the wheel."""
    p, s = model.parameter, model.force_at[e]
    normal, slip = touch(model, work, e)
    f, circle = linear(p, s, slip), p[s + FRICTION] * normal
    size = sqrt(dot(f, f) + NO_DIRECTION)
    square = circle * circle + size * size
    u = heading(f, slip, size * size / square)
    push(model, work, e, normal, scaled(size * circle / sqrt(square), u), (0.0, 0.0, 0.0))
