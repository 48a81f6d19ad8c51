"""Constraint rows at one state, sparse; and a sparse matrix by its blocks: rows and columns that nothing ties to others.

What is cubic (singular values, pivoted QR, least squares) is done block by block: mechanisms side by side do not see each
other, and rows that vanish are blocks without columns. Singular values of the blocks are those of the whole. Of a large
block whose rank is beyond doubt (certain.py) the smallest and the largest are enough, and no matrix is full.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.certain import Certain, certain
from madi.constraints.coupler import entry
from madi.engines.library import has
from madi.equations import ENTRIES
from madi.kernel.cores import one_core
from madi.topology.pattern import row_entries

if TYPE_CHECKING:
    from madi.system import System

LARGE = 64  # rows of a block: beyond, it is first tried sparsely (full ones take the time)
NOTHING = np.zeros(1)  # what an entry is given that needs nothing beside the state
ROUNDING = 1e-14  # of the largest entry: smaller ones tie nothing together, and change no singular value that counts


@dataclass(frozen=True)
class Block:
    """Rows and columns of a matrix that meet each other only, and their entries, places counted within."""

    rows: np.ndarray
    columns: np.ndarray
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    @cached_property
    def matrix(self) -> np.ndarray:
        """Full."""
        found = np.zeros((len(self.rows), len(self.columns)))
        found[self.row, self.column] = self.value
        return found

    @cached_property
    def certain(self) -> Certain | None:
        """What is known without the full matrix; None where the block is small, or singular values must tell."""
        if len(self.rows) <= LARGE or not len(self.columns):
            return None
        from scipy.sparse import csr_matrix

        return certain(csr_matrix((self.value, (self.row, self.column)), shape=(len(self.rows), len(self.columns))))

    def singular_values(self) -> np.ndarray:
        """The largest first; of a block that is `certain`, what is between largest and smallest is not found."""
        if not len(self.columns):
            return np.zeros(0)
        if self.certain is None:
            with one_core(len(self.rows)):
                return np.linalg.svd(self.matrix, compute_uv=False)
        found = np.zeros(min(len(self.rows), len(self.columns)))
        found[: self.certain.rank] = self.certain.largest
        found[self.certain.rank - 1] = self.certain.smallest
        return found


@dataclass(frozen=True)
class Sparse:
    """A matrix, entry by entry, each place once at most."""

    shape: tuple[int, int]
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray

    def scaled(self, rows: np.ndarray, columns: np.ndarray) -> Sparse:
        """Rows and columns times factors."""
        return Sparse(self.shape, self.row, self.column, rows[self.row] * self.value * columns[self.column])

    def part(self, rows: np.ndarray | None, columns: np.ndarray) -> Sparse:
        """The matrix of these rows and columns (flags; None: all rows); they are counted anew."""
        rows = np.ones(self.shape[0], dtype=bool) if rows is None else rows
        kept = rows[self.row] & columns[self.column]
        row, column = np.cumsum(rows) - 1, np.cumsum(columns) - 1
        shape = int(rows.sum()), int(columns.sum())
        return Sparse(shape, row[self.row[kept]], column[self.column[kept]], self.value[kept])

    @cached_property
    def blocks(self) -> list[Block]:
        """All of them, in the order of their first rows; a row of zeros is a block without columns."""
        size = np.abs(self.value)
        kept = ~(size <= ROUNDING * float(np.max(size, initial=0.0)))  # what is no number is kept, and told
        row, column, value = self.row[kept], self.column[kept], self.value[kept]
        label = _labels(self.shape, row, column)
        found = []
        for rows, columns, at in _grouped(label, self.shape, row, column):
            places = np.searchsorted(rows, row[at]), np.searchsorted(columns, column[at])
            found.append(Block(rows, columns, *places, value[at]))
        return found

    def singular_values(self) -> np.ndarray:
        """All that are not zero by structure, the largest first."""
        parts = [block.singular_values() for block in self.blocks]
        return np.sort(np.concatenate([np.zeros(0), *parts]))[::-1]

    def least_squares(self, right: np.ndarray, rank: float) -> np.ndarray:
        """x of least norm with the least |A x - right|; singular values below `rank` times the largest count as zero. Blocks
        whose right-hand side is zero are left where they are."""
        x = np.zeros(self.shape[1])
        parts = []
        for block in self.blocks:
            if not len(block.columns) or not np.any(right[block.rows]):
                continue
            if block.certain is not None:
                with one_core(len(block.rows)):
                    x[block.columns] = block.certain.solve(right[block.rows])
            else:
                with one_core(len(block.rows)):
                    parts.append((block, np.linalg.svd(block.matrix, full_matrices=False)))
        largest = max((s[0] for _, (_, s, _) in parts), default=0.0)
        for block, (left, s, turned) in parts:
            count = int(np.sum(s > rank * largest))
            x[block.columns] = turned[:count].T @ (left[:, :count].T @ right[block.rows] / s[:count])
        return x


def _labels(shape: tuple[int, int], row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """The first row of the block that each row, and then each column, belongs to; of columns in none, -1."""
    of_row: list[list[int]] = [[] for _ in range(shape[0])]
    of_column: list[list[int]] = [[] for _ in range(shape[1])]
    for r, c in zip(row.tolist(), column.tolist(), strict=True):
        of_row[r].append(c)
        of_column[c].append(r)
    label = [-1] * (shape[0] + shape[1])
    for first in range(shape[0]):
        if label[first] >= 0:
            continue
        label[first] = first
        stack = [first]
        while stack:
            for c in of_row[stack.pop()]:
                if label[shape[0] + c] < 0:
                    label[shape[0] + c] = first
                    for r in of_column[c]:
                        if label[r] < 0:
                            label[r] = first
                            stack.append(r)
    return np.array(label, dtype=np.int64)


def _grouped(
    label: np.ndarray, shape: tuple[int, int], row: np.ndarray, column: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of every block its rows, its columns and its entries."""
    labels = label[: shape[0]], label[shape[0] :], label[row]
    orders = [np.argsort(part, kind="stable") for part in labels]
    sorted_ = [part[order] for part, order in zip(labels, orders, strict=True)]
    for first in np.unique(labels[0]):
        spans = [slice(*np.searchsorted(part, (first, first + 1))) for part in sorted_]
        rows, columns, at = (order[span] for order, span in zip(orders, spans, strict=True))
        yield rows, columns, at


