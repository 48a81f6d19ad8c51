"""The system Jacobian: how the residual R = M qdd + Phi_q^T lam - P and the rows Phi change with qdd, qd, q, lam.

Exact, by automatic differentiation of the trace, and sparse: only entries that are not identically zero are computed. The
derivative by q is along theta of the chart in which an implicit step is taken (joints.chart.exponential); at theta = 0
it is what the speeds would move. What an implicit method needs of it is the sum  c_a dR/dqdd + c_v dR/dqd + c_q dR/dq.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from madi.signals.outside import Outside
from madi.symbolic.trace import Seen, adjusted, count_operations, expressions
from madi.topology.layout import Layout
from madi.topology.parameters import Parameters

BLOCKS = ("qdd", "qd", "q", "lam", "phi", "rate")  # dR by qdd, by qd, by q, by lam; Phi_q = dPhi' by qd, dPhi' by q
LARGEST = 1_500_000  # operations of R times columns: beyond, the trace (some 5 s) is not worth its time


@dataclass(frozen=True)
class Blocks:
    """Where the entries of the six blocks are; `rows`, `columns` count columns of the tree and constraint rows apart."""

    rows: list[np.ndarray]
    columns: list[np.ndarray]

    @property
    def sizes(self) -> list[int]:
        """Entries of each block."""
        return [len(rows) for rows in self.rows]

    def matrices(self, values: np.ndarray, nv: int, nr: int) -> dict[str, np.ndarray]:
        """The blocks as full matrices."""
        shapes = {"qdd": (nv, nv), "qd": (nv, nv), "q": (nv, nv), "lam": (nv, nr), "phi": (nr, nv), "rate": (nr, nv)}
        found, at = {}, 0
        for name, rows, columns in zip(BLOCKS, self.rows, self.columns, strict=True):
            found[name] = np.zeros(shapes[name])
            found[name][rows, columns] = values[at : at + len(rows)]
            at += len(rows)
        return found


def full_blocks(nv: int, nr: int) -> Blocks:
    """Every entry: where the pattern is not known."""
    square, wide = np.indices((nv, nv)).reshape(2, -1), np.indices((nr, nv)).reshape(2, -1)
    return Blocks([*[square[0]] * 3, wide[1], wide[0], wide[0]], [*[square[1]] * 3, wide[0], wide[1], wide[1]])


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
    theta, qdd, lam = x[:nv], x[nv : 2 * nv], x[2 * nv :]
    parts = [ca.jacobian(R, qdd), ca.jacobian(R, v), ca.jacobian(R, theta), ca.jacobian(R, lam)]
    if seen is not None and by_s is not None:
        through = ca.jacobian(R, seen.u) @ by_s
        parts[1] = parts[1] + through @ ca.jacobian(seen.s, v)
        parts[2] = parts[2] + through @ ca.jacobian(seen.s, theta)
    parts = [ca.sparsify(part) for part in [*parts, ca.jacobian(rate, v), ca.jacobian(rate, theta)]]
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


def jacobian_function(
    layout: Layout, parameters: Parameters | None = None, outside: Outside | None = None
) -> tuple[Blocks, Jacobian] | None:
    """The blocks and their values; None where the model is too large to trace."""
    if layout.header("nv") > 200:
        return None
    p, reals = adjusted(layout, parameters)
    found: list[Seen] = []
    inputs, out = expressions(layout, "residual", reals=reals, outside=found)
    u = [seen.u for seen in found]
    size = sum(count_operations(ca.Function("residual", [*inputs, *p, *u], [out])).values())
    if size * layout.header("nv") > LARGEST:
        return None
    if not found:
        blocks, values = block_expressions(layout, inputs, out)
        return blocks, Jacobian(ca.Function("jacobian", [*inputs, *p], [ca.cse(values)]))
    assert outside is not None
    d, by_s = slopes(outside, found[0])
    blocks, values = block_expressions(layout, inputs, out, found[0], by_s)
    p = p or [ca.SX(0, 1)]
    function = ca.Function("jacobian", [*inputs, *p, ca.vertcat(u[0], d)], [ca.cse(values)])
    return blocks, Jacobian(function, ca.Function("seen", [*inputs, *p], [found[0].s]), outside)
