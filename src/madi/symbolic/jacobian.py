"""The system Jacobian: how the residual R = M qdd + Phi_q^T lam - P and the rows Phi change with qdd, qd, q, lam.

Exact, by automatic differentiation of the trace, and sparse: only entries that are not identically zero are computed. It is
what generated C is made of; the general engine has a recursion (equations/slopes.py). The
derivative by q is along theta of the chart in which an implicit step is taken (joints.chart.exponential); at theta = 0
it is what the speeds would move. What an implicit method needs of it is the sum  c_a dR/dqdd + c_v dR/dqd + c_q dR/dq.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from madi.signals.outside import Outside
from madi.symbolic.lookup import Looked, jacobian
from madi.symbolic.trace import Seen, adjusted, count_operations, expressions, tangent
from madi.topology.layout import Layout
from madi.topology.parameters import Parameters
from madi.topology.slopes import Blocks

LARGEST = 1_500_000  # operations of R times columns: beyond, the trace (some 5 s) is not worth its time


def slopes(outside: Outside, seen: Seen) -> tuple[ca.SX, ca.SX]:
    """(the entries of du/ds as symbols behind each other, the matrix they are in)."""
    d = ca.SX.sym("d", len(outside.entries))
    matrix = ca.SX(outside.size, seen.s.shape[0])
    for k, (row, column) in enumerate(outside.entries):
        matrix[row, column] = d[k]
    return d, matrix


def block_expressions(
    layout: Layout, inputs: list[ca.SX], out: ca.SX, seen: Seen | None = None, by_s: ca.SX | None = None
) -> tuple[Blocks, ca.SX]:
    """The blocks' places, and their values behind each other. `seen`, `by_s`: of functions that stay in Python, what they
    get and the derivatives of their values by it."""
    nv, nr = layout.header("nv"), layout.header("nr")
    _, _, v, x = inputs
    R, rate = out[:nv], out[nv + nr :]
    theta, qdd, lam = x[:nv], x[nv : 2 * nv], x[2 * nv : 2 * nv + nr]
    parts = [jacobian(R, qdd), jacobian(R, v), jacobian(R, theta), jacobian(R, lam)]
    if seen is not None and by_s is not None:
        through = jacobian(R, seen.u) @ by_s
        parts[1] = parts[1] + through @ jacobian(seen.s, v)
        parts[2] = parts[2] + through @ jacobian(seen.s, theta)
    parts = [ca.sparsify(part) for part in [*parts, jacobian(rate, v), jacobian(rate, theta)]]
    places = [part.sparsity().get_triplet() for part in parts]
    blocks = Blocks(
        [np.array(rows, dtype=np.int64) for rows, _ in places], [np.array(columns, dtype=np.int64) for _, columns in places]
    )
    values: list[Any] = [value for part in parts for value in part.nonzeros()]
    return blocks, ca.vertcat(*values) if values else ca.SX(0, 1)


@dataclass(frozen=True)
class Jacobian:
    """The blocks' values as a function: of (t, q, v, x), with parameters of (t, q, v, x, p); or where functions stay in
    Python of (t, q, v, x, p, w), w = (u, du/ds), which `outside` gives at s = seen(t, q, v, x, p)."""

    function: ca.Function
    seen: ca.Function | None = None
    outside: Outside | None = None

    def __call__(self, t: float, q: Any, v: Any, x: Any, p: Any = None) -> np.ndarray:
        """The values, in Python."""
        more = () if p is None else (p,)
        if self.seen is not None and self.outside is not None:
            more = more or (np.zeros(0),)
            s = np.asarray(self.seen(t, q, v, x, *more)).reshape(-1)
            more = (*more, self.outside.both(t, s))
        return np.asarray(self.function(t, q, v, x, *more)).reshape(-1)

    def n_instructions(self) -> int:
        """Of the trace."""
        return int(self.function.n_instructions())


def derivative_function(layout: Layout, entry: str, parameters: Parameters | None = None) -> Jacobian:
    """d out / d(theta, v, x), exact, dense, one after the other by rows: of (t, q, v, x), with parameters of (t, q, v, x,
    p)."""
    p, reals = adjusted(layout, parameters)
    with Looked() as looked:
        inputs, out = expressions(layout, entry, reals=reals)
        _, q, v, x = inputs
        parts = [jacobian(out, q) @ tangent(layout, q), jacobian(out, v), jacobian(out, x)]
        rows = [ca.vec(ca.densify(looked.closed(part)).T) for part in parts]
    return Jacobian(ca.Function("derivative", [*inputs, *p], [ca.cse(ca.vertcat(*rows))]))


def jacobian_function(
    layout: Layout, parameters: Parameters | None = None, outside: Outside | None = None
) -> tuple[Blocks, Jacobian] | None:
    """The blocks and their values; None where the model is too large to trace."""
    if layout.header("nv") > 200:
        return None
    p, reals = adjusted(layout, parameters)
    found: list[Seen] = []
    with Looked() as looked:
        inputs, out = expressions(layout, "residual", reals=reals, outside=found)
        u = [seen.u for seen in found]
        size = sum(count_operations(ca.Function("residual", [*inputs, *p, *u], [looked.closed(out)])).values())
        if size * layout.header("nv") > LARGEST:
            return None
        if not found:
            blocks, values = block_expressions(layout, inputs, out)
            return blocks, Jacobian(ca.Function("jacobian", [*inputs, *p], [ca.cse(looked.closed(values))]))
        assert outside is not None
        d, by_s = slopes(outside, found[0])
        blocks, values = block_expressions(layout, inputs, out, found[0], by_s)
        p = p or [ca.SX(0, 1)]
        function = ca.Function("jacobian", [*inputs, *p, ca.vertcat(u[0], d)], [ca.cse(looked.closed(values))])
        return blocks, Jacobian(function, ca.Function("seen", [*inputs, *p], [looked.closed(found[0].s)]), outside)
