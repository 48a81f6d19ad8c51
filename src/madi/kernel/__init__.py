"""The kernel rule: every formula of mechanics is written once and lives three times.

A *kernel* is a plain Python function over NumPy arrays, marked with `@kernel`. It runs

1. plain, as it stands, for debugging and as the reference in tests;
2. jitted, by Numba (`engines/jit.py` registers all kernels when that engine is first used);
3. traced, on object arrays of symbols (`symbolic/`), which records the arithmetic of one model.

So a kernel
- takes `(model, work, ...)`: `model` is never written, `work` holds scratch and results;
- loops explicitly over small fixed sizes; allocates nothing; calls no `@` and no `np.linalg`;
- branches only on integers of the model, never on a value that depends on the state: there it uses `where`; or, to leave out
  what would add nothing, `needed`;
- takes its mathematical functions from this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

Kernel: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Kernel)

KERNELS: list[Kernel] = []
INLINE: set[Kernel] = set()

HUGE = 1e300  # sizes beyond it are not finite; where a search for the least begins
LEAST_SIZE = 1e-300  # added to, or the least of, what is divided by, compared with or under a root: far below all sizes


def kernel(function: F) -> F:
    """Mark `function` as a kernel; it stays the plain function it is."""
    KERNELS.append(function)
    return function


def inline(function: F) -> F:
    """A kernel so small, or met so often, that jitted code must not spend a call on it."""
    INLINE.add(function)
    return kernel(function)


SEPARATE: list[Kernel] = []


def separate(function: Callable[..., None]) -> Callable[..., None]:
    """A kernel (model, work, i) that few models need: it is compiled by itself, when a model first needs it, and called by
    its address, which is in model.separate."""
    number = len(SEPARATE)
    SEPARATE.append(kernel(function))

    @inline
    def call(model: Any, work: Any, i: int) -> None:
        call_separate(model.separate[number], number, model, work, i)

    return call


def call_separate(address: Any, number: int, model: Any, work: Any, i: int) -> None:
    """Plain and traced: the kernel; jitted: the C function at its address (engines/numba_support.py)."""
    SEPARATE[number](model, work, i)


class Symbolic:
    """Base of the scalars of the third life (`symbolic/sym.py`): each function below is a method there."""

    __slots__ = ()
    arctan2: Callable[..., Any]
    arctan2_of: Callable[..., Any]
    where: Callable[..., Any]
    lookup: Callable[..., Any]


def _unary(name: str, plain: Callable[[float], float]) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        if isinstance(x, Symbolic):
            return getattr(x, name)()
        try:
            return plain(x)
        except (ValueError, OverflowError):  # where machine code gives NaN or infinity, and nothing is raised
            return math.inf if name in ("exp", "sinh", "cosh") else math.nan

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(x) in all three lives."
    return function


_NAMES = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt fabs floor ceil"
UNARY: dict[str, Callable[[float], float]] = {name: getattr(math, name) for name in _NAMES.split()}
sin, cos, tan = (_unary(n, UNARY[n]) for n in ("sin", "cos", "tan"))
asin, acos, atan = (_unary(n, UNARY[n]) for n in ("asin", "acos", "atan"))
sinh, cosh, tanh = (_unary(n, UNARY[n]) for n in ("sinh", "cosh", "tanh"))
asinh, acosh, atanh = (_unary(n, UNARY[n]) for n in ("asinh", "acosh", "atanh"))
exp, log, sqrt = (_unary(n, UNARY[n]) for n in ("exp", "log", "sqrt"))
fabs, floor, ceil = (_unary(n, UNARY[n]) for n in ("fabs", "floor", "ceil"))


def sincos(x: Any) -> Any:
    """(sin x, cos x): met once per joint and evaluation, so the jitted life has its own (engines/numba_support.py)."""
    return sin(x), cos(x)


def apart(a: Any, b: Any) -> Any:
    """a - b of two numbers that may be large and near each other, before anything is added: jitted code, which reorders
    sums, keeps this one (engines/numba_support.py)."""
    return a - b


def atan2(y: Any, x: Any) -> Any:
    """atan2(y, x) in all three lives."""
    if isinstance(y, Symbolic):
        return y.arctan2(x)
    if isinstance(x, Symbolic):
        return x.arctan2_of(y)
    return math.atan2(y, x)


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`. Both are evaluated: neither may divide by zero."""
    if isinstance(condition, Symbolic):
        return condition.where(a, b)
    return a if condition else b


def needed(condition: Any) -> Any:
    """Whether to compute what adds nothing but rounding where the condition does not hold; a trace computes it always."""
    return True if isinstance(condition, Symbolic) else condition


def copysign(a: Any, b: Any) -> Any:
    """|a| with the sign of b."""
    return where(b < 0, -fabs(a), fabs(a))


def view1(buffer: Any, start: int, n: int) -> Any:
    """n numbers of a flat buffer from `start` on, as a view (no copy, in no life); also inside kernels."""
    return buffer[start : start + n]


def call(function: Any, t: float, q: Any, v: Any, x: Any, out: Any) -> int:
    """Evaluate a system function (fields.Function). Plain: a Python callable; jitted: a C function
    (engines/numba_support.py)."""
    return function.call(t, q, v, x, out)


def call_loop(function: Any) -> int:
    """Run a loop on the memory it was given with. Plain: a Python callable; jitted: a C function (numba_support.py)."""
    return function.call()


def present(function: Any) -> bool:
    """Whether a system function was given."""
    return function.call is not None
