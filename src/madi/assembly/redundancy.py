"""How many degrees of freedom a mechanism has, which constraints are redundant, and what they leave undetermined.

The rank of Phi_q is found from its singular values, rows and columns first made dimensionless by a typical length of the
mechanism, so that metres or millimetres, slides or turns do not matter; block by block (rows.py). Redundant rows are
picked by pivoted QR of the rows (in large blocks by elimination, certain.py): those that add nothing to the ones before
them. A left null vector n (n^T Phi_q = 0) is a set of multipliers that moves nothing: joint loads that n changes are not
determined by the mechanics of rigid bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from madi.assembly.certain import Certain
from madi.assembly.rows import Block, Sparse
from madi.errors import InputError
from madi.joints.columns import FREE_COLUMN
from madi.kernel import LEAST_SIZE
from madi.kernel.cores import one_core

if TYPE_CHECKING:
    from madi.system import System

DEPENDENT = 1e-9  # singular value, against the largest, below which rows add nothing
ALL_ZERO = 1e-12  # largest singular value of rows, scaled to 1, that all vanish


class Self(NamedTuple):
    """Multipliers of some rows that move nothing: vectors side by side, or what gives one at a time."""

    rows: np.ndarray
    scales: np.ndarray  # of the rows
    number: int
    known: np.ndarray | Certain

    def mixed(self, weights: np.ndarray) -> np.ndarray:
        """A sum of them."""
        known = self.known
        return self.scales * (known.balanced(weights) if isinstance(known, Certain) else known @ weights)

    @property
    def vectors(self) -> np.ndarray:
        """All of them."""
        return np.array([self.mixed(one) for one in np.eye(self.number)]).T


@dataclass(frozen=True)
class Mobility:
    """Freedoms of a mechanism at one configuration."""

    gruebler: int  # columns less rows: what counting says
    degrees_of_freedom: int  # columns less rank: what is true here; drives and locks count as taken
    rank: int
    redundant: tuple[str, ...]  # rows that add nothing, by name
    smallest: float  # smallest singular value that counts, against the largest
    balanced: tuple[Self, ...] = ()  # self-equilibrated constraint forces, block by block (rows.py)
    rows: int = 0

    def __getattr__(self, name: str) -> Any:
        if name == "freedoms":
            raise InputError("mobility: 'freedoms' is called 'degrees_of_freedom' now")
        raise AttributeError(name)

    def __str__(self) -> str:
        text = f"{self.degrees_of_freedom} degree(s) of freedom (Grübler counts {self.gruebler}), "
        text += f"{len(self.redundant)} redundant constraint(s)"
        return text + (": " + "; ".join(self.redundant) if self.redundant else "")

    @cached_property
    def null(self) -> np.ndarray:
        """[rows, redundancies] multipliers of self-equilibrated constraint forces."""
        found, at = np.zeros((self.rows, len(self.redundant))), 0
        for own in self.balanced:
            found[own.rows, at : at + own.number] = own.vectors
            at += own.number
        return found

    def any_null(self, rng: np.random.Generator) -> np.ndarray:
        """Multipliers of self-equilibrated constraint forces, all of them mixed at random."""
        found = np.zeros(self.rows)
        for own in self.balanced:
            found[own.rows] += own.mixed(rng.uniform(-1.0, 1.0, own.number))
        return found

    def _repr_html_(self) -> str:
        from madi.show.html import remark

        return remark(str(self))


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


def mobility(system: System, jacobian: Sparse) -> Mobility:
    """Rank, redundancy, degrees of freedom for Phi_q at one configuration (all columns; driven ones are left out)."""
    rows, columns = scales(system)
    free = system.layout.arrays.drive == FREE_COLUMN
    free[len(free) - len(system.states) :] = False  # first-order states are no degrees of freedom
    J, count = jacobian.scaled(rows, columns).part(None, free), int(free.sum())
    values = [block.singular_values() for block in J.blocks]
    largest = max((float(s[0]) for s in values if len(s)), default=0.0)
    least = DEPENDENT * max(largest, LEAST_SIZE) if largest > ALL_ZERO else np.inf
    rank, redundant, balanced, smallest = 0, list[int](), list[Self](), largest
    for block, s in zip(J.blocks, values, strict=True):
        own = int(np.sum(s > least))
        rank += own
        smallest = min(smallest, float(s[own - 1])) if own else smallest
        if own < len(block.rows):
            found, known = _redundant(block, own)
            redundant += found
            balanced.append(Self(block.rows, rows[block.rows], len(found), known))
    names = tuple(system.frozen.rows[r].name for r in sorted(redundant))
    return Mobility(
        count - len(rows), count - rank, rank, names, smallest / largest if rank else 1.0, tuple(balanced), len(rows)
    )


def _redundant(block: Block, rank: int) -> tuple[list[int], np.ndarray | Certain]:
    """Rows of a block that add nothing to the others, and its left null vectors."""
    from scipy.linalg import qr

    if block.certain is not None and block.certain.rank == rank:
        return block.rows[block.certain.dependent].tolist(), block.certain
    if not rank:
        return block.rows.tolist(), np.eye(len(block.rows))
    with one_core(len(block.rows)):
        left = np.linalg.svd(block.matrix, full_matrices=True)[0]
        *_, order = qr(block.matrix.T, mode="economic", pivoting=True)
    return block.rows[order[rank:]].tolist(), left[:, rank:]


def dependent_drives(system: System, jacobian: Sparse) -> list[str]:
    """Driven or locked coordinates that the loops tie together: they cannot all be prescribed."""
    driven = system.layout.arrays.drive != FREE_COLUMN
    measured = np.array([bool(row.driven) for row in system.frozen.rows])
    if not (driven.any() or measured.any()):
        return []
    J = jacobian.scaled(*scales(system))

    def rank(columns: np.ndarray, rows: np.ndarray | None = None) -> int:
        s = J.part(rows, columns).singular_values()
        return int(np.sum(s > DEPENDENT * max(s[0], ALL_ZERO))) if len(s) else 0

    # drives of cut joints are rows: each must add to the rank of the others
    base = rank(~driven)
    loose = rank(~driven, ~measured) if measured.any() else base
    tied = [row.driven for row in system.frozen.rows if row.driven] if base - loose < int(measured.sum()) else []
    if (
        driven.any() and rank(np.ones_like(driven)) > base
    ):  # driven columns whose release gives the rows something to work with
        one = np.eye(len(driven), dtype=bool)
        tied += [system.speeds[c] for c in np.flatnonzero(driven) if rank(~driven | one[c]) > base]
    return tied
