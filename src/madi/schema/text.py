"""Users' functions as text for a file: traced, then written as an expression that traces to the very same instructions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from madi.errors import InputError
from madi.schema.expression import Expression, Functions
from madi.schema.grammar import CONSTANTS, FUNCTIONS, parse, walk
from madi.signals.table import table_of

DEEP = 12  # a part nested deeper gets a name of its own
_BINARY = {"add": ("+", 1), "sub": ("-", 1), "mul": ("*", 2), "div": ("/", 2), "pow": ("**", 4), "lt": ("<", 0),
           "le": ("<=", 0), "eq": ("==", 0), "ne": ("!=", 0)}  # fmt: skip
_NAMES = {"fabs": "abs", "fmin": "min", "fmax": "max"}


class Part(NamedTuple):
    """An operation of the trace and what it takes: `op` "text" is a leaf."""

    op: str
    args: tuple[Any, ...]


def function_text(
    value: Any, outputs: int, coordinates: Sequence[str], speeds: Sequence[str], what: str, more: Sequence[str] = (),
    tables: dict[str, Any] | None = None,
) -> list[Any]:  # fmt: skip
    """One number or text for each component of a force or drive; `more`: what a law sees beside time and state; `tables`
    gets those it uses, by the names they have in the text."""
    if isinstance(value, Functions) and all(_plain(part) for part in value.parts):
        return [part.text if isinstance(part, Expression) else part for part in value.parts]
    import numpy as np

    from madi.signals.law import of_state
    from madi.signals.proof import proven_trace
    from madi.signals.trace import arguments

    n = len(speeds)
    if more:
        bound = value.bind(coordinates, speeds, n) if hasattr(value, "bind") else of_state(value, n, n)
    else:
        bound = value.bind(coordinates, speeds) if hasattr(value, "bind") else value
    try:
        import casadi as ca

        state = np.zeros(len(coordinates)), np.zeros(n + len(more))
        expression, inputs = proven_trace(bound, arguments(bound), *state, (coordinates, speeds))
    except Exception as error:  # whatever the user's function does with symbols
        raise InputError(
            f"{what}: its function cannot be written as an expression ({type(error).__name__}: {error}). Use arithmetic, "
            "madi's or NumPy's functions and madi.where, or keep the model in Python"
        ) from None
    leaves = {0: lambda k: "t", 1: lambda k: f"q({_quoted(coordinates[k])})",
              2: lambda k: f"v({_quoted(speeds[k])})" if k < n else more[k - n]}  # fmt: skip
    found: list[Any] = []
    for k in range(expression.shape[0]):
        if expression[k].is_constant():
            found.append(float(expression[k]))
        else:
            found.append(_text(ca.Function("f", list(inputs), [expression[k]]), leaves, what, tables))
    if len(found) != outputs:
        raise InputError(f"{what}: its function returns {len(found)} number(s); {outputs} are needed")
    return found


def shape_text(function: Any, what: str) -> str:
    """A user's mode shape as an expression of x."""
    if isinstance(function, Expression) and _plain(function):
        return function.text
    import casadi as ca

    from madi.symbolic.sym import Sym, raw

    x = ca.SX.sym("x")
    return _text(ca.Function("f", [x], [ca.SX(raw(function(Sym(x))))]), {0: lambda k: "x"}, what)


def _plain(part: Any) -> bool:
    """Text that means the same in another file: without parameters and tables of its own."""
    if not isinstance(part, Expression):
        return True
    used = {node.op for tree in part.nodes() for node in walk(tree)}
    if parse(part.text, part.values) != part.program:  # a prefix has changed its names
        return False
    return not (set(part.values) - set(CONSTANTS)) and not (used & set(part.tables) - set(FUNCTIONS))


def _quoted(name: str) -> str:
    if all(c.isalnum() or c in "_." for c in name) and name.isascii():
        return name
    if '"' in name and "'" in name:
        raise InputError(f"{name}: a name with both kinds of quotes cannot stand in an expression")
    return f"'{name}'" if '"' in name else f'"{name}"'


