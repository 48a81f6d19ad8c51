"""One run: the memory an integrator works on, what it calls, and the way back to names."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines import ENGINES
from madi.equations import ENTRIES
from madi.equations.loads import Load
from madi.forces.modes import MEMORY
from madi.integrate.memory import DONE, EVENT, PAUSED, make_memory
from madi.integrate.method import Method, Steps
from madi.integrate.newton_matrix import make_plan
from madi.integrate.record import RECORD, Recording
from madi.joints.columns import FREE_COLUMN, LOCKED
from madi.kernel.cores import one_core
from madi.kernel.fields import ABSENT
from madi.loops.memory import LoopOptions, LoopTally, fresh_tally
from madi.loops.methods import LoopMethod, Projection
from madi.results.recorded import loop_record, of_loops
from madi.results.store import HEAP, Heap
from madi.system import System
from madi.topology.slopes import Slopes

if TYPE_CHECKING:
    from madi.results.run import Run
    from madi.run.checkpoint import Keeper

PAUSE = 0.1  # s of computing between two looks at progress and Ctrl-C
SHORTEST = 1e-6  # s: what any computing takes, at least; it is divided by
FIRST_STEPS, FEWEST_STEPS, MOST_STEPS = 1000, 100, 10_000_000  # between two such looks


class Integration:
    """The memory an integrator works on, and the loop around it."""

    def __init__(self, system: System, method: Method, steps: Steps, times: np.ndarray, sizes: dict[str, int], model: Any,
                 stops: Any = (), blocks: Any = None, store: Heap = HEAP):  # fmt: skip
        """`sizes`: nq, nv, nr of the coordinates that are integrated, `model` their chart. `stops`: times at which a step
        must end: the speed of a drive jumps. There they are outputs that nobody sees. `blocks`: of an implicit method's
        Jacobian, where their entries are. `store`: where the outputs lie."""
        self.wanted = np.isin(np.union1d(times, stops), times) if len(stops) else np.ones(len(times), dtype=bool)
        self.stops = [float(t) for t in stops]
        self.times = np.union1d(times, stops) if len(stops) else times
        self.system, self.method, self.steps, self.sizes = system, method, steps, sizes
        self.loop = method.loop(steps.step)
        plan = None if blocks is None else make_plan(blocks, system.layout.arrays)
        self.store = store
        self.memory = make_memory(self.loop.memory, sizes, self.times, model, plan, store.outputs)
        self.wall = self.cpu = 0.0  # s: by the clock, and of the processor
        self.spoiled: float | None = None  # first output time that is not finite
        self.history: list[tuple[float, ...]] | None = None  # of every step, where it is asked for
        self.keeper: Keeper | None = None  # where the run is kept while it goes on
        self.engine_name, self.way, self.taken_up = "", "", False
        self.events: list[tuple[float, int, float, float]] = []  # when, which held value ended, its next, energy lost
        self.stopped: int | None = None  # the event that ended the run
        self.put_options()

    def take_events(self) -> None:
        """Those that have happened since."""
        m, ends = self.memory, self.system.ending_events
        for k in range(min(int(m.events), len(m.event_of))):
            of = int(m.event_of[k])
            self.events.append((float(m.event_time[k]), of, float(m.event_mode[k]), float(m.event_loss[k])))
            if of in ends and self.stopped is None:
                self.stopped = of
        m.events = 0

    def put_options(self) -> None:
        """What was asked for, into the memory."""
        self.steps.put(self.memory, float(self.times[-1]))
        self.method.put(self.memory)

    @property
    def adaptive(self) -> bool:
        """Whether steps are chosen."""
        return self.steps.step is None

    def loop_work(self) -> Any:
        """The scratch in which the loops are closed; None: there are none."""
        return None

    def scratch(self) -> dict[str, Any]:
        """Named memory that lives from step to step beside the integrator's own: a checkpoint keeps it."""
        work = self.loop_work()
        return {} if work is None else {"work": work, "tally": work.tally}

    def reset(self) -> None:
        """Memory as before a run."""
        m = self.memory
        for array in (m.real_memory, m.int_memory, m.outputs.q_out, m.outputs.v_out):
            array[:] = 0
        self.put_options()
        self.spoiled, self.stopped, self.events = None, None, []

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The state at time zero."""
        self.memory.q[:], self.memory.v[:] = q, v
        for callback, _, _ in self.system.frozen.signals.callbacks:
            callback.error = None

    def integrate(self, loop: Any, progress: bool | None) -> int:
        """Integrate; returns the status. Pauses now and then to show progress and let Ctrl-C through."""
        from madi.results.progress import Progress

        m, limit, ends = self.memory, FIRST_STEPS if self.history is None else 1, self.segments()
        _ = m.table  # made now, not within the first step
        with Progress(self.system.name, float(self.times[-1]), progress) as bar, np.errstate(all="ignore"):
            while True:
                m.upto, m.end = ends[0]
                m.limit = limit
                began, busy = clock.perf_counter(), clock.thread_time()
                status = int(loop(m))
                took = max(clock.perf_counter() - began, SHORTEST)
                self.wall += took
                self.cpu += clock.thread_time() - busy
                if self.n_held:
                    self.take_events()
                if status == EVENT:
                    if self.stopped is None:
                        continue
                    status = DONE
                elif status == DONE and len(ends) > 1:
                    del ends[0]
                    continue
                if self.history is not None:
                    self._note()
                if status != PAUSED:
                    self._let_interrupt_through()
                    return status
                bar.show(float(m.t))
                if self.keeper is not None:
                    self.keeper.note(self)
                self.store.release()
                if self.history is None:
                    limit = int(min(max(limit * PAUSE / took, FEWEST_STEPS), MOST_STEPS))

    def shown(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times, coordinates, velocities and held values of the outputs that were reached, without those at stops."""
        n, outputs = int(self.memory.next), self.memory.outputs
        wanted = self.wanted[:n]
        parts = ((outputs.q_out, self.sizes["nq"]), (outputs.v_out, self.sizes["nv"]), (outputs.held_out, self.n_held))
        q, v, held = (self.store.chosen(part[: n * w].reshape(n, w), wanted).reshape(-1) for part, w in parts)
        return self.times[:n][wanted], q, v, held

    @property
    def n_held(self) -> int:
        """Held values of the coordinates that are integrated."""
        return self.sizes.get("n_held", 0)

    def segments(self) -> list[tuple[int, float]]:
        """(outputs, end) of the parts of the run between stops, as far as they are still to come."""
        whole = float(self.times[-1]) if self.adaptive else self.steps.span
        stops = [t for t in self.stops if t < whole] if self.adaptive else []
        parts = [(int(np.searchsorted(self.times, t)) + 1, t) for t in stops] + [(len(self.times), whole)]
        return [part for part in parts if part[0] > int(self.memory.next)] or parts[-1:]

    def _note(self) -> None:
        """One step more of the history, unless it was rejected: when, how long, how far it left the constraints, what
        closing them left, condition number."""
        assert self.history is not None
        if int(self.memory.accepted) > len(self.history):
            work, loops = self.loop_work(), (np.nan, np.nan, np.nan)
            if work is not None:
                loops = (work.tally.violation_before, float(np.max(np.abs(work.phi), initial=0.0)), work.tally.condition)
            before, t = self.history[-1][0] if self.history else 0.0, float(self.memory.t)
            self.history.append((t, t - before, *loops))

    def add_history(self, run: Run) -> None:
        """The history of the steps as variables of the run."""
        if self.history is None:
            return
        table = np.array(self.history).reshape(-1, 5)
        run.arrays.add_coordinate("step_time", ("step_time", table[:, 0], {"units": "s", "of": "ends of the steps"}))
        told = {"step_size": "s", "step_residual": "m or rad", "step_violation": "m or rad", "step_condition": "1"}
        for k, (name, unit) in enumerate(told.items()):
            if k == 0 or np.nanmax(np.abs(table[:, k + 1]), initial=0.0) > 0:  # what a method does not measure stays zero
                run.arrays[name] = ("step_time", table[:, k + 1], {"units": unit})

    def _let_interrupt_through(self) -> None:
        """Ctrl-C that fell into a user's function could not pass through machine code: it goes on from here."""
        for callback, _, _ in self.system.frozen.signals.callbacks:
            if isinstance(callback.error, KeyboardInterrupt):
                error, callback.error = callback.error, None
                raise error

    def statistics(self) -> dict[str, Any]:
        """What the run took."""
        m = self.memory
        return {
            "method": self.method.name, "evaluations": int(m.evaluations), "steps": int(m.accepted),
            "rejected": int(m.rejected), "last_step": float(m.h), "wall_time": self.wall, "cpu_time": self.cpu,
        }  # fmt: skip


