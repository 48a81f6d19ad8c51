"""The loop equations' sparsity, found once: which entries there are, in which order they are eliminated, where they go.

    [[M, Phi_q^T], [Phi_q, -eps]] (qdd, lam) = (P, gamma)

M has the sparsity of the tree (a column meets its ancestors only), Phi_q that of the loops (a row meets the columns that
move one body of its pair and not the other). Unknowns are eliminated by minimum degree, a row as soon as all columns it
meets are gone. No pivoting is needed in any such order. The pivot of a column is positive: that of M, to which rows that are
gone only add. The pivot of a row is that of -(Phi_q M^-1 Phi_q^T + eps), M over the columns that are gone and Phi_q no
less than the whole row, so that its rank is that of the whole rows; before its columns are gone it could be anything. So all
places are known beforehand: the factorisation is a list of products (loops/kkt.py), its length proportional to the number
of loops where loops are local. (Columns first and rows last fills in less between columns, but where all columns of a
chain of loops are gone, all its rows meet.)

docs/references.md: [George, Liu 1989].
"""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import Any

import numpy as np

from madi.joints.columns import FREE_COLUMN

FULL = 8  # unknowns from which on a full block is quicker than lists


def entries(fields: dict[str, Any]) -> dict[str, Any]:
    """Which entries M and Phi_q have, and their sizes: all that can be said before it is known which rows vanish."""
    rows, free = len(fields["row_pair"]), _free_columns(fields)
    masses, found = np.array(_mass_entries(free, fields), dtype=np.int64).reshape(-1, 3), row_entries(fields)
    flat = np.array([entry for row in found for entry in row], dtype=np.int64).reshape(-1, 4)
    nothing = np.zeros(0, dtype=np.int64)
    return {
        "row_first": np.concatenate([[0], np.cumsum([len(row) for row in found], dtype=np.int64)]),
        **{name: flat[:, k] for k, name in enumerate(("j_column", "j_sign", "j_motion", "j_other"))},
        **{name: masses[:, k] for k, name in enumerate(("m_row", "m_column", "m_motion"))},
        "row_place": np.full(rows, -1), "column_place": np.full(len(fields["drive"]), -1),
        "column_number": np.full(len(fields["drive"]), -1),
        "j_place": np.full(len(flat), -1), "m_place": np.full(len(masses), -1),
        "l_first": np.zeros(1, dtype=np.int64), "l_index": nothing, "l_target": nothing,
        "sizes": {"nj": len(flat), "nm": len(masses), "nn": len(free), "nu": 0, "nl": 0, "nx": 0},
    }  # fmt: skip


def pattern(fields: dict[str, Any], active: Any) -> dict[str, Any]:
    """Where the entries go, and the order of elimination, with its sizes. `fields`: with what `entries` gives; `active`:
    rows that do not vanish identically."""
    free, first = _free_columns(fields), np.asarray(fields["row_first"])
    row = np.repeat(np.arange(len(active)), np.diff(first))  # of each entry of Phi_q
    column, m_row, m_column = (np.asarray(fields[name]) for name in ("j_column", "m_row", "m_column"))
    # the graph, by unknowns: free columns, leaves before what carries them, then the active rows
    place, number = np.full(len(fields["drive"]), -1), np.full(len(active), -1)
    place[free] = np.arange(len(free))[::-1]
    listed = np.flatnonzero(np.asarray(active, dtype=bool) & (np.diff(first) > 0))
    number[listed] = len(free) + np.arange(len(listed))
    neighbours: list[set[int]] = [set() for _ in range(len(free) + len(listed))]
    there = number[row] >= 0
    edges = [(place[m_row], place[m_column]), (number[row[there]], place[column[there]])]
    for some, others in edges:
        for i, j in zip(some.tolist(), others.tolist(), strict=True):
            if i != j:
                neighbours[i].add(j)
                neighbours[j].add(i)
    factor = Factor(neighbours, len(free))
    column_place = np.where(place >= 0, factor.rank[place] if len(factor.rank) else -1, -1)
    row_place = np.where(number >= 0, factor.rank[number] if len(factor.rank) else -1, -1)
    j_place = np.full(len(row), -1)
    j_place[there] = factor.positions(column_place[column[there]], row_place[row[there]])
    return {
        "row_place": row_place, "column_place": column_place, "column_number": place, "j_place": j_place,
        "m_place": factor.positions(column_place[m_row], column_place[m_column]), **factor.arrays(),
        "sizes": factor.sizes(),
    }  # fmt: skip


