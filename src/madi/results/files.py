"""Result files (netCDF, which is HDF5) of anybody: looked through before anything in them is read.

HDF5 can point to other files (external links, external storage, virtual datasets) and declare arrays far larger than the
file. A run has none of that: plain arrays of numbers and texts in one group. What madi wrote ends with a checksum, so that
damage is seen before HDF5's own code meets it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import InputError

MARK = b"madi-sha256:"
TRAILER = len(MARK) + 64
LARGEST = 16 * 2**30  # bytes of all arrays
GROWTH, ROOM = 100, 64 * 2**20  # arrays may be so many times the file (compressed), and so much more
MOST_ARRAYS = 10_000


def seal(path: Path) -> None:
    """Put the checksum behind the file's last byte; HDF5 does not mind."""
    digest = _digest(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(MARK + digest.encode())


def _digest(path: Path, count: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while count > 0:
            part = file.read(min(count, 2**20))
            if not part:
                break
            digest.update(part)
            count -= len(part)
    return digest.hexdigest()


def look_through(path: Path) -> None:
    """Raise InputError, with the place, where a file is damaged or is none of ours."""
    size = path.stat().st_size
    with path.open("rb") as file:
        if size > TRAILER:
            file.seek(size - TRAILER)
            end = file.read(TRAILER)
            if end.startswith(MARK) and end[len(MARK) :].decode("ascii", "replace") != _digest(path, size - TRAILER):
                raise InputError(f"{path}: is damaged: its checksum does not fit")
    import h5py

    try:
        with h5py.File(path, "r") as opened:
            _members(opened, path, size)
    except InputError:
        raise
    except Exception as error:  # HDF5 has many ways to say that a file is none
        raise InputError(f"{path}: not a run that madi can read ({type(error).__name__}: {str(error)[:200]})") from None


def _members(opened: Any, path: Path, size: int) -> None:
    import h5py

    total, names = 0, list(opened)
    if len(names) > MOST_ARRAYS:
        raise InputError(f"{path}: has {len(names)} arrays; that is no run")
    for name in names:
        where = f"{path}, {name!r}"
        if not isinstance(opened.get(name, getlink=True), h5py.HardLink):
            raise InputError(f"{where}: points elsewhere; a run's file is whole by itself")
        member = opened[name]
        if not isinstance(member, h5py.Dataset):
            raise InputError(f"{where}: is no array; runs have no groups")
        if member.is_virtual or member.external:
            raise InputError(f"{where}: its numbers are in another file; that is not read")
        text = h5py.check_string_dtype(member.dtype) is not None
        if not text and member.dtype.kind not in "iufbS":
            raise InputError(f"{where}: holds {member.dtype}, neither numbers nor text")
        count = 1
        for length in member.shape or ():
            count *= int(length)
        total += count * max(int(member.dtype.itemsize), 1)
        if total > min(LARGEST, GROWTH * size + ROOM):
            raise InputError(f"{where}: declares more numbers than a file of {size} bytes can hold")


def refuse_misfits(path: Path, data: Any) -> None:
    """What every run has must have the shape that all of madi relies on."""
    wanted = {"q": ("time", "coordinate"), "v": ("time", "speed"), "position": ("time", "body", "axis"),
              "orientation": ("time", "body", "quaternion")}  # fmt: skip
    for name, dims in wanted.items():
        if name not in data.data_vars or data[name].dims != dims or data[name].dtype.kind != "f":
            raise InputError(f"{path}, {name!r}: not a run that madi can read (it wants numbers over {', '.join(dims)})")
    for dim in ("time", "coordinate", "speed", "body"):
        if dim not in data.coords:
            raise InputError(f"{path}: not a run that madi can read (it has no {dim!r})")
    for dim, count in (("axis", 3), ("quaternion", 4)):
        if data.sizes[dim] != count:
            raise InputError(f"{path}: {dim!r} has {data.sizes[dim]} entries, not {count}")
    time = data["time"].values
    if time.dtype.kind != "f" or not np.isfinite(time).all() or np.any(np.diff(time) <= 0):
        raise InputError(f"{path}, 'time': is not a row of increasing numbers")
