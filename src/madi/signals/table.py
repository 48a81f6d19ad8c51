"""A function by points: straight or smooth between them, constant beyond the ends. For drives, forces and files."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from madi.errors import InputError, finite_numbers
from madi.given import Rows
from madi.kernel import Symbolic
from madi.kernel.lookup import at_many, lookup, number_of, on_both_sides

_tables: weakref.WeakValueDictionary[int, Table] = weakref.WeakValueDictionary()


class Table:
    """A piecewise polynomial in all three lives; what it costs does not grow with its points."""

    traced_safely = True

    def __init__(self, points: np.ndarray, between: str, block: np.ndarray):
        self.points, self.between, self.block = points, between, block
        _tables[number_of(block)] = self

    def __repr__(self) -> str:
        return f"<table of {len(self.points)} points from {self.points[0, 0]:g} to {self.points[-1, 0]:g}>"

    def __deepcopy__(self, memo: Any) -> Table:
        return self  # nothing of it ever changes, and it may be long

    def __reduce__(self) -> Any:
        return table, (self.points, self.between)  # so that its number in traces is known there too

    def _repr_html_(self) -> str:
        from madi.show.html import heading, table, whole

        x = self.points[:, 0]
        told = f"{len(x)} points from {x[0]:g} to {x[-1]:g}, constant beyond"
        return whole(heading("table", told), table(("x", "y"), self.points))

    def __call__(self, t: Any) -> Any:
        """The value at t: a number, a symbol, or an array of either."""
        if isinstance(t, Symbolic):
            return lookup(self.block, 0, t, 0)
        if np.ndim(t) and np.asarray(t).dtype.hasobject:
            given = np.asarray(t)
            return np.array([self(one) for one in given.flat], dtype=object).reshape(given.shape)
        t = np.clip(t, self.points[0, 0], self.points[-1, 0])  # it is constant there: of infinity too
        return lookup(self.block, 0, float(t), 0) if np.ndim(t) == 0 else at_many(self.block, 0, t, 0)


def table_of(array: int) -> Table:
    """The table whose block has that number in a trace."""
    return _tables[array]


def table(points: Rows, between: str = "cubic") -> Table:
    """A function through points (x, y), x increasing, as many as there are: a list, or an array of two columns. `between`
    them: "cubic", cubics that are level at both ends and never leave the range of their neighbours (where points are level,
    so is the curve), as drives need them; or "linear". Constant before the first and after the last point.

    >>> import madi
    >>> lift = madi.table([(0, 0), (1, 0.2), (2, 0.2), (3, 0)])
    >>> float(lift(1.5)), float(lift(5.0))
    (0.2, 0.0)
    """
    given = finite_numbers(points)
    if given is None or given.ndim != 2 or given.shape[1] != 2 or len(given) < 2:
        raise InputError("table: give 2 points (x, y) or more, finite numbers")
    x, y = given[:, 0], given[:, 1]
    if np.any(np.diff(x) <= 0):
        k = int(np.argmax(np.diff(x) <= 0))
        raise InputError(f"table: x must increase; {x[k]:g} is followed by {x[k + 1]:g}")
    if between not in ("linear", "cubic"):
        raise InputError(f"table: between={between!r}: choose 'linear' or 'cubic'")
    given = np.array(given)
    given.setflags(write=False)
    h, chord = np.diff(x), np.diff(y) / np.diff(x)
    if between == "linear":
        pieces = np.stack([chord, y[:-1]], axis=1)
    else:
        start, end = (slopes := level_slopes(h, chord))[:-1], slopes[1:]
        pieces = np.stack([(start + end - 2 * chord) / h**2, (3 * chord - 2 * start - end) / h, start, y[:-1]], axis=1)
    return Table(given, between, on_both_sides(x, pieces, [y[0]], [y[-1]]))


def level_slopes(h: np.ndarray, chord: np.ndarray) -> np.ndarray:
    """Slopes of a monotone cubic (Fritsch and Butland, 1984): weighted harmonic means of the chords; level at the ends."""
    slope = np.zeros(len(h) + 1)
    a, b = h[:-1] + 2 * h[1:], 2 * h[:-1] + h[1:]
    on = np.sign(chord[:-1]) * np.sign(chord[1:]) > 0
    slope[1:-1][on] = (a + b)[on] / (a[on] / chord[:-1][on] + b[on] / chord[1:][on])
    return slope
