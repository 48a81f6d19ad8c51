"""`Sym`: the scalar of the third life, a thin shell around CasADi's SX.

SX inside NumPy object arrays misbehaves with array × scalar, and SX constants hide zeros. The shell lets Python floats
stay floats: 0 * x is 0.0 and 1 * x is x before CasADi is asked at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from madi.errors import TraceError
from madi.kernel import UNARY, Symbolic

Operand = Any


def _elementwise(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Leave arrays to NumPy, which comes back element by element."""
    return lambda self, other: NotImplemented if isinstance(other, np.ndarray) else method(self, other)


class Sym(Symbolic):
    """A symbolic scalar."""

    __slots__ = ("sx",)
    __array_priority__ = 1000

    def __init__(self, sx: ca.SX):
        self.sx = sx

    def __repr__(self) -> str:
        return f"Sym({self.sx})"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """NumPy functions on symbols: each symbol is boxed, so that NumPy's object loops call the methods below."""
        if ufunc.__name__ in _WITHOUT_LOOP and not any(isinstance(value, np.ndarray) for value in inputs):
            return Sym(_WITHOUT_LOOP[ufunc.__name__](*map(raw, inputs)))
        boxed = []
        for value in inputs:
            if isinstance(value, Sym):
                box = np.empty((), dtype=object)
                box[()] = value
                value = box
            boxed.append(value)
        return getattr(ufunc, method)(*boxed, **keywords)

    @_elementwise
    def __add__(self, other: Operand) -> Any:
        if isinstance(other, Sym):
            return Sym(self.sx + other.sx)
        return self if other == 0 else Sym(self.sx + float(other))

    __radd__ = __add__

    @_elementwise
    def __sub__(self, other: Operand) -> Any:
        if isinstance(other, Sym):
            return Sym(self.sx - other.sx)
        return self if other == 0 else Sym(self.sx - float(other))

    @_elementwise
    def __rsub__(self, other: Operand) -> Any:
        return -self if other == 0 else Sym(float(other) - self.sx)

    @_elementwise
    def __mul__(self, other: Operand) -> Any:
        if isinstance(other, Sym):
            return Sym(self.sx * other.sx)
        if other == 0:
            return 0.0
        if other == 1:
            return self
        return -self if other == -1 else Sym(self.sx * float(other))

    __rmul__ = __mul__

    @_elementwise
    def __truediv__(self, other: Operand) -> Any:
        if isinstance(other, Sym):
            return Sym(self.sx / other.sx)
        return self * (1.0 / other)

    @_elementwise
    def __rtruediv__(self, other: Operand) -> Any:
        return 0.0 if other == 0 else Sym(float(other) / self.sx)

    def __neg__(self) -> Sym:
        return Sym(-self.sx)

    def __pos__(self) -> Sym:
        return self

    def __abs__(self) -> Sym:
        return Sym(ca.fabs(self.sx))

    @_elementwise
    def __pow__(self, other: Operand) -> Any:
        if isinstance(other, Sym):
            return Sym(self.sx**other.sx)
        return 1.0 if other == 0 else self if other == 1 else Sym(self.sx ** float(other))

    @_elementwise
    def __rpow__(self, other: Operand) -> Any:
        return Sym(float(other) ** self.sx)

    def __mod__(self, other: Operand) -> Any:
        quotient = self / other
        return self - other * (Sym(ca.floor(quotient.sx)) if isinstance(quotient, Sym) else float(np.floor(quotient)))

    def __rmod__(self, other: Operand) -> Any:
        return Sym(raw(other)) % self

    def __lt__(self, other: Operand) -> Sym:
        return Sym(self.sx < raw(other))

    def __le__(self, other: Operand) -> Sym:
        return Sym(self.sx <= raw(other))

    def __gt__(self, other: Operand) -> Sym:
        return Sym(self.sx > raw(other))

    def __ge__(self, other: Operand) -> Sym:
        return Sym(self.sx >= raw(other))

    def __eq__(self, other: object) -> Any:
        return Sym(self.sx == raw(other))

    def __ne__(self, other: object) -> Any:
        return Sym(self.sx != raw(other))

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TraceError("a branch depends on the state or on time; use madi.where(condition, a, b)")

    def __float__(self) -> float:
        raise TraceError("a number is needed where a symbol stands; use madi's or NumPy's functions")

    def where(self, a: Operand, b: Operand) -> Any:
        """a where this condition holds, else b."""
        if self.sx.is_constant():
            return a if float(self.sx) != 0 else b
        return Sym(ca.if_else(self.sx, raw(a), raw(b)))

    def lookup(self, curve: Any, place: int, order: int) -> Any:
        """The block at curve[place:] (kernel/lookup.py) at this argument."""
        from madi.symbolic.lookup import looked_up

        found = looked_up(self.sx, curve, place, order)
        return found if isinstance(found, float) else Sym(found)

    def arctan2(self, x: Operand) -> Sym:
        """atan2(self, x)."""
        return Sym(ca.atan2(self.sx, raw(x)))

    def arctan2_of(self, y: Operand) -> Sym:
        """atan2(y, self)."""
        return Sym(ca.atan2(raw(y), self.sx))


# NumPy's own loops for objects would ask these for a truth value
_WITHOUT_LOOP: dict[str, Callable[..., Any]] = {"minimum": ca.fmin, "maximum": ca.fmax, "sign": ca.sign}


def raw(value: Any) -> Any:
    """The SX inside, or the float."""
    return value.sx if isinstance(value, Sym) else float(value)


def _method(function: Callable[[Any], Any]) -> Callable[[Sym], Sym]:
    return lambda self: Sym(function(self.sx))


for _name in UNARY:
    setattr(Sym, _name, _method(getattr(ca, _name)))
for _numpy, _name in {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
                      "arctanh": "atanh", "absolute": "fabs"}.items():  # fmt: skip
    setattr(Sym, _numpy, _method(getattr(ca, _name)))


def symbols(name: str, n: int) -> tuple[ca.SX, np.ndarray]:
    """n named symbols: as one SX column (for differentiation) and as an object array (for kernels)."""
    column = ca.SX.sym(name, n)
    array = np.empty(n, dtype=object)
    for k, element in enumerate(ca.vertsplit(column) if n else []):
        array[k] = Sym(element)
    return column, array


def column_of(values: Any) -> ca.SX:
    """An SX column from symbols and floats."""
    return ca.vertcat(*[ca.SX(raw(value)) for value in values]) if len(values) else ca.SX(0, 1)
