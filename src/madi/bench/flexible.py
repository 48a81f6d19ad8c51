"""`madi bench flexible`: what links that bend cost, against the same arm with rigid links; and how it grows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from madi.bench.trees import engines_of, time_entry
from madi.flexible import tube
from madi.model.elements import Body
from madi.model.model import Model

SECTION, YOUNG, RHO = tube(0.06, 0.05), 7e10, 2700.0
FORMULATIONS = ("recursive", "articulated", "velocity-transform")


def link(m: Model, k: int, modes: dict[str, int] | None, stiffening: bool) -> Body:
    """A tube of 1 m from x = k on; rigid ones have the same mass and inertia."""
    if modes is not None:
        return m.beam(f"link{k}", (k, 0, 0), (k + 1, 0, 0), SECTION, YOUNG, RHO, modes, stiffening=stiffening)
    mass = RHO * SECTION.area
    inertia = (RHO * SECTION.polar, mass / 12, mass / 12)
    return m.body(f"link{k}", mass, com=(0.5, 0, 0), inertia=inertia, position=(k, 0, 0), unphysical=True)


def arm(links: int, modes: dict[str, int] | None, stiffening: bool = True) -> Model:
    """Links hinged about z, then about y (an elbow arm on a turning base), a load at the end."""
    m = Model(f"{links} links")
    before: Any = m.ground
    for k in range(links):
        here = link(m, k, modes, stiffening)
        m.revolute(f"j{k}", before, here, at=(k, 0, 0), axis=(0, 0, 1) if k == 0 else (0, 1, 0))
        before = here
    m.fixed("grip", before, m.body("load", 2.0, inertia=(0.01, 0.02, 0.02), position=(links, 0, 0)))
    return m


def six_joints(modes: dict[str, int] | None, stiffening: bool = True) -> Model:
    """Three links again, with the six joints of a robot: yaw, shoulder, elbow, and a wrist of three axes."""
    m = Model("6 joints, 3 links")
    base = m.body("base", 5.0, inertia=(0.05, 0.05, 0.05))
    wrist = m.body("wrist", 2.0, inertia=(0.01, 0.01, 0.01), position=(2, 0, 0))
    load = m.body("load", 2.0, inertia=(0.01, 0.02, 0.02), position=(3, 0, 0))
    upper, fore, hand = (link(m, k, modes, stiffening) for k in range(3))
    chain = (("yaw", base, 0, (0, 0, 1)), ("shoulder", upper, 0, (0, 1, 0)), ("elbow", fore, 1, (0, 1, 0)),
             ("roll", wrist, 2, (1, 0, 0)), ("pitch", hand, 2, (0, 1, 0)), ("spin", load, 3, (1, 0, 0)))  # fmt: skip
    before: Any = m.ground
    for name, body, x, axis in chain:
        m.revolute(name, before, body, at=(x, 0, 0), axis=axis)
        before = body
    return m


def cost(model: Model, engine: str, formulation: str | None, seconds: float) -> float:
    """µs of an evaluation."""
    system = model.build()
    return 1e6 * time_entry(system, engine, system.entry(formulation), seconds)


def growth_by_modes(quick: bool, seconds: float) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """One link of 1, 2, 4 ... modes in one plane, jitted, forward and inverse dynamics, with and without stiffening; and how
    long three such links take to build. The powers are those of the last three sizes."""
    sizes, rows = (2, 4, 8) if quick else (1, 2, 4, 8, 16, 24), []
    for k in sizes:
        row: dict[str, Any] = {"modes of a link": k}
        for what, stiffening in (("", False), (", stiffening", True)):
            system = arm(1, {"z": k}, stiffening).build()
            for label, entry in (("forward", system.formulation()), ("inverse", "inverse")):
                row[f"{label}{what}, µs"] = 1e6 * time_entry(system, "jit", entry, seconds)
        start = time.process_time()
        arm(3, {"z": k}).build()
        rows.append({**row, "build of 3 links, s": time.process_time() - start})
    values = {
        f"{key[: -len(', µs')]}: cost grows from {sizes[-3]} to {sizes[-1]} modes as k to the power": float(
            np.log(rows[-1][key] / rows[-3][key]) / np.log(sizes[-1] / sizes[-3])
        )
        for key in rows[0] if key.endswith("µs")
    }  # fmt: skip
    values[f"{sizes[-1]} modes: forward dynamics with stiffening against without"] = (
        rows[-1]["forward, stiffening, µs"] / rows[-1]["forward, µs"]
    )
    return rows, values


def report(quick: bool = False) -> dict[str, Any]:
    """Three links with two modes each against rigid ones, in every engine and formulation; growth with modes and links."""
    seconds = 0.1 if quick else 0.4
    engines = engines_of(arm(3, {"z": 2}).build())
    best = engines[-1]
    rows: list[dict[str, Any]] = []
    for make in (lambda modes, on=True: arm(3, modes, on), six_joints):
        for engine in engines:
            for formulation in FORMULATIONS:
                a, b, c = (cost(make(*given), engine, formulation, seconds)  # type: ignore[operator]
                           for given in ((None,), ({"z": 2},), ({"z": 2}, False)))  # fmt: skip
                rows.append(
                    {"arm": make(None).name, "engine": engine, "formulation": formulation, "rigid, µs": a,  # type: ignore[operator]
                     "2 modes a link, µs": b, "ratio": b / a, "without stiffening": c / a}
                )  # fmt: skip
    values = {}
    for name in dict.fromkeys(row["arm"] for row in rows):
        mine = [row for row in rows if row["arm"] == name and row["engine"] == best]
        least = [min(row[key] for row in mine) for key in ("2 modes a link, µs", "rigid, µs")]
        values[f"{name}: 2 modes a link against rigid links, {best}, the fastest formulation of each"] = least[0] / least[1]
    rigid, same = (min(cost(arm(n, None), best, f, seconds) for f in FORMULATIONS[:2]) for n in (3, 9))
    values[f"9 rigid hinges (as many columns as 3 links of 2 modes) against 3, {best}"] = same / rigid
    growth = []
    for modes in ({"z": 1}, {"z": 2}, {"z": 4}, {"y": 2, "z": 2}, {"y": 2, "z": 2, "twist": 1, "axial": 1}):
        model = arm(3, modes)
        growth.append({"modes of each of 3 links": ", ".join(f"{n} {name}" for name, n in modes.items()),
                       "columns": model.build().nv,
                       **{f"{engine}, µs": cost(model, engine, None, seconds) for engine in engines}})  # fmt: skip
    by_modes, powers = growth_by_modes(quick, seconds)
    values |= powers
    sizes = (2, 4, 8) if quick else (2, 4, 8, 16, 32)
    times = {f: [cost(arm(n, {"z": 2}), "jit", f, seconds) for n in sizes] for f in FORMULATIONS[:2]}
    longer = [
        {"links of 2 modes": n, "columns": 3 * n, **{f"jit {f}, µs": times[f][k] for f in times}}
        for k, n in enumerate(sizes)
    ]
    for f, took in times.items():
        power = np.log(took[-1] / took[0]) / np.log(sizes[-1] / sizes[0])
        values[f"{f}: cost grows from {sizes[0]} to {sizes[-1]} links as n to the power"] = float(power)
    return {
        "title": "Flexible links: cost of an evaluation",
        "values": values,
        "tables": {"3 links": rows, "More modes": growth, "Modes of one link, jit": by_modes, "More links": longer},
        "notes": ["Bending in the plane of the arm. Rigid and flexible arms are timed in turn in one run."],
    }
