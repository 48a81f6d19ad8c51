"""A progress line for long runs on a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any

JUST_BEGUN = 1e-9  # part of a run that is divided by at its very start


class Progress:
    """Shows percent and remaining time once a run has lasted longer than a second (or at once if asked for)."""

    def __init__(self, name: str, end: float, wanted: bool | None):
        self.name, self.end, self.wanted = name, end, wanted
        self.began = time.perf_counter()
        self.shown = False

    def __enter__(self) -> Progress:
        return self

    def show(self, t: float) -> None:
        """The run has reached time t."""
        elapsed = time.perf_counter() - self.began
        if self.wanted is False or (self.wanted is None and (elapsed < 1.0 or not sys.stderr.isatty())):
            return
        part = min(max(t / self.end, JUST_BEGUN), 1.0)
        left = elapsed * (1.0 / part - 1.0)
        bar = "#" * int(30 * part)
        print(f"\r{self.name}: [{bar:<30}] {100 * part:3.0f} %, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
        self.shown = True

    def __exit__(self, *_: Any) -> None:
        if self.shown:
            print("\r" + " " * 79 + "\r", end="", file=sys.stderr, flush=True)
