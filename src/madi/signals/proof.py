"""Is a trace the function? Users' functions may keep something from call to call; a trace of one call would freeze it.

A function is traced only where that is shown not to matter. Everything is tried on copies of the function with all that it
captures (variables of enclosing functions, globals it names, the object it belongs to), so that trying leaves no mark on the
user's own. Traced twice, the instructions are the same; called with numbers at several times and states, forwards and
backwards, it gives the same values, and those of the trace; and what it captures is afterwards what it was.
"""

from __future__ import annotations

import copy
import functools
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madi import kernel
from madi.errors import TraceError
from madi.signals.state import named, places_of

TRIALS = 4  # states at which function and trace are compared, beside the start
AGREE, NEAR_ZERO = 1e-9, 1e-3  # relative, to a value and this: near zero rounding of its terms is left
LARGE = 10_000_000  # bytes of an array that is not copied: nobody keeps a controller's memory in it
_MATH = {id(getattr(math, name)): getattr(kernel, name) for name in [*kernel.UNARY, "atan2", "copysign"]}


class Untraceable(TraceError):  # noqa: N818 - it says why, and is no error where a function may stay in Python
    """Why a function stays in Python."""


class _Math:
    """Stands in for the math module while a user's function is traced."""

    def __getattr__(self, name: str) -> Any:
        return getattr(kernel, name) if name in kernel.UNARY or name in ("atan2", "copysign") else getattr(math, name)


def in_python(function: Callable[..., Any], of: Sequence[str] | None = None) -> Callable[..., Any]:
    """Mark a function of time and state that is never traced: a controller with memory, a call to another program.

    `of`: names of the coordinates and velocities it depends on: implicit methods take its slopes by these only, else by all.

    It is called at every evaluation (several in a step, again in rejected ones, and once more where results are recorded),
    and without the warning that functions get which turn out not to be traceable.
    """
    if isinstance(function, _InPython) and of is None:
        return function
    inner = function.function if isinstance(function, _InPython) else function
    return _InPython(inner, None if of is None else tuple(of))


class _InPython:
    """A function that stays in Python by its owner's word."""

    def __init__(self, function: Callable[..., Any], of: tuple[str, ...] | None = None):
        functools.update_wrapper(self, function)
        self.function, self.of = function, of

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def stays_in_python(function: Any) -> bool:
    """Whether `in_python` marked it."""
    return isinstance(function, _InPython)


def told_of(function: Any) -> tuple[str, ...] | None:
    """What `in_python(f, of=...)` said."""
    return function.of if isinstance(function, _InPython) else None


# ---- copies -------------------------------------------------------------------------------------------------------------


