"""The third life: one model's trace as machine code, made by the C compiler of the machine, kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from madi.engines.cache import LIBRARY_SUFFIX, cache_folder, is_whole, remove, source_hash, temporary_folder
from madi.engines.compiler import compile_c, flags, machine, require_compiler
from madi.engines.jit import loop_function
from madi.equations import ENTRIES
from madi.kernel.fields import Function
from madi.show.waiting import explain_wait
from madi.topology.layout import Layout

_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_void_p] * 5)
_LANES = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 7)


def library_path(layout: Layout, entry: str, request: tuple[float, ...] = (), parameters: Any = None) -> Path:
    """Where the machine code of an entry of a model is kept: keyed by the model, the sources, the compiler."""
    digest = hashlib.sha256()
    words = [entry, repr(request), parameters.key() if parameters else "", source_hash(), *flags(), machine()]
    for part in (layout.structure.tobytes(), layout.reals.tobytes(), layout.curve_key, " ".join(words)):
        digest.update(part if isinstance(part, bytes) else part.encode())
    return cache_folder() / "compiled" / f"{entry}-{digest.hexdigest()[:24]}{LIBRARY_SUFFIX}"


def _library(path: Path, name: str, source: Callable[[], str], kind: Any = _CALL) -> tuple[Any, Any]:
    """The function `entry` of a library, and the library: from the disk if it is there and whole, else made."""
    if is_whole(path):
        try:
            library = ctypes.CDLL(str(path))
            return kind(("entry", library)), library
        except (OSError, AttributeError):
            remove(path)
    made = explain_wait(f"C code of {name!r} for this model", lambda: compile_c(source(), path))
    try:
        library = ctypes.CDLL(str(made))
    except OSError:  # another process has just removed it
        library = ctypes.CDLL(str(compile_c(source(), temporary_folder() / path.name)))
    return kind(("entry", library)), library


class CompiledEngine:
    """Evaluates entries as C made for this model."""

    name = "compiled"
    machine_code = made_for_model = True

    @classmethod
    def of(cls, system: Any) -> CompiledEngine:
        """See Engine."""
        return cls(system.drawn, system.outside, system.parameters, system.values)

    def __init__(self, layout: Layout, outside: Any = None, parameters: Any = None, values: Any = None):
        """`layout` as drawn; `outside`: the functions that stay in Python, which C calls by their addresses; `parameters`
        that stay symbols, and the array that holds their values."""
        require_compiler()
        self.layout, self.outside, self.parameters = layout, outside, parameters
        reach = 0 if outside is None else outside.addresses.ctypes.data
        addresses = [0 if values is None else values.ctypes.data, reach, layout.curve.ctypes.data]
        self.context = np.array(addresses, dtype=np.int64)
        self._loaded: dict[Any, Any] = {}

    def for_run(self, directions: bool = False, options: Any = None) -> CompiledEngine:
        """See Engine. It is itself: generated code keeps nothing between calls."""
        return self

    def with_slopes(self, slopes: Any) -> CompiledEngine:
        """See Engine. It is itself: the recursion is the general engine's, here derivatives are traced."""
        return self

    def load(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Any:
        """The C function of an entry, from the disk if it was made before. `request`: see symbolic/trace.py."""
        key = (entry, request)
        if key not in self._loaded:
            self._loaded[key] = _library(self._path(entry, request), entry, lambda: self._source(entry, request, size))
        return self._loaded[key][0]

    def _path(self, name: str, request: tuple[float, ...] = ()) -> Path:
        if self.outside is not None and name in ("step", "jacobian"):  # its pattern depends on what the functions see
            request = (*request, *(float(number) for entry in self.outside.entries for number in entry))
        return library_path(self.layout, name, request, self.parameters)

    def _source(self, entry: str, request: tuple[float, ...], size: int) -> str:
        from madi.symbolic.codegen import c_source
        from madi.symbolic.trace import traced_with_outside

        traced, seen = traced_with_outside(self.layout, entry, request=request, size=size, parameters=self.parameters)
        return c_source(traced, seen=seen, outside=self.outside)

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """See Engine."""
        out = np.zeros(size)
        function = self.load(entry, tuple(x[ENTRIES[entry].given(self.layout.sizes) :].tolist()), size)
        function(t, *(array.ctypes.data for array in (q, v, x, out, self.context)))
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Function:
        """See Engine."""
        return self._at(self.load(entry, request, size))

    def lanes(self, entry: str, request: tuple[float, ...], size: int) -> Any:
        """See Engine; a state in each lane of the processor's vectors. Functions in Python have no lanes."""
        if self.outside is not None:
            return None
        key = f"{entry}-lanes"
        if (key, request) not in self._loaded:
            made = _library(self._path(key, request), key, lambda: self._lane_source(entry, request, size), _LANES)
            self._loaded[key, request] = made
        function, context = self._loaded[key, request][0], self.context.ctypes.data

        def lanes(first: int, last: int, arrays: Sequence[np.ndarray], strides: Sequence[int]) -> None:
            steps = np.array(strides, dtype=np.int64)
            function(first, last, *(array.ctypes.data for array in arrays), steps.ctypes.data, context)

        return lanes

    def _lane_source(self, entry: str, request: tuple[float, ...], size: int) -> str:
        from madi.symbolic.lanes import lane_source
        from madi.symbolic.trace import trace

        return lane_source(trace(self.layout, entry, request=request, size=size, parameters=self.parameters))

    def _at(self, loaded: Any) -> Function:
        return Function(address=ctypes.cast(loaded, ctypes.c_void_p).value or 0, context=self.context)

    def program(self, name: str, trace: Any) -> Function:
        """See Engine."""
        from madi.symbolic.codegen import c_source

        return self.source(name, lambda: c_source(trace.function, seen=trace.seen, outside=trace.outside))

    def source(self, name: str, make: Callable[[], str]) -> Function:
        """The function `entry` of a C file made for this model, as `function` gives an entry."""
        if name not in self._loaded:
            self._loaded[name] = _library(self._path(name), name, make)
        return self._at(self._loaded[name][0])

    def loop(self, loop: Any) -> Callable[[Any], int]:
        """See Engine."""
        return loop_function(loop)
