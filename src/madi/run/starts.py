"""Where the runs of a batch start: rows of coordinates and speeds, many at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from madi.assembly.assemble import start_vector
from madi.joints.columns import LOCKED
from madi.system import System


class Starts:
    """`given`: {"q0": ..., "v0": ...}: None, {name: a value, or one for each run}, a row, or a row for each run."""

    def __init__(self, system: System, given: Mapping[str, Any]):
        self.system = system
        self.given = {what: _as_arrays(value) for what, value in given.items()}

    @property
    def drawn(self) -> bool:
        """Whether they start as the model is drawn."""
        return all(value is None for value in self.given.values())

    @property
    def named(self) -> dict[str, list[str]] | None:
        """The coordinates and speeds that are given by name; None where whole rows are given."""
        if any(isinstance(value, np.ndarray) for value in self.given.values()):
            return None
        return {what: list(value or ()) for what, value in self.given.items()}

    def of_run(self, k: int) -> list[Any]:
        """What is given for run k, as `assemble` takes it."""
        found: list[Any] = []
        for value in self.given.values():
            if isinstance(value, dict):
                found.append({name: (v[k] if v.ndim else v[()]) for name, v in value.items()})
            else:
                found.append(value[k] if value is not None and value.ndim == 2 else value)
        return found

    def rows(self, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of the runs from first to last, of a tree."""
        s, n = self.system, last - first
        q = s.checked_states(self._rows("q0", s.coordinates, s.q0, first, last), "q0")
        v = s.checked_rows(self._rows("v0", s.speeds, s.v0, first, last), s.nv, "v0")
        v = np.where(s.layout.arrays.drive == LOCKED, 0.0, v)  # what is locked does not move
        return np.array(np.broadcast_to(q, (n, s.nq))), np.array(np.broadcast_to(v, (n, s.nv)))

    def _rows(self, what: str, names: list[str], drawn: np.ndarray, first: int, last: int) -> Any:
        value = self.given[what]
        if not isinstance(value, dict):
            return drawn if value is None else value[first:last] if value.ndim == 2 else value
        row = start_vector({name: v.flat[0] for name, v in value.items()}, names, np.array(drawn), what)
        rows = np.tile(row, (last - first, 1))
        for name, v in value.items():
            rows[:, names.index(name)] = v[first:last] if v.ndim else v
        return rows

    def part(self, first: int, last: int) -> dict[str, Any]:
        """What is given for these runs alone."""
        found: dict[str, Any] = {}
        for what, value in self.given.items():
            if isinstance(value, dict):
                found[what] = {name: (v[first:last] if v.ndim else v) for name, v in value.items()}
            else:
                found[what] = value[first:last] if value is not None and value.ndim == 2 else value
        return found


def _as_arrays(value: Any) -> Any:
    """Numbers as arrays: of each run, or one for all."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: np.asarray(v, dtype=float) for name, v in value.items()}
    return np.asarray(value, dtype=float)
