"""Figures of docs/theory/coordinates.md."""

from typing import Any

from matplotlib import pyplot as plt
from sketch_multibody import BLACK, GREY, RED, node, save

PLACE = {"ground": (0, 0), "crank": (-1.1, 1.2), "coupler": (0, 2.4), "rocker": (1.1, 1.2)}
JOINTS = {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": ("rocker", "ground")}


def draw(axes: Any, cut: str, weight: dict[str, float], distance: dict[str, float], text: str) -> None:
    """One graph: weights at the edges, distances at the nodes."""
    for name, (a, b) in JOINTS.items():
        (x, y), (u, w) = PLACE[a], PLACE[b]
        gone = name == cut
        axes.plot([x, u], [y, w], color=RED if gone else BLACK, lw=1.6, linestyle=":" if gone else "-", zorder=1)
        side = 0.48 if (x + u) > 0 else -0.48
        axes.text((x + u) / 2 + side, (y + w) / 2, f"{name}: {weight[name]:g}", ha="center", va="center", fontsize=9,
                  color=RED if gone else BLACK)  # fmt: skip
    for name, place in PLACE.items():
        node(axes, place, name, "#cccccc" if name == "ground" else "#dfe8f2", 0.36)
        axes.texts[-1].set_fontsize(8)
        x, y = {"ground": (0, -0.53), "crank": (-0.58, 0), "coupler": (0, 0.5), "rocker": (0.58, 0)}[name]
        axes.text(place[0] + x, place[1] + y, f"{distance[name]:g}", ha="center", va="center", color=GREY, fontsize=9)
    axes.text(0, -1.0, text, ha="center", fontsize=9)
    axes.set_xlim(-1.9, 1.9)
    axes.set_ylim(-1.2, 3.1)
    axes.set_aspect("equal")
    axes.axis("off")


def four_bar() -> None:
    """The spanning tree of a four-bar linkage, and with a spring on joint C."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.0, 3.7))
    plain = dict.fromkeys("ABCD", 1.5)
    draw(left, "C", plain, {"ground": 0, "crank": 1.5, "coupler": 3, "rocker": 1.5}, "C is cut (tie: B was drawn first)")
    draw(right, "B", {**plain, "C": 0.0}, {"ground": 0, "crank": 1.5, "coupler": 1.5, "rocker": 1.5},
         "with a spring on C: B is cut")  # fmt: skip
    save(figure, "spanning_tree")


if __name__ == "__main__":
    four_bar()
