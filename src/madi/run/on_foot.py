"""What the compiled loop of a batch needs to close open loops on foot (integrate/batch.py), and whether it may.

It may where what is given leaves nothing else to choose: with the given coordinates held the constraints determine all the
others, so that it comes where Python would. Drives move while one walks: they are left to Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from madi.assembly.redundancy import scales
from madi.assembly.rows import Sparse
from madi.errors import MadiError
from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN
from madi.run.start import refuse_standstill
from madi.run.starts import Starts
from madi.system import System
from madi.topology.parameters import reals_of

HEAVY = 1e12  # times its own mass: a column that closing does not move
FOLLOWS = 1e-6  # smallest singular value, against the largest, of columns that surely follow


@dataclass(frozen=True)
class OnFoot:
    """Columns that are held while positions are closed, and kept while speeds are, with what the loop is told of them."""

    held: np.ndarray
    kept: np.ndarray
    q_at: np.ndarray  # where the held coordinates are in q
    sizes: np.ndarray  # typical ones of all columns
    weights: np.ndarray  # of all columns
    armature: int  # where the armatures are among the model's numbers
    drawn: np.ndarray
    speeds_follow: bool

    def put(self, batch: Any, valid: int) -> None:
        """Into the loop's memory; `valid`: where the scratch says that its matrix is."""
        batch.held[:], batch.kept[:], batch.drawn[:] = self.q_at, self.kept, self.drawn
        batch.held_mass[:], batch.kept_mass[:] = self.armature + self.held, self.armature + self.kept
        batch.held_weight[:], batch.kept_weight[:] = self.weights[self.held], self.weights[self.kept]
        batch.held_size[:] = self.sizes[self.held]
        batch.speeds_follow, batch.valid = int(self.speeds_follow), valid


def on_foot(system: System, starts: Starts) -> OnFoot | None:
    """Of a system as drawn, and how the runs start; None: Python closes their loops."""
    model = system.layout.arrays
    named = starts.named
    if named is None or np.any(model.drive != FREE_COLUMN) or np.any(model.row_signal >= 0):
        return None
    for name, joint in ((joint.name, joint) for joint in system.frozen.joints):
        own = system.q_slice(name)
        given = system.frozen.given_q[own].any() or any(word in named["q0"] for word in system.coordinates[own])
        if given and KINDS[joint.kind].quaternion is not None:
            return None
    if not {*named["q0"]} <= {*system.coordinates} or not {*named["v0"]} <= {*system.speeds}:
        return None
    held = system._column_flags(system.frozen.given_q | np.isin(system.coordinates, named["q0"]))
    kept = system.frozen.given_v | np.isin(system.speeds, named["v0"])
    try:
        start = system.start
    except MadiError:
        return None
    refuse_standstill(system, start.q)
    J = system.constraint_rows.at(0.0, start.q)[2].scaled(*scales(system))
    if start.released or not _follow(J, system, ~held):
        return None
    columns, masses = np.flatnonzero(held), np.diag(system.mass_matrix(start.q))
    return OnFoot(
        held=columns, kept=np.flatnonzero(kept), q_at=np.asarray(model.column_q)[columns], sizes=scales(system)[1],
        weights=HEAVY * masses, armature=reals_of(system.layout, "armature").start, drawn=system.q0,
        speeds_follow=_follow(J, system, ~kept),
    )  # fmt: skip


def _follow(J: Sparse, system: System, others: np.ndarray) -> bool:
    """Whether the constraints determine these columns (flags) from the rest; first-order states are no motion."""
    others = others.copy()
    others[len(others) - len(system.states) :] = False
    count = int(others.sum())
    if not count:
        return False
    s = J.part(None, others).singular_values()
    return len(s) >= count and bool(s[count - 1] > FOLLOWS * s[0])
