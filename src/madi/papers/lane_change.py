"""P2's experiment: a car with McPherson struts in front and a twist beam in the rear changes lanes at 40 km/h.

Printed: the kinds of suspension and their joints; 40 km/h, 4 s to come to rest on its springs, from 4 s to 8 s a sine of
1 cm at the rack; vertical and lateral acceleration, lateral displacement, roll rate, yaw rate (Figs. 9-13) against DADS;
violation of the constraints and length of the steps of the pseudo-inverse and the QR method at longest steps of 1, 5 and
10 ms (Figs. 4-7); 22.76 s against 74.46 s of computing time. Both of P2's programs share a user's tire.

Ours, because it is not printed: all numbers of the car, those of a small front-wheel-driven one of the time (2.4 m between
the axles, 1.42 m between the wheels, a ton); hard points with little bump steer; P4's linear tire within a friction circle.
The sine fades in and out within 0.4 s: a driven rack's speed must not jump. The two halves of the twist beam may slide
along it by some micrometres: with spherical joints at the arms and a plain hinge it could not roll (see suspension.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.model.model import Model
from madi.papers.compare import apart, both, counts, plot
from madi.pipeline import simulate
from madi.results.run import Run
from madi.vehicle import Car, sine

SPEED, DURATION = 40 / 3.6, 10.0
START, END, AMPLITUDE = 4.0, 8.0, 0.01
FRONT = {
    "lca_front": (0.10, 0.36, 0.218), "lca_rear": (-0.22, 0.36, 0.222), "lca_ball": (0.005, 0.665, 0.200),
    "strut_top": (-0.035, 0.575, 0.800), "strut_bottom": (-0.008, 0.655, 0.340), "wheel_centre": (0.0, 0.71, 0.275),
    "tie_inner": (-0.13, 0.317, 0.291), "tie_outer": (-0.13, 0.64, 0.280),
}  # fmt: skip
REAR = {
    "pivot": (-2.00, 0.56, 0.300), "beam": (-2.12, 0.0, 0.290), "wheel_centre": (-2.40, 0.70, 0.275),
    "spring_top": (-2.33, 0.52, 0.560), "spring_bottom": (-2.33, 0.52, 0.300), "damper_top": (-2.42, 0.58, 0.750),
    "damper_bottom": (-2.46, 0.60, 0.280),
}  # fmt: skip
TIRE = {
    "radius": 0.29, "stiffness": 180e3, "damping": 500.0, "slip_stiffness": 60e3, "cornering_stiffness": 45e3,
    "friction": 0.9,
}  # fmt: skip
SIGNALS = {
    "Fig. 9: vertical acceleration, m/s²": "az", "Fig. 10: lateral acceleration, m/s²": "ay",
    "Fig. 11: lateral displacement, m": "y", "Fig. 12: roll rate, rad/s": "wx", "Fig. 13: yaw rate, rad/s": "wz",
}  # fmt: skip
PRINTED = {"coordinates": "-", "constraints": "-", "time": "22.76 / 74.46", "ratio": "3.27"}
STEPS = (0.001, 0.005, 0.01)
METHODS = ("pseudo-inverse", "qr")
TIGHT: dict[str, Any] = {"method": "dopri", "rtol": 1e-6}


def car(tire: Any = None, **wheels: Any) -> Car:
    """The car; `tire` in place of its own, `wheels`: road, camber, toe."""
    c = Car("small car", mass=850.0, inertia=(300.0, 1100.0, 1250.0), com=(-1.0, 0.0, 0.55))
    c.mcpherson("front", FRONT, stiffness=20e3, damping=1500.0, preload=2500.0)
    c.rack("rack", "front", FRONT, travel=0.07)
    c.twist_beam("rear", REAR, stiffness=25e3, damping=1600.0, torsion=800.0, preload=2000.0)
    for axle in ("front", "rear"):
        c.wheels(axle, 15.0, (0.5, 0.8, 0.5), tire or TIRE, **wheels)
    return c


def experiment() -> Car:
    """The car as drawn, rolling at 40 km/h, the manoeuvre laid on."""
    c = car()
    c.steer(sine(AMPLITUDE, START, END))
    c.hold_speed(SPEED, "front")
    c.roll(SPEED)
    return c


def model() -> Model:
    """The same as a model."""
    return experiment().model


def chassis(run: Run) -> dict[str, np.ndarray]:
    """P2's five signals: accelerations in the chassis' axes, roll and yaw rate about them, the place aside."""
    return {name: run[f"chassis.{name}" if name == "y" else f"chassis.{name}_body"] for name in SIGNALS.values()}


def histories(drawn: Model) -> dict[tuple[str, float], Run]:
    """P2's runs: both methods, an Adams method of variable step and order, three longest steps."""
    return {
        (loops, step): simulate(
            drawn,
            DURATION,
            method="abm",
            rtol=1e-5,
            max_step=step,
            loops=loops,
            history=True,
            times=[DURATION],
            engine="jit",
        )
        for loops in METHODS
        for step in STEPS
    }


