"""Where compiled code is kept between processes.

A *piece* is a file or a folder in the cache; beside it lies its seal, NAME.seal, with length and hash of each of its files.
It is made in a folder of its own, brought to the disk, renamed, then sealed; it is used only if its seal fits. So what a
full disk, a crash or a stranger left behind is never loaded: it is removed and made anew. Only the user can write here.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from madi.errors import MadiWarning

# folders with kernels, and what makes machine code of them
KERNELS = (
    "ahead", "bodies", "cartesian", "constraints", "dynamics", "engines", "equations", "forces", "integrate", "joints",
    "kernel", "loops", "signals", "spatial",
)  # fmt: skip
GENERATORS = ("export", "symbolic", "topology")  # what generated code is made by, besides
LIMIT_MB = 1000  # of the cache, unless $MADI_CACHE_MB says otherwise
STALE = 86_400.0  # seconds after which what an interrupted process left behind is swept
FRESH = 60.0  # seconds within which a piece without a seal is being made
SEAL = ".seal"
SUFFIXES = {"win32": ".dll", "darwin": ".dylib"}  # of libraries; elsewhere .so
LIBRARY_SUFFIX = SUFFIXES.get(sys.platform, ".so")


def sources(*folders: str) -> Iterator[Path]:
    """All sources in these folders of the package."""
    for folder in folders:
        found = (Path(__file__).parent.parent / folder).rglob("*")
        yield from sorted(path for path in found if path.suffix in (".py", ".c"))


def _hash(first: str, paths: Iterator[Path]) -> str:
    digest = hashlib.sha256(first.encode())
    for path in paths:
        digest.update(path.name.encode())
        digest.update(path.read_bytes().replace(b"\r", b""))  # (as some systems check out)
    return digest.hexdigest()[:16]


@cache
def kernel_hash() -> str:
    """Hash of the kernels; a changed one must never meet old machine code."""
    return _hash("", sources(*KERNELS))


@cache
def jit_hash() -> str:
    """The same for code that depends on the Python that made it."""
    return _hash(sys.version + kernel_hash(), iter(()))


@cache
def source_hash() -> str:
    """The same for generated code."""
    return _hash(jit_hash(), sources(*GENERATORS))


@cache
def processor() -> str:
    """The processor's kind and features: machine code made for one is not another's."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n")
        features = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    except OSError:
        features = ""
    return f"{platform.machine()} {platform.processor()} {features}"


