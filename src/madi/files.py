"""Files from strangers: read as data, of a size that such files have."""

from __future__ import annotations

import glob
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from madi.errors import InputError

LARGEST = 1_000_000  # bytes: no file a person writes for a model is longer


def read_small(path: Any, what: str, largest: int = LARGEST) -> str:
    """The text of a file, or an error that names it; `what` it should be is for the message."""
    if not isinstance(path, str | Path):
        raise InputError(f"{what}: give a path, not {type(path).__name__}")
    file = Path(path)
    try:
        if file.stat().st_size > largest:
            raise InputError(f"{file}: longer than {largest} bytes; that is no {what}")
        return file.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None


STALE = 3600.0  # seconds after which a part of a save that was killed is swept


def _sweep(target: Path, own: str) -> None:
    """Remove what killed saves of the same file left behind."""
    for left in target.parent.glob(f".{glob.escape(target.stem)}-*{glob.escape(target.suffix)}.part"):
        with suppress(OSError):
            if str(left) != own and time.time() - left.stat().st_mtime > STALE:
                left.unlink()


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """A temporary name beside `target` to write to; it becomes `target` when all went well, and vanishes otherwise."""
    if not target.parent.is_dir() or target.is_dir():
        raise InputError(f"{target}: cannot be written; its folder must exist, and it must not be one itself")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix + ".part")
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from None
    os.close(handle)
    _sweep(target, name)
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as any new file of the user's
        os.replace(name, target)
    finally:
        if os.path.exists(name):
            os.unlink(name)
