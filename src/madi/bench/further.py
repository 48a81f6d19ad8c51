"""What else grows, for `madi bench growth`: statics, linearisation, derivatives, Adams' own work, null spaces, wheels and
tracks by their number; flexible links by modes, results by bodies, batches by runs, generated C by loops."""

from __future__ import annotations

import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from madi.analysis.linearize import linearize
from madi.assembly.statics import statics
from madi.bench.flexible import arm
from madi.bench.models import chain
from madi.bench.quantity import ROUNDS, Point, Quantity, least
from madi.bench.trees import state, time_entry
from madi.engines.compiler import compile_c
from madi.forces.road import flat
from madi.model.model import Model
from madi.run.batch import simulate_many
from madi.run.simulate import simulate
from madi.symbolic.codegen import c_source
from madi.symbolic.trace import trace
from madi.verify import four_bars

STEP, STEPS = 1e-3, 200
SECONDS = 0.1  # of an evaluation that is measured in a loop
OUTPUTS = 20_001
SPRING = 50.0  # N m/rad, times the links: so that long chains bend like short ones


def sprung(n: int) -> Model:
    """A chain that springs hold up."""
    m = Model(f"sprung chain {n}")
    before: Any = m.ground
    for k in range(n):
        link = m.body(f"l{k}", 10.0 / n, inertia=(1e-3, 1e-3, 1e-3), position=((k + 0.5) * 0.1, 0, 0))
        m.revolute(f"j{k}", before, link, at=(k * 0.1, 0, 0), axis=(0, 1, 0))
        m.joint_spring(f"s{k}", f"j{k}", stiffness=SPRING * n, damping=0.5)
        before = link
    return m


def settling(n: int) -> Point:
    """`madi.statics`, the derivatives of its elements (which are kept) made."""
    system = sprung(n).build()
    return Point(least(lambda: statics(system)), n)


def linearising(n: int) -> Point:
    """`madi.linearize` at the rest, without eigenvalues."""
    rest = statics(sprung(n))
    return Point(least(lambda: linearize(rest)), n)


def accelerations_by_states(n: int) -> Point:
    """`s.derivatives` of four-bars, the trace of their rows made."""
    system = four_bars.model(n).build()
    q, v = system.start.q, system.start.v
    system.derivatives(q, v)
    return Point(least(lambda: system.derivatives(q, v)), n)


def beside_evaluations(n: int) -> Point:
    """What a step of `abm` takes beside its evaluations, of a chain."""
    system, found = chain(n).build(), np.inf
    start = state(system)
    each = time_entry(system, "jit", system.entry(), SECONDS)
    for _ in range(ROUNDS):
        told = simulate(system, STEPS * STEP, step=STEP, method="abm", start=start, engine="jit").statistics
        found = min(found, (float(told["cpu_time"]) - each * int(told["evaluations"])) / int(told["steps"]))
    return Point(max(found, 1e-9), n)


def along_directions(way: str, n: int) -> Point:
    """An evaluation with the null-space methods, the closing of steps in it."""
    system, found = four_bars.model(n).build(), np.inf
    for _ in range(ROUNDS):
        told = simulate(system, 20 * STEP, step=STEP, method="rk4", loops=way, engine="jit").statistics
        found = min(found, float(told["cpu_time"]) / int(told["evaluations"]))
    return Point(found, n)


def rolling(kind: str, n: int) -> Point:
    """An evaluation of two carriers with so many wheels of nine places, or spans of track, on a bumpy road."""
    m, way = Model(f"{n} {kind}"), flat().half_round(0.3, 0.05).sine(0.02, 2.0)
    for name in ("front", "rear"):
        body = m.body(name, 1000.0, inertia=(100, 100, 100))
        m.free(f"{name}_free", m.ground, body)
    for k in range(n):
        x = 0.37 * k
        if kind == "wheels":
            m.wheel(f"w{k}", "front", at=(x, 0, 0.28), radius=0.3, stiffness=1e5, damping=1e3, road=way, places=9)
        else:
            m.track(f"t{k}", "front", "rear", at=((x, 0, 0.28), (x - 0.8, 0, 0.28)), radii=(0.3, 0.3), tension=1e3,
                    stiffness=1e4, support=1e5, support_damping=1e3, road=way, places=3)  # fmt: skip
    system = m.build()
    return Point(time_entry(system, "jit", system.entry(), SECONDS), n)


