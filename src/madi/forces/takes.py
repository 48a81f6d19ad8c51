"""What a force element takes from its user: `ForceKind.takes` tells of each parameter what it must be, and what is meant
where it is left out. What only one kind takes stands in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madi.errors import finite_numbers
from madi.forces.road import Road

Problem = tuple[str, str]  # what is wrong, and the cure
Problems = Iterator[Problem]
Bound = tuple[Callable[[Any], Any], str, str]  # what must hold; where it does not: the problem ({name}, {value}), the cure


@dataclass(frozen=True)
class Takes:
    """One parameter. `judge(name, value)` gives what is wrong with a value, or None."""

    judge: Callable[[str, Any], Problem | None]
    optional: bool = False  # it may be left out (None) ...
    drawn: bool = False  # ... and is the distance of the element's points in the drawing then,
    quick: float = 0.0  # or (a stiffness on a joint) inertia / quick^2, of what its coordinate moves there
    adjustable: bool = True  # no word and no count: kernels read it as it is, so it may stay open in generated code
    source: str = ""  # what else was made of it when the element was drawn: it cannot be set alone

    def problem(self, name: str, value: Any) -> Problem | None:
        """What is wrong with a value, if anything is."""
        return None if self.optional and value is None else self.judge(name, value)

    def or_none(self, **flags: Any) -> Takes:
        """The same, but it may be left out."""
        return replace(self, optional=True, **flags)


def must(holds: Callable[[Any], Any], problem: str, cure: str, **flags: Any) -> Takes:
    """Anything of which `holds` is true."""
    return Takes(lambda name, value: None if holds(value) else (problem.format(name=name, value=value), cure), **flags)


def number(*bounds: Bound, **flags: Any) -> Takes:
    """A finite number; of its bounds the first that does not hold is told."""

    def judge(name: str, value: Any) -> Problem | None:
        x = finite_numbers(value)
        if x is None or x.shape != ():
            return f"{name} {value!r} is not a finite number", "Give a number in SI units"
        return next(
            ((problem.format(name=name, value=value), cure) for holds, problem, cure in bounds if not holds(x)), None
        )

    return Takes(judge, **flags)


def several(count: int, holds: Callable[[Any], Any], problem: str = "", cure: str = "Give them in SI units") -> Takes:
    """So many finite numbers of which `holds` is true."""
    problem = problem or f"{{name}} {{value!r}} is not {count} finite numbers"
    return must(lambda value: (x := finite_numbers(value, count)) is not None and holds(x), problem, cure)


def samples(odd: bool = True) -> Takes:
    """At how many places a road is felt; odd: one of them is right below."""
    problem, cure = (
        f"places {{value!r}} is not a small {'odd' if odd else 'whole'} number",
        "1 samples it below, 9 envelop it",
    )
    return number((lambda x: x == int(x) and 0 < x < 100 and (x % 2 == 1 or not odd), problem, cure), adjustable=False)


ABOVE_ZERO = (lambda x: x > 0), "{name} {value!r} is not > 0"
ONE_OR_MORE = (lambda x: x >= 1), "{name} {value!r} is not >= 1"
ANYTHING = Takes(lambda name, value: None)  # judged elsewhere
NUMBER, POSITIVE = number(), number((*ABOVE_ZERO, "It must be positive"))
NOT_NEGATIVE = number((lambda x: x >= 0, "{name} is negative", "It must be >= 0"))
LENGTH, DIRECTION = NOT_NEGATIVE.or_none(drawn=True), several(3, np.any)
A_ROAD = must(
    lambda x: isinstance(x, Road), "road {value!r} is not a road", "Give madi.flat() and what is on it", adjustable=False
)
