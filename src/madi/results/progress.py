"""How far a long run has come: a bar on a terminal or in a notebook, a few lines in a log."""

from __future__ import annotations

import time
from typing import Any

from madi.show.place import LOG, NOTEBOOK, TERMINAL
from madi.show.waiting import Line

JUST_BEGUN = 1e-9  # part of a run that is divided by at its very start
BAR = 30  # characters
FIRST = {TERMINAL: 1.0, NOTEBOOK: 1.0, LOG: 5.0}  # s after which there is news, unless it is asked for
PAUSE = {TERMINAL: 0.0, NOTEBOOK: 0.3, LOG: 5.0}  # s between news; in a log the pauses double
LONGEST_PAUSE = 60.0  # s: a log is not left without news for longer


class Progress:
    """Shows percent and remaining time once a run has lasted longer than a second (or at once if asked for)."""

    def __init__(self, name: str, end: float, wanted: bool | None):
        self.name, self.end, self.line = name, end, Line()
        self.began, self.shown = time.perf_counter(), False
        known = self.line.place in FIRST and wanted is not False
        self.pause = PAUSE.get(self.line.place, 0.0)
        self.next = (0.0 if wanted else FIRST[self.line.place]) if known else float("inf")

    def __enter__(self) -> Progress:
        return self

    def show(self, t: float) -> None:
        """The run has reached time t."""
        elapsed = time.perf_counter() - self.began
        if elapsed < self.next:
            return
        part = min(max(t / self.end, JUST_BEGUN), 1.0)
        left = elapsed * (1.0 / part - 1.0)
        bar = "" if self.line.place == LOG else f"[{'#' * int(BAR * part):<{BAR}}] "
        self.line.say(f"{self.name}: {bar}{100 * part:3.0f} %, {left:.0f} s left")
        self.shown, self.next = True, elapsed + self.pause
        if self.line.place == LOG:
            self.pause = min(2 * self.pause, LONGEST_PAUSE)

    def __exit__(self, *_: Any) -> None:
        if self.shown:
            took = f"{self.name}: ended after {time.perf_counter() - self.began:.1f} s"
            self.line.end("" if self.line.place == TERMINAL else took)
