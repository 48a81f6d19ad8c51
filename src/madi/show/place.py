"""Where words for people go: a terminal, a notebook, or a log (a file, a pipe, a service)."""

from __future__ import annotations

import sys

TERMINAL, NOTEBOOK, LOG, NOWHERE = "terminal", "notebook", "log", "nowhere"


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this. (IPython in a terminal is a terminal.)"""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in getattr(shell, "config", {})


def place() -> str:
    """What reads our words now; it may change while a program runs, so it is asked for each time."""
    if in_notebook():
        return NOTEBOOK
    if sys.stderr is None or sys.stderr.closed:  # a program without a console
        return NOWHERE
    return TERMINAL if sys.stderr.isatty() else LOG
