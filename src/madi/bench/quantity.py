"""A quantity that grows with a size, and how it is measured (bench/growth.py)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ROUNDS = 3


@dataclass(frozen=True)
class Point:
    """What is measured at one size: CPU seconds, and the size it is laid over."""

    seconds: float
    work: float


@dataclass(frozen=True)
class Quantity:
    """How it is measured, and in what unit (so many to a second) it is told."""

    name: str
    who: str
    measure: Callable[[int], Point]
    unit: float = 1.0


def least(act: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """CPU seconds, the best of a few."""
    found = np.inf
    for _ in range(rounds):
        begin = time.process_time()
        act()
        found = min(found, time.process_time() - begin)
    return float(found)
