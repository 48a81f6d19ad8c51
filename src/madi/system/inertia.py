"""Degrees of freedom without inertia have no acceleration: they are refused when a model is built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madi.dynamics import articulated, recursive
from madi.dynamics.kinematics import positions, velocities
from madi.equations.motion import apply_drives
from madi.errors import Finding, ModelError
from madi.flexible.nodes import Nodes
from madi.joints.columns import FREE_COLUMN

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.freeze import Frozen

AXIS_ROUNDING = 1e-15  # of the subtree's inertia about the origin: what rounding leaves of none about an axis
NOTHING_LEFT = 1e-13  # of a column's inertia: what rounding leaves of it when all that it moves is free
LIGHT = Finding(
    "mass matrix", "near the start some degree of freedom has (almost) nothing to accelerate",
    "Look for bodies whose mass, or inertia about a joint's axis, is zero or tiny",
)  # fmt: skip


def refuse_singular_mass(model: Model, frozen: Frozen) -> None:
    """A degree of freedom without inertia, at the start, has no acceleration: a point mass turning about itself, say."""
    arrays, work, nv = frozen.layout.arrays, frozen.layout.scratch(), len(frozen.speeds)
    rest = np.zeros(nv)
    with np.errstate(all="ignore"):
        apply_drives(arrays, work, 0.0, frozen.q0, rest)  # without forces: users' functions are not called for this
        positions(arrays, work, work.q)
        velocities(arrays, work, work.q, rest)
        work.Q[:], work.tau[:] = 0.0, 0.0
        articulated.forward(arrays, work)
        left = 1.0 / work.d_inverse[:nv]  # inertia of a column with all others free, against all others held
        held = np.empty(nv)
        recursive.mass_diagonal(arrays, work, held)
        turns = np.array([unit.startswith("rad") for unit in frozen.speed_units], dtype=bool)
        whole = work.K[arrays.column_body]  # what rounding may leave of a zero: by the subtree's inertia about the origin
        noise = AXIS_ROUNDING * np.where(turns, whole[:, 4] + whole[:, 7] + whole[:, 9], 0.0)
        nothing = (arrays.drive == FREE_COLUMN) & ((held <= noise) | (left <= NOTHING_LEFT * held))
    without = [name for name, empty in zip(frozen.speeds, nothing, strict=True) if empty]
    if without:
        raise ModelError(model.name, [_without_inertia(model, name, without) for name in without])


def _without_inertia(model: Model, name: str, all_of_them: list[str]) -> Finding:
    """What to say of a degree of freedom that moves nothing."""
    flexible = {body.name for body in model.bodies if body.flexible is not None}
    for body in model.bodies:
        lacking = body.flexible.lacking() if isinstance(body.flexible, Nodes) else ""
        if lacking:
            cure = "Give masses and inertias that belong to modal_mass, or leave modal_mass out"
            return Finding(f"body {body.name!r}", lacking, cure)
    if any(other.split(".")[0] in flexible for other in all_of_them):
        return Finding(
            f"coordinate {name!r}",
            "it does what another one does: a mode is a rigid motion that the joint does too",
            "Leave out shapes that do not bend the body, or hold it by a joint without this degree of freedom",
        )
    return Finding(f"joint coordinate {name!r}", "nothing with inertia moves with it at the start",
                   "Give the body an inertia, lock the joint, or use a joint that does not have it")  # fmt: skip
