"""A model as two flat arrays, one of integers and one of reals, and the views kernels read them through.

Everything an evaluation needs is in these two arrays (and a scratch array): they are hashed to key the compile cache,
handed to C by three pointers, and filled with symbols to trace a model. What is in them each room of the mechanics declares
(joints/fields.py and its like); the array of integers is headed by the sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from madi.equations.fields import Arrays, Work
from madi.kernel.fields import evaluator
from madi.loops.memory import LoopOptions, fresh_tally

SIZES = [name for name, field in Arrays.fields.items() if field.is_size]


@dataclass(frozen=True)
class Layout:
    """The two flat arrays and their views."""

    ints: np.ndarray
    reals: np.ndarray

    @cached_property
    def arrays(self) -> Arrays:
        """Named views of the two arrays."""
        return model_views(self.ints, self.reals)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The header."""
        return _sizes(self.ints)

    def header(self, name: str) -> int:
        """One of the sizes."""
        return self.sizes[name]

    @cached_property
    def structure(self) -> np.ndarray:
        """The integers less where this process keeps functions that stay in Python."""
        if self.header("nc") == 0:
            return self.ints
        table = np.array(self.arrays.callback)
        table[:, 0] = 0
        return repack(self, {}, {"callback": table}).ints

    def scratch(self, dense: bool = False, dtype: Any = float, options: Any = None) -> Work:
        """Fresh scratch of an evaluation, for floats or symbols; `dense`: with what null-space methods need, whose matrices
        are full; `options`: of closing the loops."""
        sizes = self.sizes | ({} if dense else {"nn": 0})
        memory = np.zeros(Work.length(sizes, True), dtype=dtype)
        return Work(sizes, None, memory, options=LoopOptions({}) if options is None else options, tally=fresh_tally())


def pack(sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """Put named arrays behind each other in the order `model_views` reads them."""

    def flat(real: bool) -> list[np.ndarray]:
        parts = []
        for name, field in Arrays.arrays().items():
            if field.real == real:
                values = np.asarray(fields[name], dtype=float if real else np.int64).reshape(-1)
                assert len(values) == evaluator(field.size)(sizes) * math.prod(field.inner), name
                parts.append(values)
        return parts

    head = np.array([sizes[name] for name in SIZES], dtype=np.int64)
    layout = Layout(np.concatenate([head, *flat(False)]), np.concatenate(flat(True)) + 0.0)
    for array in (layout.ints, layout.reals):
        array.setflags(write=False)
    return layout


def repack(layout: Layout, sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """The same layout with some sizes and fields changed."""
    return pack(layout.sizes | sizes, {**layout.arrays.values(), **fields})


def _sizes(ints: np.ndarray) -> dict[str, int]:
    return {name: int(value) for name, value in zip(SIZES, ints, strict=False)}


def model_views(int_memory: Any, real_memory: Any) -> Arrays:
    """The named views of the two flat arrays."""
    return Arrays(_sizes(int_memory), int_memory[len(SIZES) :], real_memory)
