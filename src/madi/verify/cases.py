"""`madi verify`: every case with its reference, our error, what is allowed, and the time it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from madi.integrate import TimeStepping
from madi.results.run import Run
from madi.run.simulate import simulate
from madi.verify import andrews, bricard, contact, dry_friction, four_bars, pendulum, slider_crank, spin_up, tops

CLOSED = "closed form"
TIGHT = 1e-11
Case = Callable[[], list[dict[str, Any]]]


def _row(what: str, reference: str, error: float, allowed: float, run: Run) -> dict[str, Any]:
    """One line of the table; `what`: the case, a colon, the quantity."""
    case, _, quantity = what.partition(": ")
    return {
        "case": case, "quantity": quantity, "reference": reference, "error": error, "allowed": allowed,
        "time, s": float(run.statistics["wall_time"]), "good": "yes" if error <= allowed else "NO",
    }  # fmt: skip


def case_pendulum() -> list[dict[str, Any]]:
    """A01, 20 s at 1e-9 and 2000 s to the six digits that are published."""
    times = np.array([0.5, 1, 2, 5, 10, 20])
    run = simulate(pendulum.model(), 20.0, method="dopri", rtol=1e-12, times=times)
    found = np.column_stack([run["bob.x"], run["bob.y"]])
    rows = [_row("A01, 20 s: position, m", CLOSED, _largest(found - pendulum.position(times)), 1e-9, run)]
    run = simulate(pendulum.model(), 2000.0, method="dopri", rtol=1e-12, times=[2000.0])
    error = max(abs(float(run["bob.x"][-1]) - 0.814603), abs(float(run["bob.y"][-1]) + 0.580019))
    return [*rows, _row("A01, 2000 s: position, m", "published", error, 2e-6, run)]


def case_tops() -> list[dict[str, Any]]:
    """Free and heavy symmetric top."""
    times = np.linspace(0, 10, 51)
    run = simulate(tops.free(), 10.0, method="dopri", rtol=1e-11, times=times)
    spin = np.column_stack([run["top.wx.v"], run["top.wy.v"]])
    rows = [_row("free top: spin, rad/s", CLOSED, _largest(spin - tops.free_spin(times)), 1e-7, run)]
    run = simulate(tops.heavy(), 10.0, method="dopri", rtol=1e-11, times=times)
    centre = np.column_stack([run[f"top.{axis}"] for axis in "xyz"])
    error = _largest(centre - tops.heavy_centre(times))
    return [*rows, _row("heavy top: centre, m", CLOSED, error, 1e-7, run)]


def case_four_bars() -> list[dict[str, Any]]:
    """A02, N = 2, 10, 40: B0 and the energy, through ten singular positions."""
    rows = []
    for windows in (2, 10, 40):
        model = four_bars.model(windows)
        run = simulate(model, 10.0, method="dopri", rtol=1e-9)
        th = -run["A0"]
        B0 = np.column_stack([np.sin(th), np.cos(th)])
        name = f"A02, N = {windows}"
        exact = four_bars.corner(windows, run.data["time"].values)
        rows.append(_row(f"{name}: B0, m", CLOSED, _largest(B0 - exact), 1e-5, run))
        drift = float(np.max(np.abs(run["energy"] - four_bars.energy(windows))))
        rows.append(_row(f"{name}: energy, J", "conserved", drift, 1e-4, run))
        passed = len(run.statistics["singular_times"])
        rows.append(_row(f"{name}: singular, missed", "10", float(abs(passed - 10)), 0.0, run))
    return rows


def case_andrews() -> list[dict[str, Any]]:
    """A03: angles and rates at 0.03 s."""
    run = simulate(andrews.model(), 0.03, method="dopri", rtol=1e-11)
    angles, rates = andrews.angles(run)
    far = _largest(angles - np.array(list(andrews.ANGLES.values())))
    scale = np.abs(np.array(list(andrews.RATES.values())))
    fast = _largest((rates - np.array(list(andrews.RATES.values()))) / scale)
    digits = "recomputed"
    return [_row("A03: angles, rad", digits, far, 1e-8, run), _row("A03: rates, relative", digits, fast, 1e-7, run)]


def case_bricard() -> list[dict[str, Any]]:
    """A04: P3 over 10 s; overconstrained, and said so."""
    model = bricard.model()
    times = [0.0, *bricard.REFERENCE]
    run = simulate(model, 10.0, method="dopri", rtol=1e-10, times=times)
    error = _largest(bricard.corner(run.data)[1:] - np.array(list(bricard.REFERENCE.values())))
    freedoms = model.build().mobility()
    unnamed = abs(1 - len(freedoms.redundant)) + abs(1 - freedoms.degrees_of_freedom)
    return [
        _row("A04: P3, m", "two routes", error, 1e-6, run),
        _row("A04: redundancy, missed", "1 of 5", float(unnamed), 0.0, run),
    ]


def case_slider_crank() -> list[dict[str, Any]]:
    """The flexible slider-crank: an independent solution, and the test set's digits (with its axial masses)."""
    rows = []
    for rod, wanted, words, allowed in (
        (slider_crank.elastic_rod, slider_crank.CONSISTENT, "independent", 1e-9),
        (slider_crank.published_rod, slider_crank.PUBLISHED, "published", 5e-9),
    ):
        run = simulate(slider_crank.model(rod), 0.1, rtol=1e-10, atol=1e-13, times=[0.1])
        error = _largest(slider_crank.elastic(run)[-1] - np.array(wanted))
        rows.append(_row("flexible slider-crank: q, m", words, error, allowed, run))
    return rows


