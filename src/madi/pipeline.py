"""The whole path on one screen: build, choose, integrate, record, label."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines.entries import ENTRIES
from madi.errors import InputError, RunError
from madi.integrate import METHODS
from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    EVALUATIONS,
    LOOP,
    NEXT,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    STEP,
    STEP_TOO_SMALL,
    TIME,
    Method,
)
from madi.integrate.record import RECORD, RECORD_LOADS, record, record_loads
from madi.model.model import Model
from madi.system import Observation, System

if TYPE_CHECKING:
    from madi.results.run import Run

LOOPS = ("projection", "pseudo-inverse", "svd", "qr", "partition", "augmented", "baumgarte")
MOST_OUTPUTS = 20_001  # of a fixed-step run whose output times are not asked for
PAYS_AFTER = 2_000_000  # evaluations times degrees of freedom after which compiling C for the model is worth the wait


def simulate(
    model: Model | System,
    duration: float,
    *,
    step: float | None = None,
    method: str | None = None,
    loops: str = "projection",
    engine: str = "auto",
    formulation: str | None = None,
    frame: str | None = None,
    times: Any = None,
    rtol: float = 1e-6,
    atol: float | None = None,
    max_step: float | None = None,
    order: int = 4,
    reactions: Sequence[str] = (),
    q0: Any = None,
    v0: Any = None,
    progress: bool | None = None,
) -> Run:
    """Simulate a model for `duration` seconds.

    `method`: "rk4", "ab3" (fixed `step`), "dopri", "abm" (adaptive: rtol, atol, max_step; "abm" with a step is of fixed
    step and order). Default: "rk4" if a step is given, else "dopri". `atol` None: a hundredth of rtol.
    `times`: where output is wanted; default every step (every k-th in very long runs), or 1001 points.
    `reactions`: joints whose loads are recorded. `q0`, `v0`: the start, all numbers or {name: value}; default the joints'.
    `progress`: a bar on the terminal; default on long runs. `engine`: "auto" takes C made for this model where it is there
    or pays, else "jit"; results of the two differ in the last digits.
    A run that fails raises RunError with what was computed in `error.run`; so does Ctrl-C (KeyboardInterrupt).
    """
    if not isinstance(model, Model | System):
        raise InputError(f"simulate: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build(frame=frame or "base")
    if frame is not None and frame != system.frame:
        raise InputError(
            f"frame={frame!r}: this System was built with frame={system.frame!r}; pass the Model, or build anew"
        )
    if loops not in LOOPS:
        raise InputError(f"loops={loops!r}: choose one of {', '.join(LOOPS)}")
    system._refuse_loops("simulation")
    if system.nv == 0:
        raise InputError(
            f"model {system.name!r} cannot move: no joint leaves a freedom. s.reactions(...) gives its static loads"
        )
    chosen = _method(method, step)
    span = _positive(duration, "duration")
    outputs = _times(times, span, step, chosen)
    form = system.formulation(formulation)
    solver = Solver(system, chosen, outputs, _engine(system, engine, form, span, step), form, list(dict.fromkeys(reactions)))
    solver.options(rtol, 0.01 * _number(rtol, "rtol") if atol is None else atol, max_step, step, order, span)
    solver.start(
        system._coordinates(_start(q0, system.coordinates, system.q0, "q0"), "q0"),
        system._vector(_start(v0, system.speeds, system.v0, "v0"), system.nv, "v0"),
    )
    try:
        status = solver.run(progress)
    except KeyboardInterrupt as interrupt:
        interrupt.run = solver.result()  # type: ignore[attr-defined]  # what was computed is not lost
        raise
    run = solver.result()
    if status != DONE:
        raise RunError(solver.explain(status), run)
    if solver.spoiled is not None:
        raise RunError(solver.explain_spoiled(), run)
    return run


def _number(value: Any, what: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{what}={value!r}: give a number") from None


def _positive(value: Any, what: str) -> float:
    number = _number(value, what)
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{what}={value!r}: give a number of seconds > 0")
    return number


def _start(given: Any, names: list[str], default: np.ndarray, what: str) -> Any:
    """A start vector: as given, or the model's own with the entries that a dictionary names put in."""
    if not isinstance(given, dict):
        return default if given is None else given
    for name, value in given.items():
        if name not in names:
            raise InputError(f"{what}: there is no {name!r}; there are: {', '.join(names)}")
        default[names.index(name)] = _number(value, f"{what}[{name!r}]")
    return default


