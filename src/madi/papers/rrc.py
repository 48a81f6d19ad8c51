"""P1's experiments: the 7-joint RRC arm, driving torques and joint reactions, selected joints against all outboard ones.

Data. Masses and inertias are the paper's Table 2; its column headed "slug" only makes sense as pounds (weight), which is
how it is read here. Link lengths are not in the paper: they are the published Denavit-Hartenberg lengths of the K-1607
arm. Assumptions, ours:
- the arm at q = 0 points along global x, the pitch axes (joints 2, 4, 6) are horizontal, gravity acts along -z;
- a link's centre of mass is halfway between its own joint and the next (link 7: halfway to the tool plate);
- the principal axes of a link are along x (the arm), y, z at q = 0;
- the spring of the second simulation stands under the tool plate: one inch, vertical, to the ground.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.dynamics.loads import reaction, reaction_newton_euler
from madi.kernel import as_model, as_work, sin
from madi.model.model import Model
from madi.results.run import Run
from madi.system import System
from madi.topology.layout import work_views

INCH, POUND, G = 0.0254, 0.45359237, 9.80665
POUND_INCH_S2 = POUND * G * INCH  # lb in s^2 -> kg m^2
WEIGHT = (229.5, 122.0, 63.5, 45.0, 24.5, 12.5, 8.0)  # lb
I_XX = (6.907, 3.056, 1.773, 1.559, 0.374, 0.299, 0.2)  # lb in s^2
I_YY = (10.0, 7.0, 4.868, 1.7823, 1.197, 0.37, 0.2)
# modified Denavit-Hartenberg: a_{i-1} (in), alpha_{i-1} (quarter turns), d_i (in)
DH = ((0, 0, 0), (0, 1, 0), (-5.625, -1, 27), (-4.25, 1, 0), (4.25, -1, 27), (-3.125, 1, 0), (3.125, -1, 0))
TOOL = 6.6  # in, along the last roll axis
ROLLS = ("1", "3", "5", "7")
SPRING = 1.7513e7 * POUND * G / INCH  # 1.7513e7 lb/in in N/m


def joint_frames() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Origins and axes of the seven joints, and the tool plate as the eighth origin, at q = 0, arm along x."""
    T = np.eye(4)
    origins, axes = [], []
    for a, quarter, d in DH:
        c, s = round(np.cos(quarter * np.pi / 2)), round(np.sin(quarter * np.pi / 2))
        T = T @ np.array([[1, 0, 0, a * INCH], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
        T = T @ np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, d * INCH], [0, 0, 0, 1]])
        origins.append(T[:3, 3].copy())
        axes.append(T[:3, 2].copy())
    origins.append(origins[-1] + TOOL * INCH * axes[-1])
    lay_down = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # the z of the DH frames becomes global x
    return [lay_down @ o for o in origins], [lay_down @ axis + 0.0 for axis in axes]


def arm(name: str = "rrc") -> Model:
    """The arm with all joints free, from rest at q = 0."""
    m = Model(name, gravity=(0.0, 0.0, -G))
    origins, axes = joint_frames()
    parent = m.ground
    for i in range(7):
        link = m.body(
            f"link{i + 1}",
            mass=WEIGHT[i] * POUND,
            inertia=np.array([I_XX[i], I_YY[i], I_YY[i]]) * POUND_INCH_S2,
            position=(origins[i] + origins[i + 1]) / 2,
        )
        m.revolute(f"{i + 1}", parent, link, at=origins[i], axis=axes[i])
        parent = link
    return m


def first() -> Model:
    """Rolls locked, joint 2 driven, joints 4 and 6 free."""
    m = arm("rrc 1")
    for name in ROLLS:
        m.lock(name)
    m.drive("2", lambda t: np.pi / 3 * sin(np.pi * t / 5))
    return m


