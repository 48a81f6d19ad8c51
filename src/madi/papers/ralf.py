"""P3's experiment: RALF, the Robotic Arm, Large and Flexible, in the vertical plane.

A lower and an upper link of about 3 m; the upper one is moved through a parallelogram by a crank at the base (the rigid
connecting link) and an actuating link beside the lower one. Two modes on the lower, upper and actuating link. One joint of
the parallelogram is cut.

The paper prints the equations and the null space of the rigid parallelogram, V2 = [[1, 0], [0, a], [0, a], [0, -a]] with
a = 1/√3 for (theta1, theta2, theta3, theta4), at every configuration and for every ratio of lengths; it prints no link data
and no curves. V2 tells how the angles are measured: theta2 of the upper link and theta3 of the crank both from the lower
link, theta4 of the actuating link from the crank. (Its eq. 67 lets the connecting link start at the elbow; in that
arrangement turning theta1 alone would not leave the loop closed.) Our data, assumed: links of 3.05 m (10 ft), aluminium
tubes of 5 in (lower), 4 in (upper) and 2 in (actuating link), 3.2 mm thick; elbow and crank rods of 0.5 m; a payload of
15 kg; damping ratio 0.5 %; the two hydraulic actuators, at the base, prescribe the lower link's and the crank's angle.
Shapes: clamped with the mass each link carries at its end; pinned at both ends for the actuating link.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from madi.analysis.linearize import linearize
from madi.assembly.statics import statics
from madi.errors import MadiError
from madi.flexible import Shape, clamped_tip, pinned_pinned, tube
from madi.kernel import sin, where
from madi.loops.methods import Baumgarte
from madi.model.elements import Body
from madi.model.model import Model
from madi.papers import ralf_print
from madi.papers.compare import claim, holds
from madi.results.flexible import centre_line
from madi.run.simulate import simulate

LENGTH, ARM, PAYLOAD, DAMPING = 3.05, 0.5, 15.0, 0.005
YOUNG, RHO = 68.9e9, 2700.0  # 6061-T6
SECTIONS = {"lower": tube(0.127, 0.1206), "upper": tube(0.1016, 0.0952), "actuating": tube(0.0508, 0.0444)}
ROD = 20.0  # kg/m of elbow and crank
MOVE = ((80.0, 50.0), (-50.0, -100.0))  # degrees, lower link and crank, from where to where
TIME, DURATION = 1.5, 4.0  # of the move, and with what rings after it
GRAVITY = 9.81


def shapes() -> dict[str, list[Shape]]:
    """Two of every flexible link."""
    weight = {name: RHO * section.area * LENGTH for name, section in SECTIONS.items()}
    end = PAYLOAD + weight["upper"] + ROD * ARM
    return {
        "lower": clamped_tip(LENGTH, end / weight["lower"], 0.0, 2),
        "upper": clamped_tip(LENGTH, PAYLOAD / weight["upper"], 0.0, 2),
        "actuating": pinned_pinned(LENGTH, 2),
    }


def link(m: Model, name: str, start: float, rigid: bool) -> Body:
    """A tube along x, drawn from (start, 0)."""
    section = SECTIONS[name]
    if rigid:
        mass = RHO * section.area * LENGTH
        turn = mass * LENGTH**2 / 12
        return m.body(name, mass, com=(LENGTH / 2, 0, 0), inertia=(turn / 100, turn, turn), position=(start, 0, 0))
    return m.beam(
        name, (start, 0, 0), (start + LENGTH, 0, 0), section, YOUNG, RHO, {"y": shapes()[name]}, y_axis=(0, 1, 0),
        damping=DAMPING, points={"tip": LENGTH}, stiffening=False, rotary=False,
    )  # fmt: skip


def rod(m: Model, name: str, at: float) -> Body:
    """Elbow or crank: a rigid rod from x = at backwards."""
    mass = ROD * ARM
    turn = mass * ARM**2 / 12
    return m.body(name, mass, com=(-ARM / 2, 0, 0), inertia=(turn / 100, turn, turn), position=(at, 0, 0))


def model(rigid: bool = False, angles: tuple[float, float] = (MOVE[0][0], MOVE[1][0]), actuators: str = "free") -> Model:
    """Drawn stretched out along x; `angles`: of the lower link and of the upper one from it, degrees. `actuators`: "free",
    "locked" or "driven" (the move)."""
    first, second = np.radians(angles)
    m = Model("RALF", gravity=(0, -GRAVITY, 0))
    lower, upper = link(m, "lower", 0.0, rigid), link(m, "upper", LENGTH, rigid)
    elbow, crank = rod(m, "elbow", LENGTH), rod(m, "crank", 0.0)
    actuating = link(m, "actuating", -ARM, rigid)
    z = (0, 0, 1)
    m.revolute("theta1", m.ground, lower, at=(0, 0, 0), axis=z, q0=first)
    m.revolute("theta2", lower, elbow, at=(LENGTH, 0, 0), axis=z, q0=second)
    m.fixed("root", elbow, upper, at=(LENGTH, 0, 0))
    m.revolute("theta3", lower, crank, at=(0, 0, 0), axis=z, q0=second)
    m.revolute("theta4", crank, actuating, at=(-ARM, 0, 0), axis=z, q0=-second)
    m.revolute("C", actuating, elbow, at=(LENGTH - ARM, 0, 0), axis=z, cut=True)
    m.fixed("grip", upper, m.body("payload", PAYLOAD, inertia=(0.1, 0.1, 0.1), position=(2 * LENGTH, 0, 0)))
    if actuators == "locked":
        m.lock("theta1")
        m.lock("theta3")
    elif actuators == "driven":
        m.drive("theta1", lambda t: move(t, *MOVE[0]))
        m.drive("theta3", lambda t: move(t, *MOVE[1]))
    return m


def driven() -> Model:
    """The arm with its actuators at work."""
    return model(actuators="driven")


def move(t: Any, a: float, b: float) -> Any:
    """From a to b (degrees) in TIME, along a cycloid; rad."""
    s = t / TIME
    part = where(t < TIME, s - sin(2 * np.pi * s) / (2 * np.pi), 1.0)
    return np.radians(a) + (np.radians(b) - np.radians(a)) * part


COORDINATES = (
    "theta1", "lower.y1", "lower.y2", "theta2", "upper.y1", "upper.y2", "theta3", "theta4", "actuating.y1", "actuating.y2",
)  # of the symbolic equations, by the recursive model's names  # fmt: skip


# ---- Lagrange's equations in symbols: P3's way ----------------------------------------------------------------------


@cache
def symbolic() -> Any:
    """(equations of the tree, the two closure conditions of joint C); coordinates in the order of COORDINATES."""
    import sympy as sp

    from madi.symbolic.lagrange import Lagrange, Link, Lump

    t1, t2, t3, t4, x = sp.symbols("theta1 theta2 theta3 theta4 x")
    names = ("lower", "upper", "actuating")
    xi = {name: sp.symbols(f"xi_{name}1 xi_{name}2") for name in names}
    psi = {name: sp.symbols(f"psi_{name}1 psi_{name}2") for name in names}
    known = shapes()

    def turn(angle: Any) -> Any:
        return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])

    def deflection(name: str, at: float | None = None, order: int = 0) -> Any:
        values = psi[name] if at is None else [shape(at, order) for shape in known[name]]
        return sum(a * b for a, b in zip(values, xi[name], strict=True))

    first = turn(t1)
    end = first * sp.Matrix([LENGTH, deflection("lower", LENGTH)])
    second = turn(t1 + t2 + deflection("lower", LENGTH, 1))
    third = turn(t1 + t3)
    hinge = third * sp.Matrix([-ARM, 0])
    fourth = turn(t1 + t3 + t4 - deflection("actuating", 0.0, 1))  # theta4 is its end section's; shapes are on its chord
    at = {
        "lower": first * sp.Matrix([x, deflection("lower")]),
        "upper": end + second * sp.Matrix([x, deflection("upper")]),
        "actuating": hinge + fourth * sp.Matrix([x, deflection("actuating")]),
    }
    parts: list[Any] = [
        Link(at[name], x, LENGTH, RHO * SECTIONS[name].area, tuple(zip(xi[name], psi[name], known[name], strict=True)),
             YOUNG * SECTIONS[name].iz)
        for name in names
    ]  # fmt: skip
    parts += [Link(end + second * sp.Matrix([-x, 0]), x, ARM, ROD), Link(third * sp.Matrix([-x, 0]), x, ARM, ROD)]
    # the payload is a point with an inertia: four points on a cross around it have both
    turned = second * turn(deflection("upper", LENGTH, 1))
    held = end + second * sp.Matrix([LENGTH, deflection("upper", LENGTH)])
    far = np.sqrt(0.1 / PAYLOAD)
    parts += [Lump(held + turned * sp.Matrix(side), PAYLOAD / 4) for side in ((far, 0), (-far, 0), (0, far), (0, -far))]
    coordinates = [t1, *xi["lower"], t2, *xi["upper"], t3, t4, *xi["actuating"]]
    closure = hinge + fourth * sp.Matrix([LENGTH, 0]) - end - second * sp.Matrix([-ARM, 0])
    return Lagrange(coordinates, parts, (0, -GRAVITY)), closure


def null_space(angles: tuple[float, float]) -> np.ndarray:
    """V2 of the rigid parallelogram (theta1 to theta4), scaled and turned so that it can be compared with the print."""
    system = model(rigid=True, angles=angles).build()
    J = system.constraint_jacobian(system.start.q)
    order = [system.speeds.index(f"theta{k}") for k in (1, 2, 3, 4)]
    _, s, V = np.linalg.svd(J[:, order])
    basis = V[int(np.sum(s > 1e-9 * s[0])) :].T
    first = basis @ basis.T[:, 0]  # what theta1's own direction is in it
    first /= np.linalg.norm(first)
    rest = basis - np.outer(first, first @ basis)
    second = rest[:, np.argmax(np.linalg.norm(rest, axis=0))]
    second /= np.linalg.norm(second) * np.sign(second[1])
    return np.column_stack([first, second])


PRINTED = np.array([[1, 0], [0, 1], [0, 1], [0, -1]]) / np.array([1.0, np.sqrt(3.0)])


def agreement(states: int = 5) -> float:
    """Recursive against symbolic, with loops: largest relative difference of accelerations at random closed states."""
    import sympy as sp

    equations, closure = symbolic()
    q, v = list(equations.coordinates), list(equations.speeds)
    J = closure.jacobian(q)
    bias = (J * sp.Matrix(v)).jacobian(q) * sp.Matrix(v)
    numbers = sp.lambdify([*q, *v], [J, bias], "numpy")
    system = model().build()
    order = [system.coordinates.index(name) for name in COORDINATES]
    worst, rng = 0.0, np.random.default_rng(1)
    for _ in range(states):
        angles = rng.uniform(20, 100), rng.uniform(-130, -40)
        start = system.q0
        for name, angle in zip(("theta1", "theta2", "theta3", "theta4"), (*angles, angles[1], -angles[1]), strict=True):
            start[system.coordinates.index(name)] = np.radians(angle)
        elastic = [k for k, name in enumerate(system.coordinates) if "." in name]
        start[elastic] = 0.02 * rng.normal(size=len(elastic))
        closed = system.assemble(start, rng.normal(size=system.nv))
        found = system.forward_dynamics(closed.q, closed.v)[order]
        there, speeds, damped = closed.q[order], closed.v[order], _damping(system, closed.v)[order]
        phi, gamma = (np.array(part, dtype=float) for part in numbers(*there, *speeds))
        free = equations.accelerations(there, speeds, damped)
        M = np.array(equations.M.subs(dict(zip(q, there, strict=True))), dtype=float)
        back = np.linalg.solve(M, phi.T)
        multipliers = np.linalg.solve(phi @ back, phi @ free + gamma.reshape(-1))
        wanted = free - back @ multipliers
        worst = max(worst, float(np.max(np.abs(found - wanted)) / np.max(np.abs(wanted))))
    return worst


def _damping(system: Any, v: np.ndarray) -> np.ndarray:
    """Generalised forces of the links' structural damping."""
    forces = np.zeros(system.nv)
    for body in system.model.bodies:
        if body.flexible is not None:
            columns = [system.speeds.index(f"{body.name}.{name}") for name in body.flexible.field.names]
            forces[columns] = -body.flexible.field.damping @ v[columns]
    return forces


