"""Where the speed of a drive jumps: there an impulse acts, along the drive's own direction (dynamics/impulse.py).

Only a function with cases (where, floor, abs, ...) can jump. Such drives are looked at on a grid; intervals over which the
speed changes by other than its acceleration are halved, all at once, until they are as short as numbers allow. Where that
makes the change smaller, it is a bend and no jump.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from madi.kernel.lookup import at_many
from madi.signals import tape
from madi.signals.tape import CEIL, COPYSIGN, FABS, FLOOR, FMAX, FMIN, FMOD, IF_ELSE_ZERO, LOOKUP, LT, SIGN

if TYPE_CHECKING:
    from madi.system import System

GRID = 2000  # intervals looked at
UNEXPLAINED = 1e-6  # of the largest speed: a change that is not the acceleration's
NO_JUMP = 1e-9  # of the same: what is left of one when it is located was a quick change, not a jump
AT_REST = 1e-12  # m/s or rad/s, added to it: rounding of a drive that stands still is none, either
LOOKUPS = tape.NAMES[LOOKUP:]
CASES = (FABS, FLOOR, CEIL, *range(LT, IF_ELSE_ZERO + 1), FMIN, FMAX, SIGN, COPYSIGN, FMOD, *range(LOOKUP, len(tape.NAMES)))
_ONE: dict[str, Callable[..., Any]] = {
    "neg": np.negative, "inv": np.reciprocal, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "exp": np.exp, "log": np.log, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "fabs": np.abs,
    "floor": np.floor, "ceil": np.ceil, "sign": np.sign, "not": lambda x: (x == 0) * 1.0,
}  # fmt: skip
_TWO: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "atan2": np.arctan2,
    "fmin": np.minimum, "fmax": np.maximum, "copysign": np.copysign, "fmod": np.fmod, "lt": lambda x, y: (x < y) * 1.0,
    "le": lambda x, y: (x <= y) * 1.0, "eq": lambda x, y: (x == y) * 1.0, "ne": lambda x, y: (x != y) * 1.0,
    "and": lambda x, y: ((x != 0) & (y != 0)) * 1.0, "or": lambda x, y: ((x != 0) | (y != 0)) * 1.0,
    "if_else_zero": lambda x, y: np.where(x == 0, 0.0, y),
}  # fmt: skip


class Jump(NamedTuple):
    """When (the first instant after it), of which coordinate, by how much."""

    time: float
    coordinate: str
    change: float


def speed_jumps(system: System, span: float) -> list[Jump]:
    """Jumps of the speeds of all drives from 0 to `span`, in order."""
    model = system.layout.arrays
    if not np.isin(model.tape_op[: model.nd], CASES).any():
        return []
    key = ("jumps", span)
    if key not in system._traces:
        system._traces[key] = _found(system, span)
    return list(system._traces[key])


def _found(system: System, span: float) -> list[Jump]:
    model = system.layout.arrays
    driven = {int(s): system.speeds[c] for c, s in enumerate(model.drive) if s >= 0}
    driven |= {int(s): row.driven for s, row in zip(model.row_signal, system.frozen.rows, strict=True) if s >= 0}
    times = np.linspace(0.0, span, GRID + 1)
    seen, found = signals_at(model, times), []
    for s, name in driven.items():
        speed, acceleration = seen[s + 1], seen[s + 2]
        scale = float(np.nanmax(np.abs(speed), initial=0.0)) + AT_REST
        change = np.diff(speed) - 0.5 * (acceleration[1:] + acceleration[:-1]) * np.diff(times)
        at = np.flatnonzero(np.abs(change) > UNEXPLAINED * scale)
        for time, size in zip(*_located(model, s + 1, times[at], times[at + 1], speed[at], speed[at + 1]), strict=True):
            if abs(size) > NO_JUMP * scale:
                found.append(Jump(float(time), name, float(size)))
    return sorted(found)


def _located(model: Any, s: int, a: Any, b: Any, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    """(times, changes) of the jumps of signal s in the intervals from a to b, where it goes from low to high."""
    first = np.abs(high - low)
    for k in range(1100):
        middle = 0.5 * (a + b)
        if not len(a) or not np.any((a < middle) & (middle < b)):
            break
        here = signals_at(model, middle)[s]
        left = np.abs(here - low) > np.abs(high - here)
        b, high = np.where(left, middle, b), np.where(left, here, high)
        a, low = np.where(left, a, middle), np.where(left, low, here)
        if k == 10:  # a bend is a thousandth by now
            kept = np.abs(high - low) > 0.05 * first
            a, b, low, high, first = a[kept], b[kept], low[kept], high[kept], first[kept]
    return b, high - low


def signals_at(model: Any, times: np.ndarray) -> dict[int, np.ndarray]:
    """The signals of drives at many times at once, by number."""
    registers: list[Any] = []
    found: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for n in range(int(model.nd)):
            op, a, b = tape.NAMES[int(model.tape_op[n])], int(model.tape_a[n]), int(model.tape_b[n])
            value: Any = 0.0
            if op == "const":
                value = float(model.tape_constant[n])
            elif op == "time":
                value = times
            elif op == "output":
                found[b] = np.broadcast_to(np.asarray(registers[a], dtype=float), times.shape)
            elif op in LOOKUPS:
                value = at_many(model.curve, int(model.tape_constant[n]), registers[a], LOOKUPS.index(op))
            elif op in _ONE:
                value = _ONE[op](registers[a])
            elif op in _TWO:
                value = _TWO[op](registers[a], registers[b])
            registers.append(value)
    return found