def second(smooth: bool = False) -> Model:
    """Rolls and joint 2 locked, tool tied to the ground by the spring, joint 4 driven, joint 6 free.

    The drive starts with a rate, the other joints at rest: the very stiff, undamped spring is struck and rings at some
    kHz, until the integrator's own damping at these frequencies has taken it out. `smooth` gives joint 6 the rate at
    which the spring keeps its length.
    """
    m = arm("rrc 2")
    for name in (*ROLLS, "2"):
        m.lock(name)
    m.drive("4", lambda t: np.pi / 30 * sin(np.pi * t - np.pi))
    tool = joint_frames()[0][7]
    m.spring_damper("spring", "link7", m.ground, at=(tool, tool - [0, 0, INCH]), stiffness=SPRING)
    if smooth:
        s = m.build()
        J = s.point_jacobian(s.q0, "link7", tool - np.asarray(m.bodies[6].position))[2]
        rate = -(np.pi**2) / 30
        m.joints[5].v0 = -J[s.v_slice("4")][0] * rate / J[s.v_slice("6")][0]
    return m


def simulate_first(engine: str = "auto") -> Run:
    """5 s by third-order Adams-Bashforth at 1 ms, as in the paper (its step is not given)."""
    from madi.pipeline import simulate

    return simulate(first(), 5.0, step=1e-3, method="ab3", reactions=["2"], engine=engine)


def simulate_second(smooth: bool = False, engine: str = "auto") -> Run:
    """1 s; the spring's frequency of some kHz asks for short steps."""
    from madi.pipeline import simulate

    times = np.linspace(0.0, 1.0, 2001)
    return simulate(second(smooth), 1.0, step=1e-5, method="ab3", reactions=["4"], times=times, engine=engine)


def ways_differ(run: Run, model: Model, joint: str) -> float:
    """Largest difference of the two ways to the reaction along a run, relative to its largest component."""
    s = model.build()
    worst, size = 0.0, 0.0
    for k in range(0, run.data.sizes["time"], 20):
        q, v, a = (run.data[name].values[k].copy() for name in ("q", "v", "a"))
        t = float(run.data["time"].values[k])
        one = s.reactions(q, v, [joint], t=t, a=a)[joint]
        two = s.reactions(q, v, [joint], t=t, a=a, way="newton-euler")[joint]
        worst = max(worst, float(np.max(np.abs(np.concatenate([one.force - two.force, one.moment - two.moment])))))
        size = max(size, float(np.max(np.abs(np.concatenate([one.force, one.moment])))))
    return worst / size


def operation_counts(system: System) -> list[dict[str, int]]:
    """Table 1 for the seven joints: multiplications and additions of both ways, counted from their traces."""
    import casadi as ca

    from madi.symbolic.sym import column_of, symbols
    from madi.symbolic.trace import count_operations

    layout = system.layout
    rows = []
    for i in range(1, 8):
        row = {"joint": i}
        for way in ("selected", "newton-euler"):
            inputs, values = symbols("w", layout.work_size())
            work = work_views(layout.ints, values)
            out = np.zeros(6, dtype=object)
            if way == "selected":
                reaction(layout.arrays, work, i, work.acceleration, out)
            else:
                reaction_newton_euler(layout.arrays, work, i, out)
            count = count_operations(ca.Function("reaction", [inputs], [column_of(out)]))
            row[f"{way} mul"] = count.get("mul", 0)
            row[f"{way} add"] = count.get("add", 0) + count.get("sub", 0)
        rows.append(row)
    return rows


def repeat_reaction(model, work, qdd, out, way, i, n):  # type: ignore[no-untyped-def]
    """The reaction of joint i, n times, by either way; qdd is touched so that no turn can be skipped."""
    model, work = as_model(model), as_work(work)
    for _ in range(n):
        qdd[0] = qdd[0] + 1e-12
        if way == 0:
            reaction(model, work, i, qdd, out)
        else:
            reaction_newton_euler(model, work, i, out)
    return 0