def frequencies(angles: tuple[float, float]) -> np.ndarray:
    """Lowest natural frequencies (Hz) with the actuators locked, about the arm's equilibrium."""
    found = linearize(statics(model(angles=angles, actuators="locked")))
    return np.sort([mode["frequency"] for mode in found.modes])[:3]


# ---- the report -----------------------------------------------------------------------------------------------------


GRID = [(20.0 * a, b) for a in range(1, 6) for b in (-140.0, -125.0, -110.0, -95.0, -80.0, -65.0, -50.0, -40.0)]
NOTES = [
    "Link data and the motion are assumed (the paper prints none); see papers/ralf.py. The printed coefficients are",
    "held against their derivation in letters (papers/ralf_print.py): two links with two modes each, eqs. 51-58.",
    "P3's split of the coupling (eqs. 28-32), Lagrange.coupling_parts: P + Q + R; the print counts the mixed terms Q once",
    "where its own eq. 23 counts both orders.",
]


def report(out: Path) -> dict[str, Any]:
    """Everything P3 does with RALF, and what it leaves to be done: a motion, its deflections, frequencies."""
    equations, _ = symbolic()
    times = np.linspace(0, DURATION, 401)
    drawn = model(actuators="driven")
    run = simulate(drawn, DURATION, loops="svd", rtol=1e-8, times=times)
    projected = simulate(drawn, DURATION, rtol=1e-8, times=times)
    drifting = simulate(drawn, DURATION, loops=Baumgarte(0.0, 0.0), rtol=1e-8, times=times)
    rigid = simulate(model(rigid=True, actuators="driven"), DURATION, rtol=1e-8, times=times)
    falling = simulate(model(), 3.0, loops="svd", rtol=1e-8)
    x, y = (run[f"payload.{a}"] - rigid[f"payload.{a}"] for a in "xy")
    across = -np.sin(rigid["payload.rz"]) * x + np.cos(rigid["payload.rz"]) * y
    errors = [np.max(np.abs(null_space((a, b)) - PRINTED)) for a in (20.0, 60.0, 90.0) for b in (-130.0, -80.0, -40.0)]
    values = np.array([frequencies(angles) for angles in GRID])
    null, table = float(max(errors)), savings(equations)
    drift = float(np.max(run["violation"])), float(np.max(drifting["violation"]))
    out.mkdir(parents=True, exist_ok=True)
    figures = [
        _curves(out / "ralf.png", run, projected, drifting, across), _workspace(out / "ralf-frequencies.png", GRID, values),
        animation(out / "ralf.gif", drawn, run),
    ]  # fmt: skip
    return {
        "title": "P3: RALF, two flexible links on a flexible parallelogram",
        "values": {
            "recursive against symbolic equations, closed loop, largest relative difference": agreement(),
            "null space of the rigid parallelogram against the print, 9 configurations": null,
            "largest tip deflection across the upper link, mm": 1e3 * float(np.max(np.abs(across))),
            "ringing after the move (last second), mm": 1e3 * float(np.ptp(across[times > DURATION - 1])),
            "largest constraint violation, svd, m": drift[0],
            "the same without projection, m": drift[1],
            "svd against projection, tip, m": float(np.max(np.abs(run["payload.y"] - projected["payload.y"]))),
            "decompositions (steps), driven": _decompositions(run),
            "decompositions (steps), actuators let go, 3 s": _decompositions(falling),
            "largest constraint violation, let go, m": float(np.max(falling["violation"])),
        },
        "tables": {
            "P3's properties of the velocity coupling, tested on this model": _properties(equations),
            "What they save": table,
            "Eqs. 61-66, C(1) ... C(6): entries of the upper triangles": [
                {"": name, "count": value} for name, value in ralf_print.agreement().items()],
            "Eqs. 61-66: where the print is wrong": ralf_print.differences(),
            "V2 of the rigid parallelogram (eq. 71)": _directions(),
            "Natural frequencies, actuators locked, Hz": [
                {"lower link, deg": a, "upper from lower, deg": b, "1": f[0], "2": f[1], "3": f[2]}
                for (a, b), f in zip(GRID, values, strict=True)],
        },
        "claims": verdicts(null, table, equations.structure, drift, falling),
        "figures": figures,
        "pages": [str(run.view(out / "ralf.html", signals=["upper.y1", "lower.y1"], trace="payload"))],
        "notes": NOTES,
    }  # fmt: skip


