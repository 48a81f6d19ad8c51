"""The whole path on one screen: build, choose, integrate, record, label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.checkpoint import Checkpoint, engine_of
from madi.engines.choice import choose_engine
from madi.engines.entries import FORMULATIONS
from madi.errors import EngineError, InputError, RunError, warn
from madi.integrate import METHODS
from madi.integrate.contract import DONE, Method
from madi.integrate.structural import alpha_options, newmark_options
from madi.loops.assemble import start_vector
from madi.loops.options import loop_options
from madi.model.model import Model
from madi.results.flexible import large_deflections
from madi.results.loads import asked, described
from madi.signals.jumps import Jump, speed_jumps
from madi.solver import Solver, number, positive
from madi.system import System

if TYPE_CHECKING:
    from madi.loops.assemble import Assembly
    from madi.results.run import Run
    from madi.solver_cartesian import CartesianSolver

MOST_STEPS = 1e12  # of a run: nobody waits for more
MOST_OUTPUTS = 20_001  # of a fixed-step run whose output times are not asked for
NEWTON_TOLERANCE = 1e-10  # of speeds, against the largest
HALVE = 10  # times a step is halved before a run is given up


def simulate(
    model: Model | System,
    duration: float,
    *,
    step: float | None = None,
    method: str | None = None,
    loops: str | None = None,
    engine: str = "auto",
    formulation: str | None = None,
    frame: str | None = None,
    times: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    order: int | None = None,
    gamma: float | None = None,
    beta: float | None = None,
    spectral_radius: float | None = None,
    alpha: float | None = None,
    iterations: int | None = None,
    jacobian: str | None = None,
    feedback: tuple[float, float] | None = None,
    closing: float | None = None,
    weighting: str | None = None,
    reactions: Sequence[str] | Mapping[str, str] = (),
    q0: Any = None,
    v0: Any = None,
    history: bool = False,
    progress: bool | None = None,
    checkpoint: Any = None,
    checkpoint_every: float = 10.0,
    resume: bool = False,
) -> Run:
    """Simulate a model for `duration` seconds.

    `method`: "rk4", "ab3" (fixed `step`), "dopri", "abm" (adaptive: rtol, atol, max_step, first_step; "abm" with a step is
    of fixed step and order); implicit, for stiff models, "newmark" (`gamma`, `beta`) and "generalized-alpha"
    (`spectral_radius`, or `alpha` from 0 to 1/3 for HHT), fixed step, "radau" (adaptive, or fixed), "ida", "cvode"
    (SUNDIALS); "newmark-explicit", "newmark-explicit-full". Default: "rk4" if a step is given, else "dopri". `rtol` None:
    1e-6; `atol` None: a hundredth of rtol. An option that the method has no use for is refused.
    `iterations` of Newton in an implicit step: None until it converges, or so many (real time). `jacobian`: when its matrix
    is made, "iteration", "step", "slow" (when it converges slowly) or "once".
    `times`: where output is wanted; default every step (every k-th in very long runs), or 1001 points.
    `max_step` None: the whole duration; with bumps on a road, what meets them at the speed of the start.
    `reactions`: joints (and constraints) whose loads are recorded: names, or {name: axes} where run["A.fx"] is not to be in
    ground axes but in those of "parent", "child" or "joint" (run["A.fx_child"] is always there). `q0`, `v0`: the start, all
    numbers or {name: value}; default the joints'.
    `loops`: how loops are kept closed (a model without loops runs as if it were not said):
    "projection" (the default; sparse, drift-free); by independent directions, drift-free too, "pseudo-inverse", "svd", "qr",
    "partition" (`madi.compare` tells them apart); "augmented", "baumgarte" (`feedback`: its alpha and beta, 1/s, default
    10 and 10). `closing`: the largest residual of a constraint, m or rad (and per s), that a step may leave; default
    rounding. `weighting`: "mass" (default) or "none", of the methods by independent directions.
    `formulation`: "recursive", "articulated" (trees), "velocity-transform", or "cartesian" (absolute coordinates).
    `frame`: "base" or "ground", what a moving base's equations refer to. `order`: of fixed-step "abm", 2 to 5, default 4.
    `history`: keep of every step its length, how far it left the constraints, what closing them left, and the condition
    number (step_size, step_residual, step_violation, step_condition over step_time).
    `progress`: a bar on the terminal; default on long runs. `engine`: "auto" takes C made for this model where it is there
    or pays, else "jit"; results of the two differ in the last digits.
    `checkpoint`: a file in which the run is kept every `checkpoint_every` seconds of computing; `resume`: go on from it if
    it is there (else begin). A run that was cut and taken up again equals the whole run bit for bit. The file stays.
    A run that fails raises RunError with what was computed in `error.run`; so does Ctrl-C (KeyboardInterrupt).
    """
    given = dict(locals())
    kept = [given.pop(name) for name in ("checkpoint", "checkpoint_every", "resume")]
    path = None if kept[0] is None else Path(kept[0])
    if path is not None and resume and engine == "auto":
        given["engine"] = engine_of(path) or engine
    if path is None and resume:
        raise InputError("resume=True: from where? Give checkpoint=, the file the run was kept in")
    model, duration = given.pop("model"), given.pop("duration")

    def run(options: dict[str, Any]) -> Run:
        solver = prepare(model, duration, **options)
        if path is not None:
            keep(solver, path, positive(kept[1], "checkpoint_every"), bool(resume))
        return run_solver(solver, given["progress"])

    try:
        return run(given)
    except EngineError as error:
        if given["engine"] != "auto":
            raise
        warn_of_compiler(error)
        return run({**given, "engine": "jit"})


def warn_of_compiler(error: EngineError) -> None:
    """ "auto" took C, and the compiler let it down: it is remembered (engines/compiler.py), and jit serves."""
    warn(f"{error}. This run goes on with engine='jit'")


def keep(solver: Solver | CartesianSolver, path: Path, every: float, resume: bool) -> None:
    """Let a run be kept in a file, and take up what is there."""
    if solver.method.outside is not None:
        raise InputError(f"checkpoint: method={solver.method.name!r} keeps its memory outside madi; use dopri, abm or radau")
    solver.checkpoint = Checkpoint(solver, path, every)
    if resume:
        solver.taken_up = solver.checkpoint.take_up(solver)


def prepare(
    model: Model | System, duration: float, *, step: float | None = None, method: str | None = None,
    loops: str | None = None, engine: str = "auto", formulation: str | None = None, frame: str | None = None,
    times: Any = None, rtol: float | None = None, atol: float | None = None, max_step: float | None = None,
    first_step: float | None = None, order: int | None = None, gamma: float | None = None, beta: float | None = None,
    spectral_radius: float | None = None, alpha: float | None = None, iterations: int | None = None,
    jacobian: str | None = None, feedback: tuple[float, float] | None = None, closing: float | None = None,
    weighting: str | None = None, reactions: Sequence[str] | Mapping[str, str] = (), q0: Any = None, v0: Any = None,
    history: bool = False, progress: bool | None = None,
) -> Solver | CartesianSolver:  # fmt: skip
    """All of `simulate` up to the first step: what was asked for, checked, and the arrays of the run."""
    if not isinstance(model, Model | System):
        raise InputError(f"simulate: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build(frame=frame or "base")
    if frame is not None and frame != system.frame:
        raise InputError(
            f"frame={frame!r}: this System was built with frame={system.frame!r}; pass the Model, or build anew"
        )
    wanted = asked(reactions)
    if system.nv == 0:
        raise InputError(
            f"model {system.name!r} cannot move: no joint leaves a degree of freedom. s.reactions(...) gives its "
            "static loads"
        )
    step = None if step is None else positive(step, "step")
    chosen = _method(method, step)
    if chosen.implicit and formulation == "cartesian":
        raise InputError(f"method={chosen.name!r} works in joint coordinates; formulation='cartesian' has explicit methods")
    closed = loop_options(loops, chosen, formulation, engine, bool(system.frozen.rows), feedback, closing, weighting)
    _refuse_unused(chosen, step, rtol=rtol, atol=atol, max_step=max_step, first_step=first_step, order=order)
    own = implicit_options(chosen, gamma, beta, spectral_radius, alpha, iterations, jacobian)
    span = positive(duration, "duration")
    for name, length in (("step", step), ("max_step", max_step)):
        if length is not None and span / positive(length, name) > MOST_STEPS:
            raise InputError(f"{name}={length!r}: that would be {span / length:.3g} steps. Give a longer one")
    outputs = _times(times, span, step, chosen)
    rtol = 1e-6 if rtol is None else number(rtol, "rtol")
    atol = 0.01 * rtol if atol is None else atol
    if formulation == "cartesian":
        system = _for_cartesian(model, system, engine)
    elif formulation not in (None, "auto", *FORMULATIONS):
        raise InputError(f"formulation={formulation!r}: choose one of {', '.join(FORMULATIONS)}, cartesian")
    for name in wanted:
        system._loaded(name)
    described(system, wanted)  # what cannot be described is refused now
    start = assembled(system, q0, v0)
    max_step = over_bumps(system, start, chosen) if max_step is None else max_step
    solver: Solver | CartesianSolver
    if formulation == "cartesian":
        from madi.solver_cartesian import CartesianSolver

        jumps = speed_jumps(system, span)
        solver = CartesianSolver(model, system, chosen, outputs, engine, start, wanted, closed, jumps)  # type: ignore[arg-type]
    else:
        form = system.formulation(formulation)
        machine = choose_engine(system, engine, form, span, step, closed.name, chosen)
        jumps = speed_jumps(system, span)
        if jumps:
            _refuse_jumps(jumps[0], chosen, closed.name if system.frozen.rows else "")
        solver = Solver(system, chosen, outputs, machine, form, wanted, closed, jumps)
        solver.start(*start)
    solver.options(rtol, atol, max_step, first_step, step, 4 if order is None else order, span)
    solver.option[6:] = own
    if history and chosen.outside is not None:
        raise InputError(f"history: method={chosen.name!r} takes its steps outside madi; use dopri, abm or radau")
    solver.history = [] if history else None
    return solver


def run_solver(solver: Solver | CartesianSolver, progress: bool | None = None) -> Run:
    """Integrate and label; a failure keeps what was computed."""
    try:
        status = solver.run(progress)
    except KeyboardInterrupt as interrupt:
        if solver.checkpoint is not None and solver.engine_name != "plain":  # machine code stops between steps
            solver.checkpoint.write(solver)
        interrupt.run = solver.result()  # type: ignore[attr-defined]  # what was computed is not lost
        raise
    run = solver.result()
    told = large_deflections(solver.system, run)
    if status != DONE:
        raise RunError(". ".join([solver.explain(status), *told]), run)
    if solver.spoiled is not None:
        raise RunError(". ".join([solver.explain_spoiled(), *told]), run)
    for text in told:
        warn(text)
    return run


def export_c(
    model: Model, out: Any, *, step: float, method: str = "newmark", duration: float = 1.0,
    parameters: Sequence[str] | None = None, q0: Any = None, v0: Any = None, frame: str = "base",
    gamma: float | None = None, beta: float | None = None, spectral_radius: float | None = None, alpha: float | None = None,
    iterations: int | None = None, jacobian: str | None = None,
) -> list[Path]:  # fmt: skip
    """Write the model and its integrator as self-contained C99 into the folder `out`: NAME.h, NAME.c, and a main.c that
    repeats the run of `duration` seconds from q0, v0. No allocation, no library but libm.

    `method`: "newmark", "generalized-alpha"; without loops also "rk4", "newmark-explicit"; options as in `simulate`.
    `parameters`: what stays adjustable at run time, by name: "spring.stiffness", "chassis.mass", "pivot.at.x"; default what
    `model.adjustable(...)` marked. Returns the files.
    """
    from madi.export.c import export_c as write

    if not isinstance(model, Model):
        raise InputError(f"export_c: give a Model, not {type(model).__name__}")
    system = model.build(frame=frame)
    if parameters is None or isinstance(parameters, str):
        parameters = model.adjustables if parameters is None else [parameters]
    if method in METHODS and METHODS[method].adaptive:
        raise InputError(
            f"export_c: method={method!r} chooses its steps; exported code takes fixed ones: use 'newmark', "
            "'generalized-alpha', 'rk4' or 'newmark-explicit'"
        )
    chosen = _method(method, positive(step, "step"))
    option = implicit_options(chosen, gamma, beta, spectral_radius, alpha, iterations, jacobian)
    start = assembled(system, q0, v0)
    for jump in speed_jumps(system, positive(duration, "duration"))[:1]:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps at t = {jump.time:.6g} s; exported code has no impulse for "
            "that. Round the corner off"
        )
    return write(
        model, out, step=float(step), method=chosen, option=option, duration=positive(duration, "duration"),
        adjustable=list(parameters), q0=start[0], v0=start[1], system=system,
    )  # fmt: skip


def _for_cartesian(model: Model | System, system: System, engine: str) -> System:
    """The system whose names and force elements the Cartesian formulation uses: in the ground's frame."""
    if not isinstance(model, Model):
        raise InputError("formulation='cartesian': pass the Model, not the System; the tree has no part in it")
    if engine == "compiled":
        raise InputError("formulation='cartesian' has engine='jit' or 'plain': its equations are not traced")
    return model.build(frame="ground") if system.frozen.riding else system


