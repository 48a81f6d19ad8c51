"""`madi.compare`: one model, several ways to keep its loops closed, each run the same; what it cost and how they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, RunError
from madi.given import File, Vector
from madi.loops.methods import LOOP_METHODS
from madi.model.model import Model
from madi.results.run import Run
from madi.run.options import positive
from madi.run.simulate import simulate
from madi.system import System

if TYPE_CHECKING:
    from madi.show.figure import Picture

LOOPS = tuple(LOOP_METHODS)
METHODS = (*LOOPS, "cartesian")
STILL = 1e-3  # a coordinate whose range is less than this of the largest does not count as moving
ON_LOG_AXIS = 1e-17  # m or rad: a violation of nothing, below rounding
SAMPLES = 201  # outputs, unless they are asked for


@dataclass(frozen=True)
class Comparison:
    """What `madi.compare` found: `table`, one row a method; `runs` by name; `failed`, what did not reach the end and why."""

    model: str
    table: list[dict[str, Any]]
    runs: dict[str, Run]
    failed: dict[str, str]

    def __str__(self) -> str:
        if not self.table:
            return f"model {self.model!r}: no method reached the end"
        heads = list(self.table[0])
        rows = [heads, *([_written(row[head]) for head in heads] for row in self.table)]
        widths = [max(len(row[k]) for row in rows) for k in range(len(heads))]
        lines = ["  ".join(word.rjust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*lines, *(f"{name}: {why}" for name, why in self.failed.items())])

    def _repr_html_(self) -> str:
        from madi.show.html import heading, remark, table, whole

        heads = list(self.table[0]) if self.table else []
        rows = [[_written(row[head]) for head in heads] for row in self.table]
        failed = (remark(f"{name}: {why}") for name, why in self.failed.items())
        return whole(heading(f"Comparison, {self.model}", f"{len(rows)} methods"), table(heads, rows), *failed)

    def plot(self, path: File | None = None) -> Picture:
        """Violation of the constraints and length of the steps over time, a curve for each method (P2's Figs. 4-7)."""
        from madi.show.figure import Picture

        figure = Picture(figsize=(8, 7), layout="constrained")
        axes = figure.subplots(3, 1, sharex=True)
        for k, (name, run) in enumerate(self.runs.items()):  # curves may lie on each other: thinner and dashed on top
            time = run.data["step_time"]
            style = {"linewidth": 2.4 - 0.35 * min(k, 5), "linestyle": ("-", "--", "-.", ":")[k % 4], "alpha": 0.85}
            for axis, signal in zip(axes, ("step_residual", "step_violation", "step_size"), strict=True):
                if signal in run.data:
                    values = np.maximum(run.data[signal], ON_LOG_AXIS if axis is not axes[2] else 0.0)
                    axis.plot(time, values, label=name, **style)
        for axis, label in zip(axes, ("violation left\nby a step", "violation\nafter closing", "step, s"), strict=True):
            axis.set_ylabel(label)
            axis.set_yscale("log")
            axis.grid(alpha=0.3)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=8)
        axes[-1].set_xlabel("time, s")
        figure.suptitle(self.model)
        if path is not None:
            figure.savefig(path, dpi=140)
        return figure


