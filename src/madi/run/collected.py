"""Results of many runs as they come: in arrays made beforehand, or in files beside the one they shall be in.

A file of a part is written under another name first: what is there is whole, whatever happened to the process that wrote
it. A sweep that was broken off is asked for again, with the same file, and only what is missing is computed.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, RunError
from madi.files import whole_file
from madi.given import File
from madi.results.files import look_through, seal

if TYPE_CHECKING:
    import xarray as xr

    from madi.run.slice import Slices, Sweep

PARTS, PART = ".parts", re.compile(r"runs-(\d+)-(\d+)\.nc")
FULL = 4_000_000  # numbers (32 MB) that wait before they are written


class Collected:
    """What is kept of all runs."""

    def __init__(self, sweep: Sweep, slices: Slices, out: File | None):
        self.sweep, self.kept, self.times = sweep, slices.kept, slices.times
        self.told: dict[int, tuple[str, str]] = {}
        self.bar: Any = None
        self.done = 0
        self.arrays: dict[str, Any] = {}
        self.target = None if out is None else Path(out)
        self.missing = [(0, sweep.count)]
        if self.target is not None:
            self._take_up(self.target)

    def put(self, first: int, last: int, values: dict[str, np.ndarray], told: dict[int, tuple[str, str]]) -> None:
        """The results of the runs from first to last."""
        self.told |= told
        self.done += last - first
        if self.target is not None:
            self._wait(first, last, values)
        else:
            for name, part in values.items():
                if name not in self.arrays:
                    shape, of = (self.sweep.count, *part.shape[1:]), part.dtype
                    self.arrays[name] = np.full(shape, None if of.hasobject else np.nan, dtype=of)
                self.arrays[name][first:last] = part
        if self.bar is not None:
            self.bar.show(float(self.done))

    def dataset(self) -> xr.Dataset:
        """All runs, labelled."""
        if self.target is not None:
            return self._from_file(self.target)
        if self.told and len(self.told) == self.sweep.count and not self.kept.states_alone:
            raise RunError(f"simulate_many: every run failed; the first: {self.told[min(self.told)][1]}", None)
        return self._labelled(self.arrays, 0, self.sweep.count)

    def _labelled(self, arrays: dict[str, np.ndarray], first: int, last: int) -> xr.Dataset:
        """These runs as a Dataset."""
        import xarray as xr

        kept, data = self.kept, dict[str, Any]()
        for name in kept.asked:
            if name in kept.functions:
                values = whole(arrays[name])
                data[name] = (("run", *(f"{name}_{k}" for k in range(values.ndim - 1))), values)
            else:
                dims, attrs = kept.described(name)
                data[name] = (dims, arrays[name], attrs)
        used = {dim for dims, *_ in data.values() for dim in dims}
        known = {name: (v.dims, v.values, v.attrs) for name, v in kept.empty.coords.items() if name != "time"}
        if kept.states_alone:
            used |= {"coordinate", "speed"}
        coords: dict[str, Any] = {"run": np.arange(first, last)}
        if "time" in used:
            coords["time"] = ("time", self.times, {"units": "s"})
        coords |= {name: given for name, given in known.items() if set(given[0]) <= used}
        for j, name in enumerate(self.sweep.wanted.names):
            coords[name] = ("run", self.sweep.values[first:last, j])
        told = [self.told.get(k, ("", "")) for k in range(first, last)]
        data["message"] = ("run", np.array([text for _, text in told], dtype=str))
        data["cause"] = ("run", np.array([cause for cause, _ in told], dtype=str))
        return xr.Dataset(data, coords, {"model": self.sweep.system.name, **self._failures(c for c, _ in told)})

    def _failures(self, causes: Iterator[str]) -> dict[str, str]:
        """How many runs failed of each cause."""
        counts = Counter(cause for cause in causes if cause)
        return {"failures": ", ".join(f"{cause}: {n}" for cause, n in counts.most_common())} if counts else {}

    # ---- files ------------------------------------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """Of all that the results depend on: parts of another sweep are not this one's."""
        sweep, kept = self.sweep, self.kept
        asked = [
            (name, what if isinstance(what, str) else getattr(what, "__qualname__", "")) for name, what in kept.asked.items()
        ]
        starts = [(what, _bytes(value)) for what, value in sweep.starts.given.items()]
        options = sorted((name, _bytes(value)) for name, value in sweep.options.items())
        told = (sweep.system.digest, sweep.wanted.names, sweep.duration, asked, starts, options)
        return hashlib.sha256(repr(told).encode() + sweep.values.tobytes()).hexdigest()[:16]

    def _take_up(self, target: Path) -> None:
        """What is there already."""
        if target.suffix.lower() != ".nc":
            raise InputError(f"out={str(target)!r}: results of many runs are written as .nc")
        self.folder = target.with_name(target.name + PARTS)
        self.waiting: list[tuple[int, int, dict[str, np.ndarray]]] = []
        self.there: list[tuple[int, int, Path]] = []
        if target.exists():
            if self._is_ours(target):
                self.missing, self.done = [], self.sweep.count
                return
            raise InputError(f"{target}: is there already, and is not of this sweep; remove it, or give another name")
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(self.folder.iterdir()):
            found = PART.fullmatch(path.name)
            if found and self._is_ours(path):
                self.there.append((int(found[1]), int(found[2]), path))
            elif found:
                raise InputError(f"{path}: is a part of another sweep; remove {self.folder}, or give another name")
        self.missing, at = [], 0
        for first, last, _ in sorted(self.there):
            if first > at:
                self.missing.append((at, first))
            at = last
        if at < self.sweep.count:
            self.missing.append((at, self.sweep.count))
        self.done = sum(last - first for first, last, _ in self.there)

    def _is_ours(self, path: Path) -> bool:
        import xarray as xr

        look_through(path)
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as file:
            return bool(file.attrs.get("sweep") == self.digest)

    def _wait(self, first: int, last: int, values: dict[str, np.ndarray]) -> None:
        """Results are written when there are enough of them."""
        self.waiting.append((first, last, values))
        if sum(part.size for _, _, held in self.waiting for part in held.values()) >= FULL or self.done >= self.sweep.count:
            self.flush()

    def flush(self) -> None:
        """Write what waits: neighbours together."""
        self.waiting.sort(key=lambda item: item[0])
        while self.waiting:
            together = [self.waiting.pop(0)]
            while self.waiting and self.waiting[0][0] == together[-1][1]:
                together.append(self.waiting.pop(0))
            first, last = together[0][0], together[-1][1]
            arrays = {name: np.concatenate([values[name] for _, _, values in together]) for name in together[0][2]}
            path = self.folder / f"runs-{first:09d}-{last:09d}.nc"
            with whole_file(path) as part:
                self._labelled(arrays, first, last).assign_attrs(sweep=self.digest).to_netcdf(part, engine="h5netcdf")
                seal(part)
            self.there.append((first, last, path))

    def _from_file(self, target: Path) -> xr.Dataset:
        """The parts made one file; it is read as it is asked for."""
        import xarray as xr

        if not target.exists():
            self.flush()
            with whole_file(target) as part:
                _join(part, [path for _, _, path in sorted(self.there)], self.sweep.count)
                seal(part)
            shutil.rmtree(self.folder)
        return xr.open_dataset(target, engine="h5netcdf", decode_times=False)


