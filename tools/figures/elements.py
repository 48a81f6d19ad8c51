"""Figures of docs/theory/elements.md: gas spring, stop, torsion bar on a cone, a span of track."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from plots import save
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def gas() -> None:
    """The unit of the worked example: absolute pressure, gauge pressure, isothermal."""
    A, V, p, ambient = 25e-4, 0.5e-3, 2e6, 101325.0
    x = np.linspace(-0.04, 0.12, 81)
    rho = V / (V - A * x)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1))
    for n, name, color in ((1.4, "adiabatic, $n=1.4$", "tab:blue"), (1.0, "isothermal, $n=1$", "tab:green")):
        axes[0].plot(1e3 * x, A * ((p + ambient) * rho**n - ambient) / 1e3, color=color, label=name)
        axes[1].plot(1e3 * x, n * (p + ambient) * A**2 / V * rho ** (n + 1) / 1e3, color=color)
    axes[0].plot(1e3 * x, A * p * rho**1.4 / 1e3, "k--", lw=1, label="$n=1.4$ with gauge pressure")
    axes[1].plot(1e3 * x, 1.4 * p * A**2 / V * rho**2.4 / 1e3, "k--", lw=1)
    axes[0].set_ylabel("force, kN")
    axes[1].set_ylabel("stiffness, kN/m")
    for part in axes:
        part.set_xlabel("compression, mm")
    axes[0].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    save(figure, "elements_gas", 2)


def leaving(c: float, v: float) -> float:
    """Velocity after an impact with v, by (7)."""
    goal = c * v - np.log(1 + c * v)
    return brentq(lambda w: -c * w - np.log(1 - c * w) - goal, 0.0, (1 - 1e-12) / c)


def stop() -> None:
    """Force over penetration of a free impact; restitution over the velocity."""
    k, mass, v = 1e5, 10.0, 1.0
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.1))
    for c, color in ((0.0, "0.5"), (0.5, "tab:blue"), (2.0, "tab:orange")):

        def rate(t, y, c=c):
            d = max(y[0], 0.0)
            return [y[1], -k * d**1.5 * (1 + c * y[1]) / mass]

        def out(t, y):
            return y[0] + (1.0 if t < 1e-4 else 0.0)

        out.terminal, out.direction = True, -1
        found = solve_ivp(rate, (0, 1), [0.0, v], events=out, rtol=1e-9, atol=1e-12, max_step=1e-3)
        d, u = found.y
        axes[0].plot(1e3 * d, k * np.maximum(d, 0) ** 1.5 * (1 + c * u) / 1e3, color=color, label=f"$c={c:g}$ s/m")
    axes[0].set_xlabel("penetration, mm")
    axes[0].set_ylabel("force, kN")
    axes[0].legend(frameon=False, fontsize=9)
    x = np.linspace(0.01, 3, 60)
    axes[1].plot(x, [leaving(1.0, v) / v for v in x], color="black", label="(7)")
    axes[1].plot(x[x < 1.2], 1 - 2 / 3 * x[x < 1.2], "--", color="0.5", lw=1, label="first order")
    axes[1].set_xlabel("$c\\,v_i$")
    axes[1].set_ylabel("$v_o/v_i$")
    axes[1].set_ylim(0, 1.02)
    axes[1].legend(frameon=False, fontsize=9)
    figure.tight_layout()
    save(figure, "elements_stop", 2)


def torsion() -> None:
    """Work of torques along z_a, z_b and g while the axis describes a cone at constant twist."""
    k, twist, tilt = 50.0, 0.3, 0.4
    beta = np.linspace(0, 2 * np.pi, 181)
    p, dp = np.stack([np.cos(beta), np.sin(beta), 0 * beta]), np.stack([-np.sin(beta), np.cos(beta), 0 * beta])
    omega = np.sin(tilt) * dp + (1 - np.cos(tilt)) * np.cross(p, dp, axis=0)
    z_a = np.array([0, 0, 1.0])[:, None] + 0 * p
    z_b = np.cos(tilt) * z_a + np.sin(tilt) * np.cross(p, z_a, axis=0)
    figure, axes = plt.subplots(figsize=(5.6, 3.1))
    for direction, name, color in (
        (z_a, "torque along $z_a$", "tab:orange"),
        (z_b, "torque along $z_b$", "tab:green"),
        ((z_a + z_b) / (1 + np.cos(tilt)), "gradient $g$", "tab:blue"),
    ):
        power = -k * twist * np.sum(direction * omega, axis=0)
        work = np.concatenate([[0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(beta))])
        axes.plot(np.degrees(beta), work, color=color, label=name)
    axes.set_xlabel("position of the axis on the cone, degrees")
    axes.set_ylabel("work, J")
    axes.set_xticks([0, 90, 180, 270, 360])
    axes.legend(frameon=False, fontsize=9)
    save(figure, "elements_torsion", 2)


def track() -> None:
    """Two wheels of different size, the belt below them."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0))
    ra, rb, a, b = 0.5, 0.85, np.array([0.0, 0.0]), np.array([2.6, 0.55])
    c, w = b - a, rb - ra
    span = np.sqrt(c @ c - w * w)
    t = (span * c + w * np.array([c[1], -c[0]])) / (c @ c)
    m = np.array([t[1], -t[0]])
    assert np.allclose(c, span * t - w * m)
    turn = np.linspace(0, 2 * np.pi, 73)
    for centre, r, name in ((a, ra, "$C_a$"), (b, rb, "$C_b$")):
        axes.plot(centre[0] + r * np.cos(turn), centre[1] + r * np.sin(turn), color="0.5")
        axes.plot(*centre, "ko", ms=3)
        axes.text(centre[0] - 0.05, centre[1] + 0.12, name, ha="right")
        axes.plot(*np.array([centre, centre + r * m]).T, color="0.6", lw=0.8, ls="--")
    start, end = a + ra * m, b + rb * m
    axes.plot(*np.array([start, end]).T, color="black", lw=2.2)

    def arrow(tail, tip, text, color, shift):
        axes.annotate("", tip, tail, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.6, "shrinkA": 0, "shrinkB": 0})
        axes.text(*(np.array(tip) + shift), text, color=color, ha="center", va="center")

    arrow(a, b, "", "tab:blue", (0, 0))
    axes.text(*(0.5 * (a + b) + (-0.05, 0.13)), "$c$", color="tab:blue")
    arrow(start, start + 0.75 * t, "$T\\,t$", "tab:red", np.array([0.0, 0.17]))
    arrow(end, end - 0.75 * t, "$-T\\,t$", "tab:red", np.array([0.0, 0.17]))
    middle = 0.5 * (start + end)
    arrow(middle, middle + 0.4 * m, "$m$", "black", np.array([0.12, 0.0]))
    arrow(middle, middle + 0.4 * t, "$t$", "black", np.array([0.0, -0.13]))
    axes.text(*(a + 0.5 * ra * m + (0.08, 0.0)), "$r_a$")
    axes.text(*(b + 0.5 * rb * m + (0.08, 0.0)), "$r_b$")
    axes.set_xlim(-0.6, 3.55)
    axes.set_ylim(-0.95, 1.5)
    axes.set_aspect("equal")
    axes.axis("off")
    save(figure, "elements_track", 2)


if __name__ == "__main__":
    gas()
    stop()
    torsion()
    track()