def timings(system: System, repeats: int = 200_000) -> list[dict[str, float]]:
    """Table 3: time per reaction for every joint by both ways, in a compiled loop, the best of several rounds."""
    import time

    engine = system.engine("jit")
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=7), rng.normal(size=7)
    a = system.forward_dynamics(q, v)
    system.reactions(q, v, a=a)  # leaves composites and accelerations in the engine's scratch
    loop = engine.loop(repeat_reaction, "IIFFiii")
    out = np.zeros(6)
    rows = []
    for i in range(1, 8):
        best = [np.inf, np.inf]
        for _ in range(7):
            for way in (0, 1):
                start = time.perf_counter()
                loop(engine.model_argument, engine.work_argument, a.copy(), out, way, i, repeats)
                best[way] = min(best[way], (time.perf_counter() - start) / repeats)
        rows.append({"joint": i, "selected": best[0], "newton-euler": best[1], "ratio": best[1] / best[0]})
    return rows


def figure(run1: Run, run2: Run, smooth: Run, path: Path) -> None:
    """The paper's Figs. 5-8."""
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(10, 6.4), layout="constrained")
    axes = sheet.subplots(2, 2)
    panels = [
        (axes[0, 0], run1, "2.drive", "Fig. 5: driving torque of joint 2, N m"),
        (axes[0, 1], run1, "2.fx", "Fig. 6: reaction of joint 2 along x, N"),
        (axes[1, 0], run2, "4.drive", "Fig. 7: driving torque of joint 4, N m"),
        (axes[1, 1], run2, "4.fx", "Fig. 8: reaction of joint 4 along x, N"),
    ]
    for axis, run, name, title in panels:
        struck = run is run2
        axis.plot(run.data["time"], run[name], linewidth=0.6 if struck else 1.4, color="#9db7d1" if struck else "#1f4e79",
                  label="others start at rest, as printed" if struck else None)  # fmt: skip
        if struck:
            axis.plot(
                smooth.data["time"], smooth[name], linewidth=1.4, color="#1f4e79", label="joint 6 starts with the drive"
            )
            low, high = float(np.min(smooth[name])), float(np.max(smooth[name]))
            axis.set_ylim(low - 0.6 * (high - low), high + 0.6 * (high - low))  # the ringing is far taller
            axis.legend(fontsize=8, loc="upper right", title=f"ringing to {np.max(np.abs(run[name])):.3g}", title_fontsize=8)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("time, s")
        axis.grid(alpha=0.3)
    sheet.suptitle("RRC arm: loads of driven joints")
    sheet.savefig(path, dpi=140)


def report(out: Path) -> dict[str, Any]:
    """Both simulations, the figure, Tables 1 and 3."""
    out.mkdir(parents=True, exist_ok=True)
    run1, run2, smooth = simulate_first(), simulate_second(), simulate_second(smooth=True)
    figure(run1, run2, smooth, out / "rrc.png")
    system = arm().build()
    return {
        "title": "P1: recursive dynamics and selected joint forces, 7-joint RRC arm",
        "values": {
            "simulation 1: largest driving torque of joint 2, N m": float(np.max(np.abs(run1["2.drive"]))),
            "simulation 1: largest x reaction of joint 2, N": float(np.max(np.abs(run1["2.fx"]))),
            "simulation 2: largest driving torque of joint 4, N m": float(np.max(np.abs(smooth["4.drive"]))),
            "simulation 2: the same when struck (as printed), N m": float(np.max(np.abs(run2["4.drive"]))),
            "both ways to the reaction differ by (1), relative": ways_differ(run1, first(), "2"),
            "both ways to the reaction differ by (2), relative": ways_differ(run2, second(), "4"),
        },
        "tables": {
            "Table 1: operations for the reaction of one joint": operation_counts(system),
            "Table 3: time for the reaction of one joint, s": timings(system),
        },
        "figures": [str(out / "rrc.png")],
        "pages": [str(run1.view(out / "rrc.html", signals=["2.drive", "2.fx"], trace="link7"))],
    }
