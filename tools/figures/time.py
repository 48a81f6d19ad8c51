"""Figures of docs/theory/time.md: stability, numerical damping, charts, constraints. Run: python tools/figures/time.py"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from flexible import STYLE, save

from madi.integrate import GeneralizedAlpha, Newmark, dopri, radau

RK4 = (np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 0]]), np.array([1, 2, 2, 1]) / 6)
DOPRI = (dopri.A, dopri.B)
RADAU = (radau._A, radau._A[2])


def growth(tableau, z):
    """R(z) = 1 + z b^T (1 - z A)^-1 e of a Runge-Kutta method."""
    A, b = tableau
    z = np.asarray(z, dtype=complex)
    stages = np.linalg.solve(np.eye(len(b)) - z[..., None, None] * A, np.ones((*z.shape, len(b), 1)))
    return 1 + z * (b @ stages)[..., 0]


def growth_ab3(z):
    """Largest root of the third-order Adams-Bashforth method on x' = z x / h."""
    z = np.asarray(z, dtype=complex)
    C = np.zeros((*z.shape, 3, 3), dtype=complex)
    C[..., 0, 0], C[..., 0, 1], C[..., 0, 2] = 1 + 23 / 12 * z, -16 / 12 * z, 5 / 12 * z
    C[..., 1, 0] = C[..., 2, 1] = 1
    return np.max(np.abs(np.linalg.eigvals(C)), axis=-1)


def amplification(options, W, D=0.0):
    """Matrix of a step of the Newmark family on q'' + 2 D w q' + w^2 q = 0, W = h w, over (q, h v, h^2 A, h^2 a)."""
    m, f, beta, gamma = options
    # unknown (q1, h v1, h^2 A1, h^2 a1): the four equations of the step
    left = np.array([[1, 0, -beta, 0], [0, 1, -gamma, 0], [0, 0, 1 - m, -(1 - f)], [W * W, 2 * D * W, 0, 1]])
    right = np.array([[1, 1, 0.5 - beta, 0], [0, 1, 1 - gamma, 0], [0, 0, -m, f], [0, 0, 0, 0]])
    return np.linalg.solve(left, right)


def principal(matrix):
    """The root that follows exp(i W): that of positive imaginary part nearest to the unit circle's start, or None."""
    roots = [r for r in np.linalg.eigvals(matrix) if r.imag > 1e-12]
    return max(roots, key=abs) if roots else None


def regions():
    """Where Runge-Kutta methods and AB3 are stable."""
    x, y = np.linspace(-4.6, 0.8, 121), np.linspace(-4.2, 4.2, 151)
    z = x[None, :] + 1j * y[:, None]
    figure, (a, b) = plt.subplots(1, 2, figsize=(7.2, 3.6), constrained_layout=True)
    for values, name, color in (
        (np.abs(growth(RK4, z)), "RK4", "C0"),
        (np.abs(growth(DOPRI, z)), "Dormand-Prince", "C1"),
        (growth_ab3(z), "AB3", "C2"),
    ):
        a.contour(x, y, values, [1.0], colors=color)
        a.plot([], [], color=color, label=name)
    a.legend(loc="upper left", fontsize=8)
    x, y = np.linspace(-5, 16, 101), np.linspace(-10, 10, 101)
    z = x[None, :] + 1j * y[:, None]
    b.contourf(x, y, np.abs(growth(RADAU, z)), [0, 1], colors=["#cfe0ee"])
    b.contour(x, y, np.abs(growth(RADAU, z)), [1.0], colors="C0")
    b.text(-4.5, 8.3, "$|R| < 1$", fontsize=9)
    b.text(4.2, 0.3, "$|R| > 1$", fontsize=9)
    for axes in (a, b):
        axes.axhline(0, color="k", linewidth=0.5)
        axes.axvline(0, color="k", linewidth=0.5)
        axes.set_aspect("equal")
        axes.set_xlabel("Re $h\\lambda$")
    a.set_ylabel("Im $h\\lambda$")
    save(figure, "time_regions")


