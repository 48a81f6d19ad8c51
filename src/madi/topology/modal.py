"""Arrays of flexible bodies: shapes at their points, inertia integrals, and the unit motions of their modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.joints.columns import FREE_COLUMN

if TYPE_CHECKING:
    from madi.model.elements import Body, Joint

FIELDS = (
    "modes",
    "modal",
    "mode_v",
    "mode_at",
    "inertia_at",
    "block_at",
    "turn",
    "motion_at",
    "copy_at",
    "copy_end",
    "shortenings",
    "shortening_at",
    "eta_at",
)


class Modal:
    """Collects what the layout holds of modes, body by body, in the order of the tree."""

    def __init__(self, n: int):
        self.ints = {name: np.zeros(n, dtype=np.int64) for name in FIELDS}
        self.ints["modal"][:] = -1
        self.ints["turn"][:] = -1
        self.shape: list[float] = []
        self.points: dict[int, list[int]] = {}  # of every flexible body: the bodies that are points of it
        self.hung: dict[str, np.ndarray] = {}  # X where each is attached: foreshortening is counted from there
        self.entries = 0
        self.shortenings = 0
        self.rows = 0
        self.motions = 0

    def add(self, i: int, joint: Joint, owner: Body, reverse: bool, ints: dict[str, np.ndarray], body: int) -> None:
        """Body i of a modal joint: the flexible body itself, walked to from one of its points, or another point of it."""
        field, station = owner.flexible.field, joint.station
        k = len(field.names)
        mine = {"modes": k, "mode_at": len(self.shape), "turn": station.turn}
        if reverse:
            self.hung[owner.name] = station.chi
        self.shape += list(station.numbers(self.hung[owner.name]))
        if reverse:
            mine |= {"modal": len(self.points), "mode_v": int(ints["v_at"][i]), "inertia_at": len(self.shape),
                     "block_at": self.entries, "motion_at": int(ints["v_at"][i])}  # fmt: skip
            numbers, count = field.integrals(station.position, station.chi)
            self.shape += list(numbers)
            mine |= {"shortenings": count, "shortening_at": self.shortenings, "eta_at": self.rows}
            self.shortenings += count * k
            self.rows += k + count
            self.entries += k * k
            self.points[i] = []
        else:
            self.points[body].append(i)
            mine |= {"mode_v": int(self.ints["mode_v"][body])}
            ints["q_at"][i] = ints["q_at"][body]
        for name, value in mine.items():
            self.ints[name][i] = value

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
        return {**found, "tip_motion": tip, **motions}

    def sizes(self) -> dict[str, int]:
        """Of the layout's header."""
        return {
            "nb": self.motions,
            "ng": len(self.shape),
            "nz": self.entries,
            "nh": len(self.points),
            "nw": self.shortenings,
            "ny": self.rows,
        }


def modal_start(body: Body, given: Any) -> list[float]:
    """Modal coordinates (or speeds) at the start: numbers in the order of the modes, or by name."""
    names = body.flexible.field.names
    if given is None:
        return [0.0] * len(names)
    if isinstance(given, dict):
        return [float(given.get(name, 0.0)) for name in names]
    return [float(x) for x in np.atleast_1d(given)]
