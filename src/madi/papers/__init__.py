"""The papers' experiments, one file each; `madi papers NAME` runs them."""

from collections.abc import Callable
from pathlib import Path

from madi.papers import five_dof, lane_change, ralf, rrc, rssr, six_by_six, tracked

EXPERIMENTS: dict[str, Callable[[Path], dict[str, object]]] = {
    "tracked": tracked.report, "rssr": rssr.report, "five-dof": five_dof.report, "rrc": rrc.report,
    "6x6": six_by_six.report, "lane-change": lane_change.report, "ralf": ralf.report,
}  # fmt: skip
