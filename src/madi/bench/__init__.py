"""Speed, measured against peers in one run; `madi bench NAME`."""

from collections.abc import Callable
from typing import Any

from madi.bench import contact, flexible, large, loops, measured, methods, trees


def realtime(quick: bool = False) -> dict[str, Any]:
    """`madi bench realtime`; it needs the peers, so it is imported when it is run."""
    from madi.bench.realtime import report

    return report(quick)


def start(quick: bool = False) -> dict[str, Any]:
    """`madi bench start`; it too."""
    from madi.bench.start import report

    return report(quick)


def grows(quick: bool = False) -> dict[str, Any]:
    """`madi bench growth`; it too."""
    from madi.bench.growth import report

    return report(quick)


BENCHMARKS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "trees": trees.report, "loops": loops.report, "realtime": realtime, "methods": methods.report,
    "flexible": flexible.report, "start": start, "large": large.report, "measured": measured.report,
    "growth": grows, "contact": contact.report,
}  # fmt: skip
