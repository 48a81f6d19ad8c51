"""Lagrange's equations in symbols, for links that bend: position vectors with mode functions in, M, K, G and the velocity
coupling by Christoffel coefficients out (P3). Independent of madi's recursion: both can be held against each other.

A link is a line of mass: r(x) its point at x, with the coordinates and the values psi_k of its mode shapes at x as symbols.
With J = dr/dq:

    M = sum ∫ J^T J rho A dx,    G = -sum ∫ J^T g rho A dx,    K_ij = ∫ E I psi_i'' psi_j'' dx,
    C_jk(i) = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2,      M qdd + C(qd, qd) + K q + G = T.

Integrands are polynomials in x and psi_k: their integrals are numbers, found once. P3's structure of C is used to drop terms
only where it was tested on the model at hand: symmetry C_jk(i) = C_kj(i) (always), non-coupling C_ij(i) = 0 for j <= i,
reflective antisymmetry C_jk(i) = -C_ji(k) for j <= i, k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from sympy.simplify.fu import TR8

from madi.errors import InputError
from madi.flexible.modes import Shape

POINTS = 80  # of the quadrature along a link
TRIALS = 3  # random states at which a property is tested
ZERO = 1e-9  # of the largest coefficient


@dataclass(frozen=True)
class Link:
    """A line of mass. `position`: of the point at `x`; `modes`: (coordinate, symbol of the shape's value at x, shape)."""

    position: sp.Matrix
    x: sp.Symbol
    length: float
    density: float  # kg/m
    modes: tuple[tuple[sp.Symbol, sp.Symbol, Shape], ...] = ()
    bending: float = 0.0  # E I, N m²


@dataclass(frozen=True)
class Lump:
    """A point mass."""

    position: sp.Matrix
    mass: float


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

    def __post_init__(self) -> None:
        self.coordinates = list(self.coordinates)
        modal = [mode[0] for part in self.parts if isinstance(part, Link) for mode in part.modes]
        self.elastic = list(self.elastic) or list(dict.fromkeys(modal))
        for part in self.parts:
            extra = part.position.free_symbols - set(self.coordinates)
            extra -= {part.x, *(mode[1] for mode in part.modes)} if isinstance(part, Link) else set()
            if extra:
                names = ", ".join(sorted(map(str, extra)))
                raise InputError(f"a position has symbols that are neither coordinates nor mode shapes: {names}")
        missing = [str(name) for name in modal if name not in self.coordinates]
        if missing:
            raise InputError(f"modal coordinates {', '.join(missing)} are not among the coordinates")

    # ---- M, G, K ------------------------------------------------------------------------------------------------------

    def _along(self, link: Link, expression: sp.Expr) -> sp.Expr:
        """∫ expression rho A dx: a polynomial in x and the shapes, term by term."""
        symbols = [link.x, *(mode[1] for mode in link.modes)]
        total = sp.Integer(0)
        points, weights = np.polynomial.legendre.leggauss(POINTS)
        points, weights = 0.5 * link.length * (points + 1), 0.5 * link.length * weights
        values = [points, *(mode[2](points) for mode in link.modes)]
        for powers, coefficient in sp.Poly(sp.expand(expression), *symbols).terms():
            term = np.prod([value**power for value, power in zip(values, powers, strict=True)], axis=0)
            total += coefficient * sp.Float(link.density * float(weights @ term))
        return total

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
        points, weights = np.polynomial.legendre.leggauss(POINTS)
        for part in self.parts:
            if isinstance(part, Link):
                x, w = 0.5 * part.length * (points + 1), 0.5 * part.length * weights
                for a, b in product(part.modes, repeat=2):
                    i, j = self.coordinates.index(a[0]), self.coordinates.index(b[0])
                    value = part.bending * float(w @ (a[2](x, 2) * b[2](x, 2)))
                    found[i, j] += sp.Float(value)
        return found

    # ---- velocity coupling --------------------------------------------------------------------------------------------

    @cached_property
    def C(self) -> list[sp.Matrix]:
        """C[i][j, k] = C_jk(i)."""
        q, M, n = self.coordinates, self.M, len(self.coordinates)
        D = [M.diff(name) for name in q]
        return [
            sp.Matrix(n, n, lambda j, k: sp.expand((D[k][i, j] + D[j][i, k] - D[i][j, k]) / 2)) for i in range(n)
        ]  # fmt: skip

    def coupling(self, speeds: Sequence[sp.Symbol]) -> sp.Matrix:
        """The vector of C_jk(i) qd_j qd_k."""
        v = sp.Matrix(list(speeds))
        return sp.Matrix([(v.T * block * v)[0] for block in self.C])

    @cached_property
    def structure(self) -> Structure:
        """P3's properties, each tested at random states before it is used to drop terms."""
        n = len(self.coordinates)
        function = sp.lambdify(self.coordinates, self.C, "numpy", cse=True)
        rng = np.random.default_rng(1)
        values = np.array([np.array(function(*rng.uniform(-0.5, 0.5, n)), dtype=float) for _ in range(TRIALS)])
        tiny = ZERO * float(np.max(np.abs(values), initial=1e-300))

        def same(a: np.ndarray, b: Any = 0.0) -> bool:
            return bool(np.all(np.abs(a - b) <= tiny))

        triples = list(product(range(n), repeat=3))
        symmetric = [same(values[:, i, j, k], values[:, i, k, j]) for i, j, k in triples]
        pairs = [(i, j) for i in range(n) for j in range(i + 1)]
        uncoupled = {(i, j): same(values[:, i, i, j]) for i, j in pairs}
        mirrored = [(i, j, k) for i, j, k in triples if j <= i and j <= k and i < k]
        anti = {t: same(values[:, t[0], t[1], t[2]], -values[:, t[2], t[1], t[0]]) for t in mirrored}
        # what has to be written out: j <= k only, nothing where it vanishes, one of two where they mirror each other
        everything = [self.C[i][j, k] for i, j, k in triples]
        needed = []
        for i, j, k in triples:
            if j > k or same(values[:, i, j, k]):
                continue
            twin = (k, j, i)
            if twin in anti and anti[twin] and i > k:
                continue
            needed.append(self.C[i][j, k])
        counts = (operations(everything), operations(needed))
        return Structure(
            (sum(symmetric), len(symmetric)), (sum(uncoupled.values()), len(pairs)), (sum(anti.values()), len(anti)), counts
        )  # fmt: skip

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
    def _numbers(self) -> Any:
        rest = self.coupling(self.speeds) + self.K * sp.Matrix(self.coordinates) + self.G
        return sp.lambdify([*self.coordinates, *self.speeds], [self.M, rest], "numpy", cse=True)

    def accelerations(self, q: Any, v: Any, forces: Any = None) -> np.ndarray:
        """qdd at a state, for generalised forces T."""
        M, rest = self._numbers(*map(float, q), *map(float, v))
        push = np.zeros(len(self.coordinates)) if forces is None else np.asarray(forces, dtype=float)
        return np.linalg.solve(np.array(M, dtype=float), push - np.array(rest, dtype=float).reshape(-1))

    def latex(self) -> str:
        """M, K, G and the velocity coupling as LaTeX."""
        coupling = self.coupling(self.speeds)
        parts = {"M": self.M, "K": self.K, "G": self.G, "C": coupling}
        return "\n".join(rf"\mathbf{{{name}}} = {sp.latex(_short(value))}" for name, value in parts.items())

    def code(self, language: str = "numpy") -> str:
        """A function of (q, v) that gives M and h = C + K q + G: "numpy" source, or "c"."""
        rest = self.coupling(self.speeds) + self.K * sp.Matrix(self.coordinates) + self.G
        n = len(self.coordinates)
        steps, (M, h) = sp.cse([self.M, rest], symbols=sp.numbered_symbols("t"))
        if language == "numpy":
            lines = ["import numpy as np", "from numpy import cos, sin", "", "", "def equations(q, v):"]
            lines += [f"    {', '.join(map(str, names))}{',' if n == 1 else ''} = {letter}"
                      for names, letter in ((self.coordinates, "q"), (self.speeds, "v"))]  # fmt: skip
            lines += [f"    {name} = {sp.pycode(value, fully_qualified_modules=False)}" for name, value in steps]
            rows = [[sp.pycode(x, fully_qualified_modules=False) for x in M[i, :]] for i in range(n)]
            column = [sp.pycode(x, fully_qualified_modules=False) for x in h]
            lines += [f"    M = np.array([{', '.join('[' + ', '.join(row) + ']' for row in rows)}])"]
            lines += [f"    h = np.array([{', '.join(column)}])", "    return M, h"]
            return "\n".join(lines) + "\n"
        if language == "c":
            lines = ["#include <math.h>", "", "void equations(const double *q, const double *v, double *M, double *h)", "{"]
            lines += [f"    const double {a} = q[{k}], {b} = v[{k}];"
                      for k, (a, b) in enumerate(zip(self.coordinates, self.speeds, strict=True))]  # fmt: skip
            lines += [f"    const double {name} = {sp.ccode(value)};" for name, value in steps]
            lines += [f"    M[{k}] = {sp.ccode(x)};" for k, x in enumerate(M)]
            lines += [f"    h[{k}] = {sp.ccode(x)};" for k, x in enumerate(h)]
            return "\n".join([*lines, "}"]) + "\n"
        raise InputError(f"language={language!r}: choose 'numpy' or 'c'")


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
    return sp.Add(*(term for term, size in zip(terms, sizes, strict=True) if size > 1e-15 * largest))


def _short(matrix: sp.Matrix) -> sp.Matrix:
    """Numbers to five digits."""
    return matrix.applyfunc(lambda x: x.xreplace({f: sp.Float(f, 5) for f in x.atoms(sp.Float)}))
