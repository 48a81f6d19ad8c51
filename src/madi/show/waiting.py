"""What is said while somebody waits. On a terminal a line that is written over; in a notebook one output that is kept up to
date; in a log whole lines, few of them, and none for short waits."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from madi.show.place import LOG, NOTEBOOK, TERMINAL, place

LINE = 79  # characters that are wiped
WORTH_TELLING = 0.5  # s: a shorter wait is wiped from the terminal
PATIENCE = 2.0  # s a log waits before it is told of a compilation


class Line:
    """One line of news, wherever it is read; `say` replaces what was said."""

    def __init__(self) -> None:
        self.place, self._handle = place(), None

    def say(self, text: str) -> None:
        """The news now."""
        if self.place == TERMINAL:
            _print(f"\r{text:<{LINE}}", end="")
        elif self.place == LOG:
            _print(text)
        elif self.place == NOTEBOOK:
            self._display(text)

    def end(self, text: str = "") -> None:
        """The last news; on a terminal, nothing stays without one."""
        if self.place == TERMINAL:
            _print(f"\r{text:<{LINE}}" + ("\n" if text else "\r"), end="")
        elif text:
            self.say(text)

    def _display(self, text: str) -> None:
        """One output, changed in place: a saved notebook keeps its last state only."""
        from IPython.display import display, update_display

        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            update_display(content, raw=True, display_id=self._handle.display_id)


def _print(text: str, end: str = "\n") -> None:
    if sys.stderr is not None:
        print(text, end=end, file=sys.stderr, flush=True)


def explain_wait(what: str, compiled: Callable[[], Any]) -> Any:
    """Run a compilation; say what the wait is, and that it happens once."""
    line, told = Line(), f"madi: preparing {what} (once; kept for later runs) ..."
    late = threading.Timer(PATIENCE, line.say, [told]) if line.place == LOG else None
    if late is None:
        line.say(told)
    else:
        late.daemon = True
        late.start()
    start = time.perf_counter()
    try:
        return compiled()
    finally:
        took = time.perf_counter() - start
        if late is not None:
            late.cancel()
            late.join()  # the first line stands before the last
        if line.place == LOG:
            line.end(f"madi: prepared {what} in {took:.1f} s" if took > PATIENCE else "")
        else:  # a notebook's output stays: better a time than a wait that seems to go on
            line.end(f"{told} {took:.1f} s" if line.place == NOTEBOOK or took > WORTH_TELLING else "")
