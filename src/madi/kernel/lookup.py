"""Piecewise polynomials as data: measured curves of any length, looked up at a cost that does not grow with their points.

A block is one array,

    [breaks n, numbers of a piece m, cells g, cells per unit of x, n + 1 pieces of 1 + m numbers, guide_0 .. guide_g]

A piece is the break b it begins at (of the piece before all breaks: the first of them) and a polynomial of x - b, highest
power first. [b_1, b_n] is cut into g = n - 1 cells: evenly spaced breaks are found at once, and all that is read is one
piece; else the guide, how many breaks lie before each cell, leaves a bisection within one. Blocks lie behind each other in
one array of the model (`model.curve`); where a block begins is a number of what reads it. Traced, a look-up is one
operation, its derivative the look-up of the next order (symbolic/lookup.py).
"""

from __future__ import annotations

import hashlib
import math
import weakref
from typing import Any

import numpy as np

from madi.kernel import Symbolic, kernel

HEAD = 4
ORDERS = 5  # of derivatives that are looked up: pieces are of the fourth degree at most


@kernel
def piece(curve, s, x):
    """Number of the piece of x: how many breaks are not beyond it (of no number: 0)."""
    n, w = int(curve[s]), int(curve[s + 1]) + 1
    first = s + HEAD
    if not x >= curve[first]:
        return 0
    if x >= curve[first + n * w]:
        return n
    cell = 0
    if curve[s + 2] > 1.0:
        cell = min(int((x - curve[first]) * curve[s + 3]), int(curve[s + 2]) - 1)
    low = cell + 1
    if curve[first + low * w] <= x and x < curve[first + (low + 1) * w]:
        return low
    guide = first + (n + 1) * w + cell
    low, high = int(curve[guide]), int(curve[guide + 1])
    while low < high:
        middle = (low + high) // 2
        if curve[first + (middle + 1) * w] > x:
            high = middle
        else:
            low = middle + 1
    while curve[first + low * w] > x:  # rounding of cells, where compilers join or reorder
        low -= 1
    while curve[first + (low + 1) * w] <= x:
        low += 1
    return low


@kernel
def polynomial(curve, s, k, x, order):
    """The derivative of that order of piece k at x."""
    m = int(curve[s + 1])
    at = s + HEAD + k * (m + 1)
    d = x - curve[at]
    value = 0.0
    for j in range(m - order):
        factor = 1.0
        for i in range(order):
            factor = factor * (m - 1 - j - i)
        value = value * d + factor * curve[at + 1 + j]
    return value


@kernel
def evaluated(curve, s, x, order):
    """`lookup` of a number."""
    return polynomial(curve, s, piece(curve, s, x), x, order)


@kernel
def evaluated_twice(curve, s, x, order):
    """`lookup2` of a number."""
    k = piece(curve, s, x)
    return polynomial(curve, s, k, x, order), polynomial(curve, s, k, x, order + 1)


@kernel
def evaluated_thrice(curve, s, x):
    """`lookup3` of a number."""
    k = piece(curve, s, x)
    return polynomial(curve, s, k, x, 0), polynomial(curve, s, k, x, 1), polynomial(curve, s, k, x, 2)


def lookup(curve: Any, s: int, x: Any, order: int) -> Any:
    """The block at curve[s:] at x, differentiated `order` times, in all three lives."""
    return x.lookup(curve, int(s), order) if isinstance(x, Symbolic) else evaluated(curve, s, x, order)


def at_many(curve: np.ndarray, s: int, x: Any, order: int) -> np.ndarray:
    """The same at many numbers at once."""
    x = np.asarray(x, dtype=float)
    n, m = int(curve[s]), int(curve[s + 1])
    pieces = curve[s + HEAD : s + HEAD + (n + 1) * (m + 1)].reshape(n + 1, m + 1)
    k = np.where(x >= pieces[0, 0], np.searchsorted(pieces[1:, 0], x, side="right"), 0)  # what is no number: before all
    d, value = x - pieces[k, 0], np.zeros(x.shape)
    for j in range(m - order):
        value = value * d + math.perm(m - 1 - j, order) * pieces[k, 1 + j]
    return value


