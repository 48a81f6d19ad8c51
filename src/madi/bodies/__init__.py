"""The kinds of bodies, behind one contract: what an algorithm in dynamics/ asks of a body, whatever it is.

Of a body i (or of its column c)

    place, move, follow     its pose and columns; its velocity, and its acceleration for qdd = 0; what qdd adds to that
    inertia, terms          M^ in the present pose; W = Q^ - M^ A of the body alone
    balance                 W = M^ Ydot - Q^ of the body alone (inverse dynamics)
    columns, mass_entry     U_c = K B_c; entries of M (composite inertias)
    generalised_force       B_c^T W
    eliminate, accelerate   its columns out of the articulated inertia; their qdd
    transform               its part of B^T M B (velocity transformation)
    momentum, energy        M^ Y with the momentum of modes; kinetic energy

Rigid bodies are met in every model: theirs is inlined. Other kinds are compiled by themselves when a model first has one
(kernel.separate). A new kind is a file beside these with `owns(model, i)` and these operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from madi.bodies import modal, rigid
from madi.joints.place import place as place_joint
from madi.kernel import call_separate, inline, separate
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import dot, six


def operation(of_rigid: Callable[..., Any], of_modal: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel (model, work, i) that does the one or the other."""
    number = separate(of_modal)

    @inline
    def operate(model, work, i):
        if modal.owns(model, i):
            call_separate(model.separate[number], number, model, work, i)
        else:
            of_rigid(model, work, i)

    return operate


terms = operation(rigid.terms, modal.terms)
balance = operation(rigid.balance, modal.balance)
columns = operation(rigid.columns, modal.columns)
eliminate = operation(rigid.eliminate, modal.eliminate)
accelerate = operation(rigid.accelerate, modal.accelerate)
transform = operation(rigid.transform, modal.transform)
PLACE, MOVE, ENERGY = separate(modal.place), separate(modal.move), separate(modal.energy)


@inline
def place(model, work, i, q):
    """Pose of body i and the columns of its joint, in the reference frame, from the pose of its parent; of a flexible body
    its inertia too, which changes with the coordinates."""
    if modal.owns(model, i):
        modal.take_coordinates(model, work, i, q)
        call_separate(model.separate[PLACE], PLACE, model, work, i)
    else:
        place_joint(model, work, i, q)


@inline
def move(model, work, i, q, v):
    """Y of body i, and A without what driven columns add."""
    if modal.owns(model, i):
        modal.take_rates(model, work, i, v)
        call_separate(model.separate[MOVE], MOVE, model, work, i)
    else:
        rigid.move(model, work, i, q, v)


@inline
def follow(model, work, i, qdd):
    """work.a of body i for the accelerations qdd."""
    rigid.follow(model, work, i, qdd)
    if modal.owns(model, i) and modal.is_point(model, i):
        modal.follow_modes(model, work, i, qdd)


@inline
def inertia(model, work, i):
    """M^ of body i alone into work.inertia; that of a flexible body is there since `place`."""
    if model.modal[i] < 0:
        rigid.inertia(model, work, i)


@inline
def mass_entry(model, work, c, x):
    """M of column c and the column of blade x on its path."""
    if model.modal[model.column_body[c]] >= 0:
        return modal.mass_entry(model, work, c, x)
    return rigid.mass_entry(work, c, x)


@inline
def generalised_force(model, work, c):
    """B^T W of column c."""
    i = model.column_body[c]
    if model.modal[i] >= 0:
        return modal.generalised_force(model, work, c)
    return dot(six(work.B, c), six(work.W, i))


@inline
def momentum(model, work, i, y, rate):
    """M^ y + h_c rate_c: momentum of body i (y, rate: its velocity and the speeds of all columns), or the force that
    accelerations take."""
    L = momentum_of(work.inertia, i, y)
    if model.modal[i] >= 0:
        L = modal.add_momentum(model, work, i, rate, L)
    return L


@inline
def energy(model, work, i):
    """Kinetic energy of body i."""
    y = six(work.Y, i)
    total = 0.5 * dot(momentum_of(work.inertia, i, y), y)
    if model.modal[i] >= 0:
        call_separate(model.separate[ENERGY], ENERGY, model, work, i)
        total = total + work.own[model.v_at[i]]
    return total