class Factor:
    """The factor of a symmetric pattern: order of elimination, places of all entries, the list of products.

    Of a symmetric matrix L D L^T: its diagonal, then what is below it, column by column. Of others (`Unsymmetric`) L and U.
    """

    def __init__(self, neighbours: list[set[int]], columns: int):
        """`neighbours`: of every unknown those it meets, the columns first, then the rows; it is used up."""
        order, below, self.full = _eliminate(neighbours, columns)
        self.nu = len(order)
        self.rank = np.empty(self.nu, dtype=np.int64)
        self.rank[order] = np.arange(self.nu)
        self.listed(order, below)

    def listed(self, order: list[int], below: list[set[int]]) -> None:
        """Lists of all entries and products."""
        lists = [np.sort(self.rank[list(below[k])]) for k in order]
        self.first = np.concatenate([[0], np.cumsum([len(item) for item in lists])]).astype(np.int64)
        self.index = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
        self._keys = np.repeat(np.arange(self.nu), np.diff(self.first)) * self.nu + self.index  # ascending
        self.target = np.concatenate([*map(self._products, lists), np.zeros(0, dtype=np.int64)])

    def _products(self, item: np.ndarray) -> np.ndarray:
        """Where the products of a column's entries go: each with itself and those behind it."""
        if len(item) == 0:
            return item
        i, j = _upper(len(item))
        return self.positions(item[i], item[j])

    def positions(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Where the entries of unknowns i, j (in the order of elimination) are."""
        low, high = np.minimum(i, j), np.maximum(i, j)
        return np.where(low == high, low, self.nu + np.searchsorted(self._keys, low * self.nu + high))

    def sizes(self) -> dict[str, int]:
        """Unknowns, entries below the diagonal, products."""
        return {"nu": self.nu, "nl": len(self.index), "nx": len(self.target)}

    def arrays(self) -> dict[str, np.ndarray]:
        """What the numeric factorisation reads (loops/kkt.py)."""
        return {"l_first": self.first, "l_index": self.index, "l_target": self.target}


class Unsymmetric(Factor):
    """L U of an unsymmetric matrix with a symmetric pattern. Where all unknowns that are left meet all others, what is
    left of the matrix is kept full, by rows, and needs no lists: a chain's is full from the start.

    Places: the diagonal, L by columns, U by rows, then the full block.
    """

    def listed(self, order: list[int], below: list[set[int]]) -> None:
        """See Factor."""
        n = self.nu - self.full if self.full >= FULL else self.nu
        lists = [np.sort(self.rank[list(below[k])]) for k in order[:n]]
        self.sparse, self.full = n, self.nu - n
        self.first = np.concatenate([[0], np.cumsum([len(item) for item in lists])]).astype(np.int64)
        self.index = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
        self._keys = np.repeat(np.arange(n), np.diff(self.first)) * self.nu + self.index  # ascending
        nothing = np.zeros(0, dtype=np.int64)
        pairs = [(item[i], item[j]) for item in lists if len(item) for i, j in [_upper(len(item))]]
        self.target = np.concatenate([*(self.places(j, i) for i, j in pairs), nothing])
        self.mirror = np.concatenate([*(self.places(i, j) for i, j in pairs), nothing])

    def places(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Where the entries of these rows and columns (in the order of elimination) are."""
        n, nl = self.sparse, len(self.index)
        low, high = np.minimum(row, column), np.maximum(row, column)
        listed = n + np.searchsorted(self._keys, low * self.nu + high) + np.where(row < column, nl, 0)
        full = n + 2 * nl + (row - n) * self.full + column - n
        return np.where(low >= n, full, np.where(row == column, low, listed))

    def sizes(self) -> dict[str, int]:
        """Unknowns, those eliminated by lists, entries below the diagonal in their columns, products, unknowns of the full
        block, numbers."""
        n, nl = self.sparse, len(self.index)
        count = n + 2 * nl + self.full**2
        return {"nu": self.nu, "ns": n, "nl": nl, "nx": len(self.target), "nd": self.full, "n_factor": count}

    def arrays(self) -> dict[str, np.ndarray]:
        """What the numeric factorisation reads (integrate/newton_matrix.py)."""
        return {"first": self.first, "index": self.index, "target": self.target, "mirror": self.mirror}


@lru_cache(maxsize=64)
def _upper(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the upper triangle, row by row."""
    i, j = np.triu_indices(count)
    return i, j


def _free_columns(fields: dict[str, Any]) -> np.ndarray:
    """Those that are solved for, where there are loops."""
    return np.flatnonzero(np.asarray(fields["drive"]) == FREE_COLUMN) if len(fields["row_pair"]) else np.zeros(0, np.int64)


def _mass_entries(free: np.ndarray, fields: dict[str, Any]) -> list[tuple[int, int, int]]:
    """(column, column on its path, the latter's unit motion there)."""
    parent, column_of = np.asarray(fields["free_motion_parent"]).tolist(), np.asarray(fields["motion_column"]).tolist()
    found = []
    for c in free.tolist():
        x = c
        while x >= 0:
            found.append((c, column_of[x], x))
            x = parent[x]
    return found


def row_entries(fields: dict[str, Any], of_drives: bool = False) -> list[list[tuple[int, int, int, int]]]:
    """Of every row (column, sign, unit motion, other unit motion), in the order of the columns: of free ones, or of all."""
    names = ("row_pair", "row_a", "row_b", "pair_a", "pair_b", "tip_motion", "motion_column", "motion_parent", "drive")
    pair, row_a, row_b, pair_a, pair_b, tip, column_of, parent, drive = (np.asarray(fields[n]).tolist() for n in names)
    of_pair: dict[int, list[tuple[int, int, int, int]]] = {}
    found = []
    for r, k in enumerate(pair):
        if k < 0:
            found.append(sorted({(c, 1, c, -1) for c in (row_a[r], row_b[r]) if of_drives or drive[c] == FREE_COLUMN}))
            continue
        if k not in of_pair:
            ways = paths_apart(tip[pair_a[k]], tip[pair_b[k]], parent)
            paths = [{column_of[x]: x for x in way} for way in ways]
            both = ((c, paths[0].get(c, -1), paths[1].get(c, -1)) for c in paths[0].keys() | paths[1].keys())
            of_pair[k] = sorted(
                (c, 1, b, a) if b >= 0 else (c, -1, a, -1)
                for c, a, b in both
                if a != b and (of_drives or drive[c] == FREE_COLUMN)
            )
        found.append(of_pair[k])
    return found


def paths_apart(a: int, b: int, parent: list[int]) -> tuple[list[int], list[int]]:
    """The ways from a and from b up to where they meet: what is behind moves both alike."""
    seen: tuple[dict[int, int], dict[int, int]] = {}, {}
    at = [a, b]
    while max(at) >= 0:
        for s in (0, 1):
            x = at[s]
            if x < 0:
                continue
            if x in seen[1 - s]:
                ways = [list(seen[0]), list(seen[1])]
                ways[1 - s] = ways[1 - s][: seen[1 - s][x]]
                return ways[0], ways[1]
            seen[s][x] = len(seen[s])
            at[s] = parent[x]
    return list(seen[0]), list(seen[1])


def _eliminate(neighbours: list[set[int]], columns: int) -> tuple[list[int], list[set[int]], int]:
    """Symbolic elimination by minimum degree (ties: first drawn): the order, what is below the diagonal of each node, and
    how many of the last meet all others of them. A row may go once all columns it meets are gone: before, its pivot would
    be that of a mechanism partly held."""
    below: list[set[int]] = [set() for _ in neighbours]
    order: list[int] = []
    left = set(range(len(neighbours)))
    kept = {k: sum(i < columns for i in neighbours[k]) for k in range(columns, len(neighbours))}  # columns still there
    rows_of = [[i for i in neighbours[c] if i >= columns] for c in range(columns)]
    heap = [(len(neighbours[k]), k) for k in range(len(neighbours)) if not kept.get(k)]
    heapq.heapify(heap)
    while heap:
        degree, k = heapq.heappop(heap)
        if k not in left:
            continue
        if degree != len(neighbours[k]):
            heapq.heappush(heap, (len(neighbours[k]), k))
            continue
        if degree == len(left) - 1:  # all meet all: what is left goes in its order, columns first
            last = sorted(left)
            order += last
            for s, i in enumerate(last):
                below[i] = set(last[s + 1 :])
            return order, below, len(last)
        rest = below[k] = neighbours[k]
        order.append(k)
        left.discard(k)
        for i in rest:
            new = rest - neighbours[i]
            new.discard(i)
            neighbours[i] |= new
            neighbours[i].discard(k)
        if k < columns:
            for row in rows_of[k]:
                kept[row] -= 1
        for i in rest:
            if not kept.get(i):
                heapq.heappush(heap, (len(neighbours[i]), i))
    return order, below, 0
