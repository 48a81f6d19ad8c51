"""`Evaluation`: entries (equations/) evaluated at states that were checked, by the engine asked for."""

from __future__ import annotations

import copy
import math
import pickle
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.dynamics.kinematics import positions, velocities
from madi.engines import ENGINES, is_made_for_model
from madi.equations import ENTRIES, FORMULATIONS
from madi.errors import InputError, RunError, TraceError
from madi.forces.line import line
from madi.kernel import HUGE
from madi.system.names import Names

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.parameters import Parameters

UNIT_LENGTH = 1e-6  # quaternions as given: they may be written with seven digits, and are not far off after a run


def side_by_side(*parts: np.ndarray) -> np.ndarray:
    """Rows of numbers, one after the other; leading axes are broadcast."""
    if all(part.ndim == 1 for part in parts):
        return np.concatenate(parts)
    lead = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts], axis=-1)


def _no_answer(*_: Any) -> None:
    """Where there is no light call."""


def functions_of(model: Model) -> Iterator[tuple[str, Any]]:
    """What users gave as functions: (element, function)."""
    for drive in model.drives:
        yield f"drive of {drive.coordinate!r}", drive.function
    for force in model.forces:
        given = [force.value, *force.parameters.values()]
        parts = [part for value in given for part in (value if isinstance(value, tuple | list) else [value])]
        yield from ((f"force {force.name!r}", part) for part in parts if callable(part))


class Light(threading.local):
    """The light calls of a thread (engines/crossing.py): each has its own, as it has its own scratch."""

    def __init__(self) -> None:
        self.calls: dict[Any, Any] = {}  # by entry and engine
        self.crossings: list[Any] = []  # what is bound lives as long


