"""Is it real-time? Step by step, each step's time measured, optionally at the pace of the clock."""

from __future__ import annotations

import gc
import time
from typing import Any

import numpy as np

from madi.errors import InputError, RunError
from madi.integrate.contract import ACCEPTED, DONE, IMPLICIT, LOOP, PAUSED
from madi.model.model import Model
from madi.pipeline import prepare
from madi.solver import Solver, positive
from madi.system import System


def realtime(
    model: Model | System, *, step: float, duration: float = 5.0, method: str = "newmark", paced: bool = False,
    iterations: int | None = 2, jacobian: str | None = None, engine: str = "auto", **options: Any,
) -> dict[str, Any]:  # fmt: skip
    """Step a model for `duration` seconds and time every step; returns numbers for a report.

    Keys: "engine", "method", "steps"; "mean", "p99.9", "max" (s per step); "factor" (simulated time over computing time);
    "overruns" (steps that took longer than the step; `paced`: steps that ended after their deadline). `iterations`: of
    Newton in an implicit step, None to converge. `paced`: each step waits for the clock, as on a target. Other options as
    in `simulate`. The cost of the call from Python, measured beside, is taken off.
    """
    step = positive(step, "step")
    duration = positive(duration, "duration")
    if method not in ("newmark", "generalized-alpha") or jacobian == "slow":
        iterations = None
    if step > duration:
        raise InputError(f"step={step:g} s is longer than the run of {duration:g} s; give a longer duration")
    if "times" in options:
        raise InputError("realtime: it keeps no outputs; leave `times` out")
    solver = prepare(model, duration, step=step, method=method, iterations=iterations, jacobian=jacobian, engine=engine,
                     times=[float(duration)], **options)  # fmt: skip
    if not isinstance(solver, Solver) or solver.method.adaptive:
        raise InputError(f"realtime: method={method!r} must have a fixed step, in joint coordinates")
    function, context = solver.engine.function(solver.entry)
    loop = solver.engine.loop(solver.method.loop, IMPLICIT if solver.method.implicit else LOOP)
    arguments = (function, context, *solver.arguments())
    loop(*arguments, 0)  # the start: accelerations, and all memory touched
    idle = min(_timed(loop, arguments, 0) for _ in range(200))
    steps = max(1, int(np.ceil(duration / step - 1e-9)))
    took, late = np.zeros(steps), 0
    status, began = PAUSED, time.perf_counter()
    gc.disable()
    try:
        for k in range(steps):
            if paced:
                _wait(began + k * step)
            start = time.perf_counter()
            status = loop(*arguments, 1)
            end = time.perf_counter()
            took[k] = max(end - start - idle, 0.0)
            late += end > began + (k + 1) * step if paced else took[k] > step
            if status not in (PAUSED, DONE):
                break
    finally:
        gc.enable()
    if status not in (PAUSED, DONE):
        if solver.loops:
            work = solver.closer.work
            solver.tally, solver.open = work.tally.copy(), (work.phi.copy(), work.rate.copy())
        raise RunError(solver.explain(status), solver.result())
    done = int(solver.count[ACCEPTED])
    took = took[:done]
    return {
        "model": solver.system.name, "engine": solver.engine.name, "method": solver.method.name, "step": step,
        "steps": done, "mean": float(np.mean(took)), "p99.9": float(np.quantile(took, 0.999)), "max": float(np.max(took)),
        "factor": float(done * step / max(np.sum(took), 1e-12)), "overruns": int(late), "paced": paced,
        "call": idle,
    }  # fmt: skip


def _timed(loop: Any, arguments: tuple[Any, ...], limit: int) -> float:
    start = time.perf_counter()
    loop(*arguments, limit)
    return time.perf_counter() - start


def _wait(until: float) -> None:
    """Sleep, then spin the last half millisecond: sleeping alone comes late."""
    while True:
        left = until - time.perf_counter()
        if left <= 0:
            return
        if left > 1e-3:
            time.sleep(left - 5e-4)