def report(out: Path) -> dict[str, Any]:
    """Figs. 4-13 and Table 1."""
    c = experiment()
    drawn = c.model
    times = np.linspace(0, DURATION, 1001)
    run, other, ratio = both(drawn, DURATION, loops="pseudo-inverse", times=times, **TIGHT)
    values: dict[str, Any] = {"real-time factor, pseudo-inverse, jit": DURATION / run.statistics["wall_time"]}
    ways: dict[str, Any] = {}
    for loops in ("projection", "pseudo-inverse", "svd", "qr", "partition"):
        done = [simulate(drawn, DURATION, loops=loops, times=times, engine="jit", **TIGHT) for _ in range(3)]
        ways[loops] = min(done, key=lambda one: one.statistics["wall_time"])
    mine, his = chassis(run), chassis(other)
    rows = [
        {"method": name, "time, s": f"{one.statistics['wall_time']:.3f}", "evaluations": one.statistics["evaluations"],
         "real-time factor": round(DURATION / one.statistics["wall_time"], 1),
         "apart (largest of the five signals)": f"{max(apart(mine[s], chassis(one)[s]) for s in mine):.1e}"}
        for name, one in ways.items()
    ]  # fmt: skip
    fastest = min(one.statistics["wall_time"] for one in ways.values())
    values["real-time factor, fastest method, jit"] = DURATION / fastest
    values["Cartesian / relative time, fastest method"] = other.statistics["wall_time"] / fastest
    for label, name in SIGNALS.items():
        values[f"{label}: relative against Cartesian, of its range"] = apart(mine[name], his[name])
    values["settled by statics or by 4 s of simulation: largest difference, m or rad"] = settled(c)
    runs = histories(drawn)
    steps = [
        {"method": loops, "longest step, s": step, "steps": one.statistics["steps"],
         "violation before closing": f"{float(one.data['step_opening'].max()):.1e}",
         "after": f"{float(one.data['step_violation'].max()):.1e}",
         "mean step, s": f"{float(one.data['step_size'].mean()):.2e}", "decompositions": one.statistics["decompositions"],
         "directions' largest turn": f"{one.statistics['basis_jump']:.1e}"}
        for (loops, step), one in runs.items()
    ]  # fmt: skip
    panels = [("Fig. 8: rack, m", times, {"rack": run["rack"]})]
    panels += [(label, times, {"relative": mine[name], "Cartesian": his[name]}) for label, name in SIGNALS.items()]
    return {
        "title": "P2: a car changes lanes; null space by pseudo-inverse and projection",
        "values": values,
        "tables": {
            "Table 1 (pseudo-inverse against Cartesian coordinates)": counts(drawn, run, other, ratio, PRINTED),
            "all methods": rows,
            "longest steps (Figs. 4-7), Adams method": steps,
        },
        "notes": [
            "Printed times are those of a proposed program against DADS, a general one; both of ours are madi's own.",
            "Violation before closing is what a step leaves; positions are then corrected along the constrained directions.",
        ],
        "pages": [str(run.view(out / "lane_change.html", signals=["chassis.ay_body", "chassis.roll", "chassis.wz_body"]))],
        "figures": [
            plot(out / "lane_change.png", "Lane change at 40 km/h (P2, Figs. 8-13)", panels),
            draw(out / "lane_change_steps.png", runs),
        ],
    }


def settled(c: Car) -> float:
    """How far the two ways to settle are apart, in height and pitch of the chassis and travel of the wheels."""
    quiet, slow = (c.settle(way=way) for way in ("statics", "time"))
    system = c.model.build()
    a, b = (system.observe(one.q0, engine="plain").position[0, :, 2] for one in (quiet, slow))
    return float(np.max(np.abs(a - b)))


def draw(path: Path, runs: dict[tuple[str, float], Run]) -> str:
    """Figs. 4-7: violation at 1 and 10 ms, steps at 1 and 5 ms, both methods."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9, 10), layout="constrained")
    panels = [("Fig. 4: constraint violation", "step_opening", 0.001),
              ("Fig. 5: constraint violation", "step_opening", 0.01),
              ("Fig. 6: step, s", "step_size", 0.001), ("Fig. 7: step, s", "step_size", 0.005)]  # fmt: skip
    for axis, (label, name, step) in zip(sheet.subplots(4, 1, sharex=True), panels, strict=True):
        for loops, (color, line) in zip(METHODS, (("#1f4e79", "-"), ("#e07b39", "--")), strict=True):
            data = runs[loops, step].data
            values = np.maximum(data[name].values, 1e-16)
            axis.plot(data["step_time"], values, color=color, linestyle=line, linewidth=0.9, label=loops)
        axis.set_yscale("log")
        axis.set_ylabel(f"{label}\n(longest step {1e3 * step:g} ms)", fontsize=9)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper right")
    axis.set_xlabel("time, s")
    sheet.suptitle("Pseudo-inverse and QR (P2, Figs. 4-7)")
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path, dpi=140)
    return str(path)
