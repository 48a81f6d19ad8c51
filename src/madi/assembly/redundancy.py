"""How many degrees of freedom a mechanism has, which constraints are redundant, and what they leave undetermined.

The rank of Phi_q is found from its singular values, rows and columns first made dimensionless by a typical length of the
mechanism, so that metres or millimetres, slides or turns do not matter. Redundant rows are picked by pivoted QR of the
rows: those that add nothing to the ones before them. A left null vector n (n^T Phi_q = 0) is a set of multipliers that
moves nothing: joint loads that n changes are not determined by the mechanics of rigid bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.joints.columns import FREE_COLUMN
from madi.kernel import LEAST_SIZE

if TYPE_CHECKING:
    from madi.system import System

DEPENDENT = 1e-9  # singular value, against the largest, below which rows add nothing
ALL_ZERO = 1e-12  # largest singular value of rows, scaled to 1, that all vanish


@dataclass(frozen=True)
class Mobility:
    """Freedoms of a mechanism at one configuration."""

    gruebler: int  # columns less rows: what counting says
    degrees_of_freedom: int  # columns less rank: what is true here; drives and locks count as taken
    rank: int
    redundant: tuple[str, ...]  # rows that add nothing, by name
    null: np.ndarray  # [rows, redundancies] multipliers of self-equilibrated constraint forces
    smallest: float  # smallest singular value that counts, against the largest

    def __getattr__(self, name: str) -> Any:
        if name == "freedoms":
            raise InputError("mobility: 'freedoms' is called 'degrees_of_freedom' now")
        raise AttributeError(name)

    def __str__(self) -> str:
        text = f"{self.degrees_of_freedom} degree(s) of freedom (Grübler counts {self.gruebler}), "
        text += f"{len(self.redundant)} redundant constraint(s)"
        return text + (": " + "; ".join(self.redundant) if self.redundant else "")


def length_of(system: System) -> float:
    """A typical length: the median distance between joints."""
    model = system.layout.arrays
    lengths = np.concatenate([np.linalg.norm(model.d[1:], axis=1), np.linalg.norm(model.pair_d, axis=1)])
    lengths = lengths[lengths > 0]
    return float(np.median(lengths)) if len(lengths) else 1.0


def scales(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Factors for rows and columns that make Phi_q dimensionless."""
    length = length_of(system)
    rows = np.array([1.0 / length if row.unit == "m" else 1.0 for row in system.frozen.rows])
    units = system.frozen.speed_units
    columns = np.array([length if unit.startswith("m") else 1.0 for unit in units])
    return rows, columns


def mobility(system: System, jacobian: np.ndarray) -> Mobility:
    ""
    ""
    """Rank, redundancy, degrees of freedom for Phi_q at one configuration (all columns; driven ones are left out)."""
    from scipy.linalg import qr

    rows, columns = scales(system)
    free = system.layout.arrays.drive == FREE_COLUMN
    free[len(free) - len(system.states) :] = False  # first-order states are no degrees of freedom
    J = (rows[:, None] * jacobian * columns)[:, free]
    if not J.size:
        names = tuple(row.name for row in system.frozen.rows)
        return Mobility(int(free.sum()) - len(J), int(free.sum()), 0, names, np.eye(len(J)), 1.0)
    left, s, _ = np.linalg.svd(J, full_matrices=True)
    rank = int(np.sum(s > DEPENDENT * max(s[0], LEAST_SIZE))) if s[0] > ALL_ZERO else 0
    *_, order = qr(J.T, mode="economic", pivoting=True)
    redundant = tuple(system.frozen.rows[r].name for r in sorted(order[rank:]))
    null = rows[:, None] * left[:, rank:]
    return Mobility(
        int(free.sum()) - len(J), int(free.sum()) - rank, rank, redundant, null, float(s[rank - 1] / s[0]) if rank else 1.0
    )


def dependent_drives(system: System, jacobian: np.ndarray) -> list[str]:
    """Driven or locked coordinates that the loops tie together: they cannot all be prescribed."""
    rows, columns = scales(system)
    drive = system.layout.arrays.drive
    J = rows[:, None] * jacobian * columns
    taken = np.flatnonzero(drive != FREE_COLUMN)
    if not J.size:
        return []
    measured = np.array([bool(row.driven) for row in system.frozen.rows])

    def rank(of: Any, rows: Any = slice(None)) -> int:
        part = J[rows][:, of]
        if not part.size:
            return 0
        s = np.linalg.svd(part, compute_uv=False)
        return int(np.sum(s > DEPENDENT * max(s[0], ALL_ZERO)))

    free = list(np.flatnonzero(drive == FREE_COLUMN))
    # drives of cut joints are rows: each must add to the rank of the others
    base = rank(free)
    loose = rank(free, ~measured)
    tied = [row.driven for row in system.frozen.rows if row.driven] if base - loose < int(measured.sum()) else []
    if rank(range(len(drive))) > base:  # driven columns whose release gives the rows something to work with
        tied += [system.speeds[c] for c in taken if rank([*free, c]) > base]
    return tied