def assemble(
    model: Model | System,
    q0: Any = None,
    v0: Any = None,
    *,
    pin: Any = None,
    assembly_mode: int = 0,
    t: float = 0.0,
    branch: Any = None,
) -> Assembly:
    """Close the loops of a model: positions, then speeds, nearest to where the joints start (or to q0, v0).

    `pin`: coordinates that must stay exactly, as those that dictionaries q0, v0 name do. Without `pin`, coordinates whose
    joint was given a start stay too, but are let go if the loops cannot close otherwise (`.released`). `assembly_mode`: 1,
    2, ... other ways to assemble it, by distance. Returns an Assembly: q, v, a, how far each coordinate `moved`, the
    `residual` of each cut joint. Raises AssemblyError (with `.assembly`, the nearest state) if it cannot be closed.
    """
    if not isinstance(model, Model | System):
        raise InputError(f"assemble: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build()
    return system.assemble(q0, v0, pin=pin, assembly_mode=assembly_mode, t=t, branch=branch)


def assembled(system: System, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray]:
    """The state a run starts from: with loops, closed. What a dictionary names stays; what joints were given, if it can."""
    if not system.frozen.rows:
        q = system._coordinates(start_vector(q0, system.coordinates, system.q0, "q0"), "q0")
        return q, system._vector(start_vector(v0, system.speeds, system.v0, "v0"), system.nv, "v0")
    found = system.start if q0 is None and v0 is None else system.assemble(q0, v0)
    _refuse_standstill(system, found.q)
    return found.q, found.v


def over_bumps(system: System, start: tuple[np.ndarray, np.ndarray], method: Method) -> float | None:
    """A longest step for adaptive methods, so that none leaps over a bump: half the shortest, at the speed of the start."""
    if not method.adaptive:
        return None
    seen = system.observe(*start, engine="plain")
    steps = []
    for body, road in system.roads:
        shortest = road.shortest()
        speed = abs(float(np.dot(seen.velocity[0, system.bodies.index(body)], road.axes()[0]))) if body != "ground" else 0.0
        if shortest is not None and speed > 0:
            steps.append(0.5 * shortest / speed)
    return min(steps, default=None)


def _refuse_standstill(system: System, q: np.ndarray) -> None:
    """A mechanism that cannot move has no run."""
    freedoms, model = system.mobility(q), system.layout.arrays
    if freedoms.degrees_of_freedom == 0 and not (np.any(model.drive >= 0) or np.any(model.row_signal >= 0)):
        raise InputError(
            f"model {system.name!r} cannot move: its constraints leave no degree of freedom "
            f"({freedoms}). s.reactions(q, v) gives its static loads"
        )


def _method(name: str | None, step: float | None) -> Method:
    name = name or ("dopri" if step is None else "rk4")
    if name not in METHODS:
        raise InputError(f"method={name!r}: choose one of {', '.join(METHODS)}")
    method = METHODS[name]
    if step is None and not method.adaptive:
        raise InputError(f"method={name!r} needs a step, for example step=1e-3")
    if step is not None and method.adaptive and not method.fixed_too:
        raise InputError(f"method={name!r} chooses its own steps: give rtol and atol, or max_step, instead of step")
    return method


def _refuse_jumps(jump: Jump, method: Method, loops: str) -> None:
    """Where the speed of a drive jumps, an impulse acts; not everything has one."""
    who = f"method={method.name!r}" if method.outside is not None else "loops='baumgarte'" if loops == "baumgarte" else ""
    if who:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps by {jump.change:.3g} at t = {jump.time:.6g} s; {who} has no "
            "impulse for that. Round the corner off, or use another"
        )


