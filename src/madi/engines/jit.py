"""The second life: all kernels as machine code, made once, for any model.

Each entry is a C function (pieces.py); an integrator's loop calls it by its address, so that integrators and formulations
are compiled once each, not once per pair, and generated C (compiled.py) can take an entry's place.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from madi.engines.pieces import (
    code,
    entry_piece,
    force_piece,
    interpreter_piece,
    loop_piece,
    separate_piece,
    twin_piece,
)
from madi.equations.fields import Arrays
from madi.forces import BY_CODE
from madi.kernel import SEPARATE, Kernel
from madi.kernel.fields import Fields, Function
from madi.topology.layout import Layout


@cache
def entry_code(entry: str) -> Any:
    """The machine code of an entry."""
    return code(entry_piece(entry))


def model_table(layout: Layout) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The layout's table with the addresses of its force elements and of kernels few models need, and the arrays that hold
    them (keep them)."""
    kinds = layout.arrays.force_kind
    calls = np.array(
        [0 if BY_CODE[k].KIND.built_in else code(force_piece(k)).address for k in map(int, kinds)], dtype=np.int64
    )
    table, place = layout.arrays.table.copy(), list(Arrays.fields).index
    table[place("force_call")] = calls.ctypes.data
    if layout.header("n_other"):
        separate = np.array([code(separate_piece(number)).address for number in range(len(SEPARATE))], dtype=np.int64)
        table[place("separate")] = separate.ctypes.data
        return table, (calls, separate)
    return table, (calls,)


@cache
def loop_function(loop: Any) -> Callable[[Any], int]:
    """A loop around system functions (integrate/memory.py) as machine code."""
    call = code(loop_piece(loop)).call
    return lambda memory: int(call(memory.table_address))


def program_of(trace: Any) -> Any:
    """The program of a trace (symbolic/jacobian.py), made once."""
    from madi.engines.interpreter import Program

    if "program" not in trace.__dict__:
        trace.__dict__["program"] = Program(trace.function)
    return trace.__dict__["program"]


class JitEngine:
    """Evaluates entry kernels as machine code, driven by the model's arrays."""

    name = "jit"
    machine_code, made_for_model = True, False

    @classmethod
    def of(cls, system: Any) -> JitEngine:
        """See Engine."""
        return cls(system.layout, system.values)

    def __init__(self, layout: Layout, values: np.ndarray | None = None):
        """`values`: of the parameters, where the traces have some."""
        self.layout = layout
        self.values = np.zeros(1) if values is None else values
        self.model_argument, self._calls = model_table(layout)
        self._programs: dict[str, Any] = {}
        self._directions, self._options, self._slopes = False, None, None
        self._own: Any = threading.local()  # each thread has its own scratch: the calls release Python's lock

    def for_run(self, directions: bool = False, options: Any = None) -> JitEngine:
        """See Engine."""
        other = copy.copy(self)
        other._own = SimpleNamespace()  # a run is one thread's at a time
        other._directions, other._options = directions, options
        return other

    def with_slopes(self, slopes: Any) -> JitEngine:
        """See Engine."""
        other = copy.copy(self)
        own = threading.local() if isinstance(self._own, threading.local) else SimpleNamespace()
        other._own, other._slopes, other._programs = own, slopes, {}
        return other

    @property
    def work(self) -> Any:
        """This thread's scratch."""
        if not hasattr(self._own, "work"):
            slopes = self._slopes and self._slopes.plan(self)
            self._own.work = self.layout.scratch(self._directions, options=self._options, slopes=slopes)
            tables = (self.model_argument, self._own.work.table)
            self._own.context = np.array([table.ctypes.data for table in tables], dtype=np.int64)
        return self._own.work

    @property
    def context(self) -> np.ndarray:
        """What an entry gets as its last argument."""
        _ = self.work  # makes both
        return self._own.context

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """See Engine."""
        out = np.zeros(size)
        entry_code(entry).call(t, *(a.ctypes.data for a in (q, v, x, out, self.context)))
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Function:
        """See Engine; requests are read from x at run time."""
        return Function(address=entry_code(entry).address, context=self.context)

    def lanes(self, entry: str, request: tuple[float, ...], size: int) -> None:
        """See Engine."""

    def program(self, name: str, trace: Any) -> Function:
        """See Engine; it is run as data (interpreter.py)."""
        from madi.engines.plain import CalledFromC

        if trace.outside is not None:  # functions in Python take longer than all the rest
            if name not in self._programs:
                self._programs[name] = CalledFromC(trace, self.values)
            return Function(address=self._programs[name].address, context=self.context)
        if name not in self._programs:
            self._programs[name] = program_of(trace)
        own = self._own.__dict__.setdefault("programs", {})
        if name not in own:
            arrays = (*self._programs[name].arrays(), self.values, self.layout.curve)
            own[name] = (arrays, np.array([array.ctypes.data for array in arrays], dtype=np.int64))
        return Function(address=code(interpreter_piece()).address, context=own[name][1])

    def twin(self, name: str, kernel: Kernel, arrays: Fields, work: Fields, forces: Fields) -> Function:
        """See PlainEngine."""
        tables = (arrays.table, work.table, self.model_argument, forces.table)
        context = np.array([table.ctypes.data for table in tables], dtype=np.int64)
        return Function(address=code(twin_piece(name, kernel, type(arrays), type(work))).address, context=context)

    def loop(self, loop: Any) -> Callable[[Any], int]:
        """See Engine."""
        return loop_function(loop)
