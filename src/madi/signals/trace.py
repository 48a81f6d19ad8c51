"""From users' functions to one tape, or to a callback where a function cannot be traced."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madi import kernel
from madi.errors import Finding, InputError
from madi.signals.callback import Callback
from madi.signals.tape import OPS


@dataclass
class Signals:
    """The tape and the callbacks of a model; signals are numbered in the order they are asked for."""

    ops: list[tuple[int, int, int, float]] = field(default_factory=list)
    callbacks: list[tuple[Callback, int, int]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)  # functions that cannot be used
    count: int = 0

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
        from madi.symbolic.ssa import instructions

        start = len(self.ops)
        source = {0: "time", 1: "q", 2: "v"}
        for op, a, b, value in instructions(function):
            if op == "input":
                self.ops.append((OPS[source[a]], b, -1, 0.0))
            elif op == "output":
                self.ops.append((OPS["output"], start + a, first + int(value), 0.0))
            elif op == "const":
                self.ops.append((OPS["const"], -1, -1, value))
            else:
                self.ops.append((OPS[op], start + a, start + b if b >= 0 else -1, 0.0))


def arguments(function: Callable[..., Any]) -> int:
    """How many arguments the function needs: 1 for f(t), 3 for f(t, q, v), -1 for anything else."""
    if hasattr(function, "of_state"):
        return 3 if function.of_state else 1
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return {0: 1, 1: 1, 3: 3}.get(len(needed), -1)


def call(function: Callable[..., Any], count: int, t: Any, q: Any, v: Any) -> Any:
    """Call f(t) or f(t, q, v)."""
    return function(t, q, v) if count == 3 else function(t)


_MATH = {id(getattr(math, name)): getattr(kernel, name) for name in [*kernel.UNARY, "atan2", "copysign"]}


class _Math:
    """Stands in for the math module while a user's function is traced."""

    def __getattr__(self, name: str) -> Any:
        return getattr(kernel, name) if name in kernel.UNARY or name in ("atan2", "copysign") else getattr(math, name)


def traceable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with `math` replaced by functions that also take symbols."""
    if not isinstance(function, types.FunctionType):
        return function

    def swap(value: Any) -> Any:
        return _Math() if value is math else _MATH.get(id(value), value)

    names = function.__code__.co_names
    seen = {name: swap(function.__globals__[name]) for name in names if name in function.__globals__}
    cells = tuple(types.CellType(swap(cell.cell_contents)) for cell in function.__closure__ or ())
    copy = types.FunctionType(
        function.__code__, {**function.__globals__, **seen}, function.__name__, function.__defaults__, cells
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def trace(function: Callable[..., Any], count: int, nq: int, nv: int) -> tuple[Any, Any]:
    """The function's values as SX, and its inputs (t, q, v)."""
    from madi.symbolic.sym import column_of, symbols

    (t, ts), (q, qs), (v, vs) = symbols("t", 1), symbols("q", nq), symbols("v", nv)
    value = call(traceable(function), count, ts[0], qs, vs)
    return column_of(list(np.atleast_1d(np.asarray(value, dtype=object)).reshape(-1))), (t, q, v)


USE = "Use arithmetic, madi's, NumPy's or math's functions, and madi.where(condition, a, b) for cases"


def add_drive(signals: Signals, where: str, function: Callable[[Any], Any]) -> int:
    """Position, rate and acceleration of a drive, exact: derivatives of the trace."""
    import casadi as ca

    first = signals.reserve(3)
    try:
        value, (t, q, v) = trace(function, 1, 0, 0)
    except Exception as error:
        told = f"its function cannot be traced ({type(error).__name__}: {error})"
        signals.findings.append(Finding(where, told, USE))
        return first
    if value.shape[0] != 1:
        signals.findings.append(Finding(where, f"its function returns {value.shape[0]} numbers", "Return one"))
        return first
    rate = ca.jacobian(value, t)
    signals.append(ca.Function("drive", [t, q, v], [ca.vertcat(value, rate, ca.jacobian(rate, t))]), first)
    return first


def add_function(
    signals: Signals, where: str, value: Any, outputs: int, q0: np.ndarray, v0: np.ndarray,
    names: tuple[list[str], list[str]] = ([], []),
) -> int:  # fmt: skip
    """Signals of a force: constants, a traced function, or a callback where a function cannot be traced.

    A callback is tried once, at the start, so that a mistake in it is told before any run. `names`: of q and v.
    """
    first = signals.reserve(outputs)
    if not callable(value):
        signals.constant(first, value)
        return first
    if hasattr(value, "bind"):  # from a file: it names coordinates
        try:
            value = value.bind(*names)
        except InputError as error:
            signals.findings.append(Finding(where, str(error), "Names are those of s.coordinates and s.speeds"))
            return first
    count = arguments(value)
    if count < 0:
        signals.findings.append(
            Finding(where, "its function does not take one or three arguments", "Write f(t) or f(t, q, v)")
        )
        return first
    try:
        import casadi as ca

        expression, inputs = trace(value, count, len(q0), len(v0))
        returned, traced = expression.shape[0], True
    except Exception:
        traced = False
        try:
            returned = np.size(np.asarray(call(value, count, 0.0, q0.copy(), v0.copy()), dtype=float))
        except Exception as error:
            told = f"its function fails at the start ({type(error).__name__}: {error})"
            signals.findings.append(Finding(where, told, "Correct it: it is called with t, or with t, q, v"))
            return first
    if returned != outputs:
        signals.findings.append(Finding(where, f"its function returns {returned} number(s)", f"Return {outputs}"))
    elif traced:
        signals.append(ca.Function("force", list(inputs), [expression]), first)
    else:

        def plain(t: float, q: np.ndarray, v: np.ndarray) -> Any:
            return call(value, count, t, q, v)

        signals.callbacks.append((Callback(where, plain, len(q0), len(v0), outputs), first, outputs))
    return first
