"""Figures of docs/theory/tires.md: contact geometry, enveloping of a step, the brush, laws over slip, combined slip."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse, Polygon, Rectangle
from plots import save

import madi
from madi.forces.envelope import distance, tangent_distance
from madi.forces.magic_formula import fold, gripping_slips, rolling_radius, slip_stiffnesses
from madi.forces.road import smoothed
from madi.vehicle import example_tire


def arrow(axes, start, end, text="", color="black", shift=(0.0, 0.0), lw=1.4) -> None:
    """An arrow with its letter at the tip."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": lw, "shrinkA": 0, "shrinkB": 0})
    axes.text(end[0] + shift[0], end[1] + shift[1], text, color=color, ha="center", va="center")


def contact() -> None:
    """A cambered wheel from behind, and from above."""
    figure, (back, top) = plt.subplots(1, 2, figsize=(8.4, 4.2), gridspec_kw={"width_ratios": (1.25, 1)})
    g, D, r = np.radians(18), 1.0, 1.22
    up, e = np.array([np.sin(g), np.cos(g)]), np.array([-np.cos(g), np.sin(g)])  # in the wheel's plane; the spin axis, left
    c = np.array([-D * np.tan(g), -D])  # drawn from behind: left is left
    wheel = [0.09 * e * a + r * up * b for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    back.add_patch(Polygon(wheel, closed=True, fc="0.9", ec="0.4"))
    back.plot([-1.5, 1.25], [-D, -D], color="0.3")
    back.plot(*np.array([-r * up, r * up]).T, color="0.6", lw=0.8, ls="--")
    back.plot([0, 0], [0, -D], color="tab:blue", lw=1)
    back.text(0.1, -0.62, "$D$", color="tab:blue")
    back.plot(*np.array([(0, 0), c]).T, color="tab:red", lw=1.6)
    back.text(-0.11, -0.24, "$r_l$", color="tab:red", ha="right")
    back.plot([0], [0], "ko", ms=4)
    back.plot(*c, "o", color="tab:red", ms=5)
    back.annotate("", (c[0], -1.12), (0, -1.12), arrowprops={"arrowstyle": "<->", "lw": 0.8})
    back.text(0.05, -1.14, r"$D\,\tan\gamma$", va="center")
    arrow(back, (0, 0), 0.75 * e, "$e$", shift=(-0.08, 0.06))
    arrow(back, (0, 0), (0, 0.72), "$n$", shift=(-0.09, 0.04))
    arrow(back, c, c + (-0.75, 0), "$s$ (left)", shift=(0.02, 0.1))
    arrow(back, c, c + (0, 0.62), "$N$", "tab:red", shift=(-0.12, 0.0), lw=2)
    turn = np.linspace(0, g, 20)
    back.plot(0.62 * np.sin(turn), 0.62 * np.cos(turn), color="black", lw=0.8)
    back.annotate(r"$\gamma>0$", (0.1, 0.62), (0.62, 0.45), arrowprops={"arrowstyle": "-", "lw": 0.6})
    back.text(1.2, -0.93, "road", ha="right", color="0.3")
    back.set_xlim(-1.55, 1.3)
    back.set_ylim(-1.35, 1.35)
    # from above: forward up, left to the left
    top.add_patch(Rectangle((-0.17, -0.85), 0.34, 1.7, fc="0.9", ec="0.4"))
    top.add_patch(Ellipse((0, 0), 0.3, 0.7, fc="0.75", ec="0.5"))
    arrow(top, (0, 0), (0, 1.3), "$l$ (forward)", shift=(0.36, 0.02))
    arrow(top, (0, 0), (-1.0, 0), "$s$ (left)", shift=(0.05, -0.13))
    a = np.radians(24)
    arrow(top, (0, 0), (-1.25 * np.sin(a), 1.25 * np.cos(a)), "$V$", "tab:blue", shift=(-0.1, 0.06))
    arc = np.linspace(0, a, 20)
    top.plot(-0.95 * np.sin(arc), 0.95 * np.cos(arc), color="tab:blue", lw=0.8)
    top.text(-0.2, 1.06, r"$\alpha>0$", color="tab:blue", ha="center")
    arrow(top, (0, -0.2), (1.0, -0.2), "$-F_s$", "tab:red", shift=(0.16, 0.0), lw=2)
    top.annotate("", (0.5, 0.0), (0.5, -0.2), arrowprops={"arrowstyle": "<->", "lw": 0.8, "shrinkA": 0, "shrinkB": 0})
    top.plot([0, 0.56], [0, 0], color="0.4", lw=0.6)
    top.text(0.56, -0.07, "trail $t$", va="center")
    top.annotate("", (-0.33, -0.48), (0.3, -0.5), arrowprops={"arrowstyle": "<|-", "lw": 1.2,
                 "connectionstyle": "arc3,rad=-0.5", "color": "tab:red"})  # fmt: skip
    top.text(0.55, -0.62, "$M_n>0$", color="tab:red")
    top.set_xlim(-1.2, 1.35)
    top.set_ylim(-1.0, 1.45)
    for axes in (back, top):
        axes.set_aspect("equal")
        axes.axis("off")
    save(figure, "tires_contact", 2)


def envelope() -> None:
    """Distance from a step over the way."""
    r, step = 0.3, 0.08
    numbers = np.array(madi.flat().polyline([(0.0, 0.0), (1e-6, step)]).pack())
    x = np.linspace(-0.45, 0.25, 281)
    fine = np.linspace(-1.0, 1.0, 8001)
    heights = np.array([smoothed(numbers, 0, u, 0.0, 0.1 * r)[0] for u in fine])
    exact = [np.sqrt(np.min((fine - u) ** 2 + (r - heights) ** 2)) for u in x]
    figure, axes = plt.subplots(figsize=(6.0, 3.3))
    tangent = [tangent_distance(numbers, 0, (u, 0.0, r), 0.1 * r)[0] for u in x]
    axes.plot(x, tangent, color="tab:gray", label="tangent below the centre")
    for places, color in ((9, "tab:orange"), (33, "tab:blue")):
        axes.plot(x, [distance(numbers, 0, (u, 0.0, r), r, places)[0] for u in x], color=color, label=f"{places} places")
    axes.plot(x, exact, "k--", lw=1, label="nearest point")
    axes.set_xlabel("$x$ of the centre, m (step at 0)")
    axes.set_ylabel("$D$, m")
    axes.legend(frameon=False)
    save(figure, "tires_envelope", 2)


def brush() -> None:
    """Pressure and bristle forces over the patch; force and trail over z."""
    figure, (patch, curves) = plt.subplots(1, 2, figsize=(9.2, 3.1))
    z = 0.4
    x = np.linspace(-1, 1, 101)
    limit = 0.75 * (1 - x**2)
    stick = 3 * z / 2 * (1 - x)  # |F| / 2 b^2 (b - x), with mu N = b = 1
    patch.plot(x, limit, "k--", lw=1, label=r"$\mu p$")
    patch.plot(x[stick < 1.05], stick[stick < 1.05], color="0.6", lw=0.8)
    used = np.minimum(limit, stick)
    patch.fill_between(x, used, color="tab:blue", alpha=0.25, lw=0)
    patch.plot(x, used, color="tab:blue", label="bristle force per length")
    edge = 2 * z - 1
    patch.axvline(edge, color="tab:red", lw=0.8)
    patch.text((edge - 1) / 2, 0.12, "sliding", ha="center", color="tab:red")
    patch.text((edge + 1) / 2, 0.12, "sticking", ha="center", color="tab:red")
    patch.set_xlabel("$x/b$ (front: 1)")
    patch.set_ylabel(r"force per length, $\mu N/b$")
    patch.set_ylim(0, 1.1)
    patch.legend(frameon=False, fontsize=9)
    z = np.linspace(0, 1, 101)
    curves.plot(z, 3 * z * (1 - z) ** 2, label=r"sticking $3z(1-z)^2$")
    curves.plot(z, z**2 * (3 - 2 * z), label=r"sliding $z^2(3-2z)$")
    curves.plot(z, 1 - (1 - z) ** 3, "k", label="sum, one stiffness")
    curves.plot(z, (1 - z) ** 3 / (1 - z + z**2 / 3), "--", color="tab:green", label="trail $3t/b$")
    curves.set_xlabel(r"$z=|F|/3\mu N$")
    curves.set_ylabel(r"force, $\mu N$")
    curves.legend(frameon=False, fontsize=9, loc=(1.0, 0.3))
    figure.tight_layout()
    save(figure, "tires_brush", 2)


class Rig:
    """A free wheel on a tire, moved with given slips at 4 kN."""

    LOAD, SPEED = 4000.0, 20.0

    def __init__(self, law: str, tire) -> None:
        p = fold(tire)
        kx, ky = slip_stiffnesses(p, 0, self.LOAD, self.LOAD / tire["FNOMIN"] - 1, 0.0)
        along, across = gripping_slips(p, 0, self.LOAD)
        self.friction = 0.5 * (along * abs(kx) + across * abs(ky)) / self.LOAD
        self.low = tire.radius - self.LOAD / tire["VERTICAL_STIFFNESS"]
        self.radius = rolling_radius(p, 0, self.LOAD) if law == "magic" else self.low
        systems = []
        for kind in (law, ""):
            m = madi.Model("rig", gravity=(0, 0, 0))
            m.body("hub", 1.0, inertia=(1, 1, 1), position=(0, 0, self.low))
            m.free("base", m.ground, "hub")
            if kind == "magic":
                m.magic_tire("tire", "hub", (0, 0, self.low), (0, 1, 0), tire, low_speed=1e-6)
            elif kind:
                m.tire("tire", "hub", (0, 0, self.low), (0, 1, 0), tire.radius, tire["VERTICAL_STIFFNESS"], law=kind,
                       slip_stiffness=abs(kx), cornering_stiffness=abs(ky), friction=self.friction,
                       sliding_friction=0.8 * self.friction, low_speed=1e-6)  # fmt: skip
            systems.append(m.build(frame="ground"))
        self.tire, self.bare = systems

    def __call__(self, kappa: float, tangent: float) -> np.ndarray:
        """Forces along and across."""
        V, q = self.SPEED, np.array([0, 0, 0, 1.0, 0, 0, 0])
        v = np.array([V, V * tangent, 0, 0, V * (1 + kappa) / self.radius, 0])
        zero = np.zeros(6)
        return (self.bare.inverse_dynamics(q, v, zero) - self.tire.inverse_dynamics(q, v, zero))[:2]


NAMES = {"smooth": "smooth", "brush": "brush", "fiala": r"Fiala, $\mu_s=0.8\,\mu$", "magic": "Magic Formula"}
COLORS = {"smooth": "tab:green", "brush": "tab:blue", "fiala": "tab:orange", "magic": "black"}


def quiet():
    """The example tire without shifts and ply steer: symmetric curves."""
    zero = ("PHX1", "PHX2", "PVX1", "PVX2", "PHY1", "PHY2", "PVY1", "PVY2", "RHX1", "RHY1", "RHY2", "RVY1", "RVY2", "RVY3")
    return example_tire().scaled(**dict.fromkeys(zero, 0.0))


def slips() -> None:
    """Pure slip of the four laws."""
    tire = quiet()
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharey=True)
    for law, name in NAMES.items():
        rig = Rig(law, tire)
        x = np.linspace(0, 0.5, 81)
        axes[0].plot(x, [rig(k, 0.0)[0] / 1e3 for k in x], color=COLORS[law], label=name)
        axes[1].plot(x, [-rig(0.0, t)[1] / 1e3 for t in x], color=COLORS[law])
    axes[0].set_xlabel(r"$\kappa$")
    axes[1].set_xlabel(r"$\tan\alpha$")
    axes[0].set_ylabel("force, kN")
    axes[0].text(0.3, 0.4, "$F_l$")
    axes[1].text(0.3, 0.4, "$-F_s$")
    axes[0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    save(figure, "tires_slip", 2)


def combined() -> None:
    """F_l over F_s at constant slip angles."""
    tire = quiet()
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.1), sharey=True)
    grid = np.linspace(0, 1, 41) ** 2.2
    kappas = np.concatenate([-grid[:0:-1], grid])
    turn = np.linspace(-np.pi / 2, np.pi / 2, 61)
    for part, law in zip(axes, ("brush", "magic"), strict=True):
        rig = Rig(law, tire)
        size = rig.friction * rig.LOAD / 1e3
        part.plot(size * np.cos(turn), size * np.sin(turn), "--", color="0.5", lw=1)
        for degrees, color in ((0, "0.6"), (2, "tab:blue"), (4, "tab:green"), (8, "tab:orange"), (20, "tab:red")):
            forces = np.array([rig(k, np.tan(np.radians(degrees))) for k in kappas]) / 1e3
            part.plot(-forces[:, 1], forces[:, 0], color=color, lw=1.2, label=f"{degrees}°")
        part.set_aspect("equal")
        part.set_xlabel(f"$-F_s$, kN ({NAMES[law]})")
    axes[0].set_ylabel("$F_l$, kN")
    axes[1].legend(frameon=False, fontsize=9, loc=(1.02, 0.3))
    save(figure, "tires_combined", 2)


if __name__ == "__main__":
    contact()
    envelope()
    brush()
    slips()
    combined()
