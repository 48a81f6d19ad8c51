"""`madi bench growth`: how what a user waits for grows with the work, madi and its peers in one run.

Every quantity is measured at 10 to 320 bodies or loops; its exponent is the slope of log time over log size, `each` what one
of them costs by that line at the middle. Times are CPU seconds, the least of a few. Derivatives grow with the number of
entries that are not zero, so theirs is over that. A quantity is given up at the first size that takes longer than LONGEST:
what is missing took too long, and the exponent is that of the others.

Implicit steps: the same chain, state and step for all, Newton to convergence with a matrix in every step (MuJoCo's method
"implicit": one linear solution a step). Of a peer that can only be called from Python the same call on one joint is taken
off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from madi.analysis.doctor import examine
from madi.bench.further import FURTHER
from madi.bench.models import chain
from madi.bench.peers import loop_peers, peers_of
from madi.bench.quantity import ROUNDS, Point, Quantity, least
from madi.bench.trees import state
from madi.engines.jit import entry_code
from madi.integrate import Newmark
from madi.model.model import Model
from madi.run.simulate import simulate
from madi.system import System
from madi.verify import four_bars
from madi.view.page import page

SIZES, QUICK = (10, 20, 40, 80, 160, 320), (10, 20, 40)
STEP, STEPS = 1e-3, 20  # s, and how many: before long chains whip
LONGEST = 10.0  # CPU seconds at one size, beyond which larger ones are not tried
EVERY_STEP = Newmark(jacobian="step")
MODELS: dict[str, Callable[[int], Model]] = {"chain": chain, "four-bars": four_bars.model}


# ---- madi ----------------------------------------------------------------------------------------------------------------


def start_of(kind: str, system: System) -> tuple[np.ndarray, np.ndarray]:
    """A chain bent and moving; windows as they start."""
    return state(system) if kind == "chain" else (system.start.q, system.start.v)


def implicit_step(kind: str, n: int) -> Point:
    """A step of Newmark's method, by its own loop's clock."""
    system = MODELS[kind](n).build()
    begin = start_of(kind, system)

    def run() -> float:
        found = simulate(system, STEPS * STEP, step=STEP, method=EVERY_STEP, start=begin, engine="jit").statistics
        return float(found["cpu_time"]) / int(found["steps"])

    return Point(min(run() for _ in range(ROUNDS)), n)


def derivatives(kind: str, n: int) -> Point:
    """Those of the residual in machine code, over their entries that are not zero. (`system_jacobian` puts them into full
    matrices, which takes longer.) The way from Python to machine code is in it, as it is in the peers'."""
    system = MODELS[kind](n).build()
    q, v = start_of(kind, system)
    a, lam = system.forward_dynamics(q, v), np.ones(system.n_constraints)
    found = system.system_jacobian(q, v, a, lam)
    entries = sum(int(np.count_nonzero(block)) for block in (found.by_q, found.by_qd, found.by_qdd))
    x, slopes = np.concatenate([np.zeros(system.nv), a, lam]), system.slopes
    assert slopes is not None
    machine, out = system.engine("jit").with_slopes(slopes), np.zeros(sum(slopes.blocks.sizes))
    arguments = [array.ctypes.data for array in (q, v, x, out, machine.context)]
    call, times = entry_code("slopes").call, max(10, 20000 // n)

    def many() -> None:
        for _ in range(times):
            call(0.0, *arguments)

    return Point(least(many) / times, entries)


def build(kind: str, n: int) -> Point:
    """From the model to its arrays."""
    return Point(least(MODELS[kind](n).build), n)


def start(kind: str, n: int) -> Point:
    """Closing the loops and counting what moves, once built."""
    systems = [MODELS[kind](n).build() for _ in range(ROUNDS)]
    return Point(min(least(partial(_started, system), 1) for system in systems), n)


def _started(system: System) -> None:
    system.mobility(system.start.q)


def doctor(kind: str, n: int) -> Point:
    """`madi.check`."""
    model = MODELS[kind](n)
    return Point(least(lambda: examine(model), 1), n)


def shown(kind: str, n: int) -> Point:
    """The page of a run, the doctor's word in it."""
    run = simulate(MODELS[kind](n), STEPS * STEP, step=STEP)
    return Point(least(lambda: page(run), 1), n)


# ---- peers ---------------------------------------------------------------------------------------------------------------


def of_peer(number: int, what: str, n: int) -> Point:
    """Pinocchio, MuJoCo or Exudyn on the chain."""
    system = chain(n).build()
    peer, (q, v) = peers_of(system)[number], state(system)
    if what == "derivatives":
        return Point(peer.time_derivatives(q, v, max(2, 2000 // n)), 3.0 * n * n)
    return Point(peer.time_implicit(q, v, STEPS, STEP), n)


def exudyn_windows(n: int) -> Point:
    """Absolute coordinates in the plane, generalized-alpha (bench/peers/loops.py)."""
    run = partial(loop_peers().exudyn_four_bars, n, STEPS * STEP, STEP)
    return Point(min(run().seconds for _ in range(ROUNDS)) / STEPS, n)


QUANTITIES = (
    *(Quantity(f"{name}, {kind}", "madi", partial(measure, kind), unit)
      for name, measure, unit in (("implicit step, µs", implicit_step, 1e6), ("derivatives, µs", derivatives, 1e6),
                                  ("build, ms", build, 1e3), ("start, ms", start, 1e3),
                                  ("doctor, ms", doctor, 1e3), ("page, ms", shown, 1e3))
      for kind in MODELS if not (name.startswith("start") and kind == "chain")),
    Quantity("implicit step, µs, chain", "Exudyn", partial(of_peer, 2, "implicit"), 1e6),
    Quantity("implicit step, µs, chain", "MuJoCo", partial(of_peer, 1, "implicit"), 1e6),
    Quantity("implicit step, µs, four-bars", "Exudyn", exudyn_windows, 1e6),
    Quantity("derivatives, µs, chain", "Pinocchio", partial(of_peer, 0, "derivatives"), 1e6),
    Quantity("derivatives, µs, chain", "MuJoCo, transitionFD", partial(of_peer, 1, "derivatives"), 1e6),
)  # fmt: skip


# ---- the tables ----------------------------------------------------------------------------------------------------------


def measured(quantity: Quantity, sizes: tuple[int, ...]) -> dict[int, Point]:
    """The sizes that do not take too long; first a small one, for imports and machine code."""
    quantity.measure(3)
    found = dict[int, Point]()
    for n in sizes:
        begin = time.process_time()
        try:
            found[n] = quantity.measure(n)
        except RuntimeError:  # a peer gave up (Exudyn's Newton, on long chains): its row ends
            if quantity.who == "madi":
                raise
            break
        if time.process_time() - begin > LONGEST:
            break
    return found


def line(points: Mapping[int, Point]) -> tuple[float, float]:
    """(exponent, seconds for one unit of work at the middle) of a straight line through logarithms."""
    x, y = (np.log([getattr(point, name) for point in points.values()]) for name in ("work", "seconds"))
    if len(x) < 2:
        return float("nan"), float(np.exp(y[0] - x[0]))
    return float(np.polyfit(x, y, 1)[0]), float(np.exp(np.mean(y) - np.mean(x)))


def report(quick: bool = False) -> dict[str, Any]:
    """A row for every quantity, madi's first; then who takes how many times as long."""
    sizes, found = QUICK if quick else SIZES, dict[tuple[str, str], dict[int, Point]]()
    rows = [_row(quantity, sizes, found) for quantity in QUANTITIES]
    further = {
        title: [_row(quantity, few if quick else many, {}) for quantity in quantities]
        for title, quantities, many, few in FURTHER
    }
    against = [
        {"quantity": name, "of": who, **{str(n): _ratio(points, found[name, "madi"], n) for n in sizes}}
        for (name, who), points in found.items() if who != "madi"
    ]  # fmt: skip
    return {
        "title": "How what a user waits for grows",
        "tables": {"CPU time at 10 to 320 bodies of a chain, or four-bars": rows, "peer / madi": against, **further},
        "notes": [
            "exponent: of time over bodies or loops, of derivatives over entries that are not zero; each: per body, loop or "
            f"entry at the middle. What took longer than {LONGEST:g} s of CPU, or what a peer gives up at, ends its row.",
        ],
    }


def _row(quantity: Quantity, sizes: tuple[int, ...], found: dict[tuple[str, str], dict[int, Point]]) -> dict[str, Any]:
    """A quantity at all sizes; its points are noted."""
    points = found[quantity.name, quantity.who] = measured(quantity, sizes)
    exponent, constant = line(points)
    return {
        "quantity": quantity.name, "of": quantity.who, "exponent": exponent, "each": constant * quantity.unit,
        **{str(n): points[n].seconds * quantity.unit if n in points else float("nan") for n in sizes},
    }  # fmt: skip


def _ratio(points: Mapping[int, Point], own: Mapping[int, Point], n: int) -> float:
    return points[n].seconds / own[n].seconds if n in points and n in own else float("nan")
