"""Expressions of the signals of runs: "max(abs(chassis.az))", "last(A) - first(A)".

The grammar is that of model files (grammar.py), where names may have dots, or stand in quotes. `max`, `min`, `mean`,
`rms`, `integral`, `first` and `last` of one argument are over time; nothing is handed to Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.schema.grammar import CONSTANTS, FUNCTIONS, Node, _Parser, fold, short, walk

TIME = "t"


def _integral(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """By trapezoids."""
    return 0.5 * ((x[:, 1:] + x[:, :-1]) * np.diff(t)).sum(axis=1)


def _mean(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Over time, however far outputs are apart."""
    return np.asarray(_integral(x, t) / (t[-1] - t[0])) if len(t) > 1 else x[:, -1]


OVER_TIME: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "max": lambda x, t: x.max(axis=1), "min": lambda x, t: x.min(axis=1), "mean": _mean,
    "rms": lambda x, t: np.sqrt(_mean(x * x, t)), "integral": _integral, "first": lambda x, t: x[:, 0],
    "last": lambda x, t: x[:, -1],
}  # fmt: skip
PLAIN = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor", "ceil")
KEEP_UNITS = {"max", "min", "mean", "rms", "first", "last", "abs", "neg", "+", "-", "name", "number"}
ARRAYS: dict[str, Callable[..., Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "neg": np.negative,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "abs": np.abs, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "atan2": np.arctan2, "min": np.minimum,
    "max": np.maximum, "mod": np.mod, "where": np.where, "copysign": np.copysign, "sign": np.sign,
    **{name: getattr(np, name) for name in PLAIN},
}  # fmt: skip
MARK = "over time "


class _SignalParser(_Parser):
    """Names with dots or in quotes are signals; functions of one argument may be over time."""

    def atom(self) -> Node:
        kind, word = self.peek()
        if kind == "text":
            self.at += 1
            return Node("name", (word[1:-1],))
        if kind == "name" and self.peek(1) == ("op", "."):
            parts = [word]
            self.at += 1
            while self.take("."):
                kind, word = self.peek()
                if kind != "name":
                    raise self.fail("a part of a name")
                parts.append(word)
                self.at += 1
            return Node("name", (".".join(parts),))
        return super().atom()

    def call(self, name: str) -> Node:
        if name in ("q", "v"):
            raise InputError(f"{short(self.text)}: signals have names: write A for q(A), A.v for v(A)")
        if name not in OVER_TIME:
            if name not in FUNCTIONS:
                known = ", ".join(dict.fromkeys([*OVER_TIME, *FUNCTIONS]))
                raise InputError(f"{short(self.text)}: there is no function {name!r}; there are {known}")
            return super().call(name)
        start = self.at
        first = self.condition()
        if self.take(")"):
            return Node(MARK + name, (first,))
        if name not in FUNCTIONS:
            raise InputError(f"{short(self.text)}: {name}() takes one argument")
        self.at = start
        return super().call(name)


class Reduction:
    """Of signals by name; called with what gives a signal's rows (runs, times)."""

    def __init__(self, text: str):
        self.text = text
        parser = _SignalParser(text)
        if not parser.tokens:
            raise InputError("keep: an expression is empty")
        self.program = parser.program()
        lets = [name for name, _ in self.program.lets]
        nodes = [part for node in (*(node for _, node in self.program.lets), self.program.result) for part in walk(node)]
        used = dict.fromkeys(part.args[0] for part in nodes if part.op == "name")
        self.signals = [name for name in used if name not in lets and name not in CONSTANTS and name != TIME]
        self.keeps_unit = all(part.op.removeprefix(MARK) in KEEP_UNITS for part in nodes)
        self.is_number = not self._over_time()

    def __call__(self, signal: Callable[[str], np.ndarray], times: np.ndarray, runs: int) -> np.ndarray:
        """(runs,), or (runs, times) where something is left over time."""
        known: dict[str, Any] = {name: value for name, (value, _) in CONSTANTS.items()}
        known[TIME] = np.tile(times, (runs, 1))
        known |= {name: signal(name) for name in self.signals}

        def value(part: Node, found: list[Any]) -> Any:
            if part.op == "number":
                return part.args[0]
            if part.op == "name":
                return known[part.args[0]]
            if part.op.startswith(MARK):
                rows = np.broadcast_to(found[0], (runs, len(times)))
                return OVER_TIME[part.op.removeprefix(MARK)](rows, times)[:, None]
            return ARRAYS[part.op](*found)

        with np.errstate(all="ignore"):
            for name, node in self.program.lets:
                known[name] = fold(node, value)
            result = np.asarray(fold(self.program.result, value), dtype=float)
        whole = np.broadcast_to(result, (runs, 1 if self.is_number else len(times)))
        return np.array(whole[:, 0] if self.is_number else whole)

    def _over_time(self) -> bool:
        """Whether something is left over time."""
        known: dict[str, bool] = dict.fromkeys([*self.signals, TIME], True)

        def left(part: Node, found: list[bool]) -> bool:
            if part.op == "name":
                return known.get(part.args[0], False)
            return not part.op.startswith(MARK) and any(found)

        for name, node in self.program.lets:
            known[name] = fold(node, left)
        return fold(self.program.result, left)
