"""A step of an integrator as C: dynamics, Jacobian, factorisation and Newton in one compiled function.

What is mechanics comes from traces of the same kernels (residual, matrix, solution, motion on the manifold), straight-line
code made for this model; what is left of the method is translated from its own kernels (translate.py). Both work on the
same named memory, so a run may take either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from madi.export.translate import Text, Translator
from madi.integrate.newton_matrix import assemble, factorise, make_plan, solve
from madi.integrate.structural import factored_blocks, solution, substep
from madi.joints.chart import chart_point, chart_rate, exponential, retract
from madi.kernel.fields import Function
from madi.symbolic.codegen import c_piece, head, reach
from madi.symbolic.jacobian import block_expressions, slopes
from madi.symbolic.lookup import Looked
from madi.symbolic.sym import Sym, column_of, symbols
from madi.symbolic.trace import Seen, adjusted, expressions
from madi.topology.layout import Layout, model_views
from madi.topology.parameters import Parameters


class Traced:
    """The traces of one model that steps are made of; `parameters` stay symbols."""

    def __init__(self, layout: Layout, parameters: Parameters | None = None, outside: Any = None):
        """`outside`: the functions that stay in Python."""
        self.layout, self.outside = layout, outside
        self.seen: ca.Function | None = None  # what they get
        p, self.reals = adjusted(layout, parameters)
        self.p = p[0] if p else ca.SX(0, 1)
        self.model = model_views(layout.ints, self.reals, layout.curve)

    def function(self, name: str, inputs: list[ca.SX], out: ca.SX, more: Sequence[ca.SX] = ()) -> ca.Function:
        """A function of (t, q, v, x, p), and of what functions in Python give, common terms shared."""
        return ca.Function(name, [*inputs, self.p, *more], [ca.cse(out)])

    def entry(self, entry: str) -> ca.Function:
        """An entry kernel."""
        found: list[Seen] = []
        inputs, out = expressions(self.layout, entry, reals=self.reals, outside=None if self.outside is None else found)
        if found:
            self.seen = ca.Function("seen", [*inputs, self.p], [found[0].s])
        return self.function("entry", inputs, out, [seen.u for seen in found])

    def matrix(self) -> tuple[ca.Function, Any]:
        """The factored matrix of an implicit step, and its plan; x = (theta, qdd, lam, c_a, c_v, c_q)."""
        found: list[Seen] = []
        more: list[ca.SX] = []
        with Looked() as looked:
            inputs, out = expressions(self.layout, "residual", reals=self.reals, outside=found)
            if found:
                d, by_s = slopes(self.outside, found[0])
                blocks, values = block_expressions(self.layout, inputs, out, found[0], by_s)
                more = [ca.vertcat(found[0].u, d)]
            else:
                blocks, values = block_expressions(self.layout, inputs, out)
            values = looked.closed(values)
        plan = make_plan(blocks, self.layout.arrays)
        c, cs = symbols("c", 3)
        F = np.zeros(plan.n_factor, dtype=object)
        assemble(self.model, plan, [Sym(values[k]) for k in range(values.numel())], cs[0], cs[1], cs[2], F, 1)
        factorise(self.model, plan, F)
        t, q, v, x = inputs
        return self.function("matrix", [t, q, v, ca.vertcat(x, c)], column_of(F), more), plan

    def solution(self, plan: Any) -> ca.Function:
        """The solution of the factored equations; x = (factor, right-hand side)."""
        n, m = plan.nu, plan.n_factor
        (t, _), (q, _), (v, _), (x, xs) = symbols("t", 1), symbols("q", 1), symbols("v", 1), symbols("x", m + n)
        y = xs[m:].copy()
        solve(self.model, plan, xs[:m], y)
        return self.function("solution", [t, q, v, x], column_of(y))

    def move(self, way: Any) -> ca.Function:
        """q moved by x = theta, `way` exponential or retract."""
        nq, nv = self.layout.header("nq"), self.layout.header("nv")
        (t, _), (q, qs), (v, _), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", 1), symbols("x", nv)
        out = np.zeros(nq, dtype=object)
        way(self.model, qs, xs, out)
        return self.function("move", [t, q, v, x], column_of(out))

    def rate(self) -> ca.Function:
        """theta' at x = theta for the speeds v."""
        nv = self.layout.header("nv")
        (t, _), (q, _), (v, vs), (x, xs) = symbols("t", 1), symbols("q", 1), symbols("v", nv), symbols("x", nv)
        out = np.zeros(nv, dtype=object)
        chart_rate(self.model, xs, vs, out)
        return self.function("rate", [t, q, v, x], column_of(out))

    def between(self) -> ca.Function:
        """The theta that leads from q to x."""
        nq, nv = self.layout.header("nq"), self.layout.header("nv")
        (t, _), (q, qs), (v, _), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", 1), symbols("x", nq)
        out = np.zeros(nv, dtype=object)
        chart_point(self.model, qs, xs, out)
        return self.function("between", [t, q, v, x], column_of(out))


