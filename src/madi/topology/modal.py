"""Arrays of flexible bodies: shapes at their points, inertia integrals, and the unit motions of their modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.flexible.integrals import Integrals, integrals
from madi.joints.columns import FREE_COLUMN

if TYPE_CHECKING:
    from madi.model.elements import Body, Joint

FIELDS = (
    "modes",
    "modal",
    "mode_v",
    "mode_at",
    "block_at",
    "turn",
    "motion_at",
    "copy_at",
    "copy_end",
    "bows",
    "stays",
    "eta_at",
    "slopes",
    "slope_at",
    "shortening_at",
    "shortenings",
    "growth_at",
)
KINDS = 8  # of inertia integrals (bodies/bending.py)


class Modal:
    """Collects what the layout holds of modes, body by body, in the order of the tree."""

    def __init__(self, n: int):
        self.ints = {name: np.zeros(n, dtype=np.int64) for name in FIELDS}
        self.ints["modal"][:] = -1
        self.ints["turn"][:] = -1
        self.shape: list[float] = []
        self.points: dict[int, list[int]] = {}  # of every flexible body: the bodies that are points of it
        self.hung: dict[str, np.ndarray] = {}  # X where each is attached: foreshortening is counted from there
        self.ints["part_end"] = np.zeros((n, 3), dtype=np.int64)
        self.ints["integral_at"] = np.zeros((n, KINDS), dtype=np.int64)
        self.parts: list[np.ndarray] = []  # of every function: its mode, its first place and one past the last
        self.size = {"nz": 0, "ny": 0, "n_slopes": 0, "nw": 0, "n_growth": 0}
        self.motions = 0

    def add(self, i: int, joint: Joint, owner: Body, reverse: bool, ints: dict[str, np.ndarray], body: int) -> None:
        """Body i of a modal joint: the flexible body itself, walked to from one of its points, or another point of it."""
        field, station = owner.flexible.field, joint.station
        k = len(field.names)
        mine = {"modes": k, "mode_at": len(self.shape), "turn": station.turn}
        if reverse:
            self.hung[owner.name] = station.chi
        numbers = station.numbers(self.hung[owner.name])
        self.shape += list(numbers)
        mine["bows"], mine["stays"] = int(len(numbers) > 6 * k), int(not np.any(numbers))
        if reverse:
            mine |= {"modal": len(self.points), "mode_v": int(ints["v_at"][i]), "motion_at": int(ints["v_at"][i])}
            mine |= self._integrals(i, integrals(field, station.position, station.chi), k)
            self.points[i] = []
        else:
            self.points[body].append(i)
            mine |= {"mode_v": int(self.ints["mode_v"][body])}
            ints["q_at"][i] = ints["q_at"][body]
        for name, value in mine.items():
            self.ints[name][i] = value

    def _integrals(self, i: int, found: Integrals, k: int) -> dict[str, int]:
        """Keep the numbers of flexible body i, and make place for what is computed of them."""
        sizes, parts = self.size, found.parts
        mine = {"block_at": sizes["nz"], "eta_at": sizes["ny"], "slopes": found.places, "slope_at": sizes["n_slopes"],
                "shortening_at": sizes["nw"], "shortenings": found.functions, "growth_at": sizes["n_growth"]}  # fmt: skip
        for kind, numbers in enumerate(found.numbers):
            self.ints["integral_at"][i, kind] = len(self.shape)
            self.shape += list(numbers)
        self.ints["part_end"][i] = parts.ends
        self.parts.append(np.pad([parts.mode, parts.first, parts.last], ((0, 0), (0, found.places))))
        bent = parts.ends[1]
        for name, more in (("nz", k * k), ("ny", len(parts.mode) + found.places), ("n_slopes", found.places),
                           ("nw", bent * found.places), ("n_growth", bent * found.functions)):  # fmt: skip
            sizes[name] += more
        return mine

    def arrays(self, ints: dict[str, np.ndarray], columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """All fields, by body and by unit motion: first one unit motion for every column, then those of the points."""
        nv, n = len(columns["column_body"]), len(ints["parent"])
        found = self.ints
        column, body = list(range(nv)), list(columns["column_body"])
        for i, points in self.points.items():
            found["copy_at"][i] = len(column)
            for p in points:
                found["motion_at"][p] = len(column)
                modes = range(int(ints["v_at"][i]), int(ints["v_end"][i]))
                column += modes
                body += [p] * len(modes)
            found["copy_end"][i] = len(column)
        parent, tip = np.full(len(column), -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
        for i in range(1, n):
            above, k = int(ints["parent"][i]), int(found["modes"][i])
            outward = k > 0 and found["modal"][i] < 0
            # what a point sees of its body's modes takes the place of what the body sees of them
            before = parent[found["mode_v"][i]] if outward else tip[above]
            first = int(found["motion_at"][i]) if k else int(ints["v_at"][i])
            for x in range(first, first + k if k else int(ints["v_end"][i])):
                parent[x], before = before, x
            tip[i] = before
        free = parent.copy()
        for x in range(len(free)):
            while free[x] >= 0 and columns["drive"][column[free[x]]] != FREE_COLUMN:
                free[x] = parent[free[x]]
        self.motions = len(column)
        motions = {"motion_column": np.array(column, dtype=np.int64), "motion_body": np.array(body, dtype=np.int64),
                  "motion_parent": parent, "free_motion_parent": free}  # fmt: skip
        parts = np.concatenate([np.zeros((3, 0), dtype=np.int64), *self.parts], axis=1)
        parts_found = dict(zip(("part_mode", "part_first", "part_last"), parts, strict=True))
        return {**found, **parts_found, "tip_motion": tip, **motions}

    def sizes(self) -> dict[str, int]:
        """Of the layout's header."""
        return {
            "nb": self.motions,
            "ng": len(self.shape),
            "nh": len(self.points),
            **self.size,
        }


def modal_start(body: Body, given: Any) -> list[float]:
    """Modal coordinates (or speeds) at the start: numbers in the order of the modes, or by name."""
    names = body.flexible.field.names
    if given is None:
        return [0.0] * len(names)
    if isinstance(given, dict):
        return [float(given.get(name, 0.0)) for name in names]
    return [float(x) for x in np.atleast_1d(given)]
