"""Common to the figures that are plots: their style, one place to save."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path(__file__).resolve().parents[2] / "docs" / "theory" / "figures"
plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "madi", "font.size": 10, "axes.spines.top": False,
                     "axes.spines.right": False, "lines.linewidth": 1.4})  # fmt: skip


def save(figure: plt.Figure, name: str, decimals: int = 3) -> None:
    """As SVG, the same file for the same figure: no date, numbers to so many decimals."""
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / f"{name}.svg"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    text = re.sub(rf"(\d+\.\d{{{decimals}}})\d+", r"\1", path.read_text())
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    plt.close(figure)
