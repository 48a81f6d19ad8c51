"""A first look at an installation: four mechanisms with known answers, run by the machine code that came with it.

    python tools/smoke.py [--any] [--json]

It is for wheels, on machines that have nothing but Python: it fails where anything was compiled (Numba loaded, a process
started, a file left in the cache). --any: madi may compile (a wheel without machine code). It needs nothing else of the
repository.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import time
import warnings
from importlib import resources
from pathlib import Path

START = time.process_time()
STARTED: list[str] = []  # processes
EVENTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.fork", "os.forkpty")
HEAVY = ("sympy", "matplotlib", "pandas", "xarray", "casadi", "scipy")
LENGTH, MASS, GRAVITY, ANGLE = 0.7, 1.3, 9.81, 1.2
CLOSED = 1e-8  # violation of constraints
ASIDE = 8.7054  # m, where the lane change ends, in absolute coordinates too


def agree(what: str, found: float, known: float, within: float) -> None:
    """Stop where they do not."""
    if not abs(found - known) <= within:  # (NaN too)
        raise SystemExit(f"{what}: {found!r}, should be {known!r} within {within:.0e}")


def pendulum(madi, links=1):
    """Point masses on rods without mass, one below the other."""
    m = madi.Model("pendulum", gravity=(0, 0, -GRAVITY))
    above = m.ground
    for k in range(links):
        inertia = (1e-12, 1e-12, 1e-12)
        body = m.body(f"bob{k}", mass=MASS, inertia=inertia, position=(0, 0, -(k + 1) * LENGTH))
        m.revolute(f"A{k}", above, body, at=(0, 0, -k * LENGTH), axis=(0, 1, 0), q0=0.0 if k else ANGLE)
        above = body
    return m


def period():
    """Of a pendulum, by the arithmetic-geometric mean."""
    a, b = 1.0, math.cos(ANGLE / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi * math.sqrt(LENGTH / GRAVITY) / a


def swings(madi):
    """One pendulum is back after its period; two keep their energy."""
    run = madi.simulate(pendulum(madi), period(), rtol=1e-10, atol=1e-12)
    agree("pendulum after a period", float(run["A0"][-1]), ANGLE, 1e-7)
    run = madi.simulate(pendulum(madi, 2), 3.0, rtol=1e-10, atol=1e-12, reactions=["A0"])
    energy = run["energy"]
    agree("double pendulum: energy", float(max(abs(energy - energy[0]))), 0.0, 1e-6)


def implicit(madi):
    """The same period by an implicit method."""
    run = madi.simulate(pendulum(madi), period(), method="newmark", step=1e-3)
    agree("newmark: pendulum after a period", float(run["A0"][-1]), ANGLE, 1e-4)


def template(madi, name):
    """A model file of the package."""
    with resources.as_file(resources.files("madi") / "templates" / f"{name}.yaml") as path:
        return madi.load(path)


def linkage(madi):
    """A crank-rocker: the rocker's angle by the law of cosines half a turn on, the same a whole turn on; loops closed."""
    crank, coupler, rocker, base = 0.10, 0.25, 0.20, 0.25
    ends = [math.acos((d * d + rocker**2 - coupler**2) / (2 * d * rocker)) for d in (base - crank, base + crank)]
    run = madi.simulate(template(madi, "four-bar"), 1.0, rtol=1e-9, times=[0.0, 0.5, 1.0], reactions=["A", "D"])
    rocking = run["rocker.pitch"]
    agree("four-bar: half a turn", abs(float(rocking[1] - rocking[0])), abs(ends[1] - ends[0]), 1e-6)
    agree("four-bar: a whole turn", float(rocking[2]), float(rocking[0]), 1e-6)
    agree("four-bar: violation", float(max(run["violation"])), 0.0, CLOSED)


def lane_change(madi):
    """A car with tires and 24 loop constraints."""
    run = madi.simulate(template(madi, "lane-change"), 10.0, method="dopri", rtol=1e-6, times=[0.0, 4.0, 6.0, 10.0])
    agree("lane change: violation", float(max(run["violation"])), 0.0, CLOSED)
    agree("lane change: straight on before it", float(run["chassis.y"][1]), 0.0, 1e-9)
    agree("lane change: speed after it", float(run["chassis.vx"][-1]), 40 / 3.6, 1e-2)
    agree("lane change: how far aside", abs(float(run["chassis.y"][-1])), ASIDE, 1e-2)


def watch(event: str, arguments: tuple) -> None:
    """Note every process."""
    if event in EVENTS:
        STARTED.append(f"{event} {arguments[0] if arguments else ''}")


def main() -> None:
    """Run all, tell what happened."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--any", action="store_true", help="compilation is no failure")
    parser.add_argument("--json", action="store_true", help="tell it as JSON")
    asked = parser.parse_args()
    warnings.simplefilter("error")
    sys.addaudithook(watch)
    import madi

    seconds = {}
    for case in (swings, linkage, implicit, lane_change):
        before = time.process_time()
        case(madi)
        seconds[case.__name__] = round(time.process_time() - before, 3)
    compiled = sorted({"numba", "llvmlite"} & set(sys.modules)) + STARTED
    folder = os.environ.get("MADI_CACHE_DIR")
    if folder and Path(folder).exists():
        compiled += [str(path) for path in Path(folder).rglob("*") if path.is_file()]
    from madi.engines import library

    told = {
        "madi": madi.__file__, "python": platform.python_version(), "machine": f"{sys.platform} {platform.machine()}",
        "library": library.level() or library.why_none(), "seconds": seconds,
        "loaded": sorted(set(HEAVY) & set(sys.modules)), "cpu": round(time.process_time() - START, 3), "compiled": compiled,
    }  # fmt: skip
    print(json.dumps(told) if asked.json else "\n".join(f"{name}: {value}" for name, value in told.items()))
    if compiled and not asked.any:
        raise SystemExit(f"something was compiled: {', '.join(compiled)}")


if __name__ == "__main__":
    main()