FAMILY = (
    ("Newmark 1/4, 1/2; ρ∞ = 1", Newmark(gamma=0.5, beta=0.25).scheme(), "C0", "-"),
    ("generalized-α, ρ∞ = 0.8", GeneralizedAlpha(spectral_radius=0.8).scheme(), "C1", "-"),
    ("generalized-α, ρ∞ = 0.5", GeneralizedAlpha(spectral_radius=0.5).scheme(), "C2", "-"),
    ("generalized-α, ρ∞ = 0", GeneralizedAlpha(spectral_radius=0.0).scheme(), "C3", "-"),
    ("HHT, α = 0.1", GeneralizedAlpha(alpha=0.1).scheme(), "C5", "--"),
    ("Newmark, γ = 0.6", Newmark(gamma=0.6).scheme(), "C4", "--"),
)


def radius():
    """The spectral radius over h w."""
    W = np.logspace(-2, 3, 160)
    figure, axes = plt.subplots(figsize=(7.2, 3.2), constrained_layout=True)
    for name, options, color, style in FAMILY:
        axes.semilogx(W, [np.max(np.abs(np.linalg.eigvals(amplification(options, w)))) for w in W], style, color=color,
                      label=name)  # fmt: skip
    axes.semilogx(W, np.abs(growth(RADAU, 1j * W)), ":", color="k", label="Radau IIA(5)")
    short = np.append(np.linspace(0.3, 2.8, 40), 8**0.5)
    axes.semilogx(short, np.abs(growth(RK4, 1j * short)), "-.", color="C7", label="RK4 (up to 2√2)")
    axes.set_ylim(0, 1.08)
    axes.set_xlabel("$h\\omega$")
    axes.set_ylabel("spectral radius")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, "time_radius")


def errors():
    """Period and damping of the numerical solution."""
    steps = np.linspace(0.004, 0.3, 50)  # h / T
    figure, (a, b) = plt.subplots(1, 2, figsize=(7.2, 3.0), constrained_layout=True)
    rows = [
        (name, lambda w, o=options: principal(amplification(o, w)), color, style) for name, options, color, style in FAMILY
    ]
    rows.append(("RK4", lambda w: complex(growth(RK4, 1j * w)), "C7", "-."))
    rows.append(("explicit Newmark", lambda w: principal(np.array([[1, 1], [-w * w, 1 - w * w]])), "C6", "-."))
    rows.append(("Radau IIA(5)", lambda w: complex(growth(RADAU, 1j * w)), "k", ":"))
    for name, root, color, style in rows:
        W, found = 2 * np.pi * steps, []
        for w in W:
            log = np.log(root(w))  # (-damping + i) W_numerical
            found.append((w / log.imag - 1, -log.real / abs(log)))
        period, damping = np.array(found).T
        a.plot(steps, 100 * period, style, color=color, label=name)
        b.plot(steps, 100 * damping, style, color=color)
    a.set_ylabel("period error, %")
    b.set_ylabel("numerical damping ratio, %")
    a.set_ylim(-15, 60)
    b.set_ylim(-0.5, 20)
    for axes in (a, b):
        axes.set_xlabel("$h / T$")
    a.legend(fontsize=7, loc="upper left")
    save(figure, "time_errors")


def charts():
    """A plane body: both charts at one point, theta = (1.6, 0, 1.5) and its parts."""
    slide, turn = np.array([1.6, 0.0]), 1.5

    def moved(s, chart):
        angle = s * turn
        if chart == "retract":
            return s * slide, angle
        a, b = np.sin(angle) / angle if angle else 1.0, (1 - np.cos(angle)) / angle if angle else 0.0
        return s * (np.array([[a, -b], [b, a]]) @ slide), angle

    figure, axes = plt.subplots(figsize=(4.6, 2.9), constrained_layout=True)
    for chart, color, name in (("retract", "C1", "sum and rotation"), ("exponential", "C0", "exponential")):
        path = np.array([moved(s, chart)[0] for s in np.linspace(0, 1, 40)])
        axes.plot(*path.T, color=color, label=name)
        for s in (0.5, 1.0):
            p, angle = moved(s, chart)
            for k, e in enumerate(((np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle)))):
                axes.annotate(
                    "", p + 0.28 * np.array(e), p, arrowprops={"arrowstyle": "->", "color": color, "lw": 1.1 + 0.5 * k}
                )
            axes.plot(*p, "o", color=color, markersize=3)
    for e in ((0.28, 0), (0, 0.28)):
        axes.annotate("", e, (0, 0), arrowprops={"arrowstyle": "->", "color": "k", "lw": 1.3})
    axes.text(-0.14, -0.14, "$q_0$")
    axes.set_aspect("equal")
    axes.set_xlim(-0.25, 2.0)
    axes.set_xticks([0, 0.5, 1, 1.5, 2])
    axes.set_ylim(-0.25, 1.35)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.legend(fontsize=8, loc="upper left")
    save(figure, "time_charts")


