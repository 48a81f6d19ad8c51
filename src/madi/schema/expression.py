"""What expressions of model files mean: dimensions and values (grammar.py: how they are written).

`t` is time, `q(A)` and `v(A)` the coordinate and speed of that name. Dimensions are checked where they are known: a bare
number, and time, fit anything ("0.2 * t" is an angle, "L + 0.1" a length).
"""

from __future__ import annotations

import math
import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from madi import kernel
from madi.errors import InputError, closest
from madi.schema import units
from madi.schema.grammar import COMPARISONS, CONSTANTS, FUNCTIONS, Node, Program, fold, parse, short, walk
from madi.schema.units import NONE, Dimension

WILD = "wild"  # of time and the state: what it meets in a product may have any dimension after


def dimension(node: Node, known: Mapping[str, Any], text: str) -> Any:
    """Dimension of the result; None: a bare number, which fits anything; WILD. Raises where a length meets a mass."""
    return fold(node, lambda part, found: _dimension(part, found, known, text))


def _dimension(node: Node, found: list[Any], known: Mapping[str, Any], text: str) -> Any:
    op, args = node
    if op == "number":
        return args[1]
    if op == "name":
        return known[args[0]]
    if op in ("q", "v"):
        return WILD
    if op in ("neg", "abs", "floor", "ceil"):
        return found[0]
    if op in ("*", "/"):
        return _product(found[0], found[1], 1 if op == "*" else -1)
    if op == "**":
        return _power(node, found, text)
    if op == "sqrt":
        if found[0] in (None, NONE, WILD):
            return found[0]
        if any(n % 2 for n in found[0]):
            _refuse(text, f"the root of {units.text(found[0])}")
        return tuple(n // 2 for n in found[0])
    if op in ("+", "-", *COMPARISONS, "min", "max", "mod", "where", "copysign", "atan2"):
        pair = found[1:] if op == "where" else found
        certain = [one for one in pair if one not in (None, WILD)]
        if len(set(certain)) > 1:
            _refuse(text, f"{units.text(certain[0])} and {units.text(certain[1])} meet in {op!r}")
        if op in (*COMPARISONS, "atan2"):
            return None
        return certain[0] if certain else WILD if WILD in pair else None
    if op in FUNCTIONS and op != "sign" and found[0] not in (None, NONE, WILD):
        _refuse(text, f"{op}() of a quantity in {units.text(found[0])}")
    return WILD if op not in FUNCTIONS and op not in _OPERATORS else None  # a table's values are in the unit that is wanted


def _product(a: Any, b: Any, sign: int) -> Any:
    if WILD in (a, b):
        return WILD
    if a is None or b is None:
        return a if b is None else units.times(NONE, b, sign)
    return units.times(a, b, sign)


def _power(node: Node, found: Sequence[Any], text: str) -> Any:
    base, exponent = found
    if exponent not in (None, NONE, WILD):
        _refuse(text, f"an exponent in {units.text(exponent)}")
    if base in (None, NONE, WILD):
        return base
    if exponent not in (None, NONE) or node.args[1].op != "number":
        return _refuse(text, f"a power of {units.text(base)} whose exponent is not a number")
    n = node.args[1].args[0]
    parts = [n * part for part in base] if abs(n) <= 12 else [0.5]
    if any(part != round(part) for part in parts):
        return _refuse(text, f"{units.text(base)} to the power {n:g}")
    return round(parts[0]), round(parts[1]), round(parts[2])


def _refuse(text: str, what: str) -> Any:
    raise InputError(f"{short(text)}: {what}; check the units")


_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
    "**": lambda a, b: a**b, "neg": lambda a: -a, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
    "and": lambda a, b: kernel.where(a, kernel.where(b, 1.0, 0.0), 0.0),
    "or": lambda a, b: kernel.where(a, 1.0, kernel.where(b, 1.0, 0.0)), "not": lambda a: kernel.where(a, 0.0, 1.0),
}  # fmt: skip


