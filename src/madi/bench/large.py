"""How building, checking, explaining and showing a model grow with its size: nothing should be quadratic."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from madi.analysis.doctor import examine
from madi.bench.models import chain
from madi.model.model import Model
from madi.run.simulate import simulate
from madi.verify import four_bars
from madi.view.page import page

SHORT, STEP = 0.02, 1e-3  # s: of the run that is shown


def free_bodies(n: int) -> Model:
    """Bodies that nothing ties together: so many trees."""
    m = Model(f"{n} free bodies")
    for k in range(n):
        m.free(f"free{k}", m.ground, m.body(f"body{k}", 1.0, inertia=(0.1, 0.1, 0.1), position=(k, 0, 0)))
    return m


def sprung_bodies(n: int) -> Model:
    """Pendulums in a row, each with a spring to the ground."""
    m = Model(f"{n} sprung bodies")
    for k in range(n):
        body = m.body(f"bob{k}", 1.0, inertia=(0.1, 0.1, 0.1), position=(k, 0, -1))
        m.revolute(f"pin{k}", m.ground, body, at=(k, 0, 0), axis=(0, 1, 0))
        m.spring_damper(f"spring{k}", m.ground, body, at=((k, 1, 0), (k, 0, -1)), stiffness=100.0, damping=1.0)
    return m


def windows(n: int) -> Model:
    """Four-bar windows in a row, of n bodies or one more: n // 2 loops that hang together."""
    return four_bars.model(n // 2)


MODELS: dict[str, Callable[[int], Model]] = {
    "chain": chain, "free bodies": free_bodies, "sprung bodies": sprung_bodies, "four-bar windows": windows,
}  # fmt: skip


def report(quick: bool = False) -> dict[str, Any]:
    """A row for every mechanism and size; the exponents say how the times grow from the smallest to the largest."""
    sizes = (125, 250, 500) if quick else (250, 500, 1000, 2000)
    rows, growth = list[dict[str, Any]](), {}
    for name, make in MODELS.items():
        measure(make(10))  # machine code and imports
        own: list[dict[str, Any]] = [{"model": name, "bodies": n, **measure(make(n))} for n in sizes]
        rows += own
        for what in ("build, s", "check, s", "explain, s", "page, s"):
            times = np.log([row[what] for row in own])
            growth[f"{name}: {what.split(',')[0]} grows as N to the power"] = float(np.polyfit(np.log(sizes), times, 1)[0])
    return {
        "title": "Large models",
        "values": growth,
        "tables": {"what is done before and after a run": rows},
        "notes": [f"check: the doctor. page: of a run of {SHORT:g} s, {round(SHORT / STEP)} steps."],
    }


def measure(model: Model) -> dict[str, float]:
    """Seconds of each, and the size of the page."""
    run = simulate(model, SHORT, step=STEP)
    system, build = _timed(model.build)
    _, check = _timed(partial(examine, model))
    _, explain = _timed(system.explain)
    text, shown = _timed(partial(page, run))
    return {
        "loops": len(system.cut_joints), "build, s": build, "check, s": check, "explain, s": explain, "page, s": shown,
        "page, MB": len(text.encode()) / 1e6,
    }  # fmt: skip


def _timed(act: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    found = act()
    return found, time.perf_counter() - begin
