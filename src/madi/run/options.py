"""What a run was asked for, checked once: methods and loop methods by word or as objects, times, old spellings."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from madi.engines import is_made_for_model
from madi.errors import InputError
from madi.given import Both, Vector
from madi.integrate import METHODS
from madi.integrate.march import ON_GRID
from madi.integrate.method import Method
from madi.loops.methods import LOOP_METHODS, LoopMethod, Projection
from madi.model.model import END_ROUNDING

if TYPE_CHECKING:
    from madi.run.checkpoint import Checkpoint
    from madi.run.stream import Stream

MOST_STEPS = 1e12  # of a run: nobody waits for more
MOST_OUTPUTS = 20_001  # of a fixed-step run whose output times are not asked for
RTOL = 1e-6  # unless asked for
POINTS = 1001  # outputs of an adaptive run


class ManyOptions(TypedDict, total=False):
    """Options of `simulate_many` beside its own, as type checkers know them."""

    rtol: float | None
    atol: float | None
    max_step: float | None
    loops: LoopMethod | str | Mapping[str, Any] | None
    formulation: str | None
    frame: str | None
    step: float | None
    method: Method | str | Mapping[str, Any] | None
    engine: str
    times: Vector | None
    reactions: Sequence[str] | Mapping[str, str]


class RunOptions(ManyOptions, total=False):
    """All of `simulate` (a test keeps them alike), and `every` so many seconds an output, as model files have it."""

    start: Both
    progress: bool | None
    checkpoint: Checkpoint | str | Path | None
    out: Stream | str | Path | None
    history: bool
    every: float | None


# options that have become fields of methods and loop methods: how they are spelled now
MOVED = {
    "gamma": 'method=madi.Newmark(gamma=...)', "beta": "method=madi.Newmark(beta=...)",
    "spectral_radius": "method=madi.GeneralizedAlpha(spectral_radius=...)",
    "alpha": "method=madi.GeneralizedAlpha(alpha=...)",
    "iterations": "method=madi.Newmark(iterations=...) or madi.GeneralizedAlpha(iterations=...)",
    "jacobian": "method=madi.Newmark(jacobian=...) or madi.GeneralizedAlpha(jacobian=...)",
    "order": "method=madi.Adams(order=...)",
    "first_step": "method=madi.DormandPrince(first_step=...), madi.Adams(first_step=...) or madi.Radau(first_step=...)",
    "feedback": "loops=madi.Baumgarte(alpha, beta) or madi.Augmented(alpha=..., beta=...)",
    "closing": "loops=madi.Projection(closing=...)",
    "weighting": "loops=madi.PseudoInverse(weighting=...) (or SingularValues, QR, Partition)",
    "q0": "start=(q0, v0)", "v0": "start=(q0, v0)",
    "checkpoint_every": "checkpoint=madi.Checkpoint(file, every=...)",
    "resume": "checkpoint=madi.Checkpoint(file, resume=True)",
}  # fmt: skip


def refuse(call: str, unknown: Mapping[str, Any], known: Mapping[str, Any] | tuple[str, ...]) -> None:
    """Arguments that are not there, with the spelling of those that were."""
    for name in unknown:
        if name in MOVED:
            raise InputError(f"{call}: {name}= is now an option of what it belongs to: {MOVED[name]}")
        raise InputError(f"{call}: there is no option {name!r}; there are {', '.join(known)}")


def number(value: Any, what: str) -> float:
    """A number (no text, no truth value), or an error that names the argument."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise InputError(f"{what}={value!r}: give a number")
    try:
        return float(value)
    except OverflowError:  # a whole number beyond all reals
        return np.inf


def positive(value: Any, what: str) -> float:
    """A time > 0, or an error that names the argument."""
    seconds = number(value, what)
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError(f"{what}={value!r}: give a number of seconds > 0")
    return seconds


def by_word(given: Any, what: str, base: type, registry: Mapping[str, Any]) -> Any:
    """An object of `base` from itself, its class, a word, or {word: options}."""
    if isinstance(given, base):
        return given
    if isinstance(given, type) and issubclass(given, base):
        return given()
    word, options = given, dict[str, Any]()
    if isinstance(given, Mapping) and len(given) == 1:
        (word, options), *_ = given.items()
    if not isinstance(word, str) or word not in registry:
        raise InputError(f"{what}={given!r}: choose one of {', '.join(registry)}")
    names = [field.name for field in fields(registry[word])]
    if not isinstance(options, Mapping):
        raise InputError(f"{what}={given!r}: give the options of {word!r} as {{name: value}}")
    for name in options:
        if name not in names:
            have = f"; it has {', '.join(names)}" if names else ""
            raise InputError(f"{what}: {word!r} has no option {name!r}{have}")
    return registry[word](**options)


