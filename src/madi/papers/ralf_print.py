"""P3's printed velocity coupling of RALF's two long links, eqs. 61-66, derived again and held against the print.

Eqs. 51-52 are the position vectors of the lower and the upper link, two modes each (eq. 57: q = (theta1, theta2, xi11, xi12,
xi21, xi22)); the upper link starts at the deflected tip of the lower one and is not turned by its slope. Link data stay
letters: the moments ∫ x^a psi^b rho A dx of both links, l1, and the lower shapes' values e1, e2 at l1. The print uses
letters d_ij without defining them; the entries from which they are read define them (DEFINES). Rows are upper triangles;
eight tokens of the print are misprinted or misread and are taken by the pattern of the other matrices: C(1)14, 16, 26,
C(3)22, C(5)24, C(6)13, 23, 24.

Twelve entries are wrong in print: those with a derivative of D, the elastic block of M, by theta2 (D_35 = e1 F21 cos theta2
and its like). The text after eq. 32 drops the terms with D because D does not depend on elastic states; but it depends on
theta2. Dropping dD/dq gives the print exactly. What decides is energy: with P3's own M, Mdot - 2 C is skew with the derived
coefficients and not with the printed ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from madi.symbolic.lagrange import Lagrange, Link

RIGID = 2  # coordinates, of six
PRINTED: dict[int, dict[str, str]] = {
    1: {"12": "d11", "13": "d21", "14": "d22", "15": "d41", "16": "d42", "22": "d11", "25": "d41", "26": "d42"},
    2: {"11": "-d11", "13": "d31", "14": "d32", "15": "d51", "16": "d52", "25": "d51", "26": "d52", "35": "-d61/2",
        "36": "-d62/2", "45": "-d71/2", "46": "-d72/2"},
    3: {"11": "-d21", "12": "-d31", "15": "-d61", "16": "-d62", "22": "-d31", "25": "-d61/2", "26": "-d62/2"},
    4: {"11": "-d22", "12": "-d32", "15": "-d71", "16": "-d72", "22": "-d32", "25": "-d71/2", "26": "-d72/2"},
    5: {"11": "-d41", "12": "-d51", "13": "d61", "14": "d71", "22": "-d51", "23": "d61/2", "24": "d71/2"},
    6: {"11": "-d42", "12": "-d52", "13": "d62", "14": "d72", "22": "-d52", "23": "d62/2", "24": "d72/2"},
}  # fmt: skip
# where each letter is read: C(i)jk and its sign
DEFINES = {
    "d11": (1, "12", 1), "d21": (1, "13", 1), "d22": (1, "14", 1), "d31": (2, "13", 1), "d32": (2, "14", 1),
    "d41": (1, "15", 1), "d42": (1, "16", 1), "d51": (2, "15", 1), "d52": (2, "16", 1), "d61": (3, "15", -1),
    "d62": (3, "16", -1), "d71": (4, "15", -1), "d72": (4, "16", -1),
}  # fmt: skip


class Entry(NamedTuple):
    """One entry of the upper triangles: C(i)jk as printed, as derived, and as derived without dD/dq."""

    name: str
    printed: sp.Expr
    derived: sp.Expr
    without: sp.Expr
    word: str


@cache
def arm() -> Lagrange:
    """Eqs. 51-58: the tree's two long links, all data letters."""
    t1, t2, x, l1, e1, e2 = sp.symbols("theta1 theta2 x l1 e1 e2")
    xi = sp.symbols("xi11 xi12 xi21 xi22")
    psi = sp.symbols("psi11 psi12 psi21 psi22")
    u1, u2, end = psi[0] * xi[0] + psi[1] * xi[1], psi[2] * xi[2] + psi[3] * xi[3], e1 * xi[0] + e2 * xi[1]

    def along(angle: Any, x: Any, u: Any) -> sp.Matrix:
        return sp.Matrix([x * sp.cos(angle) - u * sp.sin(angle), x * sp.sin(angle) + u * sp.cos(angle)])

    lower = along(t1, x, u1)
    upper = along(t1, l1, end) + along(t1 + t2, x, u2)
    l2, rho = sp.symbols("l2 rhoA")
    links = [
        Link(position, x, length, rho, tuple((a, b, None) for a, b in zip(xi[k : k + 2], psi[k : k + 2], strict=True)),
             sp.Symbol("EI"), name)
        for name, position, length, k in (("1", lower, l1, 0), ("2", upper, l2, 2))
    ]  # fmt: skip
    return Lagrange([t1, t2, *xi], links, data=[l1, e1, e2])


@cache
def entries() -> tuple[list[Entry], dict[str, sp.Expr]]:
    """All 126 entries of the upper triangles, and the letters d_ij."""
    made = arm()
    M, q = made.M, made.coordinates

    def slope(i: int, j: int, k: int, whole: bool) -> sp.Expr:
        return sp.Integer(0) if not whole and i >= RIGID and j >= RIGID else M[i, j].diff(q[k])

    def coefficient(i: int, j: int, k: int, whole: bool) -> sp.Expr:
        return sp.expand((slope(i, j, k, whole) + slope(i, k, j, whole) - slope(j, k, i, whole)) / 2)

    d = {
        name: sign * coefficient(i - 1, int(place[0]) - 1, int(place[1]) - 1, True)
        for name, (i, place, sign) in DEFINES.items()
    }
    found = []
    for i, printed in PRINTED.items():
        for j in range(1, 7):
            for k in range(j, 7):
                word = printed.get(f"{j}{k}", "0")
                value = sp.sympify(word, locals={name: sp.Symbol(name) for name in d})
                value = value.xreplace({sp.Symbol(name): expression for name, expression in d.items()})
                right, without = (coefficient(i - 1, j - 1, k - 1, whole) for whole in (True, False))
                found.append(Entry(f"C({i}){j}{k}", sp.expand(value), right, without, word))
    return found, d


