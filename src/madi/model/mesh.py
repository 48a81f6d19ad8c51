"""Triangles of STL and OBJ files, for the page. Files from strangers: sizes are checked before anything is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import FileError

LARGEST = 30_000_000  # bytes
MOST_TRIANGLES = 200_000


def read_mesh(path: Any) -> np.ndarray:
    """Corners of all triangles, (n, 3, 3), in the file's unit."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise FileError(f"{file}: longer than {LARGEST} bytes; make a coarser mesh")
        raw = file.read_bytes()
    except OSError as error:
        raise FileError(f"{file}: cannot be read ({error.strerror})") from None
    corners = _obj(raw, file) if file.suffix.lower() == ".obj" else _stl(raw, file)
    if len(corners) > MOST_TRIANGLES:
        raise FileError(f"{file}: more than {MOST_TRIANGLES} triangles; make a coarser mesh")
    if not len(corners) or not np.isfinite(corners).all():
        raise FileError(f"{file}: has no triangles, or numbers that are not finite")
    return corners


def _stl(raw: bytes, file: Path) -> np.ndarray:
    count = int.from_bytes(raw[80:84], "little") if len(raw) >= 84 else 0
    if len(raw) == 84 + 50 * count and count:
        kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
        return np.frombuffer(raw, dtype=kind, offset=84)["corners"].astype(float)
    if not raw.lstrip()[:5].lower() == b"solid":
        raise FileError(f"{file}: is no STL file (its length does not fit its count of triangles)")
    rows = []
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if words and words[0].lower() == "vertex":
            rows.append(_three(words[1:4], file, number))
    if len(rows) % 3:
        raise FileError(f"{file}: {len(rows)} vertices are no whole number of triangles")
    return np.array(rows, dtype=float).reshape(-1, 3, 3)


def _obj(raw: bytes, file: Path) -> np.ndarray:
    points: list[list[float]] = []
    found: list[list[list[float]]] = []
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if words[:1] == ["v"]:
            points.append(_three(words[1:4], file, number))
        elif words[:1] == ["f"]:
            try:
                numbers = [int(word.split("/")[0]) for word in words[1:]]
                corners = [points[n - 1 if n > 0 else len(points) + n] for n in numbers if n]
            except (ValueError, IndexError):
                raise FileError(f"{file}, line {number}: {line[:60]!r} is no face of known vertices") from None
            found += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
            if len(found) > MOST_TRIANGLES:
                break
    return np.array(found, dtype=float).reshape(-1, 3, 3)


def _three(words: list[str], file: Path, number: int) -> list[float]:
    try:
        values = [float(word) for word in words]
        assert len(values) == 3
    except (ValueError, AssertionError):
        raise FileError(f"{file}, line {number}: a vertex is three numbers") from None
    return values
