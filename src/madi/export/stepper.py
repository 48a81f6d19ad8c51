"""A whole step of an integrator as C: dynamics, Jacobian, factorisation and Newton in one compiled function.

What is mechanics comes from traces of the same kernels (residual, matrix, solution, motion on the manifold), straight-line
code made for this model; what is left of the method is a few loops over vectors, written here, beside their Python
(integrate/structural.py). The functions work on the same arrays, so a run may take either.

    int32_t step(double t, double *carry, double *factor, const double *option, double *last, const int64_t *context)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from madi.integrate.contract import BEYOND, DONE, NEWTON_FAILED, NOT_FINITE
from madi.integrate.newton import NU, UNKNOWN, assemble, factor_length, factorise, make_plan, solve
from madi.integrate.structural import (
    ALPHA_F,
    ALPHA_M,
    BETA,
    EVERY_ITERATION,
    EVERY_STEP,
    FEW,
    GAMMA,
    ITERATIONS,
    LEAST,
    LENGTH,
    MOST,
    NOISE,
    PATIENCE,
    POLICY,
    ROUNDING,
    SHARE,
    SHUT,
    SLOW,
    STILL,
    TOLERANCE,
    WHEN_SLOW,
)
from madi.joints.chart import exponential
from madi.symbolic.codegen import HEAD, OUTSIDE, c_piece, literal
from madi.symbolic.jacobian import block_expressions, slopes
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
        self.model = model_views(layout.ints, self.reals)

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

    def matrix(self) -> tuple[ca.Function, np.ndarray]:
        """The factored matrix of an implicit step, and its plan; x = (theta, qdd, lam, c_a, c_v, c_q)."""
        found: list[Seen] = []
        inputs, out = expressions(self.layout, "residual", reals=self.reals, outside=found)
        more: list[ca.SX] = []
        if found:
            d, by_s = slopes(self.outside, found[0])
            blocks, values = block_expressions(self.layout, inputs, out, found[0], by_s)
            more = [ca.vertcat(found[0].u, d)]
        else:
            blocks, values = block_expressions(self.layout, inputs, out)
        plan = make_plan(blocks, self.layout.arrays)
        c, cs = symbols("c", 3)
        F = np.zeros(factor_length(plan), dtype=object)
        assemble(self.model, plan, [Sym(values[k]) for k in range(values.numel())], cs[0], cs[1], cs[2], F, 1)
        factorise(plan, F)
        t, q, v, x = inputs
        return self.function("matrix", [t, q, v, ca.vertcat(x, c)], column_of(F), more), plan

    def solution(self, plan: np.ndarray) -> ca.Function:
        """The solution of the factored equations; x = (factor, right-hand side)."""
        n, m = int(plan[NU]), factor_length(plan)
        (t, _), (q, _), (v, _), (x, xs) = symbols("t", 1), symbols("q", 1), symbols("v", 1), symbols("x", m + n)
        y = xs[m:].copy()
        solve(plan, xs[:m], y)
        return self.function("solution", [t, q, v, x], column_of(y))

    def move(self, way: Any = exponential) -> ca.Function:
        """q moved by x = theta, `way` exponential or retract."""
        nq, nv = self.layout.header("nq"), self.layout.header("nv")
        (t, _), (q, qs), (v, _), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", 1), symbols("x", nv)
        out = np.zeros(nq, dtype=object)
        way(self.model, qs, xs, out)
        return self.function("move", [t, q, v, x], column_of(out))


STRUCTURAL = """
/* One step of Newmark's or the generalized-alpha method, of length option[{LENGTH}], from time t.
   carry: q, v, a, A (the method's own acceleration), lam; factor: the step length it is for (0: none), then the factor. */