def _decompositions(run: Any) -> str:
    return f"{run.statistics['decompositions']:.0f} ({run.statistics['steps']:.0f})"


def _directions() -> list[dict[str, Any]]:
    """V2 beside the print."""
    ours = np.round(null_space((60.0, -80.0)), 12) + 0.0
    return [{"": f"theta{k + 1}", "printed": f"({a:.3f}, {b:.3f})", "ours": f"({x:.3f}, {y:.3f})"}
            for k, ((a, b), (x, y)) in enumerate(zip(PRINTED, ours, strict=True))]  # fmt: skip


def _properties(equations: Any) -> list[dict[str, Any]]:
    """How often each holds."""
    s = equations.structure
    words = {"symmetry (33)": s.symmetric, "non-coupling (34)": s.uncoupled, "reflective antisymmetry (35)": s.antisymmetric}
    return [{"property": word, "holds": a, "of": b} for word, (a, b) in words.items()]


def savings(equations: Any) -> list[dict[str, Any]]:
    """The velocity coupling from all coefficients and from the reduced set: derivation, operations, run time."""
    import time

    from sympy.core.cache import clear_cache

    n = len(equations.coordinates)
    q, v = np.linspace(0.1, 0.5, n), np.linspace(0.5, 0.9, n)
    rows, found = [], []
    assert equations.M is not None  # derived before the clock starts
    for word, reduced in (("all coefficients", False), ("reduced set", True)):
        for name in ("C", "reduced", "_varies"):
            equations.__dict__.pop(name, None)
        clear_cache()
        start = time.process_time()
        count = len(equations.reduced.derived) if reduced else sum(len(block) for block in equations.C)
        derived = time.process_time() - start
        function = evaluated(equations, reduced)
        found.append(function(q, v))
        start = time.process_time()
        for _ in range(300):
            function(q, v)
        took = (time.process_time() - start) / 300
        rows.append({
            "velocity coupling from": word, "coefficients derived": count, "derivation, s of CPU": round(derived, 2),
            "operations of the coefficients": equations.structure.operations[1 if reduced else 0],
            "operations of the coupling as coded": equations.work(reduced),
            "an evaluation in NumPy, µs": round(1e6 * took, 1),
            "difference": f"{np.max(np.abs(found[-1] - found[0])) / np.max(np.abs(found[0])):.0e}",
        })  # fmt: skip
    return rows


