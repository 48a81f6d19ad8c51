"""Sizes and index arrays of the Cartesian model, and its elimination: coordinates body by body, then rows by minimum
degree."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.cartesian.links import Builder
from madi.cartesian.words import COUPLER, DOT1, HELIX, POINT, SECOND, TURN
from madi.topology.pattern import Factor


def pattern(made: Builder) -> tuple[dict[str, int], dict[str, Any]]:
    """(sizes, index arrays)."""
    n, nr, nk, nz = made.n, len(made.rows), len(made.links), len(made.system.states)
    row_body, meets = _meetings(made)
    factor = Factor(_neighbours(n, row_body, meets), 7 * n)
    turns, size = _angles(made)
    sizes = {"n": n, "nk": nk, "nr": nr, "nq": 7 * n + size + nz, "nz": nz, **factor.sizes()}
    ends = [made.ends(k) for k in range(nk)]
    found = [[part for part, _, _ in link.parts] for link in made.links]
    fields = {
        "link_a": [a for a, _ in ends], "link_b": [b for _, b in ends], **turns,
        "link_parts": [len(parts) for parts in found], "link_part": [(parts + [-1] * 6)[:6] for parts in found],
        **{f"link_{what}": [getattr(link, what) for link in made.links] for what in ("q", "v")},
        **{f"row_{what}": [getattr(row, what) for row in made.rows]
           for what in ("kind", "link", "i", "j", "other", "signal")},
        "row_place": factor.rank[7 * n :], "row_body": row_body, "q_place": factor.rank[: 7 * n],
        **_places(n, row_body, meets, factor), **factor.arrays(),
    }  # fmt: skip
    return sizes, fields


def _meetings(made: Builder) -> tuple[np.ndarray, list[list[int]]]:
    """Of every row: its bodies, and the flat entries (slot, coordinate) that are not zero by structure."""
    row_body = np.full((len(made.rows), 4), made.n, dtype=np.int64)
    meets: list[list[int]] = []
    for r, row in enumerate(made.rows):
        row_body[r, :2] = made.ends(row.link)
        if row.kind in (HELIX, COUPLER):
            row_body[r, 2:] = made.ends(row.other)
        along = [row.i] if row.kind == POINT else [] if row.kind == DOT1 else [0, 1, 2]
        slots = [slot for slot in range(4) if row_body[r, slot] < made.n]
        meets.append([7 * slot + j for slot in slots for j in (*along, 3, 4, 5, 6)])
    return row_body, meets


def _neighbours(n: int, row_body: np.ndarray, meets: list[list[int]]) -> list[set[int]]:
    """The graph of the matrix: the four rotational coordinates of a body among each other, rows with what they meet."""
    neighbours: list[set[int]] = [set() for _ in range(7 * n + len(meets))]
    for i in range(n):
        for a in range(3, 7):
            neighbours[7 * i + a] |= {7 * i + b for b in range(3, 7) if b != a}
    for r, entries in enumerate(meets):
        for entry in entries:
            q = 7 * int(row_body[r, entry // 7]) + entry % 7
            neighbours[q].add(7 * n + r)
            neighbours[7 * n + r].add(q)
    return neighbours


def _places(n: int, row_body: np.ndarray, meets: list[list[int]], factor: Factor) -> dict[str, Any]:
    """Where the entries of Jacobian and masses are in the factor."""
    rank = factor.rank
    j_place = np.full((len(meets), 28), -1, dtype=np.int64)
    row = np.repeat(np.arange(len(meets)), [len(entries) for entries in meets])
    entry = np.array([entry for entries in meets for entry in entries], dtype=np.int64)
    q = 7 * row_body[row, entry // 7] + entry % 7
    j_place[row, entry] = factor.positions(rank[q], rank[7 * n + row])
    a, b = np.array([(0, 0), (1, 1), (2, 2), *((a, b) for a in range(3, 7) for b in range(a, 7))]).T
    bodies = 7 * np.arange(n)[:, None]
    m_place = factor.positions(rank[bodies + a], rank[bodies + b])
    return {"j_place": j_place, "m_place": m_place}


def _angles(made: Builder) -> tuple[dict[str, list[int]], int]:
    """Places of the joints' angles behind the bodies' coordinates, and how many there are."""
    places: dict[str, list[int]] = {"link_turn": [], "link_second": []}
    size = 0
    for link in made.links:
        for name, part in (("link_turn", TURN), ("link_second", SECOND)):
            places[name].append(size if link.coordinate(part) >= 0 else -1)
            size += link.coordinate(part) >= 0
    return places, size
