"""P2's experiment: a car with McPherson struts in front and a twist beam in the rear changes lanes at 40 km/h.

Printed: the kinds of suspension and their joints; 40 km/h, 4 s to come to rest on its springs, from 4 s to 8 s a sine of
1 cm at the rack; vertical and lateral acceleration, lateral displacement, roll rate, yaw rate (Figs. 9-13) against DADS;
violation of the constraints and length of the steps of the pseudo-inverse and the QR method at longest steps of 1, 5 and
10 ms (Figs. 4-7); 22.76 s against 74.46 s of computing time. Both of P2's programs share a user's tire.

Ours, because it is not printed: all numbers of the car, those of a small front-wheel-driven one of the time (2.4 m between
the axles, 1.42 m between the wheels, a ton); hard points with little bump steer; P4's linear tire within a friction circle.
The sine fades in and out within 0.4 s: a driven rack's speed must not jump (the paper does not say what it does there). For
the step sizes of Figs. 4-7 the tires' slip stiffness is a tenth: with the full one the slip of a rolling wheel follows at
570 1/s, and an explicit method's steps stay near 3 ms whatever longest step is allowed. The two halves of the twist beam
may slide along it by some micrometres: with spherical joints at the arms and a plain hinge it could not roll (see
suspension.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.loops.methods import QR, PseudoInverse
from madi.model.model import Model
from madi.papers.compare import CARTESIAN, Accuracy, against_cartesian, apart, claim, counts, holds, in_turn, plot
from madi.results.run import Run
from madi.run.simulate import simulate
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
METHODS: dict[str, dict[str, Any]] = {
    "pseudo-inverse": {"loops": "pseudo-inverse"},
    "pseudo-inverse, P2's own form": {"loops": PseudoInverse(weighting="none")},
    "qr": {"loops": "qr"}, "qr, not weighted": {"loops": QR(weighting="none")},
}  # fmt: skip
DRAWN = ("pseudo-inverse, P2's own form", "qr")
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


def experiment(**tire: float) -> Car:
    """The car as drawn, rolling at 40 km/h, the manoeuvre laid on; `tire`: numbers of it in place of its own."""
    c = car({**TIRE, **tire})
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


def histories() -> dict[tuple[str, float], Run]:
    """P2's runs: both methods, an Adams method of variable step and order, three longest steps, which bind."""
    drawn = experiment(slip_stiffness=0.1 * TIRE["slip_stiffness"]).model
    return {
        (name, step): simulate(
            drawn, DURATION, method="abm", rtol=1e-3, max_step=step, history=True, times=[DURATION], engine="jit", **loops
        )
        for name, loops in METHODS.items()
        for step in STEPS
    }  # fmt: skip


def changes(run: Run) -> float:
    """Share of the steps that are longer or shorter than the one before."""
    steps = run.data["step_size"].values
    return float(np.mean(np.abs(np.diff(np.log(steps))) > 1e-9))


def step_rows(runs: dict[tuple[str, float], Run]) -> list[dict[str, Any]]:
    """What the runs at longest steps say."""
    return [
        {"method": name, "longest step, s": step, "mean step, s": f"{float(one.data['step_size'].mean()):.2e}",
         "steps that change": f"{100 * changes(one):.1f} %",
         "violation before closing: largest": f"{float(one.data['step_residual'].max()):.1e}",
         "median": f"{float(one.data['step_residual'].median()):.1e}",
         "after": f"{float(one.data['step_violation'].max()):.1e}", "decompositions": one.statistics["decompositions"],
         "CPU, s": f"{one.statistics['cpu_time']:.3f}"}
        for (name, step), one in runs.items()
    ]  # fmt: skip


def verdicts(runs: dict[tuple[str, float], Run], ratios: dict[str, float], same: float) -> list[dict[str, str]]:
    """P2's conclusions."""
    own, qr = (runs[name, 0.01] for name in DRAWN)
    left = [float(one.data["step_residual"].max()) for one in (own, qr)]
    varied = [changes(runs[name, 0.005]) for name in DRAWN]
    alike = abs(left[0] / left[1] - 1) < 0.1
    return [
        claim("Violations of the proposed method and of QR are almost alike", holds(alike),
              f"at 10 ms {left[0]:.1e} and {left[1]:.1e} before closing"),
        claim("The longer the step, the less the proposed method violates, against QR",
              holds(left[0] < 0.9 * left[1]), f"10 ms: {left[0]:.2e} against {left[1]:.2e}; what a step leaves is the "
              "integrator's error, whichever directions span the null space"),
        claim("Its step size changes more than QR's", holds(varied[0] > 1.1 * varied[1] + 1e-3),
              f"5 ms: {100 * varied[0]:.1f} % of the steps change, QR {100 * varied[1]:.1f} %"),
        claim("It is more efficient than the general-purpose program (22.76 s against 74.46 s, 3.27)",
              holds(ratios["pseudo-inverse"] >= 3.27) if ratios["pseudo-inverse"] >= 3.27 else "depends on the method",
              f"Adams, at equal accuracy: {ratios['pseudo-inverse']:.1f} with P2's method, {ratios['projection']:.1f} "
              "with the sparse projection"),
        claim("Neither a criterion for new directions nor coordinate partitioning is needed", holds(
              int(own.statistics["decompositions"]) == 1), f"{own.statistics['decompositions']} choice in "
              f"{own.statistics['steps']} steps; directions turn by {own.statistics['basis_jump']:.0e} a step at most"),
        claim("Accelerations, displacement, roll and yaw rate agree with DADS", holds(same < 1e-3),
              f"five signals, relative against Cartesian: {same:.0e} of their ranges"),
    ]  # fmt: skip