def pendulum(h, level, T=1.0, g=9.81, beta=0.25, gamma=0.5):
    """A point mass on a rod as (x, y) with |q| = 1, by the trapezoidal member. level: "position" solves with Phi = 0,
    "projected" projects v afterwards, "rate" solves with Phi' = 0 and closes Phi. (t, lam - lam(q, v)) of every step."""
    P = np.array([0.0, -g])

    def multiplier(q, v):
        return (q @ P + v @ v) / (q @ q)

    q, v = np.array([np.sin(1.0), -np.cos(1.0)]), 1.5 * np.array([np.cos(1.0), np.sin(1.0)])
    A = P - q * multiplier(q, v)
    rows = []
    for k in range(round(T / h)):

        def state(A1, q=q, v=v, A=A):
            return q + h * v + h * h * ((0.5 - beta) * A + beta * A1), v + h * ((1 - gamma) * A + gamma * A1)

        y = np.append(A, multiplier(q, v))
        for _ in range(8):
            q1, v1 = state(y[:2])
            row = (0.5 * (q1 @ q1 - 1)) / (beta * h * h) if level != "rate" else q1 @ v1 / (gamma * h)
            by = q1 if level != "rate" else q1 + beta * h / gamma * v1
            S = np.block([[np.eye(2) * (1 + beta * h * h * y[2]), q1[:, None]], [by[None, :], np.zeros((1, 1))]])
            y = y - np.linalg.solve(S, np.append(y[:2] + q1 * y[2] - P, row))
        q1, v1 = state(y[:2])
        if level == "rate":
            q1 = q1 / np.linalg.norm(q1)
        if level != "position":
            v1 = v1 - q1 * (q1 @ v1) / (q1 @ q1)
        q, v, A = q1, v1, y[:2]
        rows.append(((k + 1) * h, y[2] - multiplier(q, v)))
    return np.array(rows)


def constraints():
    """Errors of the multiplier of a pendulum, by what is solved for."""
    figure, (a, b) = plt.subplots(1, 2, figsize=(7.2, 2.9), constrained_layout=True)
    steps = [0.04, 0.02, 0.01, 0.005, 0.0025]
    for level, name, color in (
        ("position", "Φ = 0", "C3"), ("projected", "Φ = 0, v projected", "C1"),
        ("rate", "Φ' = 0, then Φ = 0", "C0"),
    ):  # fmt: skip
        a.loglog(
            steps, [np.max(np.abs(pendulum(h, level)[:, 1])) for h in steps], "o-", color=color, markersize=3, label=name
        )
        t, error = pendulum(0.02, level).T
        b.semilogy(t, np.abs(error), color=color, linewidth=1.0)
    a.set_xlabel("$h$, s")
    a.set_ylabel("largest error of $\\lambda$, N/m")
    a.legend(fontsize=8)
    b.set_xlabel("$t$, s")
    b.set_ylabel("|error| of $\\lambda$, N/m  ($h$ = 0.02 s)")
    a.set_xticks(steps, [f"{h:g}" for h in steps])
    a.minorticks_off()
    save(figure, "time_constraints")


if __name__ == "__main__":
    with plt.rc_context(STYLE):
        regions()
        radius()
        errors()
        charts()
        constraints()
