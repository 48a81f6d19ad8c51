"""Runs that survive: a checkpoint has every number an integrator goes on from, so that a run taken up again is the same run.

The state, counters and buffers of the integrator, the outputs so far, and the scratch in which loops are closed (it keeps
factored matrices from step to step). All are plain arrays in a `.npz`, written to a temporary name and renamed, with a
checksum. The outputs of a run that goes to a file (run/stream.py) lie in a file already, beside the checkpoint, which has
their digest alone. Files may come from anybody: only what is expected is read, sizes first, and nothing that this run could
not hold.
"""

from __future__ import annotations

import hashlib
import io
import json
import time as clock
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines import library
from madi.engines.cache import source_hash
from madi.errors import InputError
from madi.files import whole_file
from madi.integrate.march import ON_GRID
from madi.integrate.step import BEYOND
from madi.kernel import LEAST_SIZE
from madi.loops.memory import REMEMBERED
from madi.run.options import positive

if TYPE_CHECKING:
    from madi.run.solver import Integration

FORMAT = 4
LONGEST, ADDED_UP = 1e12, 1e-6  # s of computing; of the duration: rounding of the sum of all steps a run can have
TOLD, HEADER = 65_536, 4096  # bytes: of what a checkpoint tells of its run; of an array's header


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is kept while it goes on: `file`, written every so many seconds of computing; `resume`: the run goes on
    from it if it is there (else it begins). A run that was cut and taken up again equals the whole run bit for bit. The
    file stays; so does FILE.outputs beside it, in which the outputs of a run with `out` are."""

    file: str | Path
    every: float = 10.0
    resume: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.file, str | Path):
            raise InputError(f"checkpoint={self.file!r}: give the name of a file, or madi.Checkpoint(file, every=, resume=)")
        positive(self.every, "every")

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.file)


class Keeper:
    """Writes a run's memory to a checkpoint now and then. Made before the run begins."""

    def __init__(self, run: Integration, checkpoint: Checkpoint):
        self.path, self.every = checkpoint.path, checkpoint.every
        self.last, self.identity = clock.perf_counter(), identity(run)
        self.digest = Digest(run)
        if not self.path.parent.is_dir() or self.path.is_dir():
            raise InputError(f"checkpoint={str(self.path)!r}: its folder must exist, and it must not be one itself")

    def note(self, run: Integration) -> None:
        """Write, if it is time."""
        if clock.perf_counter() - self.last >= self.every:
            self.write(run)
            self.last = clock.perf_counter()

    def write(self, run: Integration) -> None:
        """Write now."""
        arrays = self._arrays(run)
        run.store.flush()
        arrays |= {name: np.array(rows, dtype=float).reshape(-1, width) for name, (rows, width) in _growing(run).items()}
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
        wanted = self._arrays(run)
        stored = _read(self.path, {name: (array.shape, array.dtype) for name, array in wanted.items()})
        for name, (_, width) in _growing(run).items():
            stored |= _read(self.path, {name: ((None, width), np.dtype(float))})
        wall = told.get("wall")
        if told.get("checksum") != _checksum(stored) or not isinstance(wall, float) or not 0 <= wall < LONGEST:
            raise InputError(f"{self.path}: is damaged: its checksum does not fit; delete it to begin anew")
        stored |= self._outputs(run, stored)
        _refuse_impossible(self.path, run, stored)
        for name, array in wanted.items():
            if name != "outputs.digest":
                array[...] = stored[name]
        if run.history is not None:
            run.history = [tuple(row) for row in stored["history"].tolist()]
        if run.n_held:
            run.events = [(time, int(k), mode, lost) for time, k, mode, lost in stored["events"].tolist()]
        run.wall = wall
        return True

    def _arrays(self, run: Integration) -> dict[str, np.ndarray]:
        """All that a run remembers, by name; of outputs that are in a file, their digest."""
        outputs = {"outputs.digest": self.digest.upto(run)} if self.digest.streamed else _outputs(run)
        arrays = outputs | {"time": np.array([run.memory.t])}
        for name, memory in {"memory": run.memory, **run.scratch()}.items():
            arrays |= {f"{name}.ints": memory.int_memory, f"{name}.reals": memory.real_memory}
        return arrays

    def _outputs(self, run: Integration, stored: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Those in a file, if they are those the checkpoint was written with."""
        if not self.digest.streamed:
            return {}
        m, fresh = run.memory, Digest(run)
        there = type(m)(m.sizes, stored["memory.ints"], stored["memory.reals"], **m.parts())
        if not 0 <= there.next <= len(run.times) or np.any(fresh.upto(run, int(there.next)) != stored["outputs.digest"]):
            raise InputError(
                f"{self.path}: the outputs beside it ({self.path.name}.outputs) are not there, or not its own; delete both "
                "to begin anew"
            )
        self.digest = fresh
        return _outputs(run)


class Digest:
    """Of the outputs of a run that are in a file, as far as they were written: each is looked at once."""

    def __init__(self, run: Integration):
        self.streamed = run.store.at_once is not None
        self.known = {name: hashlib.sha256() for name in _outputs(run)}
        self.count = 0

    def upto(self, run: Integration, count: int | None = None) -> np.ndarray:
        """After so many outputs; as many as there are."""
        last = int(run.memory.next) if count is None else count
        whole = hashlib.sha256()
        for name, values in _outputs(run).items():
            width = len(values) // len(run.times)
            self.known[name].update(values[self.count * width : last * width])  # type: ignore[arg-type]
            whole.update(self.known[name].digest())
        self.count = last
        return np.frombuffer(whole.digest(), dtype=np.uint8)


def _growing(run: Integration) -> dict[str, tuple[list[Any], int]]:
    """Lists that grow while a run goes on, of rows of so many numbers."""
    found: dict[str, tuple[list[Any], int]] = {} if run.history is None else {"history": (run.history, 5)}
    return found | ({"events": (run.events, 4)} if run.n_held else {})


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
    """The arrays wanted, of these shapes (of the first None: any number of rows) and types."""
    found = {}
    for name, (shape, dtype) in wanted.items():
        open_ended = shape[:1] == (None,)
        most = 10**8 if open_ended else int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        data = io.BytesIO(_member(path, name, most + HEADER))
        try:
            array = np.lib.format.read_array(data, allow_pickle=False, max_header_size=HEADER)
        except Exception as error:
            raise _unreadable(path, f"{name}: {type(error).__name__}") from None
        fits = array.ndim == 2 and array.shape[1:] == shape[1:] if open_ended else array.shape == shape
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
    m = run.memory
    there = type(m)(m.sizes, stored["memory.ints"], stored["memory.reals"], **m.parts())
    outputs, end, step = len(run.times), run.segments()[-1][1], run.steps.step or 0.0
    good = bool(np.all(stored["memory.ints"] >= -1) and np.all(stored["memory.ints"] < 2**53)) and 0 <= there.next <= outputs
    good = good and there.started in (0, 1) and min(there.accepted, there.rejected, there.evaluations, there.upto) >= 0
    good = (
        good
        and there.upto <= outputs
        and all(low <= getattr(there, name) <= high for name, (low, high) in (m.limits if there.started else {}).items())
    )
    times = np.array([there.t, there.h, there.start, there.end])
    good = good and bool(np.all(np.abs(times) < BEYOND)) and 0.0 <= there.t <= end * (1 + ON_GRID)
    good = good and any(there.end == part[1] for part in [*run.segments(), (0, end)])
    good = good and (step == 0.0 or abs(there.start + there.grid * step - there.t) <= step + ADDED_UP * end)
    good = good and abs(int(np.searchsorted(run.times, there.t * (1 + ON_GRID), "right")) - int(there.next)) <= 1
    good = good and bool(np.isfinite(there.q).all() and np.isfinite(there.v).all())
    good = good and 0.0 <= there.h <= max(end, LEAST_SIZE) * (1 + ON_GRID) and _same_options(run, there)
    for name in ("outputs.q", "outputs.v"):
        written = int(there.next) * (len(stored[name]) // outputs) if good else 0
        good = good and bool(np.isfinite(stored[name][:written]).all())
    if good and "work.ints" in stored:
        good = _possible_loops(run.scratch(), stored)
    if run.history is not None:
        good = good and len(stored["history"]) <= there.accepted
    if run.n_held:
        past = stored["events"]
        good = good and 0 <= there.events <= len(there.event_of) and bool(np.isfinite(past).all())
        good = good and bool(np.all((past[:, 1] >= 0) & (past[:, 1] < run.n_held) & (past[:, 1] == np.floor(past[:, 1]))))
    if not good:
        raise InputError(f"{path}: has counters or places that no such run comes to; delete it to begin anew")


def _same_options(run: Integration, there: Any) -> bool:
    """Options are not what a run changes, those of its method included: putting them in anew changes nothing."""
    anew = type(there)(there.sizes, there.int_memory.copy(), there.real_memory.copy(), **there.parts())
    run.steps.put(anew, there.end)
    run.method.put(anew)
    anew.end = there.end
    same = np.array_equal(anew.int_memory, there.int_memory)
    return same and np.array_equal(anew.real_memory, there.real_memory, equal_nan=True)


def _possible_loops(scratch: dict[str, Any], stored: dict[str, np.ndarray]) -> bool:
    """The same of what closing the loops keeps."""
    found = {}
    for name, memory in scratch.items():
        found[name] = type(memory)(memory.sizes, stored[f"{name}.ints"], stored[f"{name}.reals"], **memory.parts())
    work, tally = found["work"], found["tally"]
    good = 0 <= tally.singular_count <= REMEMBERED and tally.failed in (0, 1, 2)
    if "block_freedoms" in work.fields:
        plan, f = work.blocks, work.block_freedoms
        lines = np.maximum(np.diff(plan.first), 1)
        good = good and bool(np.all((f >= 0) & (f <= np.diff(plan.directions) // lines) & (f == np.floor(f))))
    return bool(good and work.factor_valid in (0, 1) and work.basis_chosen in (0, 1))


def engine_of(checkpoint: Checkpoint) -> str | None:
    """The engine of a run that is to be taken up again: it must not change."""
    there = checkpoint.resume and checkpoint.path.exists()
    return str(_told(checkpoint.path).get("engine")) if there else None


def identity(run: Integration) -> dict[str, Any]:
    """What must be as before for a run to be the same run."""
    m = run.memory
    options = np.array([m.rtol, m.atol, m.max_step, m.first_step, m.step], dtype=float)
    return {
        "format": FORMAT, "version of madi": source_hash(), "model": run.system.digest, "method": run.method.name,
        "engine": run.engine_name, "machine code": library.level(), "options": _hash(options),
        "output times": _hash(run.times), "start": _hash(m.real_memory) + _hash(m.int_memory),
        "history": run.history is not None, "way": run.way, "to a file": run.store.at_once is not None,
    }  # fmt: skip


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def _outputs(run: Integration) -> dict[str, np.ndarray]:
    """States at the outputs, by name."""
    return {f"outputs.{name}": getattr(run.memory.outputs, f"{name}_out") for name in ("q", "v", "held")}


def _checksum(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def time_of(path: Path) -> float | None:
    """How far the run in a checkpoint has come; None: there is none."""
    if not path.exists():
        return None
    data = io.BytesIO(_member(path, "time", HEADER))
    try:
        return float(np.lib.format.read_array(data, allow_pickle=False, max_header_size=HEADER)[0])
    except Exception as error:
        raise _unreadable(path, type(error).__name__) from None
