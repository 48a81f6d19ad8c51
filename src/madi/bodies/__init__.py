"""The kinds of bodies, behind one contract: what an algorithm in dynamics/ asks of a body, whatever it is.

Of a body i (or of its column c)

    place(q)                pose R, r and the columns B of its joint, in the reference frame, from the pose of its parent
    move(q, v), follow(qdd) Y, and A without what driven columns add; a for the accelerations qdd
    inertia, terms          M^ in the present pose; the same and W = Q^ - M^ A of the body alone
    balance                 W = M^ Ydot - Q^ of the body alone (inverse dynamics)
    columns, mass_entry     U_c = K B_c; entries of M (composite inertias)
    generalised_force       B_c^T W
    eliminate, accelerate   its columns out of the articulated inertia and force; their qdd
    transform               its part of B^T M B and B^T (Q - M Bdot v) (velocity transformation)
    momentum(y, rate)       M^ y + h_c rate_c: momentum for its velocity and the speeds of all columns, or the force that
                            accelerations take
    energy                  its kinetic energy

and, for derivatives (dynamics/slopes.py), by files of their own beside these (rigid_slopes.py, modal_slopes.py),

    momenta                 W = M^ Ydot + Y x* M^ Y, p and N of the body alone
    moved(theta)            D, psi, psi', kappa of its unit motions
    answers                 E, F, G of its columns, those further out being done
    own_entry(c, j)         entries of M, dR/dv, dR/dtheta of two columns of its own joint

Rigid bodies are met in every model: theirs is inlined. What others need is compiled by itself when a model first has one
(`kernel.separate`). A new kind is a file beside these, with `owns(model, i)` and these operations (those it does not change
it takes from rigid.py), and its place in `OTHERS`; for derivatives one more in `SLOPES`, or the trace gives them. If it
has numbers of its own (fields.py), `pack(body, R)` gives them by name for any body as drawn, R from the body's axes to its
internal frame's.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from madi.bodies import modal, modal_slopes, rigid, rigid_slopes
from madi.bodies.fields import Arrays, Work
from madi.bodies.rigid import added_inertia as added_inertia
from madi.kernel import Kernel, inline

OTHERS: tuple[ModuleType, ...] = (modal,)
SLOPES: tuple[ModuleType, ...] = (rigid_slopes, modal_slopes)


def count_others(model: Any, n: int) -> int:
    """How many bodies of these arrays are not rigid."""
    return sum(any(kind.owns(model, i) for kind in OTHERS) for i in range(n))


def without_slopes(model: Any, n: int) -> bool:
    """Whether a body is of a kind that gives no derivatives."""
    known = [kind.owns for kind in SLOPES if hasattr(kind, "owns")]
    others = (i for i in range(n) if any(kind.owns(model, i) for kind in OTHERS))
    return any(not any(owns(model, i) for owns in known) for i in others)


def packed(body: Any, R: np.ndarray) -> dict[str, Any]:
    """The numbers that kinds of bodies keep of a body."""
    return {name: value for kind in OTHERS if hasattr(kind, "pack") for name, value in kind.pack(body, R).items()}


def rung(owns: Kernel, this: Kernel, others: Kernel) -> Kernel:
    """Of a body that `owns` claims what `this` gives, of any other what `others` do."""

    @inline
    def ask(model: Arrays, work: Work, i, *given):
        if owns(model, i):
            return this(model, work, i, *given)
        return others(model, work, i, *given)

    return ask


def operation(name: str, kinds: tuple[ModuleType, ...] = (rigid, *OTHERS)) -> Kernel:
    """The kernel (model, work, i, ...) that does of each kind of body what its file calls `name`."""
    ask: Kernel = getattr(kinds[0], name)
    for kind in reversed(kinds[1:]):
        ask = rung(kind.owns, getattr(kind, name), ask)
    return ask


place, move, follow = operation("place"), operation("move"), operation("follow")
inertia, terms, balance = operation("inertia"), operation("terms"), operation("balance")
columns, transform = operation("columns"), operation("transform")
eliminate, accelerate = operation("eliminate"), operation("accelerate")
momentum, energy = operation("momentum"), operation("energy")
momenta, moved = operation("momenta", SLOPES), operation("moved", SLOPES)
answers, own_entry = operation("answers", SLOPES), operation("own_entry", SLOPES)
_mass_entry, _generalised_force = operation("mass_entry"), operation("generalised_force")


@inline
def mass_entry(model: Arrays, work: Work, c, x):
    """M of column c and the column of unit motion x on its path."""
    return _mass_entry(model, work, model.column_body[c], c, x)


@inline
def generalised_force(model: Arrays, work: Work, c):
    """B^T W of column c."""
    return _generalised_force(model, work, model.column_body[c], c)
