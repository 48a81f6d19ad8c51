"""A function by points: straight or smooth between them, constant beyond the ends. For drives, forces and files."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.errors import InputError, finite_numbers
from madi.kernel import where

MOST_POINTS = 2000  # each is a case of the trace


class Table:
    """Piecewise polynomials in all three lives."""

    traced_safely = True

    def __init__(self, x: np.ndarray, coefficients: np.ndarray, last: float):
        self.x, self.coefficients, self.last = x, coefficients, last

    def __repr__(self) -> str:
        return f"<table of {len(self.x)} points from {self.x[0]:g} to {self.x[-1]:g}>"

    def __call__(self, t: Any) -> Any:
        """The value at t: a number, or a symbol."""
        value: Any = self.last
        for k in range(len(self.x) - 2, -1, -1):
            d = t - float(self.x[k])
            piece = float(self.coefficients[0, k])
            for c in self.coefficients[1:, k]:
                piece = piece * d + float(c)
            value = where(t < float(self.x[k + 1]), piece, value)
        return where(t < float(self.x[0]), float(self.coefficients[-1, 0]), value)


def table(points: Any, between: str = "cubic") -> Table:
    """A function through points (x, y), x increasing. `between` them: "cubic", cubics that are level at both ends and never
    leave the range of their neighbours (where points are level, so is the curve), as drives need them; or "linear".
    Constant before the first and after the last point.

    >>> import madi
    >>> lift = madi.table([(0, 0), (1, 0.2), (2, 0.2), (3, 0)])
    >>> float(lift(1.5)), float(lift(5.0))
    (0.2, 0.0)
    """
    given = finite_numbers(points)
    if given is None or given.ndim != 2 or given.shape[1] != 2 or not 2 <= len(given) <= MOST_POINTS:
        raise InputError(f"table: give 2 to {MOST_POINTS} points (x, y), finite numbers")
    x, y = given[:, 0], given[:, 1]
    if np.any(np.diff(x) <= 0):
        k = int(np.argmax(np.diff(x) <= 0))
        raise InputError(f"table: x must increase; {x[k]:g} is followed by {x[k + 1]:g}")
    if between not in ("linear", "cubic"):
        raise InputError(f"table: between={between!r}: choose 'linear' or 'cubic'")
    if between == "linear":
        return Table(x, np.stack([np.diff(y) / np.diff(x), y[:-1]]), float(y[-1]))
    h, chord = np.diff(x), np.diff(y) / np.diff(x)
    slope = np.zeros(len(x))  # of a monotone cubic (Fritsch and Butland, 1984): weighted harmonic means of the chords
    for k in range(1, len(x) - 1):
        if chord[k - 1] * chord[k] > 0:
            a, b = h[k - 1] + 2 * h[k], 2 * h[k - 1] + h[k]
            slope[k] = (a + b) / (b / chord[k - 1] + a / chord[k])
    start, end = slope[:-1], slope[1:]
    cubic = np.stack([(start + end - 2 * chord) / h**2, (3 * chord - 2 * start - end) / h, start, y[:-1]])
    return Table(x, cubic, float(y[-1]))
