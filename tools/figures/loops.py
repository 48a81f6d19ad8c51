"""Figures of docs/theory/loops.md: orders of elimination, sparsity, the two metrics of a projection, drift."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from plots import save

import madi
from madi.verify import four_bars


def four_bar(speed: float = 8.0) -> madi.Model:
    """Crank 0.3 m, coupler 1.0 m, rocker 0.8 m, ground 0.9 m, in the plane x, z; uniform rods of 1 kg/m."""
    A, B, D = np.zeros(3), np.array([0, 0, 0.3]), np.array([0.9, 0, 0])
    d = D - B
    far = np.linalg.norm(d)
    x = (1.0**2 - 0.8**2 + far**2) / (2 * far)
    C = B + x * d / far + np.sqrt(1.0 - x**2) * np.array([-d[2], 0, d[0]]) / far
    m = madi.Model("four-bar")
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = np.linalg.norm(Q - P)
        z = (Q - P) / length
        m.body(name, length, inertia=(length**3 / 12, length**3 / 12, length**3 / 900), position=(P + Q) / 2,
               orientation=np.column_stack([np.cross((0, 1, 0), z), (0, 1, 0), z]))  # fmt: skip
    m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0), v0=speed)
    m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
    m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
    return m


def eliminate(K: np.ndarray, b: np.ndarray, order: list[int]) -> np.ndarray:
    """Solution by L D L^T without pivoting, in the order given."""
    A, x, n = K[np.ix_(order, order)].copy(), b[order].copy(), len(b)
    for k in range(n):
        column = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(column, A[k, k + 1 :])
        A[k + 1 :, k] = column
    for k in range(n):
        x[k + 1 :] -= A[k + 1 :, k] * x[k]
    x /= np.diag(A)
    for k in range(n - 1, -1, -1):
        x[k] -= A[k + 1 :, k] @ x[k + 1 :]
    out = np.empty(n)
    out[order] = x
    return out


def exact(K: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution to 60 digits, rounded."""
    import mpmath

    with mpmath.workdps(60):
        return np.array([float(x) for x in mpmath.lu_solve(mpmath.matrix(K.tolist()), mpmath.matrix(b.tolist()))])


