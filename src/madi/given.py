"""What users give, as types: for editors and type checkers. What is given is judged when a model is built, not by these."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

Vector = Sequence[float] | np.ndarray  # numbers in a row: points, axes, states
Rows = Sequence[Sequence[float]] | np.ndarray  # rows of numbers: matrices, tables, many points
Points = Sequence[Vector] | np.ndarray  # one of each body
Numbers = float | Vector  # one, or one for each
States = Vector | Sequence[Sequence[float]] | Sequence[np.ndarray]  # one state, or many: (nq,), or (N, nq)
Turn = Vector | Rows | None  # a quaternion (w, x, y, z), a matrix, or as drawn
Start = Vector | Mapping[str, float] | None  # all numbers, or some by name


class State(Protocol):
    """What has coordinates and speeds: an assembly, an equilibrium."""

    @property
    def q(self) -> np.ndarray:
        """Coordinates."""

    @property
    def v(self) -> np.ndarray:
        """Speeds."""


Both = Sequence[Start] | State | None  # (q0, v0), or a state
ManyStarts = Sequence[Start | Rows] | Mapping[str, Numbers] | State | None  # for all runs, or (in rows, by name) for each
File = str | os.PathLike[str]
Law = float | Callable[..., Any]  # a number, or a function of time (and state)
VectorLaw = Vector | Callable[..., Any]