def compare(
    model: Model | System,
    duration: float,
    methods: Sequence[str] = LOOPS[:5],
    *,
    repeats: int = 3,
    times: Vector | None = None,
    **options: Any,
) -> Comparison:
    """Run a model with each of `methods` of closing its loops, and tell them apart.

    `methods`: words that `simulate(loops=...)` knows, or "cartesian" (absolute coordinates); the others are held against the
    first. `options`: as for `simulate` (method, rtol, max_step, ...), for all the same. Of each: CPU time (the least of
    `repeats` runs), evaluations, steps; the largest violation a step leaves before it is closed, what stays at outputs
    ("drift"); how far motion and constraint forces are from the first method's, against their range.
    """
    if not isinstance(model, Model | System):
        raise InputError(f"compare: give a Model or a System, not {type(model).__name__}")
    duration = positive(duration, "duration")
    methods = [methods] if isinstance(methods, str) else list(methods)
    if not methods:
        raise InputError(f"compare: name at least one method of {', '.join(METHODS)}")
    if "cartesian" in methods and not isinstance(model, Model):
        raise InputError("compare: for 'cartesian' pass the Model, not the System")
    for name in methods:
        if name not in METHODS:
            raise InputError(f"compare: there is no method {name!r}; choose from {', '.join(METHODS)}")
    for name in ("loops", "formulation", "history"):
        if name in options:
            raise InputError(f"compare: {name} is not for you to give; methods={list(methods)!r} are what is compared")
    system = model if isinstance(model, System) else model.build()
    if not system.frozen.rows:
        raise InputError(f"compare: model {system.name!r} has no loops: there is nothing to close")
    times = np.linspace(0.0, duration, SAMPLES) if times is None else times
    options = {"engine": "jit", "times": times, **options}
    best, failed = _times(model, duration, methods, repeats, options)
    runs = {name: _one(model, duration, name, {**options, "history": True}) for name in best}
    table = []
    forces = {name: _constraint_forces(system, run) for name, run in runs.items() if name != "cartesian"}
    first, pattern = next(iter(runs), ""), next(iter(forces), "")
    for name, run in runs.items():
        data, done = run.data, run.statistics
        row = {
            "method": name, "time, ms": 1e3 * best[name], "evaluations": done["evaluations"], "steps": done["steps"],
            "violation": _most(data, "step_residual"), "drift": float(data["violation"].max()),
            "decompositions": done.get("decompositions", "-"), "condition": done.get("condition", "-"),
            "motion": _apart(data["q"].values, runs[first].data["q"].values),
        }  # fmt: skip
        row["forces"] = _apart(forces[name], forces[pattern]) if name in forces else "-"
        table.append(row)
    return Comparison(system.name, table, runs, failed)


def _times(
    model: Model | System, duration: float, methods: list[str], repeats: int, options: dict[str, Any]
) -> tuple[dict[str, float], dict[str, str]]:
    """The least CPU time of each method, run in turn; why others failed."""
    best: dict[str, float] = {}
    failed: dict[str, str] = {}
    for _ in range(max(1, repeats)):
        for name in methods:
            if name in failed:
                continue
            try:
                run = _one(model, duration, name, options)
            except RunError as error:
                failed[name] = str(error)
            else:
                best[name] = min(best.get(name, np.inf), float(run.statistics["cpu_time"]))
    return best, failed


def _one(model: Model | System, duration: float, name: str, options: dict[str, Any]) -> Run:
    if name == "cartesian":
        return simulate(model, duration, formulation="cartesian", **options)
    return simulate(model, duration, loops=name, **options)


def _most(data: Any, name: str) -> Any:
    return float(data[name].max()) if name in data else "-"


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of a column against its own range; columns that hardly move count against the largest range."""
    ranges = np.ptp(b, axis=0)
    largest = float(np.max(ranges, initial=0.0)) or float(np.max(np.abs(b), initial=0.0)) or 1.0
    scale = np.where(ranges > STILL * largest, ranges, largest)
    return float(np.max(np.abs(a - b) / scale, initial=0.0))


def _constraint_forces(system: System, run: Run) -> np.ndarray:
    """Phi_q^T lam of every output: unique even where multipliers are not."""
    data = run.data
    multipliers = data["multiplier"].values
    return np.array(
        [
            system.constraint_jacobian(q, float(t)).T @ lam
            for q, t, lam in zip(data["q"].values, data["time"].values, multipliers, strict=True)
        ]
    )


def _written(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if not value or 1e-2 <= abs(value) < 1e5 else f"{value:.1e}"
    return str(value)
