"""One run: the arrays an integrator works on, and their way back to names."""

from __future__ import annotations

import numbers
import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines.entries import ENTRIES
from madi.errors import InputError
from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    END,
    EVALUATIONS,
    FIXED_STEP,
    IMPLICIT,
    LOOP,
    NEWTON_FAILED,
    NEXT,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    SINGULAR,
    STEP,
    STEP_TOO_SMALL,
    TIME,
    Method,
)
from madi.integrate.newton import make_plan
from madi.integrate.record import HEAD, RECORD, RECORD_LOADS, RECORD_LOOPS, record, record_loads, record_loops
from madi.integrate.structural import HALVINGS, HISTORY, JACOBIANS, NEWTONS, ONCE, POLICY
from madi.loops import kkt
from madi.loops.null_space import WAYS
from madi.loops.options import LoopOptions
from madi.observation import Observation
from madi.system import System

if TYPE_CHECKING:
    from madi.checkpoint import Checkpoint
    from madi.results.run import Run


def number(value: Any, what: str) -> float:
    """A number (no text, no truth value), or an error that names the argument."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InputError(f"{what}={value!r}: give a number")
    return float(value)


def positive(value: Any, what: str) -> float:
    """A time > 0, or an error that names the argument."""
    seconds = number(value, what)
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError(f"{what}={value!r}: give a number of seconds > 0")
    return seconds


class Integration:
    """The arrays an integrator works on, and the loop around it."""

    def __init__(self, system: System, method: Method, times: np.ndarray, nq: int, nv: int, stops: Any = ()):
        """`stops`: times at which a step must end: the speed of a drive jumps. There they are outputs that nobody sees."""
        self.wanted = np.isin(np.union1d(times, stops), times) if len(stops) else np.ones(len(times), dtype=bool)
        self.stops = [float(t) for t in stops]
        times = np.union1d(times, stops) if len(stops) else times
        self.system, self.method, self.times = system, method, times
        self.Q, self.V = np.zeros(len(times) * nq), np.zeros(len(times) * nv)
        sizes: tuple[Any, ...] = (nq, nv)
        if method.implicit:
            self.plan = make_plan(system.residual_blocks[0], system.layout.arrays)
            sizes = (nq, nv, system.n_constraints, self.plan)
        self.state = np.zeros(method.state(*sizes))
        self.count = np.zeros(8, dtype=np.int64)
        self.option = np.zeros(16)
        self.buffer = np.zeros(method.buffer(*sizes))
        self.wall = self.cpu = 0.0  # s: by the clock, and of the processor
        self.spoiled: float | None = None  # first output time that is not finite
        self.history: list[tuple[float, ...]] | None = None  # of every step, where it is asked for
        self.checkpoint: Checkpoint | None = None  # where the run is kept while it goes on
        self.engine_name, self.way, self.taken_up = "", "", False

    def loop_work(self) -> Any:
        """The scratch in which closing the loops leaves its remarks; None: there are no loops."""
        return None

    def scratch(self) -> dict[str, np.ndarray]:
        """Scratch that lives from step to step: what a checkpoint needs beside the integrator's own arrays."""
        work = self.loop_work()
        return {} if work is None else work._asdict()

    def options(
        self,
        rtol: float,
        atol: float,
        max_step: float | None,
        first_step: float | None,
        step: float | None,
        order: int,
        span: float,
    ) -> None:
        """Tolerances and steps, checked."""
        rtol, atol = number(rtol, "rtol"), number(atol, "atol")
        if not (0 < rtol < 1) or not (0 < atol < np.inf):
            raise InputError(f"rtol={rtol!r}, atol={atol!r}: give small positive numbers, for example 1e-8 and 1e-10")
        if order not in (2, 3, 4, 5):
            raise InputError(f"order={order!r}: give 2 to 5 (the first points are of fourth order)")
        longest = span if max_step is None else positive(max_step, "max_step")
        first = 0.0 if first_step is None else positive(first_step, "first_step")
        self.option[:6] = rtol, atol, longest, first, order, step or 0.0
        self.state[:4] = 0.0, 0.0, 0.0, float(self.times[-1]) if self.method.adaptive and not step else span

    def again(self) -> None:
        """Memory as before a run."""
        for array in (self.Q, self.V, self.count, self.buffer):
            array[:] = 0
        span = self.state[3]
        self.state[:] = 0.0
        self.state[3] = span
        self.spoiled = None

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The state at time zero."""
        at = self.method.first
        self.state[at : at + len(q)] = q
        self.state[at + len(q) : at + len(q) + len(v)] = v
        for callback, _, _ in self.system.frozen.signals.callbacks:
            callback.error = None

    def integrate(self, loop: Any, arguments: tuple[Any, ...], progress: bool | None) -> int:
        """Integrate; returns the status. Pauses now and then to show progress and let Ctrl-C through."""
        from madi.results.progress import Progress

        limit, work = 1000 if self.history is None else 1, self.loop_work()
        ends, arguments = self.segments(), arguments[:-1]  # without the number of outputs: each part has its own
        with Progress(self.system.name, float(self.times[-1]), progress) as bar, np.errstate(all="ignore"):
            while True:
                upto, self.state[END] = ends[0]
                began, busy = clock.perf_counter(), clock.thread_time()
                status = int(loop(*arguments, upto, limit))
                took = max(clock.perf_counter() - began, 1e-6)
                self.wall += took
                self.cpu += clock.thread_time() - busy
                if status == DONE and len(ends) > 1:
                    del ends[0]
                    continue
                if status != PAUSED:
                    if self.history is not None:
                        self._note(work)
                    self._let_interrupt_through()
                    return status
                bar.show(float(self.state[TIME]))
                if self.history is not None:
                    self._note(work)
                if self.checkpoint is not None:
                    self.checkpoint.note(self)
                if self.history is not None:
                    continue
                limit = int(min(max(limit * 0.1 / took, 100), 10_000_000))

    def shown(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, coordinates and velocities of the outputs that were reached, without those at stops."""
        n = int(self.count[NEXT])
        wanted = self.wanted[:n]
        widths = [len(part) // len(self.times) for part in (self.Q, self.V)]
        Q, V = (part[: n * w].reshape(n, w)[wanted] for part, w in zip((self.Q, self.V), widths, strict=True))
        return self.times[:n][wanted], np.ascontiguousarray(Q).reshape(-1), np.ascontiguousarray(V).reshape(-1)

    def segments(self) -> list[tuple[int, float]]:
        """(outputs, end) of the parts of the run between stops, as far as they are still to come."""
        whole = float(self.times[-1]) if self.method.adaptive and not self.option[FIXED_STEP] else float(self.state[END])
        stops = [t for t in self.stops if t < whole] if self.method.adaptive and not self.option[FIXED_STEP] else []
        parts = [(int(np.searchsorted(self.times, t)) + 1, t) for t in stops] + [(len(self.times), whole)]
        return [part for part in parts if part[0] > int(self.count[NEXT])] or parts[-1:]

    def _note(self, work: Any) -> None:
        """One step more of the history, unless it was rejected: when, how long, how far it left the constraints, what
        closing them left, condition number."""
        assert self.history is not None
        if int(self.count[ACCEPTED]) > len(self.history):
            loops = (np.nan, np.nan, np.nan)
            if work is not None:
                loops = (work.tally[kkt.OPENED], float(np.max(np.abs(work.phi), initial=0.0)), work.tally[kkt.CONDITION])
            before = self.history[-1][0] if self.history else 0.0
            self.history.append((float(self.state[TIME]), float(self.state[TIME]) - before, *loops))

    def add_history(self, run: Run) -> None:
        """The history of the steps as variables of the run."""
        if self.history is None:
            return
        table = np.array(self.history).reshape(-1, 5)
        run.data.coords["step_time"] = ("step_time", table[:, 0], {"units": "s", "of": "ends of the steps"})
        told = {"step_size": "s", "step_residual": "m or rad", "step_violation": "m or rad", "step_condition": "1"}
        for k, (name, unit) in enumerate(told.items()):
            if k == 0 or np.nanmax(np.abs(table[:, k + 1]), initial=0.0) > 0:  # what a method does not measure stays zero
                run.data[name] = ("step_time", table[:, k + 1], {"units": unit})

    def memory(self) -> tuple[Any, ...]:
        """The arrays of one run in the order of the contract."""
        return self.times, self.Q, self.V, self.state, self.count, self.option, self.buffer, len(self.times)

    def _let_interrupt_through(self) -> None:
        """Ctrl-C that fell into a user's function could not pass through machine code: it goes on from here."""
        for callback, _, _ in self.system.frozen.signals.callbacks:
            if isinstance(callback.error, KeyboardInterrupt):
                error, callback.error = callback.error, None
                raise error

    def statistics(self) -> dict[str, Any]:
        """What the run took."""
        return {
            "method": self.method.name, "evaluations": int(self.count[EVALUATIONS]), "steps": int(self.count[ACCEPTED]),
            "rejected": int(self.count[REJECTED]), "last_step": float(self.state[STEP]), "wall_time": self.wall,
            "cpu_time": self.cpu,
        }  # fmt: skip


def loop_statistics(tally: np.ndarray) -> dict[str, int]:
    """What closing the loops took."""
    places = {
        "factorisations": kkt.FACTORISATIONS, "position_iterations": kkt.POSITION, "velocity_iterations": kkt.VELOCITY,
        "acceleration_iterations": kkt.ACCELERATION, "leaps": kkt.LEAPS,
    }  # fmt: skip
    return {name: int(tally[place]) for name, place in places.items()}


def singular_times(tally: np.ndarray) -> list[float]:
    """When the loops passed singular positions, as the integrator noted them."""
    return [float(t) for t in tally[kkt.NOTED + 5 : kkt.NOTED + 5 + int(tally[kkt.NOTED])]]


class Solver(Integration):
    """One run in joint coordinates: what is asked of the engine, and the way back to names."""

    def __init__(
        self, system: System, method: Method, times: np.ndarray, engine: str, formulation: str,
        reactions: Mapping[str, str] | None = None, loops: LoopOptions = LoopOptions(), jumps: Sequence[Any] = (),  # noqa: B008
    ):  # fmt: skip
        nq, nv = system.nq, system.nv
        self.jumps = list(jumps)
        super().__init__(system, method, times, nq, nv, sorted({jump.time for jump in jumps}))
        self.formulation, self.loop_options = formulation, loops
        self.loops = loops.name if system.frozen.rows else ""
        self.entry = "null-space" if self.loops in WAYS else system.entry(formulation)
        dense = self.loops in WAYS
        self.engine, self.engine_name = system.engine(engine).for_run(dense), engine
        # what judges numbers is not traced: beside generated C the general kernel closes the loops
        apart = engine == "compiled" and (self.loops or self.jumps)
        self.closer = system.engine("jit").for_run(dense) if apart else self.engine
        self.way = f"{formulation} {loops.words if self.loops else ''}"
        if self.loops:
            self.tell_loops()
        self.reactions = dict(reactions or {})
        self.driven = [c for c in range(nv) if system.layout.arrays.drive[c] >= 0]
        # all joints whose loads are needed: those asked for, then those that are driven
        self.joints = list(dict.fromkeys([*self.reactions, *(system.speeds[c].split(".")[0] for c in self.driven)]))
        self.numbers = [system._loaded(name) for name in self.joints]
        self.request = tuple(map(float, [len(self.numbers), *self.numbers]))
        self.loads_width = 6 * len(self.numbers) + len(system._driving_columns(self.numbers))

    @property
    def closing(self) -> str:
        """The entry that closes the loops."""
        if self.loops in WAYS:
            return "close-null-space"
        return {"baumgarte": "loops", "": "meet-drives"}.get(self.loops, "close")

    def loop_work(self) -> Any:
        """See Integration."""
        return self.closer.work if self.loops else None

    def tell_loops(self) -> None:
        """Options of the loop equations, and counters at zero."""
        self.loop_options.tell(self.closer.work.tally)

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The state at time zero; what is locked does not move."""
        v = np.where(self.system.layout.arrays.drive == -2, 0.0, v)
        if self.jumps:  # a drive that moves from the start on does not jump there
            v[self.driven] = self.system.observe(q, v, engine="plain").v[0][self.driven]
        super().start(q, v)

    def run(self, progress: bool | None) -> int:
        """Integrate; returns the status."""
        if self.method.outside is not None:
            return self._run_outside()
        if self.engine.name != "plain":
            from madi.engines.jit import make_beside

            entries = ["observe"] if self.engine.name == "jit" else []
            if self.method.implicit:
                make_beside([*entries, "residual"] if entries else [], [(self.method.loop, IMPLICIT), (record, RECORD)])
            elif self.loops:  # the largest piece of all goes to the second process, first
                make_beside([self.closing, *entries], [])
            else:
                make_beside(entries, [(self.method.loop, LOOP), (record, RECORD)])
        function, context = self.engine.function(self.entry)
        if self.joints:  # made while the helper is at work
            self.closer.function("loads", self.request, self.loads_width)
        loop = self.engine.loop(self.method.loop, IMPLICIT if self.method.implicit else LOOP)
        arguments = self.arguments()
        try:
            return self.integrate(loop, (function, context, *arguments), progress)
        finally:
            if self.loops:  # as the run left them: closing the outputs is not the run's
                work = self.closer.work
                self.tally, self.open = work.tally.copy(), (work.phi.copy(), work.rate.copy())

    def _run_outside(self) -> int:
        """The same by a solver that is not ours."""
        assert self.method.outside is not None
        began, busy = clock.perf_counter(), clock.thread_time()
        if self.loops and self.method.name == "cvode":
            alpha, beta = self.loop_options.feedback
            self.closer.work.tally[[kkt.FEEDBACK_RATE, kkt.FEEDBACK_POSITION]] = 2 * alpha, beta**2
        try:
            return self.method.outside(self)
        finally:
            self.wall, self.cpu = clock.perf_counter() - began, clock.thread_time() - busy
            if self.loops:
                work = self.closer.work
                work.tally[[kkt.FEEDBACK_RATE, kkt.FEEDBACK_POSITION]] = 0.0
                self.tally, self.open = work.tally.copy(), (work.phi.copy(), work.rate.copy())

    def arguments(self) -> tuple[Any, ...]:
        """What an integrator's loop gets between the system function and `limit`."""
        within = self.method.implicit and not self.method.adaptive  # closes the loops itself
        ends = bool(self.jumps) if within or not self.loops else self.loops != "baumgarte"
        close, close_context = self._close() if ends else (0, np.zeros(2, dtype=np.int64))
        remarks = self.closer.work.tally if self.loops else np.zeros(kkt.TALLY)
        if not self.loops:  # nothing is ever near a singular position
            remarks[[kkt.CLOSENESS, kkt.LOWEST]] = 1.0
        more = self._implicit_arguments() if self.method.implicit else ()
        return (close, close_context, remarks, *more, self.engine.model_argument, *self.memory())

    def _implicit_arguments(self) -> tuple[Any, ...]:
        """What an implicit method gets beside: residual, Jacobian, a whole step in C, the plan."""
        nothing = (0, np.zeros(2, dtype=np.int64))
        trace = self.system.residual_blocks[1]
        if trace is not None and self.engine.name == "compiled" and not self.method.adaptive:
            from madi.export.stepper import structural_source

            system = self.system
            step = self.engine.source("step", lambda: structural_source(system.drawn, system.parameters, system.outside))
            calls = (*nothing, *nothing, *step)
        else:
            parts = nothing if trace is None else self.engine.program("jacobian", trace)
            calls = (*self.engine.function("residual"), *parts, *nothing)
        return (*calls, self.plan)

    def _close(self) -> tuple[Any, np.ndarray]:
        """What leaves residuals and multipliers in the closer's scratch: the projection, or where the method has none, the
        loop equations themselves."""
        return self.closer.function(self.closing)

    def result(self) -> Run:
        """Labelled results for as many outputs as were reached."""
        from madi.results.label import label

        system = self.system
        nq, nv = system.nq, system.nv
        observe, observe_context = self.engine.function("observe")
        times, Q, V = self.shown()
        n = len(times)
        A = np.zeros(max(n, 1) * nv)
        width = ENTRIES["observe"].out(system.layout.sizes)
        rows = np.zeros((n, width))
        nr = len(system.frozen.rows)
        found = np.zeros((n, HEAD + 2 * nr))
        if self.loops:
            close, close_context = self._close()
            work = self.closer.work
            work.tally[[kkt.BASIS, kkt.VALID, kkt.WATCH]] = 0.0, 0.0, 1.0  # directions begin anew with the first output
            self.engine.loop(record_loops, RECORD_LOOPS)(
                close, close_context, observe, observe_context, times, Q, V, A, np.zeros(nv), rows.reshape(-1),
                work.phi, work.rate, work.lam, work.pace, work.tally, found.reshape(-1), nq, nv, nr, width, n,
            )  # fmt: skip
        else:
            forward, context = self.engine.function(self.entry)
            self.engine.loop(record, RECORD)(
                forward, context, observe, observe_context, times, Q, V, A, np.zeros(nv), rows.reshape(-1),
                nq, nv, width, n,
            )  # fmt: skip
        # a drive can be NaN while the integrated state is fine: such outputs are not results
        bad = np.flatnonzero(~np.isfinite(rows[:, : nq + 2 * nv]).all(axis=1))
        if len(bad):
            self.spoiled = float(times[bad[0]])
            n = int(bad[0])
            times, rows, found = times[:n].copy(), rows[:n], found[:n]
        loads = self._loads(times, Q, V, A, n, found) if self.joints else None
        statistics = self.statistics() | {"engine": self.engine.name, "formulation": self.formulation}
        if self.method.implicit:
            statistics |= self._newton_statistics()
        if self.loops:
            statistics |= {"loops": self.loops, **loop_statistics(self.tally)}
            if self.engine.name == "compiled":  # generated C factors whenever it is asked, and the closer counts its own
                statistics["factorisations"] += int(self.tally[kkt.ASKED])
            statistics["singular_times"] = singular_times(self.tally)
        if self.jumps:
            statistics["jumps"] = [jump.time for jump in self.jumps]
        if self.loops in WAYS:
            statistics["decompositions"] = int(self.tally[kkt.DECOMPOSITIONS])
            statistics["condition"] = float(self.tally[kkt.WORST])
            statistics["basis_jump"] = float(self.tally[kkt.TURN])
        seen = Observation(system, rows)
        run = label(system, times, seen, self.reactions, self.joints, loads, self.driven, statistics, found)
        self.add_history(run)
        return run

    def _newton_statistics(self) -> dict[str, Any]:
        trace = self.system.residual_blocks[1]
        word = "differences" if trace is None else "exact" if trace.outside is None else "split"
        return {
            "newton_iterations": int(self.count[NEWTONS]), "jacobians": int(self.count[JACOBIANS]),
            "jacobian": word,  # split: exact but for the slopes of functions in Python
        }  # fmt: skip

    def _loads(
        self, times: np.ndarray, Q: np.ndarray, V: np.ndarray, A: np.ndarray, n: int, found: np.ndarray
    ) -> np.ndarray:
        nq, nv, nr = self.system.nq, self.system.nv, len(self.system.frozen.rows)
        width = self.loads_width
        function, context = self.closer.function("loads", self.request, width)
        x = np.concatenate([np.zeros(nv), self.request, np.zeros(nr)])
        rows = np.zeros((n, width))
        self.closer.loop(record_loads, RECORD_LOADS)(
            function, context, times, Q, V, A, x, rows.reshape(-1), found.reshape(-1), nq, nv, nr, width, n
        )
        return rows

    def explain(self, status: int) -> str:
        """Why the run stopped: time, element, quantity, and what to do."""
        from madi.results.diagnose import cause, runaway

        at = self.method.first
        nq, nv = self.system.nq, self.system.nv
        q, v = self.state[at : at + nq].copy(), self.state[at + nq : at + nq + nv].copy()
        t = float(self.state[TIME])
        where = f"model {self.system.name!r} stopped at t = {t:.6g} s after {int(self.count[ACCEPTED])} steps: "
        kept = f" Outputs before it ({int(self.count[NEXT])}) are in error.run."
        found = cause(self.system, t, float(self.state[STEP]), q, v)
        if found is not None:
            return where + found + kept
        if self.loops and self.tally[kkt.FAILED] != 0:
            return where + self._open_loops() + kept
        if self.loops and self.loops != "baumgarte" and self.tally[kkt.LOWEST] < SINGULAR:
            return (
                f"{where}the loops are in a singular position there, where rounding outgrows the tolerance. Loosen rtol "
                f"(1e-9 passes what can be passed), or use a fixed step.{kept}"
            )
        if status == STEP_TOO_SMALL:
            return (
                f"{where}the step fell below what numbers can resolve ({self.state[STEP]:.2g} s). Something is very stiff "
                f"or jumps there: look at forces and springs that act at this time, or loosen rtol and atol.{kept}"
            )
        if status == NEWTON_FAILED:
            return where + self._not_converged() + kept
        assert status == NOT_FINITE
        if self.method.implicit and self.option[POLICY] == ONCE:
            return f"{where}the state grew beyond all bounds. The matrix is that of the start: use jacobian='step'.{kept}"
        return where + runaway(self.system, q, v, bool(self.option[5])) + kept

    def _not_converged(self) -> str:
        """The last steps, and which equation is farthest from zero."""
        if self.method.adaptive and self.option[FIXED_STEP]:
            return "Newton's iterations do not converge at this step. Use a smaller one, or none: rtol and atol choose then."
        if self.method.adaptive:
            return "Newton's iterations do not converge, however short the step: look at what jumps there."
        rows = self.state[4 : 4 + 4 * HISTORY].reshape(HISTORY, 4)
        place, size = self.state[4 + 4 * HISTORY : 6 + 4 * HISTORY]
        worst = int(np.clip(place, 0, self.system.nv + self.system.n_constraints - 1))
        names = [*(f"joint coordinate {name!r}" for name in self.system.speeds), *self.system.constraint_names]
        told = "; ".join(f"t = {t:.6g}, step {h:.3g}: {int(k)} iterations, correction {c:.1e}" for t, h, k, c in rows if k)
        return (
            f"Newton's iterations do not converge, the step halved {int(self.option[HALVINGS])} times. Farthest from zero: "
            f"{names[worst]} ({size:.3g} N, N m or m). Last steps: {told}. Use a smaller step, or look at what jumps "
            "there: stops, contacts, friction."
        )

    def _open_loops(self) -> str:
        """Which loops could not be closed, by name."""
        from madi.loops.assemble import by_element

        positions = self.tally[kkt.FAILED] == 1
        what, values, unit = ("position", self.open[0], "m or rad") if positions else ("velocity", self.open[1], "per s")
        parts = sorted(by_element(self.system, values).items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {size:.3g}" for name, size in parts[:6])
        rows = [row.driven for row in self.system.frozen.rows if row.driven]
        drives = ", ".join(map(repr, [*(self.system.speeds[c] for c in self.driven), *rows]))
        cure = (
            f"The drives ({drives}) ask for a position the loops do not allow: change them, or the lengths."
            if drives
            else "The mechanism is at the end of its reach or in a singular position: use smaller steps, or rtol."
        )
        return f"the loops cannot be closed ({what}, {unit}, by joint or constraint: {listed}). {cure}"

    def explain_spoiled(self) -> str:
        """Which drive is not finite, and from when on."""
        t = self.spoiled or 0.0
        seen = self.system.observe(self.system.q0, self.system.v0, t, engine="plain")
        for c in self.driven:
            place = int(self.system.layout.arrays.column_q[c])
            if not np.isfinite([seen.q[0, place], seen.v[0, c], seen.a[0, c]]).all():
                name = self.system.speeds[c]
                return (
                    f"model {self.system.name!r}: the drive of {name!r} is not finite at t = {t:.6g} s; check its function "
                    "there. Outputs before it are in error.run."
                )
        return f"model {self.system.name!r}: the state is not finite at t = {t:.6g} s. Outputs before it are in error.run."
