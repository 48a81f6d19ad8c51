"""The whole path on one screen: build, choose, integrate, record, label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.assemble import start_vector
from madi.engines import is_made_for_model
from madi.engines.choice import choose_engine
from madi.equations import FORMULATIONS
from madi.errors import EngineError, InputError, RunError, warn
from madi.integrate import METHODS
from madi.integrate.memory import DONE
from madi.integrate.method import Method, Steps
from madi.loops.methods import LoopMethod
from madi.model.model import Model
from madi.results.flexible import large_deflections
from madi.results.loads import asked, described
from madi.run.checkpoint import Checkpoint, Keeper, engine_of
from madi.run.options import (
    by_word,
    checked_span,
    chosen_loops,
    chosen_method,
    output_times,
    positive,
    refuse,
    refuse_unused,
    start_of,
    tolerances,
)
from madi.run.solver import Solver
from madi.signals.jumps import Jump, speed_jumps
from madi.system import System

if TYPE_CHECKING:
    from madi.assembly.assemble import Assembly
    from madi.results.run import Run
    from madi.run.cartesian import CartesianSolver


def simulate(
    model: Model | System,
    duration: float,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    method: Method | str | Mapping[str, Any] | None = None,
    loops: LoopMethod | str | Mapping[str, Any] | None = None,
    engine: str = "auto",
    formulation: str | None = None,
    frame: str | None = None,
    times: Any = None,
    reactions: Sequence[str] | Mapping[str, str] = (),
    start: Any = None,
    progress: bool | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
    history: bool = False,
    **old: Any,
) -> Run:
    """Simulate a model for `duration` seconds.

    `method`: a word, or an object with options of its own. Fixed `step`: "rk4" (madi.RK4), "ab3", "newmark-explicit",
    "newmark-explicit-full"; implicit, for stiff models, "newmark" (madi.Newmark(gamma=0.5, beta=0.25, iterations=2)),
    "generalized-alpha" (madi.GeneralizedAlpha). Adaptive (rtol, atol, max_step): "dopri" (madi.DormandPrince), "abm"
    (madi.Adams), for stiff models "radau" (madi.Radau), "ida", "cvode" (SUNDIALS); "abm" and "radau" take a step too.
    Default: "rk4" if a step is given, else "dopri". `rtol` None: 1e-6; `atol` None: a hundredth of rtol. `max_step`
    None: the whole duration; with bumps on a road, what meets them at the speed of the start.
    `loops`: how loops are kept closed: "projection" (madi.Projection, the default; sparse, drift-free); by independent
    directions, drift-free too, "pseudo-inverse", "svd", "qr", "partition" (`madi.compare` tells them apart); "augmented",
    "baumgarte" (madi.Baumgarte(10, 10)).
    `formulation`: "recursive", "articulated" (trees), "velocity-transform", or "cartesian" (absolute coordinates).
    `frame`: "base" or "ground", what a moving base's equations refer to. `engine`: "auto" takes C made for this model where
    it is there or pays, else "jit"; results of the two differ in the last digits.
    `times`: where output is wanted; default every step (every k-th in very long runs), or 1001 points.
    `reactions`: joints (and constraints) whose loads are recorded: names, or {name: axes}, run["A.fx"] then in the axes of
    "parent", "child" or "joint", not the ground's (run["A.fx_child"] is always there).
    `start`: (q0, v0), each all numbers, {name: value} or None; or what has a q and a v. Default the joints'.
    `progress`: a bar on the terminal; default on long runs. `history`: keep of every step what it did (step_size,
    step_residual, step_violation, step_condition over step_time).
    `checkpoint`: a file in which the run is kept while it goes on, and taken up from again: see madi.Checkpoint.
    A run that fails raises RunError with what was computed in `error.run`; so does Ctrl-C (KeyboardInterrupt).
    """
    refuse("simulate", old, OPTIONS)
    kept = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    if kept is not None and engine == "auto":
        engine = engine_of(kept) or engine
    options = {"step": step, "rtol": rtol, "atol": atol, "max_step": max_step, "method": method, "loops": loops,
               "formulation": formulation, "frame": frame, "times": times, "reactions": reactions, "start": start,
               "history": history}  # fmt: skip
    try:
        return run_solver(prepare(model, duration, engine=engine, **options), progress, kept)
    except EngineError as error:
        if engine != "auto":
            raise
        warn_of_compiler(error)
        return run_solver(prepare(model, duration, engine="jit", **options), progress, kept)


OPTIONS = tuple(name for name in signature(simulate).parameters if name not in ("model", "duration", "old"))
PREPARED = tuple(name for name in OPTIONS if name not in ("progress", "checkpoint"))  # those up to the first step


def warn_of_compiler(error: EngineError) -> None:
    """ "auto" took C, and the compiler let it down: it is remembered (engines/compiler.py), and jit serves."""
    warn(f"{error}. This run goes on with engine='jit'")


def keep(solver: Solver | CartesianSolver, checkpoint: Checkpoint) -> None:
    """Let a run be kept in a file, and take up what is there."""
    if solver.method.outside is not None:
        raise InputError(f"checkpoint: method={solver.method.name!r} keeps its memory outside madi; use dopri, abm or radau")
    solver.keeper = Keeper(solver, checkpoint)
    if checkpoint.resume:
        solver.taken_up = solver.keeper.take_up(solver)


def prepare(model: Model | System, duration: float, *, engine: str = "auto", **options: Any) -> Solver | CartesianSolver:
    """All of `simulate` up to the first step: what was asked for, checked, and the memory of the run."""
    refuse("simulate", {name: value for name, value in options.items() if name not in (*PREPARED, "engine")}, PREPARED)
    given = options.get
    step, formulation, frame = given("step"), given("formulation"), given("frame")
    system = built(model, frame)
    wanted = asked(given("reactions", ()))
    step = None if step is None else positive(step, "step")
    method = chosen_method(given("method"), step)
    loops = chosen_loops(given("loops"), method, formulation, engine, bool(system.frozen.rows))
    refuse_unused(method, step, **{name: given(name) for name in ("rtol", "atol", "max_step")})
    span = checked_span(duration, step=step, max_step=given("max_step"))
    outputs = output_times(given("times"), span, step)
    rtol, atol = tolerances(given("rtol"), given("atol"))
    if formulation == "cartesian":
        system = _for_cartesian(model, system, engine, method)
    elif formulation not in (None, "auto", *FORMULATIONS):
        raise InputError(f"formulation={formulation!r}: choose one of {', '.join(FORMULATIONS)}, cartesian")
    for name in wanted:
        system._loaded(name)
    described(system, wanted)  # what cannot be described is refused now
    start = assembled(system, *start_of(given("start")))
    longest = over_bumps(system, start, method) if given("max_step") is None else positive(given("max_step"), "max_step")
    steps, jumps = Steps(span, step, rtol, atol, longest), speed_jumps(system, span)
    solver: Solver | CartesianSolver
    if formulation == "cartesian":
        from madi.run.cartesian import CartesianSolver

        assert isinstance(model, Model)
        solver = CartesianSolver(model, system, method, steps, outputs, engine, start, wanted, loops, jumps)
    else:
        form = system.formulation(formulation)
        if jumps:
            _refuse_jumps(jumps[0], method, loops if system.frozen.rows else None)
        machine = choose_engine(system, engine, form, span, step, loops, method)
        solver = Solver(system, method, steps, outputs, machine, form, wanted, loops, jumps)
        solver.start(*start)
    if given("history") and method.outside is not None:
        raise InputError(f"history: method={method.name!r} takes its steps outside madi; use dopri, abm or radau")
    solver.history = [] if given("history") else None
    return solver


def built(model: Model | System, frame: str | None) -> System:
    """The system of a model, if it moves."""
    if not isinstance(model, Model | System):
        raise InputError(f"simulate: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build(frame=frame or "base")
    if frame is not None and frame != system.frame:
        raise InputError(
            f"frame={frame!r}: this System was built with frame={system.frame!r}; pass the Model, or build anew"
        )
    if system.nv == 0:
        raise InputError(
            f"model {system.name!r} cannot move: no joint leaves a degree of freedom. s.reactions(...) gives its "
            "static loads"
        )
    return system


def run_solver(solver: Solver | CartesianSolver, progress: bool | None = None, checkpoint: Checkpoint | None = None) -> Run:
    """Integrate and label; a failure keeps what was computed."""
    if checkpoint is not None:
        keep(solver, checkpoint)
    try:
        status = solver.run(progress)
    except KeyboardInterrupt as interrupt:
        if solver.keeper is not None and solver.engine.machine_code:  # machine code stops between steps
            solver.keeper.write(solver)
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
    model: Model, out: Any, *, step: float, method: Any = "newmark", duration: float = 1.0,
    parameters: Sequence[str] | None = None, start: Any = None, frame: str = "base", **old: Any,
) -> list[Path]:  # fmt: skip
    """Write the model and its integrator as self-contained C99 into the folder `out`: NAME.h, NAME.c, and a main.c that
    repeats the run of `duration` seconds from `start`. No allocation, no library but libm.

    `method`: "newmark", "generalized-alpha"; without loops also "rk4", "newmark-explicit"; a word or an object, `start`
    as in `simulate`. `parameters`: what stays adjustable at run time, by name: "spring.stiffness", "chassis.mass",
    "pivot.at.x"; default what `model.adjustable(...)` marked. Returns the files.
    """
    from madi.export.c import export_c as write

    refuse("export_c", old, ("step", "method", "duration", "parameters", "start", "frame"))
    if not isinstance(model, Model):
        raise InputError(f"export_c: give a Model, not {type(model).__name__}")
    system = model.build(frame=frame)
    if parameters is None or isinstance(parameters, str):
        parameters = model.adjustables if parameters is None else [parameters]
    length, span = positive(step, "step"), positive(duration, "duration")
    chosen = by_word(method, "method", Method, METHODS)
    if chosen.fixed is None:
        raise InputError(
            f"export_c: method={chosen.name!r} chooses its steps; exported code takes fixed ones: use 'newmark', "
            "'generalized-alpha', 'rk4', 'ab3' or 'newmark-explicit'"
        )
    state = assembled(system, *start_of(start))
    for jump in speed_jumps(system, span)[:1]:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps at t = {jump.time:.6g} s; exported code has no impulse for "
            "that. Round the corner off"
        )
    return write(
        model, out, step=length, method=chosen, duration=span, adjustable=list(parameters), start=state, system=system
    )


def _for_cartesian(model: Model | System, system: System, engine: str, method: Method) -> System:
    """The system whose names and force elements the Cartesian formulation uses: in the ground's frame."""
    if method.implicit:
        raise InputError(f"method={method.name!r} works in joint coordinates; formulation='cartesian' has explicit methods")
    if not isinstance(model, Model):
        raise InputError("formulation='cartesian': pass the Model, not the System; the tree has no part in it")
    if is_made_for_model(engine):
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
    if method.adaptive is None:
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


def _refuse_jumps(jump: Jump, method: Method, loops: LoopMethod | None) -> None:
    """Where the speed of a drive jumps, an impulse acts; not everything has one."""
    who = (
        f"method={method.name!r}"
        if method.outside is not None
        else f"loops={loops.name!r}"
        if loops and loops.close is None
        else ""
    )
    if who:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps by {jump.change:.3g} at t = {jump.time:.6g} s; {who} has no "
            "impulse for that. Round the corner off, or use another"
        )
