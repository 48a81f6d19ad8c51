"""The machine's C compiler: found, called with a time limit, and not believed: what it made is tried before it is used."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from functools import cache
from pathlib import Path

from madi.engines.cache import LIBRARY_SUFFIX, cache_folder, do_without, processor, put, remove, temporary_folder, workshop
from madi.errors import EngineError
from madi.kernel.cores import cores

# straight-line code has nothing to gain from -ftree-slp-vectorize, which takes a third of the compiler's time
FLAGS = ["-O2", "-std=c99", "-fno-math-errno", "-ffp-contract=fast", "-fno-trapping-math", "-fno-tree-slp-vectorize"]
SHARED = {"win32": ["-shared"], "darwin": ["-fPIC", "-dynamiclib"]}  # elsewhere:
SHARED_ELSEWHERE = ["-fPIC", "-shared"]
ARM = ("arm64", "aarch64")
# clang that makes code as Microsoft's compiler does hands out nothing it is not asked for
EXPORTS = '#ifdef _MSC_VER\n#pragma comment(linker, "/EXPORT:entry")\n#endif\n'
START, USUAL = 0.3, 2.5e-4  # seconds a compiler takes, and per line of generated code (parts are of one length: linear)
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


def flags(part: int | None = None) -> list[str]:
    """What makes a library for this processor, or one object of several: 0 the rest, others parts (symbolic/codegen.py)."""
    processor = "-mcpu=native" if platform.machine().lower() in ARM else "-march=native"  # (clang on ARM knows only this)
    shared = SHARED.get(sys.platform, SHARED_ELSEWHERE)
    if part is None:
        return [*FLAGS, processor, *shared]
    return [*FLAGS, processor, *shared[:-1], "-c", f"-DMADI_OBJECT={part}"]  # (the last one asks for a library)


def libraries() -> list[str]:
    """What is linked besides the C library: on Windows it has the mathematics in it."""
    return [] if sys.platform == "win32" else ["-lm"]


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
            '`apt install gcc`, Xcode\'s command line tools or MinGW-w64; or use engine="jit", which needs none'
        )
    return words


def _run(words: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """A command with a time limit, its children included."""
    return _run_all([words], limit)[0]


def _run_all(commands: list[list[str]], limit: float) -> list[subprocess.CompletedProcess[str]]:
    """Commands, as many at a time as there are cores, within a time limit for all; up to the first that fails."""
    running, done = deque[subprocess.Popen[str]](), list[subprocess.CompletedProcess[str]]()
    waiting, end = deque(commands), time.monotonic() + limit
    try:
        while running or waiting:
            while waiting and len(running) < cores():
                running.append(_started(waiting.popleft()))
            out, error = running[0].communicate(timeout=max(end - time.monotonic(), 0.0))
            process = running.popleft()
            done.append(subprocess.CompletedProcess(process.args, process.returncode, out, error))
            if process.returncode:
                break
    finally:
        for process in running:
            _stop(process)
            process.communicate()
    return done


def _started(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        start_new_session=True,
    )  # fmt: skip


def _stop(process: subprocess.Popen[str]) -> None:
    """End a process that leads a session, and its children."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            told = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], check=False, **told)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def compile_c(source: str, path: Path) -> Path:
    """Compile to a shared library and keep it at `path`; where that cannot be, in a folder of this process. Returns where
    it is."""
    words, lines = require_compiler(), source.count("\n")
    name = shlex.join(words)
    with workshop(path) as folder:
        made = folder / f"model{LIBRARY_SUFFIX}"
        limit = 30.0 + 20.0 * seconds_for(lines)
        try:
            done = _compile(words, _written(source, folder), made, limit)
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
        with contextlib.suppress(OSError):
            remove(_note("broken"))
        if put(made, path):
            return path
        other = Path(tempfile.mkdtemp(dir=temporary_folder())) / path.name
        shutil.copy(made, other)
        return other


def _written(source: str, folder: Path) -> list[Path]:
    """The files that are compiled. Into how many the source is cut has nothing to do with how many cores there are: what
    stands in one file may be folded into one another, and with it the last digits."""
    from madi.symbolic.codegen import objects

    files = []
    try:
        for k, part in enumerate(objects(source)):
            files.append(folder / f"model{k}.c")
            files[-1].write_text(part if k else EXPORTS + part, encoding="utf-8")
    except OSError as error:
        do_without(folder.parent, error)
        raise EngineError(f"there is no room for generated code in {folder.parent} ({error.strerror})") from None
    return files


def _compile(words: tuple[str, ...], files: list[Path], made: Path, limit: float) -> subprocess.CompletedProcess[str]:
    """One file to a library; several to objects, side by side, and these to one."""
    ends = ["-o", str(made), *libraries()]
    if len(files) == 1:
        return _run([*words, *flags(), str(files[0]), *ends], limit)
    compiled = [str(file.with_suffix(".o")) for file in files]
    begin = time.monotonic()
    commands = [[*words, *flags(k), str(file), "-o", one] for k, (file, one) in enumerate(zip(files, compiled, strict=True))]
    done = _run_all(commands, limit)[-1]
    if done.returncode:
        return done
    return _run([*words, *flags(), *compiled, *ends], max(limit - (time.monotonic() - begin), 1.0))


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


def seconds_for(lines: int) -> float:
    """How long code of so many lines usually takes to compile, on one core. (Not how long it took here: what "auto" chooses
    would depend on what was run before, and with it the last digits.)"""
    return START + USUAL * lines
