"""Exported C, as a user asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Never

from madi.errors import InputError
from madi.given import File
from madi.integrate import METHODS
from madi.integrate.method import Method
from madi.model.model import Model
from madi.run.options import by_word, positive, refuse, start_of
from madi.run.start import assembled
from madi.signals.jumps import speed_jumps


def export_c(
    model: Model, out: File, *, step: float, method: Method | str | Mapping[str, Any] = "newmark", duration: float = 1.0,
    parameters: Sequence[str] | None = None, start: Any = None, frame: str = "base", **old: Never,
) -> list[Path]:  # fmt: skip
    """Write the model and its integrator as self-contained C99 into the folder `out`: NAME.h, NAME.c, and a main.c that
    repeats the run of `duration` seconds from `start`. No allocation, no library but libm.

    `method`: "newmark", "generalized-alpha"; without loops also "rk4", "ab3", "newmark-explicit", "newmark-explicit-full";
    a word or an object, `start` as in `simulate`. `parameters`: what stays adjustable at run time, by name:
    "spring.stiffness", "chassis.mass", "pivot.at.x"; default what `model.adjustable(...)` marked. Returns the files.
    """
    from madi.export.c import export_c as write

    refuse("export_c", old, ("step", "method", "duration", "parameters", "start", "frame"))
    if not isinstance(model, Model):
        raise InputError(f"export_c: give a Model, not {type(model).__name__}")
    system = model.build(frame=frame)
    if parameters is None or isinstance(parameters, str):
        parameters = model.adjustables if parameters is None else [parameters]
    length, span = positive(step, "step"), positive(duration, "duration")
    chosen = by_word(method, "method", Method, METHODS)
    if chosen.fixed is None:
        raise InputError(
            f"export_c: method={chosen.name!r} chooses its steps; exported code takes fixed ones: use "
            + ", ".join(repr(name) for name, other in METHODS.items() if other.exported)
        )
    if system.n_held:
        raise InputError(
            f"{system.held_names[0]!r} slides or sticks, stops or watches: its run has events, and exported code has none "
            "yet. Export the model without it, or with a compliant stop"
        )
    state = assembled(system, *start_of(start))
    for jump in speed_jumps(system, span)[:1]:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps at t = {jump.time:.6g} s; exported code has no impulse for "
            "that. Round the corner off"
        )
    return write(
        model, out, step=length, method=chosen, duration=span, adjustable=list(parameters), start=state, system=system
    )
