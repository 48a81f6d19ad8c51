"""The second life: all kernels compiled by Numba, once, for any model.

Each entry becomes a C function (abi.py); an integrator's loop calls it by its address, so that integrators and formulations
are compiled once each, not once per pair, and generated C (compiled.py) can take an entry's place.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from madi.engines.cache import is_kept, is_sealed, is_whole, jit_folder, put, workshop
from madi.equations import ENTRIES
from madi.equations.fields import Arrays
from madi.forces import BY_CODE
from madi.kernel import SEPARATE, Kernel
from madi.kernel.fields import Fields, Function
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


def is_made(piece: str) -> bool:
    """Whether a piece is in the disk cache."""
    return is_sealed(jit_folder() / piece)


def _make(what: str, told: str, compiled: Callable[[Any, Path], Any]) -> Any:
    """A compiled piece: from the disk cache, from the helper that is making it, or made now. `compiled` makes it with
    Numba's cache in a folder."""
    if what in _helpers:
        explain_wait(told, _helpers.pop(what).wait)
    from madi.engines import abi

    piece = jit_folder() / what

    def make() -> Any:
        with workshop(piece) as folder:
            made = compiled(abi, folder)
            put(folder, piece)
        return made

    with _compiling:
        try:
            return compiled(abi, piece) if is_whole(piece) else explain_wait(told, make)
        finally:
            abi.use_folder(None)  # a user's own functions are not ours to keep


@cache
def entry_function(entry: str) -> Any:
    """The C function of an entry."""
    return _make(entry, f"kernel {entry!r}", lambda abi, folder: abi.compile_entry(folder, ENTRIES[entry].function))


@cache
def entry_callable(entry: str) -> Any:
    """The same for calls from Python; Numba would make the wrapper anew for every call."""
    return entry_function(entry).ctypes


@cache
def element_function(code: int) -> Any:
    """The C function of a force element that is not built in."""
    module = BY_CODE[code]
    piece = f"force-{module.KIND.name}"
    return _make(piece, f"kernel {piece!r}", lambda abi, folder: abi.compile_element(folder, module.apply))


def model_table(layout: Layout) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """The layout's table with the addresses of its force elements and of kernels few models need, and the arrays that hold
    them (keep them)."""
    kinds = layout.arrays.force_kind
    calls = np.array(
        [0 if BY_CODE[k].KIND.built_in else element_function(k).address for k in map(int, kinds)], dtype=np.int64
    )
    table, place = layout.arrays.table.copy(), list(Arrays.fields).index
    table[place("force_call")] = calls.ctypes.data
    if layout.header("n_other"):
        separate = np.array([separate_function(number).address for number in range(len(SEPARATE))], dtype=np.int64)
        table[place("separate")] = separate.ctypes.data
        return table, (calls, separate)
    return table, (calls,)


@cache
def separate_function(number: int) -> Any:
    """The C function of a kernel few models need."""
    kernel = SEPARATE[number]
    piece = f"{kernel.__module__.removeprefix('madi.')}.{kernel.__name__}"
    return _make(piece, f"kernel {piece!r}", lambda abi, folder: abi.compile_element(folder, kernel))


@cache
def twin_function(name: str, kernel: Kernel, arrays: type[Fields], work: type[Fields]) -> Any:
    """The C function of a kernel with a model and scratch of its own classes."""
    return _make(name, f"kernel {name!r}", lambda abi, folder: abi.compile_twin(folder, kernel, arrays, work))


@cache
def interpreter_function() -> Any:
    """The C function that runs a trace as data."""
    return _make("interpreter", "the interpreter of traces", lambda abi, folder: abi.compile_interpreter(folder))


@cache
def loop_function(loop: Any) -> Callable[[Any], int]:
    """A loop around system functions (integrate/memory.py), compiled."""
    piece = f"loop-{loop.name}"
    made = _make(piece, piece, lambda abi, folder: abi.compile_loop(folder, loop.kernel, loop.memory))
    return lambda memory: int(made(memory.table))


_helpers: dict[str, subprocess.Popen[bytes]] = {}
_compiling = threading.RLock()  # Numba's folder is one for the process


def make_beside(entries: list[str], loops: list[Any]) -> None:
    """Where nothing is in the disk cache yet: let a second process make these pieces while this one makes others."""
    if not is_kept():
        return
    pieces = [*(f"loop-{loop.name}" for loop in loops), *entries]
    missing = [name for name in pieces if not is_made(name) and name not in _helpers]
    enough = 1 if any(name.startswith("close") for name in missing) else 2
    if len(missing) < enough or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "madi.engines.jit", *missing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return
    for name in missing:
        _helpers[name] = process


def _helper(pieces: list[str]) -> None:
    """The second process: compile, leave everything in the disk cache."""
    # under its package name, so that the cache entries are those the first process will look for
    from madi.engines import jit

    for piece in pieces:
        if piece.startswith("loop-"):
            import_module("madi.integrate.record")  # brings all loops there are
            import_module("madi.integrate")
            loop = import_module("madi.integrate.memory").Loop.known[piece.removeprefix("loop-")]
            jit.loop_function(loop)
        else:
            jit.entry_function(piece)


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
        self._dense, self._options = False, None
        self._own: Any = threading.local()  # each thread has its own scratch: the calls release Python's lock

    def for_run(self, dense: bool = False, options: Any = None) -> JitEngine:
        """See Engine."""
        other = copy.copy(self)
        other._own, other._dense, other._options = SimpleNamespace(), dense, options  # a run is one thread's at a time
        return other

    @property
    def work(self) -> Any:
        """This thread's scratch."""
        if not hasattr(self._own, "work"):
            self._own.work = self.layout.scratch(self._dense, options=self._options)
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
        entry_callable(entry)(t, *(a.ctypes.data for a in (q, v, x, out, self.context)))
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Function:
        """See Engine; requests are read from x at run time."""
        return Function(address=entry_function(entry).address, context=self.context)

    def program(self, name: str, trace: Any) -> Function:
        """See Engine; it is run as data (interpreter.py)."""
        from madi.engines.interpreter import Program
        from madi.engines.plain import CalledFromC

        if trace.outside is not None:  # functions in Python take longer than all the rest
            if name not in self._programs:
                self._programs[name] = CalledFromC(trace, self.values)
            return Function(address=self._programs[name].address, context=self.context)
        if name not in self._programs:
            self._programs[name] = Program(trace.function)
        own = self._own.__dict__.setdefault("programs", {})
        if name not in own:
            arrays = (*self._programs[name].arrays(), self.values)
            own[name] = (arrays, np.array([array.ctypes.data for array in arrays], dtype=np.int64))
        return Function(address=interpreter_function().address, context=own[name][1])

    def twin(self, name: str, kernel: Kernel, arrays: Fields, work: Fields, forces: Fields) -> Function:
        """See PlainEngine."""
        tables = (arrays.table, work.table, self.model_argument, forces.table)
        context = np.array([table.ctypes.data for table in tables], dtype=np.int64)
        classes: tuple[Any, Any] = type(arrays), type(work)
        return Function(address=twin_function(name, kernel, *classes).address, context=context)

    def loop(self, loop: Any) -> Callable[[Any], int]:
        """See Engine."""
        return loop_function(loop)


if __name__ == "__main__":
    _helper(sys.argv[1:])
