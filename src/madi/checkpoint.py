"""Runs that survive: a checkpoint has every number an integrator goes on from, so that a run taken up again is the same run.

The state, counters and buffers of the integrator, the outputs so far, and the scratch in which loops are closed (it keeps
factored matrices from step to step). All are plain arrays in a `.npz`, written to a temporary name and renamed.
"""

from __future__ import annotations

import hashlib
import json
import time as clock
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines.cache import source_hash
from madi.errors import InputError
from madi.files import whole_file

if TYPE_CHECKING:
    from madi.solver import Integration

FORMAT = 1


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
        arrays = {f"memory.{name}": array for name, array in _memory(run).items()}
        arrays |= {f"work.{name}": array for name, array in _scratch(run).items()}
        if run.history is not None:
            arrays["history"] = np.array(run.history, dtype=float).reshape(-1, 5)
        told = json.dumps({**self.identity, "wall": run.wall})
        with whole_file(self.path) as part, part.open("wb") as file:
            np.savez(file, told=np.frombuffer(told.encode(), dtype=np.uint8), **arrays)  # type: ignore[arg-type]

    def take_up(self, run: Integration) -> bool:
        """Restore a run's memory from the file; False: there is none yet."""
        if not self.path.exists():
            return False
        told, stored = _read(self.path)
        for name, value in self.identity.items():
            if told.get(name) != value:
                raise InputError(
                    f"{self.path}: the run it belongs to differs in its {name} ({told.get(name)!r}, now {value!r}); run as "
                    "before, or delete the file to begin anew"
                )
        for group, arrays in (("memory", _memory(run)), ("work", _scratch(run))):
            for name, array in arrays.items():
                found = stored.get(f"{group}.{name}")
                if found is None or found.shape != array.shape or found.dtype != array.dtype:
                    raise InputError(f"{self.path}: its {name} does not fit this model; delete it to begin anew")
                array[...] = found
        if run.history is not None:
            run.history = [tuple(row) for row in stored.get("history", np.zeros((0, 5))).tolist()]
        run.wall = float(told["wall"])
        return True


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a checkpoint tells of its run, and its arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {name: file[name] for name in file.files}
        told = json.loads(bytes(stored.pop("told")).decode())
        assert isinstance(told, dict)
    except (OSError, ValueError, KeyError, EOFError, AttributeError, AssertionError, zipfile.BadZipFile):
        raise InputError(f"{path}: is no checkpoint that can be read; delete it to begin anew") from None
    return told, stored


def engine_of(path: Path) -> str | None:
    """The engine of a checkpoint: a run taken up again must not change it."""
    return str(_read(path)[0].get("engine")) if path.exists() else None


def identity(run: Integration) -> dict[str, Any]:
    """What must be as before for a run to be the same run."""
    return {
        "format": FORMAT, "version of madi": source_hash(), "model": run.system.digest, "method": run.method.name,
        "engine": run.engine_name, "options": _hash(run.option), "output times": _hash(run.times),
        "start": _hash(run.state), "history": run.history is not None, "way": run.way,
    }  # fmt: skip


def _hash(array: np.ndarray) -> str:
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def _memory(run: Integration) -> dict[str, np.ndarray]:
    return {"Q": run.Q, "V": run.V, "state": run.state, "count": run.count, "option": run.option, "buffer": run.buffer}


def _scratch(run: Integration) -> dict[str, np.ndarray]:
    return {name: np.asarray(view) for name, view in run.scratch().items()}


def time_of(path: Path) -> float | None:
    """How far the run in a checkpoint has come; None: there is none."""
    return float(_read(path)[1]["memory.state"][0]) if path.exists() else None
