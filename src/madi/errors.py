"""Errors that name the element and the cure."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


ERROR, WARNING, REMARK = "error", "warning", "remark"  # of findings: stops a run, may spoil it, is good to know
MOST_COMPARED = 40  # names that are compared with a wrong one


@dataclass(frozen=True)
class Finding:
    """One defect of a model: where, what, and what to do about it."""

    element: str
    problem: str
    cure: str
    severity: str = ERROR

    def __str__(self) -> str:
        return f"{self.element}: {self.problem}. {self.cure}"

    def _repr_html_(self) -> str:
        return Findings([self])._repr_html_()


class Findings(list[Finding]):
    """Findings, worst first; as text when printed, as a table in a notebook."""

    @property
    def ok(self) -> bool:
        """Whether the model can be run."""
        return not any(finding.severity == ERROR for finding in self)

    def _counted(self) -> str:
        counts = {level: sum(f.severity == level for f in self) for level in (ERROR, WARNING, REMARK)}
        return ", ".join(f"{n} {level}{'' if n == 1 else 's'}" for level, n in counts.items() if n) or "nothing to remark"

    def __str__(self) -> str:
        return "\n".join([self._counted(), *(f"  {finding.severity:8} {finding}" for finding in self)])

    def _repr_html_(self) -> str:
        from madi.show.html import heading, table, whole

        rows = [(f.severity, f.element, f.problem, f.cure) for f in self]
        return whole(heading("check", self._counted()), table(("", "where", "what", "what to do"), rows))

    def as_dicts(self) -> list[dict[str, str]]:
        """For JSON."""
        return [{"severity": f.severity, "element": f.element, "problem": f.problem, "cure": f.cure} for f in self]


class MadiError(Exception):
    """Base of every error madi raises on purpose."""


class ModelError(MadiError):
    """The model cannot be built; `findings` lists every defect that was found, not only the first."""

    def __init__(self, model: str, findings: list[Finding]):
        self.model = model
        self.findings = findings
        count = "1 defect" if len(findings) == 1 else f"{len(findings)} defects"
        lines = "\n".join(f"  - {finding}" for finding in findings)
        super().__init__(f"model {model!r} cannot be built, {count}:\n{lines}")


class InputError(MadiError, ValueError):
    """A call's argument is wrong: its name, what was given, what is accepted."""


class FileError(MadiError):
    """A file is wrong: which file, which line, which path in the document, and the cure."""


class SeveralErrors(FileError):  # noqa: N818 - there are several
    """All that is wrong in one element of a file."""

    def __init__(self, errors: list[FileError]):
        self.errors: list[FileError] = [
            one for error in errors for one in (error.errors if isinstance(error, SeveralErrors) else [error])
        ]
        super().__init__("\n".join(map(str, self.errors)))


class EngineError(MadiError):
    """The engine asked for cannot serve this model or this machine."""


class TraceError(EngineError):
    """A user's function cannot be traced with symbols."""


class AssemblyError(MadiError):
    """The loops cannot be closed, or not as asked. `assembly` holds the nearest state that was found."""

    def __init__(self, message: str, assembly: Any = None):
        super().__init__(message)
        self.assembly = assembly


class RunError(MadiError):
    """A run stopped early, or statics found no rest. `run` holds what was computed until then, `equilibrium` the nearest
    state of rest (or None)."""

    def __init__(self, message: str, run: Any = None):
        super().__init__(message)
        self.run = run
        self.equilibrium: Any = None


class MadiWarning(UserWarning):
    """A run was made, but what it tells may not be what was meant."""


def warn(text: str) -> None:
    """A MadiWarning at the user's own line, however deep in madi it was noticed: Python shows it once a line."""
    import sys
    import warnings

    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "madi":
        frame, level = frame.f_back, level + 1
    warnings.warn(MadiWarning(text), stacklevel=level)


def closest(name: str, known: Iterable[str], count: int = 3, cutoff: float = 0.5) -> list[str]:
    """Known names like a wrong one, the likest first. Of many only those that share most pairs of letters are compared: a
    file with many mistakes must not wait for its messages."""
    import difflib

    names, word = [str(one) for one in known], str(name)[:200]
    if len(names) > MOST_COMPARED:
        pairs = {word[k : k + 2] for k in range(len(word) - 1)} or {word}
        names.sort(key=lambda one: (-sum(pair in one for pair in pairs), abs(len(one) - len(word))))
        names = names[:MOST_COMPARED]
    return difflib.get_close_matches(word, names, count, cutoff)


def finite_numbers(value: Any, count: int | None = None) -> np.ndarray | None:
    """`value` as finite float64 numbers, of the wanted length if one is given, or None."""
    import numpy as np

    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    if count is not None and array.shape != (count,):
        return None
    return array if np.all(np.isfinite(array)) else None


def positive_number(value: Any, what: str) -> float:
    """A number > 0, or an error that names it."""
    if not (isinstance(value, numbers.Real) and math.isfinite(float(value)) and float(value) > 0):
        raise InputError(f"{what} {value!r} must be a number > 0")
    return float(value)


def not_negative(value: Any, what: str) -> float:
    """A number >= 0, or an error that names it."""
    if not (isinstance(value, numbers.Real) and math.isfinite(float(value)) and float(value) >= 0):
        raise InputError(f"{what} {value!r} must be a number >= 0")
    return float(value)


def a_number(value: Any, what: str) -> float:
    """A finite number, or an error that names it."""
    try:
        found = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:  # a whole number beyond all reals
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{what} {value!r} must be a number")
    return found
