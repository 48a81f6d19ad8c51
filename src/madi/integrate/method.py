"""A method as users name it: an object whose fields are its options, with the loops that do it.

    madi.simulate(model, 10.0, step=1e-3, method=madi.Newmark(gamma=0.5, beta=0.25, iterations=2, jacobian="once"))

The plain word ("newmark") means the defaults; in files, `method: {newmark: {beta: 0.25}}`. A new method is a file with a
subclass of `Method`, and a line of the registry (integrate/__init__.py).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from madi.errors import InputError, a_number
from madi.integrate.memory import Loop


@dataclass(frozen=True)
class Steps:
    """Tolerances and lengths of the steps of a run; step None: they are chosen."""

    span: float
    step: float | None = None
    rtol: float = 1e-6
    atol: float = 1e-8
    max_step: float | None = None

    def put(self, m: Any, end: float) -> None:
        """Into an integrator's memory."""
        m.rtol, m.atol, m.max_step = self.rtol, self.atol, self.span if self.max_step is None else self.max_step
        m.step, m.end = self.step or 0.0, self.span if self.step else end


@dataclass(frozen=True)
class Method:
    """Base of all methods."""

    name: ClassVar[str]
    order: ClassVar[int]
    fixed: ClassVar[Loop | None] = None  # the loop with steps of a fixed length
    adaptive: ClassVar[Loop | None] = None  # the loop that chooses its steps
    implicit: ClassVar[bool] = False  # solves with the Jacobian of the residual (newton_matrix.py)
    closes: ClassVar[bool] = False  # closes the loops within its step
    hard: ClassVar[bool] = False  # contact, stops and friction are impulses of its steps: there are no events
    exported: ClassVar[bool] = False  # its step can be translated to C (export/)
    stable: ClassVar[float | None] = None  # |h lambda| that an explicit method with steps of a fixed length bears
    outside: ClassVar[Any] = None  # an external solver, in place of the loops

    def loop(self, step: float | None) -> Loop:
        """The loop for a run with this step (None: chosen)."""
        found = self.adaptive if step is None else self.fixed
        assert found is not None
        return found

    def put(self, memory: Any) -> None:
        """Options into the memory of a run."""

    def refuse(self, step: float | None) -> None:
        """Options that a run with this step (None: chosen) has no use for: whoever gives them expects them to matter."""

    def feed_back(self, options: Any) -> None:
        """Of an external solver: options of the loop equations it evaluates."""

    @property
    def keeps_matrix(self) -> bool:
        """Of an implicit one: whether it solves many times with each matrix."""
        return False

    def options(self) -> dict[str, Any]:
        """Options by name, as they were given."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        told = ", ".join(f"{name}={value!r}" for name, value in given.items())
        return f"{self.name} ({told})" if told else self.name


@dataclass(frozen=True)
class Adaptive(Method):
    """Base of those that choose their steps."""

    first_step: float | None = None

    def __post_init__(self) -> None:
        if self.first_step is not None:
            a_time(self.first_step, "first_step")

    def put(self, memory: Any) -> None:
        """See Method."""
        memory.first_step = self.first_step or 0.0

    def refuse(self, step: float | None) -> None:
        """See Method."""
        if step is not None and self.first_step is not None:
            raise InputError(
                f"first_step={self.first_step!r}: with a step of {step:g} s all steps have that length. Leave it out"
            )


def a_time(value: Any, what: str) -> float:
    """A time > 0, or an error that names the option."""
    seconds = a_number(value, what)
    if not 0 < seconds < float("inf"):
        raise InputError(f"{what}={value!r}: give a number of seconds > 0")
    return seconds


def within(value: Any, what: str, low: float, high: float) -> float:
    """A number of an interval, or an error that names the option."""
    found = a_number(value, what)
    if not low <= found <= high:
        raise InputError(f"{what}={value!r}: give a number from {low:g} to {high:g}")
    return found