def differences() -> list[dict[str, str]]:
    """The entries in which the print is wrong, with what is right."""
    found, d = entries()
    letters = {sp.Symbol(name): value for name, value in d.items()}
    rows = []
    for entry in found:
        if sp.expand(entry.printed - entry.derived) != 0:
            right = next(
                (str(sign * name) for name, value in letters.items() for sign in (1, -1)
                 if sp.expand(entry.derived - sign * value) == 0), "0" if entry.derived == 0 else str(entry.derived),
            )  # fmt: skip
            rows.append({"entry": entry.name, "printed": entry.word, "derived": right})
    return rows


def agreement() -> dict[str, int]:
    """How many of the 126 entries agree: derived, and derived without dD/dq."""
    found, _ = entries()
    return {
        "entries": len(found),
        "derived agrees with the print": sum(sp.expand(e.printed - e.derived) == 0 for e in found),
        "derived without dD/dq agrees": sum(sp.expand(e.printed - e.without) == 0 for e in found),
    }


def power(which: str) -> sp.Expr:
    """qd^T (Mdot / 2 - C) qd: the power that the coefficients make out of nothing; zero where Mdot - 2 C is skew."""
    made = arm()
    found, _ = entries()
    v, q = made.speeds, made.coordinates
    values = {(int(e.name[2]) - 1, int(e.name[4]) - 1, int(e.name[5]) - 1): getattr(e, which) for e in found}
    total = sp.Integer(0)
    for i in range(6):
        for j in range(6):
            rate = sum(made.M[i, j].diff(q[k]) * v[k] for k in range(6)) / 2
            bend = sum(values[i, min(j, k), max(j, k)] * v[k] for k in range(6))
            total += v[i] * v[j] * (rate - bend)
    return sp.expand(total)


def numbers() -> dict[sp.Symbol, float]:
    """Values for the letters: uniform links of 1 m and 1 kg/m, EI = 50 N m², shapes x² and x³."""
    values = {sp.Symbol(name): 1.0 for name in ("l1", "l2", "rhoA", "e1", "e2")}
    for letter in arm().letters:
        name = str(letter)
        if name.startswith("I_"):
            a, b, c = (int(digit) for digit in name.split("_")[2])
            values[letter] = 1.0 / (a + 2 * b + 3 * c + 1)
        elif name.startswith("K_"):
            one, two = (int(digit) for digit in name.split("_")[2])
            second = {1: (2.0, 0), 2: (6.0, 1)}  # of x², x³
            values[letter] = 50.0 * second[one][0] * second[two][0] / (second[one][1] + second[two][1] + 1)
    return values


def energies(duration: float = 1.0, step: float = 2e-4) -> dict[str, float]:
    """Largest change of the energy, against its start, with the derived and with the printed coefficients: no gravity, from
    an undeflected arm that folds."""
    made, values = arm(), numbers()
    found, _ = entries()
    q, v = made.coordinates, made.speeds
    M, K = made.M.xreplace(values), np.array(made.K.xreplace(values), dtype=float)
    result = {}
    for which in ("derived", "printed"):
        C = {(int(e.name[2]) - 1, int(e.name[4]) - 1, int(e.name[5]) - 1): getattr(e, which).xreplace(values) for e in found}
        rows = [
            sum(C[i, j, k] * v[j] * v[k] * (1 if j == k else 2) for j in range(6) for k in range(j, 6)) for i in range(6)
        ]
        function = sp.lambdify([*q, *v], [M, sp.Matrix(rows)], "numpy", cse=True)

        def rate(y: np.ndarray, function: Any = function) -> np.ndarray:
            mass, bend = (np.array(part, dtype=float) for part in function(*y))
            return np.concatenate([y[6:], np.linalg.solve(mass, -bend.reshape(-1) - K @ y[:6])])

        def energy(y: np.ndarray, function: Any = function) -> float:
            mass = np.array(function(*y)[0], dtype=float)
            return float(0.5 * y[6:] @ mass @ y[6:] + 0.5 * y[:6] @ K @ y[:6])

        y = np.concatenate([[0.0, 1.0, 0, 0, 0, 0], [0.5, -1.0, 0, 0, 0, 0]])
        start, worst = energy(y), 0.0
        for k in range(round(duration / step)):
            a = rate(y)
            b = rate(y + 0.5 * step * a)
            c = rate(y + 0.5 * step * b)
            y = y + step / 6 * (a + 2 * b + 2 * c + rate(y + step * c))
            if k % 25 == 0:
                worst = max(worst, abs(energy(y) / start - 1))
        result[which] = worst
    return result
