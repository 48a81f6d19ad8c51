"""How many cores there are for this process, and linear algebra on one of them."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

SMALL = 16  # rows: what is smaller, BLAS leaves on one core by itself (some functions deal out thirty)
PACKAGES = ("numpy", "scipy")  # each brings a BLAS of its own
PREFIXES, SUFFIXES = ("scipy_", ""), ("64_", "", "_64")  # of what it calls its functions
BY_OPENMP = 2  # what OpenBLAS says of its threads where their number is each thread's own


@cache
def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Blas(NamedTuple):
    """An OpenBLAS in this process: how many threads it uses, told and set; it is one number for all who call it."""

    count: Any
    set_count: Any


def found_blas() -> list[Blas]:
    """Those of the packages that are loaded. Others (Accelerate, MKL) do not need to be held."""
    paths = set[Path]()
    for package in PACKAGES:
        if f"{package}.linalg" in sys.modules:
            place = Path(str(sys.modules[package].__file__)).parent
            for folder in (place.parent / f"{package}.libs", place / ".dylibs"):  # as wheels have them
                paths |= set(folder.glob("*openblas*"))
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").split("\n")
        mapped = {Path(line.split(maxsplit=5)[5]) for line in maps if "openblas" in line and line.count("/")}
        # the system's; those of other packages serve nobody here, and may come at any time
        paths |= {path for path in mapped if "site-packages" not in path.parts}
    except (OSError, IndexError):
        pass
    loaded = (_blas(path) for path in sorted(path.resolve() for path in paths))
    return [one for one in loaded if one is not None]


def _blas(path: Path) -> Blas | None:
    try:
        library = ctypes.CDLL(str(path))
    except OSError:
        return None
    for prefix in PREFIXES:
        for suffix in SUFFIXES:
            names = (f"{prefix}openblas_{what}{suffix}" for what in ("get_num_threads", "set_num_threads", "get_parallel"))
            get, put, kind = (getattr(library, name, None) for name in names)
            if get is not None and put is not None:
                return None if kind is not None and kind() == BY_OPENMP else Blas(get, put)
    return None


class _Libraries:
    """All of them, and how many hold them on one core: the first notes their numbers, the last puts them back."""

    def __init__(self) -> None:
        self.lock, self.holders = threading.Lock(), 0
        self.known: list[Blas] = []
        self.seen: list[str] = []  # the packages that were loaded when they were looked for
        self.before: list[tuple[Blas, int]] = []

    def hold(self) -> None:
        """One holder more."""
        with self.lock:
            loaded = [package for package in PACKAGES if f"{package}.linalg" in sys.modules]
            if loaded != self.seen:  # SciPy's may come while NumPy's is held
                self.put_back()
                self.seen, self.known = loaded, found_blas()
            if not self.before:
                self.before = [(blas, int(blas.count())) for blas in self.known]
                for blas in self.known:
                    blas.set_count(1)
            self.holders += 1

    def leave(self) -> None:
        """One less."""
        with self.lock:
            self.holders -= 1
            if not self.holders:
                self.put_back()

    def put_back(self) -> None:
        """As many threads as before."""
        for blas, count in self.before:
            blas.set_count(count)
        self.before = []


_libraries = _Libraries()


@contextmanager
def one_core(rows: int = SMALL + 1) -> Iterator[None]:
    """Linear algebra of so many rows (default: many) on one core. BLAS deals even thirty rows out to all of them, and
    there they mostly wait for each other: on two cores eigenvalues took up to fifty times as long. So answers do not depend
    on the number of cores either. Any number of threads may be inside; what others compute meanwhile with NumPy is on one
    core too."""
    if rows <= SMALL:
        yield
        return
    _libraries.hold()
    try:
        yield
    finally:
        _libraries.leave()