def _method(name: str | None, step: float | None) -> Method:
    name = name or ("dopri" if step is None else "rk4")
    if name not in METHODS:
        raise InputError(f"method={name!r}: choose one of {', '.join(METHODS)}")
    method = METHODS[name]
    if step is None and not method.adaptive:
        raise InputError(f"method={name!r} needs a step, for example step=1e-3")
    if step is not None:
        _positive(step, "step")
        if method.adaptive and not method.fixed_too:
            raise InputError(f"method={name!r} chooses its own steps: give rtol and atol, or max_step, instead of step")
    return method


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


def _engine(system: System, name: str, formulation: str, span: float, step: float | None) -> str:
    """For "auto": C made for the model if it is there already, if it is sooner made than the general kernel on a machine
    that has neither, or if a run as long as this pays for it; else jit."""
    if name != "auto":
        system.engine(name)
        return name
    from madi.engines.compiled import compiler, library_path
    from madi.engines.jit import is_made

    if compiler() is None or system.frozen.signals.callbacks:
        return "jit"
    if library_path(system.layout, formulation).exists():
        return "compiled"
    size = system.nv * 4 * span / step if step else 0.0  # an adaptive run may be short: nobody knows beforehand
    sooner = not (is_made(formulation) and is_made("observe")) and system.nv <= 20
    return "compiled" if sooner or (size > PAYS_AFTER and system.nv <= 60) else "jit"