def evaluated(equations: Any, reduced: bool) -> Any:
    """The coupling as a function of numbers (q, v): the coefficients, then the sums with the speeds."""
    import sympy as sp

    n = len(equations.coordinates)
    if not reduced:
        flat = sp.lambdify(equations.coordinates, [x for block in equations.C for x in block], "math", cse=True)
        return lambda q, v: np.array(flat(*q)).reshape(n, n, n) @ v @ v
    keys = list(equations.reduced.derived)
    flat = sp.lambdify(equations.coordinates, [equations.reduced.derived[key] for key in keys], "math", cse=True)
    table = np.array([(i, factor, keys.index(base), j, k) for i in range(n)
                      for factor, base, j, k in equations.reduced.terms(i)])  # fmt: skip
    row, factor, base, j, k = table.T
    return lambda q, v: np.bincount(row, factor * np.array(flat(*q))[base] * v[j] * v[k], n)


def verdicts(
    null: float, table: list[dict[str, Any]], s: Any, drift: tuple[float, float], found: Any
) -> list[dict[str, str]]:
    """P3's conclusions."""
    agree, changes = ralf_print.agreement(), ralf_print.energies()
    part = table[1]["operations of the coupling as coded"] / table[0]["operations of the coupling as coded"]
    return [
        claim("Structure makes the velocity coupling smaller: terms vanish, repeat or mirror each other", holds(part < 0.5),
              f"{table[1]['coefficients derived']} of {table[0]['coefficients derived']} coefficients are derived, and the "
              f"coupling takes {100 * part:.0f} % of the operations; derivation {table[1]['derivation, s of CPU']} s "
              f"against "
              f"{table[0]['derivation, s of CPU']} s"),
        claim("The reflective property (35) does not always hold for flexible arms", holds(
              s.antisymmetric[0] < s.antisymmetric[1]), f"{s.antisymmetric[0]} of {s.antisymmetric[1]} on RALF; it holds "
              "where M_ik does not depend on q_j, which is tested first"),
        claim("D does not depend on elastic states, so the terms with D in Q and R may go (after eq. 32)", "does not hold",
              "D depends on theta2: dD/dtheta2 remains"),
        claim("C(1) ... C(6) of eqs. 61-66", "does not hold for 12 of 126 entries",
              f"{agree['derived agrees with the print']} entries are as derived; all "
              f"{agree['derived without dD/dq agrees']} "
              "are, if dD/dq is dropped. Decided by energy: Mdot - 2 C is skew with the derived ones; the printed "
              "ones change "
              f"the energy of a folding arm by {changes['printed']:.0e} in 1 s, the derived ones by "
              f"{changes['derived']:.0e}"),
        claim("Every C is expressed by the variables of C(1) and C(2)", "does not hold",
              "once corrected, d61, d62, d71, d72 occur in neither"),
        claim("V2 of the rigid loop does not depend on angles and lengths, 0.577 = 1/√3", holds(null < 1e-12),
              f"{null:.0e} at nine configurations"),
        claim("SVD is a stable and effective method for closed loops", holds(drift[0] < 1e-10),
              f"violation {drift[0]:.0e} m, without stabilisation {drift[1]:.0e} m"),
        claim("The flexible loop must be decomposed at every step (a criterion of velocities saves most)", "depends on the "
              "criterion", f"{found.statistics['decompositions']} decompositions in {found.statistics['steps']} steps"),
    ]  # fmt: skip


