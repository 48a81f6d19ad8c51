"""`Evaluation`: entries (equations/) evaluated at states that were checked, by the engine asked for."""

from __future__ import annotations

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


class Evaluation(Names):
    """Engines of a model, and how they are asked."""

    def __init__(self, model: Model, frame: str = "base"):
        super().__init__(model, frame)
        self.drawn, self._drawn_body_r = self.layout, self.frozen.body_r  # as drawn, whatever `adjust` does
        self.parameters: Parameters | None = None  # numbers that may change from run to run (see `adjustable`)
        self.values: np.ndarray | None = None
        self._engines: dict[str, Any] = {}
        self._traces: dict[Any, Any] = {}

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
        if self.frozen.rows and name == "articulated":
            raise InputError(
                f"formulation='articulated' serves trees; model {self.name!r} has loops: choose 'recursive' or "
                "'velocity-transform'"
            )
        return name

    def entry(self, formulation: str | None = None) -> str:
        """The entry kernel (equations/) that gives this system's accelerations."""
        name = self.formulation(formulation)
        if not self.frozen.rows:
            return name
        return "loops" if name == "recursive" else f"loops-{name}"

    @cached_property
    def _fastest_formulation(self) -> str:
        """By the multiplications beyond what both do: M and its factorisation, against the articulated inertias."""
        depth = np.zeros(self.nv)
        for c, parent in enumerate(self.layout.arrays.column_parent):
            depth[c] = 1 if parent < 0 else depth[parent] + 1
        return "recursive" if np.sum(6 * depth + depth**2 / 2) < 60 * self.nv else "articulated"

    def checked_vector(self, value: Any, count: int, what: str) -> np.ndarray:
        """So many finite numbers; None: zeros."""
        if value is None:
            return np.zeros(count)
        try:
            array = np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=float)))
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{what}={value!r}: {count} numbers are needed") from None
        if array.shape != (count,):
            raise InputError(f"{what}: {count} numbers are needed, shape {array.shape} given (see s.coordinates, s.speeds)")
        if not np.isfinite(array).all():
            raise InputError(f"{what}: number {int(np.argmin(np.isfinite(array)))} is not finite")
        return array

    def checked_coordinates(self, value: Any, what: str = "q") -> np.ndarray:
        """Coordinates, checked: finite, quaternions of unit length."""
        if value is None:
            raise InputError(f"{what}: {self.nq} coordinates are needed (s.q0 is where the model starts)")
        q = self.checked_vector(value, self.nq, what)
        for name, at in self._quaternions:
            norm = float(np.linalg.norm(q[at : at + 4]))
            if abs(norm - 1) > UNIT_LENGTH:
                raise InputError(f"{what}: the quaternion of joint {name!r} has length {norm:.6g}, not 1; normalise it")
        return q

    def _evaluate(self, entry: str, q: Any, v: Any, x: Any, t: float, engine: str, size: int | None = None) -> np.ndarray:
        q, v = self.checked_coordinates(q), self.checked_vector(v, self.nv, "v")
        if size is None:
            size = ENTRIES[entry].out(self.layout.sizes)
        if not isinstance(t, int | float) or not abs(t) < HUGE:
            raise InputError(f"t={t!r}: give a finite number of seconds")
        out = self.engine(engine).evaluate(entry, float(t), q, v, np.asarray(x, dtype=float), size)
        self._raise_from_functions()
        return out

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
