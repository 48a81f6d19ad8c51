"""Models by name, for commands that take one: the papers', known mechanisms, or a Python file that defines `model`."""

from __future__ import annotations

import runpy
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from madi.errors import InputError, MadiError
from madi.model.model import Model

NAMED: dict[str, tuple[Any, ...]] = {  # module, function, its arguments
    "6x6": ("papers.six_by_six", "experiment"), "tracked": ("papers.tracked", "model"), "rrc": ("papers.rrc", "first"),
    "five-dof": ("papers.five_dof", "model"), "rssr": ("papers.rssr", "model"), "andrews": ("verify.andrews", "model"),
    "four-bars": ("verify.four_bars", "model", 2), "bricard": ("verify.bricard", "model"),
    "car": ("papers.lane_change", "model"),
}  # fmt: skip


def find_model(word: str) -> Model:
    """The model of that name, or of that file."""
    if word in NAMED:
        module, name, *arguments = NAMED[word]
        drawn: Model = getattr(import_module(f"madi.{module}"), name)(*arguments)
        return drawn
    path = Path(word)
    if path.suffix != ".py":
        raise InputError(
            f"there is no model {word!r}: give a Python file that defines `model`, or one of {', '.join(NAMED)}"
        )
    if not path.exists():
        raise InputError(f"there is no file {word!r}")
    try:
        sys.path.insert(0, str(path.resolve().parent))  # as for a script: it may import what lies beside it
        found = runpy.run_path(str(path)).get("model")
        found = found() if callable(found) else found
    except MadiError:
        raise
    except Exception as error:  # the user's file: its own mistakes, told in one line
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else "?")
        raise InputError(f"{word}, line {line}: {type(error).__name__}: {error}") from None
    if not isinstance(found, Model):
        raise InputError(f"{word}: the file defines no `model`, a madi.Model")
    return found


def seconds(text: str) -> float:
    """ "1ms", "0.5 s", "20us", "0.001": a time in seconds."""
    word = text.strip().replace(" ", "")
    for unit, size in (("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("s", 1.0), ("", 1.0)):
        if word.endswith(unit):
            try:
                value = float(word[: len(word) - len(unit)] if unit else word) * size
            except ValueError:
                continue
            if value > 0:
                return value
    raise InputError(f"{text!r} is not a time: write for example 1ms, 20us or 0.01")