@cache
def numba_version() -> str:
    """ "" where Numba is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("numba")
    except PackageNotFoundError:
        return ""


@cache
def jit_folder() -> Path:
    """Where Numba keeps the machine code of these sources. Its index knows them by place and time of change too."""
    stamps = processor() + "".join(f"{path}{path.stat().st_mtime_ns}" for path in sources(*KERNELS))
    place = hashlib.sha256(stamps.encode()).hexdigest()[:8]
    return cache_folder() / f"numba-{numba_version() or 'none'}-{jit_hash()}-{place}"


# ---- the folder ---------------------------------------------------------------------------------------------------------


@cache
def cache_folder() -> Path:
    """$MADI_CACHE_DIR, else the system's place for a user's caches; where neither can be used, one that vanishes with the
    process."""
    from platformdirs import user_cache_dir

    asked = os.environ.get("MADI_CACHE_DIR", "")
    wanted = Path(asked or user_cache_dir("madi", appauthor=False))
    try:
        wanted = Path(os.path.realpath(os.path.expanduser(wanted)))
        fresh = not wanted.exists()
        wanted.mkdir(parents=True, exist_ok=True)
        if not _own(wanted):
            raise PermissionError(0, "it belongs to another user")
        if fresh or not asked:  # whatever the umask: machine code that others could write would be run
            wanted.chmod(0o700)
        elif hasattr(os, "getuid") and wanted.stat().st_mode & 0o022:
            raise PermissionError(0, "others may write it")
        with tempfile.TemporaryFile(dir=wanted) as file:
            file.write(b"room")
            file.flush()
        return wanted
    except OSError as error:
        do_without(wanted, error)
        return temporary_folder()


@cache
def temporary_folder() -> Path:
    """A folder of this process, removed when it ends; not when one forked from it does."""
    made, owner = Path(tempfile.mkdtemp(prefix="madi-")), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    _temporary.append(made)
    return made


_temporary: list[Path] = []


def is_kept() -> bool:
    """Whether what is made is there for the next process."""
    return cache_folder() not in _temporary


_told: set[str] = set()


def do_without(folder: Path, error: OSError) -> None:
    """One warning: runs go on, compiled code is not kept."""
    if str(folder) not in _told:
        _told.add(str(folder))
        text = (
            f"compiled code cannot be kept in {folder} ({error.strerror or error}): every process makes it anew. Make room "
            "or set MADI_CACHE_DIR to a folder of your own"
        )
        warnings.warn(MadiWarning(text), stacklevel=2)


def _own(path: Path) -> bool:
    """Whether it is ours and nobody else may write it; a link is neither."""
    if not hasattr(os, "getuid"):
        return True
    found = path.lstat()
    ours = found.st_uid == os.getuid() and not path.is_symlink()
    return ours and (path.is_dir() or not found.st_mode & 0o022)


# ---- pieces -------------------------------------------------------------------------------------------------------------


def _seal(piece: Path) -> Path:
    return piece.with_name(piece.name + SEAL)


def _files(piece: Path) -> dict[str, Path]:
    """The files of a piece by their names in it."""
    if not piece.is_dir():
        return {"": piece}
    return {str(path.relative_to(piece)): path for path in sorted(piece.rglob("*")) if not path.is_dir()}


def _contents(piece: Path) -> dict[str, list[object]]:
    """Length and hash of every file."""
    found = {}
    for name, path in _files(piece).items():
        data = path.read_bytes()
        found[name] = [len(data), hashlib.sha256(data).hexdigest()]
    return found


def is_whole(piece: Path) -> bool:
    """Whether a piece is there, ours and as it was made; what is damaged is removed."""
    try:
        if not _seal(piece).exists() and (not piece.exists() or time.time() - piece.stat().st_mtime < FRESH):
            return False  # nothing, or another process is about to seal it
        told = json.loads(_seal(piece).read_text())
        if all(_own(path) for path in _files(piece).values()) and told == _contents(piece):
            os.utime(_seal(piece))  # used just now
            return True
    except (OSError, ValueError, RecursionError):
        pass
    remove(piece)
    return False


def is_sealed(piece: Path) -> bool:
    """Whether a piece seems to be there: what a plan may be made on, not what is loaded."""
    return _seal(piece).exists()


def remove(piece: Path) -> None:
    """Piece and seal, as far as they are there and can be removed."""
    with contextlib.suppress(OSError):
        _seal(piece).unlink(missing_ok=True)
    if piece.is_dir() and not piece.is_symlink():
        shutil.rmtree(piece, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            piece.unlink(missing_ok=True)


@contextlib.contextmanager
def workshop(piece: Path) -> Iterator[Path]:
    """A folder of its own beside a piece, to make it in; gone afterwards."""
    try:
        piece.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=piece.parent, prefix=".new-"))
    except OSError as error:
        do_without(piece.parent, error)
        made = Path(tempfile.mkdtemp(dir=temporary_folder(), prefix=".new-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def put(made: Path, piece: Path) -> bool:
    """Take what was made into the cache, sealed; whether that worked. Where another process was quicker, its piece stays."""
    try:
        for path in _files(made).values():
            path.chmod(0o700 if path.suffix == LIBRARY_SUFFIX else 0o600)
            with path.open("rb+") as file:
                os.fsync(file.fileno())
        told = json.dumps(_contents(made))
        if is_whole(piece):
            return True
        os.replace(made, piece)  # (a file that is there is replaced on all systems)
        part = _seal(piece).with_suffix(f".part-{os.getpid()}")
        with part.open("w") as file:
            file.write(told)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, _seal(piece))
    except OSError as error:
        if is_whole(piece) or (made.is_dir() and piece.exists()):  # another process was quicker
            return True
        do_without(piece.parent, error)
        return False
    prune(piece)
    return True


# ---- room ---------------------------------------------------------------------------------------------------------------


def _below(ending: str) -> list[Path]:
    """Files with this ending in the cache; other processes may be removing some."""
    return [Path(folder) / name for folder, _, names in os.walk(cache_folder()) for name in names if name.endswith(ending)]


def pieces() -> list[tuple[Path, int, float]]:
    """(piece, bytes, when it was last used) of all that is kept."""
    found = []
    for seal in _below(SEAL):
        piece = seal.with_name(seal.name.removesuffix(SEAL))
        with contextlib.suppress(OSError):
            found.append((piece, sum(path.stat().st_size for path in _files(piece).values()), seal.stat().st_mtime))
    return found


def limit() -> float:
    """Bytes the cache may take."""
    try:
        return 1e6 * float(os.environ.get("MADI_CACHE_MB", LIMIT_MB))
    except ValueError:
        return 1e6 * LIMIT_MB


def prune(just_made: Path | None = None) -> int:
    """Remove what was not used for longest until the cache is within its limit, and what interrupted processes left;
    bytes freed."""
    kept = sorted((item for item in pieces() if item[0] != just_made), key=lambda item: item[2])
    total, freed = sum(size for _, size, _ in kept), 0
    if total > limit():
        for piece, size, _ in kept:
            if total - freed <= 0.8 * limit():
                break
            remove(piece)
            freed += size
    for folder, inner, _ in os.walk(cache_folder()):
        for left in [Path(folder) / name for name in inner if name.startswith(".new-")]:
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > STALE:
                    shutil.rmtree(left, ignore_errors=True)
    return freed


def clear() -> int:
    """Remove everything; bytes freed."""
    freed = sum(size for _, size, _ in pieces())
    for pattern in ("numba-*", "compiled", "compiler-*"):  # the folder may be anybody's: only what is ours
        for entry in cache_folder().glob(pattern):
            remove(entry)
    return freed
