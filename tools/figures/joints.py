"""Figures of docs/theory/joints.md."""

from sketch_multibody import BLACK, BLUE, GREEN, GREY, RED, arrow, body, canvas, dot, frame, save


def joint_frames() -> None:
    """Frame F on the drawn parent, the child's frame, and which way the tree walks."""
    figure, axes = canvas(7.2, 2.9, (-1.3, 8.0), (-1.1, 2.75))
    frame(axes, (-0.8, -0.7), 0, 0.6)
    dot(axes, (-0.8, -0.7))
    axes.text(-1.15, -1.0, "O")
    body(axes, [(0.3, 0.2), (2.6, 0.0), (2.9, 1.1), (0.7, 1.5)])
    body(axes, [(4.6, 0.9), (7.2, 0.5), (7.6, 1.7), (5.1, 2.2)], "#e6f0e6")
    axes.text(0.4, 1.62, "drawn parent, $Y_p$", fontsize=9)
    axes.text(5.6, 1.2, "drawn child, $Y_c$", fontsize=9)
    frame(axes, (2.45, 0.55), 12, 0.8, BLUE)
    dot(axes, (2.45, 0.55), BLUE)
    axes.text(2.1, 0.3, "$F$", color=BLUE)
    frame(axes, (5.1, 1.3), 35, 0.8, GREEN)
    dot(axes, (5.1, 1.3), GREEN)
    arrow(axes, (-0.8, -0.7), (2.42, 0.53), GREY, 1.0)
    axes.text(0.95, -0.32, "$o_F$", color=GREY)
    arrow(axes, (2.5, 0.57), (5.06, 1.29), BLACK, 1.2)
    axes.text(3.55, 0.62, "pose $(E, p)$ in $F$", fontsize=9)
    arrow(axes, (2.2, -0.5), (5.6, -0.5), BLUE, 1.4)
    axes.text(5.75, -0.58, "$B = X_F S$", color=BLUE)
    arrow(axes, (5.6, -0.95), (2.2, -0.95), RED, 1.4)
    axes.text(5.75, -1.03, "$B = -X_F S$", color=RED)
    save(figure, "joint_frames")


def pair() -> None:
    """A row of a cut joint: the force vector psi of a unit multiplier."""
    figure, axes = canvas(6.6, 3.0, (-1.2, 6.6), (-0.9, 2.7))
    body(axes, [(0.0, 0.1), (2.2, -0.2), (2.6, 0.9), (0.5, 1.4)])
    body(axes, [(4.0, 1.1), (6.0, 0.8), (6.3, 2.0), (4.4, 2.5)], "#e6f0e6")
    axes.text(0.35, 0.75, "$a$", fontsize=13)
    axes.text(5.85, 1.15, "$b$", fontsize=13)
    frame(axes, (1.7, 0.4), 20, 0.75, BLUE)
    dot(axes, (1.7, 0.4), BLUE)
    axes.text(1.35, 0.1, "$o_a$", color=BLUE)
    axes.text(2.28, 0.32, "$e$", color=BLUE, fontsize=12)
    dot(axes, (4.5, 1.7), GREEN)
    frame(axes, (4.5, 1.7), 40, 0.6, GREEN)
    axes.text(4.55, 1.35, "$o_b$", color=GREEN)
    arrow(axes, (1.75, 0.42), (4.46, 1.68), GREY, 1.0)
    axes.text(3.0, 1.25, "$o_{ab}$", color=GREY, fontsize=12)
    arrow(axes, (4.5, 1.7), (3.55, 1.354), RED, 2.0)
    axes.text(2.35, 1.62, r"$-\psi \lambda$ on $b$", color=RED)
    arrow(axes, (4.5, 1.7), (5.45, 2.046), RED, 2.0, linestyle="--")
    axes.text(5.1, 2.42, r"$+\psi \lambda$ on $a$", color=RED)
    axes.text(-1.1, -0.75, r"$\Phi = e \cdot o_{ab}$,  $\psi = (e,\; o_b \times e)$;  drawn for $\lambda > 0$", fontsize=10)
    save(figure, "constraint_row")


if __name__ == "__main__":
    joint_frames()
    pair()
