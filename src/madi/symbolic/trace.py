"""Trace an entry kernel: run it on symbols, for one model.

Constants fold, zeros vanish, common terms are shared; what is left is the arithmetic of this model. The result is a
CasADi function (t, q, v, x) -> out, from which come C code, exact derivatives and operation counts.

docs/references.md: [P4], [Andersson et al. 2019], [Griewank, Walther 2008].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from madi.equations import ENTRIES
from madi.joints.ladder import quaternion_at
from madi.signals.outside import Recorder
from madi.spatial.rotation import quaternion_product
from madi.symbolic.ssa import ARITHMETIC, Instruction, instructions
from madi.symbolic.sym import column_of, symbols
from madi.topology.layout import Layout, model_views
from madi.topology.parameters import Parameters


@dataclass
class Seen:
    """Of functions that stay in Python: their values as inputs u of a trace, and what they get, as expressions."""

    u: ca.SX
    s: ca.SX


def expressions(
    layout: Layout, entry: str, request: Sequence[float] = (), size: int = 0, reals: Any = None,
    outside: list[Seen] | None = None,
) -> tuple[list[ca.SX], ca.SX]:  # fmt: skip
    """The inputs (t, q, v, x) and the output of an entry as expressions, before sharing.

    `outside`: gets a Seen where functions that stay in Python are called; without it they cannot be traced.

    `request`: numbers that follow the symbols in x and are part of the trace (which joints' loads are wanted). `reals`: the
    model's numbers, some of them symbols.
    """
    nq, nv = layout.header("nq"), layout.header("nv")
    size, given = size or ENTRIES[entry].out(layout.sizes), ENTRIES[entry].given(layout.sizes)
    (t, ts), (q, qs), (v, vs), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", nv), symbols("x", given)
    model = model_views(layout.ints, layout.reals.astype(object) if reals is None else reals, layout.curve)
    work = layout.scratch(dtype=object)
    out = np.zeros(size, dtype=object)
    arguments = (model, work, ts[0], qs, vs, np.concatenate([xs, np.array(request, dtype=object)]), out)
    if outside is None or layout.header("nc") == 0:
        ENTRIES[entry].function(*arguments)
    else:
        with Recorder(layout.arrays.callback) as recorder:
            ENTRIES[entry].function(*arguments)
        if recorder.seen is not None:
            outside.append(Seen(recorder.u, column_of(recorder.seen)))
    return [t, q, v, x], column_of(out)


def trace(
    layout: Layout, entry: str, share: bool = True, request: Sequence[float] = (), size: int = 0,
    parameters: Parameters | None = None,
) -> ca.Function:  # fmt: skip
    """The entry as a function of (t, q, v, x), with `parameters` of (t, q, v, x, p); common terms shared."""
    return traced_with_outside(layout, entry, share, request, size, parameters)[0]


def traced_with_outside(
    layout: Layout, entry: str, share: bool = True, request: Sequence[float] = (), size: int = 0,
    parameters: Parameters | None = None,
) -> tuple[ca.Function, ca.Function | None]:  # fmt: skip
    """The same, of (t, q, v, x, p, u) where functions stay in Python; then also s, what they get, of (t, q, v, x, p)."""
    p, reals = adjusted(layout, parameters)
    outside: list[Seen] = []
    inputs, out = expressions(layout, entry, request, size, reals, outside)
    out = ca.cse(out) if share else out
    if not outside:
        return ca.Function("entry", [*inputs, *p], [out]), None
    p = p or [ca.SX(0, 1)]
    return ca.Function("entry", [*inputs, *p, outside[0].u], [out]), ca.Function("seen", [*inputs, *p], [outside[0].s])


def adjusted(layout: Layout, parameters: Parameters | None) -> tuple[list[ca.SX], Any]:
    """The input p, if there are parameters, and the model's numbers with symbols for them."""
    if parameters is None:
        return [], layout.reals.astype(object)
    p, values = symbols("p", len(parameters.names))
    return [p], parameters.reals(layout.reals, values)


def tangent(layout: Layout, q: ca.SX) -> ca.SX:
    """dq / d(theta), theta the coordinates of the chart at q: how the coordinates move with the speeds."""
    model = layout.arrays
    rows = ca.SX(layout.header("nq"), layout.header("nv"))
    for i in range(1, int(model.n)):
        k, l, at = int(model.q_at[i]), int(model.v_at[i]), quaternion_at(int(model.code[i]))
        if at < 0:
            for j in range(int(model.v_end[i]) - l):
                rows[k + j, l + j] = 1
            continue
        a, m = k + at, l + at
        old = tuple(q[a + j] for j in range(4))
        for c in range(3):
            unit = [0.0, 0.0, 0.0]
            unit[c] = 0.5
            for j, value in enumerate(quaternion_product(old, (0.0, *unit))):
                rows[a + j, m + c] = value
            if at == 3:
                turned = quaternion_product(quaternion_product(old, (0.0, *[2.0 * u for u in unit])), _conjugate(old))
                for j in range(3):
                    rows[k + j, l + c] = turned[1 + j]
    return rows


def _conjugate(q: tuple[ca.SX, ...]) -> tuple[ca.SX, ...]:
    return (q[0], -q[1], -q[2], -q[3])


def count_operations(function: ca.Function | list[Instruction]) -> dict[str, int]:
    """How many of each arithmetic operation one evaluation takes."""
    listed = instructions(function) if isinstance(function, ca.Function) else function
    return dict(Counter(i.op for i in listed if i.op in ARITHMETIC))
