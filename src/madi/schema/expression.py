"""Arithmetic in model files: numbers with units, parameters, functions. A grammar of its own, nothing is handed to Python.

    program    = { name "=" condition ";" } condition
    condition  = both { "or" both };  both = term { "and" term }
    term = ["not"] sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
    sum        = product { ("+" | "-") product };  product = sign { ("*" | "/") sign };  sign = { "-" | "+" } power
    power      = atom [ ("**" | "^") sign ]
    atom       = number [unit] | name | name "(" condition { "," condition } ")" | "(" condition ")"

`t` is time, `q(A)` and `v(A)` the coordinate and speed of that name. Dimensions are checked where they are known: a bare
number, and time, fit anything ("0.2 * t" is an angle, "L + 0.1" a length).
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from madi import kernel
from madi.errors import InputError
from madi.schema import units
from madi.schema.units import NONE, Dimension

WILD = "wild"  # of time and the state: what it meets in a product may have any dimension after
LONGEST, DEEPEST, MOST_TERMS = 200_000, 30, 100  # characters; parentheses within parentheses; terms of one sum or product
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
CONSTANTS: dict[str, tuple[float, Dimension | None]] = {"pi": (math.pi, None), "g0": (units.G0, (1, 0, -2))}


def _mod(x: Any, y: Any) -> Any:
    return x - y * kernel.floor(x / y)


FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {  # name: (how many arguments, the function in all three lives)
    **{name: (1, getattr(kernel, name)) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "sqrt",
        "floor", "ceil")},
    "abs": (1, kernel.fabs), "sign": (1, np.sign), "atan2": (2, kernel.atan2), "min": (2, np.minimum),
    "max": (2, np.maximum), "mod": (2, _mod), "where": (3, kernel.where), "copysign": (2, kernel.copysign),
}  # fmt: skip
RESERVED = {*units.UNITS, *FUNCTIONS, *CONSTANTS, "t", "q", "v", "x", "and", "or", "not"}


class Node(NamedTuple):
    """`op` with its arguments: "number" (value, dimension), "name" (name), "q" (coordinate), an operator, a function."""

    op: str
    args: tuple[Any, ...]


class Program(NamedTuple):
    """Names given on the way, in order, and the result."""

    lets: tuple[tuple[str, Node], ...]
    result: Node


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-zµ°%_][A-Za-z0-9_]*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<op>\*\*|<=|>=|==|!=|[-+*/^()<>,;=·.@]))"
)


_QUOTED = re.compile(r"(\"[^\"]*\"|'[^']*')")


def _plain_signs(text: str) -> str:
    """m² as m^2, Greek μ as the unit's µ."""
    for sign, plain in (("²", "^2"), ("³", "^3"), ("⁴", "^4"), ("\u03bc", "µ")):
        text = text.replace(sign, plain)
    return text


