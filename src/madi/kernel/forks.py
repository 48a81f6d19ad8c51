"""What a forked process needs anew: of all threads only the one that forked lives on there, and locks that others held stay
held for ever. So executors, and locks that outlive a call, are made again in it."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any


def in_child(action: Callable[[], Any]) -> None:
    """Do it in every process that is forked from this one; where no process is (Windows), there is nothing to do."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


class Lock:
    """A lock that the thread which has it may take again, and that is free in a forked process."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _free() -> None:
    """All locks; the thread that forked holds it only where it forks while it has it, and then it goes on without."""
    for lock in list(_locks):
        lock._lock = threading.RLock()


in_child(_free)
