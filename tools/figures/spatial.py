"""Figures of docs/theory/spatial.md."""

from sketch_multibody import BLACK, BLUE, GREEN, GREY, RED, arrow, body, canvas, dot, frame, save, turn


def motion_vector() -> None:
    """v: velocity of the body point that is now at the reference origin."""
    figure, axes = canvas(6.4, 3.3, (-1.2, 5.4), (-0.9, 2.6))
    body(axes, [(2.0, 0.3), (4.3, 0.1), (4.9, 1.3), (3.9, 2.2), (2.3, 1.8)])
    body(axes, [(-0.4, 0.5), (-0.4, -0.4), (2.0, 0.3), (2.3, 1.8)], "#f4f7fb", "#c8d2dc")
    axes.text(0.45, -0.42, "body, extended to O", color=GREY, fontsize=8)
    frame(axes, (0, 0), 0, 0.75)
    dot(axes, (0, 0))
    axes.text(-0.28, -0.3, "O")
    arrow(axes, (0, 0), (-0.75, 1.1), BLUE)
    axes.text(-1.1, 0.75, "$v$", color=BLUE, fontsize=13)
    dot(axes, (3.7, 1.2))
    axes.text(3.8, 1.28, "P")
    arrow(axes, (0, 0), (3.66, 1.19), GREY, 1.0)
    axes.text(1.55, 0.2, "$r$", color=GREY, fontsize=13)
    arrow(axes, (3.7, 1.2), (3.15, 2.5), GREEN)
    axes.text(1.75, 2.3, r"$\dot r = v + \omega \times r$", color=GREEN, fontsize=12)
    turn(axes, (4.25, 0.62), 0.33, -60, 200, RED)
    axes.text(4.5, 0.18, r"$\omega$", color=RED, fontsize=13)
    save(figure, "motion_vector")


def turntable() -> None:
    """The worked example: spatial and material acceleration of a disc on a turntable."""
    from matplotlib.patches import Circle

    figure, axes = canvas(6.4, 3.6, (-3.2, 5.0), (-2.7, 2.6))
    axes.add_patch(Circle((0, 0), 2.55, facecolor="#f1f5fa", edgecolor=GREY, lw=1.2))
    axes.add_patch(Circle((2, 0), 0.62, facecolor="#dfe8f2", edgecolor=GREY, lw=1.2))
    frame(axes, (0, 0), 0, 0.9)
    dot(axes, (0, 0), radius=0.06)
    dot(axes, (2, 0), radius=0.06)
    axes.text(-0.35, 0.12, "O")
    axes.text(0.95, 0.07, "$x$")
    axes.text(0.08, 0.85, "$y$")
    turn(axes, (0, 0), 2.75, 115, 155, RED)
    axes.text(-2.9, 2.2, "1 rad/s", color=RED)
    turn(axes, (2, 0), 0.8, 20, 95, RED)
    axes.text(2.55, 0.75, "2 rad/s, relative", color=RED)
    arrow(axes, (0, 0), (0, -2.0), BLUE)
    axes.text(0.1, -1.7, "$v = (0, -4, 0)$ m/s", color=BLUE)
    arrow(axes, (2, 0), (1.25, 0), BLACK)
    arrow(axes, (0, 0.0), (0, -2.0), BLUE)
    axes.text(3.0, -0.1, r"disc centre: $\ddot r = (-2, 0, 0)$ m/s$^2$", color=BLACK, fontsize=9)
    axes.text(3.0, -0.6, r"disc, spatial: $\dot v = (4, 0, 0)$ m/s$^2$", color=BLUE, fontsize=9)
    axes.text(3.0, -1.1, r"disc point now at O: $(16, 0, 0)$ m/s$^2$", color=GREEN, fontsize=9)
    save(figure, "turntable")


if __name__ == "__main__":
    motion_vector()
    turntable()
