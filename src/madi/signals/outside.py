"""Functions that stay in Python, as the traces of a model see them.

P4 splits the residual, R = R_sym + R_num, takes the Jacobian of the first in symbols and that of user code by differences.
Here the split is at the functions themselves: traces have their values u as inputs. With s = (q, v, measures), what the
functions get,

    dR/dx = dR/dx (u held) + dR/du du/ds ds/dx:

all but du/ds is exact. That is taken by central differences, function by function, and only over those numbers of s a
function depends on: told by the user (madi.in_python(f, of=...)), or found by trying a copy of it. One that was marked with
madi.in_python may have a memory and is not tried: of it all slopes are taken, unless `of` is given.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from madi.signals.callback import POINTER, Callback
from madi.signals.proof import Isolated, Untraceable

STEP = 1e-5  # of the differences, against the size of a number (1 at least)
CHANGES = (1e-3, 1.0)  # by how much one number is changed, to see whether a function looks at it
TRIALS = (0.0, 1e-2, 1.0, 1e2)  # how far from the start a function is tried
PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_double, POINTER, POINTER)
_own = threading.local()


class Recorder:
    """While a model is traced, calls of its functions are written down; their values are symbols."""

    def __init__(self, table: np.ndarray):
        """`table`: (address, first signal, count) of each function."""
        from madi.symbolic.sym import symbols

        table = np.asarray(table, dtype=np.int64).reshape(-1, 3)
        self.place = dict(zip(table[:, 1].tolist(), np.cumsum([0, *table[:-1, 2]]).tolist(), strict=True))
        self.count = dict(zip(table[:, 1].tolist(), table[:, 2].tolist(), strict=True))
        self.u, self.values = symbols("u", int(table[:, 2].sum()))
        self.seen: list[Any] | None = None

    def __enter__(self) -> Recorder:
        _own.recorder = self
        return self

    def __exit__(self, *error: Any) -> None:
        _own.recorder = None

    def call(self, q: Any, v: Any, measure: Any, out: Any, first: int) -> None:
        """A function is called: its values, from out[first] on."""
        self.seen = [*q, *v, *measure]
        for k in range(self.count[int(first)]):
            out[first + k] = self.values[self.place[int(first)] + k]


def recorder() -> Recorder | None:
    """That of the trace this thread is making."""
    return getattr(_own, "recorder", None)


class Outside:
    """The functions of one model that stay in Python: values and derivatives at what they get."""

    def __init__(
        self, callbacks: Sequence[tuple[Callback, int, int]], q0: np.ndarray, v0: np.ndarray, measures: np.ndarray,
        whole: bool = False,
    ):  # fmt: skip
        """`whole`: derivatives by all numbers of s, whatever a function seems to depend on."""
        self.whole = whole
        self.callbacks = [callback for callback, _, _ in callbacks]
        self.nq, self.nv = len(q0), len(v0)
        self.start = np.concatenate([q0, v0, measures])
        self.counts = [count for _, _, count in callbacks]
        self.size = sum(self.counts)
        self._entry = PROTOTYPE(self._fill)
        self.addresses = np.array(
            [ctypes.cast(self._entry, ctypes.c_void_p).value or 0, *(c.address for c in self.callbacks)], dtype=np.int64
        )

    @cached_property
    def columns(self) -> list[list[int]]:
        """Of every function, the numbers of s it depends on: told, or tried; all of them where it may have a memory."""
        return [self._columns(callback) for callback in self.callbacks]

    def _columns(self, callback: Callback) -> list[int]:
        if callback.of is not None:
            return sorted(set(callback.of))
        if self.whole or callback.marked:
            return list(range(self.nq + self.nv + callback.measures))
        return self._tried(callback)

    @cached_property
    def entries(self) -> list[tuple[int, int]]:
        """(value, number of s) of every entry of du/ds that is computed, function by function."""
        found, first = [], 0
        for count, columns in zip(self.counts, self.columns, strict=True):
            found += [(first + k, j) for j in columns for k in range(count)]
            first += count
        return found

    def call(self, k: int, t: float, s: np.ndarray) -> np.ndarray:
        """Values of function k; what it raises is kept with it, and they are NaN."""
        try:
            return self._called(k, t, s, self.callbacks[k].function)
        except BaseException as error:
            self.callbacks[k].error = error
            return np.full(self.counts[k], np.nan)

    def _called(self, k: int, t: float, s: np.ndarray, function: Any) -> np.ndarray:
        end = self.nq + self.nv + self.callbacks[k].measures
        value = function(t, s[: self.nq].copy(), s[self.nq : end].copy())
        return np.asarray(value, dtype=float).reshape(-1)

    def values(self, t: float, s: np.ndarray) -> np.ndarray:
        """u."""
        return np.concatenate([self.call(k, t, s) for k in range(len(self.callbacks))])

    def both(self, t: float, s: np.ndarray) -> np.ndarray:
        """u, then the entries of du/ds."""
        slopes = []
        for k, columns in enumerate(self.columns):
            for j in columns:
                h = STEP * max(1.0, abs(float(s[j])))
                ahead, behind = s.copy(), s.copy()
                ahead[j], behind[j] = s[j] + h, s[j] - h
                slopes.append((self.call(k, t, ahead) - self.call(k, t, behind)) / (ahead[j] - behind[j]))
        return np.concatenate([self.values(t, s), *slopes])

    def _fill(self, t: float, s: Any, w: Any) -> None:
        """`both`, called from machine code."""
        out = np.ctypeslib.as_array(w, (self.size + len(self.entries),))
        out[:] = self.both(t, np.ctypeslib.as_array(s, (len(self.start),)).copy())

    def _tried(self, callback: Callback) -> list[int]:
        """Numbers of s whose change is seen in the values, on a copy of the function; all of them where it has none."""
        k, end = self.callbacks.index(callback), self.nq + self.nv + callback.measures
        try:
            copied = Isolated(callback.function, symbolic=False)
        except Untraceable:
            return list(range(end))
        rng, found = np.random.default_rng(7), set()
        try:
            for size in TRIALS:
                s = self.start + size * rng.normal(size=len(self.start))
                for j in range(end):
                    if j in found:
                        continue
                    for change in CHANGES:
                        moved = s.copy()
                        moved[j] += change * rng.normal()
                        try:
                            with np.errstate(all="ignore"):
                                a, b = (self._called(k, abs(size), x, copied.function) for x in (s, moved))
                            if not np.array_equal(a, b, equal_nan=True):
                                found.add(j)
                        except Exception:  # off its domain: it looked at what was changed
                            if size == 0.0:
                                found.add(j)
        finally:
            copied.restore()
        return sorted(found)
