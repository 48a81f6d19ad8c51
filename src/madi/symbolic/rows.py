"""How the second derivative of the constraint rows, Phi'' = Phi_q a - gamma, changes with q and v at given accelerations:
a trace of the rows and of the way to them alone, which grows with these."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from madi.equations.residual import rows_at
from madi.symbolic.jacobian import Jacobian
from madi.symbolic.lookup import Looked, jacobian
from madi.symbolic.sym import column_of, symbols
from madi.symbolic.trace import adjusted, tangent
from madi.topology.layout import Layout, model_views
from madi.topology.parameters import Parameters

Places = list[tuple[np.ndarray, np.ndarray]]


def row_program(layout: Layout, parameters: Parameters | None = None) -> tuple[Places, Jacobian]:
    """(rows and columns of the entries of Phi'' by q, along the speeds, and by v; what gives them, of (t, q, v, x = a))."""
    p, reals = adjusted(layout, parameters)
    model, work = model_views(layout.ints, reals, layout.curve), layout.scratch(dtype=object)
    nq, nv = layout.header("nq"), layout.header("nv")
    (t, ts), (q, qs), (v, vs), (a, _) = symbols("t", 1), symbols("q", nq), symbols("v", nv), symbols("x", nv)
    with Looked() as looked:
        rows_at(model, work, ts[0], qs, vs)
        second = jacobian(column_of(work.rate), v) @ a - column_of(work.gamma)
        parts = [ca.sparsify(part) for part in (jacobian(second, q) @ tangent(layout, q), jacobian(second, v))]
        entries: list[Any] = [value for part in parts for value in part.nonzeros()]
        values = looked.closed(ca.vertcat(*entries) if entries else ca.SX(0, 1))
    triplets = [part.sparsity().get_triplet() for part in parts]
    places = [(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)) for rows, columns in triplets]
    return places, Jacobian(ca.Function("rows", [t, q, v, a, *p], [ca.cse(values)]))
