"""Slices of a batch: one thread's copy of the model, and the compiled loop that makes its runs one after the other.

All that differs from run to run is in rows of arrays, made for a slice at once; what a run is asked for follows from the
rows it leaves, for the whole slice at once too. Python comes in between runs only where one fails, or where loops that
parameters have torn open must be closed.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from madi.assembly.assemble import CLOSED
from madi.equations import ENTRIES
from madi.errors import AssemblyError, InputError
from madi.integrate import batch as loops
from madi.integrate.batch import BATCH, CLOSURE
from madi.integrate.memory import DONE, NEWTON_FAILED, NOT_FINITE, PAUSED, STEP_TOO_SMALL
from madi.integrate.record import RECORD, RECORD_LOADS, LoadRecording
from madi.kernel.fields import ABSENT, Function
from madi.results.recorded import ALONE, Known, LoopRecord
from madi.results.store import HEAP, Heap
from madi.run.kept import Kept
from madi.run.on_foot import OnFoot, on_foot
from madi.run.simulate import prepare
from madi.run.solver import FEWEST_STEPS, MOST_STEPS, PAUSE, SHORTEST, Solver
from madi.run.start import longest_steps, over_bumps, refuse_standstill
from madi.run.starts import Starts
from madi.system import System
from madi.system.observation import Observation
from madi.topology.parameters import Parameters

ROOM = 4_000_000  # numbers the rows of a slice may have (32 MB)
BEGUN = ("basis_chosen", "factor_valid")  # of the loops' scratch: zero where a run begins
CAUSES = {NOT_FINITE: "not finite", STEP_TOO_SMALL: "step too small", NEWTON_FAILED: "no convergence"}
OPEN, SPOILED = "loops cannot be closed", "results not finite"


@dataclass(frozen=True)
class Sweep:
    """What a call asked for, checked."""

    system: System
    wanted: Parameters
    values: np.ndarray  # of the parameters, a row for each run
    starts: Starts
    duration: float
    keep: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def count(self) -> int:
        """Of runs."""
        return len(self.values)


@dataclass
class Rows:
    """What a slice left, runs one after the other."""

    system: System
    times: np.ndarray
    runs: int
    rows: np.ndarray  # (outputs of all runs, numbers)
    all_loads: np.ndarray
    found: LoopRecord | None
    body_r: np.ndarray | None  # of every run, where parameters move them
    store: Heap = HEAP

    @property
    def at_once(self) -> int:
        """See Source (results/later.py)."""
        return max(len(self.times), 1)

    @property
    def q(self) -> np.ndarray:
        """Coordinates."""
        return self.rows[:, : self.system.nq]

    @property
    def v(self) -> np.ndarray:
        """Speeds."""
        return self.rows[:, self.system.nq : self.system.nq + self.system.nv]

    @property
    def a(self) -> np.ndarray:
        """Accelerations."""
        return self.rows[:, self.system.nq + self.system.nv : self.system.nq + 2 * self.system.nv]

    def seen(self, first: int, last: int) -> Observation:
        """See Source: all."""
        body_r = None if self.body_r is None else np.repeat(self.body_r, len(self.rows) // self.runs, axis=0)
        return Observation(self.system, self.rows, body_r)

    def loads(self, first: int, last: int) -> np.ndarray:
        """See Source: all."""
        return self.all_loads

    def one(self, k: int) -> Known:
        """Run k alone."""
        n = len(self.rows) // self.runs
        part = slice(k * n, (k + 1) * n)
        body_r = None if self.body_r is None else self.body_r[k]
        found = self.found and LoopRecord(**{name: values[part] for name, values in vars(self.found).items()})
        seen = Observation(self.system, self.rows[part], body_r)
        return Known(self.system, self.times[part], seen, self.all_loads[part], found)


class Slices:
    """Makes slices of the runs of a sweep, in one thread."""

    def __init__(self, sweep: Sweep, like: Slices | None = None):
        """`like`: another thread's, whose traces are shared."""
        self.sweep = sweep
        self.system = sweep.system.adjustable(sweep.wanted)
        if like is not None:
            for name in ("slopes", "articulated_slopes", "traced_blocks"):
                if name in like.system.__dict__:
                    self.system.__dict__[name] = like.system.__dict__[name]
        if self.system.frozen.rows and sweep.starts.drawn:  # the same numbers, the same start
            self.system.__dict__["start"] = sweep.system.start
        solver = prepare(self.system, sweep.duration, **sweep.options)
        if not isinstance(solver, Solver) or solver.method.outside is not None:
            raise InputError("simulate_many: the methods of SUNDIALS run one at a time; choose another")
        self.solver = solver
        self.times = solver.times[solver.wanted]
        self.told: dict[int, tuple[str, str]] = {}  # of runs that failed: cause, and all that is told of it
        self.stopped = self.moves = False
        self.kept = Kept(solver, sweep.keep)
        options, frozen = sweep.options, self.system.frozen
        # what is prescribed, and loops between steps, are put right when outputs are recorded
        between = bool(frozen.rows) and (options.get("step") is None or options.get("times") is not None)
        prescribed = bool(np.any(self.system.layout.arrays.drive >= 0))
        self.recorded = between or prescribed or not self.kept.states_alone
        chosen = options.get("max_step") is None and solver.method.adaptive is not None
        self.bumps = chosen and any(road.shortest() is not None for _, road in self.system.roads)

    # ---- the memory of the loop -------------------------------------------------------------------------------------

    @cached_property
    def memory(self) -> Any:
        """The loop's memory; slices put their rows in."""
        solver, system, none = self.solver, self.system, np.zeros(0)
        solver.connect()
        solver.reset()
        m, work, out = solver.memory, solver.loop_work(), solver.memory.outputs
        _ = m.table
        shown = solver.sizes | {"outputs": len(self.times)}
        outputs = (out.q_out, out.v_out, out.held_out)
        recording = solver.recorder(self.times, *outputs, self._entry if self.recorded else None)
        loaded = self.recorded and self.kept.loads and bool(solver.joints)
        loading = LoadRecording(
            shown | {"width": solver.loads_width if loaded else 0, "asked": len(solver.request) if loaded else 0},
            times=self.times, **{name: getattr(recording, name) for name in ("q", "v", "held", "a", "multipliers")},
            loads=solver.closing_engine.function("loads", solver.request, solver.loads_width) if loaded else ABSENT,
        )  # fmt: skip
        if loaded:
            loading.x[system.nv + system.n_held :][: len(solver.request)] = solver.request
        places, _moved = self.sweep.wanted.moving(system.drawn.reals, self.sweep.values[:1])
        begun = [] if work is None else [type(work).places[name] for name in BEGUN]
        tally = (none, none) if work is None else (work.tally.real_memory, _as_reals(work.tally.int_memory))
        fresh = [part.copy() for part in (m.real_memory, _as_reals(m.int_memory), *tally)]
        self.segments = solver.segments()
        sizes = solver.sizes | {
            "outputs": len(solver.times), "n_real": len(fresh[0]), "n_int": len(fresh[1]), "n_tally_real": len(fresh[2]),
            "n_tally_int": len(fresh[3]), "n_moving": len(places), "n_parameters": self.sweep.values.shape[1],
            "n_parts": len(self.segments), "n_begun": len(begun), "width": recording.width, "loads": loading.width,
            "n_given": 0, "n_kept": 0,
        }  # fmt: skip
        functions = {
            "loop": _callable(solver.engine, solver.loop, m), "record": _callable(solver.engine, RECORD, recording),
            "record_loads": _callable(solver.closing_engine, RECORD_LOADS, loading), "check": ABSENT, "closing": ABSENT,
        }  # fmt: skip
        feet = self.on_foot
        if system.frozen.rows and self.closed_by_loop:
            functions["check"] = self.closer.function("gaps")
            functions["closing"] = ABSENT if feet is None else self.closer.function("close")
            sizes |= {} if feet is None else {"n_given": len(feet.held), "n_kept": len(feet.kept)}
        given = {name: none for name, field in loops.Batch.fields.items() if field.given}
        given |= {
            "model_reals": system.layout.reals, "terms": np.zeros(max(self._terms, 1)),
            "parameters": none if system.values is None else system.values,
            "run_reals": m.real_memory, "run_ints": _as_reals(m.int_memory), "tally_reals": tally[0],
            "tally_ints": tally[1], "work_ints": none if work is None else _as_reals(work.int_memory),
        }  # fmt: skip
        if feet is not None:
            own = self.closer.work
            given |= {"closer_ints": _as_reals(own.int_memory), "closer_tally_reals": own.tally.real_memory,
                      "closer_tally_ints": _as_reals(own.tally.int_memory)}  # fmt: skip
        names = ("fresh_reals", "fresh_ints", "fresh_tally_reals", "fresh_tally_ints")
        given |= dict(zip(names, fresh, strict=True))
        seen = loops.SteppedTable(m) if solver.engine.machine_code else m
        made = loops.Batch(sizes, run=seen, recording=recording, loading=loading, **functions, **given)
        made.place[:], made.begun[:], made.wanted[:] = places, begun, solver.wanted
        made.upto[:], made.ends[:] = ([part[k] for part in self.segments] for k in (0, 1))
        made.tolerance, made.limit, made.as_drawn = CLOSED, FEWEST_STEPS, int(self.sweep.starts.drawn)
        if feet is not None:
            feet.put(made, type(self.closer.work).places["factor_valid"])
        _ = made.table
        return made

    @property
    def _entry(self) -> str:
        return "state" if self.kept.states_alone or self.kept.no_bodies else "observe"

    @property
    def _terms(self) -> int:
        return ENTRIES["gaps"].out(self.system.layout.sizes) if self.system.frozen.rows else 0

    @cached_property
    def closer(self) -> Any:
        """The engine that closes open loops, with scratch of its own."""
        return self.system.engine("jit" if self.solver.engine.machine_code else "plain").for_run()

    @cached_property
    def on_foot(self) -> OnFoot | None:
        """How the compiled loop closes open loops; None: it cannot."""
        return on_foot(self.sweep.system, self.sweep.starts) if self.system.frozen.rows else None

    @property
    def closed_by_loop(self) -> bool:
        """Whether the compiled loop looks whether starts are closed."""
        by_hand = bool(self.bumps or self.solver.jumps)  # there something is asked at the closed start
        return self.sweep.starts.drawn or (self.on_foot is not None and not by_hand)

    @property
    def most(self) -> int:
        """Runs whose rows fit in little memory."""
        m = self.memory
        own = m.width + m.loads + (CLOSURE + 2 * m.nr if m.width else 0) + self.system.nq + self.system.nv
        return 1 if self.system.frozen.signals.callbacks else max(1, ROOM // max(own * len(self.times), 1))

    # ---- slices -----------------------------------------------------------------------------------------------------

    def run(self, first: int, last: int) -> dict[str, np.ndarray]:
        """The runs from first to last: what is kept of them, by name. NaN where one did not get to."""
        m, count, n = self.memory, last - first, len(self.times)
        total, system = count * n, self.system
        arrays = self._rows_for(first, last)
        if m.width:
            arrays |= {"rows": np.full(total * m.width, np.nan), "load_rows": np.full(total * m.loads, np.nan)}
            if m.nr:
                arrays |= {"closed": np.full(total * CLOSURE, np.nan), "multipliers": np.full(total * m.nr, np.nan),
                           "paces": np.full(total * m.nr, np.nan)}  # fmt: skip
        else:
            arrays |= {"q_rows": np.full(total * system.nq, np.nan), "v_rows": np.full(total * system.nv, np.nan)}
        for name, values in arrays.items():
            setattr(m, name, values)
        m.next, m.last, m.stand = 0, count, loops.FRESH
        for callback, _, _ in system.frozen.signals.callbacks:
            callback.error = None
        self._march(first)
        if self.stopped:
            return {}
        if not m.width:
            return self.kept.states(arrays["q_rows"].reshape(count, n, -1), arrays["v_rows"].reshape(count, n, -1))
        return self.kept.values(self._left(first, arrays))

    def _rows_for(self, first: int, last: int) -> dict[str, np.ndarray]:
        """What differs from run to run, row by row."""
        sweep, system, solver = self.sweep, self.system, self.solver
        values = np.ascontiguousarray(sweep.values[first:last])
        count, drawn = last - first, sweep.starts.drawn
        if system.frozen.rows and drawn:
            closed = sweep.system.start  # still closed, unless hard points have moved
            q, v = np.tile(closed.q, (count, 1)), np.tile(closed.v, (count, 1))
        elif system.frozen.rows and not self.closed_by_loop:
            q, v = np.full((count, system.nq), np.nan), np.full((count, system.nv), np.nan)
            for k in range(count):
                self._assemble(first + k, q[k], v[k])
        else:
            q, v = sweep.starts.rows(first, last)
        longest = np.full(count, float(solver.memory.max_step) if sweep.options.get("max_step") else sweep.duration)
        at_once = self.bumps and sweep.wanted.leaves_motion(system.layout)
        if at_once:
            found = np.isfinite(q).all(axis=1) & np.isfinite(v).all(axis=1)  # (the others have no start)
            if found.any():
                asked = longest_steps(system, q[found], v[found])
                longest[found] = np.where(np.isfinite(asked), asked, sweep.duration)
        if (self.bumps and not at_once) or solver.jumps:
            for k in range(count):
                system.adjust(values[k])
                if self.bumps and not at_once:
                    longest[k] = over_bumps(system, (q[k], v[k]), solver.method) or sweep.duration
                solver.start(q[k], v[k])  # (a drive that moves from the start on does not jump there)
                v[k] = solver.memory.v
        moved = sweep.wanted.moving(system.drawn.reals, values)[1]
        return {"moved": moved.reshape(-1), "given": values.reshape(-1), "q0": q.reshape(-1), "v0": v.reshape(-1),
                "max_steps": longest, "reached": np.zeros(count)}  # fmt: skip

    def _assemble(self, k: int, q: np.ndarray, v: np.ndarray) -> bool:
        """Close the start of run k; whether that is possible. Whether it can move is asked of the first."""
        self.system.adjust(self.sweep.values[k])
        try:
            found = self.system.assemble(*self.sweep.starts.of_run(k))
        except AssemblyError as error:
            self.told[k] = OPEN, str(error)
            return False
        if not self.moves:
            refuse_standstill(self.system, found.q)
            self.moves = True
        q[:], v[:] = found.q, found.v
        return True

    def _march(self, first: int) -> None:
        """Through all runs of the slice; what happens rarely is told by the loop."""
        m, solver, system = self.memory, self.solver, self.system
        loop = solver.engine.loop(BATCH)
        with np.errstate(all="ignore"):
            while not self.stopped:
                began = clock.perf_counter()
                status = int(loop(m))
                solver._let_interrupt_through()
                k = int(m.next)
                if status == DONE:
                    return
                if status == PAUSED:
                    took = max(clock.perf_counter() - began, SHORTEST)
                    m.limit = int(min(max(m.limit * PAUSE / took, FEWEST_STEPS), MOST_STEPS))
                elif status == loops.OPEN:
                    nq, nv = system.nq, system.nv
                    if self._assemble(first + k, m.q0[k * nq : (k + 1) * nq], m.v0[k * nv : (k + 1) * nv]):
                        m.stand = loops.CLOSED
                    else:
                        m.next += 1
                elif first + k not in self.told:  # (else it had no start)
                    system.adjust(self.sweep.values[first + k])
                    solver.keep_verdict()
                    self.told[first + k] = CAUSES.get(status, "failed"), solver.explain(status)

    def _left(self, first: int, arrays: dict[str, np.ndarray]) -> Rows:
        """The rows of a slice, without what is not finite."""
        m, n, system = self.memory, len(self.times), self.system
        count = len(arrays["reached"])
        rows, loads = arrays["rows"].reshape(-1, m.width), arrays["load_rows"].reshape(count * n, m.loads)
        whole = np.isfinite(rows[:, : system.nq + 2 * system.nv]).all(axis=1).reshape(count, n)
        good = np.logical_and.accumulate(whole, axis=1)
        for k in np.flatnonzero(good.sum(axis=1) < arrays["reached"]):
            time = self.times[int(good[k].sum())]
            self.told[first + int(k)] = SPOILED, f"the results are not finite from t = {time:.6g} s on"
        rows[~good.reshape(-1)] = np.nan
        found = None
        if m.nr:
            alone = arrays["closed"].reshape(-1, CLOSURE)
            found = LoopRecord(**{name: alone[:, j] for j, name in enumerate(ALONE)},
                               multipliers=arrays["multipliers"].reshape(-1, m.nr),
                               paces=arrays["paces"].reshape(-1, m.nr))  # fmt: skip
        wanted, body_r = self.sweep.wanted, None
        if any(np.any(slope) for slope in wanted.body_slopes):
            given = arrays["given"].reshape(count, -1)
            body_r = np.array([wanted.body_r(system._drawn_body_r, row) for row in given])
        return Rows(system, np.tile(self.times, count), count, rows, loads, found, body_r)


def _as_reals(array: np.ndarray) -> np.ndarray:
    """The same memory: what is only copied may as well be reals."""
    return array.view(np.float64)


def _callable(engine: Any, loop: Any, memory: Any) -> Function:
    """A loop on its memory, for kernel.call_loop."""
    if not engine.machine_code:
        return Function(lambda: engine.loop(loop)(memory))
    from madi.engines.pieces import code, loop_piece

    return Function(address=code(loop_piece(loop)).address, context=memory.table)