class Isolated:
    """A copy of a function with copies of all it captures; `symbolic`: with `math` replaced by what takes symbols too."""

    def __init__(self, function: Callable[..., Any], symbolic: bool):
        self.symbolic = symbolic
        self.copies: dict[int, Any] = {}
        self.captured: list[tuple[str, Callable[[], Any]]] = []  # by name: what is there now
        self.classes: dict[type, dict[str, Any]] = {}  # the user's, which cannot be copied: what they had
        self.home = getattr(function, "__module__", None) or type(function).__module__
        self.function = self._copy(function)
        call = vars(type(function)).get("__call__")
        if isinstance(call, types.FunctionType):  # an object: its method is a function like any other
            self.function = types.MethodType(self._function(call), self.function)
        self.before = [(name, _kept(get())) for name, get in self.captured]

    def restore(self) -> None:
        """Classes are the user's own: what was set on them is taken back."""
        for kind, had in self.classes.items():
            for name, value in had.items():
                if vars(kind).get(name) is not value:
                    setattr(kind, name, value)

    def changed(self) -> str | None:
        """Name of something captured that is not what it was."""
        for (name, get), (_, before) in zip(self.captured, self.before, strict=True):
            if not _same(get(), before, set()):
                return name
        return None

    def _copy(self, value: Any) -> Any:
        """A copy of anything a function can capture; what cannot be copied is itself."""
        if value is math and self.symbolic:
            return _Math()
        if self.symbolic and id(value) in _MATH:
            return _MATH[id(value)]
        if id(value) in self.copies:
            return self.copies[id(value)]
        if isinstance(value, types.FunctionType) and value.__module__ != "madi.kernel":
            return self._function(value)
        if isinstance(value, types.MethodType):
            owner, function = self._copy(value.__self__), value.__func__
            if hasattr(owner, "__dict__") and not isinstance(owner, type):
                self.captured.append((type(owner).__name__, functools.partial(vars, owner)))
            return types.MethodType(self._copy(function), owner)
        if isinstance(value, functools.partial):
            given = [self._copy(part) for part in value.args]
            named = {name: self._copy(part) for name, part in value.keywords.items()}
            self.captured.append(("an argument of a partial", lambda: (given, named)))
            return functools.partial(self._copy(value.func), *given, **named)
        if isinstance(value, type) and value.__module__ == self.home and value not in self.classes:
            held = {name: part for name, part in vars(value).items() if not name.startswith("__") and not callable(part)}
            self.classes[value] = held
            self.captured.append((value.__name__, lambda: {name: vars(value).get(name) for name in held}))
            return value
        large = isinstance(value, np.ndarray) and value.nbytes > LARGE
        if large or isinstance(value, type | types.ModuleType | types.BuiltinFunctionType | types.FunctionType):
            return value
        if isinstance(value, _InPython):
            return _InPython(self._copy(value.function), value.of)
        if str(type(value).__module__).startswith("madi."):  # a model, a run, a table
            return value
        if type(value) is object or value is None:
            return value
        try:
            made = copy.deepcopy(value)
        except Exception:  # a lock, an open file, another program
            if hasattr(value, "__dict__") or isinstance(value, list | dict | set | tuple):
                raise Untraceable(f"it uses something that cannot be copied to try it ({type(value).__name__})") from None
            made = value
        self.copies[id(value)] = made
        if hasattr(made, "__dict__"):
            self.captured.append((type(made).__name__, lambda: vars(made)))
        return made

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        room: dict[str, Any] = dict(function.__globals__)
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        made = types.FunctionType(function.__code__, room, function.__name__, None, cells)
        self.copies[id(function)] = made  # first: it may name itself
        for name in _names(function.__code__):
            if name in room:
                room[name] = self._copy(room[name])
                self.captured.append((name, functools.partial(room.get, name)))
        for name, cell, old in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self._copy(old.cell_contents)
            except ValueError:  # not bound yet
                continue
            self.captured.append((name, functools.partial(getattr, cell, "cell_contents")))
        made.__defaults__ = None if function.__defaults__ is None else tuple(map(self._copy, function.__defaults__))
        if function.__kwdefaults__:
            made.__kwdefaults__ = {name: self._copy(value) for name, value in function.__kwdefaults__.items()}
        if vars(function):
            vars(made).update({name: self._copy(value) for name, value in vars(function).items()})
            self.captured.append((f"{function.__name__}.{next(iter(vars(function)))}", functools.partial(vars, made)))
        given = [*(made.__defaults__ or ()), *(made.__kwdefaults__ or {}).values()]
        self.captured += [("a default argument", functools.partial(lambda value: value, value)) for value in given]
        return made


def _names(code: types.CodeType) -> set[str]:
    """Globals a function names, those of functions inside it included."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _kept(value: Any) -> Any:
    """A copy to compare with later; what cannot be copied is itself."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _same(a: Any, b: Any, seen: set[int]) -> bool:
    """Whether two things are alike, as deep as they go."""
    if a is b or id(a) in seen:
        return True
    seen = seen | {id(a)}
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and bool(np.all((a == b) | ((a != a) & (b != b))))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key], seen) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_same(x, y, seen) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.random.Generator):
        return _same(a.bit_generator.state, b.bit_generator.state, seen)
    if isinstance(a, kernel.Symbolic):
        return False  # left behind by tracing
    if (callable(a) and not hasattr(a, "__dict__")) or type(a) is object:
        return True
    if hasattr(type(a), "__slots__") and not hasattr(a, "__dict__"):
        return all(_same(getattr(a, name, None), getattr(b, name, None), seen) for name in type(a).__slots__)
    if hasattr(a, "__dict__") and not isinstance(a, type | types.ModuleType | types.FunctionType):
        return _same(vars(a), vars(b), seen)
    try:
        return bool(a == b) or (a != a and b != b)
    except Exception:
        return True


# ---- the proof ----------------------------------------------------------------------------------------------------------


def call(function: Callable[..., Any], count: int, t: Any, q: Any, v: Any) -> Any:
    """Call f(t) or f(t, q, v)."""
    return function(t, q, v) if count == 3 else function(t)


