"""Runs that survive: a checkpoint has every number an integrator goes on from, so that a run taken up again is the same run.

The state, counters and buffers of the integrator, the outputs so far, and the scratch in which loops are closed (it keeps
factored matrices from step to step). All are plain arrays in a `.npz`, written to a temporary name and renamed, with a
checksum. Files may come from anybody: only what is expected is read, sizes first, and nothing that this run could not hold.
"""

from __future__ import annotations

import hashlib
import io
import json
import time as clock
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines.cache import source_hash
from madi.errors import InputError
from madi.files import whole_file
from madi.integrate.contract import ACCEPTED, BEYOND, END, FIXED_STEP, NEXT, STARTED, STEP, TIME
from madi.loops import kkt

if TYPE_CHECKING:
    from madi.solver import Integration

FORMAT = 2
TOLD, HEADER = 65_536, 4096  # bytes: of what a checkpoint tells of its run; of an array's header


class Checkpoint:
    """Writes a run's memory to `path` every so many seconds of computing time. Made before the run begins."""

    def __init__(self, run: Integration, path: Path, every: float):
        self.path, self.every, self.last, self.identity = path, every, clock.perf_counter(), identity(run)
        if not path.parent.is_dir() or path.is_dir():
            raise InputError(f"checkpoint={str(path)!r}: its folder must exist, and it must not be one itself")

    def note(self, run: Integration) -> None:
        """Write, if it is time."""
        if clock.perf_counter() - self.last >= self.every:
            self.write(run)
            self.last = clock.perf_counter()

    def write(self, run: Integration) -> None:
        """Write now."""
        arrays = _arrays(run)
        if run.history is not None:
            arrays["history"] = np.array(run.history, dtype=float).reshape(-1, 5)
        told = json.dumps({**self.identity, "wall": run.wall, "checksum": _checksum(arrays)})
        with whole_file(self.path) as part, part.open("wb") as file:
            np.savez(file, told=np.frombuffer(told.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]

    def take_up(self, run: Integration) -> bool:
        """Restore a run's memory from the file; False: there is none yet. Nothing is restored that this run could not hold:
        its numbers go to machine code."""
        if not self.path.exists():
            return False
        told = _told(self.path)
        for name, value in self.identity.items():
            if told.get(name) != value:
                raise InputError(
                    f"{self.path}: the run it belongs to differs in its {name} ({told.get(name)!r}, now {value!r}); run as "
                    "before, or delete the file to begin anew"
                )
        wanted = _arrays(run)
        stored = _read(self.path, {name: (array.shape, array.dtype) for name, array in wanted.items()})
        if run.history is not None:
            stored |= _read(self.path, {"history": (None, np.dtype(float))})
        wall = told.get("wall")
        if told.get("checksum") != _checksum(stored) or not isinstance(wall, float) or not 0 <= wall < 1e12:
            raise InputError(f"{self.path}: is damaged: its checksum does not fit; delete it to begin anew")
        _refuse_impossible(self.path, run, stored)
        for name, array in wanted.items():
            array[...] = stored[name]
        if run.history is not None:
            run.history = [tuple(row) for row in stored["history"].tolist()]
        run.wall = wall
        return True


def _unreadable(path: Path, why: object = "") -> InputError:
    more = f" ({why})" if str(why) else ""
    return InputError(f"{path}: is no checkpoint that can be read{more}; delete it to begin anew")


def _member(path: Path, name: str, most: int) -> bytes:
    """One member of the file, of at most so many bytes; sizes are asked first."""
    try:
        with zipfile.ZipFile(path) as file:
            found = [info for info in file.infolist() if info.filename == f"{name}.npy"]
            if len(found) != 1:
                raise _unreadable(path, f"{name} is missing or there twice")
            info = found[0]
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _unreadable(path, f"{name} is encrypted or compressed in an unknown way")
            if info.file_size > most:
                raise _unreadable(path, f"{name} is larger than it can be")
            with file.open(info) as member:
                data = member.read(most + 1)
    except InputError:
        raise
    except Exception as error:  # zip files have many ways to be none
        raise _unreadable(path, type(error).__name__) from None
    if len(data) > most:
        raise _unreadable(path, f"{name} is larger than it says")
    return data


def _read(path: Path, wanted: dict[str, tuple[Any, np.dtype[Any]]]) -> dict[str, np.ndarray]:
    """The arrays wanted, of these shapes (None: any number of rows of five) and types."""
    found = {}
    for name, (shape, dtype) in wanted.items():
        most = 10**8 if shape is None else int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        data = io.BytesIO(_member(path, name, most + HEADER))
        try:
            array = np.lib.format.read_array(data, allow_pickle=False, max_header_size=HEADER)
        except Exception as error:
            raise _unreadable(path, f"{name}: {type(error).__name__}") from None
        fits = array.ndim == 2 and array.shape[1] == 5 if shape is None else array.shape == shape
        if not fits or array.dtype != dtype:
            raise InputError(f"{path}: its {name} does not fit this model; delete it to begin anew")
        found[name] = array
    return found


def _told(path: Path) -> dict[str, Any]:
    """What a checkpoint tells of its run."""
    try:
        data = np.lib.format.read_array(io.BytesIO(_member(path, "told", TOLD)), allow_pickle=False, max_header_size=HEADER)
        told = json.loads(bytes(data).decode())
    except InputError:
        raise
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from None
    if not isinstance(told, dict):
        raise _unreadable(path)
    return told


def _refuse_impossible(path: Path, run: Integration, stored: dict[str, np.ndarray]) -> None:
    """Counters and places that no run of this kind comes to: machine code would read and write by them."""
    count, state = stored["memory.count"], stored["memory.state"]
    outputs, end = len(run.times), float(run.state[END])
    limits = {NEXT: (0, outputs), STARTED: (0, 1), **(run.method.limits if count[STARTED] else {})}
    good = bool(np.all(count >= 0) and np.all(count < 2**53))
    good = good and all(low <= count[k] <= high for k, (low, high) in limits.items())
    good = good and bool(np.all(np.abs(state[:4]) < BEYOND)) and 0.0 <= state[TIME] <= end * (1 + 1e-9)
    good = good and any(state[END] == part[1] for part in run.segments())
    step = float(run.option[FIXED_STEP])
    good = good and (step == 0.0 or abs(count[ACCEPTED] * step - state[TIME]) <= step + 1e-6 * end)
    good = good and abs(int(np.searchsorted(run.times, state[TIME] * (1 + 1e-9), "right")) - int(count[NEXT])) <= 1
    at, size = run.method.first, len(run.Q) // outputs + len(run.V) // outputs
    good = good and bool(np.isfinite(state[at : at + size]).all()) and 0.0 <= state[STEP] <= max(end, 1e-300) * (1 + 1e-9)
    for name in ("memory.Q", "memory.V"):
        written = int(count[NEXT]) * (len(stored[name]) // outputs) if good else 0
        good = good and bool(np.isfinite(stored[name][:written]).all())
    tally = stored.get("work.tally")
    if good and tally is not None:
        good = 0 <= tally[kkt.NOTED] <= kkt.ROOM and 0 <= tally[kkt.WAY] <= 4
        for what, most in (("chosen", len(stored.get("work.phi", ()))), ("order", len(stored.get("work.order", ())))):
            places = stored.get(f"work.{what}", np.zeros(0))
            good = good and bool(np.all((places >= 0) & (places < max(most, 1)) & (places == np.floor(places))))
        rows, columns = len(stored.get("work.phi", ())), len(stored.get("work.order", ()))
        good = good and 0 <= tally[kkt.RANK] <= min(rows, columns) and tally[kkt.RANK] == np.floor(tally[kkt.RANK])
    if run.history is not None:
        good = good and len(stored["history"]) <= count[ACCEPTED]
    if not good:
        raise InputError(f"{path}: has counters or places that no such run comes to; delete it to begin anew")


def engine_of(path: Path) -> str | None:
    """The engine of a checkpoint: a run taken up again must not change it."""
    return str(_told(path).get("engine")) if path.exists() else None


def identity(run: Integration) -> dict[str, Any]:
    """What must be as before for a run to be the same run."""
    return {
        "format": FORMAT, "version of madi": source_hash(), "model": run.system.digest, "method": run.method.name,
        "engine": run.engine_name, "options": _hash(run.option), "output times": _hash(run.times),
        "start": _hash(run.state), "history": run.history is not None, "way": run.way,
    }  # fmt: skip


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def _arrays(run: Integration) -> dict[str, np.ndarray]:
    """All that a run remembers, by name."""
    memory = {"Q": run.Q, "V": run.V, "state": run.state, "count": run.count, "buffer": run.buffer}
    arrays = {f"memory.{name}": array for name, array in memory.items()}
    return arrays | {f"work.{name}": np.asarray(view) for name, view in run.scratch().items()}


def _checksum(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def time_of(path: Path) -> float | None:
    """How far the run in a checkpoint has come; None: there is none."""
    if not path.exists():
        return None
    data = io.BytesIO(_member(path, "memory.state", 10**9))
    try:
        return float(np.lib.format.read_array(data, allow_pickle=False, max_header_size=HEADER)[TIME])
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from None
