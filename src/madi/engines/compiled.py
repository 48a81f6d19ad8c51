"""The third life: one model's trace as machine code, made by the C compiler of the machine, kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from madi.engines.cache import cache_folder, source_hash
from madi.engines.entries import ENTRIES
from madi.engines.jit import explain_wait, loop_function
from madi.errors import EngineError
from madi.topology.layout import Layout

FLAGS = [
    "-O2",
    "-march=native",
    "-fPIC",
    "-shared",
    "-std=c99",
    "-fno-math-errno",
    "-ffp-contract=fast",
    "-fno-trapping-math",
]
_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_void_p] * 5)


@cache
def compiler() -> str | None:
    """The C compiler: $CC, cc, gcc or clang, whichever is there first."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and (path := shutil.which(name)):
            return path
    return None


@cache
def machine() -> str:
    """Compiler, its version and the processor's features: machine code made for one is not another's."""
    path = compiler()
    if path is None:
        return ""
    told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n")
        features = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    except OSError:
        features = ""
    return f"{path} {told} {platform.machine()} {platform.processor()} {features}"


def require_compiler() -> str:
    """The compiler, or an error that says what to do."""
    path = compiler()
    if path is None:
        raise EngineError(
            'engine="compiled" needs a C compiler, and none was found (cc, gcc, clang, or $CC). Install one, for example '
            '`apt install gcc` or Xcode\'s command line tools; or use engine="jit", which needs none'
        )
    return path


def library_path(layout: Layout, entry: str, request: tuple[float, ...] = (), parameters: Any = None) -> Path:
    """Where the machine code of an entry of a model is kept: keyed by the model, the sources, the compiler."""
    digest = hashlib.sha256()
    words = [entry, repr(request), parameters.key() if parameters else "", source_hash(), *FLAGS, machine()]
    for part in (layout.ints.tobytes(), layout.reals.tobytes(), " ".join(words)):
        digest.update(part if isinstance(part, bytes) else part.encode())
    return cache_folder() / "compiled" / f"{entry}-{digest.hexdigest()[:24]}.so"


def compile_c(source: str, path: Path) -> None:
    """Compile to a shared library; it appears under its name only when it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        file, made = Path(folder) / "model.c", Path(folder) / "model.so"
        file.write_text(source)
        done = subprocess.run(
            [require_compiler(), *FLAGS, str(file), "-o", str(made), "-lm"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise EngineError(
                f"the C compiler ({require_compiler()}, exit code {done.returncode}) failed on generated code: "
                f'{done.stderr[:2000] or "it said nothing"}. Set $CC to another one, or use engine="jit"'
            )
        os.replace(made, path)


class CompiledEngine:
    """Evaluates entries as C made for this model."""

    name = "compiled"

    def __init__(self, layout: Layout, callbacks: list[str] | None = None, parameters: Any = None, values: Any = None):
        """`layout` as drawn; `parameters` that stay symbols, and the array that holds their values."""
        require_compiler()
        if callbacks:
            names = ", ".join(callbacks)
            raise EngineError(
                f"engine=\"compiled\" cannot trace the function of {names}: it stays in Python. Use madi's or NumPy's "
                'functions and madi.where(...) in it, or engine="jit"'
            )
        self.layout, self.parameters = layout, parameters
        self.context = np.array([0 if values is None else values.ctypes.data, 0], dtype=np.int64)
        self.model_argument = layout.table
        self._loaded: dict[Any, Any] = {}

    def load(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> Any:
        """The C function of an entry, from the disk if it was made before. `request`: see symbolic/trace.py."""
        key = (entry, request)
        if key not in self._loaded:
            path = self._path(entry, request)
            if not path.exists():
                explain_wait(f"C code of {entry!r} for this model", lambda: self._make(entry, request, size, path))
            library = ctypes.CDLL(str(path))
            self._loaded[key] = (_CALL(("entry", library)), library)
        return self._loaded[key][0]

    def _path(self, name: str, request: tuple[float, ...] = ()) -> Path:
        return library_path(self.layout, name, request, self.parameters)

    def _make(self, entry: str, request: tuple[float, ...], size: int, path: Path) -> None:
        from madi.symbolic.codegen import c_source
        from madi.symbolic.trace import trace

        traced = trace(self.layout, entry, request=request, size=size, parameters=self.parameters)
        compile_c(c_source(traced), path)

    def evaluate(self, entry: str, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, size: int) -> np.ndarray:
        """One evaluation; a fresh array of `size` numbers."""
        out = np.zeros(size)
        function = self.load(entry, tuple(x[ENTRIES[entry].given(self.layout.sizes) :].tolist()), size)
        function(t, *(array.ctypes.data for array in (q, v, x, out, self.context)))
        return out

    def function(self, entry: str, request: tuple[float, ...] = (), size: int = 0) -> tuple[int, np.ndarray]:
        """For `kernel.call`: the address of the C function and its context."""
        return ctypes.cast(self.load(entry, request, size), ctypes.c_void_p).value or 0, self.context

    def program(self, name: str, trace: Any) -> tuple[int, np.ndarray]:
        """A trace (a CasADi function of t, q, v, x), as `function` gives an entry."""
        from madi.symbolic.codegen import c_source

        return self.source(name, lambda: c_source(trace))

    def source(self, name: str, make: Callable[[], str]) -> tuple[int, np.ndarray]:
        """The function `entry` of a C file made for this model, as `function` gives an entry."""
        if name not in self._loaded:
            path = self._path(name)
            if not path.exists():
                explain_wait(f"C code of {name!r} for this model", lambda: compile_c(make(), path))
            library = ctypes.CDLL(str(path))
            self._loaded[name] = (_CALL(("entry", library)), library)
        return ctypes.cast(self._loaded[name][0], ctypes.c_void_p).value or 0, self.context

    def loop(self, kernel: Callable[..., Any], arguments: str) -> Callable[..., Any]:
        """A loop around system functions, compiled."""
        return loop_function(kernel, arguments)
