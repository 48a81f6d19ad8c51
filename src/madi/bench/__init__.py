"""Speed, measured against peers in one run; `madi bench NAME`."""

from collections.abc import Callable
from typing import Any

from madi.bench import flexible, loops, methods, trees


def realtime(quick: bool = False) -> dict[str, Any]:
    """`madi bench realtime`; it needs the peers, so it is imported when it is run."""
    from madi.bench.realtime import report

    return report(quick)


BENCHMARKS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "trees": trees.report, "loops": loops.report, "realtime": realtime, "methods": methods.report,
    "flexible": flexible.report,
}  # fmt: skip
