"""`madi bench flexible`: what links that bend cost, against the same arm with rigid links; and how it grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.bench.trees import engines_of, time_entry
from madi.flexible import tube
from madi.model.model import Model

SECTION, YOUNG, RHO = tube(0.06, 0.05), 7e10, 2700.0


def arm(links: int, modes: dict[str, int] | None) -> Model:
    """Links of 1 m along x, hinged about z, then y in turn (an elbow arm on a turning base), a load at the end. `modes` of
    every link; None: rigid links of the same mass and inertia."""
    m = Model(f"{links} links, " + ("rigid" if modes is None else ", ".join(f"{v} {k}" for k, v in modes.items())))
    before: Any = m.ground
    mass = RHO * SECTION.area
    for k in range(links):
        if modes is None:
            across, along = mass / 12, RHO * SECTION.polar
            link = m.body(f"link{k}", mass, com=(0.5, 0, 0), inertia=(along, across, across), position=(k, 0, 0), unphysical=True)
        else:
            link = m.beam(f"link{k}", (k, 0, 0), (k + 1, 0, 0), SECTION, YOUNG, RHO, modes)
        m.revolute(f"j{k}", before, link, at=(k, 0, 0), axis=(0, 0, 1) if k == 0 else (0, 1, 0))
        before = link
    m.fixed("grip", before, m.body("load", 2.0, inertia=(0.01, 0.02, 0.02), position=(links, 0, 0)))
    return m


def cost(model: Model, engine: str, formulation: str | None, seconds: float) -> float:
    """µs of an evaluation."""
    system = model.build()
    return 1e6 * time_entry(system, engine, system.entry(formulation), seconds)


def report(quick: bool = False) -> dict[str, Any]:
    """Three links with two modes each against rigid ones, in every engine and formulation; growth with modes and links."""
    seconds = 0.1 if quick else 0.4
    rigid, bending = arm(3, None), arm(3, {"z": 2})
    engines = engines_of(bending.build())
    rows = []
    for engine in engines:
        for formulation in ("recursive", "articulated", "velocity-transform"):
            a, b = cost(rigid, engine, formulation, seconds), cost(bending, engine, formulation, seconds)
            rows.append({"engine": engine, "formulation": formulation, "rigid, µs": a, "2 modes a link, µs": b, "ratio": b / a})
    best = engines[-1]
    growth = []
    for modes in ({"z": 1}, {"z": 2}, {"z": 4}, {"y": 2, "z": 2}, {"y": 2, "z": 2, "twist": 1, "axial": 1}):
        model = arm(3, modes)
        growth.append({"modes of each of 3 links": model.name.partition(", ")[2], "columns": model.build().nv,
                       **{f"{engine}, µs": cost(model, engine, None, seconds) for engine in engines}})  # fmt: skip
    sizes = (2, 4, 8) if quick else (2, 4, 8, 16, 32)
    longer = []
    for n in sizes:
        model = arm(n, {"z": 2})
        longer.append({"links of 2 modes": n, "columns": model.build().nv,
                       **{f"jit {f}, µs": cost(model, "jit", f, seconds) for f in ("recursive", "articulated")}})  # fmt: skip
    first, last = longer[0], longer[-1]
    power = {
        f: float(np.log(last[f"jit {f}, µs"] / first[f"jit {f}, µs"]) / np.log(sizes[-1] / sizes[0]))  # type: ignore[operator]
        for f in ("recursive", "articulated")
    }
    ratio = min(row["ratio"] for row in rows if row["engine"] == best)
    fastest = min(row["2 modes a link, µs"] for row in rows if row["engine"] == best) / min(
        row["rigid, µs"] for row in rows if row["engine"] == best
    )
    return {
        "title": "Flexible links: cost of an evaluation",
        "values": {
            f"2 modes on each of 3 links against rigid links, {best}, best formulation of each": fastest,
            f"the same, one formulation, {best}, least": ratio,
            **{f"{f}: cost grows from {sizes[0]} to {sizes[-1]} links as n to the power": p for f, p in power.items()},
        },
        "tables": {"3 links": rows, "More modes": growth, "More links": longer},
        "notes": ["Bending in the plane of the arm, geometric stiffening on. Both arms are timed in turn in one run."],
    }