def _text(
    function: Any, leaves: dict[int, Callable[[int], str]], what: str, tables: dict[str, Any] | None = None
) -> str:  # fmt: skip
    from madi.symbolic.ssa import LOOKUPS, instructions

    parts: list[Any] = []
    result: Part | None = None
    for op, a, b, value, array in instructions(function):
        made: Any = None
        if op == "input":
            made = Part("text", (leaves[a](b),))
        elif op == "const":
            if not math.isfinite(value):
                raise InputError(f"{what}: its function has a constant that is not finite")
            made = Part("number", (value,))
        elif op == "output":
            result = parts[a]
        elif op in LOOKUPS:
            if tables is None:
                raise InputError(f"{what}: a table cannot be written here; use arithmetic and madi's functions")
            made = Part(_table_name(table_of(array), tables), (parts[a],))
        else:
            made = _merged(op, parts[a], parts[b] if b >= 0 else None)
        parts.append(made)
    assert result is not None
    return _write(result)


def _table_name(table: Any, tables: dict[str, Any]) -> str:
    """What a table is called in the file."""
    for name, known in tables.items():
        if known is table:
            return name
    name = f"table{len(tables) + 1}"
    tables[name] = table
    return name


def _merged(op: str, a: Part, b: Part | None) -> Part:
    """CasADi's two halves of a case are one `where` again."""
    if op == "add" and b is not None and a.op == b.op == "if_else_zero":
        condition, other = a.args[0], b.args[0]
        if other.op == "not" and other.args[0] is condition:
            return Part("where", (condition, a.args[1], b.args[1]))
    if op == "inv":
        return Part("div", (Part("number", (1.0,)), a))
    return Part(op, (a,) if b is None else (a, b))


def _write(result: Part) -> str:
    """Text in which every part that is used twice, or lies deep, is named once."""
    uses: Counter[int] = Counter()
    order: list[Part] = []
    depth: dict[int, int] = {}
    stack: list[tuple[Part, bool]] = [(result, False)]
    while stack:  # parts after what they take
        part, done = stack.pop()
        below = [arg for arg in part.args if isinstance(arg, Part)]
        if done:
            depth[id(part)] = 1 + max((depth[id(arg)] for arg in below), default=0)
            if depth[id(part)] > DEEP:
                uses[id(part)] += 1  # as if used twice
                depth[id(part)] = 1
            order.append(part)
        elif id(part) not in depth:
            depth[id(part)] = 0
            stack.append((part, True))
            for arg in reversed(below):
                uses[id(arg)] += 1
                stack.append((arg, False))
    names: dict[int, str] = {}
    lets = []
    for part in order:
        if part is not result and uses[id(part)] > 1 and part.op not in ("text", "number"):
            text = _one(part, names)[0]
            names[id(part)] = f"a{len(names) + 1}"
            lets.append(f"{names[id(part)]} = {text}; ")
    return "".join(lets) + _one(result, names)[0]


def _one(part: Part, names: dict[int, str]) -> tuple[str, int]:
    """Text and rank (5: needs no parentheses) of a part."""
    if id(part) in names:
        return names[id(part)], 5
    op, args = part
    if op == "text":
        return args[0], 5
    if op == "number":
        return repr(args[0]), 5 if args[0] >= 0 and math.copysign(1.0, args[0]) > 0 else 3
    found = [_one(arg, names) for arg in args]
    if op in _BINARY:
        sign, rank = _BINARY[op]
        left = 5 if rank == 4 else max(rank, 1)
        return f"{_in(found[0], left)} {sign} {_in(found[1], 3 if rank == 4 else max(rank, 1) + (rank > 0))}", rank
    if op == "neg":
        return f"-{_in(found[0], 4)}", 3
    if op == "not":
        return f"not {_in(found[0], 1)}", 0
    if op == "if_else_zero" and args[0].op == "not":
        return f"where({_one(args[0].args[0], names)[0]}, 0, {found[1][0]})", 5
    if op == "if_else_zero":
        return f"where({found[0][0]}, {found[1][0]}, 0)", 5
    return f"{_NAMES.get(op, op)}({', '.join(text for text, _ in found)})", 5


def _in(found: tuple[str, int], rank: int) -> str:
    return found[0] if found[1] >= rank else f"({found[0]})"