def word_of(given: Any) -> str:
    """The word of a method or loop method, however it is given."""
    if isinstance(given, Mapping) and given:
        return str(next(iter(given)))
    return str(getattr(given, "name", given))


def step_of(method: Method, step: float | None) -> float | None:
    """The step of a run: some methods carry their own."""
    return getattr(method, "step", None) if step is None else step


def chosen_method(given: Any, step: float | None) -> Method:
    """The method of a run."""
    method = by_word(("dopri" if step is None else "rk4") if given is None else given, "method", Method, METHODS)
    step = step_of(method, step)
    if step is None and method.adaptive is None:
        raise InputError(f"method={method.name!r} needs a step, for example step=1e-3")
    if step is not None and method.fixed is None:
        raise InputError(f"method={method.name!r} chooses its own steps: give rtol and atol, or max_step, instead of step")
    method.refuse(step)
    return method


def chosen_loops(given: Any, method: Method, formulation: str | None, engine: str, has_loops: bool) -> LoopMethod:
    """The loop method of a run, if it fits the rest; a model without loops runs as if nothing were said of them."""
    loops: LoopMethod = by_word("projection" if given is None else given, "loops", LoopMethod, LOOP_METHODS)
    if not has_loops:
        return Projection()
    if given is not None and method.closes:
        raise InputError(f"loops={loops.name!r}: method={method.name!r} closes the loops within its step; leave `loops` out")
    form = formulation or "recursive"
    if given is not None and form not in (*loops.formulations, "auto"):
        raise InputError(f"loops={loops.name!r} has formulation={', '.join(map(repr, loops.formulations))}, not {form!r}")
    if is_made_for_model(engine) and not loops.traced:
        raise InputError(f"loops={loops.name!r} has engine='jit' or 'plain'; generated C serves loops='projection'")
    return loops


def refuse_unused(method: Method, step: float | None, **given: Any) -> None:
    """Tolerances with a fixed step: whoever gives them expects them to matter."""
    for name, value in given.items():
        if value is not None and step is not None:
            raise InputError(
                f"{name}={value!r}: method={method.name!r} has no use for it (the step is fixed; adaptive methods have it). "
                "Leave it out"
            )


def tolerances(rtol: Any, atol: Any) -> tuple[float, float]:
    """rtol None: RTOL; atol None: a hundredth of it."""
    relative = RTOL if rtol is None else number(rtol, "rtol")
    absolute = 0.01 * relative if atol is None else number(atol, "atol")
    if not (0 < relative < 1) or not (0 < absolute < np.inf):
        raise InputError(f"rtol={relative!r}, atol={absolute!r}: give small positive numbers, for example 1e-8 and 1e-10")
    return relative, absolute


def checked_span(duration: Any, **lengths: Any) -> float:
    """The duration, if steps of these lengths come to its end."""
    span = positive(duration, "duration")
    for name, length in lengths.items():
        if length is not None and span / positive(length, name) > MOST_STEPS:
            raise InputError(f"{name}={length!r}: that would be {span / length:.3g} steps. Give a longer one")
    return span


def output_times(times: Any, span: float, step: float | None) -> np.ndarray:
    """Where output is wanted: as given, or every step (every k-th in very long runs), or evenly."""
    if times is not None:
        try:
            wanted = np.atleast_1d(np.array(times, dtype=float))  # a copy: ours to hand on
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"times={times!r}: give a list of numbers") from None
        if wanted.ndim != 1 or len(wanted) == 0 or not np.all(np.isfinite(wanted)):
            raise InputError("times: give a list of finite numbers")
        if np.any(np.diff(wanted) <= 0) or wanted[0] < 0 or wanted[-1] > span * (1 + END_ROUNDING):
            raise InputError(f"times: they must increase, from 0 to the duration {span:g} s at most")
        return np.minimum(wanted, span)
    if step is None:
        return np.linspace(0.0, span, POINTS)
    steps = max(1, int(np.ceil(span / step - ON_GRID)))
    every = -(-steps // (MOST_OUTPUTS - 1))
    return np.append(np.arange(0, steps, every) * step, span)


def start_of(given: Any) -> tuple[Any, Any]:
    """(q0, v0) of `start`: None, a pair, or anything with a state (an Assembly, an Equilibrium): its q and v."""
    if given is None:
        return None, None
    if hasattr(given, "q") and hasattr(given, "v"):
        return given.q, given.v
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    raise InputError(f"start={given!r}: give (q0, v0), each all numbers, {{name: value}} or None; or a state with q and v")
