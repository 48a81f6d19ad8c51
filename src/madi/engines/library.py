"""The library made with the package (ahead/): all pieces of the general engine as machine code, for several processors.

It knows the sources it was made of: field order and shapes are part of machine code, and one made of other sources would
give garbage in silence. Where none fits, Numba compiles (pieces.py).
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from madi.engines.cache import SUFFIXES, kernel_hash
from madi.errors import InputError

FOLDER = Path(__file__).parent.parent / "libraries"
SOURCES = "madi_sources"  # the symbol that holds the hash of its sources
HASH_LENGTH = 16
LEVELS = ("x86-64-v4", "x86-64-v3", "x86-64-v2")  # best first
FEATURES = {  # of /proc/cpuinfo, beyond the level below
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}
AVX2, AVX512F = 40, 41  # what Windows calls them
SYSCTL = {  # what macOS calls those that tell the levels apart
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx2_0", "bmi1", "bmi2", "f16c", "fma"),
}


def symbol(piece: str) -> str:
    """The C name of a piece."""
    return "madi_" + re.sub(r"\W", "_", piece)


def file_name(level: str, system: str = sys.platform) -> str:
    """Of the library for a processor."""
    return level + SUFFIXES.get(system, ".so")


def has_features(level: str) -> bool:
    """Whether this processor has all of a level's features; not knowing means no, but for the lowest."""
    if level == LEVELS[-1]:
        return True
    below = LEVELS[LEVELS.index(level) :]
    if sys.platform == "win32":
        has = ctypes.windll.kernel32.IsProcessorFeaturePresent  # type: ignore[attr-defined,unused-ignore]
        return bool(has(AVX512F if level == LEVELS[0] else AVX2))
    if sys.platform == "darwin":
        return all(_sysctl(f"hw.optional.{name}") for lower in below[:-1] for name in SYSCTL[lower])
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        found = next((line for line in text.split("\n") if line.startswith("flags")), "")
    except OSError:
        found = ""
    return all(FEATURES[lower] <= set(found.split()) for lower in below)


def _sysctl(name: str) -> int:
    """A number macOS knows of its processor; 0 where it knows none."""
    value, size = ctypes.c_int64(0), ctypes.c_size_t(8)  # (it fills four bytes or eight)
    ask = ctypes.CDLL(None).sysctlbyname
    failed = ask(name.encode(), ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return 0 if failed else value.value


def levels() -> list[str]:
    """What runs on this processor, best first."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return [level for level in LEVELS if has_features(level)]
    return ["arm64"] if platform.machine().lower() in ("arm64", "aarch64") else []


def there() -> list[str]:
    """Levels that have a library here."""
    return sorted(path.name.removesuffix(file_name("")) for path in FOLDER.glob(file_name("*")))


@cache
def _loaded() -> tuple[Any, str]:
    """The library, or None; its level, or why there is none."""
    asked = os.environ.get("MADI_LIBRARY", "")
    if asked == "none":
        return None, "MADI_LIBRARY=none: machine code made with the package is not used"
    if asked and asked not in there():
        known = ", ".join(there()) or "none"
        raise InputError(f"MADI_LIBRARY={asked!r}: there is no such machine code here (there is {known}); or say none")
    reason = f"this installation has no machine code for {platform.machine()} on {sys.platform}"
    for level in [asked] if asked else levels():
        path = FOLDER / file_name(level)
        if not path.exists():
            continue
        try:
            library = ctypes.CDLL(str(path))
            made_of = (ctypes.c_char * HASH_LENGTH).in_dll(library, SOURCES).value.decode()
        except (OSError, ValueError) as error:
            reason = f"the machine code in {path} cannot be loaded ({error})"
            continue
        if made_of == kernel_hash():
            return library, level
        reason = "the machine code here was made of other sources than these (python -m madi.ahead makes it anew)"
    return None, reason


def is_there() -> bool:
    """Whether there is a library for these sources and this processor."""
    return _loaded()[0] is not None


def level() -> str:
    """Of the library in use; "" without one."""
    return _loaded()[1] if is_there() else ""


def why_none() -> str:
    """Why there is no library."""
    return _loaded()[1]


def has(piece: str) -> bool:
    """Whether the library has a piece."""
    return is_there() and hasattr(_loaded()[0], symbol(piece))


def address(piece: str) -> int:
    """Of a piece's C function; 0: the library does not have it."""
    return function(symbol(piece)) or 0


def function(name: str) -> int | None:
    """The address of a C function of the library by its own name."""
    found = getattr(_loaded()[0], name, None)
    return None if found is None else ctypes.cast(found, ctypes.c_void_p).value
