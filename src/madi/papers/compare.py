"""Relative against Cartesian, as P0 compares itself with DADS: curves, differences, counts, times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.model.model import Model
from madi.pipeline import simulate
from madi.results.run import Run


def both(
    model: Model, duration: float, repeats: int = 3, engine: str = "jit", cartesian_step: float | None = None, **options: Any
) -> tuple[Run, Run, float]:
    """The run in joint coordinates and the Cartesian one, same method, same steps or tolerances; (runs, time ratio).

    The ratio is Cartesian / relative, each the least of `repeats` runs taken in turn; the Cartesian one is by jitted
    kernels, the other by `engine`. `cartesian_step`: a step of its own for the Cartesian run.
    """
    runs: dict[str, Run] = {}
    best = {"relative": np.inf, "cartesian": np.inf}
    own = {name: value for name, value in options.items() if name != "loops"}
    own |= {} if cartesian_step is None else {"step": cartesian_step}
    for _ in range(repeats):
        for name in best:
            if name == "cartesian":
                runs[name] = simulate(model, duration, formulation="cartesian", engine="jit", **own)
            else:
                runs[name] = simulate(model, duration, engine=engine, **options)
            best[name] = min(best[name], float(runs[name].statistics["wall_time"]))
    return runs["relative"], runs["cartesian"], best["cartesian"] / best["relative"]


def equal_step(model: Model, duration: float, signal: str, step: float) -> tuple[float, float]:
    """(the step at which the Cartesian RK4 run is as accurate in `signal` as the relative one at `step`, that error).

    Errors are against a tight run of another method, and the fourth order of the method leads from one step to the other.
    """
    times = np.linspace(0, duration, 101)
    exact = simulate(model, duration, method="dopri", rtol=1e-12, times=times, engine="jit")[signal]
    errors = [
        apart(exact, simulate(model, duration, method="rk4", step=step, times=times, engine="jit", formulation=name)[signal])
        for name in (None, "cartesian")
    ]
    return step * min(1.0, (errors[0] / errors[1]) ** 0.25), errors[0]


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference against the range of the signal."""
    return float(np.max(np.abs(a - b)) / max(float(np.ptp(a)), 1e-300))


def counts(model: Model, run: Run, cartesian: Run, ratio: float, printed: dict[str, Any]) -> list[dict[str, Any]]:
    """A table as the paper's: coordinates, constraints, time of both, beside what is printed there."""
    system = model.build()
    own, other = run.statistics, cartesian.statistics
    return [
        {"": "coordinates", "relative": system.nq, "Cartesian": other["coordinates"], "printed": printed["coordinates"]},
        {"": "constraints", "relative": system.n_constraints, "Cartesian": other["constraints"],
         "printed": printed["constraints"]},
        {"": "steps", "relative": own["steps"], "Cartesian": other["steps"], "printed": "-"},
        {"": "factorisations", "relative": own.get("factorisations", 0), "Cartesian": other["factorisations"],
         "printed": "-"},
        {"": "time, s", "relative": f"{own['wall_time']:.4g}", "Cartesian": f"{other['wall_time']:.4g}",
         "printed": printed["time"]},
        {"": "time ratio", "relative": "1", "Cartesian": f"{ratio:.2f}", "printed": printed["ratio"]},
    ]  # fmt: skip


def plot(path: Path, title: str, panels: list[tuple[str, np.ndarray, dict[str, np.ndarray]]]) -> str:
    """Curves of both on one plot each: (label, time, {name: values})."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9, 1.0 + 2.3 * len(panels)), layout="constrained")
    axes = sheet.subplots(len(panels), 1, squeeze=False)[:, 0]
    styles = [("#1f4e79", "-", 1.8), ("#e07b39", "--", 1.1), ("#4d8f4d", ":", 1.4)]
    for axis, (label, time, curves) in zip(axes, panels, strict=True):
        for (name, values), (color, line, width) in zip(curves.items(), styles, strict=False):
            axis.plot(time, values, color=color, linestyle=line, linewidth=width, label=name)
        axis.set_ylabel(label, fontsize=9)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper right")
    axes[-1].set_xlabel("time, s")
    sheet.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path, dpi=140)
    return str(path)