def _refuse_unused(method: Method, step: float | None, **given: Any) -> None:
    """Options of adaptive steps with a fixed one, and the other way round: whoever gives them expects them to matter."""
    for name, value in given.items():
        fits = method.name == "abm" and step is not None if name == "order" else method.adaptive and step is None
        if value is not None and not fits:
            told = (
                "it belongs to method='abm' with a step"
                if name == "order"
                else "the step is fixed; adaptive methods have it"
            )
            raise InputError(f"{name}={value!r}: method={method.name!r} has no use for it ({told}). Leave it out")


POLICIES = ("iteration", "step", "slow", "once")


def implicit_options(
    method: Method, gamma: float | None = None, beta: float | None = None, spectral_radius: float | None = None,
    alpha: float | None = None, iterations: int | None = None, jacobian: str | None = None,
) -> list[float]:  # fmt: skip
    """What implicit methods are given beside tolerances and steps (integrate/structural.py), checked."""
    given = {"gamma": gamma, "beta": beta, "spectral_radius": spectral_radius, "alpha": alpha, "iterations": iterations,
             "jacobian": jacobian}  # fmt: skip
    serves = {"newmark": ("gamma", "beta", "iterations", "jacobian"),
              "generalized-alpha": ("spectral_radius", "alpha", "iterations", "jacobian")}.get(method.name, ())  # fmt: skip
    for name, value in given.items():
        if value is not None and name not in serves:
            raise InputError(f"{name}={value!r}: method={method.name!r} has no such option")
    if not serves:
        return [*method.own, *[0.0] * (10 - len(method.own))]
    limits = {"gamma": (0.5, 1.0), "beta": (1e-6, 1.0), "spectral_radius": (0.0, 1.0), "alpha": (0.0, 1.0 / 3.0)}
    for name, (low, high) in limits.items():
        if given[name] is not None and not low <= number(given[name], name) <= high:
            raise InputError(f"{name}={given[name]!r}: give a number from {low:g} to {high:g}")
    if spectral_radius is not None and alpha is not None:
        raise InputError("give spectral_radius (generalized-alpha) or alpha (HHT), not both")
    whole = isinstance(iterations, int | np.integer) and not isinstance(iterations, bool)
    if iterations is not None and (not whole or not 1 <= iterations <= 100):
        raise InputError(f"iterations={iterations!r}: give a whole number from 1 on, or None to converge")
    if jacobian is not None and jacobian not in POLICIES:
        raise InputError(f"jacobian={jacobian!r}: choose one of {', '.join(POLICIES)}")
    if jacobian == "slow" and iterations is not None:
        raise InputError(
            "jacobian='slow' judges how Newton converges; with a fixed number of iterations use 'step' or 'once'"
        )
    if method.name == "newmark":
        scheme = newmark_options(0.5 if gamma is None else gamma, beta)
    else:
        scheme = alpha_options(0.8 if spectral_radius is None else spectral_radius, alpha)
    policy = POLICIES.index(jacobian or ("slow" if iterations is None else "step"))
    return [*scheme, float(iterations or 0), float(policy), NEWTON_TOLERANCE, 0.0 if iterations else HALVE, 0.0, 0.0]


def _times(times: Any, span: float, step: float | None, method: Method) -> np.ndarray:
    if times is not None:
        try:
            wanted = np.atleast_1d(np.array(times, dtype=float))  # a copy: ours to hand on
        except (TypeError, ValueError):
            raise InputError(f"times={times!r}: give a list of numbers") from None
        if wanted.ndim != 1 or len(wanted) == 0 or not np.all(np.isfinite(wanted)):
            raise InputError("times: give a list of finite numbers")
        if np.any(np.diff(wanted) <= 0) or wanted[0] < 0 or wanted[-1] > span * (1 + 1e-12):
            raise InputError(f"times: they must increase, from 0 to the duration {span:g} s at most")
        return np.minimum(wanted, span)
    if step is None:
        return np.linspace(0.0, span, 1001)
    steps = max(1, int(np.ceil(span / step - 1e-9)))
    every = -(-steps // (MOST_OUTPUTS - 1))
    grid = np.arange(0, steps, every) * step
    return np.append(grid, span)
