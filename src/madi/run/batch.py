"""Many runs of one model: other parameters, other starts, on all cores, one dataset.

The model is frozen and compiled once. Each thread has a copy of it whose numbers can be set (System.adjustable); the loops
release Python's lock, so threads are enough.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.assemble import CLOSED
from madi.errors import AssemblyError, EngineError, InputError, ModelError, RunError
from madi.integrate.memory import DONE
from madi.model.model import Model
from madi.run.options import refuse, start_of
from madi.run.simulate import PREPARED, prepare, warn_of_compiler
from madi.run.solver import Solver
from madi.run.start import assembled, over_bumps
from madi.system import System
from madi.topology.parameters import Parameters, changed
from madi.topology.parameters import parameters as locate

if TYPE_CHECKING:
    import xarray as xr


def simulate_many(
    model: Model,
    parameters: Mapping[str, Any] | None = None,
    duration: float = 1.0,
    *,
    start: Any = None,
    keep: Sequence[str] = ("q", "v"),
    workers: int | None = None,
    **options: Any,
) -> xr.Dataset:
    """Run one model many times, on all cores; returns one dataset with the dimension `run`.

    `parameters`: {name: values, one for each run}, names as "spring.stiffness", "chassis.mass", "pivot.at.x" (a number
    alone is for all runs). `start`: (q0, v0) as in `simulate`, or {name: values} with one value for each run, or arrays of
    one row for each run. `keep`: what of each run's results is kept; "q" and "v" alone are quickest. `workers`: threads,
    default one a core. Other options as in `simulate`; with adaptive methods give `times`, or take the default 1001.
    A run that fails leaves NaN, and its message in `message`; the others go on. Parameters are coordinates along `run`.

    >>> import madi
    >>> m = madi.Model("swing")
    >>> bob = m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    >>> _ = m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    >>> found = madi.simulate_many(m, {"bob.mass": [1.0, 2.0, 3.0]}, 0.5, step=0.01)
    >>> dict(found["q"].sizes)
    {'run': 3, 'time': 51, 'coordinate': 1}
    """
    if not isinstance(model, Model):
        raise InputError(f"simulate_many: give a Model, not {type(model).__name__}")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InputError("simulate_many: give parameters as {name: values, one for each run}")
    given = {str(name): _numbers(name, values) for name, values in (parameters or {}).items()}
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers={workers!r}: give a whole number from 1 on, or None for one a core")
    if options.get("formulation") == "cartesian":
        raise InputError("simulate_many: formulation='cartesian' runs one at a time; leave it out")
    keep = (keep,) if isinstance(keep, str) else tuple(keep)
    refuse("simulate_many", {name: value for name, value in options.items() if name not in PREPARED}, PREPARED)
    starts = dict(zip(("q0", "v0"), start_of(start), strict=True))
    count = _count(given, starts)
    frame = options.pop("frame", None) or "base"
    system = model.build(frame=frame)
    wanted = locate(model, list(given), frame)
    values = np.column_stack([np.broadcast_to(v, count) for v in given.values()]) if given else np.zeros((count, 0))
    for extreme in (np.min(values, axis=0), np.max(values, axis=0)) if given else ():  # a negative mass has no motion
        values_there = dict(zip(wanted.names, map(float, extreme), strict=True))
        findings = changed(model, values_there).check()
        if findings:
            raise ModelError(f"{model.name}, with {values_there}", findings)
    batch = Batch(model, system, wanted, values, starts, duration, keep, options)
    batch.work(min(workers or os.cpu_count() or 1, count))
    return batch.dataset()


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


class Batch:
    """The runs of one call."""

    def __init__(self, model: Model, system: System, wanted: Parameters, values: np.ndarray, starts: dict[str, Any],
                 duration: float, keep: tuple[str, ...], options: dict[str, Any]):  # fmt: skip
        self.model, self.system, self.wanted, self.values = model, system, wanted, values
        self.starts, self.duration, self.keep, self.options = starts, duration, keep, options
        self.count = len(values)
        # what is prescribed, and loops between steps, are put right when results are labelled
        between = bool(system.frozen.rows) and (options.get("step") is None or options.get("times") is not None)
        self.quick = set(keep) <= {"q", "v"} and not between and not np.any(system.layout.arrays.drive >= 0)
        self.messages = np.full(self.count, "", dtype=object)
        self.next, self.lock = 0, threading.Lock()
        self.found: dict[int, Any] = {}
        self.Q = self.V = np.zeros(0)

    def start_of(self, k: int, system: System) -> tuple[np.ndarray, np.ndarray]:
        """Where run k starts."""
        given = []
        for value in self.starts.values():
            if isinstance(value, Mapping):
                value = {name: (v[k] if np.ndim(v) == 1 else v) for name, v in value.items()}
            elif value is not None and np.ndim(value) == 2:
                value = np.asarray(value)[k]
            given.append(value)
        if given[0] is None and given[1] is None:
            if not system.frozen.rows:
                return system.q0, system.v0
            drawn = self.system.start  # still closed, unless hard points have moved
            phi, rate, _, _ = system.constraint_terms(drawn.q, drawn.v, engine="jit")
            if max(np.max(np.abs(phi), initial=0.0), np.max(np.abs(rate), initial=0.0)) < CLOSED:
                return drawn.q, drawn.v
        return assembled(system, *given)

    def prepared(self, like: Solver | None = None) -> Solver:
        """A copy of the model for one thread, and its solver; traces are shared with another's."""
        system = self.system.adjustable(self.wanted)
        if like is not None and "residual_blocks" in like.system.__dict__:
            system.__dict__["residual_blocks"] = like.system.residual_blocks
        solver = prepare(system, self.duration, **self.options)
        if not isinstance(solver, Solver) or solver.method.outside is not None:
            raise InputError("simulate_many: the methods of SUNDIALS run one at a time; choose another")
        return solver

    def work(self, workers: int) -> None:
        """All runs."""
        first = self.prepared()
        outputs = first.memory.outputs
        self.Q = np.full((self.count, *outputs.q_out.shape), np.nan)
        self.V = np.full((self.count, *outputs.v_out.shape), np.nan)
        self.times = first.times[first.wanted]
        self.quick = self.quick and not first.jumps  # else outputs at stops would be rows
        try:
            self.take(first, once=True)  # compiles what there is to compile, before the threads start
        except EngineError as error:
            if self.options.get("engine", "auto") != "auto":
                raise
            warn_of_compiler(error)
            self.options["engine"], self.next = "jit", 0
            first = self.prepared()
            self.take(first, once=True)
        if workers == 1:
            self.take(first)
            return
        solvers = [first, *(self.prepared(first) for _ in range(workers - 1))]
        with ThreadPoolExecutor(workers) as pool:
            for done in [pool.submit(self.take, solver) for solver in solvers]:
                done.result()

    def take(self, solver: Solver, once: bool = False) -> None:
        """Runs, one after the other, until there are none left."""
        while True:
            with self.lock:
                k, self.next = self.next, self.next + 1
            if k >= self.count:
                return
            try:
                self.one(solver, k)
            except (RunError, AssemblyError) as error:
                self.messages[k] = str(error)
            if once:
                return

    def one(self, solver: Solver, k: int) -> None:
        """Run k."""
        system = solver.system
        system.adjust(self.values[k])
        solver.again()
        start = self.start_of(k, system)
        solver.start(*start)
        if self.options.get("max_step") is None:
            solver.memory.max_step = over_bumps(system, start, solver.method) or self.duration
        status = solver.run(False)
        n, outputs = int(solver.memory.next), solver.memory.outputs
        if self.quick:
            self.Q[k, : n * system.nq] = outputs.q_out[: n * system.nq]
            self.V[k, : n * system.nv] = outputs.v_out[: n * system.nv]
        else:
            run = solver.result()
            missing = [name for name in self.keep if name not in run.data]
            if missing:
                raise InputError(f"keep: there is no {missing[0]!r} in the results; there are {', '.join(run.data)}")
            self.found[k] = run.data[list(self.keep)]
        if status != DONE:
            raise RunError(solver.explain(status), solver.result())

    def dataset(self) -> xr.Dataset:
        """All runs, labelled."""
        import xarray as xr

        runs = np.arange(self.count)
        if self.quick:
            n, system = len(self.times), self.system
            data = {}
            if "q" in self.keep:
                data["q"] = (("run", "time", "coordinate"), self.Q.reshape(self.count, n, system.nq))
            if "v" in self.keep:
                data["v"] = (("run", "time", "speed"), self.V.reshape(self.count, n, system.nv))
            found = xr.Dataset(
                data, {"run": runs, "time": self.times, "coordinate": system.coordinates, "speed": system.speeds}
            )
            found["time"].attrs["units"] = "s"
        else:
            if not self.found:
                raise RunError(f"simulate_many: every run failed; the first: {self.messages[0]}", None)
            parts = [self.found.get(k) for k in range(self.count)]
            some = next(part for part in parts if part is not None)
            blank = xr.full_like(some, np.nan)
            whole = [blank if part is None else part.reindex(time=self.times) for part in parts]
            found = xr.concat(whole, dim=xr.DataArray(runs, dims="run", name="run"))
        for j, name in enumerate(self.wanted.names):
            found = found.assign_coords({name: ("run", self.values[:, j])})
        found["message"] = ("run", self.messages.astype(str))
        found.attrs["model"] = self.system.name
        return found