class _Parser:
    def __init__(self, text: str, names: Collection[str] = ()):
        self.text, self.names = text, set(names)
        if len(text) > LONGEST:
            raise InputError(f"the expression is longer than {LONGEST} characters")
        text = "".join(_plain_signs(part) if k % 2 == 0 else part for k, part in enumerate(_QUOTED.split(text)))
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise InputError(f"{_short(self.text)}: {text[at:].strip()[:1]!r} has no meaning here")
            kind = found.lastgroup or ""
            self.tokens.append((kind, found.group(kind)))
            at = found.end()
        self.at, self.depth = 0, 0

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def take(self, *wanted: str) -> str | None:
        kind, word = self.peek()
        if word in wanted and kind in ("op", "name"):
            self.at += 1
            return word
        return None

    def fail(self, wanted: str) -> InputError:
        kind, word = self.peek()
        return InputError(
            f"{_short(self.text)}: {wanted} is expected {'at its end' if kind == 'end' else f'before {word!r}'}"
        )

    def need(self, word: str) -> None:
        if self.take(word) is None:
            raise self.fail(repr(word))

    def program(self) -> Program:
        lets: list[tuple[str, Node]] = []
        while self.peek()[0] == "name" and self.peek(1) == ("op", "="):
            name = self.peek()[1]
            if name in RESERVED:
                raise InputError(f"{_short(self.text)}: {name!r} has a meaning of its own; give another name")
            self.at += 2
            lets.append((name, self.condition()))
            self.names.add(name)
            self.need(";")
        result = self.condition()
        if self.peek()[0] != "end":
            raise self.fail("an operator")
        return Program(tuple(lets), result)

    def condition(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise InputError(f"{_short(self.text)}: too many parentheses within each other")
        found = self.chain(lambda: self.chain(self.term, "and"), "or")
        self.depth -= 1
        return found

    def term(self) -> Node:
        if self.take("not"):
            return Node("not", (self.term_once(),))
        return self.term_once()

    def term_once(self) -> Node:
        found = self.sum()
        if (word := self.take(*COMPARISONS)) is not None:
            found = Node(word, (found, self.sum()))
        return found

    def sum(self) -> Node:
        return self.chain(self.product, "+", "-")

    def product(self) -> Node:
        return self.chain(self.sign, "*", "/", "·")

    def chain(self, part: Callable[[], Node], *operators: str) -> Node:
        """Parts between operators of one rank, from the left."""
        found, count = part(), 0
        while (word := self.take(*operators)) is not None:
            count += 1
            if word == "/" and found.op == "number" and found.args[1] is None and self.quantity_ahead():
                raise InputError(f"{_short(self.text)}: what is divided? Write 1/(2 s), or (1/2) s as 0.5 s")
            if count > MOST_TERMS:
                raise InputError(
                    f"{_short(self.text)}: more than {MOST_TERMS} terms; name parts of it: a = ...; b = ...; a + b"
                )
            found = Node("*" if word == "·" else word, (found, part()))
        return found

    def sign(self) -> Node:
        negative = False
        while (word := self.take("-", "+")) is not None:
            negative ^= word == "-"
        found = self.power()
        if negative and found.op == "number":
            return Node("number", (-found.args[0], found.args[1]))
        return Node("neg", (found,)) if negative else found

    def power(self) -> Node:
        literal = self.peek()[0] == "number"
        found = self.atom()
        if self.take("**", "^"):
            if literal and found.args[1] is not None:  # its unit has taken what powers it can have
                raise InputError(f"{_short(self.text)}: a power of what? Write (3 m)**2, or 3 m^2 (whole powers, up to 6)")
            self.depth += 1
            if self.depth > DEEPEST:
                raise InputError(f"{_short(self.text)}: too many powers of powers")
            found = Node("**", (found, self.sign()))
            self.depth -= 1
        return found

    def atom(self) -> Node:
        kind, word = self.peek()
        if kind == "number":
            self.at += 1
            factor, dimension = self.unit()
            kind, after = self.peek()
            if kind == "name" and after not in ("and", "or") and after not in self.names:
                close = ", ".join(difflib.get_close_matches(after, [*units.UNITS], 3, 0.5))
                raise InputError(f"{_short(self.text)}: there is no unit {after!r}{f'; near it: {close}' if close else ''}")
            return Node("number", (float(word) * factor, dimension))
        if kind == "name":
            self.at += 1
            if self.take("("):
                return self.call(word)
            return Node("name", (word,))
        if self.take("("):
            found = self.condition()
            self.need(")")
            return found
        raise self.fail("a number, a name or '('")

    def call(self, name: str) -> Node:
        if name in ("q", "v"):
            start = self.at
            while self.peek()[1] != ")" and self.peek()[0] != "end":
                self.at += 1
            coordinate = "".join(word[1:-1] if kind == "text" else word for kind, word in self.tokens[start : self.at])
            self.need(")")
            return Node(name, (coordinate,))
        arguments = [self.condition()]
        while self.take(","):
            arguments.append(self.condition())
        self.need(")")
        if name in FUNCTIONS and len(arguments) != FUNCTIONS[name][0]:
            raise InputError(f"{_short(self.text)}: {name}() takes {FUNCTIONS[name][0]} argument(s), not {len(arguments)}")
        return Node(name, tuple(arguments))

    def unit(self) -> tuple[float, Dimension | None]:
        """The unit after a number: "kg mm^2", "N/(m s)", "lbf s/in", "1/s"; none: it fits anything."""
        factor, dimension, below = 1.0, NONE, False
        if self.unit_at(0):
            factor, dimension = self.factor()
        elif not (self.peek()[1] == "/" and self.unit_at(1)):
            return 1.0, None
        while True:
            word, ahead = self.peek()[1], self.peek(1)
            if self.unit_at(0):
                if below:
                    raise InputError(f"{_short(self.text)}: is {word!r} below the line? Write a/(b c), or a/b/c, or a c/b")
                sign = 1
            elif word in ("*", "·", "/") and self.unit_at(1):
                self.at += 1
                sign, below = (-1, True) if word == "/" else (1, below)
            elif word == "/" and ahead[1] == "(" and self.unit_at(2):
                self.at += 2
                sign, below = -1, True
                more, of = self.factor()
                while self.peek()[0] == "name" or self.take("*", "·"):
                    again, further = self.factor()
                    more, of = more * again, units.times(of, further)
                self.need(")")
                factor, dimension = factor / more, units.times(dimension, of, -1)
                continue
            else:
                return factor, dimension
            more, of = self.factor()
            factor, dimension = (factor * more if sign > 0 else factor / more), units.times(dimension, of, sign)

    def unit_at(self, ahead: int) -> bool:
        """Whether a unit stands there: no parameter of that name (m2, l2), no function."""
        kind, word = self.peek(ahead)
        known = kind == "name" and word not in self.names and units.unit(word) is not None
        return known and self.peek(ahead + 1)[1] != "("

    def quantity_ahead(self) -> bool:
        """Whether a number with a unit comes next."""
        return self.peek()[0] == "number" and self.unit_at(1)

    def factor(self) -> tuple[float, Dimension]:
        kind, word = self.peek()
        known = units.unit(word) if kind == "name" else None
        if known is None:
            raise self.fail("a unit")
        self.at += 1
        negative = self.peek(1)[1] == "-"
        kind, power = self.peek(2 if negative else 1)
        if self.peek()[1] in ("^", "**") and kind == "number" and power.isdigit() and int(power) <= 6:
            self.at += 3 if negative else 2
            return units.power(*known, -int(power) if negative else int(power))
        return known


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse(text: str, names: Collection[str] = ()) -> Program:
    """The expression as a tree, or an InputError that says what is expected where. `names`: of parameters."""
    parser = _Parser(text, names)
    if not parser.tokens:
        raise InputError("an expression is empty")
    return parser.program()


# ---- dimensions and values -------------------------------------------------------------------------------------------


def walk(node: Node) -> Any:
    """A node and all below it."""
    yield node
    for part in node.args:
        if isinstance(part, Node):
            yield from walk(part)


def dimension(node: Node, known: Mapping[str, Any], text: str) -> Any:
    """Dimension of the result; None: a bare number, which fits anything; WILD. Raises where a length meets a mass."""
    op, args = node
    if op == "number":
        return args[1]
    if op == "name":
        return known[args[0]]
    if op in ("q", "v"):
        return WILD
    found = [dimension(arg, known, text) for arg in args]
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
    raise InputError(f"{_short(text)}: {what}; check the units")


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
    op, args = node
    if op == "number":
        return args[0]
    if op == "name":
        return values[args[0]]
    if op in ("q", "v"):
        return state[op][args[0]]
    found = [evaluate(arg, values, tables, state) for arg in args]
    if op in _OPERATORS:
        return _OPERATORS[op](*found)
    return (FUNCTIONS[op][1] if op in FUNCTIONS else tables[op])(*found)


class Scope(NamedTuple):
    """What names mean in a file: parameters with their dimensions, tables that can be called."""

    values: dict[str, float]
    dimensions: dict[str, Any]  # a Dimension, None or WILD
    tables: dict[str, Any]

    def check(self, program: Program, text: str, free: Sequence[str] = ()) -> Dimension | None:
        """Every name must be known, every dimension fit; the dimension of the result."""
        known = {**{name: of for name, (_, of) in CONSTANTS.items()}, **self.dimensions, **dict.fromkeys(free, WILD)}
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
                raise InputError(f"{_short(text)}: {part.op}({part.args[0]}) is the state of a run; only forces may use it")
            if part.op in self.tables and len(part.args) != 1:
                raise InputError(f"{_short(text)}: the table {part.op!r} takes one argument, not {len(part.args)}")
            if part.args and part.op not in (*_OPERATORS, *FUNCTIONS, *self.tables, "number", "name", "q", "v"):
                raise InputError(
                    f"{_short(text)}: there is no function {part.op!r}; {_near(part.op, [*FUNCTIONS, *self.tables])}"
                )

    def _unknown(self, name: str, known: Mapping[str, Any], text: str, free: Sequence[str]) -> str:
        if name == "t":
            return f"{_short(text)}: t is time; only drives and forces depend on it"
        if units.unit(name) is not None:
            return f"{_short(text)}: {name!r} is a unit and needs a number before it"
        return f"{_short(text)}: there is no parameter {name!r}; {_near(name, [n for n in known if n not in free])}"

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
            raise InputError(f"{_short(text)}: division by zero") from None
        except OverflowError:
            raise InputError(f"{_short(text)}: too large a number") from None
        except TypeError:
            raise InputError(f"{_short(text)}: has no real value") from None
        if not math.isfinite(value):
            raise InputError(f"{_short(text)}: is not a finite number")
        return value

    def _constants(self) -> dict[str, Any]:
        return {**{name: value for name, (value, _) in CONSTANTS.items()}, **self.values}

    def function(
        self, text: str, wanted: Dimension | None, variable: str = "t", rename: Callable[[str], str] | None = None
    ) -> Expression:
        """An expression of time (and the state), or of x; `rename`: coordinates are called otherwise in the model."""
        program = parse(text, self.values)
        if rename is not None:
            program = _renamed(program, rename)
        fits(text, self.check(program, text, (variable,)), wanted)
        return Expression(text, program, self._constants(), self.tables, variable)


def _renamed(program: Program, rename: Callable[[str], str]) -> Program:
    def again(node: Any) -> Any:
        if not isinstance(node, Node):
            return node
        if node.op in ("q", "v"):
            return Node(node.op, (rename(node.args[0]),))
        return Node(node.op, tuple(again(arg) for arg in node.args))

    return Program(tuple((name, again(node)) for name, node in program.lets), again(program.result))


def fits(text: str, found: Any, wanted: Dimension | None) -> None:
    """A dimension that is known must be the one wanted."""
    if wanted is None or found in (None, WILD, wanted):
        return
    needed = "a number or an angle (rad, deg)" if wanted == NONE else units.text(wanted)
    told = f"{_short(text)} is in {units.text(found)}; {needed} is needed"
    if re.search(r"\blb\b", text) and units.times(found, (1, 0, -2)) == wanted:
        told += " (lb is a mass; a pound's force is lbf)"
    raise InputError(told)


def _near(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 3, 0.5)
    return f"did you mean {', '.join(close)}?" if close else f"there are: {', '.join(sorted(known)[:20]) or 'none'}"


def run(program: Program, values: Mapping[str, Any], tables: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Evaluate the names given on the way, then the result."""
    seen = dict(values)
    for name, node in program.lets:
        seen[name] = evaluate(node, seen, tables, state)
    return evaluate(program.result, seen, tables, state)


class Expression:
    """A function of time (and, bound to a system's names, of its state) written as text."""

    def __init__(
        self, text: str, program: Program, values: Mapping[str, Any], tables: Mapping[str, Any], variable: str = "t"
    ):
        self.text, self.program, self.variable = text, program, variable
        used = {part.args[0] for node in self._nodes() for part in walk(node) if part.op == "name"}
        self.values = {name: value for name, value in values.items() if name in used}
        self.tables = tables

    def _nodes(self) -> list[Node]:
        return [*(node for _, node in self.program.lets), self.program.result]

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    @property
    def state(self) -> dict[str, list[str]]:
        """Coordinates ("q") and speeds ("v") it asks for."""
        found: dict[str, list[str]] = {"q": [], "v": []}
        for node in self._nodes():
            for part in walk(node):
                if part.op in found and part.args[0] not in found[part.op]:
                    found[part.op].append(part.args[0])
        return found

    def __call__(self, t: Any) -> Any:
        """The value at t (a number or a symbol)."""
        return run(self.program, {**self.values, self.variable: t}, self.tables, {"q": {}, "v": {}})

    def at(self, t: Any, state: Mapping[str, Any]) -> Any:
        """The value at time t, coordinates and speeds by name."""
        return run(self.program, {**self.values, self.variable: t}, self.tables, state)


class Functions:
    """What a force takes from a file: as many expressions as it has components; `bind` gives f(t, q, v)."""

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

    def bind(self, coordinates: Sequence[str], speeds: Sequence[str]) -> Callable[[Any, Any, Any], Any]:
        """The function of (t, q, v) of a system with these names."""
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
            found = [part.at(t, state) if isinstance(part, Expression) else part for part in self.parts]
            return found[0] if self.single else found

        return function