def bending(stiffening: bool, k: int) -> Point:
    """Forward dynamics of a link of k modes."""
    system = arm(1, {"z": k}, stiffening).build()
    return Point(time_entry(system, "jit", system.entry(), SECONDS), k)


def results(n: int) -> Point:
    """All quantities of a run of a chain, computed."""
    run = recorded(n)
    return Point(least(run.arrays.compute, 1), n)


def memory_of_results(n: int) -> Point:
    """The most memory they need at once beside the states, bytes."""
    run = recorded(n)
    tracemalloc.start()
    try:
        run.arrays.compute()
        return Point(float(tracemalloc.get_traced_memory()[1]), n)
    finally:
        tracemalloc.stop()


def recorded(n: int) -> Any:
    """A run of a chain with many outputs."""
    system = chain(n).build()
    times = np.linspace(0.0, 1e-5 * (OUTPUTS - 1), OUTPUTS)
    return simulate(system, float(times[-1]), step=1e-4, times=times, method="rk4", start=state(system), engine="jit")


def batches(make: Callable[[], Model], name: str, keep: tuple[str, ...], runs: int) -> Point:
    """Runs of ten steps, one thread; a call's own cost, which a few runs have too, taken off."""
    model = make()

    def call(count: int) -> float:
        return least(
            lambda: simulate_many(model, {name: np.linspace(1.0, 2.0, count)}, 0.1, step=0.01, keep=keep, workers=1)
        )

    return Point(max(call(runs + 3) - call(3), 1e-9), runs)


def compiling(n: int) -> Point:
    """The C compiler on an evaluation of four-bars, all its processes."""
    system = four_bars.model(n).build()
    source = c_source(trace(system.layout, system.entry()))
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        compile_c(source + f"/* {time.time_ns()} */\n", Path(folder) / "made.so")
        after = os.times()
    return Point(after.children_user + after.children_system - before.children_user - before.children_system, n)


SIZES, QUICK = (10, 20, 40, 80, 160, 320), (10, 20)
FURTHER: tuple[tuple[str, tuple[Quantity, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ("What is done with the whole, and beside the arithmetic", (
        Quantity("statics, ms, sprung chain", "madi", settling, 1e3),
        Quantity("linearize, ms, sprung chain", "madi", linearising, 1e3),
        Quantity("s.derivatives, ms, four-bars", "madi", accelerations_by_states, 1e3),
        Quantity("a step of abm beside its evaluations, µs, chain", "madi", beside_evaluations, 1e6),
        *(Quantity(f"evaluation with {way}, µs, four-bars", "madi", partial(along_directions, way), 1e6)
          for way in ("pseudo-inverse", "svd", "qr", "partition")),
        *(Quantity(f"evaluation, µs, {kind}", "madi", partial(rolling, kind), 1e6) for kind in ("wheels", "tracks")),
    ), SIZES, QUICK),
    ("A flexible link by its modes", (
        Quantity("evaluation, µs", "madi", partial(bending, False), 1e6),
        Quantity("evaluation with stiffening, µs", "madi", partial(bending, True), 1e6),
    ), (2, 4, 8, 16, 24), (2, 4, 8)),
    (f"Results of {OUTPUTS:,} outputs by bodies of a chain", (
        Quantity("all quantities, s", "madi", results),
        Quantity("most memory, MB", "madi", memory_of_results, 1e-6),
    ), (10, 25, 50, 100), (5, 10)),
    ("Batches of runs of ten steps, by runs", (
        Quantity("pendulum, ms", "madi", partial(batches, partial(chain, 1), "link0.mass", ("q", "v")), 1e3),
        Quantity("pendulum, energy kept, ms", "madi", partial(batches, partial(chain, 1), "link0.mass", ("energy",)), 1e3),
        Quantity("four-bar, ms", "madi", partial(batches, partial(four_bars.model, 1), "rocker0.mass", ("q", "v")), 1e3),
    ), (100, 300, 1000, 3000), (30, 100)),
    ("Generated C by four-bars", (Quantity("compiler, s", "madi", compiling),), (10, 20, 40, 80), (5, 10)),
)  # fmt: skip