def proven_trace(
    function: Callable[..., Any], count: int, q0: np.ndarray, v0: np.ndarray, names: tuple[Sequence[str], Sequence[str]],
) -> tuple[Any, Any]:  # fmt: skip
    """The function's values as SX, and its inputs (t, q, v); Untraceable where the trace may not be the function.

    What madi itself made of points or text (`traced_safely`) needs no proof.
    """
    if stays_in_python(function):
        raise Untraceable("it was marked with madi.in_python")
    if getattr(function, "traced_safely", False):
        return _traced(function, count, len(q0), len(v0), names)[:2]
    twice = Isolated(function, symbolic=True)
    try:
        first = _traced(twice.function, count, len(q0), len(v0), names)
        second = _traced(twice.function, count, len(q0), len(v0), names)
        if first[2] != second[2]:
            raise Untraceable("it does not do the same each time it is called: it keeps something from call to call")
        _refuse_changed(twice)
    finally:
        twice.restore()
    _compare(function, count, q0, v0, names, first)
    return first[0], first[1]


def _refuse_changed(copies: Isolated) -> None:
    name = copies.changed()
    if name is not None:
        raise Untraceable(f"it changes something that it keeps from call to call ({name})")


def _traced(function: Callable[..., Any], count: int, nq: int, nv: int, names: Any) -> tuple[Any, Any, list[Any], Any]:
    """Values, inputs, instructions, and the CasADi function of both."""
    import casadi as ca

    from madi.symbolic.lookup import closed
    from madi.symbolic.ssa import instructions
    from madi.symbolic.sym import column_of, symbols

    (t, ts), (q, qs), (v, vs) = symbols("t", 1), symbols("q", nq), symbols("v", nv)
    value = call(function, count, ts[0], *_with_names(qs, vs, names))
    column = column_of(list(np.atleast_1d(np.asarray(value, dtype=object)).reshape(-1)))
    try:
        traced = ca.Function("traced", [t, q, v], [closed(column)])
    except RuntimeError:
        raise Untraceable("it keeps something from call to call: a symbol of an earlier one came back") from None
    return column, (t, q, v), instructions(traced), traced


def _with_names(q: np.ndarray, v: np.ndarray, names: Any) -> tuple[Any, Any]:
    return named(q, places_of(names[0]), "coordinate"), named(v, places_of(names[1]), "speed")


def _compare(function: Any, count: int, q0: np.ndarray, v0: np.ndarray, names: Any, trace: Any) -> None:
    """Numbers at several times and states, forwards and backwards, against each other and against the trace."""
    rng = np.random.default_rng(5)
    places = [(0.0, q0, v0)]
    for k in range(TRIALS):  # near and far, in time too
        size = 10.0 ** (k - 2)
        shift = size * rng.normal(size=len(q0)), size * rng.normal(size=len(v0))
        places.append((abs(size * rng.normal()), q0 + shift[0], v0 + shift[1]))
    plain = Isolated(function, symbolic=False)
    found = []
    for order in (range(len(places)), range(len(places) - 1, -1, -1)):
        values: dict[int, Any] = {}
        for k in order:
            t, q, v = places[k]
            with np.errstate(all="ignore"):
                try:
                    value = call(plain.function, count, t, *_with_names(q.copy(), v.copy(), names))
                    values[k] = np.atleast_1d(np.asarray(value, dtype=float)).reshape(-1)
                except Exception as error:
                    if k == 0:
                        raise
                    values[k] = type(error)  # off its domain: then so both times
        found.append(values)
    changed = plain.changed()
    plain.restore()
    if changed is not None:
        raise Untraceable(f"it changes something that it keeps from call to call ({changed})")
    for k, (t, q, v) in enumerate(places):
        forwards, backwards = found[0][k], found[1][k]
        if isinstance(forwards, type) or isinstance(backwards, type):
            if forwards is not backwards:
                raise Untraceable("it does not do the same each time it is called")
            continue
        if forwards.shape != backwards.shape or not np.array_equal(forwards, backwards, equal_nan=True):
            raise Untraceable("it gives another value when it is called again (a random number, a clock, a memory)")
        told = np.asarray(trace[3](t, q, v), dtype=float).reshape(-1)
        scale = np.where(np.isfinite(forwards), np.abs(forwards), 0.0) + NEAR_ZERO
        with np.errstate(all="ignore"):
            near = np.abs(told - forwards) <= AGREE * scale if told.shape == forwards.shape else np.zeros(1, dtype=bool)
        alike = told.shape == forwards.shape and np.all(near | (told == forwards) | ~np.isfinite(forwards))
        if not alike:
            raise Untraceable(f"with numbers it gives {forwards}, with symbols {told} (at t = {t:.3g})")