class Evaluation(Names):
    """Engines of a model, and how they are asked."""

    def __init__(self, model: Model, frame: str = "base"):
        super().__init__(model, frame)
        self.drawn, self._drawn_body_r = self.layout, self.frozen.body_r  # as drawn, whatever `adjust` does
        self.parameters: Parameters | None = None  # numbers that may change from run to run (see `adjustable`)
        self.values: np.ndarray | None = None
        self._forget()

    def _forget(self) -> None:
        """All that is made of the rest when it is asked for: machine code, traces, scratch."""
        self._engines: dict[str, Any] = {}
        self._traces: dict[Any, Any] = {}
        self._light = Light()
        self._frames: dict[int, np.ndarray] = {}
        self._asked_loads: dict[Any, Any] = {}

    def _kept(self) -> dict[str, Any]:
        """The rest: names and arrays."""
        made = {"_engines", "_traces", "_light", "_frames", "_asked_loads"}
        made |= {
            name for kind in type(self).__mro__ for name, value in vars(kind).items() if isinstance(value, cached_property)
        }
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __getstate__(self) -> dict[str, Any]:
        for where, function in functions_of(self.model):
            try:
                pickle.dumps(function)
            except Exception as error:  # whatever the function's own parts raise
                raise TraceError(
                    f"{where}: its function cannot be pickled ({error}). Define it at the top of a module; or send the "
                    "model as a file (m.save, madi.load), where functions that can be traced are expressions"
                ) from None
        return self._kept()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __deepcopy__(self, memo: dict[int, Any]) -> Evaluation:
        other = memo[id(self)] = object.__new__(type(self))
        other.__setstate__(copy.deepcopy(self._kept(), memo))
        return other

    def __copy__(self) -> Evaluation:
        other = object.__new__(type(self))
        other.__setstate__(self._kept())
        return other

    def engine(self, name: str = "auto") -> Any:
        """The engine of that name for this system. "auto" here is "jit"."""
        if name not in ("auto", *ENGINES):
            raise InputError(f"engine={name!r}: choose one of auto, {', '.join(ENGINES)}")
        name = "jit" if name == "auto" else name
        if name not in self._engines:
            self._engines[name] = ENGINES[name].of(self)
        return self._engines[name]

    def general(self, engine: str) -> str:
        """That engine; or "jit", for questions that are not worth code of their own."""
        return "jit" if is_made_for_model(engine) else engine

    @cached_property
    def outside(self) -> Any:
        """The functions that stay in Python (signals/outside.py); None: there are none."""
        if not self.frozen.signals.callbacks:
            return None
        return self._outside(whole=False)

    def _outside(self, whole: bool) -> Any:
        from madi.signals.outside import Outside

        model, work = self.layout.arrays, self.engine("plain").work
        positions(model, work, self.q0)
        velocities(model, work, self.q0, self.v0)
        lines = [line(model, work, model.force_a[e], model.force_b[e], model.force_at[e])[:2] for e in model.measured]
        measures = np.array(lines, dtype=float).reshape(-1)
        return Outside(self.frozen.signals.callbacks, self.q0, self.v0, measures, whole)

    def formulation(self, name: str | None = None) -> str:
        """The formulation asked for, or the fastest for this size."""
        if name is None or name == "auto":
            return "recursive" if self.frozen.rows else self._fastest_formulation
        if name not in FORMULATIONS:
            raise InputError(f"formulation={name!r}: choose one of {', '.join(FORMULATIONS)}")
        if name != "recursive" and self.layout.header("n_loaded"):
            raise InputError(
                f"formulation={name!r}: model {self.name!r} has friction by the load of its joint, which comes from "
                "composite inertias: choose 'recursive', or leave it out"
            )
        if self.frozen.rows and name == "articulated":
            raise InputError(
                f"formulation='articulated' serves trees; model {self.name!r} has loops: choose 'recursive' or "
                "'velocity-transform'"
            )
        return name

    @cached_property
    def _default_entry(self) -> str:
        return self.entry()

    def entry(self, formulation: str | None = None) -> str:
        """The entry kernel (equations/) that gives this system's accelerations."""
        name = self.formulation(formulation)
        if not self.frozen.rows:
            return name
        return "loops" if name == "recursive" else f"loops-{name}"

    @cached_property
    def _fastest_formulation(self) -> str:
        """By the multiplications beyond what both do: M and its factorisation, against the articulated inertias."""
        if self.layout.header("n_loaded"):
            return "recursive"
        depth = np.zeros(self.nv)
        for c, parent in enumerate(self.layout.arrays.column_parent):
            depth[c] = 1 if parent < 0 else depth[parent] + 1
        return "recursive" if np.sum(6 * depth + depth**2 / 2) < 60 * self.nv else "articulated"

    # ---- what is given ----------------------------------------------------------------------------------------------

    def checked_rows(self, value: Any, count: int, what: str) -> np.ndarray:
        """So many finite numbers, or rows of them: (..., count); None: zeros."""
        if value is None:
            return np.zeros(count)
        plain = type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (count,)
        if plain and value.flags.c_contiguous and value.dot(value) < HUGE:  # the usual case, at once: all are finite
            return value
        try:
            array = np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=float)))
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{what}={value!r}: {count} numbers are needed") from None
        if array.shape[-1] != count:
            raise InputError(f"{what}: {count} numbers are needed, shape {array.shape} given (see s.coordinates, s.speeds)")
        if not np.isfinite(array).all():
            bad = np.unravel_index(np.argmin(np.isfinite(array)), array.shape)
            state = f" of state {', '.join(map(str, bad[:-1]))}" if array.ndim > 1 else ""
            raise InputError(f"{what}: number {int(bad[-1])}{state} is not finite")
        return array

    def checked_vector(self, value: Any, count: int, what: str) -> np.ndarray:
        """So many finite numbers; None: zeros."""
        array = self.checked_rows(value, count, what)
        if array.ndim > 1:
            raise InputError(f"{what}: {count} numbers are needed, shape {array.shape} given: one state at a time here")
        return array

    def checked_states(self, value: Any, what: str = "q") -> np.ndarray:
        """Coordinates of a state or of many, (..., nq), checked: finite, quaternions of unit length."""
        if value is None:
            raise InputError(f"{what}: {self.nq} coordinates are needed (s.q0 is where the model starts)")
        q = self.checked_rows(value, self.nq, what)
        for name, at in self._quaternions:
            norms = np.linalg.norm(q[..., at : at + 4], axis=-1)
            worst = norms if norms.ndim == 0 else norms.flat[np.argmax(np.abs(norms - 1))] if norms.size else 1.0
            if abs(worst - 1) > UNIT_LENGTH:
                raise InputError(f"{what}: the quaternion of joint {name!r} has length {worst:.6g}, not 1; normalise it")
        return q

    def checked_coordinates(self, value: Any, what: str = "q") -> np.ndarray:
        """Coordinates of one state, checked."""
        q = self.checked_states(value, what)
        return self.checked_vector(q, self.nq, what)

    def checked_times(self, t: Any) -> np.ndarray:
        """Seconds: a number, or one for every state."""
        try:
            found = np.asarray(t, dtype=float)
        except (TypeError, ValueError, OverflowError):
            found = np.full((), np.inf)
        if isinstance(t, str | bool) or not (np.abs(found) < HUGE).all():
            raise InputError(f"t={t!r}: give a finite number of seconds")
        return found

    def checked_out(self, out: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Where an answer is wanted."""
        plain = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.flags.writeable
        if not plain or out.shape != shape:
            told = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
            raise InputError(f"out: a writable array of float64 of shape {shape} is needed, not {told}")
        return out

    # ---- what is asked ----------------------------------------------------------------------------------------------

    def _evaluate(
        self, entry: str, q: Any, v: Any, x: Any, t: Any, engine: str, shape: tuple[int, ...] | None = None, out: Any = None
    ) -> np.ndarray:
        """An entry at a state; or at many, where q, v, x, t have leading axes, all the same or broadcast. The answer has
        these, then `shape` (default: as long as the entry's). A plain state goes to machine code as it is."""
        light = self._light.calls.get((entry, engine)) or self._crossing(entry, engine, shape)
        found = light(q, v, x, t, out)
        return self._evaluate_checked(entry, q, v, x, t, engine, shape, out) if found is None else found

    def _crossing(self, entry: str, engine: str, shape: tuple[int, ...] | None) -> Any:
        """The light call of an entry (engines/crossing.py); one that never answers where there can be none: Python engine,
        functions in Python, answers whose length differs from question to question."""
        known, machine = ENTRIES[entry], self.engine(engine)
        call = _no_answer
        if known.gives and machine.machine_code:
            shape = (known.out(self.layout.sizes),) if shape is None else shape
            call = self._bound(lambda: machine.function(entry), known.given(self.layout.sizes), shape)
        self._light.calls[entry, engine] = call
        return call

    def _bound(self, asked: Callable[[], Any], nx: int, shape: tuple[int, ...]) -> Any:
        """A light call of a function of machine code, with so many numbers beside the state, of this thread."""
        from madi.engines.crossing import Crossing, is_there

        if not is_there() or self.frozen.signals.callbacks:
            return _no_answer
        made = Crossing(asked(), (self.nq, self.nv, nx), shape, [at for _, at in self._quaternions], UNIT_LENGTH)
        self._light.crossings.append(made)
        return made.call

    def _evaluate_checked(
        self, entry: str, q: Any, v: Any, x: Any, t: Any, engine: str, shape: tuple[int, ...] | None, out: Any
    ) -> np.ndarray:
        """The same for whatever is given, with messages."""
        known, machine, sizes = ENTRIES[entry], self.engine(engine), self.layout.sizes
        if x is not None and sizes["n_held"] and known.gives:
            x = self.with_held(x, known.given(sizes), known.called)
        x = self.checked_rows(x, known.given(sizes) if known.gives else np.shape(x)[-1], known.called)
        shape = (known.out(sizes),) if shape is None else shape
        request = tuple(x.reshape(-1, x.shape[-1])[0, known.given(sizes) :].tolist()) if x.size else ()
        question = entry, request, int(np.prod(shape))
        ask, lanes = (lambda: machine.function(*question)), (lambda: machine.lanes(*question)) if known.traced else None
        return self._evaluate_rows(machine, ask, q, v, x, t, shape, known.called, out, lanes)

    def with_held(self, x: Any, given: int, called: str = "x") -> np.ndarray:
        """x of an entry with the held values behind it: where none are given, those the state tells (forces/modes.py)."""
        held = self.layout.sizes["n_held"]
        if np.shape(x)[-1:] == (given,):
            return np.asarray(x)
        return side_by_side(self.checked_rows(x, given - held, called), np.zeros(held))

    def _evaluate_rows(
        self, machine: Any, asked: Callable[[], Any], q: Any, v: Any, x: np.ndarray, t: Any, shape: tuple[int, ...],
        called: str = "x", out: Any = None, lanes: Callable[[], Any] | None = None,
    ) -> np.ndarray:  # fmt: skip
        """A function of an engine (`asked()`, `lanes()`: see integrate/many.py) at a state or at many."""
        from madi.integrate.many import evaluate_rows

        q, v, t = self.checked_states(q), self.checked_rows(v, self.nv, "v"), self.checked_times(t)
        try:
            lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], x.shape[:-1], t.shape)
        except ValueError:
            told = ", ".join(f"{name} {a.shape}" for name, a in (("q", q), ("v", v), (called, x), ("t", t)))
            raise InputError(f"states do not fit together: {told}") from None
        given = (q, v, x, t)
        direct = out is not None and self.checked_out(out, lead + shape).flags.c_contiguous
        direct = direct and not any(np.may_share_memory(out, one) for one in given)
        answer = out if direct else np.zeros(lead + shape)
        answer[...] = 0.0
        count = math.prod(lead)

        def flat(a: np.ndarray, inner: int) -> np.ndarray:
            """Rows, or what is one for all."""
            own = a.shape[a.ndim - inner :]
            return a if a.ndim == inner else np.ascontiguousarray(np.broadcast_to(a, lead + own)).reshape(count, *own)

        if answer.size:
            threads = machine.machine_code and not self.frozen.signals.callbacks
            rows = flat(t, 0), flat(q, 1), flat(v, 1), flat(x, 1)
            evaluate_rows(machine, asked, *rows, answer.reshape(count, -1), threads, lanes)
            self._raise_from_functions()
        if out is None or direct:
            return np.asarray(answer)
        out[...] = answer
        return np.asarray(out)

    def _raise_from_functions(self) -> None:
        """What a user's function raised could not pass through machine code: it goes on from here."""
        for callback, _, _ in self.frozen.signals.callbacks:
            if callback.error is not None:
                error, callback.error = callback.error, None
                raise RunError(f"the function of {callback.name} raised {type(error).__name__}: {error}") from error

    def _refuse_callbacks(self, what: str) -> None:
        names = [callback.name for callback, _, _ in self.frozen.signals.callbacks]
        if names:
            raise TraceError(f"{what} needs functions that can be traced; {', '.join(names)} stays in Python")
