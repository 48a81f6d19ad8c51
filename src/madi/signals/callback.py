"""Users' functions that cannot be traced: kept in Python and reached through a C address."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madi.errors import TraceError

POINTER = ctypes.POINTER(ctypes.c_double)
PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_double, *[POINTER] * 4)


class Callback:
    """A Python function f(t, q, v) behind a C function void(double t, double *q, *v, *measures, *out). The measures of force
    elements follow v (signals/law.py).

    An exception cannot pass through compiled code: it is kept in `error`, and the signals become NaN, which stops the run.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], nq: int, nv: int, measures: int, count: int,
        of: Sequence[int] | None = None, marked: bool = False,
    ):  # fmt: skip
        """`of`: which numbers of (q, v, measures) it depends on, where that is known; `marked` by madi.in_python: it is
        not to be tried."""
        self.name, self.function, self.measures, self.of, self.marked = name, function, measures, of, marked
        self._own = threading.local()  # errors belong to the run, and that to its thread

        def entry(t: float, q: Any, v: Any, measured: Any, out: Any) -> None:
            values = np.ctypeslib.as_array(out, (count,))
            try:
                seen = [np.ctypeslib.as_array(v, (nv,))]
                if measures:
                    seen.append(np.ctypeslib.as_array(measured, (measures,)))
                values[:] = function(t, np.ctypeslib.as_array(q, (nq,)).copy(), np.concatenate(seen))
            except BaseException as error:
                self.error = error
                values[:] = np.nan

        self._entry = PROTOTYPE(entry)
        self.address = ctypes.cast(self._entry, ctypes.c_void_p).value or 0

    def __deepcopy__(self, memo: Any) -> Callback:
        return self  # functions are not copied, and this one's address is in the model's arrays

    def __reduce__(self) -> Any:
        raise TraceError(
            f"{self.name}: its function stays in Python, at an address of this process; what is built with it cannot be "
            "pickled. Pickle the model, and build it where it is needed"
        )

    @property
    def error(self) -> BaseException | None:
        """What the function raised in this thread."""
        return getattr(self._own, "error", None)

    @error.setter
    def error(self, error: BaseException | None) -> None:
        self._own.error = error


def call_address(
    address: int, t: float, q: np.ndarray, v: np.ndarray, measure: np.ndarray, out: np.ndarray, at: int
) -> None:
    """Call the C function at `address` with arrays of float64; it writes from out[at] on."""
    if any(array.dtype == object for array in (q, v, out)):
        from madi.signals.outside import recorder

        recording = recorder()
        if recording is None:
            raise TraceError("a function that stays in Python cannot be traced")
        recording.call(q, v, measure, out, at)
        return
    PROTOTYPE(int(address))(float(t), *(array.ctypes.data_as(POINTER) for array in (q, v, measure, out[at:])))