def _lines(drawn: Model, run: Any, scale: float = 1.0) -> dict[str, np.ndarray]:
    """x, y of every link over time, elbow and crank too."""
    found = {body.name: centre_line(body, run, scale=scale)[:, :, :2] for body in drawn.bodies if body.flexible is not None}
    for name in ("elbow", "crank"):
        place = np.stack([run[f"{name}.x"], run[f"{name}.y"]], axis=1)
        back = np.stack([np.cos(run[f"{name}.rz"]), np.sin(run[f"{name}.rz"])], axis=1)
        found[name] = np.stack([place, place - ARM * back], axis=1)
    return found


COLOURS = {"lower": "#35618e", "upper": "#c2410c", "actuating": "#4d7c0f", "elbow": "#444444", "crank": "#444444"}


def _curves(path: Path, run: Any, projected: Any, drifting: Any, across: np.ndarray) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.5), layout="constrained")
    arm, tip, gap = figure.subplot_mosaic([["arm", "tip"], ["arm", "gap"]]).values()
    lines = _lines(model(), run)
    for k in np.linspace(0, 150, 6).astype(int):
        for name, line in lines.items():
            arm.plot(*line[k].T, color=COLOURS[name], alpha=0.25 + 0.75 * k / 150, linewidth=1.5)
    arm.plot(run["payload.x"], run["payload.y"], color="#999999", linewidth=0.8)
    arm.set(title="the move", xlabel="x, m", ylabel="y, m", aspect="equal")
    tip.plot(run["time"], 1e3 * across, color="#c2410c")
    tip.axvline(TIME, color="#999999", linewidth=0.8)
    tip.set(title="tip deflection across the upper link, against rigid links", xlabel="time, s", ylabel="mm")
    for name, one in (("svd", run), ("projection", projected), ("no stabilisation", drifting)):
        gap.semilogy(one["time"], np.maximum(one["violation"], 1e-18), label=name)
    gap.set(title="constraint violation", xlabel="time, s", ylabel="m")
    gap.legend(frameon=False)
    figure.savefig(path, dpi=130)
    return path


