"""The loop equations' sparsity, found once: which entries there are, in which order they are eliminated, where they go.

    [[M, Phi_q^T], [Phi_q, -eps]] (qdd, lam) = (P, gamma)

M has the sparsity of the tree (a column meets its ancestors only), Phi_q that of the loops (a row meets the columns that
move one body of its pair and not the other). Columns are eliminated first, from the leaves to the root, which fills nothing
in between them; what is left are the rows' own couplings, -(Phi_q M^-1 Phi_q^T + eps), negative definite, and eliminated by
minimum degree. No pivoting is needed in this order, so all places are known beforehand: the factorisation is a list of
products (loops/kkt.py), its length proportional to the number of loops where loops are local.

docs/references.md: [George, Liu 1989].
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from madi.joints.columns import FREE_COLUMN


def pattern(fields: dict[str, Any], active: Any) -> dict[str, Any]:
    """All index arrays of the loop equations, and their sizes. `active`: rows that do not vanish identically."""
    free_motion_parent, column_of, drive = fields["free_motion_parent"], fields["motion_column"], fields["drive"]
    free = [c for c in range(len(drive)) if drive[c] == FREE_COLUMN] if len(active) else []
    entries = [_row_entries(r, fields) for r in range(len(active))]
    # the graph, by unknowns: free columns from the leaves to the root, then the active rows
    place = {c: k for k, c in enumerate(reversed(free))}
    listed = [r for r in range(len(active)) if active[r] and entries[r]]
    neighbours: list[set[int]] = [set() for _ in range(len(free) + len(listed))]
    mass = []
    for c in free:
        x = c
        while x >= 0:
            j = int(column_of[x])
            mass.append((c, j, x))
            if j != c:
                neighbours[place[c]].add(place[j])
                neighbours[place[j]].add(place[c])
            x = int(free_motion_parent[x])
    for k, r in enumerate(listed):
        for c, *_ in entries[r]:
            neighbours[len(free) + k].add(place[c])
            neighbours[place[c]].add(len(free) + k)
    factor = Factor(neighbours, len(free))
    rank, position = factor.rank, factor.position
    column_place = np.full(len(drive), -1, dtype=np.int64)
    for c, k in place.items():
        column_place[c] = rank[k]
    row_place = np.full(len(active), -1, dtype=np.int64)
    for k, r in enumerate(listed):
        row_place[r] = rank[len(free) + k]
    flat = [(*entry, position(int(column_place[entry[0]]), int(row_place[r])) if row_place[r] >= 0 else -1)
            for r in range(len(active)) for entry in entries[r]]  # fmt: skip
    jacobian = np.array(flat, dtype=np.int64).reshape(-1, 5)
    masses = np.array([(c, j, x, position(int(column_place[c]), int(column_place[j]))) for c, j, x in mass], dtype=np.int64)
    masses = masses.reshape(-1, 4)
    return {
        "row_place": row_place,
        "row_first": np.concatenate([[0], np.cumsum([len(item) for item in entries])]),
        **{name: jacobian[:, k] for k, name in enumerate(("j_column", "j_sign", "j_motion", "j_other", "j_place"))},
        **{name: masses[:, k] for k, name in enumerate(("m_row", "m_column", "m_motion", "m_place"))},
        "column_place": column_place, **factor.arrays(),
        "sizes": {"nj": len(jacobian), "nm": len(masses), "nn": len(free), **factor.sizes()},
    }  # fmt: skip


class Factor:
    """L D L^T of a symmetric pattern: order of elimination, places of all entries, the list of products."""

    def __init__(self, neighbours: list[set[int]], fixed: int):
        order, below = _eliminate(neighbours, fixed)
        self.rank = np.empty(len(order), dtype=np.int64)
        self.rank[order] = np.arange(len(order))
        self.lists = [sorted(int(self.rank[i]) for i in below[k]) for k in order]
        self.first = np.concatenate([[0], np.cumsum([len(item) for item in self.lists])]).astype(np.int64)
        nu = len(order)
        self.where = [{i: nu + int(self.first[k]) + s for s, i in enumerate(item)} for k, item in enumerate(self.lists)]
        self.target = [self.position(i, j) for item in self.lists for s, i in enumerate(item) for j in item[s:]]

    def position(self, i: int, j: int) -> int:
        """Where the entry of unknowns i, j (in the order of elimination) is."""
        i, j = min(i, j), max(i, j)
        return i if i == j else self.where[i][j]

    def sizes(self) -> dict[str, int]:
        """Unknowns, entries below the diagonal, products."""
        return {"nu": len(self.lists), "nl": int(self.first[-1]), "nx": len(self.target)}

    def arrays(self) -> dict[str, np.ndarray]:
        """What the numeric factorisation reads (loops/kkt.py)."""
        index = np.array([i for item in self.lists for i in item], dtype=np.int64)
        return {"l_first": self.first, "l_index": index, "l_target": np.array(self.target, dtype=np.int64)}


def _row_entries(r: int, fields: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """(free column, sign, unit motion, other unit motion) of row r, in the order of the columns."""
    k, drive = fields["row_pair"][r], fields["drive"]
    if k < 0:
        return sorted({(int(c), 1, int(c), -1) for c in (fields["row_a"][r], fields["row_b"][r]) if drive[c] == FREE_COLUMN})
    paths = []
    for i in (int(fields["pair_a"][k]), int(fields["pair_b"][k])):
        path = {}
        x = int(fields["tip_motion"][i])
        while x >= 0:
            path[int(fields["motion_column"][x])] = x
            x = int(fields["motion_parent"][x])
        paths.append(path)
    found = []
    for c in paths[0].keys() | paths[1].keys():
        a, b = paths[0].get(c, -1), paths[1].get(c, -1)
        if drive[c] == FREE_COLUMN and a != b:  # moving both alike, it does nothing
            found.append((c, 1, b, a) if b >= 0 else (c, -1, a, -1))
    return sorted(found)


def _eliminate(neighbours: list[set[int]], fixed: int) -> tuple[list[int], list[set[int]]]:
    """Symbolic elimination: the first `fixed` nodes in their order, the others by minimum degree (ties: first drawn)."""
    n = len(neighbours)
    below: list[set[int]] = [set() for _ in range(n)]
    done = [False] * n
    order: list[int] = []

    def take(k: int) -> set[int]:
        rest = neighbours[k]
        below[k] = set(rest)
        order.append(k)
        done[k] = True
        for i in rest:
            neighbours[i].discard(k)
            neighbours[i] |= rest - {i}
        return rest

    for k in range(fixed):
        take(k)
    heap = [(len(neighbours[k]), k) for k in range(fixed, n)]
    heapq.heapify(heap)
    while heap:
        degree, k = heapq.heappop(heap)
        if done[k]:
            continue
        if degree != len(neighbours[k]):
            heapq.heappush(heap, (len(neighbours[k]), k))
            continue
        for i in take(k):
            heapq.heappush(heap, (len(neighbours[i]), i))
    return order, below