class Rows:
    """The rows of a system with the columns of drives, at the state as given: in the machine code that comes with the
    package; without it, a few rows are done in Python before the code is compiled."""

    def __init__(self, system: System):
        self.system = system
        self.engine = system.engine("jit" if has("gaps") or system.n_constraints > LARGE else "plain")
        self.model = model = system.layout.arrays
        self._length = ENTRIES["gaps"].out(system.layout.sizes)
        found = row_entries(model.values(), of_drives=True)
        self.row = np.repeat(np.arange(len(found)), [len(one) for one in found])
        flat = np.array([one for row in found for one in row], dtype=np.int64).reshape(-1, 4)
        self.column, self.sign, self.motion, self.other = flat.T
        self.shape = (len(found), int(model.nv))
        self._coupled = np.flatnonzero(np.asarray(model.row_pair)[self.row] < 0)

    def at(self, t: float, q: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, Sparse]:
        """Phi, Phi', Phi_q."""
        work, v = self.engine.work, np.zeros(self.shape[1]) if v is None else v
        self.engine.evaluate("gaps", t, q, v, NOTHING, self._length)
        self.system._raise_from_functions()
        return work.phi.copy(), work.rate.copy(), Sparse(self.shape, self.row, self.column, self._values(work))

    def _values(self, work: Any) -> np.ndarray:
        """Entries of Phi_q (`jacobian_entry` in constraints/dispatch.py)."""
        psi, B = np.asarray(work.psi)[self.row], np.asarray(work.B)
        values = self.sign * np.einsum("ij,ij->i", psi, B[self.motion])
        both = self.other >= 0
        values[both] -= np.einsum("ij,ij->i", psi[both], B[self.other[both]])
        for k in self._coupled:
            values[k] = entry(self.model, self.row[k], self.column[k])
        return values
