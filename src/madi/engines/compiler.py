"""The machine's C compiler: found, called with a time limit, and not believed: what it made is tried before it is used."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from madi.engines.cache import cache_folder, do_without, processor, put, remove, temporary_folder, workshop
from madi.errors import EngineError

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
USUAL = 1e-4  # seconds per line of generated code, until some were measured here
MEASURED = 40  # compilations remembered
A_DAY = 86_400.0  # seconds for which a compiler that failed is not tried again
TRIAL = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).entry"


@cache
def compiler() -> tuple[str, ...] | None:
    """The C compiler and its own arguments: $CC ("gcc -O1" too), cc, gcc or clang, whichever is there first."""
    try:
        asked = shlex.split(os.environ.get("CC", ""))
    except ValueError:
        asked = []
    for words in (asked, ["cc"], ["gcc"], ["clang"]):
        if words and (path := shutil.which(words[0])):
            return (path, *words[1:])
    return None


@cache
def machine() -> str:
    """Compiler, its version and the processor's features: machine code made for one is not another's."""
    words = compiler()
    if words is None:
        return ""
    told = ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = _run([*words, "--version"], 10.0)
        told = done.stdout.split("\n")[0]
    return f"{' '.join(words)} {told} {processor()}"


def require_compiler() -> tuple[str, ...]:
    """The compiler, or an error that says what to do."""
    words = compiler()
    if words is None:
        raise EngineError(
            'engine="compiled" needs a C compiler, and none was found (cc, gcc, clang, or $CC). Install one, for example '
            '`apt install gcc` or Xcode\'s command line tools; or use engine="jit", which needs none'
        )
    return words


def _run(words: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """A command with a time limit, its children included."""
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, error = process.communicate(timeout=limit)
        except BaseException:
            with contextlib.suppress(OSError, AttributeError):
                os.killpg(process.pid, 9)
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, error)


def compile_c(source: str, path: Path) -> Path:
    """Compile to a shared library and keep it at `path`; where that cannot be, in a folder of this process. Returns where
    it is."""
    words, lines = require_compiler(), source.count("\n")
    name = shlex.join(words)
    began = time.perf_counter()
    with workshop(path) as folder:
        file, made = folder / "model.c", folder / "model.so"
        try:
            file.write_text(source)
        except OSError as error:
            do_without(folder.parent, error)
            raise EngineError(f"there is no room for generated code in {folder.parent} ({error.strerror})") from None
        limit = 30.0 + 20.0 * seconds_for(lines)
        try:
            done = _run([*words, *FLAGS, str(file), "-o", str(made), "-lm"], limit)
        except subprocess.TimeoutExpired:
            raise _broken(f"the C compiler ({name}) took longer than {limit:.0f} s", remember=False) from None
        except OSError as error:
            raise _broken(f"the C compiler ({name}) cannot be started ({error.strerror})") from None
        if done.returncode != 0:
            told = done.stderr[:2000] or "it said nothing"
            killed = done.returncode < 0  # for want of memory, say: another time it may go well
            raise _broken(f"the C compiler ({name}, exit code {done.returncode}) failed: {told}", remember=not killed)
        trouble = _trouble(made)
        if trouble:  # it may be the folder: one from which nothing may be run
            other = Path(tempfile.mkdtemp(dir=temporary_folder())) / path.name
            if made.exists():
                shutil.copy(made, other)
            if not made.exists() or _trouble(other):
                raise _broken(f"the C compiler ({name}) made something that cannot be loaded: {trouble}")
            do_without(path.parent, OSError(0, "nothing can be run from there"))
            return other
        _note_time(lines, time.perf_counter() - began)
        if put(made, path):
            return path
        other = Path(tempfile.mkdtemp(dir=temporary_folder())) / path.name
        shutil.copy(made, other)
        return other


def _trouble(library: Path) -> str:
    """Why a library cannot be loaded, tried in another process: garbage may kill the one that loads it."""
    if not library.exists():
        return "there is no file"
    if not sys.executable:
        return ""
    try:
        done = _run([sys.executable, "-I", "-S", "-c", TRIAL, str(library)], 60.0)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().split("\n") or [""])[-1][-300:] or f"exit code {done.returncode}"


# ---- what is remembered of it -------------------------------------------------------------------------------------------


def _note(what: str) -> Path:
    return cache_folder() / f"compiler-{hashlib.sha256(machine().encode()).hexdigest()[:12]}.{what}"


def _broken(why: str, remember: bool = True) -> EngineError:
    """An error; "auto" does not try this compiler again for a day."""
    if remember:
        with contextlib.suppress(OSError):
            _note("broken").write_text(why)
    return EngineError(f'{why}. Set $CC to another one, or use engine="jit"')


def is_trusted() -> bool:
    """Whether there is a compiler that has not failed on this machine."""
    try:
        recently = time.time() - _note("broken").stat().st_mtime < A_DAY
    except OSError:
        recently = False
    return compiler() is not None and not recently


def _times() -> list[list[float]]:
    try:
        found = json.loads(_note("times").read_text())
        return [[float(a), float(b)] for a, b in found if a > 0 and b > 0]
    except (OSError, ValueError, TypeError, RecursionError):
        return []


def _note_time(lines: int, seconds: float) -> None:
    """Remember a compilation that went well."""
    with contextlib.suppress(OSError):
        remove(_note("broken"))
        part = _note(f"times-{os.getpid()}")
        part.write_text(json.dumps([*_times(), [max(lines, 1), seconds]][-MEASURED:]))
        os.replace(part, _note("times"))


def seconds_for(lines: int) -> float:
    """How long code of so many lines takes to compile, by the measurement nearest in size; compilers' time grows faster
    than the code."""
    known = _times()
    if not known:
        return 0.3 + USUAL * lines * max(1.0, lines / 5000) ** 0.5
    nearest, took = min(known, key=lambda item: abs(item[0] - lines))
    return took * (lines / nearest) ** 1.3 if lines > nearest else took
