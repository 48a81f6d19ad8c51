"""Speed, measured against peers in one run; `madi bench NAME`."""

from collections.abc import Callable
from typing import Any

from madi.bench import loops, trees

BENCHMARKS: dict[str, Callable[[bool], dict[str, Any]]] = {"trees": trees.report, "loops": loops.report}