def _join(target: Path, parts: list[Path], count: int) -> None:
    """One file of the parts, a part in memory at a time."""
    import h5netcdf

    causes: Counter[str] = Counter()
    with h5netcdf.File(target, "w") as file:
        for path in parts:
            with h5netcdf.File(path, "r") as one:
                if not file.dimensions:
                    for name, dim in one.dimensions.items():
                        file.dimensions[name] = count if name == "run" else dim.size
                    for name, value in one.attrs.items():
                        if name != "failures":
                            file.attrs[name] = value
                first = int(one.variables["run"][0])
                for name, variable in one.variables.items():
                    _copy(file, name, variable, first)
                causes.update(str(cause) for cause in np.asarray(one.variables["cause"][:], dtype=str) if cause)
        if causes:
            file.attrs["failures"] = ", ".join(f"{cause}: {n}" for cause, n in causes.most_common())


def _copy(file: Any, name: str, variable: Any, first: int) -> None:
    """A part's variable to its place in the whole."""
    along = "run" in variable.dimensions
    if name not in file.variables:
        fill = variable.dtype.type(np.nan) if variable.dtype.kind == "f" else None
        made = file.create_variable(name, variable.dimensions, dtype=variable.dtype, fillvalue=fill)
        for key, value in variable.attrs.items():
            if key != "_FillValue":
                made.attrs[key] = value
        if not along:
            made[...] = variable[...]
    if along:
        values = variable[...]
        file.variables[name][first : first + len(values)] = values


def whole(found: np.ndarray) -> np.ndarray:
    """What functions gave of runs, as one array; NaN of those that failed."""
    shape = next((one.shape for one in found if one is not None), ())
    return np.array([np.full(shape, np.nan) if one is None else one for one in found])


def _bytes(value: Any) -> str:
    """Numbers in all their digits; anything else as it shows itself."""
    if isinstance(value, dict):
        return repr({name: _bytes(one) for name, one in value.items()})
    return hashlib.sha256(value.tobytes()).hexdigest() if isinstance(value, np.ndarray) else repr(value)
