"""`madi bench measured`: what measured data cost, ten points of them against a million, in one run."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from madi.bench.trees import engines_of
from madi.forces.road import flat
from madi.model.model import Model
from madi.run.simulate import simulate
from madi.signals.table import table

FEW, MANY = 10, 1_000_000
STEP = 2e-5  # s: a step goes through about one point of the long tables
SEED = 1


def places(points: int, start: float, end: float, even: bool) -> np.ndarray:
    """So many places, evenly spaced or anywhere."""
    if even:
        return np.linspace(start, end, points)
    inner = np.sort(np.random.default_rng(SEED).uniform(start, end, points - 2))
    return np.unique(np.concatenate([[start], inner, [end]]))


def tables(points: int, even: bool) -> Model:
    """A slide with a force over time, a force over its way, and a spring and damper, all by points."""
    m = Model("tables")
    m.body("slider", 1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("slide", m.ground, "slider", at=(0, 0, 0), axis=(1, 0, 0))
    x = places(points, -10.0, 10.0, even)
    push, hold = table(np.column_stack([x, 3 * np.sin(x)])), table(np.column_stack([x, 10 * x]), between="linear")
    m.joint_torque("f", "slide", lambda t, q, v: push(t) - hold(q[0]))
    m.characteristic(
        "s", m.ground, "slider", ((0, 0, 0), (1, 0, 0)), spring=np.column_stack([x, 20 * x + x**3]),
        damper=np.column_stack([x, 2 * x]),
    )  # fmt: skip
    return m


def road(points: int, even: bool) -> Model:
    """A wheel that is drawn over a road by points."""
    m = Model("road")
    m.body("cart", 1.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.body("wheel", 20.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.prismatic("x", m.ground, "cart", at=(0, 0, 0.3), axis=(1, 0, 0))
    m.prismatic("z", "cart", "wheel", at=(0, 0, 0.3), axis=(0, 0, 1))
    m.drive("x", lambda t: 20.0 * t)
    x = places(points, 1.0, 401.0, even)
    line = flat().polyline(np.column_stack([x, 0.01 * np.sin(x)]))
    m.wheel("tire", "wheel", (0, 0, 0.3), radius=0.301, stiffness=2e5, damping=300.0, road=line)
    return m


def timed(model: Model, engine: str, steps: int) -> tuple[float, float]:
    """(s to build, µs of a step of rk4, the best of three runs)."""
    start = time.perf_counter()
    system = model.build()
    took = time.perf_counter() - start
    span = steps * STEP
    runs = [simulate(system, span, method="rk4", step=STEP, times=[span], engine=engine) for _ in range(4)]
    return took, 1e6 * min(float(run.statistics["cpu_time"]) for run in runs[1:]) / steps


def report(quick: bool = False) -> dict[str, Any]:
    """Tables and roads of few and of many points, evenly spaced and not, in every engine."""
    steps, rows = 5_000 if quick else 50_000, []
    values: dict[str, Any] = {}
    for make in (tables, road):
        for engine in engines_of(make(FEW, True).build()):
            for even in (True, False):
                (_, few), (built, many) = (timed(make(points, even), engine, steps) for points in (FEW, MANY))
                rows.append({"model": make.__name__, "engine": engine, "spaced": "evenly" if even else "at random",
                             f"{FEW} points, µs": few, f"{MANY} points, µs": many, "ratio": many / few,
                             "built in, s": built})  # fmt: skip
        values[f"{make.__name__}: a step with {MANY:,} points against {FEW}, at most"] = max(
            row["ratio"] for row in rows if row["model"] == make.__name__
        )
    return {
        "title": "Measured data: cost of a step of rk4",
        "values": values,
        "tables": {"Few points and many": rows},
        "notes": ["Both sizes are timed in turn in one run; making the model is timed apart."],
    }
