"""Files from strangers: read as data, of a size that such files have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from madi.errors import InputError

LARGEST = 1_000_000  # bytes: no file a person writes for a model is longer


def read_small(path: Any, what: str) -> str:
    """The text of a file, or an error that names it; `what` it should be is for the message."""
    if not isinstance(path, str | Path):
        raise InputError(f"{what}: give a path, not {type(path).__name__}")
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise InputError(f"{file}: longer than {LARGEST} bytes; that is no {what}")
        return file.read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