class Solver:
    """One run: the arrays an integrator works on, and their way back to names."""

    def __init__(
        self, system: System, method: Method, times: np.ndarray, engine: str, formulation: str, reactions: Sequence[str] = ()
    ):
        self.system, self.method, self.times, self.formulation = system, method, times, formulation
        self.engine = system.engine(engine)
        nq, nv = system.nq, system.nv
        self.Q, self.V = np.zeros(len(times) * nq), np.zeros(len(times) * nv)
        self.state = np.zeros(method.state(nq, nv))
        self.count = np.zeros(8, dtype=np.int64)
        self.option = np.zeros(6)
        self.buffer = np.zeros(method.buffer(nq, nv))
        self.wall = 0.0
        self.spoiled: float | None = None  # first output time that is not finite
        self.reactions = list(reactions)
        self.driven = [c for c in range(nv) if system.layout.arrays.drive[c] >= 0]
        # all joints whose loads are needed: those asked for, then those that are driven
        self.joints = list(dict.fromkeys([*reactions, *(system.speeds[c].split(".")[0] for c in self.driven)]))
        self.numbers = [system._joint(name) for name in self.joints]
        self.request = tuple(map(float, [len(self.numbers), *self.numbers]))
        self.loads_width = 6 * len(self.numbers) + len(system._driving_columns(self.numbers))

    def options(self, rtol: float, atol: float, max_step: float | None, step: float | None, order: int, span: float) -> None:
        """Tolerances and steps, checked."""
        rtol, atol = _number(rtol, "rtol"), _number(atol, "atol")
        if not (0 < rtol < 1) or not (0 < atol < np.inf):
            raise InputError(f"rtol={rtol!r}, atol={atol!r}: give small positive numbers, for example 1e-8 and 1e-10")
        if order not in (2, 3, 4, 5):
            raise InputError(f"order={order!r}: give 2 to 5 (the first points are of fourth order)")
        longest = span if max_step is None else _positive(max_step, "max_step")
        self.option[:] = rtol, atol, longest, 0.0, order, step or 0.0
        self.state[:4] = 0.0, 0.0, 0.0, float(self.times[-1]) if self.method.adaptive and not step else span

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The state at time zero."""
        nq, nv = len(q), len(v)
        at = self.method.first
        self.state[at : at + nq] = q
        self.state[at + nq : at + nq + nv] = np.where(self.system.layout.arrays.drive == -2, 0.0, v)
        for callback, _, _ in self.system.frozen.signals.callbacks:
            callback.error = None

    def run(self, progress: bool | None) -> int:
        """Integrate; returns the status. Pauses now and then to show progress and let Ctrl-C through."""
        from madi.results.progress import Progress

        system = self.system
        if self.engine.name != "plain":
            from madi.engines.jit import make_beside

            make_beside(["observe"] if self.engine.name == "jit" else [], [(self.method.loop, LOOP), (record, RECORD)])
        function, context = self.engine.function(self.formulation)
        if self.joints:  # made while the helper is at work
            self.engine.function("loads", self.request, self.loads_width)
        loop = self.engine.loop(self.method.loop, LOOP)
        arguments = (function, context, self.engine.model_argument, self.times, self.Q, self.V, self.state,
                     self.count, self.option, self.buffer, len(self.times))  # fmt: skip
        limit = 1000
        with Progress(system.name, float(self.times[-1]), progress) as bar, np.errstate(all="ignore"):
            while True:
                began = clock.perf_counter()
                status = int(loop(*arguments, limit))
                took = max(clock.perf_counter() - began, 1e-6)
                self.wall += took
                if status != PAUSED:
                    return status
                bar.show(float(self.state[TIME]))
                limit = int(min(max(limit * 0.1 / took, 100), 10_000_000))

    def result(self) -> Run:
        """Labelled results for as many outputs as were reached."""
        from madi.results.label import label

        system, n = self.system, int(self.count[NEXT])
        nq, nv = system.nq, system.nv
        forward, context = self.engine.function(self.formulation)
        observe, observe_context = self.engine.function("observe")
        times = np.ascontiguousarray(self.times[:n])
        A = np.zeros(max(n, 1) * nv)
        width = ENTRIES["observe"].out(nq, nv, len(system.bodies) + 1, len(system.forces))
        rows = np.zeros((n, width))
        self.engine.loop(record, RECORD)(
            forward, context, observe, observe_context, times, self.Q, self.V, A, np.zeros(nv), rows.reshape(-1),
            nq, nv, width, n,
        )  # fmt: skip
        # a drive can be NaN while the integrated state is fine: such outputs are not results
        bad = np.flatnonzero(~np.isfinite(rows[:, : nq + 2 * nv]).all(axis=1))
        if len(bad):
            self.spoiled = float(times[bad[0]])
            n = int(bad[0])
            times, rows = times[:n].copy(), rows[:n]
        loads = self._loads(times, A, n) if self.joints else None
        statistics = {
            "method": self.method.name, "engine": self.engine.name, "formulation": self.formulation,
            "evaluations": int(self.count[EVALUATIONS]), "steps": int(self.count[ACCEPTED]),
            "rejected": int(self.count[REJECTED]), "last_step": float(self.state[STEP]), "wall_time": self.wall,
        }  # fmt: skip
        seen = Observation(system, rows)
        return label(system, times, seen, self.reactions, self.joints, loads, self.driven, statistics)

    def _loads(self, times: np.ndarray, A: np.ndarray, n: int) -> np.ndarray:
        nq, nv = self.system.nq, self.system.nv
        width = self.loads_width
        function, context = self.engine.function("loads", self.request, width)
        x = np.concatenate([np.zeros(nv), self.request])
        rows = np.zeros((n, width))
        self.engine.loop(record_loads, RECORD_LOADS)(
            function, context, times, self.Q, self.V, A, x, rows.reshape(-1), nq, nv, width, n
        )
        return rows

    def explain(self, status: int) -> str:
        """Why the run stopped: time, element, quantity, and what to do."""
        from madi.results.diagnose import diagnose

        at = self.method.first
        nq, nv = self.system.nq, self.system.nv
        q, v = self.state[at : at + nq], self.state[at + nq : at + nq + nv]
        t = float(self.state[TIME])
        where = f"model {self.system.name!r} stopped at t = {t:.6g} s after {int(self.count[ACCEPTED])} steps: "
        kept = f" Outputs before it ({int(self.count[NEXT])}) are in error.run."
        if status == STEP_TOO_SMALL:
            return (
                f"{where}the step fell below what numbers can resolve ({self.state[STEP]:.2g} s). Something is very stiff "
                f"or jumps there: look at forces and springs that act at this time, or loosen rtol and atol.{kept}"
            )
        assert status == NOT_FINITE
        return where + diagnose(self.system, t, float(self.state[STEP]), q.copy(), v.copy(), bool(self.option[5])) + kept

    def explain_spoiled(self) -> str:
        """Which drive is not finite, and from when on."""
        t = self.spoiled or 0.0
        seen = self.system.observe(self.system.q0, self.system.v0, t, engine="plain")
        for c in self.driven:
            place = int(self.system.layout.arrays.column_q[c])
            if not np.isfinite([seen.q[0, place], seen.v[0, c], seen.a[0, c]]).all():
                name = self.system.speeds[c]
                return (
                    f"model {self.system.name!r}: the drive of {name!r} is not finite at t = {t:.6g} s; check its function there. "
                    "Outputs before it are in error.run."
                )
        return f"model {self.system.name!r}: the state is not finite at t = {t:.6g} s. Outputs before it are in error.run."