def lookup2(curve: Any, s: int, x: Any, order: int) -> Any:
    """The look-up and its derivative; numbers are searched for once."""
    if isinstance(x, Symbolic):
        return lookup(curve, s, x, order), lookup(curve, s, x, order + 1)
    return evaluated_twice(curve, s, x, order)


def lookup3(curve: Any, s: int, x: Any) -> Any:
    """Value, first and second derivative; numbers are searched for once."""
    if isinstance(x, Symbolic):
        return lookup(curve, s, x, 0), lookup(curve, s, x, 1), lookup(curve, s, x, 2)
    return evaluated_thrice(curve, s, x)


def same_piece(curve: Any, s: int, x: Any, y: Any) -> Any:
    """Whether two numbers lie on one piece; of symbols nobody knows."""
    return False if isinstance(x, Symbolic) else piece(curve, s, x) == piece(curve, s, y)


# ---- making blocks ------------------------------------------------------------------------------------------------------


def block(breaks: Any, pieces: Any) -> np.ndarray:
    """The array of these breaks, increasing, and pieces (one more; each m numbers, highest power first)."""
    breaks, pieces = np.asarray(breaks, dtype=float), np.asarray(pieces, dtype=float)
    n, cells = len(breaks), max(len(breaks) - 1, 1)
    assert pieces.shape[0] == n + 1
    assert pieces.shape[1] <= ORDERS
    with np.errstate(all="ignore"):
        scale = cells / (breaks[-1] - breaks[0]) if n > 1 else 0.0
        if not np.isfinite(scale) or not np.isfinite(breaks[-1] - breaks[0]):
            cells, scale = 1, 0.0  # too near or too far apart to count in doubles: bisection of all
    cell = np.minimum(((breaks - breaks[0]) * scale if scale else np.zeros(n)).astype(np.int64), cells - 1)
    guide = np.searchsorted(cell, np.arange(cells + 1))
    guide[-1] = n
    rows = np.column_stack([np.concatenate([breaks[:1], breaks]), pieces])
    made = np.concatenate([[n, pieces.shape[1], cells, scale], rows.reshape(-1), guide])
    made.setflags(write=False)
    return made


def on_both_sides(breaks: Any, between: Any, before: Any, after: Any) -> np.ndarray:
    """A block from the pieces between breaks and those before the first and after the last (lowest powers, any number)."""
    between = np.asarray(between, dtype=float)
    ends = np.zeros((2, between.shape[1]))
    for row, given in zip(ends, (before, after), strict=True):
        row[between.shape[1] - len(given) :] = given
    return block(breaks, np.concatenate([ends[:1], between, ends[1:]]))


class Curves:
    """Blocks behind each other, equal ones once: what becomes `model.curve`."""

    def __init__(self) -> None:
        self.blocks: list[np.ndarray] = []
        self.length = 0
        self._known: dict[bytes, int] = {}
        self._same: dict[int, int] = {}  # the very same array need not be read again

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_same": {}}  # (elsewhere the same numbers are other arrays)

    def place(self, made: np.ndarray) -> int:
        """Where the block begins."""
        if id(made) not in self._same:
            key = hashlib.sha256(made.tobytes()).digest()
            if key not in self._known:
                self._known[key] = self.length
                self.blocks.append(made)
                self.length += len(made)
            elif not any(made is one for one in self.blocks):
                return self._known[key]
            self._same[id(made)] = self._known[key]
        return self._same[id(made)]

    def numbers(self, packed: Any) -> list[float]:
        """What an element packed, with the places of blocks in place of them."""
        return [float(self.place(x)) if isinstance(x, np.ndarray) else float(x) for x in packed]

    def array(self) -> np.ndarray:
        """All blocks."""
        made = np.concatenate([np.zeros(0), *self.blocks])
        made.setflags(write=False)
        return made


_numbered: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
_number_of: dict[int, int] = {}
_count = [0]


def number_of(curve: np.ndarray) -> int:
    """A number by which traces name an array of blocks, as long as it lives."""
    known = _number_of.get(id(curve))
    if known is None or _numbered.get(known) is not curve:
        _count[0] += 1
        known = _number_of[id(curve)] = _count[0]
        _numbered[known] = curve
    return known


def numbered(number: int) -> np.ndarray | None:
    """The array of that number."""
    return _numbered.get(number)
