"""Runs as netCDF files: what is there by xarray, the rest behind it as it is computed, stretch by stretch."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.results.files import GROWTH, LARGEST, ROOM
from madi.results.labelled import LARGE, Labelled
from madi.results.later import Waiting

if TYPE_CHECKING:
    import xarray as xr

TYPES = ("float64", "float32")
SHRUNK = 4  # how hard zlib tries, of 9: more takes far longer and gains a few percent
CHUNK = 32_768  # numbers that are compressed together


def checked_type(dtype: Any) -> np.dtype[Any]:
    """The type numbers are saved as."""
    try:
        found = np.dtype(float if dtype is None else dtype)
    except TypeError:
        found = np.dtype(object)
    if found.name not in TYPES:
        raise InputError(f"dtype={dtype!r}: runs are saved as {' or '.join(TYPES)}")
    return found


def parted(arrays: Any) -> tuple[xr.Dataset, dict[str, Waiting]]:
    """A Dataset of what is there, and what nobody has asked for yet; little of it is computed now."""
    if isinstance(arrays, Labelled):
        waiting = {name: v.waiting for name, v in arrays.data_vars.items() if v.waiting is not None}
        if sum(math.prod(one.shape) for one in waiting.values()) < LARGE:
            arrays.compute()
            waiting = {}
        there = Labelled({}, {}, arrays.attrs)
        there.coords = arrays.coords
        there.data_vars = {name: v for name, v in arrays.data_vars.items() if name not in waiting}
        return there.dataset(own=False), waiting
    from madi.results.unread import still_unread

    found = {str(name): still_unread(arrays[name]) for name in arrays.data_vars}
    waiting = {name: one for name, one in found.items() if one is not None}
    return arrays.drop_vars(list(waiting)), waiting


def write(path: Path, data: xr.Dataset, waiting: dict[str, Waiting], described: Any, dtype: Any, compression: bool) -> None:
    """Write all to a file. `described`: run.arrays, for dimensions and attributes of what is waiting."""
    number = checked_type(dtype)
    floats = [str(name) for name in data.data_vars if data[name].dtype.kind == "f"]
    shrunk: dict[str, Any] = {"zlib": True, "complevel": SHRUNK, "shuffle": True} if compression else {}
    coding = {name: {"dtype": number.name, **(shrunk if data[name].ndim else {})} for name in floats}
    data.to_netcdf(path, engine="h5netcdf", encoding=coding if compression or dtype is not None else None)
    if waiting:
        _append(path, waiting, described, number, compression)
    _make_room(path)


def _append(path: Path, waiting: dict[str, Waiting], described: Any, number: np.dtype[Any], compression: bool) -> None:
    """The quantities that are still to be computed, in one pass."""
    import h5netcdf

    later = next(iter(waiting.values())).later
    later.compute(name for name in waiting if later.quantities[name].whole is not None)
    with h5netcdf.File(path, "a") as file:
        made = {}
        for name, one in waiting.items():
            inner = math.prod(one.shape[1:])
            chunks = (max(1, min(one.shape[0], CHUNK // max(inner, 1))), *one.shape[1:])
            coded: dict[str, Any] = {"chunks": chunks}
            if compression:
                coded |= {"compression": "gzip", "compression_opts": SHRUNK, "shuffle": True}
            variable = described[name]
            made[name] = file.create_variable(
                name, tuple(variable.dims), dtype=number, fillvalue=number.type(np.nan), **coded
            )
            for key, value in variable.attrs.items():
                made[name].attrs[key] = value
        for first, last, values in later.stretches(waiting):
            for name, part in values.items():
                made[name][first:last] = part


def _make_room(path: Path) -> None:
    """A file says by its length how much it may hold (files.py): where a run that hardly changes was compressed to almost
    nothing, a hole is left behind it, which takes no room on the disk."""
    import h5py

    total = 0
    with h5py.File(path, "r") as file:
        for name in file:
            total += math.prod(file[name].shape or ()) * file[name].dtype.itemsize
    wanted = -(-(min(total, LARGEST) - ROOM) // GROWTH)
    if wanted > path.stat().st_size:
        with path.open("r+b") as end:
            end.truncate(wanted)
