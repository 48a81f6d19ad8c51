"""`madi bench contact`: balls that settle in a box, hard, against MuJoCo; what friction by the load of joints costs.

Balls of 5 cm fall into an open box and come to rest: the same start, step and friction for both (MuJoCo's contact is soft by
its default, ours hard). Beside the time stand how deep they overlap at the end, and by how much the energy ever rose between
two outputs, against what was lost.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from madi.integrate import TimeStepping
from madi.model.model import Model
from madi.run.simulate import simulate

RADIUS, DENSITY, FRICTION = 0.05, 1000.0, 0.5
STEP, SPAN = 2e-3, 1.0
TOLERANCE = 1e-4  # m/s, of the impulses
COUNTS, QUICK = (10, 40, 100), (10, 40)
SEED = 1


def places(count: int) -> tuple[np.ndarray, float]:
    """Where the balls start, and half the width of the box."""
    side = int(np.ceil(count ** (1 / 3)))
    grid = [(x, y, z) for z in range(count) for x in range(side) for y in range(side)][:count]
    spread = np.random.default_rng(SEED).uniform(-0.1, 0.1, (count, 3))
    middle = np.array([(side - 1) / 2, (side - 1) / 2, 0.0])
    return RADIUS * (2.2 * (np.array(grid, dtype=float) - middle) + [0, 0, 1.2] + spread), 1.15 * side * RADIUS


def walls(half: float) -> dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]]:
    """(normal, place) of floor and sides."""
    found = {"floor": ((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))}
    for name, normal in {"east": (-1, 0, 0), "west": (1, 0, 0), "north": (0, -1, 0), "south": (0, 1, 0)}.items():
        x, y, z = (float(part) for part in normal)
        found[name] = ((x, y, z), (-half * x, -half * y, 0.0))
    return found


def box(count: int) -> Model:
    """Balls above an open box."""
    m, (at, half) = Model("balls"), places(count)
    for k, place in enumerate(at):
        m.body(f"b{k}", position=place)
        m.shape(f"s{k}", f"b{k}", "sphere", radius=RADIUS, density=DENSITY, group="balls")
        m.free(f"f{k}", m.ground, f"b{k}")
    for name, (normal, place) in walls(half).items():
        m.shape(name, m.ground, "plane", normal=normal, at=place, group="walls")
    m.contact("walls", "balls", "walls", mu=FRICTION, restitution=0.0)
    m.contact("balls", "balls", "balls", mu=FRICTION, restitution=0.0)
    return m


def ours(count: int) -> dict[str, Any]:
    """Time of the loop, and what became of the balls."""
    system = box(count).build()
    method = TimeStepping(STEP, tolerance=TOLERANCE)
    simulate(system, 5 * STEP, method=method, engine="jit")
    run = simulate(system, SPAN, method=method, engine="jit", times=np.linspace(0, SPAN, 51))
    energy = run["energy"]
    return {
        "time, ms": 1e3 * float(run.statistics["cpu_time"]),
        "overlap, mm": -1e3 * float(np.min(run.data["contact_gap"].values[-1])),
        "energy rose": float(np.max(np.diff(energy)) / np.ptp(energy)),
        "sweeps a step": int(run.statistics["sweeps"]) * STEP / SPAN,
        "contacts": int(run.statistics["contacts"]),
    }


def theirs(count: int) -> dict[str, Any]:
    """The same in MuJoCo."""
    import mujoco

    at, half = places(count)
    balls = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" density="{DENSITY}"/></body>'
        for x, y, z in at
    )
    planes = "".join(
        f'<geom type="plane" size="9 9 1" pos="{" ".join(map(str, place))}" zaxis="{" ".join(map(str, normal))}"/>'
        for normal, place in walls(half).values()
    )
    options = f'<option timestep="{STEP}"/><default><geom friction="{FRICTION} 0 0"/></default>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{options}<worldbody>{planes}{balls}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    steps = round(SPAN / STEP)
    began = time.process_time()
    mujoco.mj_step(model, data, nstep=steps)
    took = time.process_time() - began
    overlap = -min((float(c.dist) for c in data.contact), default=0.0)
    return {"time, ms": 1e3 * took, "overlap, mm": 1e3 * overlap}


def linkage(mu: float) -> Model:
    """A crank and a rocker with friction in its three pins of the tree."""
    m = Model("four-bar")
    for name, p in (("a", (0, 0, 0.1)), ("b", (0.2, 0, 0.27)), ("c", (0.4, 0, 0.17))):
        m.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=p)
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), v0=8.0)
    m.revolute("B", "a", "b", at=(0, 0, 0.2), axis=(0, 1, 0))
    m.revolute("C", "b", "c", at=(0.4, 0, 0.35), axis=(0, 1, 0))
    m.revolute("D", m.ground, "c", at=(0.4, 0, 0), axis=(0, 1, 0), cut=True)
    for joint in "ABC" if mu else "":
        m.friction(f"f{joint}", joint, mu=mu, radius=0.02)
    return m


def frictions() -> list[dict[str, Any]]:
    """A step of rk4 with and without."""
    rows = []
    for mu in (0.0, 0.2):
        system = linkage(mu).build()
        runs = [simulate(system, 0.5, step=1e-4, times=[0.5], engine="jit") for _ in range(4)]
        best = min(float(run.statistics["cpu_time"]) / int(run.statistics["steps"]) for run in runs[1:])
        rows.append({"four-bar": "friction by load in three pins" if mu else "without", "µs a step": 1e6 * best})
    return rows


def report(quick: bool = False) -> dict[str, Any]:
    """Balls and pins."""
    rows, values = [], {}
    for count in QUICK if quick else COUNTS:
        mine, other = ours(count), theirs(count)
        rows += [{"balls": count, "engine": "madi, time stepping", **mine}, {"balls": count, "engine": "MuJoCo", **other}]
        values[f"{count} balls: madi / MuJoCo"] = mine["time, ms"] / other["time, ms"]
    return {
        "title": "madi bench contact", "tables": {"Balls in a box, 1 s": rows, "Friction": frictions()}, "values": values,
        "notes": [f"Steps of {1e3 * STEP:g} ms; impulses to {TOLERANCE:g} m/s. MuJoCo's contact is soft by its default."],
    }  # fmt: skip