def coefficients(s: madi.System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """M, P, Phi_q, gamma of the rows that do not vanish identically, and what eps is relative to."""
    rows = np.asarray(s.layout.arrays.row_place) >= 0
    _, _, gamma, J = s.constraint_terms(q, v, engine="plain")
    P = -s.inverse_dynamics(q, v, np.zeros(s.nv), engine="plain")
    return s.mass_matrix(q, engine="plain"), P, J[rows], gamma[rows], np.asarray(s.layout.arrays.row_value)[rows, 2] * 1e10


def order() -> None:
    """Error of the accelerations over eps, columns first and rows first."""
    s = four_bar(3.0).build()
    start = s.assemble({"A": 0.5}, {"A": 3.0})
    M, P, J, gamma, usual = coefficients(s, start.q, start.v)
    n, m = len(M), len(J)
    orders = {"columns leaves to root, then rows": [*range(n)][::-1] + [*range(n, n + m)],
              "rows first": [*range(n, n + m)] + [*range(n)][::-1]}  # fmt: skip
    sizes = 10.0 ** np.arange(-14, 0.1, 0.5)
    figure, axes = plt.subplots(figsize=(6.2, 3.4))
    for (name, way), mark in zip(orders.items(), "os", strict=True):
        errors = []
        for size in sizes:
            K, b = np.block([[M, J.T], [J, -np.diag(size * usual)]]), np.concatenate([P, gamma])
            x, right = eliminate(K, b, way), exact(K, b)
            errors.append(np.linalg.norm(x[:n] - right[:n]) / np.linalg.norm(right[:n]))
        axes.loglog(sizes, np.maximum(errors, 1e-17), mark, ms=4, label=name)
    axes.loglog(sizes, 2.2e-16 / sizes, "k:", label="unit roundoff / relative $\\varepsilon$")
    axes.axvline(1e-10, color="0.6", lw=1)
    axes.text(1.3e-10, 3e-1, "madi", color="0.4")
    axes.set_xlabel("$\\varepsilon$ relative to the row's usual $\\Phi_q M^{-1} \\Phi_q^T$")
    axes.set_ylabel("relative error of $\\ddot q$")
    axes.set_ylim(1e-17, 10)
    axes.legend(frameon=False)
    save(figure, "loops-order")


def pattern() -> None:
    """Entries of L for four windows, in madi's order and rows first."""
    s = four_bars.model(4).build()
    a = s.layout.arrays
    nu = int(a.nu)
    K = np.zeros((nu, nu), dtype=bool)
    for k in range(int(a.nm)):
        i, j = a.column_place[a.m_row[k]], a.column_place[a.m_column[k]]
        K[i, j] = K[j, i] = True
    for r in range(int(a.nr)):
        if a.row_place[r] >= 0:
            K[a.row_place[r], a.row_place[r]] = True
            for j in range(a.row_first[r], a.row_first[r + 1]):
                i, c = a.row_place[r], a.column_place[a.j_column[j]]
                K[i, c] = K[c, i] = True
    n = int(a.nn)
    rows_first = [*range(n, nu), *range(n)]
    figure, pair = plt.subplots(1, 2, figsize=(6.6, 3.3))
    for axes, way, name in zip(
        pair, (list(range(nu)), rows_first), ("columns, then rows", "rows, then columns"), strict=True
    ):
        filled = K[np.ix_(way, way)].copy()
        original = filled.copy()
        for k in range(nu):
            below = np.flatnonzero(filled[k + 1 :, k]) + k + 1
            filled[np.ix_(below, below)] = True
        for shown, colour, marker in ((filled & ~original, "tab:red", "s"), (original, "k", "s")):
            i, j = np.nonzero(np.tril(shown))
            axes.plot(j, i, marker, color=colour, ms=4, ls="")
        axes.set_xlim(-1, nu)
        axes.set_ylim(nu, -1)
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        split = n if way[0] == 0 else nu - n
        axes.axhline(split - 0.5, color="0.8", lw=0.8, zorder=0)
        axes.axvline(split - 0.5, color="0.8", lw=0.8, zorder=0)
        axes.set_xlabel(f"{name}:\n{np.tril(filled, -1).sum()} entries below the diagonal")
    save(figure, "loops-pattern")


def metric() -> None:
    """The worked example: v* projected along M^-1 Phi_q^T and along Phi_q^T."""
    M, J, start = np.diag([3.0, 1.0]), np.array([0.6, -0.8]), np.array([1.0, 1.0])
    mass = start - np.linalg.solve(M, J) * (J @ start) / (J @ np.linalg.solve(M, J))
    plain = start - J * (J @ start)
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    t = np.linspace(0, 2 * np.pi, 200)
    for point, weight, style in ((mass, M, "tab:blue"), (plain, np.eye(2), "tab:red")):
        size = np.sqrt((point - start) @ weight @ (point - start))
        around = size * np.array([np.cos(t), np.sin(t)]) / np.sqrt(np.diag(weight))[:, None]
        axes.plot(*(start[:, None] + around), color=style, lw=1)
    axes.axline((0, 0), (0.8, 0.6), color="k", lw=1.2)
    axes.text(1.13, 0.79, "$\\Phi_q v = 0$", rotation=37)
    for point, colour, text in (
        (mass, "tab:blue", "least by mass: kinetic energy 1.974 J"),
        (plain, "tab:red", "least by coordinates: 2.234 J"),
    ):
        axes.annotate("", point, start, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})
        axes.plot(*point, "o", color=colour, ms=5, label=text)
    axes.plot(*start, "ko", ms=5, label="before: 2.000 J")
    axes.text(start[0] + 0.008, start[1] + 0.01, "$v^*$")
    axes.set_xlim(0.76, 1.24)
    axes.set_ylim(0.68, 1.26)
    axes.set_aspect("equal")
    axes.set_xlabel("$\\dot x$, m/s")
    axes.set_ylabel("$\\dot z$, m/s")
    axes.legend(frameon=False, loc=(1.02, 0.4), fontsize=9)
    save(figure, "loops-metric")


def drift() -> None:
    """Violation of a spinning four-bar, RK4 with steps of 5 ms."""
    times = np.concatenate([[0.0], np.geomspace(0.05, 20, 70)])
    ways = {
        "index 1, no stabilisation": madi.Baumgarte(0.0, 0.0),
        "Baumgarte, $\\alpha = \\beta = 10$ 1/s": madi.Baumgarte(10.0, 10.0),
        "projection": madi.Projection(),
    }
    figure, axes = plt.subplots(figsize=(6.2, 3.5))
    for name, loops in ways.items():
        run = madi.simulate(four_bar(), 20.0, method="rk4", step=5e-3, times=times, engine="jit", loops=loops)
        axes.loglog(times[1:], np.maximum(run.data["violation"].values[1:], 1e-16), label=name)
    axes.loglog(times[1:], 5.1e-5 * times[1:] ** 2, "k:", label="$\\sim t^2$")
    axes.set_xlabel("time, s")
    axes.set_ylabel("$|\\Phi|_\\infty$, m")
    axes.legend(frameon=False, loc=(0.02, 0.42), ncol=2, fontsize=9)
    save(figure, "loops-drift")


if __name__ == "__main__":
    order()
    pattern()
    metric()
    drift()
