"""The constraint Jacobian's blocks, for null-space methods: rows and free columns that nothing ties to others.

Directions of one block have no part in the rows of another: they are found and kept block by block, and the matrices of a
block's directions are as large as the block. Within a block [[1, J^T], [J, -eps]] is eliminated sparsely, as the loop
equations are (pattern.py): a row once its columns are gone. (M ties blocks together that one body carries; the identity,
in columns measured by mass, does not.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.loops.fields import BlockPlan
from madi.topology.pattern import Factor


def block_plan(model: Any) -> BlockPlan:
    """All blocks of a settled model, in the order of their first columns."""
    row = np.repeat(np.arange(len(model.row_place)), np.diff(model.row_first))
    free, active = np.flatnonzero(model.column_place >= 0), np.flatnonzero(model.row_place >= 0)
    free = free[np.argsort(model.column_number[free])]
    elements = np.concatenate([free, -1 - active]).astype(np.int64)
    number = {int(x): k for k, x in enumerate(elements)}
    neighbours: list[set[int]] = [set() for _ in elements]
    for c, r in zip(model.j_column.tolist(), row.tolist(), strict=True):
        if -1 - r in number:
            i, j = number[c], number[-1 - r]
            neighbours[i].add(j)
            neighbours[j].add(i)
    made = Joined(len(elements), len(model.j_column), model)
    for block in _connected(neighbours):
        made.add(block, neighbours, elements, len(free))
    made.places(row)
    return made.plan()


def _connected(neighbours: list[set[int]]) -> list[list[int]]:
    """The unknowns of each block, ascending: columns come before rows."""
    seen = [False] * len(neighbours)
    found = []
    for start in range(len(neighbours)):
        if seen[start]:
            continue
        seen[start], block = True, [start]
        for k in block:
            for i in neighbours[k]:
                if not seen[i]:
                    seen[i] = True
                    block.append(i)
        found.append(sorted(block))
    return found


class Joined:
    """Factors of the blocks, behind each other."""

    def __init__(self, unknowns: int, entries: int, model: Any):
        self.nu = unknowns
        self.element = np.zeros(unknowns, dtype=np.int64)
        self.column_at, self.row_at = np.full(len(model.column_place), -1), np.full(len(model.row_place), -1)
        self.j_at, self.j_column = np.full(entries, -1), np.asarray(model.j_column)
        self.factors: list[Factor] = []
        self.first, self.product, self.directions, self.square, self.below = [0], [0], [0], [0], [0]

    def add(self, block: list[int], neighbours: list[set[int]], elements: np.ndarray, columns: int) -> None:
        """One more block."""
        local = {k: i for i, k in enumerate(block)}
        free = sum(k < columns for k in block)
        factor = Factor([{local[i] for i in neighbours[k]} for k in block], free)
        self.element[self.first[-1] + factor.rank] = elements[block]
        self.factors.append(factor)
        for ends, count in (
            (self.first, len(block)), (self.product, len(factor.target)), (self.directions, len(block) * free),
            (self.square, free * free), (self.below, len(factor.index)),
        ):  # fmt: skip
            ends.append(ends[-1] + count)

    def _there(self, b: int, places: np.ndarray) -> np.ndarray:
        """Places in the factor of block b as places in that of all."""
        count = self.first[b + 1] - self.first[b]
        return np.where(places < count, self.first[b] + places, self.nu + self.below[b] - count + places)

    def places(self, row: np.ndarray) -> None:
        """Where columns, rows and entries of Phi_q are."""
        at = np.arange(self.nu)
        columns = self.element >= 0
        self.column_at[self.element[columns]] = at[columns]
        self.row_at[-1 - self.element[~columns]] = at[~columns]
        i, j = self.column_at[self.j_column], self.row_at[row]
        block = np.searchsorted(self.first, j, side="right") - 1
        order = np.argsort(block, kind="stable")
        ends = np.searchsorted(block[order], np.arange(len(self.factors) + 1))
        for b, factor in enumerate(self.factors):
            mine = order[ends[b] : ends[b + 1]]
            if len(mine):
                self.j_at[mine] = self._there(b, factor.positions(i[mine] - self.first[b], j[mine] - self.first[b]))

    def plan(self) -> BlockPlan:
        """As kernels read it."""
        none = np.zeros(0, dtype=np.int64)
        fields = {
            "l_first": np.concatenate([[0], *(f.first[1:] + self.below[b] for b, f in enumerate(self.factors))]),
            "l_index": np.concatenate([none, *(f.index + self.first[b] for b, f in enumerate(self.factors))]),
            "l_target": np.concatenate([none, *(self._there(b, f.target) for b, f in enumerate(self.factors))]),
            **{name: getattr(self, name) for name in ("first", "product", "directions", "square", "element", "column_at",
                                                      "row_at", "j_at")},
        }  # fmt: skip
        sizes = {
            "nu": self.nu, "nl": self.below[-1], "nx": self.product[-1], "n_blocks": len(self.factors),
            "nv": len(self.column_at), "nr": len(self.row_at), "nj": len(self.j_at),
        }  # fmt: skip
        found = BlockPlan(sizes)
        for name, values in fields.items():
            getattr(found, name)[:] = values
        return found


def room(plan: BlockPlan) -> dict[str, int]:
    """The sizes of what null-space methods keep."""
    return {
        "n_blocks": plan.n_blocks, "block_unknowns": plan.nu, "block_entries": plan.nu + plan.nl,
        "block_directions": int(plan.directions[-1]), "block_squares": int(plan.square[-1]),
    }  # fmt: skip


NO_BLOCKS = BlockPlan(dict.fromkeys(("nu", "nl", "nx", "n_blocks", "nv", "nr", "nj"), 0))