def _workspace(path: Path, grid: list[tuple[float, float]], values: np.ndarray) -> Path:
    """The first two frequencies over the places the payload can be at."""
    from matplotlib.figure import Figure

    a, b = np.radians(np.array(grid)).T
    shape = len(set(a)), -1
    x, y = LENGTH * (np.cos(a) + np.cos(a + b)), LENGTH * (np.sin(a) + np.sin(a + b))
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    for k, axis in enumerate(figure.subplots(1, 2)):
        filled = axis.contourf(x.reshape(shape), y.reshape(shape), values[:, k].reshape(shape), levels=14, cmap="viridis")
        axis.plot(x, y, ".", color="white", markersize=3)
        axis.plot([0], [0], "^", color="black")
        figure.colorbar(filled, ax=axis, label="Hz")
        axis.set(title=f"frequency {k + 1} by the payload's place", xlabel="x, m", ylabel="y, m", aspect="equal")
    figure.savefig(path, dpi=130)
    return path


def animation(path: Path, drawn: Model, run: Any, scale: float = 5.0) -> Path:
    """The move as a GIF, deflections drawn larger."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 4.6), layout="constrained", dpi=80)
    axis = figure.subplots()
    axis.set(xlim=(-1.5, 5.5), ylim=(-1.0, 5.5), aspect="equal", xlabel="x, m", ylabel="y, m")
    lines = _lines(drawn, run, scale)
    drawn_lines = {name: axis.plot([], [], color=COLOURS[name], linewidth=2.5)[0] for name in lines}
    load = axis.plot([], [], "o", color="#222222", markersize=7)[0]
    frames = range(0, len(run["time"]), 4)

    def show(k: int) -> Any:
        for name, line in lines.items():
            drawn_lines[name].set_data(*line[k].T)
        load.set_data(*lines["upper"][k, -1:].T)
        axis.set_title(f"RALF, t = {run['time'][k]:.2f} s, deflections × {scale:g}")
        return list(drawn_lines.values())

    try:
        FuncAnimation(figure, show, frames=frames).save(path, writer=PillowWriter(fps=25))
    except (OSError, ValueError) as error:
        raise MadiError(f"the animation {path} could not be written: {error}") from error
    return path
