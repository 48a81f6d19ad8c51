"""What an engine is: it evaluates the entries of a model (equations/), and runs loops around them (integrate/)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from madi.kernel.fields import Function
from madi.topology.layout import Layout


class Engine(Protocol):
    """A new one is a class with these, and its place in the registry (engines/__init__.py)."""

    name: str
    machine_code: bool  # it runs outside Python: what it needs takes time to make, and runs stop between steps
    made_for_model: bool  # it has code for what can be traced only, made for each question about each model
    layout: Layout

    @classmethod
    def of(cls, system: Any) -> Engine:
        """The engine of a System."""

    def for_run(self, directions: bool = False, options: Any = None) -> Any:
        """The same with scratch of its own: a run's memory is not an evaluation's. `directions`: with room for
        null-space methods; `options`: of closing the loops."""

    def with_slopes(self, slopes: Any) -> Any:
        """The same with scratch of its own in which the entry `slopes` knows its places (topology/slopes.py)."""

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """One evaluation; a fresh array of `size` numbers."""

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Function:
        """An entry for `kernel.call`. `request`: the end of x, where that says what is asked for; `size`: of out."""

    def lanes(self, entry: str, request: tuple[float, ...], size: int) -> Any:
        """An entry for many states at once (integrate/many.py), where it has better than one after the other; else None."""

    def program(self, name: str, trace: Any) -> Function:
        """A trace (symbolic/jacobian.py), as `function` gives an entry."""

    def loop(self, loop: Any) -> Callable[[Any], int]:
        """A loop around system functions (integrate/memory.py)."""
