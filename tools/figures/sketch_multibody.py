"""Common to the figures of coordinates, spatial vectors, joints and recursion: arrows, labels, one place to save."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "madi",
        "font.family": "sans-serif",
        "font.size": 10,
        "mathtext.fontset": "dejavusans",
    }
)
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.patches import Circle, FancyArrowPatch, Polygon  # noqa: E402

BLUE, RED, GREEN, GREY, BLACK = "#1f5fa8", "#c0392b", "#2e7d32", "#7f8c8d", "#222222"
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "theory" / "figures"


def canvas(width: float, height: float, x: tuple[float, float], y: tuple[float, float]) -> tuple[Any, Any]:
    """A figure without axes, both directions to one scale."""
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure, axes


def arrow(axes: Any, start: Any, end: Any, colour: str = BLACK, width: float = 1.6, style: str = "-|>", **more: Any) -> None:
    """An arrow from start to end."""
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle=style, mutation_scale=11, color=colour, lw=width, shrinkA=0, shrinkB=0, **more
        )
    )


def turn(axes: Any, centre: Any, radius: float, first: float, last: float, colour: str = BLACK) -> None:
    """A circular arrow, degrees."""
    from math import cos, radians, sin

    a, b = ((centre[0] + radius * cos(radians(w)), centre[1] + radius * sin(radians(w))) for w in (first, last))
    arrow(axes, a, b, colour, 1.4, connectionstyle=f"arc3,rad={(last - first) / 360:.3f}")


def frame(axes: Any, origin: Any, angle: float, size: float, colour: str = BLACK) -> None:
    """Two axes of a frame."""
    from math import cos, radians, sin

    for w in (angle, angle + 90):
        end = origin[0] + size * cos(radians(w)), origin[1] + size * sin(radians(w))
        arrow(axes, origin, end, colour, 1.2)


def body(axes: Any, corners: Any, colour: str = "#dfe8f2", edge: str = GREY) -> None:
    """A filled polygon with round joints."""
    axes.add_patch(Polygon(corners, closed=True, facecolor=colour, edgecolor=edge, lw=1.2, joinstyle="round"))


def dot(axes: Any, centre: Any, colour: str = BLACK, radius: float = 0.04, hollow: bool = False) -> None:
    """A point."""
    axes.add_patch(Circle(centre, radius, facecolor="white" if hollow else colour, edgecolor=colour, lw=1.2, zorder=5))


def node(axes: Any, centre: Any, text: str, colour: str = "#dfe8f2", radius: float = 0.3) -> None:
    """A body of a graph."""
    axes.add_patch(Circle(centre, radius, facecolor=colour, edgecolor=BLACK, lw=1.2, zorder=4))
    axes.text(*centre, text, ha="center", va="center", zorder=5)


def save(figure: Any, name: str) -> None:
    """To the documents; a PNG beside it if MADI_PNG names a folder."""
    import os

    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", bbox_inches="tight", pad_inches=0.05, metadata={"Date": None})
    if "MADI_PNG" in os.environ:
        figure.savefig(Path(os.environ["MADI_PNG"]) / f"{name}.png", bbox_inches="tight", pad_inches=0.05, dpi=110)
    plt.close(figure)
