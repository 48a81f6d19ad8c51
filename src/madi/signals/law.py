"""Laws of force elements: functions of what the element itself measures, the length of its line and its rate.

A law is traced, proven and called like every function of (t, q, v): the measures of all elements with a law follow the
speeds, v = (speeds, length, rate, length, rate, ...).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.signals.proof import stays_in_python
from madi.signals.state import named

NAMES = ("length", "rate", "t", "q", "v")
IN_ORDER = {0: (), 1: ("t",), 2: ("length", "rate"), 3: ("length", "rate", "t")}  # where names tell nothing


def wanted(function: Callable[..., Any]) -> tuple[str, ...]:
    """What the arguments of a law are: by their names, or by their order (t; length, rate; length, rate, t)."""
    inner: Any = function.function if stays_in_python(function) else function  # type: ignore[attr-defined]
    try:
        parameters = inspect.signature(inner).parameters.values()
    except (TypeError, ValueError, OverflowError):
        return ("t",)
    needed = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    if all(name in NAMES for name in needed):
        return tuple(needed)
    if len(needed) in IN_ORDER:
        return IN_ORDER[len(needed)]
    raise InputError(f"its function takes {len(needed)} arguments: write f(length, rate, t), or any of {', '.join(NAMES)}")


def of_state(function: Callable[..., Any], speeds: int, at: int) -> Callable[..., Any]:
    """The law as a function of (t, q, v) with so many speeds, whose measures begin at v[at]."""
    names = wanted(function)

    def law(t: Any, q: Any, v: Any) -> Any:
        own = named(np.asarray(v)[:speeds], v.places, v.what)
        given = {"length": v[at], "rate": v[at + 1], "t": t, "q": q, "v": own}
        return function(*[given[name] for name in names])

    return law
