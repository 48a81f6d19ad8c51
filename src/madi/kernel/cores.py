"""How many cores there are for this process."""

from __future__ import annotations

import os
from functools import cache


@cache
def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
