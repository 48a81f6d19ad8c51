"""The first life: kernels as plain Python. Slow; for debugging and as the reference in tests."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from madi.equations import ENTRIES
from madi.kernel import Kernel
from madi.kernel.fields import Fields, Function
from madi.signals.callback import POINTER
from madi.topology.layout import Layout


class CalledFromC:
    """A trace that needs Python (functions that stay there) behind the C signature of an entry."""

    def __init__(self, trace: Any, values: np.ndarray | None):
        nq, nv, nx = (trace.function.size1_in(k) for k in (1, 2, 3))
        size, p = trace.function.size1_out(0), trace.function.size1_in(4)

        def entry(t: float, q: Any, v: Any, x: Any, out: Any, context: Any) -> int:
            found = np.ctypeslib.as_array(out, (size,))
            state = [np.ctypeslib.as_array(part, (n,)).copy() for part, n in ((q, nq), (v, nv), (x, nx))]
            found[:] = trace(t, *state, values[:p] if values is not None and p else None)
            return 0

        self._entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[POINTER] * 4, ctypes.c_void_p)(entry)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0


class PlainEngine:
    """Evaluates entry kernels by calling them."""

    name = "plain"
    machine_code = made_for_model = False

    @classmethod
    def of(cls, system: Any) -> PlainEngine:
        """See Engine."""
        return cls(system.layout, system.values)

    def __init__(
        self, layout: Layout, values: np.ndarray | None = None, directions: bool = False, options: Any = None,
        slopes: Any = None,
    ):  # fmt: skip
        self.layout, self.values = layout, values
        self.model = layout.arrays
        self._directions, self._options = directions, options
        self.work = layout.scratch(directions, options=options, slopes=slopes and slopes.plan(self))

    def for_run(self, directions: bool = False, options: Any = None) -> PlainEngine:
        """See Engine."""
        return PlainEngine(self.layout, self.values, directions, options)

    def with_slopes(self, slopes: Any) -> PlainEngine:
        """See Engine."""
        return PlainEngine(self.layout, self.values, self._directions, self._options, slopes)

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """See Engine."""
        out = np.zeros(size)
        with np.errstate(all="ignore"):
            ENTRIES[entry].function(self.model, self.work, t, q, v, x, out)
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Function:
        """See Engine."""
        kernel = ENTRIES[entry].function

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray) -> int:
            kernel(self.model, self.work, t, q, v, x, out)
            return 0

        return Function(call)

    def lanes(self, entry: str, request: tuple[float, ...], size: int) -> None:
        """See Engine."""

    def program(self, name: str, trace: Any) -> Function:
        """See Engine."""

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray) -> int:
            size = [trace.function.size1_in(k) for k in (1, 2, 3)]
            values = trace(t, q[: size[0]], v[: size[1]], x[: size[2]], self.values)
            out[: len(values)] = values
            return 0

        return Function(call)

    def twin(self, name: str, kernel: Kernel, arrays: Fields, work: Fields, forces: Fields) -> Function:
        """A kernel of a formulation that has arrays and scratch of its own beside those of the tree (cartesian/)."""

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray) -> int:
            kernel(arrays, work, self.model, forces, t, q, v, x, out)
            return 0

        return Function(call)

    def loop(self, loop: Any) -> Callable[[Any], int]:
        """See Engine; as it is."""
        return loop.kernel
