"""A rigid body that carries a rotor of constant momentum h (body axes) relative to it: w x h more in its equations."""

from __future__ import annotations

from madi.bodies import rigid
from madi.bodies.fields import Arrays, Work
from madi.bodies.rigid import (
    accelerate,
    columns,
    eliminate,
    energy,
    follow,
    generalised_force,
    inertia,
    mass_entry,
    momentum,
    move,
    place,
)  # fmt: skip
from madi.kernel import inline, separate
from madi.spatial.vector import NO_VECTOR, cross, join, minus, put, second, six, three, turned

__all__ = ["accelerate", "columns", "eliminate", "energy", "follow", "generalised_force", "inertia", "mass_entry",
           "momentum", "move", "place"]  # fmt: skip


def pack(body, R):
    """Its rotor's momentum in the internal frame."""
    return {"rotor": R @ (body.rotor if body.rotor is not None else (0.0, 0.0, 0.0))}


@inline
def owns(model: Arrays, i):
    """Whether body i carries a rotor."""
    return model.rotor[i, 0] != 0.0 or model.rotor[i, 1] != 0.0 or model.rotor[i, 2] != 0.0


@separate
def take_rotor(model: Arrays, work: Work, i):
    """Q_i less (0, w x h)."""
    h = turned(work.R, i, three(model.rotor, i))
    put(work.Q, i, minus(six(work.Q, i), join(NO_VECTOR, cross(second(six(work.Y, i)), h))))


@inline
def terms(model: Arrays, work: Work, i):
    """See bodies/__init__.py."""
    take_rotor(model, work, i)
    rigid.terms(model, work, i)


@inline
def balance(model: Arrays, work: Work, i):
    """See bodies/__init__.py."""
    take_rotor(model, work, i)
    rigid.balance(model, work, i)


@inline
def transform(model: Arrays, work: Work, i):
    """See bodies/__init__.py."""
    take_rotor(model, work, i)
    rigid.transform(model, work, i)
