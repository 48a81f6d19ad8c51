"""From the pieces to libraries: work dealt out to processes, objects linked, files put in place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from madi.ahead import pieces
from madi.ahead.back import hash_object, link, linker
from madi.ahead.front import GENERIC
from madi.ahead.symbols import symbols
from madi.engines import library
from madi.engines.cache import kernel_hash
from madi.engines.crossing import BIND
from madi.engines.library import FOLDER, LEVELS, SOURCES, file_name, levels, symbol

CROSSING = Path(__file__).parent / "crossing.c"


@dataclass(frozen=True)
class Platform:
    """Where a library runs: what LLVM calls it, what zig calls it, what Python and wheels call it, and its processors."""

    triple: str
    zig: str
    system: str
    tag: str
    levels: tuple[str, ...]


PLATFORMS = {
    "linux-x86_64": Platform("x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", "linux", "manylinux_2_17_x86_64", LEVELS),
    "linux-aarch64": Platform(
        "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", "linux", "manylinux_2_17_aarch64", ("arm64",)
    ),
    "macos-arm64": Platform("arm64-apple-macosx11.0.0", "aarch64-macos.11.0", "darwin", "macosx_11_0_arm64", ("arm64",)),
    "macos-x86_64": Platform(
        "x86_64-apple-macosx10.13.0", "x86_64-macos.10.13", "darwin", "macosx_10_13_x86_64", LEVELS[1:]
    ),
    "windows-amd64": Platform("x86_64-pc-windows-gnu", "x86_64-windows-gnu", "win32", "win_amd64", LEVELS),
}
PROCESSOR = {"arm64": "generic"}  # what LLVM calls a level, where it has another word
# libraries every machine of a system has (the C library under its names)
EVERYWHERE = re.compile(
    r"lib[cm]\.so\.6|ld-linux-.*|/usr/lib/libSystem\.B\.dylib|(kernel32|ntdll|msvcrt|ucrtbase|api-ms-win-crt-.*)\.dll", re.I
)


def here() -> str:
    """This machine's platform, by its name in PLATFORMS; "" for others."""
    import platform

    system = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    name = f"{system}-{platform.machine().lower()}"
    return name if name in PLATFORMS else ""


def _at_once(module: str, first: Sequence[str], dealt: Sequence[Sequence[str]], environment: dict[str, str]) -> None:
    """Run a module in processes side by side, each with its share of the arguments."""
    shares: list[list[str]] = [[] for _ in range(os.cpu_count() or 1)]
    for k, item in enumerate(dealt):
        shares[k % len(shares)] += item
    commands = [[sys.executable, "-m", module, *first, *share] for share in shares if share]
    running = [subprocess.Popen(command, env={**os.environ, **environment}) for command in commands]
    if any([process.wait() for process in running]):
        raise RuntimeError(f"{module} failed")


def front(folder: Path) -> list[str]:
    """Bitcode of all pieces into a folder; their names."""
    names = [piece.name for piece in pieces()]
    _at_once("madi.ahead.front", [str(folder)], [[name] for name in names], GENERIC)
    return names


def back(folder: Path, names: list[str], platform: Platform, level: str, target: Path, zig: bool = True) -> None:
    """The library of a processor, of the bitcode in the folder."""
    made = folder / f"{platform.zig}-{level}"
    made.mkdir()
    objects = [made / f"{name}.o" for name in names]
    pairs = [[str(folder / f"{name}.bc"), str(path)] for name, path in zip(names, objects, strict=True)]
    _at_once("madi.ahead.back", [platform.triple, PROCESSOR.get(level, level)], pairs, {})
    (made / "sources.o").write_bytes(hash_object(platform.triple, kernel_hash()))
    command, linked = linker(platform.zig if zig else None), made / target.name
    subprocess.run([*command, "-O2", "-fPIC", "-c", str(CROSSING), "-o", str(made / "crossing.o")], check=True)
    objects += [made / "sources.o", made / "crossing.o"]
    exported = [BIND, *(symbol(name) for name in names)]
    link(objects, linked, command, exported)
    look_at(linked, [SOURCES, *exported])
    target.parent.mkdir(exist_ok=True)
    part = target.with_suffix(f".part-{os.getpid()}")
    part.write_bytes(linked.read_bytes())
    os.replace(part, target)


def look_at(library: Path, wanted: list[str]) -> None:
    """Stop where a library lacks a function or needs what not every machine has: it may be for one we cannot try it on."""
    found = symbols(library.read_bytes())
    missing = sorted(set(wanted) - found.exported)
    strange = sorted(name for name in found.libraries if not EVERYWHERE.fullmatch(name))
    if missing or strange:
        raise RuntimeError(f"{library.name}: without {missing}, needs {strange}")


def build_for(platform: Platform, folder: Path) -> list[Path]:
    """The libraries of a platform, for all its processors, into a folder."""
    with tempfile.TemporaryDirectory() as name:
        names = front(Path(name))
        made = [folder / file_name(level, platform.system) for level in platform.levels]
        for level, path in zip(platform.levels, made, strict=True):
            back(Path(name), names, platform, level, path)
    return made


def build_here(every_level: bool = False) -> int:
    """The library for this machine, into the package, unless it is there; an exit code."""
    if library.is_there() and not every_level:
        return 0
    if not here():
        print("madi.ahead: no recipe for this machine; Numba will compile at the first run")
        return 0
    platform = PLATFORMS[here()]
    if not linker(None):
        print("madi.ahead: no linker (a C compiler, or pip install ziglang); Numba will compile at the first run")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("madi: making the machine code of the general engine (once; a minute or two) ...", flush=True)
        names = front(folder)
        for level in platform.levels if every_level else levels()[:1]:
            back(folder, names, platform, level, FOLDER / file_name(level), zig=False)
    return 0
