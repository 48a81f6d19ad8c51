"""The papers' experiments, one file each; `madi papers NAME` runs them, `madi papers all --book` makes a page of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

# name: (paper, module)
EXPERIMENTS: dict[str, tuple[str, str]] = {
    "tracked": ("P0", "tracked"), "rssr": ("P0", "rssr"), "five-dof": ("P0", "five_dof"), "rrc": ("P1", "rrc"),
    "lane-change": ("P2", "lane_change"), "ralf": ("P3", "ralf"), "6x6": ("P4", "six_by_six"),
}  # fmt: skip


def experiment(name: str) -> Callable[[Path], dict[str, Any]]:
    """The report of an experiment, loaded when it is asked for; its folder is made."""
    report = import_module(f"madi.papers.{EXPERIMENTS[name][1]}").report

    def run(out: Path) -> dict[str, Any]:
        out.mkdir(parents=True, exist_ok=True)
        return report(out)  # type: ignore[no-any-return]

    return run
