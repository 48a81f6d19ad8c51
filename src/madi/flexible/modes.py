"""Mode shapes of beams over 0 <= x <= L: value, slope, curvature. Euler-Bernoulli shapes are scaled so that the tip's
value, or the largest, is 1.

Roots b L of the frequency equation (E I b^4 = rho A w^2) are those of the determinant of the boundary conditions, found to
rounding; shapes are written with decaying exponentials, so that high ones keep their digits. Reference: any text on
vibration, for instance Meirovitch, Analytical Methods in Vibrations, ch. 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madi.errors import InputError, not_negative, positive_number

ROOT, ROOT_RELATIVE = 1e-14, 8.9e-16  # of frequency parameters: to rounding; brentq takes no less than four units

Function = Callable[[np.ndarray, int], np.ndarray]


@dataclass(frozen=True)
class Shape:
    """One shape: `shape(x, order)` is its derivative of that order (0 to 3) at x; `root`: b L, where it has one."""

    name: str
    function: Function
    length: float
    root: float = 0.0
    recipe: Any = None  # how a file says it: (family, number, options), or an expression of x

    def __call__(self, x: Any, order: int = 0) -> Any:
        """The derivative of that order at x: a number, or an array for an array."""
        values = self.function(np.asarray(x, dtype=float), order)
        return float(values) if np.ndim(x) == 0 else values


@dataclass(frozen=True, eq=False)
class _Bent:
    """A sum of `_basis` (these are classes, so that models with shapes can be pickled)."""

    coefficients: np.ndarray
    b: float
    length: float

    def __call__(self, x: np.ndarray, order: int) -> np.ndarray:
        return np.tensordot(self.coefficients, _basis(self.b, x, order, self.length), 1)


@dataclass(frozen=True, eq=False)
class _Waves:
    """sin b x."""

    b: float

    def __call__(self, x: np.ndarray, order: int) -> np.ndarray:
        return np.asarray(self.b**order * np.sin(self.b * x + order * np.pi / 2))


@dataclass(frozen=True, eq=False)
class _Powers:
    """A polynomial in x / L, with its derivatives."""

    derivatives: list[np.poly1d]
    length: float

    def __call__(self, x: np.ndarray, order: int) -> np.ndarray:
        return np.asarray(self.derivatives[order](x / self.length) / self.length**order)


def _basis(b: Any, x: np.ndarray, order: int, length: float) -> np.ndarray:
    """cos b x, sin b x, exp(-b x), exp(-b (L - x)) and their derivatives: stacked; at one x also of many b."""
    s, turn = b**order, order * np.pi / 2
    return np.array([
        s * np.cos(b * x + turn), s * np.sin(b * x + turn), (-1.0) ** order * s * np.exp(-b * x),
        s * np.exp(-b * (length - x)),
    ])  # fmt: skip


def _shape(name: str, length: float, root: float, conditions: Callable[[Any], np.ndarray], recipe: Any) -> Shape:
    """The shape whose coefficients the boundary conditions (four rows) leave free."""
    b = root / length
    coefficients = np.linalg.svd(_balanced(conditions(b)))[2][-1]
    probe = np.linspace(0.0, length, 2001)
    values = coefficients @ _basis(b, probe, 0, length)
    tip = values[-1] if abs(values[-1]) > 0.3 * np.max(np.abs(values)) else values[np.argmax(np.abs(values))]
    coefficients = coefficients / tip
    return Shape(name, _Bent(coefficients, b, length), length, root, recipe)


def _balanced(rows: np.ndarray) -> np.ndarray:
    return rows / np.max(np.abs(rows), axis=-1, keepdims=True)


def _roots(conditions: Callable[[Any], np.ndarray], length: float, count: int) -> list[float]:
    """The first roots b L of the determinant of the boundary conditions."""
    from scipy.optimize import brentq

    def determinant(root: float) -> float:
        return float(np.linalg.det(_balanced(conditions(root / length))))

    found: list[float] = []
    grid = np.linspace(0.05, np.pi * (count + 2), 400 * (count + 2))
    values = np.linalg.det(_balanced(np.moveaxis(conditions(grid / length), -1, 0)))
    for k in range(len(grid) - 1):
        if values[k] == 0.0 or values[k] * values[k + 1] < 0:
            found.append(float(brentq(determinant, grid[k], grid[k + 1], xtol=ROOT, rtol=ROOT_RELATIVE)))
        if len(found) == count:
            return found
    raise InputError(f"only {len(found)} of {count} mode shapes were found")


def _family(
    name: str, length: float, count: int, conditions: Callable[[Any], np.ndarray], kind: str = "", **options: float
) -> list[Shape]:
    _check(length, count)
    kind = kind or name.replace("-", "_")
    return [
        _shape(f"{name} {k}", length, root, conditions, (kind, k, {"count": count, **options}))
        for k, root in enumerate(_roots(conditions, length, count), start=1)
    ]


def _check(length: float, count: int) -> None:
    positive_number(length, "length")
    if not (isinstance(count, int) and 1 <= count <= 30):
        raise InputError(f"count={count!r}: give a whole number of shapes, from 1 to 30")


def _ends(b: Any, length: float, start: Sequence[int], end: Sequence[int]) -> np.ndarray:
    """Rows: derivatives of these orders vanish at the start and at the end."""
    zero, far = np.array(0.0), np.array(length)
    return np.array([*(_basis(b, zero, k, length) for k in start), *(_basis(b, far, k, length) for k in end)])


def clamped_free(length: float, count: int = 2) -> list[Shape]:
    """A cantilever."""
    return _family("clamped-free", length, count, lambda b: _ends(b, length, (0, 1), (2, 3)))


def clamped_pinned(length: float, count: int = 2) -> list[Shape]:
    """Clamped at x = 0, pinned at the end."""
    return _family("clamped-pinned", length, count, lambda b: _ends(b, length, (0, 1), (0, 2)))


def clamped_clamped(length: float, count: int = 2) -> list[Shape]:
    """Clamped at both ends."""
    return _family("clamped-clamped", length, count, lambda b: _ends(b, length, (0, 1), (0, 1)))


def clamped_loaded(length: float, count: int = 2) -> list[Shape]:
    """Clamped at x = 0, at the end whatever comes. The first shape is what a force there does, the second what a moment does
    where the end cannot move, the others are those of a beam clamped at both ends (Craig and Bampton's set for the end).

    So the first coordinate is the end's deflection, loads on the end are followed exactly by two shapes, and of a clamped
    beam `count` shapes give `count` - 1 frequencies to 1 %, whatever the end carries. One alone bears no moment there."""
    _check(length, count)
    static = [_polynomial("force at the end", (-0.5, 1.5, 0.0, 0.0), length),
              _polynomial("moment at the end", (-6.75, 6.75, 0.0, 0.0), length)]  # fmt: skip
    inner = clamped_clamped(length, count - 2) if count > 2 else []
    return _numbered("clamped_loaded", [*static[:count], *inner])


def pinned_pinned(length: float, count: int = 2) -> list[Shape]:
    """sin(k pi x / L)."""
    _check(length, count)

    def shape(k: int) -> Shape:
        b = k * np.pi / length
        return Shape(f"pinned-pinned {k}", _Waves(b), length, k * np.pi,
                     ("pinned_pinned", k, {"count": count}))  # fmt: skip

    return [shape(k) for k in range(1, count + 1)]


def clamped_rod(length: float, count: int = 1) -> list[Shape]:
    """sin((k - 1/2) pi x / L): a rod held at x = 0, in torsion or stretch."""
    _check(length, count)

    def shape(k: int) -> Shape:
        b = (k - 0.5) * np.pi / length
        return Shape(f"clamped rod {k}", _Waves(b), length, b * length,
                     ("clamped_rod", k, {"count": count}))  # fmt: skip

    return [shape(k) for k in range(1, count + 1)]


def loaded_rod(length: float, count: int = 1) -> list[Shape]:
    """x / L, what a load at the end does, then sin(k pi x / L): a rod held at x = 0, at the end whatever comes."""
    _check(length, count)
    inner = pinned_pinned(length, count - 1) if count > 1 else []
    return _numbered("loaded_rod", [_polynomial("load at the end", (1.0, 0.0), length), *inner])


def free_free(length: float, count: int = 2) -> list[Shape]:
    """Free at both ends; its rigid motions are left out."""
    return _family("free-free", length, count, lambda b: _ends(b, length, (2, 3), (2, 3)))


def clamped_tip(length: float, mass_ratio: float, inertia_ratio: float = 0.0, count: int = 2) -> list[Shape]:
    """Clamped at x = 0, at the end a body: its mass over the beam's mass, its inertia over (beam's mass times L²)."""
    not_negative(mass_ratio, "mass_ratio")
    not_negative(inertia_ratio, "inertia_ratio")

    def conditions(b: Any) -> np.ndarray:
        # at the end: E I psi''' = -w^2 m psi, E I psi'' = w^2 J psi'; with E I b^4 = rho A w^2
        value, slope, curve, shear = (_basis(b, np.array(length), k, length) for k in range(4))
        start = _ends(b, length, (0, 1), ())
        return np.array([
            *start, curve - inertia_ratio * length**3 * b**4 * slope, shear + mass_ratio * length * b**4 * value,
        ])  # fmt: skip

    ratios = {"mass_ratio": float(mass_ratio), "inertia_ratio": float(inertia_ratio)}
    return _family("clamped with a tip body", length, count, conditions, "clamped_tip", **ratios)


def polynomials(length: float, count: int = 2, start: int = 2) -> list[Shape]:
    """Polynomials (x/L)^start times 1, x, x², ...: `start` 2 for a clamped start. Mixed so that they are orthogonal
    (Jacobi's polynomials): the same space as powers of x, without their near dependence; 1 at the end."""
    from scipy.special import jacobi

    _check(length, count)
    if start not in (1, 2, 3):
        raise InputError(f"start={start!r}: the first power, 1 (pinned), 2 (clamped) or 3")

    def shape(k: int) -> Shape:
        inner = np.poly1d(jacobi(k, 0, 2 * start).coeffs)  # of 2 x/L - 1
        whole = np.poly1d([1.0] + [0.0] * start) * inner(np.poly1d([2.0, -1.0]))
        return _polynomial(f"polynomial {start + k}", whole.coeffs, length)

    return _numbered("polynomials", [shape(k) for k in range(count)], start=start)


def _polynomial(name: str, coefficients: Any, length: float) -> Shape:
    """A polynomial in x / L, the highest power first."""
    whole = np.poly1d(coefficients)
    derivatives = [whole.deriv(order) if order else whole for order in range(4)]
    return Shape(name, _Powers(derivatives, length), length)


def _numbered(kind: str, shapes: Sequence[Shape], **options: float) -> list[Shape]:
    """All the shapes of a family, with their recipes."""
    given = {"count": len(shapes), **options}
    return [replace(shape, recipe=(kind, k, given)) for k, shape in enumerate(shapes, start=1)]


def user(function: Callable[[Any], Any], length: float, name: str = "user") -> Shape:
    """A function of x of your own (arithmetic, NumPy or madi functions); derivatives by automatic differentiation."""
    import casadi as ca

    from madi.symbolic.lookup import Looked, jacobian
    from madi.symbolic.sym import Sym

    x = ca.SX.sym("x")
    with Looked() as looked:
        try:
            found = function(Sym(x))
            expression = found.sx if isinstance(found, Sym) else ca.SX(float(found))
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise InputError(f"shape {name!r}: the function of x cannot be differentiated ({error})") from None
        derivatives = [ca.Function("f", [x], [looked.closed(expression)])]
        for _ in range(3):
            expression = jacobian(expression, x)
            derivatives.append(ca.Function("f", [x], [looked.closed(expression)]))

    def evaluate(points: np.ndarray, order: int) -> np.ndarray:
        flat = np.asarray(derivatives[order](points.reshape(1, -1))).reshape(-1)
        return flat.reshape(points.shape)

    if not np.isfinite(evaluate(np.linspace(0, length, 9), 2)).all():
        raise InputError(f"shape {name!r}: its curvature is not finite along the beam")
    return Shape(name, evaluate, length, recipe=function)
