"""The numbers an entry takes or gives, by name: sizes, places in kernels and views follow from one table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from madi.equations.fields import Arrays
from madi.kernel import inline
from madi.kernel.fields import evaluator

SIZES = ("nq", "nv", "ne", "nr", "n_held", "bodies")  # what places may depend on; bodies without the ground


def with_bodies(sizes: dict[str, int]) -> dict[str, int]:
    """Sizes of a layout, and the number of bodies without the ground."""
    return sizes | {"bodies": sizes["n"] - 1}


class Row:
    """Named numbers: {name: size} or {name: (size, inner lengths ...)}, sizes as in kernel/fields.py."""

    def __init__(self, **named: Any):
        self.named = {name: size if isinstance(size, tuple) else (size,) for name, size in named.items()}
        self._sizes = {word for size, *_ in self.named.values() for word in re.findall(r"[a-z_]+", size)}
        self._places: dict[tuple[int, ...], dict[str, tuple[slice, tuple[int, ...]]]] = {}

    def length(self, sizes: dict[str, int]) -> int:
        """How many numbers."""
        return sum(evaluator(size)(sizes) * math.prod(inner) for size, *inner in self.named.values())

    def place(self, name: str) -> Callable[[Any], int]:
        """The kernel place(model): where the numbers of this name begin."""
        before = []
        nothing, twice = dict.fromkeys(SIZES, 0), dict.fromkeys(SIZES, 2)
        for other, (size, *inner) in self.named.items():
            if other == name:
                break
            count = evaluator(size)
            linear = sum(count(nothing | {n: 2}) for n in SIZES) - (len(SIZES) - 1) * count(nothing)
            assert count(twice) == linear, f"{name}: {other} has {size!r} numbers; products of sizes stand last in a row"
            before += [(count, math.prod(inner))]
        constant = sum(count(nothing) * times for count, times in before)
        slope = [sum((count(nothing | {n: 1}) - count(nothing)) * times for count, times in before) for n in SIZES]
        nq, nv, ne, nr, nh, bodies = slope

        @inline
        def begin(model: Arrays):  # type: ignore[no-untyped-def]
            tree = nq * model.nq + nv * model.nv + bodies * (model.n - 1)
            return constant + tree + ne * model.ne + nr * model.nr + nh * model.n_held

        return begin

    def offsets(self) -> dict[str, int]:
        """Where each name begins, of a row whose sizes are numbers."""
        places, at = {}, 0
        for name, (size, *inner) in self.named.items():
            places[name] = at
            at += int(size) * math.prod(inner)
        return places

    def places(self, sizes: dict[str, int]) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Of each name its columns and the shape of its numbers; () of a single number."""
        key = tuple(sizes[name] for name in self._sizes)
        if key not in self._places:
            found, at = dict[str, tuple[slice, tuple[int, ...]]](), 0
            for name, (size, *inner) in self.named.items():
                shape = () if size == "1" and not inner else (evaluator(size)(sizes), *inner)
                found[name] = slice(at, at + math.prod(shape)), shape
                at += math.prod(shape)
            self._places[key] = found
        return self._places[key]

    def views(self, rows: np.ndarray, sizes: dict[str, int]) -> Any:
        """The columns of `rows` (the last axis) by name; a single number as such."""
        found, lead = SimpleNamespace(), rows.shape[:-1]
        for name, (columns, shape) in self.places(sizes).items():
            part = rows[..., columns.start] if not shape else rows[..., columns]
            setattr(found, name, part if len(shape) < 2 else part.reshape(*lead, *shape))
        return found
