"""A call of an entry from Python for the price of a built-in function (ahead/crossing.c); without the library, none."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madi.engines import library
from madi.kernel import HUGE
from madi.kernel.fields import Function

BIND = "madi_bind"
LONG = 30  # columns from where on an evaluation takes so long that other threads should go on meanwhile
# functions of Python's stable ABI that crossing.c is handed, in its order
FUNCTIONS = (
    "PyObject_GetBuffer", "PyBuffer_Release", "PyErr_Clear", "PyFloat_AsDouble", "PyErr_Occurred", "PyObject_CallObject",
    "Py_IncRef", "Py_DecRef", "PyCapsule_New", "PyCapsule_GetPointer", "PyCFunction_NewEx", "PyThread_get_thread_ident",
    "PyEval_SaveThread", "PyEval_RestoreThread",
)  # fmt: skip
_P, _I, _D = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Bound(ctypes.Structure):
    """What a bound function knows, as crossing.c has it."""

    _fields_ = (
        ("python", _P), ("entry", _P), ("context", _P), ("zeros", _P), ("empty", ctypes.py_object),
        ("shape", ctypes.py_object), ("none", ctypes.py_object), ("quaternions", _P), ("nq", _I), ("nv", _I), ("nx", _I),
        ("size", _I), ("ndim", _I), ("n_quaternions", _I), ("releases", _I), ("dims", _I * 2), ("huge", _D), ("unit", _D),
        ("thread", ctypes.c_uint64),
    )  # fmt: skip


class Crossing:
    """Calls one entry of one system. `call(q, v, x, t, out)` gives the answer, or None where it is not as plain as that."""

    def __init__(self, function: Function, sizes: tuple[int, int, int], shape: tuple[int, ...], quaternions: Sequence[int],
                 unit: float):  # fmt: skip
        """`sizes`: of q, v, x; `shape` of the answer; `unit`: how far a quaternion's length may be from 1."""
        self.function = function  # (keeps its context)
        self._zeros, self._places = np.zeros(max(sizes)), np.array([*quaternions, 0], dtype=np.int64)
        self._bound = Bound(
            python=ctypes.addressof(_python()), entry=function.address, context=function.context.ctypes.data,
            zeros=self._zeros.ctypes.data, empty=np.empty, shape=(shape,), none=None,
            quaternions=self._places.ctypes.data, nq=sizes[0], nv=sizes[1], nx=sizes[2], size=int(np.prod(shape)),
            ndim=len(shape), n_quaternions=len(quaternions), releases=sizes[1] > LONG, dims=shape, huge=HUGE, unit=2 * unit,
            thread=threading.get_ident(),
        )  # fmt: skip
        self.call: Callable[..., Any] = _bind()(ctypes.addressof(self._bound))


def is_there() -> bool:
    """Whether this Python and this library have what it takes."""
    return hasattr(ctypes, "pythonapi") and library.is_there() and _bind() is not None


_kept: dict[str, Any] = {}


def _python() -> Any:
    """The addresses of FUNCTIONS."""
    if "python" not in _kept:
        found = [ctypes.cast(getattr(ctypes.pythonapi, name), _P).value for name in FUNCTIONS]
        _kept["python"] = (_P * len(found))(*found)
    return _kept["python"]


def _bind() -> Any:
    if "bind" not in _kept:
        address = library.function(BIND)
        _kept["bind"] = None if address is None else ctypes.PYFUNCTYPE(ctypes.py_object, _P)(address)
    return _kept["bind"]
