"""A model as two flat arrays, one of integers and one of reals, and the views kernels read them through.

Everything an evaluation needs is in these two arrays (and a scratch array), but for measured data, which may be long and
stay numbers in a trace: a third array. They are hashed to key the compile cache, handed to C by pointers, and filled with
symbols to trace a model. What is in them each room of the mechanics declares
(joints/fields.py and its like); the array of integers is headed by the sizes.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from madi.equations.fields import Arrays, SlopePlan, Work
from madi.kernel.fields import ABSENT, evaluator
from madi.loops.fields import BlockPlan
from madi.loops.memory import LoopOptions, fresh_tally
from madi.topology.blocks import NO_BLOCKS, block_plan, room

NO_CURVE = np.zeros(0)
NO_SLOPES = SlopePlan({name: 0 for name, field in SlopePlan.fields.items() if field.is_size}, elements=ABSENT)
SIZES = [name for name, field in Arrays.fields.items() if field.is_size]


@dataclass(frozen=True)
class Layout:
    """The two flat arrays and their views."""

    ints: np.ndarray
    reals: np.ndarray
    curve: np.ndarray  # measured data (kernel/lookup.py), of any length and never symbols: an array of its own

    @cached_property
    def arrays(self) -> Arrays:
        """Named views of the arrays."""
        return model_views(self.ints, self.reals, self.curve)

    @cached_property
    def curve_key(self) -> bytes:
        """Hash of the measured data."""
        return hashlib.sha256(self.curve.tobytes()).digest()

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The header."""
        return _sizes(self.ints)

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the views, which are addresses."""
        return _again, (self.ints, self.reals, self.curve, not self.reals.flags.writeable)

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

    @cached_property
    def blocks(self) -> BlockPlan:
        """The blocks of the constraint Jacobian, for null-space methods."""
        return block_plan(self.arrays)

    def scratch(self, directions: bool = False, dtype: Any = float, options: Any = None, slopes: Any = None) -> Work:
        """Fresh scratch of an evaluation, for floats or symbols; `directions`: with what null-space methods need; `options`:
        of closing the loops; `slopes`: where derivatives go, if they are wanted."""
        blocks = self.blocks if directions else NO_BLOCKS
        sizes = self.sizes | room(blocks)
        memory = np.zeros(Work.length(sizes, True), dtype=dtype)
        options = LoopOptions({}) if options is None else options
        parts = {"options": options, "tally": fresh_tally(), "slopes": slopes or NO_SLOPES, "blocks": blocks}
        return Work(sizes, None, memory, **parts)


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
    layout = Layout(
        np.concatenate([head, *flat(False)]), np.concatenate(flat(True)) + 0.0, np.asarray(fields.get("curve", NO_CURVE))
    )
    for array in (layout.ints, layout.reals):
        array.setflags(write=False)
    return layout


def _again(ints: np.ndarray, reals: np.ndarray, curve: np.ndarray, fixed: bool) -> Layout:
    """A layout that was pickled or copied."""
    for array in (ints, reals) if fixed else (ints,):
        array.setflags(write=False)
    return Layout(ints, reals, curve)


def repack(layout: Layout, sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """The same layout with some sizes and fields changed."""
    return pack(layout.sizes | sizes, {**layout.arrays.values(), **fields})


def _sizes(ints: np.ndarray) -> dict[str, int]:
    return {name: int(value) for name, value in zip(SIZES, ints, strict=False)}


def model_views(int_memory: Any, real_memory: Any, curve: np.ndarray) -> Arrays:
    """The named views of the two flat arrays, and measured data."""
    return Arrays(_sizes(int_memory), int_memory[len(SIZES) :], real_memory, curve=curve)
