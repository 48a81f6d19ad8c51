"""The grammar of expressions in model files, and its parser. Nothing is handed to Python.

program    = { name "=" condition ";" } condition
condition  = both { "or" both };  both = term { "and" term }
term = ["not"] sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
sum        = product { ("+" | "-") product };  product = sign { ("*" | "/") sign };  sign = { "-" | "+" } power
power      = atom [ ("**" | "^") sign ]
atom       = number [unit] | name | name "(" condition { "," condition } ")" | "(" condition ")"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from madi import kernel
from madi.errors import InputError, closest
from madi.schema import units
from madi.schema.units import NONE, Dimension

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
        self.text, self.outer = text, names
        self.names: set[str] = set()  # given on the way
        if len(text) > LONGEST:
            raise InputError(f"the expression is longer than {LONGEST} characters")
        text = "".join(_plain_signs(part) if k % 2 == 0 else part for k, part in enumerate(_QUOTED.split(text)))
        self.tokens: list[tuple[str, str]] = []
        at, end = 0, len(text.rstrip())
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None:
                raise InputError(f"{short(self.text)}: {text[at:].strip()[:1]!r} has no meaning here")
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
            f"{short(self.text)}: {wanted} is expected {'at its end' if kind == 'end' else f'before {word!r}'}"
        )

    def need(self, word: str) -> None:
        if self.take(word) is None:
            raise self.fail(repr(word))

    def program(self) -> Program:
        lets: list[tuple[str, Node]] = []
        while self.peek()[0] == "name" and self.peek(1) == ("op", "="):
            name = self.peek()[1]
            if name in RESERVED:
                raise InputError(f"{short(self.text)}: {name!r} has a meaning of its own; give another name")
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
            raise InputError(f"{short(self.text)}: too many parentheses within each other")
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
                raise InputError(f"{short(self.text)}: what is divided? Write 1/(2 s), or (1/2) s as 0.5 s")
            if count > MOST_TERMS:
                raise InputError(
                    f"{short(self.text)}: more than {MOST_TERMS} terms; name parts of it: a = ...; b = ...; a + b"
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
                raise InputError(f"{short(self.text)}: a power of what? Write (3 m)**2, or 3 m^2 (whole powers, up to 6)")
            self.depth += 1
            if self.depth > DEEPEST:
                raise InputError(f"{short(self.text)}: too many powers of powers")
            found = Node("**", (found, self.sign()))
            self.depth -= 1
        return found

    def atom(self) -> Node:
        kind, word = self.peek()
        if kind == "number":
            self.at += 1
            factor, dimension = self.unit()
            kind, after = self.peek()
            if kind == "name" and after not in ("and", "or") and not self.named(after):
                close = ", ".join(closest(after, units.UNITS))
                raise InputError(f"{short(self.text)}: there is no unit {after!r}{f'; near it: {close}' if close else ''}")
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
            raise InputError(f"{short(self.text)}: {name}() takes {FUNCTIONS[name][0]} argument(s), not {len(arguments)}")
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
                    raise InputError(f"{short(self.text)}: is {word!r} below the line? Write a/(b c), or a/b/c, or a c/b")
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
        known = kind == "name" and not self.named(word) and units.unit(word) is not None
        return known and self.peek(ahead + 1)[1] != "("

    def named(self, word: str) -> bool:
        """Whether it is a parameter, or given on the way."""
        return word in self.names or word in self.outer

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


def short(text: str) -> str:
    """A text as messages quote it."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse(text: str, names: Collection[str] = ()) -> Program:
    """The expression as a tree, or an InputError that says what is expected where. `names`: of parameters."""
    parser = _Parser(text, names)
    if not parser.tokens:
        raise InputError("an expression is empty")
    return parser.program()


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it. (A sum of many terms is deep: no recursion here.)"""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(one for one in reversed(part.args) if isinstance(one, Node))


def fold(node: Node, combine: Callable[[Node, list[Any]], Any]) -> Any:
    """combine(part, what it made of the part's arguments) from the leaves up."""
    made: list[Any] = []
    waiting = [(node, False)]
    while waiting:
        part, ready = waiting.pop()
        below = [one for one in part.args if isinstance(one, Node)]
        if not ready and below:
            waiting.append((part, True))
            waiting.extend((one, False) for one in reversed(below))
            continue
        found = made[len(made) - len(below) :]
        del made[len(made) - len(below) :]
        made.append(combine(part, found))
    return made[0]
