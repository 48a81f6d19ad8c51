"""Is it real-time? Step by step, each step's time measured, optionally at the pace of the clock."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from madi.errors import InputError, RunError
from madi.integrate import METHODS
from madi.integrate.march import ON_GRID
from madi.integrate.memory import DONE, PAUSED
from madi.integrate.method import Method
from madi.integrate.structural import Structural
from madi.model.model import Model
from madi.run.options import positive
from madi.run.simulate import prepare
from madi.run.solver import Solver
from madi.system import System

SLEEPS, SPINS = 1e-3, 5e-4  # s: waits that are worth sleeping; what is left of them when it wakes
SHORTEST = 1e-12  # s: computing time, less that of the call, may be nothing, and is divided by


def realtime(
    model: Model | System, *, step: float, duration: float = 5.0,
    method: Method | str | Mapping[str, Any] | None = None, paced: bool = False, engine: str = "auto", **options: Any,
) -> dict[str, Any]:  # fmt: skip
    """Step a model for `duration` seconds and time every step; returns numbers for a report.

    Keys: "engine", "method", "steps"; "mean", "p99.9", "max" (s per step); "factor" (simulated time over computing time);
    "overruns" (steps that took longer than the step; `paced`: steps that ended after their deadline). `method` None:
    madi.Newmark(iterations=2); so are "newmark" and "generalized-alpha" as plain words. `paced`: each step waits for the
    clock, as on a target. Other options as in `simulate`. The cost of the call from Python, measured beside, is taken off.
    """
    step = positive(step, "step")
    duration = positive(duration, "duration")
    if step > duration:
        raise InputError(f"step={step:g} s is longer than the run of {duration:g} s; give a longer duration")
    if "times" in options:
        raise InputError("realtime: it keeps no outputs; leave `times` out")
    method = "newmark" if method is None else method
    if isinstance(method, str) and issubclass(METHODS.get(method, Method), Structural):
        method = {method: {"iterations": 2}}
    solver = prepare(model, duration, step=step, method=method, engine=engine, times=[float(duration)], **options)
    if not isinstance(solver, Solver):
        raise InputError("realtime: formulation='cartesian' is not timed; leave it out")
    loop, m = solver.connect(), solver.memory
    m.upto, m.end = solver.segments()[0]
    _timed(loop, m, 0)  # the start: accelerations, and all memory touched
    idle = min(_timed(loop, m, 0) for _ in range(200))
    steps = max(1, int(np.ceil(duration / step - ON_GRID)))
    took, late = np.zeros(steps), 0
    status, began = PAUSED, time.perf_counter()
    gc.disable()
    try:
        for k in range(steps):
            if paced:
                _wait(began + k * step)
            start = time.perf_counter()
            m.limit = 1
            status = loop(m)
            end = time.perf_counter()
            took[k] = max(end - start - idle, 0.0)
            late += end > began + (k + 1) * step if paced else took[k] > step
            if status not in (PAUSED, DONE):
                break
    finally:
        gc.enable()
    if status not in (PAUSED, DONE):
        solver.keep_verdict()
        raise RunError(solver.explain(status), solver.result())
    done = int(m.accepted)
    took = took[:done]
    return {
        "model": solver.system.name, "engine": solver.engine.name, "method": solver.method.name, "step": step,
        "steps": done, "mean": float(np.mean(took)), "p99.9": float(np.quantile(took, 0.999)), "max": float(np.max(took)),
        "factor": float(done * step / max(np.sum(took), SHORTEST)), "overruns": int(late), "paced": paced,
        "call": idle,
    }  # fmt: skip


def _timed(loop: Any, memory: Any, limit: int) -> float:
    memory.limit = limit
    start = time.perf_counter()
    loop(memory)
    return time.perf_counter() - start


def _wait(until: float) -> None:
    """Sleep, then spin the last half millisecond: sleeping alone comes late."""
    while True:
        left = until - time.perf_counter()
        if left <= 0:
            return
        if left > SLEEPS:
            time.sleep(left - SPINS)
