"""`madi bench realtime`: time to accuracy against MuJoCo and Exudyn, step times of the 6x6, batches on all cores."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from madi.bench.models import six_by_six
from madi.bench.peers.vehicle import DURATION, EVERY, OUTPUTS, pitch, reference_pitch, time_to_accuracy
from madi.bench.trees import state
from madi.engines.compiler import compiler
from madi.errors import RunError
from madi.integrate.structural import Newmark
from madi.papers import six_by_six as p4
from madi.run.batch import simulate_many
from madi.run.pace import realtime
from madi.run.simulate import simulate

FIXED = ("rk4", "ab3", "abm", "newmark-explicit", "newmark", "generalized-alpha")
ADAPTIVE = ("dopri", "abm", "radau")
COARSEST = 40e-3


def own_rows(error: float, engine: str) -> list[dict[str, Any]]:
    """madi's methods, searched as the peers' are: fixed steps 40 ms / 2^k, tolerances 10^(-k/2)."""
    system = six_by_six(printed=False).build()
    q, v = state(system)
    reference = reference_pitch(system, q, v)
    span = float(np.ptp(reference))
    rows = []
    trials = [(name, "step", [COARSEST / 2**k for k in range(14)]) for name in FIXED]
    trials += [(name, "rtol", [10.0 ** (-k / 2) for k in range(2, 24)]) for name in ADAPTIVE]
    for name, what, choices in trials:
        for value in choices:
            every = max(EVERY, value) if what == "step" else EVERY
            times = np.linspace(0.0, DURATION, round(DURATION / every) + 1)
            options: dict[str, Any] = {"method": name, "start": (q, v), "engine": engine, what: value}
            try:
                run = simulate(system, DURATION, times=times, **options)
            except RunError:
                continue
            found = pitch(run.data["q"].values[:, 3:7])
            off = float(np.max(np.abs(found - reference[:: (OUTPUTS - 1) // (len(found) - 1)])) / span)
            if off <= error:
                best = min(
                    float(simulate(system, DURATION, times=[DURATION], **options).statistics["cpu_time"]) for _ in range(15)
                )
                steps = run.statistics["steps"]
                rows.append({"engine": f"madi {engine}", "method": name if what == "step" else f"{name}, adaptive",
                             "step, ms": 1e3 * DURATION / steps, "error": off, "seconds": best,
                             "µs per step": 1e6 * best / steps})  # fmt: skip
                break
    return rows


def accuracy(error: float = 1e-4) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(all methods, fastest first; the ratios the bars are about)."""
    engines = ["jit", "compiled"] if compiler() else ["jit"]
    ours = [row for engine in engines for row in own_rows(error, engine)]
    peers = [row for row in time_to_accuracy(error, COARSEST) if row["seconds"] == row["seconds"]]
    rows = sorted([*ours, *peers], key=lambda row: row["seconds"])
    best = min(row["seconds"] for row in ours)
    ratios = []
    for name in ("MuJoCo", "Exudyn"):
        fastest = min((row for row in peers if row["engine"] == name), key=lambda row: row["seconds"])
        ratios.append({"peer": name, "its fastest": fastest["method"], "its time / madi's": fastest["seconds"] / best})
    implicit = min((row for row in peers if row["method"] == "generalized-alpha"), key=lambda row: row["seconds"])
    ratios.append({"peer": "Exudyn", "its fastest": "generalized-alpha", "its time / madi's": implicit["seconds"] / best})
    return rows, ratios


def step_times(quick: bool) -> list[dict[str, Any]]:
    """The 6x6 over the bump at 10 ms: every step timed."""
    m = p4.experiment()
    rows = []
    for engine in ["jit", "compiled"] if compiler() else ["jit"]:
        for label, options in (
            ("newmark, P4's real time", {"method": Newmark(iterations=2, jacobian="once")}),
            ("newmark, 2 iterations", {"method": Newmark(iterations=2, jacobian="step")}),
            ("newmark, converged", {"method": Newmark()}),
            ("newmark-explicit", {"method": "newmark-explicit"}),
            ("rk4", {"method": "rk4"}),
        ):
            trials = [
                realtime(m, step=0.01, duration=p4.DURATION, engine=engine, **options) for _ in range(2 if quick else 5)
            ]
            found = min(trials, key=lambda trial: trial["mean"])
            times = {name: 1e6 * found[key] for name, key in (("mean, µs", "mean"), ("99.9 %", "p99.9"), ("largest", "max"))}
            rows.append(
                {"engine": engine, "method": label, **times, "overruns": found["overruns"], "factor": found["factor"]}
            )
    return rows


def batches(runs: int) -> list[dict[str, Any]]:
    """So many runs of the 6x6 with other springs, on one and on two cores, in turn."""
    m = p4.experiment()
    engine = "compiled" if compiler() else "jit"
    values = np.linspace(4e4, 8e4, runs)
    springs = {f"spring_{side}{k}.stiffness": values for side in ("left", "right") for k in (1, 2, 3)}
    options: dict[str, Any] = {"step": 0.01, "method": Newmark(iterations=2), "engine": engine}
    simulate_many(m, {name: v[:4] for name, v in springs.items()}, p4.DURATION, **options)
    best = {1: np.inf, 2: np.inf}
    for _ in range(2):
        for workers in best:
            start = time.perf_counter()
            simulate_many(m, springs, p4.DURATION, workers=workers, **options)
            best[workers] = min(best[workers], time.perf_counter() - start)
    return [{"runs": runs, "cores": workers, "s": seconds, "runs per s": runs / seconds, "speed-up": best[1] / seconds}
            for workers, seconds in best.items()]  # fmt: skip


def report(quick: bool = False) -> dict[str, Any]:
    """All tables."""
    rows, ratios = accuracy()
    return {
        "title": "Real time: the 6x6 vehicle",
        "tables": {
            "Time to an error of 1e-4 in pitch, 2 s without tires": rows,
            "Against madi's fastest": ratios,
            "Steps of 10 ms over the bump, with tires": step_times(quick),
            "Batches": batches(200 if quick else 1000),
        },
        "notes": [
            f"Fixed steps: the largest of {1e3 * COARSEST:.0f} ms / 2^k with this error; adaptive: the loosest tolerance.",
            "Times are those of the engines' own loops, outputs off; SUNDIALS' methods, called from Python, are not raced.",
            "Factor: simulated time over computing time.",
        ],
    }
