"""`madi bench loops`: mechanisms with loops; every DAE method, the Cartesian twin, Exudyn and MuJoCo, in one run.

Times are those of the stepping loops alone, errors are against closed forms or tight runs. For the four-bars the energy
error is the largest over several end times, because Exudyn's swings and may be near zero at any one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.bench.peers import loop_peers
from madi.engines.compiler import compiler
from madi.model.model import Model
from madi.papers import rssr
from madi.run.simulate import simulate
from madi.verify import andrews, four_bars

METHODS = ("projection", "augmented", "baumgarte")


def timed(model: Model, duration: float, repeats: int = 3, **options: Any) -> Any:
    """The fastest of a few equal runs."""
    runs = [simulate(model, duration, **options) for _ in range(repeats)]
    return min(runs, key=lambda run: run.statistics["cpu_time"])


def four_bar_rows(windows: int, duration: float, quick: bool) -> list[dict[str, Any]]:
    """One N: all of madi's ways at an accuracy no peer reaches, then the peers at 1 ms."""
    model = four_bars.model(windows)
    exact = four_bars.energy(windows)
    rows = []
    ways: list[tuple[str, dict[str, Any]]] = [("projection, dopri 1e-9", {"method": "dopri", "rtol": 1e-9})]
    ways += [(f"{loops}, rk4 5 ms", {"step": 5e-3, "loops": loops}) for loops in METHODS]
    ways.append(("Cartesian, rk4 5 ms", {"step": 5e-3, "formulation": "cartesian"}))
    for name, options in ways:
        run = timed(model, duration, 2 if windows > 40 else 3, engine="jit", **options)
        th = -run["A0"]
        B0 = np.column_stack([np.sin(th), np.cos(th)])
        rows.append(
            {
                "model": f"N = {windows}", "engine": f"madi {name}", "time, s": float(run.statistics["cpu_time"]),
                "error of B0, m": float(np.max(np.abs(B0 - four_bars.corner(windows, run.data["time"].values)))),
                "energy error, J": float(np.max(np.abs(run["energy"] - exact))),
                "residual, m": float(run.data["violation"].max()),
            }
        )  # fmt: skip
    if windows <= 40:
        rows += peer_rows(windows, duration, quick)
    return rows


def peer_rows(windows: int, duration: float, quick: bool) -> list[dict[str, Any]]:
    """Exudyn and MuJoCo at 1 ms."""
    peers = loop_peers()
    ends = np.linspace(0.1, 1.0, 4 if quick else 8) * min(duration, 2.0)
    rows = []
    for name, run in (("Exudyn generalized-α 1 ms", peers.exudyn_four_bars), ("MuJoCo RK4 1 ms", peers.mujoco_four_bars)):
        whole = run(windows, duration, 1e-3)
        drift = max([whole.energy_drift, *(run(windows, float(end), 1e-3).energy_drift for end in ends)])
        error = float(np.max(np.abs(whole.result - four_bars.corner(windows, np.array([duration]))[0])))
        rows.append(
            {"model": f"N = {windows}", "engine": name, "time, s": whole.seconds, "error of B0, m": error,
             "energy error, J": drift, "residual, m": float("nan")}
        )  # fmt: skip
    return rows


