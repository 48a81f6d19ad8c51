"""Runs as netCDF files: what is there by xarray, the rest behind it as it is computed, stretch by stretch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.results.files import GROWTH, LARGEST, ROOM
from madi.results.labelled import LARGE, Labelled
from madi.results.later import Later, Waiting

if TYPE_CHECKING:
    import xarray as xr

TYPES = ("float64", "float32")
SHRUNK = 4  # how hard zlib tries, of 9: more takes far longer and gains a few percent
CHUNK = 32_768  # numbers that are compressed together
AT_ONCE = 1_000_000  # numbers of a variable that are written at once


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
    long = [name for name in data.data_vars if data[name].dims[:1] == ("time",) and data[name].size > AT_ONCE]
    there = {str(name): data[name].variable for name in long if data[name].dtype.kind == "f"}
    data = data.drop_vars(list(there))
    floats = [str(name) for name in data.data_vars if data[name].dtype.kind == "f"]
    shrunk: dict[str, Any] = {"zlib": True, "complevel": SHRUNK, "shuffle": True} if compression else {}
    coding = {name: {"dtype": number.name, **(shrunk if data[name].ndim else {})} for name in floats}
    data.to_netcdf(path, engine="h5netcdf", encoding=coding if compression or dtype is not None else None)
    if waiting or there:
        _append(path, waiting, {name: described[name] for name in waiting} | there, number, compression)
    _make_room(path)


def _append(
    path: Path, waiting: dict[str, Waiting], variables: dict[str, Any], number: np.dtype[Any], compression: bool
) -> None:
    """What is long, and what is still to be computed, in one pass. `variables`: dimensions and attributes of all, numbers of
    those that are there."""
    import h5netcdf

    later = next((one.later for one in waiting.values()), None)
    if later is not None:
        later.compute(name for name in waiting if later.quantities[name].whole is not None)
    with h5netcdf.File(path, "a") as file:
        made = {}
        for name, variable in variables.items():
            shape = waiting[name].shape if name in waiting else variable.shape
            for dim, count in zip(variable.dims, shape, strict=True):
                if dim not in file.dimensions:
                    file.dimensions[dim] = count
            chunks = (max(1, min(shape[0], CHUNK // max(math.prod(shape[1:]), 1))), *shape[1:])
            coded: dict[str, Any] = {"chunks": chunks}
            if compression:
                coded |= {"compression": "gzip", "compression_opts": SHRUNK, "shuffle": True}
            made[name] = file.create_variable(
                name, tuple(variable.dims), dtype=number, fillvalue=number.type(np.nan), **coded
            )
            for key, value in variable.attrs.items():
                made[name].attrs[key] = value
        there = {name: variable for name, variable in variables.items() if name not in waiting}
        for first, last, values in _stretches(later, waiting, there):
            for name, part in values.items():
                made[name][first:last] = part


def _stretches(later: Later | None, waiting: dict[str, Waiting], there: dict[str, Any]) -> Iterator[tuple[int, int, Any]]:
    """(first, last, {name: values})."""
    if later is not None:
        for first, last, values in later.stretches(waiting):
            yield first, last, values | {name: variable[first:last].values for name, variable in there.items()}
        return
    for name, variable in there.items():
        step = max(AT_ONCE // math.prod(variable.shape[1:]), 1)
        for first in range(0, len(variable), step):
            last = min(first + step, len(variable))
            yield first, last, {name: variable[first:last].values}


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