def case_spin_up() -> list[dict[str, Any]]:
    """A rotating beam: tip deflection over 17.5 s."""
    run = simulate(spin_up.model(), 20.0, rtol=1e-8, times=[0.0, *spin_up.TIP])
    error = _largest(spin_up.tip(run)[1:] - np.array(list(spin_up.TIP.values())))
    return [_row("spin-up of a beam: tip, m", "exact beams", error, 3e-3, run)]


def case_friction() -> list[dict[str, Any]]:
    """Sticking and sliding: an incline, an oscillator, two belts."""
    d = dry_friction
    run = simulate(d.incline(0.3), 100.0, times=[1.0, 100.0], rtol=TIGHT)
    rows = [
        _row("incline, mu = 0.3: way, m", CLOSED, abs(float(run["x"][0]) - d.STOP_WAY), 1e-10, run),
        _row("incline, mu = 0.3: creep in 99 s, m", "none", abs(float(run["x"][1] - run["x"][0])), 1e-15, run),
        _row("incline, mu = 0.3: time, s", CLOSED, abs(run.events[0].time - d.STOP_TIME), 1e-10, run),
    ]
    run = simulate(d.incline(0.2), d.BACK_TIME, times=[d.BACK_TIME], rtol=TIGHT)
    rows.append(_row("incline, mu = 0.2: speed, m/s", CLOSED, abs(float(run["x.v"][0]) - d.BACK_SPEED), 1e-10, run))
    turns = np.arange(1, 7) * np.pi / 10
    run = simulate(d.oscillator(), 3.0, times=[*turns, 3.0], rtol=TIGHT)
    rows.append(_row("dry oscillator: turning points, m", CLOSED, _largest(run["x"][:6] - np.array(d.TURNS)), 1e-9, run))
    rows.append(_row("dry oscillator: force at rest, N", CLOSED, abs(abs(float(run["friction"][-1])) - 2.0), 1e-8, run))
    belts = ("drops", d.belt_drops(), d.BELT_DROPS, 6.0), ("fades", d.belt_fades(), d.BELT_FADES, 40.0)
    for name, model, wanted, span in belts:
        run = simulate(model, span, rtol=TIGHT)
        at = np.array([event.time for event in run.events])
        phases = np.diff(at)
        error = _largest(phases - np.resize(wanted, len(phases)))
        rows.append(_row(f"belt, friction {name}: phases, s", CLOSED, error, 1e-8, run))
    return rows