static int32_t advance(double t, double *carry, double *factor, const double *option, const double *p, double *last)
{{
  const double h = option[{LENGTH}], alpha_m = option[{ALPHA_M}], alpha_f = option[{ALPHA_F}];
  const double c_a = (1.0 - alpha_m) / (1.0 - alpha_f), c_v = option[{GAMMA}] * h, c_q = option[{BETA}] * h * h;
  const int fixed = (int)option[{ITERATIONS}], policy = (int)option[{POLICY}];
  static const int unknown[NV + NR] = {{{unknown}}};  /* place of each column and row among the unknowns, -1: none */
  static const double softness[NR + 1] = {{{softness}}};  /* of the constraint rows, and a zero */
  const double *q = carry, *v = carry + NQ, *a = carry + NQ + NV, *A = carry + NQ + 2 * NV;
  double x[2 * NV + NR + 3], v1[NV], A1[NV], out[NV + 2 * NR], work[NF + NU], y[NU], q1[NQ];
  double before = 0.0, sum = 0.0;
  int fresh = 0, converged = fixed > 0;
  int i, k;

  for (i = 0; i < NV; i++) {{
    A1[i] = A[i];
    x[i] = h * v[i] + 0.5 * h * h * A[i];
    v1[i] = v[i] + h * A[i];
    x[NV + i] = (A[i] - alpha_f * a[i]) / (1.0 - alpha_f);
  }}
  for (i = 0; i < NR; i++) x[2 * NV + i] = carry[NQ + 3 * NV + i];
  x[2 * NV + NR] = c_a; x[2 * NV + NR + 1] = c_v; x[2 * NV + NR + 2] = c_q;
  for (i = 0; i < 6; i++) last[i] = 0.0;
  if (policy <= {EVERY_STEP} || factor[0] != h) {{
    matrix(t + h, q, v1, x, p, factor + 1);
    factor[0] = h;
    fresh = 1;
    last[3] += 1.0;
  }}
  for (k = 0; k < (fixed > 0 ? fixed : {MOST}); k++) {{
    double change = 0.0, size = 0.0, jump = 0.0, most = 0.0, rate, stop;
    if (policy == {EVERY_ITERATION} && k > 0) {{ matrix(t + h, q, v1, x, p, factor + 1); last[3] += 1.0; }}
    residual(t + h, q, v1, x, p, out);
    for (i = 0; i < NF; i++) work[i] = factor[1 + i];
    for (i = 0; i < NV; i++) work[NF + unknown[i]] = -out[i];
    for (i = 0; i < NR; i++) if (unknown[NV + i] >= 0) {{
      work[NF + unknown[NV + i]] = -out[NV + NR + i] / c_v + softness[i] * x[2 * NV + i];
    }}
    solution(t, q, v, work, p, y);
    for (i = 0; i < NV; i++) {{
      const double d = y[unknown[i]];
      A1[i] += d;
      x[i] += c_q * d;
      v1[i] += c_v * d;
      x[NV + i] += c_a * d;
      size = fmax(size, fmax(fabs(v1[i]), h * fabs(A1[i])));
      jump = fmax(jump, fabs(A1[i] - A[i]));
      most = fmax(most, fmax(fabs(A1[i]), fabs(A[i])));
      if (change == change && !(fabs(d) <= change)) change = fabs(d);
    }}
    for (i = 0; i < NR; i++) if (unknown[NV + i] >= 0) x[2 * NV + i] += y[unknown[NV + i]];
    change = c_v * change / (size + {STILL});
    /* a part of the step's own error */
    stop = most > 0.0 ? {SHARE} * (h * jump * jump / (12.0 * most)) / (size + {STILL}) : 0.0;
    stop = fmax({LEAST}, fmin(option[{TOLERANCE}], stop));
    last[0] = k + 1.0; last[1] = change; last[2] += 1.0;
    if (fixed > 0) continue;
    rate = before > 0.0 ? change / before : 1.0;
    if (change <= stop || (rate < 0.9 && change * rate <= stop * (1.0 - rate))) {{ converged = 1; break; }}
    if (k > 0 && rate > 0.3 && change <= (fresh ? {ROUNDING} : {NOISE})) {{ converged = 1; break; }}
    if (change != change || (k > 2 && rate > 2.0)) break;
    before = change;
    if (!fresh && ((rate > {SLOW} && k > 0 && policy == {WHEN_SLOW}) || k == {PATIENCE})) {{
      matrix(t + h, q, v1, x, p, factor + 1);
      last[3] += 1.0;
      fresh = 1;
      before = 0.0;
    }}
  }}
  if (!converged && !(last[1] <= option[{TOLERANCE}])) {{
    last[5] = -1.0;
    for (i = 0; i < NV + NR; i++) {{
      if (last[5] == last[5] && !(fabs(out[i]) <= last[5])) {{ last[4] = i; last[5] = fabs(out[i]); }}
    }}
    factor[0] = 0.0;
    return {NEWTON_FAILED};
  }}
  for (i = 0; i < NV; i++) sum += fabs(v1[i]);
  for (i = 0; i < 2 * NV; i++) sum += fabs(x[i]);
  if (!(sum < {BEYOND})) {{ factor[0] = 0.0; return {NOT_FINITE}; }}
  for (k = 0; NR > 0 && k < (fixed > 0 ? {FEW} : {MOST}); k++) {{  /* Phi = 0 and Phi' = 0 */
    double gap = 0.0, rate = 0.0, fast = 0.0;
    residual(t + h, q, v1, x, p, out);
    last[2] += 1.0;
    for (i = 0; i < NR; i++) {{ gap = fmax(gap, fabs(out[NV + i])); rate = fmax(rate, fabs(out[NV + NR + i])); }}
    for (i = 0; i < NV; i++) fast = fmax(fast, fabs(v1[i]));
    if (fixed == 0 && gap <= {SHUT} && rate <= {SHUT} * (10.0 + fast)) break;
    for (i = 0; i < NF; i++) work[i] = factor[1 + i];
    for (i = 0; i < NV; i++) work[NF + unknown[i]] = 0.0;
    for (i = 0; i < NR; i++) if (unknown[NV + i] >= 0) work[NF + unknown[NV + i]] = -out[NV + i];
    solution(t, q, v, work, p, y);
    for (i = 0; i < NV; i++) x[i] += y[unknown[i]];
    for (i = 0; i < NV; i++) work[NF + unknown[i]] = 0.0;
    for (i = 0; i < NR; i++) if (unknown[NV + i] >= 0) work[NF + unknown[NV + i]] = -out[NV + NR + i];
    solution(t, q, v, work, p, y);
    for (i = 0; i < NV; i++) v1[i] += y[unknown[i]];
  }}
  move(t, q, v, x, p, q1);
  for (i = 0; i < NQ; i++) carry[i] = q1[i];
  for (i = 0; i < NV; i++) {{
    carry[NQ + i] = v1[i];
    carry[NQ + NV + i] = x[NV + i];
    carry[NQ + 2 * NV + i] = A1[i];
  }}
  for (i = 0; i < NR; i++) carry[NQ + 3 * NV + i] = x[2 * NV + i];
  return {DONE};
}}
"""
ENTRY = """
int32_t entry(double t, double *carry, double *factor, double *option, double *last, const int64_t *context)
{
  return advance(t, carry, factor, option, (const double *)(intptr_t)context[0], last);
}
"""


def structural_pieces(traced: Traced) -> tuple[str, dict[str, int]]:
    """The C of `advance` and what it calls, and the sizes it is for."""
    matrix, plan = traced.matrix()
    sizes = {name.upper(): traced.layout.header(name) for name in ("nq", "nv", "nr")}
    sizes |= {"NU": int(plan[NU]), "NF": factor_length(plan)}
    unknown = plan[plan[UNKNOWN] : plan[UNKNOWN] + sizes["NV"] + sizes["NR"]]
    names = {
        "LENGTH": LENGTH, "ALPHA_M": ALPHA_M, "ALPHA_F": ALPHA_F, "GAMMA": GAMMA, "BETA": BETA, "ITERATIONS": ITERATIONS,
        "POLICY": POLICY, "TOLERANCE": TOLERANCE, "EVERY_STEP": EVERY_STEP, "EVERY_ITERATION": EVERY_ITERATION,
        "WHEN_SLOW": WHEN_SLOW, "MOST": MOST, "FEW": FEW, "SHUT": SHUT, "SLOW": SLOW, "NEWTON_FAILED": NEWTON_FAILED,
        "NOT_FINITE": NOT_FINITE,
        "DONE": DONE, "BEYOND": BEYOND, "STILL": STILL, "ROUNDING": ROUNDING, "NOISE": NOISE, "SHARE": SHARE,
        "LEAST": LEAST, "PATIENCE": PATIENCE, "unknown": ", ".join(map(str, unknown)),
        "softness": ", ".join(map(literal, [*traced.layout.arrays.row_value[:, 2], 0.0])),
    }  # fmt: skip
    pieces: dict[str, Any] = {
        "residual": traced.entry("residual"), "matrix": matrix, "solution": traced.solution(plan), "move": traced.move(),
    }  # fmt: skip
    calling = ("residual", "matrix")  # what functions that stay in Python have a part in
    text = [
        c_piece(function, name, seen=traced.seen, outside=traced.outside)
        if traced.seen is not None and name in calling else c_piece(function, name)
        for name, function in pieces.items()
    ]  # fmt: skip
    return "\n".join([*text, STRUCTURAL.format(**names)]), sizes


def define(sizes: dict[str, Any]) -> str:
    """Sizes as macros."""
    return "".join(f"#define {name} {value}\n" for name, value in sizes.items())


def structural_source(layout: Layout, parameters: Parameters | None = None, outside: Any = None) -> str:
    """The C file of a step for the compiled engine."""
    text, sizes = structural_pieces(Traced(layout, parameters, outside))
    if outside is None:
        return f"{HEAD}{define(sizes)}\n{text}\n{ENTRY}"
    entry = ENTRY.replace("{\n", "{\n  functions = (const int64_t *)(intptr_t)context[1];\n", 1)
    return f"{HEAD}{OUTSIDE}{define(sizes)}\n{text}\n{entry}"
