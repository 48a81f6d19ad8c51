"""Figures of docs/theory/flexible.md: the field, shapes, the rotating cantilever. Run: python tools/figures/flexible.py"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.linalg import eigh

import madi
from madi.flexible import clamped_free, clamped_loaded, polynomials, rectangle

mpl.use("Agg")
import matplotlib.pyplot as plt

OUT = Path(__file__).parents[2] / "docs" / "theory" / "figures"
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "madi",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.5,
    "lines.linewidth": 1.4,
    "legend.frameon": False,
}


def save(figure, name):
    """Write docs/theory/figures/<name>.svg, places to a hundredth of a point; with an argument, a PNG in that folder."""
    if len(sys.argv) > 1:
        figure.savefig(Path(sys.argv[1]) / f"{name}.png", dpi=130, bbox_inches="tight")
    OUT.mkdir(exist_ok=True)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None}, bbox_inches="tight")
    lines = (line.rstrip() for line in re.sub(r"(\d+\.\d{2})\d+", r"\1", text.getvalue()).splitlines())
    (OUT / f"{name}.svg").write_text("\n".join(lines) + "\n")
    plt.close(figure)


def gauss(n=200):
    """Points and weights from 0 to 1."""
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (x + 1), 0.5 * w


def arrow(axes, start, end, color="k", width=1.3):
    """From start to end."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0})


def frame():
    """The body's frame, the field and the foreshortening, in the body's plane."""
    turn, origin, xi = 0.3, np.array([0.9, 0.45]), 0.42
    A = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    x = np.linspace(0, 1, 101)
    psi, slope = 1.5 * x**2 - 0.5 * x**3, 3 * x - 1.5 * x**2
    short = 0.5 * xi**2 * np.concatenate([[0], np.cumsum(0.5 * (slope[1:] ** 2 + slope[:-1] ** 2) * np.diff(x))])
    length = 2.6

    def place(a, b):
        return origin + length * (A @ np.array([a, b]))

    figure, axes = plt.subplots(figsize=(6.2, 3.3), constrained_layout=True)
    line = np.array([place(a, 0) for a in x])
    bent = np.array([place(a - u, xi * p) for a, u, p in zip(x, short, psi, strict=True)])
    axes.plot(*line.T, "--", color="C7")
    axes.plot(*bent.T, color="C0", linewidth=3.0)
    for e in ((0.5, 0), (0, 0.5)):
        arrow(axes, (0, 0), e)
    for e in ((0.2, 0), (0, 0.2)):
        arrow(axes, origin, place(*e), "C3")
    arrow(axes, (0, 0), origin, "C7", 1.0)
    k = 62
    s, p = place(x[k], 0), bent[k]
    arrow(axes, origin, s, "C2", 1.1)
    arrow(axes, origin, p, "C1", 1.3)
    arrow(axes, s, place(x[k], xi * psi[k]), "C2", 1.0)
    arrow(axes, place(x[k], xi * psi[k]), p, "C4", 1.3)
    arrow(axes, place(1, xi * psi[-1]), bent[-1], "C4", 1.3)
    axes.plot(*np.array([place(1, 0), place(1, xi * psi[-1])]).T, ":", color="C7", linewidth=1.0)
    for point, text, color in (
        ((0.52, -0.04), "reference axes", "k"),
        (origin + (0.05, -0.14), "frame of the body", "C3"),
        ((s + origin) / 2 + (0.45, 0.0), "$s$", "C2"),
        ((p + origin) / 2 + (-0.1, 0.05), "$\\rho$", "C1"),
        (place(x[k] + 0.015, 0.3 * xi * psi[k]), "$\\psi \\xi$", "C2"),
        (place(0.9, xi + 0.09), "foreshortening", "C4"),
    ):
        axes.text(*point, text, color=color, fontsize=9)
    axes.set_xlim(-0.1, 3.6)
    axes.set_ylim(-0.15, 2.45)
    axes.set_aspect("equal")
    axes.axis("off")
    save(figure, "flexible_frame")


def cantilever(shapes, speed=0.0):
    """Frequencies out of the plane of a cantilever of unit data turning at `speed` about its root, by these shapes."""
    x, w = gauss()
    value, slope, curve = (np.array([shape(x, k) for shape in shapes]) for k in range(3))
    stiffening = (0.5 * w * (1 - x * x) * slope) @ slope.T
    return np.sqrt(eigh((w * curve) @ curve.T + speed**2 * stiffening, (w * value) @ value.T, eigvals_only=True))