def case_stops() -> list[dict[str, Any]]:
    """Hard stops: a ball that bounces until it rests, a pendulum."""
    d = dry_friction
    run = simulate(d.ball(), 4.0, times=[*d.HEIGHTS, 4.0], rtol=TIGHT)
    at = np.array([event.time for event in run.events])
    rows = [
        _row("ball: bounces, s", CLOSED, _largest(at[:5] - np.array(d.BOUNCES)), 1e-11, run),
        _row("ball: heights, m", CLOSED, _largest(run["z"][:5] - np.array(list(d.HEIGHTS.values()))), 1e-10, run),
        _row("ball: comes to rest, s", CLOSED, abs(at[-1] - d.REST), 1e-5, run),
        _row("ball: push at rest, N", CLOSED, abs(float(run["floor"][-1]) - d.G), 1e-9, run),
        _row("ball: energy lost, J", "first energy", abs(sum(e.lost for e in run.events) - d.G), 1e-8, run),
    ]
    run = simulate(d.pendulum(), 5.0, rtol=TIGHT)
    at = np.array([event.time for event in run.events])
    lost = np.array([event.lost for event in run.events])
    rates = np.sqrt(2.0 * lost / (1.0 / 0.8**2 - 1.0))  # after each hit: what it lost is (1 - e^2) w^2 / 2 of before
    rows.append(_row("pendulum on a stop: hits, s", CLOSED, _largest(at - np.array(d.HITS)), 1e-9, run))
    rows.append(_row("pendulum on a stop: rates, rad/s", CLOSED, _largest(rates - np.array(d.HIT_RATES)), 1e-8, run))
    return rows


def case_contact() -> list[dict[str, Any]]:
    """Things that touch, by springs, dampers and bristles, and hard. What is allowed with springs is their own order: a
    ten-thousandth of a size."""
    return [
        *_impacts(),
        *_rolling("springs", 1e-4, rtol=1e-8, atol=1e-10),
        *_rolling("hard", 1e-6, method=TimeStepping(1e-4)),
    ]


def _impacts() -> list[dict[str, Any]]:
    k, rows = contact, []
    run = simulate(k.hunt_crossley(), 0.05, rtol=1e-10, atol=1e-12, times=np.linspace(0, 0.05, 20001))
    rows.append(_row("Hunt and Crossley: rebound, m/s", CLOSED, abs(float(run["z.v"][-1]) - k.REBOUND), 1e-8, run))
    rows.append(_row("Hunt and Crossley: depth, m", CLOSED, abs(-float(np.min(run["z"])) - k.DEPTH), 1e-9, run))
    run = simulate(k.row(), 60.0, rtol=TIGHT, atol=1e-13)
    error = _largest(np.array([run[f"x{j}.v"][-1] for j in range(3)]) - np.array(k.ROW))
    rows.append(_row("row of balls: speeds, m/s", "recomputed", error, 1e-8, run))
    for along, (after, spin) in k.OBLIQUE.items():
        model = k.ball(0.05, (along, 0, -2), (0, 0, 0), 0.2, height=1e-3, gravity=(0, 0, 0), restitution=0.7)
        run = simulate(model, 0.01, method=TimeStepping(1e-4))
        found = [float(run[name][-1]) for name in ("ball.vx", "ball.wy", "ball.vz")]
        error = _largest(np.array(found) - np.array([after, spin, 1.4]))
        rows.append(_row(f"oblique impact at {along:g} m/s, hard: speeds", CLOSED, error, 1e-9, run))
    return rows


