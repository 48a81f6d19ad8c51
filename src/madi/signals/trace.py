"""From users' functions to one tape, or to a callback where a function cannot be traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madi.errors import Finding, InputError, TraceError
from madi.kernel.lookup import Curves, numbered
from madi.signals.callback import Callback
from madi.signals.law import of_state
from madi.signals.proof import Isolated, Untraceable, call, in_python, proven_trace, stays_in_python, told_of
from madi.signals.state import named, places_of
from madi.signals.tape import OPS


@dataclass
class Signals:
    """The tape and the callbacks of a model; signals are numbered in the order they are asked for."""

    ops: list[tuple[int, int, int, float]] = field(default_factory=list)
    callbacks: list[tuple[Callback, int, int]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # functions that cannot be used
    remarks: list[str] = field(default_factory=list)  # functions that stay in Python
    curves: Curves = field(default_factory=Curves)  # measured data of functions and of force elements
    count: int = 0
    speeds: int = 0  # of the model: what functions get as v goes on with the measures of force elements

    def reserve(self, n: int) -> int:
        """Room for n signals; the number of the first."""
        first = self.count
        self.count += n
        return first

    def constant(self, first: int, values: Any) -> None:
        """Signals that do not change."""
        for k, value in enumerate(np.atleast_1d(np.asarray(values, dtype=float))):
            self.ops.append((OPS["const"], -1, -1, float(value)))
            self.ops.append((OPS["output"], len(self.ops) - 1, first + k, 0.0))

    def append(self, function: Any, first: int) -> None:
        """The instructions of a CasADi function of (t, q, v) whose single output are the signals from `first` on."""
        from madi.symbolic.ssa import LOOKUPS, instructions

        start = len(self.ops)
        source = {0: "time", 1: "q", 2: "v"}
        for op, a, b, value, array in instructions(function):
            if op == "input" and a == 2 and b >= self.speeds:
                self.ops.append((OPS["measure"], b - self.speeds, -1, 0.0))
            elif op == "input":
                self.ops.append((OPS[source[a]], b, -1, 0.0))
            elif op == "output":
                self.ops.append((OPS["output"], start + a, first + int(value), 0.0))
            elif op == "const":
                self.ops.append((OPS["const"], -1, -1, value))
            elif op in LOOKUPS:
                table = numbered(array)
                assert table is not None  # it is the function's
                self.ops.append((OPS[op], start + a, -1, float(self.curves.place(table) + value)))
            else:
                self.ops.append((OPS[op], start + a, start + b if b >= 0 else -1, 0.0))


def arguments(function: Callable[..., Any]) -> int:
    """How many arguments the function needs: 1 for f(t), 3 for f(t, q, v), -1 for anything else."""
    if hasattr(function, "of_state"):
        return 3 if function.of_state else 1
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError, OverflowError):
        return 1
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return {0: 1, 1: 1, 3: 3}.get(len(needed), -1)


STAYS = (
    "{where}: its function is not traced but stays in Python, called at every evaluation ({why}). Several evaluations make "
    "a step, rejected ones included, and results are recorded after the run. Write it as a function of t, q, v alone with "
    "madi's or NumPy's functions and madi.where; or, if it is meant so, wrap it: madi.in_python(f)"
)
NAMES = "Names are those of s.coordinates and s.speeds"
USE = "Use arithmetic, madi's, NumPy's or math's functions, and madi.where(condition, a, b) for cases"


def add_drive(signals: Signals, where: str, function: Callable[[Any], Any]) -> int:
    """Position, rate and acceleration of a drive, exact: derivatives of the trace."""
    import casadi as ca

    from madi.symbolic.lookup import Looked, jacobian

    first = signals.reserve(3)
    looked = Looked()
    try:
        with looked:
            value, (t, q, v) = proven_trace(function, 1, np.zeros(0), np.zeros(0), ([], []))
    except Exception as error:
        told = f"its function cannot be traced ({type(error).__name__}: {error})"
        if isinstance(error, Untraceable):
            told = f"its rate and acceleration need a function of time alone: {error}"
        signals.findings.append(Finding(where, told, USE))
        return first
    if value.shape[0] != 1:
        signals.findings.append(Finding(where, f"its function returns {value.shape[0]} numbers", "Return one"))
        return first
    with looked:
        rate = jacobian(value, t)
        motion = looked.closed(ca.vertcat(value, rate, jacobian(rate, t)))
    signals.append(ca.Function("drive", [t, q, v], [motion]), first)
    return first


def add_function(
    signals: Signals, where: str, value: Any, outputs: int, q0: np.ndarray, v0: np.ndarray,
    names: tuple[list[str], list[str]] = ([], []), seen: np.ndarray | None = None, law: int | None = None,
) -> int:  # fmt: skip
    """Signals of a force: constants, a traced function, or a callback where the trace may not be the function (proof.py).

    A callback is tried once, at the start, so that a mistake in it is reported before any run. `names`: of q and v. `seen`:
    v0 and the measures of all force elements; `law`: where those of this one begin, if its function may use them (law.py).
    """
    nv = len(v0)
    if law is not None and seen is not None:
        v0 = seen
    first = signals.reserve(outputs)
    if not callable(value):
        signals.constant(first, value)
        return first
    value = _bound(where, value, names, nv, law)
    if isinstance(value, Finding):
        signals.findings.append(value)
        return first
    count = arguments(value)
    if count < 0:
        signals.findings.append(
            Finding(where, "its function does not take one or three arguments", "Write f(t) or f(t, q, v)")
        )
        return first
    import casadi as ca

    try:
        expression, inputs = proven_trace(value, count, q0, v0, names)
        returned, why = expression.shape[0], ""
    except Exception as error:
        why = str(error) if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
        try:
            returned = _tried(value, count, q0, v0, names)
        except Exception as failure:
            told = f"its function fails at the start ({type(failure).__name__}: {failure})"
            signals.findings.append(Finding(where, told, "Correct it: it is called with t, or with t, q, v"))
            return first
    if returned != outputs:
        signals.findings.append(Finding(where, f"its function returns {returned} number(s)", f"Return {outputs}"))
    elif not why:
        signals.append(ca.Function("force", list(inputs), [expression]), first)
    else:
        if not stays_in_python(value):
            signals.remarks.append(STAYS.format(where=where, why=why))
        try:
            callback = _callback(where, value, count, names, (len(q0), nv, len(v0) - nv, outputs), law)
        except InputError as error:
            signals.findings.append(Finding(where, str(error), NAMES))
        else:
            signals.callbacks.append((callback, first, outputs))
    return first


def _bound(where: str, value: Any, names: tuple[list[str], list[str]], nv: int, law: int | None) -> Any:
    """A file's expression or an element's law as a function of time and state; a Finding where that cannot be."""
    from_file = hasattr(value, "bind")  # it names coordinates
    try:
        if from_file:
            return value.bind(*names, law)
        if law is None:
            return value
        function = of_state(value, nv, law)
        return in_python(function, told_of(value)) if stays_in_python(value) else function
    except InputError as error:
        return Finding(where, str(error), NAMES if from_file else "Its arguments are reported by their names")


def _callback(
    where: str, value: Any, count: int, names: tuple[list[str], list[str]], sizes: tuple[int, int, int, int], law: int | None
) -> Callback:
    """A function that stays in Python; `sizes`: of q, v, measures and what it returns."""
    places = places_of(names[0]), places_of(names[1])

    def plain(t: float, q: np.ndarray, v: np.ndarray) -> Any:
        return call(value, count, t, named(q, places[0], "coordinate"), named(v, places[1], "speed"))

    return Callback(where, plain, *sizes, _told(value, places, *sizes[:2], law), stays_in_python(value))


def _told(value: Any, places: Any, nq: int, nv: int, law: int | None) -> list[int] | None:
    """What the user said a function depends on (madi.in_python(f, of=...)): numbers of (q, v, measures)."""
    names = told_of(value)
    if names is None:
        return None
    found = [] if law is None else [nq + law, nq + law + 1]
    for name in names:
        known = [(at, place[name]) for at, place in zip((0, nq), places, strict=True) if name in place]
        if not known:
            raise InputError(f"of={list(names)!r}: there is no coordinate or speed {name!r}")
        found += [at + int(k) for at, part in known for k in np.atleast_1d(part)]
    return found


def _tried(value: Any, count: int, q0: np.ndarray, v0: np.ndarray, names: Any) -> int:
    """How many numbers a function returns at the start; tried on a copy, which leaves the user's own as it is."""
    try:
        copied = Isolated(value, symbolic=False)
        function = copied.function
    except Untraceable:
        copied, function = None, value  # it cannot be copied: once, with numbers
    state = named(q0.copy(), places_of(names[0]), "coordinate"), named(v0.copy(), places_of(names[1]), "speed")
    try:
        return int(np.size(np.asarray(call(function, count, 0.0, *state), dtype=float)))
    finally:
        if copied is not None:
            copied.restore()