def small_rows(quick: bool) -> list[dict[str, Any]]:
    """Andrews and RSSR: madi to the accuracy Exudyn has at its step."""
    peers = loop_peers()
    rows = []
    machine = "compiled" if compiler() else "jit"
    step = 1e-5 if quick else 3e-6
    peer = peers.exudyn_andrews(0.03, step)
    reference = np.array(list(andrews.ANGLES.values()))
    rows.append(_small("Andrews", f"Exudyn generalized-α {step:g} s", peer.seconds, peer.result - reference))
    for name, options in (
        (f"projection, dopri 1e-8, {machine}", {"method": "dopri", "rtol": 1e-8, "engine": machine}),
        ("projection, dopri 1e-8, jit", {"method": "dopri", "rtol": 1e-8, "engine": "jit"}),
        ("augmented, dopri 1e-8, jit", {"method": "dopri", "rtol": 1e-8, "loops": "augmented", "engine": "jit"}),
        ("Cartesian, dopri 1e-8, jit", {"method": "dopri", "rtol": 1e-8, "formulation": "cartesian", "engine": "jit"}),
    ):
        run = timed(andrews.model(), 0.03, 5, **options)
        angles, _ = andrews.angles(run)
        rows.append(_small("Andrews", f"madi {name}", float(run.statistics["cpu_time"]), angles - reference))
    model = rssr.model("body")
    tight = simulate(model, rssr.DURATION, method="dopri", rtol=1e-12, times=[rssr.DURATION], engine="jit")
    place = np.array([tight[f"body1.{axis}"][-1] for axis in "xyz"])
    peer = peers.exudyn_rssr(rssr.DURATION, 1e-3)
    rows.append(_small("RSSR", "Exudyn generalized-α 1 ms", peer.seconds, peer.result - place))
    for name, options in (
        (f"projection, rk4 8 ms, {machine}", {"step": 8e-3, "engine": machine}),
        ("projection, rk4 8 ms, jit", {"step": 8e-3, "engine": "jit"}),
        ("augmented, rk4 8 ms, jit", {"step": 8e-3, "loops": "augmented", "engine": "jit"}),
        ("baumgarte, rk4 8 ms, jit", {"step": 8e-3, "loops": "baumgarte", "engine": "jit"}),
        ("Cartesian, rk4 8 ms, jit", {"step": 8e-3, "formulation": "cartesian", "engine": "jit"}),
    ):
        run = timed(model, rssr.DURATION, 5, **options)
        found = np.array([run[f"body1.{axis}"][-1] for axis in "xyz"])
        rows.append(_small("RSSR", f"madi {name}", float(run.statistics["cpu_time"]), found - place))
    return rows


def _small(model: str, engine: str, seconds: float, error: np.ndarray) -> dict[str, Any]:
    return {"model": model, "engine": engine, "time, s": seconds, "error at the end": float(np.max(np.abs(error)))}


def report(quick: bool = False) -> dict[str, Any]:
    """All tables, and what they say in ratios."""
    duration = 2.0 if quick else 10.0
    sizes = (1, 10, 40) if quick else (1, 10, 40, 200)
    rows = [row for windows in sizes for row in four_bar_rows(windows, duration, quick)]
    values = {}
    best = next(r for r in rows if r["model"] == "N = 40" and "dopri" in r["engine"])
    for name in ("Exudyn", "MuJoCo"):
        peer = next(r for r in rows if r["model"] == "N = 40" and name in r["engine"])
        values[f"N = 40: time {name} / madi"] = peer["time, s"] / best["time, s"]
        values[f"N = 40: energy error {name} / madi"] = peer["energy error, J"] / best["energy error, J"]
    times = {int(r["model"][4:]): r["time, s"] for r in rows if "projection, rk4" in r["engine"]}
    last = sizes[-1]
    values[f"cost grows from N = 10 to {last} as N to the power"] = float(
        np.log(times[last] / times[10]) / np.log(last / 10)
    )
    small = small_rows(quick)
    for model in ("Andrews", "RSSR"):
        peer = next(r for r in small if r["model"] == model and "Exudyn" in r["engine"])
        own = next(r for r in small if r["model"] == model and "projection" in r["engine"])
        values[f"{model}: time Exudyn / madi (errors {peer['error at the end']:.1e}, {own['error at the end']:.1e})"] = (
            peer["time, s"] / own["time, s"]
        )
    return {
        "title": "Loops: madi's ways, its Cartesian twin, Exudyn and MuJoCo, one run",
        "values": values,
        "tables": {f"N four-bars, {duration:g} s": rows, "Andrews' squeezer 0.03 s, RSSR 2 s": small},
        "notes": [
            "Peers are set as measured best here (bench/peers/loops.py). Exudyn: 2D bodies, all joints as constraints.",
            "MuJoCo: a tree with soft equality constraints. Times: the stepping loops alone.",
        ],
    }
