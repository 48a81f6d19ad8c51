"""Look-ups (kernel/lookup.py) in traces: one operation each, whatever the number of points.

In a finished trace a look-up is a call node of CasADi, lookup(x, array, place, order). CasADi cannot differentiate these so
that their derivatives are look-ups again. So while derivatives are to be taken (`Looked`), look-ups are symbols u with what
they stand for written down: with u' the look-up of the next order,

    d/dx f(x, u) = df/dx + df/du du/dx,    du/dx = u' da/dx (x, u),

a the argument, which depends on earlier ones only. `closed` puts the call nodes in.

docs/references.md: [Andersson et al. 2019], [Griewank, Walther 2008].
"""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np

from madi.kernel.forks import Lock
from madi.kernel.lookup import evaluated, number_of, numbered

_own = threading.local()


class _Called(ca.Callback):
    """The look-up as CasADi evaluates it."""

    def __init__(self) -> None:
        ca.Callback.__init__(self)
        self.construct("lookup", {"never_inline": True})

    def get_n_in(self) -> int:
        """The argument, the number of the array, the place of the block, the order."""
        return 4

    def get_n_out(self) -> int:
        """One value."""
        return 1

    def eval(self, given: Any) -> list[float]:
        """Of numbers."""
        x, number, place, order = (float(part) for part in given)
        curve = numbered(int(number))
        return [np.nan if curve is None else evaluated(curve, int(place), x, int(order))]


_called: list[_Called] = []
_making = Lock()


def _node(argument: ca.SX, number: int, place: int, order: int) -> ca.SX:
    with _making:
        if not _called:
            _called.append(_Called())
    return _called[0](argument, number, place, order)


def looked_up(argument: ca.SX, curve: np.ndarray, place: int, order: int) -> Any:
    """The look-up of a symbol."""
    if order >= int(curve[place + 1]):
        return 0.0  # the derivative of a constant
    if argument.is_constant():
        return evaluated(curve, place, float(argument), order)
    number = number_of(curve)
    looked = getattr(_own, "looked", None)
    return _node(argument, number, place, order) if looked is None else looked.symbol(argument, number, place, order)


class Looked:
    """Look-ups of the expressions that this thread makes within `with Looked():`, which `jacobian` can differentiate."""

    def __init__(self) -> None:
        self.symbols: list[ca.SX] = []
        self.arguments: list[ca.SX] = []
        self.of: list[tuple[int, int, int]] = []
        self._known: dict[Any, int] = {}
        self._before: Any = None

    def __enter__(self) -> Looked:
        self._before = getattr(_own, "looked", None)
        _own.looked = self
        return self

    def __exit__(self, *error: Any) -> None:
        _own.looked = self._before

    def symbol(self, argument: ca.SX, number: int, place: int, order: int) -> ca.SX:
        """What stands for a look-up; the same one is the same symbol."""
        key = (argument.element_hash(), number, place, order)
        if key not in self._known:
            self._known[key] = len(self.symbols)
            self.symbols.append(ca.SX.sym(f"u{len(self.symbols)}"))
            self.arguments.append(argument)
            self.of.append((number, place, order))
        return self.symbols[self._known[key]]

    def jacobian(self, expression: ca.SX, by: ca.SX) -> ca.SX:
        """d expression / d by, through all look-ups."""
        direct = ca.jacobian(expression, by)
        n = len(self.symbols)
        if not n:
            return direct
        u = ca.vertcat(*self.symbols)
        through = ca.jacobian(expression, u)
        used = self._used(through.sparsity(), u)
        if not used:
            return direct
        arguments = ca.vertcat(*self.arguments[:n])
        by_x, by_u = ca.jacobian(arguments, by), ca.jacobian(arguments, u)
        rows: list[ca.SX] = []
        for k in range(n):
            if k not in used:
                rows.append(ca.SX(1, by.numel()))
                continue
            number, place, order = self.of[k]
            curve = numbered(number)
            assert curve is not None
            slope = looked_up(self.arguments[k], curve, place, order + 1)
            inner = by_x[k, :]
            for j in by_u[k, :].sparsity().get_triplet()[1]:
                inner = inner + by_u[k, j] * rows[j]
            rows.append(slope * inner)
        return direct + through @ ca.vertcat(*rows)

    def _used(self, through: ca.Sparsity, u: ca.SX) -> set[int]:
        """Look-ups an expression depends on, those in their arguments included."""
        found, new = set[int](), set(through.get_triplet()[1])
        if not new:
            return found
        rows, columns = ca.jacobian_sparsity(ca.vertcat(*self.arguments[: u.numel()]), u).get_triplet()
        inside: dict[int, list[int]] = {}
        for row, column in zip(rows, columns, strict=True):
            inside.setdefault(row, []).append(column)
        while new:
            found |= new
            new = {j for k in new for j in inside.get(k, [])} - found
        return found

    def closed(self, expression: ca.SX) -> ca.SX:
        """The expression with call nodes for the symbols."""
        if not self.symbols:
            return expression
        u, arguments = ca.vertcat(*self.symbols), ca.vertcat(*self.arguments)
        depth = ca.jacobian_sparsity(arguments, u)
        nodes: list[ca.SX] = []
        nested = set(depth.get_triplet()[0])
        for k, (argument, of) in enumerate(zip(self.arguments, self.of, strict=True)):
            if k in nested:
                argument = ca.substitute(argument, u[:k], ca.vertcat(*nodes))
            nodes.append(_node(argument, *of))
        return ca.substitute(expression, u, ca.vertcat(*nodes))


def jacobian(expression: ca.SX, by: ca.SX) -> ca.SX:
    """d expression / d by; within `with Looked():` through look-ups, too."""
    looked = getattr(_own, "looked", None)
    return ca.jacobian(expression, by) if looked is None else looked.jacobian(expression, by)


def closed(expression: ca.SX) -> ca.SX:
    """The expression as a function can be made of it."""
    looked = getattr(_own, "looked", None)
    return expression if looked is None else looked.closed(expression)
