"""Many runs on a cluster, local or remote: slices of a sweep as tasks of a Dask client.

The model travels as its file, so nothing of this process is needed elsewhere; a worker builds it once for all its slices.
What a worker took with it when it died is asked for again.
"""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, RunError, warn
from madi.kernel.forks import Lock
from madi.run.slice import Slices, Sweep
from madi.run.starts import Starts
from madi.topology.parameters import parameters as locate

if TYPE_CHECKING:
    from madi.run.collected import Collected

FOR_EACH = 8  # slices for each thread of the cluster: those that are quick take more of them
LARGEST = 2_000  # runs of a slice: what is lost with a worker
MOST_LOST = 10  # times a slice may be lost with its worker before it is taken to be what kills them
KEPT = 4  # sweeps a worker keeps built


@dataclass(frozen=True)
class Job:
    """All that the slices of a sweep have in common, as it travels."""

    text: str  # the model's file
    frame: str
    names: tuple[str, ...]
    duration: float
    keep: Any
    options: dict[str, Any]
    key: str


def job_of(sweep: Sweep, keep: Any) -> Job:
    """What travels; functions that cannot be saved are refused by name."""
    from madi.schema.read import loads
    from madi.schema.write import document, to_yaml

    system = sweep.system
    kept_in_python = [callback.name for callback, _, _ in system.frozen.signals.callbacks]
    if kept_in_python:
        raise InputError(
            f"simulate_many(on=...): {', '.join(kept_in_python)} has a function that stays in Python; it cannot be saved in "
            "a file, which is how the model travels. Write it as an expression, or leave on= out"
        )
    text = to_yaml(document(system.model))
    if loads(text).build(frame=system.frame).digest != system.digest:
        warn("simulate_many(on=...): the model's file rounds some of its numbers: last digits may differ from runs here")
    return Job(text, system.frame, tuple(sweep.wanted.names), sweep.duration, keep, dict(sweep.options), uuid.uuid4().hex)


_built: dict[str, Any] = {}  # sweeps of this worker, by their keys
_making = Lock()
_own = threading.local()


def slice_of(
    job: Job, values: np.ndarray, starts: dict[str, Any]
) -> tuple[dict[str, np.ndarray], dict[int, tuple[str, str]]]:
    """What is kept of these runs, and why some failed: done by a worker."""
    from madi.schema.read import loads

    made = _own.__dict__.setdefault("made", {})
    with _making:  # what there is to compile is compiled once
        if job.key not in _built:
            while len(_built) >= KEPT:
                _built.pop(next(iter(_built)))
            model = loads(job.text)
            system = model.build(frame=job.frame)
            _built[job.key] = system, locate(model, list(job.names), job.frame, system.frozen)
        system, wanted = _built[job.key]
        sweep = Sweep(system, wanted, values, Starts(system, starts), job.duration, job.keep, dict(job.options))
        if job.key not in made:
            while len(made) >= KEPT:
                made.pop(next(iter(made)))
            made[job.key] = Slices(sweep)
            _ = made[job.key].memory
    slices: Slices = made[job.key]
    slices.sweep, slices.told = sweep, {}
    parts, at = [], 0
    while at < len(values):
        last = min(at + slices.most, len(values))
        parts.append(slices.run(at, last))
        at = last
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}, slices.told


def work_on(client: Any, collected: Collected) -> None:
    """All runs that are missing."""
    try:
        from distributed import as_completed
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise InputError("simulate_many(on=...): a cluster needs Dask: pip install 'madi[cluster]'") from None
    if not hasattr(client, "submit") or not hasattr(client, "nthreads"):
        raise InputError(f"simulate_many: on={client!r}: give a dask.distributed.Client")
    sweep = collected.sweep
    if sweep.system.frozen.rows and sweep.starts.drawn:
        _ = sweep.system.start  # what cannot be closed is told here
    job = job_of(sweep, collected.kept.asked)
    threads = max(sum(client.nthreads().values()), 1)
    left = sum(last - first for first, last in collected.missing)
    most = max(1, min(-(-left // (FOR_EACH * threads)), LARGEST))
    lost: dict[tuple[int, int], int] = {}

    def submit(first: int, last: int) -> Any:
        future = client.submit(slice_of, job, sweep.values[first:last], sweep.starts.part(first, last), pure=False)
        waiting[future.key] = first, last
        return future

    waiting: dict[str, tuple[int, int]] = {}
    ranges = [(at, min(at + most, last)) for first, last in collected.missing for at in range(first, last, most)]
    futures = as_completed([submit(*one) for one in ranges])
    try:
        for future in futures:
            first, last = waiting.pop(future.key)
            error = future.exception()
            if isinstance(error, KilledWorker) or future.status in ("cancelled", "lost"):
                lost[first, last] = lost.get((first, last), 0) + 1
                if lost[first, last] > MOST_LOST:
                    raise RunError(f"simulate_many: runs {first} to {last - 1} have killed {MOST_LOST} workers", None)
                futures.add(submit(first, last))
                continue
            if error is not None:
                raise error
            values, told = future.result()
            collected.put(first, last, values, {first + k: why for k, why in told.items()})
            future.release()
    finally:
        client.cancel([key for key in waiting if key])