class Stepper:
    """Translates a method's kernels, with what is mechanics as traces; `forward`: the entry of the accelerations."""

    def __init__(self, traced: Traced, memory: Any, forward: str):
        self.traced, self.memory = traced, memory
        self.needed: dict[str, ca.Function] = {}  # traces that the method turned out to call
        made: tuple[Any, Any] = traced.matrix() if "plan" in memory.fields else (None, None)
        self.matrix, self.plan = made
        self.made = {
            "forward": lambda: traced.entry(forward), "residual": lambda: traced.entry("residual"),
            "matrix": lambda: self.matrix, "solution": lambda: traced.solution(self.plan),
            "retract": lambda: traced.move(retract), "exponential": lambda: traced.move(exponential),
            "chart_rate": traced.rate, "chart_point": traced.between,
        }  # fmt: skip
        self.translator = Translator(memory, {
            factored_blocks: lambda to, x: self.piece(
                "matrix", x[1].code, "M_q_substep", "M_v_trial", "M_trial", "M_factor"
            ),
            solution: lambda to, x: self.piece("solution", "0.0", "M_q", "M_v", "M_factor", "M_solved"),
            exponential: lambda to, x: self.piece("exponential", "0.0", x[1].code, "M_v", x[2].code, x[3].code),
            retract: lambda to, x: self.piece("retract", "0.0", x[1].code, "M_v", x[2].code, x[3].code),
            chart_point: lambda to, x: self.piece("chart_point", "0.0", x[1].code, "M_v", x[2].code, x[3].code),
            chart_rate: lambda to, x: self.piece("chart_rate", "0.0", "M_q", x[2].code, x[1].code, x[3].code),
        }, self.need)  # fmt: skip

    def need(self, name: str) -> None:
        """A trace that is called."""
        if name not in self.needed:
            self.needed[name] = self.made[name]()

    def piece(self, name: str, t: str, q: str, v: str, x: str, out: str) -> Text:
        """The call of a trace."""
        self.need(name)
        return Text(f"{name}({t}, {q}, {v}, {x}, M_p, (double *){out})", "void")

    def source(self, apart: bool = False) -> str:
        """Traces, then what was translated. `apart`: see `c_piece`."""
        traced, calling = self.traced, ("forward", "residual", "matrix")  # what functions in Python have a part in
        pieces = [
            c_piece(function, name, seen=traced.seen, outside=traced.outside, apart=apart)
            if traced.seen is not None and name in calling else c_piece(function, name, apart=apart)
            for name, function in self.needed.items()
        ]  # fmt: skip
        return "\n".join([*pieces, self.translator.source()])


ENTRY = """
int32_t entry(double t, const double *q, const double *v, const double *x, double *out, const int64_t *context)
{{
  (void)q; (void)v; (void)x; (void)out;
  {reach}return substep((double *)(intptr_t)context[3], (int64_t *)(intptr_t)context[4],
                      (const double *)(intptr_t)context[0], t);
}}
"""


def generated_substep(engine: Any, memory: Any, system: Any) -> Function:
    """A part of a step of an implicit method as generated C that works on this memory."""

    def source() -> str:
        stepper = Stepper(Traced(system.drawn, system.parameters, system.outside), memory, system.entry())
        stepper.translator.translate(substep, "substep")
        outside = system.outside is not None
        return f"{head(outside)}\n{stepper.source(apart=True)}\n{ENTRY.format(reach=reach(outside))}"

    made = engine.source("step", source)
    addresses = [memory.real_memory.ctypes.data, memory.int_memory.ctypes.data]
    return Function(address=made.address, context=np.array([*engine.context, *addresses], dtype=np.int64))