def loop_statistics(tally: LoopTally) -> dict[str, Any]:
    """What closing the loops took, and when it passed singular positions."""
    return {
        "factorisations": int(tally.factorisations), "position_iterations": int(tally.position_steps),
        "velocity_iterations": int(tally.velocity_steps), "acceleration_iterations": int(tally.acceleration_steps),
        "leaps": int(tally.leaps), "singular_times": tally.singular_times[: int(tally.singular_count)].tolist(),
    }  # fmt: skip


class Solver(Integration):
    """One run in joint coordinates: what is asked of the engine, and the way back to names."""

    def __init__(
        self, system: System, method: Method, steps: Steps, times: np.ndarray, engine: str, formulation: str,
        reactions: Mapping[str, str] | None = None, loops: LoopMethod | None = None, jumps: Sequence[Any] = (),
        store: Heap = HEAP,
    ):  # fmt: skip
        self.jumps = list(jumps)
        self.jacobian: Any = None  # of an implicit method: Slopes, a trace, or None: by differences
        self.substep_in_c = False
        sizes = {"nq": system.nq, "nv": system.nv, "nr": system.n_constraints, "n_held": system.n_held}
        stops = sorted({jump.time for jump in jumps})
        blocks = self._find_blocks(system, method, steps, engine) if method.implicit else None
        super().__init__(system, method, steps, times, sizes, system.layout.arrays, stops, blocks, store)
        self.formulation, self.loops = formulation, (loops or Projection()) if system.frozen.rows else None
        self.options = LoopOptions({})
        if self.loops is not None:
            self.loops.put(self.options)
        forward = self.loops.forward if self.loops is not None else None
        self.entry = forward or system.entry(formulation)
        directions = self.loops is not None and self.loops.directions
        self.engine, self.engine_name = system.engine(engine).for_run(directions, self.options), engine
        if isinstance(self.jacobian, Slopes) and not self.engine.made_for_model:
            self.engine = self.engine.with_slopes(self.jacobian)
        # what judges numbers is not traced: beside generated C the general kernel closes the loops
        apart = self.engine.made_for_model and (self.loops or self.jumps)
        self.closing_engine = system.engine("jit").for_run(directions, self.options) if apart else self.engine
        # what judges modes, likewise
        self.judge = system.engine("jit").for_run() if self.closing_engine.made_for_model else self.closing_engine
        self.way = f"{formulation} {self.loops.words() if self.loops else ''}"
        self.reactions = dict(reactions or {})
        self.driven = [c for c in range(system.nv) if system.layout.arrays.drive[c] >= 0]
        # all joints whose loads are needed: those asked for, then those that are driven
        self.joints = list(dict.fromkeys([*self.reactions, *(system.speeds[c].split(".")[0] for c in self.driven)]))
        loads = [system.load_of(name) for name in self.joints]
        self.request = Load.request(loads)
        self.loads_width = 6 * len(loads) + len(system.driving_columns(loads))
        if self.loops is not None:
            self.memory.tally = self.closing_engine.work.tally

    @property
    def closing(self) -> str:
        """The entry that closes the loops (or leaves residuals and multipliers, where the method closes nothing); of a tree,
        the one that takes over where drives jump."""
        if self.loops is None:
            return "meet-drives"
        return self.loops.close or "loops"

    def loop_work(self) -> Any:
        """See Integration."""
        return self.closing_engine.work if self.loops is not None else None

    def reset(self) -> None:
        """See Integration."""
        super().reset()
        if self.loops is not None:
            work, fresh = self.closing_engine.work, fresh_tally()
            work.tally.int_memory[:], work.tally.real_memory[:] = fresh.int_memory, fresh.real_memory
            work.factor_valid = work.basis_chosen = 0

    def start(self, q: np.ndarray, v: np.ndarray) -> None:
        """The state at time zero; what is locked does not move."""
        v = np.where(self.system.layout.arrays.drive == LOCKED, 0.0, v)
        if self.jumps:  # a drive that moves from the start on does not jump there
            v[self.driven] = self.system.observe(q, v).v[0][self.driven]
        super().start(q, v)

    def connect(self) -> Any:
        """The loop, and in its memory the functions it calls."""
        if self.engine.machine_code:
            self._make_beside()
        m = self.memory
        m.forward = self.engine.function(self.entry)
        if self.joints:  # made while the helper is at work
            self.closing_engine.function("loads", self.request, self.loads_width)
        loop = self.engine.loop(self.loop)
        closes = bool(self.jumps) if self.method.closes or self.loops is None else self.loops.close is not None
        if closes:
            m.close = self.closing_engine.function(self.closing)
        if self.method.hard:
            if self.system.layout.header("n_hard"):
                m.impulses = self.judge.function("impulses")
        elif np.any(self.system.layout.arrays.held_kind == MEMORY):
            m.keep = self.judge.function("keep")
        if self.system.switching and not self.method.hard:
            m.watch, m.switch = self.judge.function("watch"), self.judge.function("switch")
        if self.method.implicit:
            self._connect_implicit(m)
        return loop

    def _find_blocks(self, system: System, method: Method, steps: Steps, engine: str) -> Any:
        """Where the entries of the Jacobian are; what gives them is kept. Generated C is made of traces, and takes whole
        substeps of some methods: where the model can be traced."""
        made = ENGINES[engine].made_for_model and method.outside is None
        traced = system.traced_blocks if made else None
        if traced is None and method.outside is None:
            blocks, self.jacobian = system.newton_blocks(method.keeps_matrix)
        else:
            blocks, self.jacobian = traced or system.residual_blocks
        self.substep_in_c = traced is not None and "compiled_substep" in method.loop(steps.step).memory.fields
        return blocks

    def _connect_implicit(self, m: Any) -> None:
        """Residual, Jacobian; or a whole substep in C."""
        if self.substep_in_c:
            from madi.export.stepper import generated_substep

            m.compiled_substep = generated_substep(self.engine, m, self.system)
            return
        m.residual = self.engine.function("residual")
        if isinstance(self.jacobian, Slopes):
            machine = self.engine
            if machine.made_for_model:
                machine = self.system.engine("jit").with_slopes(self.jacobian).for_run()
            m.blocks = machine.function(self.jacobian.entry)
        elif self.jacobian is not None:
            m.blocks = self.engine.program("jacobian", self.jacobian)

    def _make_beside(self) -> None:
        """Let a second process compile part of what is missing, the largest pieces first."""
        from madi.engines.pieces import make_beside

        entries = [] if self.engine.made_for_model else ["observe"]
        if self.method.implicit:
            slopes = [self.jacobian.entry] if isinstance(self.jacobian, Slopes) else []
            make_beside([*entries, "residual", *slopes] if entries else [], [self.loop, RECORD])
        elif self.loops is not None:
            make_beside([self.closing, *entries], [])
        else:
            make_beside(entries, [self.loop, RECORD])

    def run(self, progress: bool | None) -> int:
        """Integrate; returns the status."""
        if self.method.outside is not None:
            return self._run_outside()
        loop = self.connect()
        try:
            return self.integrate(loop, progress)
        finally:
            self.keep_verdict()

    def keep_verdict(self) -> None:
        """What closing the loops had to say, as the run left it: closing the outputs is not the run's."""
        if self.loops is not None:
            work = self.closing_engine.work
            self.tally = LoopTally({}, work.tally.int_memory.copy(), work.tally.real_memory.copy())
            self.open = (work.phi.copy(), work.rate.copy())

    def _run_outside(self) -> int:
        """The same by an external solver (SUNDIALS)."""
        began, busy = clock.perf_counter(), clock.thread_time()
        self.method.feed_back(self.options)
        try:
            with one_core(self.system.nv):  # its Newton matrices are full
                return int(self.method.outside(self))
        finally:
            self.wall, self.cpu = clock.perf_counter() - began, clock.thread_time() - busy
            self.options.feedback_rate = self.options.feedback_position = 0.0
            self.keep_verdict()

    def result(self) -> Run:
        """Labelled results for as many outputs as were reached; what nobody has asked for is computed later."""
        from madi.results.events import add_events
        from madi.results.label import label_later
        from madi.results.recorded import Recorded

        times, held, rows, n = self._record()
        if n < len(times):
            self.spoiled = float(times[n])
        statistics = self.statistics() | {"engine": self.engine.name, "formulation": self.formulation}
        if self.method.implicit:
            statistics |= self._newton_statistics()
        if self.method.hard:
            m = self.memory
            statistics |= {"residual": float(m.worst), "sweeps": int(m.swept), "contacts": int(m.met)}
        if self.loops is not None:
            statistics |= self._loop_statistics()
        if self.jumps:
            statistics["jumps"] = [jump.time for jump in self.jumps]
        found = loop_record(rows, n) if self.loops is not None else None
        states = rows["q"][:n], rows["v"][:n], rows["a"][:n]
        engines, held = (self.engine.name, self.closing_engine.name), held[:n]
        loads = self.request, self.loads_width
        source = Recorded(self.system, engines, times[:n].copy(), states, held, found, *loads, self.store)
        if self.stopped is not None:
            statistics["stopped_by"] = self.system.held_names[self.stopped]
        if self.system.switching:
            statistics["events"] = len(self.events)
        run = label_later(source, self.reactions, self.joints, self.driven, statistics)
        if self.system.frozen.signals.callbacks:  # functions in Python may remember what they were asked
            run.arrays.compute()
        self.add_history(run)
        if self.system.switching:
            add_events(run, self.system, self.events, held)
        return run

    def recorder(self, times: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray, observe: str | None) -> Recording:
        """What records states: accelerations, with loops (each is closed first) what closing them leaves, and the rows of an
        entry."""
        work, none = self.loop_work(), np.zeros(1)
        width = 0 if observe is None else ENTRIES[observe].out(self.system.layout.sizes)
        functions = {"forward": ABSENT, "close": ABSENT, "observe": ABSENT}
        if observe is not None:
            functions["observe"] = self.engine.function(observe)
        if work is None:
            functions["forward"] = self.engine.function(self.entry)
        else:
            functions["close"] = self.closing_engine.function(self.closing)
            self.options.watch = 1
        where = {name: none if work is None else getattr(work, name) for name in ("phi", "rate", "lam", "pace")}
        tally = fresh_tally() if work is None else work.tally
        sizes = self.sizes | {"outputs": len(times), "width": width}
        recording = Recording(sizes, times=times, q=q, v=v, held=held, tally=tally, **functions, **where)
        recording.last = len(times)
        return recording

    def _record(self) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray], int]:
        """(times, held values, {name: rows}, how many outputs are finite): states and accelerations at the outputs, what is
        told of the loops."""
        times, q, v, held = self.shown()
        n, nq, nv = len(times), self.system.nq, self.system.nv
        work = self.loop_work()
        if work is not None:
            work.basis_chosen = work.factor_valid = 0  # directions begin anew with the first output
        given = q.reshape(n, nq), v.reshape(n, nv), held.reshape(n, self.n_held)
        at_once, finite = self.store.at_once, n
        step = max(n if at_once is None else at_once // (nq + 2 * nv + self.sizes["nr"]), 1)
        whole: dict[str, np.ndarray] = {}
        for first in range(0, max(n, 1), step):
            last = min(first + step, n)
            rows = self._recorded(times[first:last], *(part[first:last] for part in given))
            good = [np.isfinite(rows[name]).all(axis=1) for name in ("q", "v", "a")]
            bad = np.flatnonzero(~(good[0] & good[1] & good[2]))
            if len(bad):  # a drive can be NaN while the integrated state is fine: such outputs are not results
                finite = min(finite, first + int(bad[0]))
            for name, part in rows.items():
                if name not in whole:
                    alone = last - first == n
                    whole[name] = part if alone else self.store.reals((n, *part.shape[1:]))
                if whole[name] is not part:
                    whole[name][first:last] = part
            self.store.release()
        return times, given[2], whole, finite

    def _recorded(self, times: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> dict[str, np.ndarray]:
        """Of some outputs: accelerations; the states, what drives prescribe put in; of the loops. With loops, each is closed
        first."""
        drives = np.any(self.system.layout.arrays.drive != FREE_COLUMN)
        observe = "state" if drives else None
        recording = self.recorder(times, q.reshape(-1), v.reshape(-1), held.reshape(-1), observe)
        with np.errstate(all="ignore"):
            self.engine.loop(RECORD)(recording)
        n, nq, nv = len(times), self.system.nq, self.system.nv
        found = {"q": q, "v": v, "a": recording.a.reshape(n, nv)}
        if recording.width:
            rows = recording.rows.reshape(n, recording.width)
            found = {"q": rows[:, :nq], "v": rows[:, nq : nq + nv], "a": rows[:, nq + nv :]}
        return found | (of_loops(recording) if self.loops is not None else {})

    def _newton_statistics(self) -> dict[str, Any]:
        split = getattr(self.jacobian, "outside", None) is not None
        word = "differences" if self.jacobian is None else "split" if split else "exact"
        return {
            "newton_iterations": int(self.memory.newtons), "jacobians": int(self.memory.jacobians),
            "jacobian": word,  # split: exact but for the slopes of functions in Python
        }  # fmt: skip

    def _loop_statistics(self) -> dict[str, Any]:
        assert self.loops is not None
        tally = self.tally
        found = {"loops": self.loops.name, **loop_statistics(tally)}
        if self.engine.made_for_model:  # generated C factors whenever it is asked, and the closer counts its own
            found["factorisations"] += int(tally.asked)
        if self.loops.directions:
            found["decompositions"] = int(tally.decompositions)
            found["condition"] = float(tally.worst_condition)
            found["basis_jump"] = float(tally.largest_turn)
        return found

    def explain(self, status: int) -> str:
        """Why the run stopped: time, element, quantity, and what to do."""
        from madi.run.explain import explain

        return explain(self, status)

    def explain_spoiled(self) -> str:
        """Which drive is not finite, and from when on."""
        from madi.run.explain import explain_spoiled

        return explain_spoiled(self)