def _rolling(how: str, allowed: float, **options: Any) -> list[dict[str, Any]]:
    """Balls, discs and blocks."""
    k, rows = contact, []

    def add(what: str, error: float, run: Run, times: float = 1.0) -> None:
        rows.append(_row(f"{what}, {how}", CLOSED, error, times * allowed, run))

    run = simulate(k.ball(0.11, (6, 0, 0), (0, 0, 0), 0.2), 2.0, times=[k.ROLLS_AT, 2.0], **options)
    add("bowling ball: rolls, m", abs(float(run["ball.x"][0]) - k.ROLLS_FROM), run)
    add("bowling ball: speed, m/s", abs(float(run["ball.vx"][1]) - k.ROLLS), run, 2.0)
    run = simulate(k.ball(0.03, (1.5, 0, 0), (-30, -40, 10), 0.2), 1.0, times=list(k.CURVE), **options)
    place = np.column_stack([run["ball.x"], run["ball.y"]])
    add("billiard ball: path, m", _largest(place - np.array(list(k.CURVE.values()))), run)
    spin = np.array([run[f"ball.w{axis}"][-1] for axis in "xyz"])
    add("billiard ball: spin, rad/s", _largest(spin - np.array(k.CURVE_END[1])), run, 10.0)
    halves: dict[str, Any] = {"times": [0.5, 1.0], **options}
    run = simulate(k.cylinder(0.3), 1.0, **halves)
    add("cylinder rolls: acceleration, m/s2", abs(2 * float(np.ptp(run["roll.vx"])) - k.CYLINDER_ROLLS), run)
    run = simulate(k.cylinder(0.15), 1.0, **halves)
    slides = 2 * np.array([np.ptp(run["roll.vx"]), np.ptp(run["roll.wy"])])
    add("cylinder slides: accelerations", _largest(slides - np.array(k.CYLINDER_SLIDES)), run, 20.0)
    run = simulate(k.ball(0.1, (0, 0, 0), (0, 0, 0), 0.3, gravity=k.tilted(np.radians(30.0))), 1.0, **halves)
    add("sphere rolls: acceleration, m/s2", abs(2 * float(np.ptp(run["ball.vx"])) - k.SPHERE_ROLLS), run)
    run = simulate(k.block(0.3, k.INCLINE, (0.3, 0.3, 0.1), 3.0), 20.0, times=[10.0, 20.0], **options)
    add("block on an incline: way, m", abs(float(run["block.x"][0]) - k.UP), run)
    add("block on an incline: creep in 10 s, m", abs(float(np.ptp(run["block.x"]))), run, 1e-5)
    run = simulate(k.block(0.5, np.radians(10.0), (0.2, 0.2, 0.6)), 2.0, times=[2.0], **options)
    push, side = run.arrays["contact_push"].values[-1] / (24.0 * k.G), run.arrays["contact_place"].values[-1][:, 0] > 0
    error = _largest(np.array([push[~side].sum(), push[side].sum()]) - np.array(k.EDGES))
    add("tall box: loads of its edges", error, run, 10.0)
    for beyond in (-2e-3, 2e-3):
        run = simulate(k.block(0.5, k.TIPS + beyond, (0.2, 0.2, 0.6)), 3.0, times=[3.0], **options)
        fallen = abs(float(run["block.ry"][-1])) > 1.0
        add(f"tall box: tips at {k.TIPS + beyond:.4f} rad", float(fallen != (beyond > 0)), run)
    return rows


CASES: dict[str, Case] = {
    "pendulum": case_pendulum, "tops": case_tops, "four-bars": case_four_bars, "andrews": case_andrews,
    "bricard": case_bricard, "slider-crank": case_slider_crank, "spin-up": case_spin_up,
    "friction": case_friction, "stops": case_stops, "contact": case_contact,
}  # fmt: skip


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values)))


def report(names: list[str]) -> dict[str, Any]:
    """The cases asked for, in one table."""
    start = time.perf_counter()
    rows = [row for name in names for row in CASES[name]()]
    bad = [f"{row['case']}: {row['quantity']}" for row in rows if row["good"] != "yes"]
    return {
        "title": "madi verify: known answers",
        "tables": {"Cases": rows},
        "values": {"cases that miss their bar": len(bad), "time, s": time.perf_counter() - start},
        "notes": [
            "A01 to A04: the IFToMM library's pendulum, N four-bars (10 s), Andrews' squeezer (0.03 s), Bricard (10 s);",
            "definitions, closed forms and reference digits are in madi/verify. Flexible slider-crank: Simeon's, of the",
            "test set for IVP solvers; spin-up: Kane's, against geometrically exact finite elements (3 modes here).",
            "Friction and stops: closed forms of machines that stick, slide and bounce (dry_friction.py there). Contact:",
            "closed forms of impact, sliding and rolling (contact.py there), by springs and bristles, and by time stepping.",
        ],
        "bad": bad,
    }
