"""Figures of docs/theory/statics.md: continuation of an assembly, the search for an equilibrium, eigenvalues of a top."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from plots import save

import madi


def meet(angle: float, side: float) -> np.ndarray:
    """Corners A, B, C, D of a four-bar (0.3, 1.0, 0.8, ground 0.9 m) with the crank `angle` from the vertical."""
    A, B, D = np.zeros(2), 0.3 * np.array([np.sin(angle), np.cos(angle)]), np.array([0.9, 0.0])
    d = D - B
    far = np.linalg.norm(d)
    x = (1.0 - 0.64 + far**2) / (2 * far)
    return np.array([A, B, B + x * d / far + side * np.sqrt(1.0 - x**2) * np.array([-d[1], d[0]]) / far, D])


def assembly() -> None:
    """From the drawing to a crank angle of 2 rad by continuation; the other assembly mode there."""
    figure, axes = plt.subplots(figsize=(5.6, 3.7))
    steps = np.append(np.arange(0, 2.0, 0.15), 2.0)
    for angle in steps[1:-1]:
        axes.plot(*meet(angle, 1.0).T, color="tab:blue", lw=0.7, alpha=0.45)
    axes.plot(*meet(0.0, 1.0).T, "o-", color="0.5", ms=4, label="drawn, crank at 0")
    axes.plot(*meet(2.0, 1.0).T, "o-", color="tab:blue", ms=4, label="crank at 2 rad, by continuation")
    axes.plot(*meet(2.0, -1.0).T, "o--", color="tab:red", ms=4, label="the other assembly mode there")
    for name, point, shift in zip("ABCD", meet(2.0, 1.0), ((-0.07, 0), (0.03, -0.06), (0.03, 0.03), (0.03, 0)), strict=True):
        axes.text(*(point + shift), name)
    axes.set_aspect("equal")
    axes.set_xlabel("x, m")
    axes.set_ylabel("z, m")
    axes.legend(frameon=False, loc=(1.0, 0.55), fontsize=9)
    save(figure, "statics-assembly")


LENGTH, MASS, WEIGHT, STIFFNESS, FREE = 0.5, 1.0, 19.62, 196.2, 0.9  # the worked example


def potential(x: float) -> tuple[float, float, float, float]:
    """V, V', V'' and the generalised mass of the worked example over the crank's angle from the vertical."""
    z, dz, ddz = 2 * LENGTH * np.cos(x), -2 * LENGTH * np.sin(x), -2 * LENGTH * np.cos(x)
    pull = WEIGHT + STIFFNESS * (z - FREE)
    V = WEIGHT * z + STIFFNESS / 2 * (z - FREE) ** 2
    mass = 0.25 / 3 + 0.25 * (0.25 * np.cos(x) ** 2 + 2.25 * np.sin(x) ** 2) + 0.25 / 12 + dz**2
    return V, pull * dz, STIFFNESS * dz**2 + pull * ddz, mass


def newton(x: float, most: int = 12) -> list[float]:
    """Newton's iterates."""
    path = [x]
    for _ in range(most):
        _, R, K, _ = potential(path[-1])
        path.append(path[-1] - R / K)
    return path


def transient(x: float, most: int = 25) -> list[float]:
    """Iterates of pseudo-transient continuation as equilibrium.py does it, for one coordinate."""
    path, (_, R, K, M) = [x], potential(x)
    shift = abs(R) / M / 0.02
    for _ in range(most):
        step = -R / (K + shift * M)
        there = path[-1] + np.clip(step, -0.1, 0.1)
        _, R1, K1, M1 = potential(there)
        if R * step <= 0 and (abs(R1) <= 1.0001 * abs(R) or R1 * step <= 0):
            path.append(there)
            R, K, M, shift = R1, K1, M1, 0.2 * shift
        else:
            shift = max(8 * shift, 1e-6)
        if abs(R) < 1e-10:
            break
    return path


def equilibrium() -> None:
    """From 0.25 rad: Newton goes to the maximum, pseudo-transient continuation to the minimum."""
    figure, pair = plt.subplots(1, 2, figsize=(7.4, 3.2))
    x = np.linspace(-0.2, 0.95, 100)
    pair[0].plot(x, [potential(a)[0] for a in x], color="k", lw=1)
    for path, colour, mark, name in ((newton(0.25), "tab:red", "s", "Newton"),
                                     (transient(0.25), "tab:blue", "o", "pseudo-transient continuation")):  # fmt: skip
        pair[0].plot(path, [potential(a)[0] for a in path], mark, color=colour, ms=4, label=name)
        pair[1].semilogy([max(abs(potential(a)[1]), 1e-14) for a in path], mark + "-", color=colour, ms=4, lw=1)
    pair[0].set_xlabel("crank angle from the vertical, rad")
    pair[0].set_ylabel("potential energy, J")
    pair[0].legend(frameon=False, fontsize=8, loc="upper center")
    pair[1].set_xlabel("accepted steps")
    pair[1].set_ylabel("$|R|$, N m")
    pair[1].set_xlim(-0.3, 10)
    pair[1].set_xticks(range(0, 11, 2))
    figure.tight_layout()
    save(figure, "statics-equilibrium")


def top() -> None:
    """Eigenvalues of a sleeping top over its spin: by hand (lines) and by madi (dots)."""
    m = madi.Model("top")
    m.body("top", 1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, 0.1))
    m.spherical("tip", m.ground, "top", at=(0, 0, 0))
    s = m.build()
    figure, pair = plt.subplots(1, 2, figsize=(7.4, 3.0))
    critical = 2 * np.sqrt(0.03 * 0.981) / 0.01
    spins = np.concatenate([critical * np.sin(np.linspace(0, np.pi / 2, 30)), np.linspace(critical, 60, 30)])
    root = np.sqrt((0.01 * spins) ** 2 - 4 * 0.03 * 0.981 + 0j)
    for sign in (-1, 1):
        values = 1j * ((0.01 * spins + sign * root) / 0.06 - spins)
        pair[0].plot(spins, values.real, "k", lw=1)
        pair[1].plot(spins, np.abs(values.imag), "k", lw=1)
    for spin in np.arange(5.0, 60, 5.0):
        values = madi.linearize(s, [1, 0, 0, 0], [0, 0, spin]).eigenvalues
        values = [x for x in values if abs(x) > 1e-3]
        pair[0].plot([spin] * len(values), np.real(values), "o", color="tab:blue", ms=4, mfc="none")
        pair[1].plot([spin] * len(values), np.abs(np.imag(values)), "o", color="tab:blue", ms=4, mfc="none")
    for axes, name in zip(pair, ("real part, 1/s", "|imaginary part|, 1/s"), strict=True):
        axes.set_xlabel("spin, rad/s")
        axes.set_ylabel(name)
        axes.axvline(critical, color="0.7", lw=1)
    figure.tight_layout()
    save(figure, "statics-top")


if __name__ == "__main__":
    assembly()
    equilibrium()
    top()
