"""The whole path on one screen: build, choose, integrate, record, label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

from madi.engines import is_made_for_model
from madi.engines.choice import choose_engine
from madi.equations import FORMULATIONS
from madi.errors import EngineError, InputError, RunError, warn
from madi.given import Both, Vector
from madi.integrate.memory import DONE
from madi.integrate.method import Method, Steps
from madi.loops.methods import LoopMethod
from madi.model.model import Model
from madi.results.flexible import large_deflections
from madi.results.loads import asked, described
from madi.results.store import HEAP, Heap
from madi.run.checkpoint import Checkpoint, Keeper, engine_of
from madi.run.options import (
    checked_span,
    chosen_loops,
    chosen_method,
    output_times,
    positive,
    refuse,
    refuse_unused,
    start_of,
    step_of,
    tolerances,
)
from madi.run.solver import Solver
from madi.run.start import (
    assembled,
    built,
    over_bumps,
    refuse_beside_hard_contact,
    refuse_beyond_stops,
    refuse_jumps,
    refuse_modes,
    refuse_overlaps,
)
from madi.run.stream import Stream, store_of, stream_of
from madi.signals.jumps import speed_jumps
from madi.system import System

if TYPE_CHECKING:
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
    times: Vector | None = None,
    reactions: Sequence[str] | Mapping[str, str] = (),
    start: Both = None,
    progress: bool | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
    out: Stream | str | Path | None = None,
    history: bool = False,
    **old: Never,
) -> Run:
    """Simulate a model for `duration` seconds.

    `method`: a word, or an object with options of its own. Fixed `step`: "rk4" (madi.RK4), "ab3", "newmark-explicit",
    "newmark-explicit-full"; implicit, for stiff models, "newmark" (madi.Newmark(gamma=0.5, beta=0.25, iterations=2)),
    "generalized-alpha" (madi.GeneralizedAlpha). Adaptive (rtol, atol, max_step): "dopri" (madi.DormandPrince), "abm"
    (madi.Adams), for stiff models "radau" (madi.Radau), "ida", "cvode" (SUNDIALS); "abm" and "radau" take a step too.
    Hard contact: madi.TimeStepping(step). Default: "rk4" if a step is given, else "dopri". `rtol` None: 1e-6; `atol` None: a
    hundredth of rtol. `max_step` None: the whole duration; with bumps, what meets them at the speed of the start.
    `loops`: how loops are kept closed: "projection" (madi.Projection, the default; sparse, drift-free); by independent
    directions, drift-free too, "pseudo-inverse", "svd", "qr", "partition" (`madi.compare` tells them apart); "augmented",
    "baumgarte" (madi.Baumgarte(10, 10)).
    `formulation`: "recursive", "articulated" (trees), "velocity-transform", or "cartesian" (absolute coordinates).
    `frame`: "base" or "ground", what a moving base's equations refer to. `engine`: "auto" takes C made for this model where
    the run is long enough to pay for the compiler, else "jit"; results of the two differ in the last digits.
    `times`: where output is wanted; default every step (every k-th in very long runs), or 1001 points.
    `reactions`: joints (and constraints) whose loads are recorded: names, or {name: axes}, run["A.fx"] then in the axes of
    "parent", "child" or "joint", not the ground's (run["A.fx_child"] is always there).
    `start`: (q0, v0), each all numbers, {name: value} or None; or what has a q and a v. Default the joints'.
    `progress`: a bar (in a log, lines); default on long runs. `history`: keep of every step what it did (step_size, ...).
    `checkpoint`: a file in which the run is kept while it goes on, and taken up again (madi.Checkpoint). `out`: a file
    (.nc) the run goes to, so that its memory does not grow with its outputs (madi.Stream).
    A run that fails raises RunError with what was computed in `error.run`; so does Ctrl-C (KeyboardInterrupt).
    """
    refuse("simulate", old, OPTIONS)
    kept = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    if kept is not None and engine == "auto":
        engine = engine_of(kept) or engine
    options = {"step": step, "rtol": rtol, "atol": atol, "max_step": max_step, "method": method, "loops": loops,
               "formulation": formulation, "frame": frame, "times": times, "reactions": reactions, "start": start,
               "history": history}  # fmt: skip
    stream = stream_of(out)
    try:
        return run_solver(
            prepare(model, duration, engine=engine, store=store_of(stream, kept), **options), progress, kept, stream
        )
    except EngineError as error:
        if engine != "auto":
            raise
        warn_of_compiler(error)
        return run_solver(
            prepare(model, duration, engine="jit", store=store_of(stream, kept), **options), progress, kept, stream
        )


OPTIONS = tuple(name for name in signature(simulate).parameters if name not in ("model", "duration", "old"))
PREPARED = tuple(name for name in OPTIONS if name not in ("progress", "checkpoint", "out"))  # those up to the first step


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


def prepare(
    model: Model | System, duration: float, *, engine: str = "auto", store: Heap = HEAP, **options: Any
) -> Solver | CartesianSolver:
    """All of `simulate` up to the first step: what was asked for, checked, and the memory of the run."""
    refuse("simulate", {name: value for name, value in options.items() if name not in (*PREPARED, "engine")}, PREPARED)
    given = options.get
    step, formulation, frame = given("step"), given("formulation"), given("frame")
    system = built(model, frame)
    wanted = asked(given("reactions", ()))
    step = None if step is None else positive(step, "step")
    method = chosen_method(given("method"), step)
    step = step_of(method, step)
    loops = chosen_loops(given("loops"), method, formulation, engine, bool(system.frozen.rows))
    refuse_unused(method, step, **{name: given(name) for name in ("rtol", "atol", "max_step")})
    span = checked_span(duration, step=step, max_step=given("max_step"))
    outputs = output_times(given("times"), span, step)
    rtol, atol = tolerances(given("rtol"), given("atol"))
    if system.n_held:
        refuse_modes(system, method, formulation)
        if method.hard:
            refuse_beside_hard_contact(system)
    if formulation == "cartesian":
        system = _for_cartesian(model, system, engine, method)
    elif formulation not in (None, "auto", *FORMULATIONS):
        raise InputError(f"formulation={formulation!r}: choose one of {', '.join(FORMULATIONS)}, cartesian")
    for name in wanted:
        system.load_of(name)
    described(system, wanted)  # what cannot be described is refused now
    start = assembled(system, *start_of(given("start")))
    if system.n_held:
        refuse_beyond_stops(system, start[0])
        refuse_overlaps(system, start[0])
    longest = over_bumps(system, start, method) if given("max_step") is None else positive(given("max_step"), "max_step")
    steps, jumps = Steps(span, step, rtol, atol, longest), speed_jumps(system, span)
    solver: Solver | CartesianSolver
    if formulation == "cartesian":
        from madi.run.cartesian import CartesianSolver

        assert isinstance(model, Model)
        solver = CartesianSolver(model, system, method, steps, outputs, engine, start, wanted, loops, jumps, store)
    else:
        form = system.formulation(formulation)
        if jumps:
            refuse_jumps(jumps[0], method, loops if system.frozen.rows else None)
        machine = choose_engine(system, engine, form, span, step, loops, method)
        solver = Solver(system, method, steps, outputs, machine, form, wanted, loops, jumps, store)
        solver.start(*start)
    if given("history") and method.outside is not None:
        raise InputError(f"history: method={method.name!r} takes its steps outside madi; use dopri, abm or radau")
    solver.history = [] if given("history") else None
    return solver


def run_solver(
    solver: Solver | CartesianSolver, progress: bool | None = None, checkpoint: Checkpoint | None = None,
    stream: Stream | None = None,
) -> Run:  # fmt: skip
    """Integrate and label; a failure keeps what was computed."""
    if checkpoint is not None:
        keep(solver, checkpoint)
    try:
        status = solver.run(progress)
    except KeyboardInterrupt as interrupt:
        if solver.keeper is not None and solver.engine.machine_code:  # machine code stops between steps
            solver.keeper.write(solver)
        interrupt.run = _kept(solver.result(), stream, "stopped")  # type: ignore[attr-defined]  # what was computed is not lost
        raise
    except RunError as error:  # a user's function, asked by an external solver
        error.run = error.run or _kept(solver.result(), stream, str(error))
        raise
    run = solver.result()
    told = large_deflections(solver.system, run)
    failed = solver.explain(status) if status != DONE else "" if solver.spoiled is None else solver.explain_spoiled()
    run = _kept(run, stream, failed)
    if failed:
        raise RunError(". ".join([failed, *told]), run)
    for text in told:
        warn(text)
    return run


def _kept(run: Run, stream: Stream | None, failed: str = "") -> Run:
    """The run, in a file if there shall be one; of one that did not come to its end, why."""
    if failed:
        run.arrays.attrs["incomplete"] = failed
    return run if stream is None else stream.take(run)


def _for_cartesian(model: Model | System, system: System, engine: str, method: Method) -> System:
    """The system whose names and force elements the Cartesian formulation uses: in the ground's frame."""
    if method.implicit:
        raise InputError(f"method={method.name!r} works in joint coordinates; formulation='cartesian' has explicit methods")
    if not isinstance(model, Model):
        raise InputError("formulation='cartesian': pass the Model, not the System; the tree has no part in it")
    if is_made_for_model(engine):
        raise InputError("formulation='cartesian' has engine='jit' or 'plain': its equations are not traced")
    return model.build(frame="ground") if system.frozen.riding else system
