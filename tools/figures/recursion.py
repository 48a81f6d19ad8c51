"""Figures of docs/theory/recursion.md."""

from matplotlib import pyplot as plt
from matplotlib.patches import Ellipse, Rectangle
from sketch_multibody import BLACK, BLUE, GREEN, RED, node, save

PARENT = {1: 0, 2: 1, 3: 2, 4: 2, 5: 1, 6: 5, 7: 6}
PLACE = {0: (0, 0), 1: (0, 1), 2: (-1, 2), 3: (-1.7, 3), 4: (-0.4, 3), 5: (1, 2), 6: (1, 3), 7: (1, 4)}


def path(i: int) -> list[int]:
    """Bodies from i to the root."""
    return [] if i == 0 else [i, *path(PARENT[i])]


def tree_and_pattern() -> None:
    """A tree, a composite body, and where M has entries."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.7))
    left.add_patch(Ellipse((-1.03, 2.62), 2.3, 2.2, facecolor="#fdf1e3", edgecolor=RED, lw=1.2, linestyle="--"))
    left.text(-2.9, 1.2, "$K_2, L_2, W_2$", color=RED)
    for child, parent in PARENT.items():
        a, b = PLACE[parent], PLACE[child]
        left.plot([a[0], b[0]], [a[1], b[1]], color=BLACK, lw=1.3, zorder=1)
    node(left, PLACE[0], "0", "#cccccc", 0.24)
    for i in PARENT:
        node(left, PLACE[i], str(i), radius=0.24)
    left.set_xlim(-2.9, 1.8)
    left.set_ylim(-0.4, 4.4)
    left.set_aspect("equal")
    left.axis("off")
    for i in range(1, 8):
        for j in range(1, 8):
            related = i in path(j) or j in path(i)
            colour = "#dfe8f2" if related else "white"
            right.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor="#c8d2dc", lw=0.8))
            if related:
                right.text(j, i, f"$K_{max(i, j)}$", ha="center", va="center", fontsize=8)
    right.set_xlim(0.4, 7.6)
    right.set_ylim(7.6, 0.4)
    right.set_aspect("equal")
    right.xaxis.tick_top()
    right.set_xticks(range(1, 8))
    right.set_yticks(range(1, 8))
    right.tick_params(length=0)
    for side in right.spines.values():
        side.set_visible(False)
    save(figure, "tree_and_pattern")


def costs() -> None:
    """Multiplications per column of a chain of one-axis joints, beyond what both recursions share."""
    n = range(1, 31)
    composite = [sum(37 + 9.5 * d + d * d / 2 for d in range(k)) / k for k in n]
    figure, axes = plt.subplots(figsize=(5.6, 3.0))
    axes.plot(n, composite, color=BLUE, label="composite inertias, $M$ and its factorisation")
    axes.plot(n, [95] * len(n), color=GREEN, label="articulated inertias")
    axes.set_xlabel("bodies in the chain, $n$")
    axes.set_ylabel("multiplications per column")
    axes.set_ylim(0, 330)
    axes.set_xlim(1, 30)
    axes.legend(frameon=False, fontsize=9)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    save(figure, "recursion_costs")


if __name__ == "__main__":
    tree_and_pattern()
    costs()
