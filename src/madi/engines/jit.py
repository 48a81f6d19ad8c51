"""The second life: all kernels compiled by Numba, once, for any model.

Each entry becomes a C function (abi.py); an integrator's loop calls it by its address, so that integrators and formulations
are compiled once each, not once per pair, and generated C (compiled.py) can take an entry's place.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from madi.engines.entries import ENTRIES
from madi.topology.layout import Layout


def explain_wait(what: str, compiled: Callable[[], Any]) -> Any:
    """Run a compilation; say on a terminal what the wait is, and that it happens once."""
    show = sys.stderr.isatty()
    if show:
        print(f"madi: preparing {what} (once; kept for later runs) ...", end="", file=sys.stderr, flush=True)
    start = time.perf_counter()
    result = compiled()
    if show:
        took = time.perf_counter() - start
        text = f" {took:.1f} s\n" if took > 0.5 else "\r" + " " * 79 + "\r"
        print(text, end="", file=sys.stderr, flush=True)
    return result


@cache
def entry_function(entry: str) -> Any:
    """The C function of an entry."""

    def make() -> Any:
        from madi.engines import abi

        return abi.compile_entry(ENTRIES[entry].function)

    return explain_wait(f"kernel {entry!r}", make)


@cache
def loop_function(kernel: Callable[..., Any], arguments: str) -> Any:
    """An integrator's loop, compiled."""

    def make() -> Any:
        from madi.engines import abi

        return abi.compile_loop(kernel, arguments)

    return explain_wait(f"integrator {kernel.__module__.rsplit('.', 1)[-1]!r}", make)


class JitEngine:
    """Evaluates entry kernels as machine code, driven by the model's arrays."""

    name = "jit"

    def __init__(self, layout: Layout):
        self.layout = layout
        self.buffer = np.zeros(layout.work_size())

        addresses = [layout.ints.ctypes.data, layout.reals.ctypes.data, self.buffer.ctypes.data]
        self.context = np.array(addresses, dtype=np.int64)

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """One evaluation; a fresh array of `size` numbers."""
        out = np.zeros(size)
        entry_function(entry).ctypes(t, *(a.ctypes.data for a in (q, v, x, out, self.context)))
        return out

    def function(self, entry: str) -> tuple[Any, np.ndarray]:
        """For `kernel.call`: the address of the C function and its context."""
        return entry_function(entry).address, self.context

    def loop(self, kernel: Callable[..., Any], arguments: str) -> Callable[..., Any]:
        """A loop around system functions, compiled."""
        return loop_function(kernel, arguments)