def evaluate(node: Node, values: Mapping[str, Any], tables: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """The value: a number, or a symbol where time or the state is one."""

    def value(part: Node, found: list[Any]) -> Any:
        op, args = part
        if op == "number":
            return args[0]
        if op == "name":
            return values[args[0]]
        if op in ("q", "v"):
            return state[op][args[0]]
        if op in _OPERATORS:
            return _OPERATORS[op](*found)
        return (FUNCTIONS[op][1] if op in FUNCTIONS else tables[op])(*found)

    return fold(node, value)


class Scope(NamedTuple):
    """What names mean in a file: parameters with their dimensions, tables that can be called."""

    values: dict[str, float]
    dimensions: dict[str, Any]  # a Dimension, None or WILD
    tables: dict[str, Any]

    def check(self, program: Program, text: str, free: Sequence[str] = ()) -> Dimension | None:
        """Every name must be known, every dimension fit; the dimension of the result."""
        constants = {name: of for name, (_, of) in CONSTANTS.items()}
        known: ChainMap[str, Any] = ChainMap({}, dict.fromkeys(free, WILD), self.dimensions, constants)
        for name, node in [*program.lets, ("", program.result)]:
            self._names(node, known, text, free)
            found = dimension(node, known, text)
            if name:
                known[name] = found
        return found

    def _names(self, node: Node, known: Mapping[str, Any], text: str, free: Sequence[str]) -> None:
        for part in walk(node):
            if part.op == "name" and part.args[0] not in known:
                raise InputError(self._unknown(part.args[0], known, text, free))
            if part.op in ("q", "v") and "t" not in free:
                raise InputError(f"{short(text)}: {part.op}({part.args[0]}) is the state of a run; only forces may use it")
            if part.op in self.tables and len(part.args) != 1:
                raise InputError(f"{short(text)}: the table {part.op!r} takes one argument, not {len(part.args)}")
            if part.args and part.op not in (*_OPERATORS, *FUNCTIONS, *self.tables, "number", "name", "q", "v"):
                raise InputError(
                    f"{short(text)}: there is no function {part.op!r}; {_near(part.op, [*FUNCTIONS, *self.tables])}"
                )

    def _unknown(self, name: str, known: Mapping[str, Any], text: str, free: Sequence[str]) -> str:
        if name == "t":
            return f"{short(text)}: t is time; only drives and forces depend on it"
        if units.unit(name) is not None:
            return f"{short(text)}: {name!r} is a unit and needs a number before it"
        return f"{short(text)}: there is no parameter {name!r}; {_near(name, [n for n in known if n not in free])}"

    def number(self, text: str, wanted: Dimension | None) -> float:
        """A constant expression in SI units; `wanted` None: any dimension."""
        program = parse(text, self.values)
        return self.settle(text, program, self.check(program, text), wanted)

    def quantity(self, text: str) -> tuple[float, Dimension | None]:
        """The same with the dimension it has."""
        program = parse(text, self.values)
        found = self.check(program, text)
        return self.settle(text, program, found, found), found

    def settle(self, text: str, program: Program, found: Dimension | None, wanted: Dimension | None) -> float:
        """The number, of the dimension wanted, and finite."""
        fits(text, found, wanted)
        try:
            value = float(run(program, self._constants(), self.tables, {}))
        except ZeroDivisionError:
            raise InputError(f"{short(text)}: division by zero") from None
        except OverflowError:
            raise InputError(f"{short(text)}: too large a number") from None
        except TypeError:
            raise InputError(f"{short(text)}: has no real value") from None
        if not math.isfinite(value):
            raise InputError(f"{short(text)}: is not a finite number")
        return value

    def _constants(self) -> Mapping[str, Any]:
        return ChainMap(self.values, {name: value for name, (value, _) in CONSTANTS.items()})

    def function(
        self, text: str, wanted: Dimension | None, variable: str = "t", rename: Callable[[str], str] | None = None,
        more: Sequence[str] = (),
    ) -> Expression:  # fmt: skip
        """An expression of time (and the state), or of x; `rename`: coordinates are called otherwise in the model; `more`:
        what a force element measures."""
        program = parse(text, self.values)
        if rename is not None:
            program = _renamed(program, rename)
        fits(text, self.check(program, text, (variable, *more)), wanted)
        return Expression(text, program, self._constants(), self.tables, variable)


def _renamed(program: Program, rename: Callable[[str], str]) -> Program:
    def again(node: Node, below: list[Node]) -> Node:
        if node.op in ("q", "v"):
            return Node(node.op, (rename(node.args[0]),))
        return Node(node.op, tuple(below)) if below else node

    return Program(tuple((name, fold(node, again)) for name, node in program.lets), fold(program.result, again))


def fits(text: str, found: Any, wanted: Dimension | None) -> None:
    """A dimension that is known must be the one wanted."""
    if wanted is None or found in (None, WILD, wanted):
        return
    needed = "a number or an angle (rad, deg)" if wanted == NONE else units.text(wanted)
    told = f"{short(text)} is in {units.text(found)}; {needed} is needed"
    if re.search(r"\blb\b", text) and units.times(found, (1, 0, -2)) == wanted:
        told += " (lb is a mass; a pound's force is lbf)"
    raise InputError(told)


def _near(name: str, known: Sequence[str]) -> str:
    close = closest(name, known)
    return f"did you mean {', '.join(close)}?" if close else f"there are: {', '.join(sorted(known)[:20]) or 'none'}"


def run(program: Program, values: Mapping[str, Any], tables: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Evaluate the names given on the way, then the result."""
    seen: ChainMap[str, Any] = ChainMap({}, values)  # type: ignore[arg-type]
    for name, node in program.lets:
        seen[name] = evaluate(node, seen, tables, state)
    return evaluate(program.result, seen, tables, state)


class Expression:
    """A function of time (and, bound to a system's names, of its state) written as text."""

    traced_safely = True

    def __init__(
        self, text: str, program: Program, values: Mapping[str, Any], tables: Mapping[str, Any], variable: str = "t"
    ):
        self.text, self.program, self.variable = text, program, variable
        self.values = {name: values[name] for name in self.names if name in values}
        self.tables = tables

    def nodes(self) -> list[Node]:
        """All trees of it: names given on the way, then the result."""
        return [*(node for _, node in self.program.lets), self.program.result]

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    @property
    def names(self) -> set[str]:
        """Names it uses: parameters, the variable, its own."""
        return {part.args[0] for node in self.nodes() for part in walk(node) if part.op == "name"}

    @property
    def state(self) -> dict[str, list[str]]:
        """Coordinates ("q") and speeds ("v") it asks for."""
        found: dict[str, list[str]] = {"q": [], "v": []}
        for node in self.nodes():
            for part in walk(node):
                if part.op in found and part.args[0] not in found[part.op]:
                    found[part.op].append(part.args[0])
        return found

    def __call__(self, t: Any) -> Any:
        """The value at t (a number or a symbol)."""
        return run(self.program, {**self.values, self.variable: t}, self.tables, {"q": {}, "v": {}})

    def at(self, t: Any, state: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> Any:
        """The value at time t, coordinates and velocities by name; `more`: what an element measures."""
        return run(self.program, {**self.values, self.variable: t, **(more or {})}, self.tables, state)


class Functions:
    """What a force takes from a file: as many expressions as it has components; `bind` gives f(t, q, v)."""

    traced_safely = True

    def __init__(self, parts: Sequence[Expression | float], single: bool = False):
        self.parts, self.single = list(parts), single

    def __repr__(self) -> str:
        return f"Functions({self.parts!r})"

    @property
    def of_state(self) -> bool:
        """Whether any component asks for the state."""
        return any(any(part.state.values()) for part in self.parts if isinstance(part, Expression))

    def __call__(self, t: Any) -> Any:
        """All components at t."""
        found = [part(t) if isinstance(part, Expression) else part for part in self.parts]
        return found[0] if self.single else found

    def bind(
        self, coordinates: Sequence[str], speeds: Sequence[str], measures: int | None = None
    ) -> Callable[[Any, Any, Any], Any]:
        """The function of (t, q, v) of a system with these names; `measures`: where in v length and rate are."""
        for part in self.parts:
            wanted = part.state if isinstance(part, Expression) else {}
            for kind, names in (("q", coordinates), ("v", speeds)):
                for name in wanted.get(kind, ()):
                    if name not in names:
                        raise InputError(f"{kind}({name}): there is no such {'coordinate' if kind == 'q' else 'speed'}; "
                                         f"{_near(name, names)}")  # fmt: skip

        def function(t: Any, q: Any, v: Any) -> Any:
            state = {"q": {name: q[k] for k, name in enumerate(coordinates)},
                     "v": {name: v[k] for k, name in enumerate(speeds)}}  # fmt: skip
            more = {} if measures is None else {"length": v[measures], "rate": v[measures + 1]}
            found = [part.at(t, state, more) if isinstance(part, Expression) else part for part in self.parts]
            return found[0] if self.single else found

        function.traced_safely = True  # type: ignore[attr-defined]
        return function