def shapes():
    """The set for any end, the frequencies it gives, and the rotation of an end under a moment."""
    figure, (a, b, c) = plt.subplots(1, 3, figsize=(7.6, 2.7), constrained_layout=True)
    x = np.linspace(0, 1, 61)
    for k, shape in enumerate(clamped_loaded(1.0, 4)):
        a.plot(x, shape(x), color=f"C{k}", label=f"$\\psi_{k + 1}$")
    a.legend(fontsize=7.5, loc="lower left")
    a.set_xlabel("$x / L$")
    a.set_ylabel("shape")
    true = np.array([shape.root**2 for shape in clamped_free(1.0, 20)])
    for family, name, color in ((clamped_loaded, "static + clamped", "C0"), (polynomials, "polynomials", "C1")):
        found = cantilever(family(1.0, 20))
        b.semilogy(np.arange(1, 21), np.maximum(found / true - 1, 1e-10), "o-", color=color, markersize=2.5, label=name)
    b.set_ylim(1e-9, 40)
    b.set_xlabel("mode number (20 shapes)")
    b.set_ylabel("error of frequency")
    b.legend(fontsize=8)
    counts = np.arange(1, 21)
    places, weights = gauss()
    own = clamped_free(1.0, 20)
    turned = np.cumsum([one(1.0, 1) ** 2 / one.root**4 / np.sum(weights * one(places) ** 2) for one in own])
    c.loglog(counts, 1 - turned, "o-", color="C3", markersize=2.5, label="cantilever's own")
    c.loglog(counts, 0.4 / counts, ":", color="k", label="$1/n$")
    c.minorticks_off()
    c.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    c.set_yticks([0.02, 0.05, 0.1, 0.2, 0.4], ["2 %", "5 %", "10 %", "20 %", "40 %"])
    c.set_xlabel("number of shapes")
    c.set_ylabel("error of the end's rotation")
    c.legend(fontsize=8)
    save(figure, "flexible_shapes")


def rotating(plane, count, speed):
    """First frequency by madi of a cantilever with unit data, in units of sqrt(EI / mu L^4)."""
    m = madi.Model("rotor", gravity=(0, 0, 0))
    section = rectangle(0.1, 0.1)
    E, rho = 1.0 / section.iz, 1.0 / section.area
    blade = m.beam("blade", (0, 0, 0), (1, 0, 0), section, E=E, rho=rho, modes={plane: count})
    m.revolute("hub", m.ground, blade, at=(0, 0, 0), axis=(0, 0, 1))
    J = m.build().system_jacobian(np.zeros(1 + count), np.append(speed, np.zeros(count)), np.zeros(1 + count))
    return np.sqrt(eigh(0.5 * (J.by_q + J.by_q.T)[1:, 1:], J.by_qdd[1:, 1:], eigvals_only=True)[0])


def southwell():
    """First frequency over the speed."""
    speeds = np.linspace(0, 12, 61)
    figure, axes = plt.subplots(figsize=(5.4, 3.2), constrained_layout=True)
    exact = np.array([cantilever(polynomials(1.0, 9), speed)[0] for speed in speeds])
    one = np.sqrt(140 / 11 + 27 / 22 * speeds**2)
    axes.plot(speeds, exact, color="C0", label="out of plane, converged")
    axes.plot(speeds, one, "--", color="C0", label="one shape: ω² = 140/11 + 27 Ω²/22")
    axes.plot(speeds, np.sqrt(exact**2 - speeds**2), color="C1", label="in plane, converged")
    axes.plot(speeds, np.sqrt(one**2 - speeds**2), "--", color="C1", label="one shape: ω² = 140/11 + 5 Ω²/22")
    below = speeds[speeds <= 3.516]
    axes.plot(below, np.sqrt(1.8751**4 - below**2 + 1e-9), ":", color="C3", label="in plane without foreshortening")
    for plane, color in (("z", "C0"), ("y", "C1")):
        axes.plot([0, 4, 8, 12], [rotating(plane, 3, w) for w in (0, 4, 8, 12)], "o", color=color, markersize=4)
    axes.plot([], [], "o", color="C7", markersize=4, label="madi, three shapes")
    axes.set_xlabel("Ω, in units of (EI / μL⁴)$^{1/2}$")
    axes.set_ylabel("first frequency, same unit")
    axes.set_ylim(0, 14)
    axes.legend(fontsize=7.5, loc="upper left")
    save(figure, "flexible_southwell")


if __name__ == "__main__":
    with plt.rc_context(STYLE):
        frame()
        shapes()
        southwell()
