"""What the papers' experiments share: relative against Cartesian coordinates at equal accuracy, CPU times, verdicts, plots.

Times are of the processor, not of the clock, and ratios are medians over pairs of runs taken in turn: what else the machine
does falls out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madi.model.model import Model
from madi.results.run import Run
from madi.run.simulate import simulate

Signal = Callable[[Run], np.ndarray]
CARTESIAN: dict[str, Any] = {"formulation": "cartesian"}
BOTH: tuple[dict[str, Any], ...] = ({}, CARTESIAN)
TIGHT: dict[str, Any] = {"method": "dopri", "rtol": 1e-11, "atol": 1e-12, "engine": "jit"}
RTOLS = [10.0 ** (-k / 2) for k in range(6, 19)]  # 1e-3 ... 1e-9


def in_turn(make: Mapping[str, Callable[..., Run]], repeats: int) -> tuple[dict[str, Run], dict[str, np.ndarray]]:
    """Runs, and their CPU times over `repeats` rounds; the first round warms up and does not count."""
    runs: dict[str, Run] = {}
    times: dict[str, list[float]] = {name: [] for name in make}
    for k in range(repeats + 1):
        for name, one in make.items():
            runs[name] = one()
            if k:
                times[name].append(float(runs[name].statistics["cpu_time"]))
    return runs, {name: np.array(values) for name, values in times.items()}


def ratio(times: dict[str, np.ndarray], a: str, b: str) -> float:
    """How many times longer a takes than b: the median of the rounds."""
    return float(np.median(times[a] / times[b]))


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference against the range of the signal."""
    return float(np.max(np.abs(a - b)) / max(float(np.ptp(a)), 1e-300))


class Accuracy:
    """Errors of one signal of a model against a tight run, and what a formulation must be asked for to keep one."""

    def __init__(self, model: Model, duration: float, signal: Signal, outputs: int = 101, **tight: Any):
        self.model, self.duration, self.signal = model, duration, signal
        self.times = np.linspace(0, duration, outputs)
        self.exact = signal(simulate(model, duration, times=self.times, **{**TIGHT, **tight}))

    def error(self, **options: Any) -> float:
        """Of a run, against the range of the signal."""
        run = simulate(self.model, self.duration, times=self.times, engine="jit", **options)
        return apart(self.exact, self.signal(run))

    def as_good(self, error: float, method: str, step: float | None = None, **options: Any) -> tuple[dict[str, Any], float]:
        """(options, their error): of an adaptive method the loosest tolerance at which it and the next are as good as
        `error`; of a fixed step, that step made shorter as its fourth order asks for."""
        if step is not None:
            found = self.error(method=method, step=step, **options)
            chosen = {"method": method, "step": step * min(1.0, (error / found) ** 0.25), **options}
            return chosen, self.error(**chosen)
        before: tuple[dict[str, Any], float] | None = None
        for rtol in RTOLS:
            chosen = {"method": method, "rtol": rtol, **options}
            found = self.error(**chosen)
            if found > 1.1 * error:
                before = None
            elif before is not None:
                return before
            else:
                before = chosen, found
        return before or (chosen, found)


def against_cartesian(
    measure: Accuracy, ways: dict[str, dict[str, Any]], cartesian: dict[str, Any], printed: float, repeats: int = 7
) -> list[dict[str, Any]]:
    """A row for every way in joint coordinates: its errors, steps and CPU time, those of the Cartesian run that is as
    accurate, and the ratio of times, all and per step."""
    rows = []
    for name, options in ways.items():
        engine = options.pop("engine", "jit")
        error = measure.error(**options)
        other, found = measure.as_good(error, **{**cartesian, "formulation": "cartesian"})
        end = [measure.duration]
        runs, times = in_turn({
            "relative": lambda options=options, engine=engine: simulate(
                measure.model, measure.duration, times=end, engine=engine, **options),
            "cartesian": lambda other=other: simulate(measure.model, measure.duration, times=end, engine="jit", **other),
        }, repeats)  # fmt: skip
        steps = {key: int(run.statistics["steps"]) for key, run in runs.items()}
        both = ratio(times, "cartesian", "relative")
        rows.append({
            "relative": name, "error": f"{error:.1e}", "steps": steps["relative"],
            "ms": 1e3 * float(np.median(times["relative"])), "Cartesian: error": f"{found:.1e}",
            "steps ": steps["cartesian"], "ms ": 1e3 * float(np.median(times["cartesian"])), "ratio": round(both, 2),
            "per step": round(both * steps["relative"] / steps["cartesian"], 2), "printed": printed,
        })  # fmt: skip
    return rows


def parts_of_a_step(model: Model, duration: float, step: float, ways: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Where a step's time goes, µs: an evaluation, the end of a step (closed, and evaluated), a whole step of Adams. From
    fixed steps: Runge-Kutta has three evaluations more than Adams-Bashforth, which has the end alone."""
    rows = []
    for name, options in ways.items():
        make = {
            method: lambda method=method, options=options: simulate(
                model, duration, times=[duration], step=step, method=method, engine="jit", **options
            )
            for method in ("rk4", "ab3", "abm")
        }
        runs, times = in_turn(make, 5)
        each = {m: 1e6 * float(np.min(times[m])) / int(runs[m].statistics["steps"]) for m in make}
        rows.append({
            "": name, "an evaluation": round((each["rk4"] - each["ab3"]) / 3, 2), "the end of a step": round(each["ab3"], 2),
            "a step of Adams (order 4)": round(each["abm"], 2),
        })  # fmt: skip
    return rows


def counts(model: Model, cartesian: Run, printed: dict[str, Any]) -> list[dict[str, Any]]:
    """Coordinates and constraints of both, beside what is printed."""
    system, other = model.build(), cartesian.statistics
    return [
        {"": "coordinates", "relative": system.nq, "Cartesian": other["coordinates"], "printed": printed["coordinates"]},
        {"": "constraints", "relative": system.n_constraints, "Cartesian": other["constraints"],
         "printed": printed["constraints"]},
    ]  # fmt: skip


def claim(text: str, verdict: str, numbers: str) -> dict[str, str]:
    """A conclusion of a paper, and what became of it: holds, does not hold, depends on ..."""
    return {"claim": text, "verdict": verdict, "numbers": numbers}


def holds(whether: bool) -> str:
    """The plain verdicts."""
    return "holds" if whether else "does not hold"


STYLES = [("#1f4e79", "-", 2.0), ("#e07b39", "--", 1.3), ("#4d8f4d", ":", 1.6), ("#7a4d8f", "-.", 1.2)]


def plot(path: Path, title: str, panels: list[tuple[str, np.ndarray, dict[str, np.ndarray]]], x: str = "time, s") -> str:
    """Curves on one panel each: (label, time, {name: values}); a time of its own: {name: (time, values)}."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9, 1.0 + 2.3 * len(panels)), layout="constrained")
    axes = sheet.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axis, (label, time, curves) in zip(axes, panels, strict=True):
        for (name, values), (color, line, width) in zip(curves.items(), STYLES, strict=False):
            own = values if isinstance(values, tuple) else (time, values)
            axis.plot(*own, color=color, linestyle=line, linewidth=width, label=name)
        axis.set_ylabel(label, fontsize=9)
        axis.grid(alpha=0.3)
        if len(curves) > 1:
            axis.legend(fontsize=8, loc="upper right")
    axes[-1].set_xlabel(x)
    sheet.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path, dpi=140)
    return str(path)
