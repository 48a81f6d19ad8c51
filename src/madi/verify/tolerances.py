"""`madi verify --tolerances`: does the error follow the tolerance? Problems with known answers at rtol 1e-6 ... 1e-12, those
with loops by every method of closing them."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from madi.errors import MadiError
from madi.model.model import Model
from madi.results.run import Run
from madi.run.simulate import simulate
from madi.verify import andrews, bricard, four_bars, pendulum, slider_crank, tops

RTOLS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
LOOPS = ("projection", "pseudo-inverse", "svd", "qr", "partition")
WITHIN = 3.0  # an error may be so many times that of the looser tolerance before
FEWER = 10.0  # and so many times the projection's


class Problem(NamedTuple):
    """A model, how long, where, the largest error of a run against the known answer, and how well that is known."""

    model: Callable[[], Model]
    times: list[float]
    error: Callable[[Run], float]
    floor: float
    loops: bool = True


def _largest(values: Any) -> float:
    return float(np.max(np.abs(values)))


def _pendulum(run: Run) -> float:
    return _largest(np.column_stack([run["bob.x"], run["bob.y"]]) - pendulum.position(run.data["time"].values))


def _top(run: Run) -> float:
    return _largest(np.column_stack([run[f"top.{axis}"] for axis in "xyz"]) - tops.heavy_centre(run.data["time"].values))


def _four_bars(run: Run) -> float:
    th = -run["A0"]
    return _largest(np.column_stack([np.sin(th), np.cos(th)]) - four_bars.corner(2, run.data["time"].values))


def _andrews(run: Run) -> float:
    return _largest(andrews.angles(run)[0] - np.array(list(andrews.ANGLES.values())))


def _bricard(run: Run) -> float:
    return _largest(bricard.corner(run.data) - np.array(list(bricard.REFERENCE.values())))


def _slider_crank(run: Run) -> float:
    return _largest(slider_crank.elastic(run)[-1] - np.array(slider_crank.CONSISTENT))


PROBLEMS: dict[str, Problem] = {
    "pendulum, 20 s": Problem(pendulum.model, [5.0, 10.0, 20.0], _pendulum, 1e-11, loops=False),
    "heavy top, 10 s": Problem(tops.heavy, [2.0, 5.0, 10.0], _top, 1e-11, loops=False),
    "2 four-bars, 2 s": Problem(
        lambda: four_bars.model(2), [0.5, 2.0], _four_bars, 5e-10
    ),  # a singular position magnifies rounding
    "Andrews, 0.03 s": Problem(andrews.model, [0.03], _andrews, 1e-9),
    "Bricard, 10 s": Problem(bricard.model, list(bricard.REFERENCE), _bricard, 1e-8),
    "flexible slider-crank, 0.1 s": Problem(
        lambda: slider_crank.model(slider_crank.elastic_rod), [0.1], _slider_crank, 1e-9
    ),
}


def errors_of(problem: Problem, loops: str | None, rtols: tuple[float, ...] = RTOLS) -> list[float]:
    """The error at each tolerance; NaN where the run did not come to its end."""
    found = []
    for rtol in rtols:
        try:
            run = simulate(problem.model(), problem.times[-1], rtol=rtol, times=problem.times, engine="jit", loops=loops)
            found.append(problem.error(run))
        except MadiError:
            found.append(float("nan"))
    return found


def follows(errors: list[float], floor: float) -> bool:
    """Whether errors fall with the tolerance, or stay, within a factor of three; below `floor` nobody can tell."""
    known = [max(error, floor) for error in errors]
    return all(np.isfinite(errors)) and all(b <= WITHIN * a for a, b in pairwise(known))


def report() -> dict[str, Any]:
    """Every problem with every method of closing loops: a row each."""
    start = time.perf_counter()
    rows, bad = [], []
    for name, problem in PROBLEMS.items():
        first: list[float] = []
        for loops in LOOPS if problem.loops else (None,):
            errors = errors_of(problem, loops)
            first = first or errors
            near = all(e <= FEWER * max(f, problem.floor) for e, f in zip(errors, first, strict=True))
            good = follows(errors, problem.floor) and near
            word = loops or "-"
            columns = {f"{rtol:.0e}": f"{error:.1e}" for rtol, error in zip(RTOLS, errors, strict=True)}
            rows.append({"problem": name, "loops": word, **columns, "follows": "yes" if good else "NO"})
            bad += [] if good else [f"{name} ({word})"]
    return {
        "title": "madi verify --tolerances: errors against rtol (dopri)",
        "tables": {"Errors": rows},
        "values": {"that do not follow": len(bad), "time, s": time.perf_counter() - start},
        "notes": [
            "Units: m, rad. It follows if no error is more than three times that of the looser tolerance before, nor ten",
            "times the projection's at the same one; errors below what the reference is known to count as that. Four-bars",
            "pass a singular position, which magnifies rounding: 5e-10 there.",
        ],
        "bad": bad,
    }