def report(out: Path) -> dict[str, Any]:
    """Figs. 4-13 and Table 1."""
    c = experiment()
    drawn = c.model
    times = np.linspace(0, DURATION, 1001)
    ways: dict[str, dict[str, Any]] = {name: {"loops": name} for name in ("projection", "pseudo-inverse", "svd", "qr",
                                                                         "partition")}  # fmt: skip
    ways["pseudo-inverse, P2's own form"] = METHODS["pseudo-inverse, P2's own form"]
    make = {
        name: lambda way=way: simulate(drawn, DURATION, times=times, engine="jit", **TIGHT, **way)
        for name, way in {**ways, "Cartesian": CARTESIAN}.items()
    }
    runs, cpu = in_turn(make, 3)
    mine, his = chassis(runs["pseudo-inverse"]), chassis(runs["Cartesian"])
    rows = [
        {"method": name, "CPU, s": f"{float(np.median(cpu[name])):.3f}", "evaluations": one.statistics["evaluations"],
         "steps": one.statistics["steps"], "times real time": round(DURATION / float(np.median(cpu[name])), 1),
         "apart (largest of the five signals)": f"{max(apart(mine[s], chassis(one)[s]) for s in mine):.1e}"}
        for name, one in runs.items()
    ]  # fmt: skip
    measure = Accuracy(drawn, DURATION, lambda run: chassis(run)["ay"], 201, rtol=1e-10)
    table = []
    for method, rtol in (("abm", 1e-5), ("dopri", 1e-5)):
        chosen = {f"{method}, {name}": {"method": method, "rtol": rtol, **ways[name]}
                  for name in ("pseudo-inverse", "projection")}  # fmt: skip
        table += against_cartesian(measure, chosen, {"method": method}, 3.27, 3)
    ratios = {row["relative"].partition(", ")[2]: row["ratio"] for row in table[:2]}
    same = max(apart(mine[name], his[name]) for name in SIGNALS.values())
    steps = histories()
    panels = [("Fig. 8: rack, m", times, {"rack": runs["pseudo-inverse"]["rack"]})]
    panels += [(label, times, {"relative": mine[name], "Cartesian": his[name]}) for label, name in SIGNALS.items()]
    run = runs["pseudo-inverse"]
    return {
        "title": "P2: a car changes lanes; null space by pseudo-inverse and projection",
        "values": {
            **{f"{label}: relative against Cartesian, of its range": apart(mine[name], his[name])
               for label, name in SIGNALS.items()},
            "settled by statics or by 4 s of simulation: largest difference, m or rad": settled(c),
        },
        "tables": {
            "Counts": counts(drawn, runs["Cartesian"], PRINTED),
            "Table 1: CPU time at equal accuracy of the lateral acceleration (printed: 22.76 s / 74.46 s)": table,
            "All methods, dopri at 1e-6": rows,
            "Longest steps (Figs. 4-7): Adams at 1e-3, slip stiffness a tenth so that they bind": step_rows(steps),
        },
        "claims": verdicts(steps, ratios, same),
        "notes": [
            "The sine of 1 cm at the rack fades in and out within 0.4 s, so that its speed does not jump.",
            "With dopri the Cartesian run takes several times the steps: its wheels spin in Euler parameters, which turn",
            "with them, while in joint coordinates a steady spin is a straight line. Adams of high order follows both; the",
            "ratio per step is that of the work alone. Printed times are of a program against DADS; both ours are madi's.",
            "Violation before closing is what a step leaves; positions are then corrected along the constrained directions.",
            "P2's own form has no weights: columns in m and rad as they are, corrections the least by coordinates.",
        ],
        "pages": [str(run.view(out / "lane_change.html", signals=["chassis.ay_body", "chassis.roll", "chassis.wz_body"]))],
        "figures": [
            plot(out / "lane_change.png", "Lane change at 40 km/h (P2, Figs. 8-13)", panels),
            draw(out / "lane_change_steps.png", steps),
        ],
    }  # fmt: skip


def settled(c: Car) -> float:
    """How far the two ways to settle are apart, in height and pitch of the chassis and travel of the wheels."""
    quiet, slow = (c.settle(way=way) for way in ("statics", "time"))
    system = c.model.build()
    a, b = (system.observe(one.q0).position[0, :, 2] for one in (quiet, slow))
    return float(np.max(np.abs(a - b)))


def draw(path: Path, runs: dict[tuple[str, float], Run]) -> str:
    """Figs. 4-7: violation at 1 and 10 ms, steps at 1 and 5 ms, both methods."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(9, 10), layout="constrained")
    panels = [("Fig. 4: constraint violation", "step_residual", 0.001),
              ("Fig. 5: constraint violation", "step_residual", 0.01),
              ("Fig. 6: step, s", "step_size", 0.001), ("Fig. 7: step, s", "step_size", 0.005)]  # fmt: skip
    for axis, (label, name, step) in zip(sheet.subplots(4, 1, sharex=True), panels, strict=True):
        for loops, (color, line) in zip(DRAWN, (("#1f4e79", "-"), ("#e07b39", "--")), strict=True):
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
