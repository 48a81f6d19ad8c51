"""Many runs of one model: other parameters, other starts, on all cores or a cluster, one dataset.

The model is frozen and compiled once. Each thread has a copy of it whose numbers can be set (System.adjustable); its runs
are made in slices by a compiled loop (slice.py), which releases Python's lock, so threads are enough. Other machines get the
model as its file (cluster.py).
"""

from __future__ import annotations

import os
import threading
import time as clock
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

from madi.errors import EngineError, InputError, ModelError
from madi.given import File, ManyStarts
from madi.model.check import check_elements
from madi.model.elements import Body, Joint
from madi.model.model import Model
from madi.results.progress import Progress
from madi.run.collected import Collected
from madi.run.options import ManyOptions, refuse, start_of
from madi.run.simulate import PREPARED, warn_of_compiler
from madi.run.slice import Slices, Sweep
from madi.run.starts import Starts
from madi.system import System
from madi.system.inertia import refuse_singular_mass
from madi.topology.parameters import Parameters, changed, named
from madi.topology.parameters import parameters as locate

if TYPE_CHECKING:
    import xarray as xr

    from madi.results.run import Run

Keep: TypeAlias = "str | Callable[[Run], Any]"  # a variable, signal or expression, or a function of a run
SLICE = 0.1  # s of computing, about, that a thread takes upon itself at a time
WORTH_A_THREAD = 0.02  # s of computing that are left: below, one thread is sooner done


def simulate_many(
    model: Model,
    parameters: Mapping[str, Any] | None = None,
    duration: float = 1.0,
    *,
    start: ManyStarts = None,
    keep: Keep | Sequence[Keep] | Mapping[str, Keep] = ("q", "v"),
    workers: int | None = None,
    on: Any = None,
    out: File | None = None,
    progress: bool | None = None,
    **options: Unpack[ManyOptions],
) -> xr.Dataset:
    """Run one model many times, on all cores; returns one dataset with the dimension `run`.

    `parameters`: {name: values, one for each run}, names as "spring.stiffness", "chassis.mass", "pivot.at.x" (a number
    alone is for all runs); `madi.design` makes such lists. `start`: (q0, v0) as in `simulate`, or {name: values} with one
    value for each run, or arrays of one row for each run. `workers`: threads, default one a core. `on`: a Dask client, local
    or remote, in their place. Other options as in `simulate`; with adaptive methods give `times`, or take the default 1001.

    `keep`: what of each run is kept: variables of its dataset ("q" and "v" alone are quickest), signals ("chassis.az"),
    expressions of signals ("max(abs(chassis.az))"; max, min, mean, rms, integral, first, last are over time), functions of a
    run that give a number or an array; or {name: one of these}. `out`: a .nc file; results go beside it while they come, so
    that a sweep that was broken off is taken up where it was, and the dataset returned reads from it.

    A run that fails leaves NaN, its message in `message` and why in `cause`; the others go on. Parameters are coordinates
    along `run`.

    >>> import madi
    >>> m = madi.Model("swing")
    >>> bob = m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    >>> _ = m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    >>> found = madi.simulate_many(m, {"bob.mass": [1.0, 2.0, 3.0]}, 0.5, step=0.01)
    >>> dict(found["q"].sizes)
    {'run': 3, 'time': 51, 'coordinate': 1}
    """
    asked: dict[str, Any] = {**options}
    _refuse(model, parameters, workers, on, asked)
    sweep = swept(model, parameters or {}, duration, start, keep, asked)
    first = Slices(sweep)
    collected = Collected(sweep, first, out)
    with Progress(f"{model.name}, {sweep.count} runs", float(sweep.count), progress) as bar:
        collected.bar = bar
        if on is not None:
            from madi.run.cluster import work_on

            work_on(on, collected)
        elif collected.missing:
            Threads(collected, first).work(min(workers or os.cpu_count() or 1, sweep.count))
    return collected.dataset()


def _refuse(model: Any, parameters: Any, workers: Any, on: Any, options: dict[str, Any]) -> None:
    """What cannot be run many times."""
    if not isinstance(model, Model):
        raise InputError(f"simulate_many: give a Model, not {type(model).__name__}")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InputError("simulate_many: give parameters as {name: values, one for each run}")
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers={workers!r}: give a whole number from 1 on, or None for one a core")
    if on is not None and workers is not None:
        raise InputError("simulate_many: workers= are threads here; a cluster (on=) has its own")
    if options.get("formulation") == "cartesian":
        raise InputError("simulate_many: formulation='cartesian' runs one at a time; leave it out")
    if options.get("history"):
        raise InputError("simulate_many: history= is of one run; leave it out")
    refuse("simulate_many", {name: value for name, value in options.items() if name not in PREPARED}, PREPARED)


