"""The pieces of the general engine: C functions, each compiled by itself.

    entry        int32 (double t, const double *q, const double *v, const double *x, double *out, const int64 *context)
    element      void (const int64 *model, const int64 *work, int64 number): forces, kernels few models need
    loop         int64 (const int64 *memory)

A piece comes from the library made with the package (library.py); without one, from the disk cache, from a second process
that is making it, or is compiled now, by Numba (numba_support.py).
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from madi.engines import library
from madi.engines.cache import do_without, is_kept, is_sealed, is_whole, jit_folder, numba_version, put, workshop
from madi.equations import ENTRIES
from madi.errors import MadiError
from madi.forces import BY_CODE
from madi.kernel import SEPARATE
from madi.kernel.forks import Lock, in_child
from madi.show.waiting import explain_wait

ENTRY, ELEMENT, TWIN, INTERPRETER, LOOP = "entry", "element", "twin", "interpreter", "loop"  # kinds
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_void_p] * 5)
C_TYPES = {
    ENTRY: _ENTRY, TWIN: _ENTRY, INTERPRETER: _ENTRY,
    ELEMENT: ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3),
    LOOP: ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p),
}  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A C function: its name, its kind, and what it is made of (kernels, classes of named memory)."""

    name: str
    kind: str
    of: tuple[Any, ...]


@dataclass(frozen=True)
class Code:
    """Machine code of a piece: where it is, and how Python calls it (without Python's lock)."""

    address: int
    call: Callable[..., Any]
    keep: Any  # what the code lives in


def entry_piece(name: str) -> Piece:
    """An entry (equations/)."""
    return Piece(name, ENTRY, (ENTRIES[name].function,))


def force_piece(code: int) -> Piece:
    """A force element that is not built in."""
    return Piece(f"force-{BY_CODE[code].KIND.name}", ELEMENT, (BY_CODE[code].apply,))


def separate_piece(number: int) -> Piece:
    """A kernel few models need."""
    kernel = SEPARATE[number]
    return Piece(f"{kernel.__module__.removeprefix('madi.')}.{kernel.__name__}", ELEMENT, (kernel,))


def loop_piece(loop: Any) -> Piece:
    """A loop around system functions (integrate/memory.py)."""
    return Piece(f"loop-{loop.name}", LOOP, (loop.kernel, loop.memory))


def twin_piece(name: str, kernel: Any, arrays: Any, work: Any) -> Piece:
    """A kernel with a model and scratch of its own classes."""
    return Piece(f"cartesian-{name}", TWIN, (kernel, arrays, work))


def interpreter_piece() -> Piece:
    """What runs a trace as data."""
    from madi.engines.interpreter import interpret

    return Piece("interpreter", INTERPRETER, (interpret,))


def general_pieces() -> Iterator[Piece]:
    """All pieces but loops and twins, which are of folders further on."""
    yield from map(entry_piece, ENTRIES)
    yield from (force_piece(code) for code, module in BY_CODE.items() if not module.KIND.built_in)
    yield from map(separate_piece, range(len(SEPARATE)))
    yield interpreter_piece()


# ---- machine code -------------------------------------------------------------------------------------------------------


def is_made(name: str) -> bool:
    """Whether a piece needs no compilation."""
    return library.has(name) or is_sealed(jit_folder() / name)


@cache
def code(piece: Piece) -> Code:
    """The machine code of a piece."""
    kind, address = C_TYPES[piece.kind], library.address(piece.name)
    if address:
        return Code(address, kind(address), None)
    made = _compiled(piece)
    return Code(made.address, made.ctypes, made)  # (Numba would make its wrapper anew for every call)


def _compiled(piece: Piece) -> Any:
    """By Numba: from the disk cache, from the helper that is making it, or made now."""
    told = f"kernel {piece.name!r}"
    if piece.name in _helpers:
        explain_wait(told, _helpers.pop(piece.name).wait)
    try:
        from madi.engines import numba_support
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        raise MadiError(
            f"{library.why_none()}; Numba, which would compile it here, is not installed: pip install numba"
        ) from None
    place = jit_folder() / piece.name

    def make() -> Any:
        with workshop(place) as folder:
            try:
                made = numba_support.compile_piece(folder, piece)
            except OSError as error:  # compiled, but there is no room for it
                do_without(place.parent, error)
                return numba_support.compile_piece(None, piece)
            put(folder, place)
        return made

    with _compiling:
        try:
            return numba_support.compile_piece(place, piece) if is_whole(place) else explain_wait(told, make)
        finally:
            numba_support.use_folder(None)  # a user's own functions are not ours to keep


_helpers: dict[str, subprocess.Popen[bytes]] = {}
in_child(_helpers.clear)  # they are another process's children: their end is not seen here
_compiling = Lock()  # Numba's folder is one for the process


def make_beside(entries: list[str], loops: list[Any]) -> None:
    """Where nothing is there yet: let a second process make these pieces while this one makes others."""
    pieces = [*(f"loop-{loop.name}" for loop in loops), *entries]
    missing = [name for name in pieces if not is_made(name) and name not in _helpers]
    enough = 1 if any(name.startswith("close") for name in missing) else 2
    if not numba_version() or len(missing) < enough or not is_kept() or (os.cpu_count() or 1) < 2 or not sys.executable:
        return
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "madi.engines.pieces", *missing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError:
        return
    for name in missing:
        _helpers[name] = process


def _helper(names: list[str]) -> None:
    """The second process: compile, leave everything in the disk cache."""
    # under its package name, so that the cache entries are those the first process will look for
    from madi.engines import pieces

    for name in names:
        if name.startswith("loop-"):
            for module in ("", ".record", ".many", ".batch"):  # bring all loops there are
                import_module(f"madi.integrate{module}")
            loop = import_module("madi.integrate.memory").Loop.known[name.removeprefix("loop-")]
            pieces.code(pieces.loop_piece(loop))
        else:
            pieces.code(pieces.entry_piece(name))


if __name__ == "__main__":
    _helper(sys.argv[1:])
