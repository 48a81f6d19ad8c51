"""The first life: kernels as plain Python. Slow; for debugging and as the reference in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madi.engines.entries import ENTRIES
from madi.topology.layout import Layout, work_views


class PlainEngine:
    """Evaluates entry kernels by calling them."""

    name = "plain"

    def __init__(self, layout: Layout, values: np.ndarray | None = None, dense: bool = False):
        self.layout, self.values = layout, values
        self.model = self.model_argument = layout.arrays
        self.work = work_views(layout.ints, np.zeros(layout.work_size(dense)), dense)

    def for_run(self, dense: bool = False) -> PlainEngine:
        """The same with scratch of its own: a run's options and memory are not an evaluation's. `dense`: with room for
        null-space methods."""
        return PlainEngine(self.layout, self.values, dense)

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """One evaluation; a fresh array of `size` numbers."""
        out = np.zeros(size)
        with np.errstate(all="ignore"):
            ENTRIES[entry].function(self.model, self.work, t, q, v, x, out)
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> tuple[Callable[..., int], np.ndarray]:
        """For `kernel.call`: a Python callable and its context."""
        kernel = ENTRIES[entry].function

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray, context: Any) -> int:
            kernel(self.model, self.work, t, q, v, x, out)
            return 0

        return call, np.zeros(2, dtype=np.int64)

    def program(self, name: str, trace: Any) -> tuple[Callable[..., int], np.ndarray]:
        """A trace (a CasADi function of t, q, v, x), as `function` gives an entry."""

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray, context: Any) -> int:
            size = [trace.size1_in(k) for k in (1, 2, 3)]
            more = () if self.values is None else (self.values,)
            out[: trace.size1_out(0)] = np.asarray(trace(t, q[: size[0]], v[: size[1]], x[: size[2]], *more)).reshape(-1)
            return 0

        return call, np.zeros(2, dtype=np.int64)

    def loop(self, kernel: Callable[..., Any], arguments: str) -> Callable[..., Any]:
        """An integrator's loop, as it is."""
        return kernel
