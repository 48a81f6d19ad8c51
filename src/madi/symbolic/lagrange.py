"""Lagrange's equations in symbols, for links that bend: position vectors with mode functions in, M, K, G and the velocity
coupling by Christoffel coefficients out (P3). Independent of madi's recursion: both can be held against each other.

A link is a line of mass: r(x) its point at x, with the coordinates and the values psi_k of its mode shapes at x as symbols.
With J = dr/dq:

    M = sum ∫ J^T J rho A dx,    G = -sum ∫ J^T g rho A dx,    K_ij = ∫ E I psi_i'' psi_j'' dx,
    C_jk(i) = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2,      M qdd + C(qd, qd) + K q + G = T.

Integrands are polynomials in x and psi_k: their integrals are numbers, found once; or symbols, where a link's data are (a
length, a density, a shape without function: its moments ∫ x^a psi^b rho A dx are then letters).

P3's structure of C says which coefficients need not be derived, stored or evaluated. Its properties are identities,

    C_jk(i) = C_kj(i),                            symmetry, always;
    C_ij(i) = 1/2 dM_ii/dq_j,                     zero (non-coupling) where M_ii does not depend on q_j;
    C_jk(i) = -C_ji(k) + dM_ik/dq_j,              mirrored (reflective) where M_ik does not depend on q_j,

so each use is justified by a test of M on the model at hand, before anything of C is derived (`Reduced`).

docs/references.md: [P3].
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from sympy.simplify.fu import TR8

from madi.errors import InputError
from madi.flexible.modes import Shape

ROUNDING = 1e-15  # of the largest coefficient of a sum
POINTS = 80  # of the quadrature along a link


@dataclass(frozen=True)
class Link:
    """A line of mass. `position`: of the point at `x`; `modes`: (coordinate, symbol of the shape's value at x, shape).

    `length`, `density`, `bending` may be symbols, and a shape an expression of x; a shape None stays unknown: its moments
    are symbols called after the link, "I_NAME_210" for ∫ x² psi_1 rho A dx, "K_NAME_12" for ∫ E I psi_1'' psi_2'' dx.
    """

    position: sp.Matrix
    x: sp.Symbol
    length: Any
    density: Any  # kg/m
    modes: tuple[tuple[sp.Symbol, sp.Symbol, Shape | sp.Expr | None], ...] = ()
    bending: Any = 0.0  # E I, N m²
    name: str = ""

    def moment(self, powers: Sequence[int]) -> sp.Expr:
        """∫ x^a psi_1^b psi_2^c ... rho A dx."""
        used = [(self.x, None)] * bool(powers[0]) + [m[1:] for m, power in zip(self.modes, powers[1:], strict=True) if power]
        if any(shape is None for _, shape in used[bool(powers[0]) :]):
            return sp.Symbol(f"I_{self.name}_{''.join(map(str, powers))}")
        if isinstance(self.length, sp.Basic) or any(isinstance(shape, sp.Basic) for _, shape in used):
            integrand = self.x ** powers[0]
            for (_, _, shape), power in zip(self.modes, powers[1:], strict=True):
                integrand *= sp.Integer(1) if not power else self._expression(shape) ** power
            return self.density * sp.integrate(integrand, (self.x, 0, self.length))
        points, weights = self._quadrature()
        values = [points ** powers[0]]
        for (_, _, shape), power in zip(self.modes, powers[1:], strict=True):
            if power and callable(shape):
                values.append(shape(points) ** power)
        return self.density * sp.Float(float(weights @ np.prod(values, axis=0)))

    def stiffness(self, a: int, b: int) -> sp.Expr:
        """∫ E I psi_a'' psi_b'' dx."""
        first, second = self.modes[a][2], self.modes[b][2]
        if first is None or second is None:
            return sp.Symbol(f"K_{self.name}_{a + 1}{b + 1}") if self.bending else sp.Integer(0)
        if isinstance(self.length, sp.Basic) or isinstance(first, sp.Basic) or isinstance(second, sp.Basic):
            curves = self._expression(first).diff(self.x, 2) * self._expression(second).diff(self.x, 2)
            return self.bending * sp.integrate(curves, (self.x, 0, self.length))
        points, weights = self._quadrature()
        return self.bending * sp.Float(float(weights @ (first(points, 2) * second(points, 2))))

    def _expression(self, shape: Any) -> sp.Expr:
        if not isinstance(shape, sp.Basic):
            raise InputError(
                f"link {self.name!r}: its length or a shape is a symbol; give shapes as expressions of {self.x}, or None"
            )
        return shape

    def _quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        points, weights = np.polynomial.legendre.leggauss(POINTS)
        return 0.5 * float(self.length) * (points + 1), 0.5 * float(self.length) * weights


@dataclass(frozen=True)
class Lump:
    """A point mass."""

    position: sp.Matrix
    mass: Any


@dataclass(frozen=True)
class Reduced:
    """The coefficients of the velocity coupling that have to be derived, and how the others follow.

    `derived`: C_jk(i) by (i, j, k), j <= k. `uses`: of each other that does not vanish, (+1 or -1, which derived one)."""

    derived: dict[tuple[int, int, int], sp.Expr]
    uses: dict[tuple[int, int, int], tuple[int, tuple[int, int, int]]]

    def terms(self, i: int) -> list[tuple[int, tuple[int, int, int], int, int]]:
        """Of row i: (factor, derived coefficient, j, k) of each term factor C qd_j qd_k, j <= k."""
        found = [(key, (1, key)) for key in self.derived] + list(self.uses.items())
        return [
            (sign * (1 if j == k else 2), base, j, k) for (row, j, k), (sign, base) in sorted(found) if row == i
        ]  # fmt: skip


@dataclass(frozen=True)
class Structure:
    """How often P3's properties of C hold on a model, and the operations of C without and with them."""

    symmetric: tuple[int, int]
    uncoupled: tuple[int, int]
    antisymmetric: tuple[int, int]
    operations: tuple[int, int]

    def __str__(self) -> str:
        words = ("symmetry", "non-coupling", "reflective antisymmetry")
        parts = (self.symmetric, self.uncoupled, self.antisymmetric)
        held = ", ".join(f"{word} {a} of {b}" for word, (a, b) in zip(words, parts, strict=True))
        return f"{held}; operations of the velocity coupling {self.operations[0]}, with what holds {self.operations[1]}"


@dataclass
class Lagrange:
    """The equations of motion of links and lumps in symbols.

    >>> import sympy
    >>> q, x = sympy.symbols("q x")
    >>> rod = Link(sympy.Matrix([x * sympy.sin(q), -x * sympy.cos(q)]), x, length=2.0, density=3.0)
    >>> Lagrange([q], [rod], gravity=(0, -9.81)).M
    Matrix([[8.0]])
    """

    coordinates: Sequence[sp.Symbol]
    parts: Sequence[Link | Lump]
    gravity: Sequence[float] = ()
    elastic: Sequence[sp.Symbol] = field(default=())
    data: Sequence[sp.Symbol] = ()  # symbols that positions may have beside: lengths, values of shapes at a link's end

    def __post_init__(self) -> None:
        self.coordinates = list(self.coordinates)
        modal = [mode[0] for part in self.parts if isinstance(part, Link) for mode in part.modes]
        self.elastic = list(self.elastic) or list(dict.fromkeys(modal))
        for part in self.parts:
            extra = part.position.free_symbols - set(self.coordinates)
            extra -= {part.x, *(mode[1] for mode in part.modes)} if isinstance(part, Link) else set()
            extra -= set(self.data)
            if extra:
                names = ", ".join(sorted(map(str, extra)))
                told = "a position has symbols that are neither coordinates nor mode shapes"
                raise InputError(f"{told}: {names}; those of the link's data are given as data=[...]")
        missing = [str(name) for name in modal if name not in self.coordinates]
        if missing:
            raise InputError(f"modal coordinates {', '.join(missing)} are not among the coordinates")

    # ---- M, G, K ------------------------------------------------------------------------------------------------------

    def _along(self, link: Link, expression: sp.Expr) -> sp.Expr:
        """∫ expression rho A dx: a polynomial in x and the shapes, term by term."""
        terms = sp.Poly(sp.expand(expression), link.x, *(mode[1] for mode in link.modes)).terms()
        return sp.Add(*(coefficient * link.moment(powers) for powers, coefficient in terms))

    def _sum(self, of: Any) -> sp.Expr:
        """of(J) over all mass."""
        total = sp.Integer(0)
        for part in self.parts:
            J = part.position.jacobian(sp.Matrix(self.coordinates))
            if isinstance(part, Link):
                total += self._along(part, of(J))
            else:
                total += part.mass * of(J)
        return _sums_of_angles(total)

    @cached_property
    def M(self) -> sp.Matrix:
        """The mass matrix."""
        n = len(self.coordinates)
        found = sp.zeros(n, n)
        for i in range(n):
            for j in range(i + 1):
                found[i, j] = found[j, i] = self._sum(lambda J: (J[:, i].T * J[:, j])[0])
        return found

    @cached_property
    def G(self) -> sp.Matrix:
        """Gravity, on the left-hand side."""
        n = len(self.coordinates)
        if not len(self.gravity):
            return sp.zeros(n, 1)
        down = sp.Matrix(list(self.gravity))
        return sp.Matrix([-self._sum(lambda J: (J[:, i].T * down)[0]) for i in range(n)])

    @cached_property
    def K(self) -> sp.Matrix:
        """The stiffness matrix of the modes."""
        n = len(self.coordinates)
        found = sp.zeros(n, n)
        for part in self.parts:
            if isinstance(part, Link):
                places = [self.coordinates.index(mode[0]) for mode in part.modes]
                for a, b in product(range(len(places)), repeat=2):
                    found[places[a], places[b]] += part.stiffness(a, b)
        return found

    # ---- velocity coupling --------------------------------------------------------------------------------------------

    def _coefficient(self, i: int, j: int, k: int) -> sp.Expr:
        """C_jk(i)."""
        q, M = self.coordinates, self.M
        return sp.expand((M[i, j].diff(q[k]) + M[i, k].diff(q[j]) - M[j, k].diff(q[i])) / 2)

    @cached_property
    def C(self) -> list[sp.Matrix]:
        """C[i][j, k] = C_jk(i), all of them, whatever their structure."""
        n = len(self.coordinates)
        return [sp.Matrix(n, n, lambda j, k: self._coefficient(i, j, k)) for i in range(n)]

    @cached_property
    def _varies(self) -> np.ndarray:
        """[i, k, j]: whether M_ik, its terms collected, still has q_j in it."""
        n, q = len(self.coordinates), self.coordinates
        found = np.zeros((n, n, n), dtype=bool)
        for i, k in product(range(n), repeat=2):
            symbols = self.M[i, k].free_symbols
            found[i, k] = [name in symbols for name in q]
        return found

    @cached_property
    def reduced(self) -> Reduced:
        """P3's reduced set: what vanishes is left out, of two that mirror each other one is derived."""
        n, varies = len(self.coordinates), self._varies
        derived: dict[tuple[int, int, int], sp.Expr] = {}
        uses: dict[tuple[int, int, int], tuple[int, tuple[int, int, int]]] = {}
        for i, j, k in product(range(n), repeat=3):
            if j > k or not (varies[i, j, k] or varies[i, k, j] or varies[j, k, i]):
                continue  # symmetric; or all three derivatives vanish
            if (i == k and not varies[i, i, j]) or (i == j and not varies[i, i, k]):
                continue  # non-coupling
            # reflective, in both orders of the pair: C_jk(i) = -C_ji(k), C_kj(i) = -C_ki(j)
            bases = [
                (other, min(middle, i), max(middle, i))
                for middle, other in ((j, k), (k, j)) if other < i and not varies[i, other, middle]
            ]  # fmt: skip
            if not bases:
                derived[i, j, k] = self._coefficient(i, j, k)
            elif bases[0] in derived or bases[0] in uses:  # else its mirror vanishes, and so does it
                sign, root = uses.get(bases[0], (1, bases[0]))
                uses[i, j, k] = (-sign, root)
        return Reduced(derived, uses)

    def coupling(self, speeds: Sequence[sp.Symbol], reduced: bool = True) -> sp.Matrix:
        """The vector of C_jk(i) qd_j qd_k, from the reduced set (or from all coefficients)."""
        if not reduced:
            v = sp.Matrix(list(speeds))
            return sp.Matrix([(v.T * block * v)[0] for block in self.C])
        return self._coupling(speeds, self.reduced.derived)

    def _coupling(self, v: Sequence[Any], values: Mapping[tuple[int, int, int], Any], kinds: Any = None) -> sp.Matrix:
        """The same with `values` for the derived coefficients; `kinds(j, k)`: which terms."""
        rows = []
        for i in range(len(self.coordinates)):
            terms = [t for t in self.reduced.terms(i) if kinds is None or kinds(t[2], t[3])]
            rows.append(sp.Add(*(factor * values[base] * v[j] * v[k] for factor, base, j, k in terms)))
        return sp.Matrix(rows)

    def coupling_parts(self, speeds: Sequence[sp.Symbol]) -> dict[str, sp.Matrix]:
        """P3's split (eqs. 28-32): P by two rigid speeds, Q by a rigid and an elastic one, R by two elastic ones. Their sum
        is `coupling`: Q has both orders of its pair, for which the print lacks a factor 2."""
        soft = [name in self.elastic for name in self.coordinates]
        return {
            name: self._coupling(speeds, self.reduced.derived, lambda j, k, count=count: soft[j] + soft[k] == count)
            for count, name in enumerate("PQR")
        }

    @cached_property
    def structure(self) -> Structure:
        """How often P3's properties hold, and the operations of the coefficients without and with them."""
        n, varies = len(self.coordinates), self._varies
        pairs = [(i, j) for i in range(n) for j in range(i + 1)]
        mirrored = [(i, j, k) for i, j, k in product(range(n), repeat=3) if j <= i and j <= k and i < k]
        everything = [self.C[i][j, k] for i, j, k in product(range(n), repeat=3)]
        return Structure(
            (n**3, n**3), (sum(not varies[i, i, j] for i, j in pairs), len(pairs)),
            (sum(not varies[i, k, j] for i, j, k in mirrored), len(mirrored)),
            (operations(everything), operations(list(self.reduced.derived.values()))),
        )  # fmt: skip

    def work(self, reduced: bool = True) -> int:
        """Operations of the velocity coupling as `code` writes it, common terms shared."""
        if reduced:
            names = {key: sp.Symbol("c_" + "_".join(map(str, key))) for key in self.reduced.derived}
            rows = self._coupling(self.speeds, names)
            steps, found = sp.cse([*self.reduced.derived.values(), *rows])
        else:
            n = len(self.coordinates)
            v = self.speeds
            rows = [sum(sp.Symbol(f"c_{i}_{j}_{k}") * v[j] * v[k] for j, k in product(range(n), repeat=2)) for i in range(n)]
            steps, found = sp.cse([*(self.C[i][j, k] for i, j, k in product(range(n), repeat=3)), *rows])
        return operations([*(value for _, value in steps), *found])

    # ---- split, numbers, code -----------------------------------------------------------------------------------------

    def split(self, matrix: sp.Matrix) -> dict[str, sp.Matrix]:
        """Rigid and elastic blocks of M or K, or of a vector."""
        rigid = [k for k, name in enumerate(self.coordinates) if name not in self.elastic]
        soft = [k for k, name in enumerate(self.coordinates) if name in self.elastic]
        if matrix.shape[1] == 1:
            return {"rigid": matrix.extract(rigid, [0]), "elastic": matrix.extract(soft, [0])}
        blocks = {"rigid": (rigid, rigid), "coupling": (rigid, soft), "elastic": (soft, soft)}
        return {name: matrix.extract(rows, columns) for name, (rows, columns) in blocks.items()}

    @cached_property
    def speeds(self) -> list[sp.Symbol]:
        """Symbols of the rates of the coordinates."""
        return [sp.Symbol(f"d{name}") for name in self.coordinates]

    @cached_property
    def letters(self) -> list[sp.Symbol]:
        """Symbols of the equations that are not coordinates: link data, moments."""
        found = self.M.free_symbols | self.K.free_symbols | self.G.free_symbols
        return sorted(found - set(self.coordinates), key=str)

    def _refuse_letters(self, what: str) -> None:
        if self.letters:
            raise InputError(f"{what}: {', '.join(map(str, self.letters))} have no value; give them with `with_values`")

    def with_values(self, values: Mapping[sp.Symbol, float]) -> Lagrange:
        """The same equations with numbers for some of their letters; nothing is derived anew."""
        other = Lagrange(self.coordinates, self.parts, self.gravity, self.elastic, self.data)
        replace = {name: sp.Float(value) for name, value in values.items()}
        for name in ("M", "G", "K"):
            other.__dict__[name] = getattr(self, name).xreplace(replace)
        derived = {key: value.xreplace(replace) for key, value in self.reduced.derived.items()}
        other.__dict__["reduced"] = Reduced(derived, self.reduced.uses)
        return other

    @cached_property
    def _numbers(self) -> Any:
        self._refuse_letters("accelerations")
        rest = self.coupling(self.speeds) + self.K * sp.Matrix(self.coordinates) + self.G
        return sp.lambdify([*self.coordinates, *self.speeds], [self.M, rest], "numpy", cse=True)

    def accelerations(self, q: Any, v: Any, forces: Any = None) -> np.ndarray:
        """qdd at a state, for generalised forces T."""
        M, rest = self._numbers(*map(float, q), *map(float, v))
        push = np.zeros(len(self.coordinates)) if forces is None else np.asarray(forces, dtype=float)
        return np.linalg.solve(np.array(M, dtype=float), push - np.array(rest, dtype=float).reshape(-1))

    def latex(self) -> str:
        """M, K, G, the coefficients of the velocity coupling that are needed, and the coupling made of them, as LaTeX."""
        lines = [rf"\mathbf{{{name}}} = {sp.latex(_short(getattr(self, name)))}" for name in "MKG"]
        names = {key: self._symbol(key) for key in self.reduced.derived}
        short = _short(sp.Matrix([list(self.reduced.derived.values())])) if names else []
        lines += [f"{sp.latex(name)} = {sp.latex(value)}" for name, value in zip(names.values(), short, strict=True)]
        lines.append(rf"\mathbf{{C}} = {sp.latex(self._coupling(self.speeds, names))}")
        return "\n".join(lines)

    @staticmethod
    def _symbol(key: tuple[int, int, int]) -> sp.Symbol:
        i, j, k = (number + 1 for number in key)
        return sp.Symbol(f"C^{{({i})}}_{{{j},{k}}}")

    def code(self, language: str = "numpy") -> str:
        """A function of (q, v) that gives M and h = C + K q + G: "numpy" source, or "c"; of link data too, where they are
        symbols, in the order of `letters`. Coefficients that vanish or mirror others are not in it."""
        if language not in ("numpy", "c"):
            raise InputError(f"language={language!r}: choose 'numpy' or 'c'")
        n, keys = len(self.coordinates), list(self.reduced.derived)
        used = [*self.coordinates, *self.speeds, *self.letters]
        taken = {*"qvpMh", "np", "math"} | {str(name) for name in used}
        clean = {
            name: _free_name(name, taken) for name in used if str(name) in CODE or re.fullmatch(r"[tc]_?[0-9_]+", str(name))
        }
        names = {key: sp.Symbol("c_" + "_".join(str(number + 1) for number in key)) for key in keys}
        rest = self.K * sp.Matrix(self.coordinates) + self.G
        steps, (M, rest, *values) = sp.cse([self.M, rest, *self.reduced.derived.values()], symbols=sp.numbered_symbols("t"))
        steps += list(zip(names.values(), values, strict=True))
        h = (self._coupling(self.speeds, names) + rest).xreplace(clean)
        M, steps = M.xreplace(clean), [(name, value.xreplace(clean)) for name, value in steps]
        lists = [("q", self.coordinates), ("v", self.speeds), *([("p", self.letters)] if self.letters else [])]
        given = [(letter, [clean.get(name, name) for name in part]) for letter, part in lists]
        if language == "numpy":
            write = sp.pycode
            arguments = ", ".join(letter for letter, _ in given)
            lines = ["import math", "", "import numpy as np", "", "", f"def equations({arguments}):"]
            lines += [f"    {', '.join(map(str, part))}{',' if len(part) == 1 else ''} = {letter}" for letter, part in given]
            lines += [f"    {name} = {write(value)}" for name, value in steps]
            rows = ["[" + ", ".join(write(x) for x in M[i, :]) + "]" for i in range(n)]
            lines += [f"    M = np.array([{', '.join(rows)}])"]
            lines += [f"    h = np.array([{', '.join(write(x) for x in h)}])", "    return M, h"]
            return "\n".join(lines) + "\n"
        arguments = ", ".join(f"const double *{letter}" for letter, _ in given)
        lines = ["#include <math.h>", "", f"void equations({arguments}, double *M, double *h)", "{"]
        lines += [f"    const double {name} = {letter}[{k}];" for letter, part in given for k, name in enumerate(part)]
        lines += [f"    const double {name} = {sp.ccode(value)};" for name, value in steps]
        lines += [f"    M[{k}] = {sp.ccode(x)};" for k, x in enumerate(M)]
        lines += [f"    h[{k}] = {sp.ccode(x)};" for k, x in enumerate(h)]
        return "\n".join([*lines, "}"]) + "\n"


CODE = ("q", "v", "p", "M", "h", "np", "math")  # names that written code has for itself


def _free_name(name: sp.Symbol, taken: set[str]) -> sp.Symbol:
    """A name like it that nothing else has."""
    word = f"{name}_"
    while word in taken:
        word += "_"
    taken.add(word)
    return sp.Symbol(word)


def operations(expressions: Sequence[sp.Expr]) -> int:
    """Operations of all expressions as they are written."""
    return int(sum(sp.count_ops(x) for x in expressions))


def _sums_of_angles(expression: sp.Expr) -> sp.Expr:
    """Products of sines and cosines as those of sums of angles: what depends on relative angles only, shows it. Much faster
    than a general simplification, and all that products of rotations need."""
    polynomial = sp.expand(expression)
    functions = sorted(polynomial.atoms(sp.sin, sp.cos), key=str)
    if not functions:
        return polynomial
    total = sp.Integer(0)
    for powers, coefficient in sp.Poly(polynomial, *functions).terms():
        product = sp.Mul(*(f**p for f, p in zip(functions, powers, strict=True)))
        total += coefficient * (TR8(product) if sum(powers) > 1 else product)
    return sp.Integer(0) + _drop(sp.expand(total))


def _drop(expression: sp.Expr) -> sp.Expr:
    """Terms that are rounding next to the others, left out."""
    terms = expression.as_ordered_terms() if expression.is_Add else [expression]
    sizes = [abs(float(term.as_coeff_Mul()[0])) for term in terms]
    largest = max(sizes, default=0.0)
    return sp.Add(*(term for term, size in zip(terms, sizes, strict=True) if size > ROUNDING * largest))


def _short(matrix: sp.Matrix) -> sp.Matrix:
    """Numbers to five digits."""
    return matrix.applyfunc(lambda x: x.xreplace({f: sp.Float(f, 5) for f in x.atoms(sp.Float)}))