def swept(
    model: Model, parameters: Mapping[str, Any], duration: float, start: Any, keep: Any, options: dict[str, Any]
) -> Sweep:
    """What was asked for, checked."""
    given = {str(name): _numbers(name, values) for name, values in parameters.items()}
    starts = dict(zip(("q0", "v0"), start_of(start), strict=True))
    count, options = _count(given, starts), dict(options)
    frame = options.pop("frame", None) or "base"
    system = model.build(frame=frame)
    for k in system.ending_events:
        raise InputError(f"simulate_many: event {system.held_names[k]!r} ends its run (stop=True); its runs have one length")
    wanted = locate(model, list(given), frame, system.frozen)
    values = np.column_stack([np.broadcast_to(v, count) for v in given.values()]) if given else np.zeros((count, 0))
    _refuse_extremes(system, wanted, values)
    return Sweep(system, wanted, values.astype(float), Starts(system, starts), duration, keep, options)


def _refuse_extremes(system: System, wanted: Parameters, values: np.ndarray) -> None:
    """A negative mass has no motion. Only the elements named are looked at: the others are as they were."""
    for extreme in (np.min(values, axis=0), np.max(values, axis=0)) if wanted.names else ():
        values_there = dict(zip(wanted.names, map(float, extreme), strict=True))
        other = changed(system.model, values_there)
        elements = named(other, wanted.names)
        findings = check_elements(other, elements, system.lowered, system.spanning_tree)
        if findings:
            raise ModelError(f"{system.name}, with {values_there}", findings)
        if any(isinstance(element, Body | Joint) for element in elements):
            moved = system.adjustable(wanted)
            moved.adjust(extreme)
            moved.frozen.layout = moved.layout
            refuse_singular_mass(other, moved.frozen)


def _numbers(name: Any, values: Any) -> np.ndarray:
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"simulate_many: {name!r} must be a list of numbers, one for each run") from None
    if not np.isfinite(found).all():
        raise InputError(f"simulate_many: {name!r} has values that are not finite")
    return found


def _rows(value: Any) -> int | None:
    """How many runs a start is for; None: the same for all."""
    if isinstance(value, Mapping):
        sizes = {np.size(v) for v in value.values() if np.ndim(v) == 1}
        if len(sizes) > 1:
            raise InputError(f"simulate_many: starts of different numbers of runs: {sorted(sizes)}")
        return sizes.pop() if sizes else None
    return len(value) if value is not None and np.ndim(value) == 2 else None


def _count(given: dict[str, np.ndarray], starts: dict[str, Any]) -> int:
    sizes: dict[str, int] = {}
    for name, values in given.items():
        if values.ndim > 1:
            raise InputError(f"simulate_many: {name!r} must be a list of numbers, one for each run")
        if values.ndim == 1:
            sizes[name] = len(values)
    for name, value in starts.items():
        rows = _rows(value)
        if rows is not None:
            sizes[name] = rows
    if not sizes:
        raise InputError("simulate_many: give at least one list of values, one for each run")
    if 0 in sizes.values():
        raise InputError(f"simulate_many: {next(name for name in sizes if not sizes[name])!r} has no values")
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name}: {n}" for name, n in sizes.items())
        raise InputError(f"simulate_many: lists of different lengths ({told})")
    return next(iter(sizes.values()))


class Threads:
    """The runs of one call, by threads of this process."""

    def __init__(self, collected: Collected, first: Slices):
        self.collected, self.sweep, self.first = collected, collected.sweep, first
        self.lock, self.workers, self.pace = threading.Lock(), 1, 0.0  # s a run takes
        self.ranges = list(collected.missing)

    def work(self, workers: int) -> None:
        """All runs."""
        try:
            self.take(self.first, once=True)  # compiles what there is to compile, before the threads start
        except EngineError as error:
            if self.sweep.options.get("engine", "auto") != "auto":
                raise
            warn_of_compiler(error)
            self.sweep.options["engine"], self.ranges = "jit", list(self.collected.missing)
            self.first = Slices(self.sweep)
            self.take(self.first, once=True)
        self.take(self.first, once=True)  # how long a run takes, once nothing is compiled
        left = sum(last - first for first, last in self.ranges)
        self.workers = workers if left * self.pace > WORTH_A_THREAD else 1
        if self.workers == 1:
            self.take(self.first)
            return
        every = [self.first, *(Slices(self.sweep, self.first) for _ in range(self.workers - 1))]
        with ThreadPoolExecutor(self.workers) as pool:
            waiting = [pool.submit(self.take, slices) for slices in every]
            try:
                for done in waiting:
                    done.result()
            except BaseException:  # Ctrl-C too: the others stop at their next pause
                for slices in every:
                    slices.stopped = True
                raise

    def take(self, slices: Slices, once: bool = False) -> None:
        """Slices of runs, one after the other, until there are none left."""
        while not slices.stopped:
            with self.lock:
                if not self.ranges:
                    return
                first, end = self.ranges.pop(0)
                left = end - first + sum(b - a for a, b in self.ranges)
                fair = -(-left // (2 * self.workers))
                last = first + (
                    1 if once else max(1, min(int(SLICE / max(self.pace, 1e-9)), fair, end - first, slices.most))
                )
                if last < end:
                    self.ranges.insert(0, (last, end))
            began = clock.thread_time()
            values = slices.run(first, last)
            self.pace = (clock.thread_time() - began) / (last - first)
            if not slices.stopped:
                with self.lock:
                    self.collected.put(first, last, values, slices.told)
                    slices.told = {}
            if once:
                return
