"""Generated C for many states: the same instructions on vectors, a state in each lane.

Sines and the like come from the vector library of glibc where there is one (to 4 units in the last place), else lane by
lane. States are gathered from rows into vectors, answers scattered.
"""

from __future__ import annotations

import casadi as ca

from madi.symbolic.codegen import C_FORM, INPUTS, Writer, head, literal, reach
from madi.symbolic.ssa import instructions

LANE_FORM = C_FORM | {
    "lt": "truth((M)({0} < {1}))", "le": "truth((M)({0} <= {1}))",
    "eq": "truth((M)({0} == {1}))", "ne": "truth((M)({0} != {1}))", "not": "truth((M)({0} == 0.0))",
    "and": "truth((M)({0} != 0.0) & (M)({1} != 0.0))", "or": "truth((M)({0} != 0.0) | (M)({1} != 0.0))",
    "if_else_zero": "where((M)({0} != 0.0), {1})", "sign": "truth((M)({0} > 0.0)) - truth((M)({0} < 0.0))",
}  # fmt: skip
ONE = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "fabs", "floor", "ceil",
       "log1p", "expm1", "asinh", "acosh", "atanh")  # fmt: skip
TWO = ("pow", "atan2", "fmin", "fmax", "copysign", "fmod")
VECTOR = ("sin", "cos", "exp", "log")  # that glibc has for vectors
ARGUMENTS = "V t, const V *q, const V *v, const V *x, const double *p, V *out"

VECTORS = """
#if defined(__AVX512F__)
#define LANES 8
#define VECTOR_OF(f) _ZGVeN8v_##f
#elif defined(__AVX2__)
#define LANES 4
#define VECTOR_OF(f) _ZGVdN4v_##f
#else
#define LANES 2
#define VECTOR_OF(f) _ZGVbN2v_##f
#endif
typedef double V __attribute__((vector_size(8 * LANES)));
typedef int64_t M __attribute__((vector_size(8 * LANES)));
static inline V all(double x) { return x - (V){0.0}; }
static inline V truth(M m) { return (V)(m & (M)all(1.0)); }
static inline V where(M m, V x) { return (V)(m & (M)x); }
#define ONE(f) static inline V f##_v(V a) { V r; for (int k = 0; k < LANES; k++) r[k] = f(a[k]); return r; }
#define TWO(f) static inline V f##_v(V a, V b) { V r; for (int k = 0; k < LANES; k++) r[k] = f(a[k], b[k]); return r; }
static inline V lookup_v(const double *block, V a, int order)
{
  V r;
  for (int k = 0; k < LANES; k++) r[k] = lookup(block, a[k], order);
  return r;
}
#if defined(__GLIBC__) && defined(__x86_64__)
#define OF_LIBRARY(f) V VECTOR_OF(f)(V); static inline V f##_v(V a) { return VECTOR_OF(f)(a); }
#else
#define OF_LIBRARY(f) ONE(f)
#endif
"""


class LaneWriter(Writer):
    """Writes instructions on vectors."""

    number, forms, arguments, look = "V", LANE_FORM, ARGUMENTS, "lookup_v"

    def operand(self, k: int, part: int) -> str:
        """A register as an operand in a part."""
        made = self.listed[k]
        if made.op == "const":
            return f"all({literal(made.value)})"
        return (
            f"all({INPUTS[4]}[{made.b}])" if made.op == "input" and made.a == INPUTS.index("p") else super().operand(k, part)
        )

    def form(self, k: int) -> str:
        """Functions are those of vectors."""
        op = self.listed[k].op
        return op + ("_v({0}, {1})" if op in TWO else "_v({0})") if op in (*ONE, *TWO) else super().form(k)


def lane_source(function: ca.Function) -> str:
    """A C function `entry` for states first..last-1 of rows of arrays, with the strides of t, q, v, x, out (0: one for
    all) in `strides`."""
    listed = instructions(function)
    used = {made.op for made in listed}
    helpers = [
        f"{'OF_LIBRARY' if op in VECTOR else 'ONE' if op in ONE else 'TWO'}({op})" for op in (*ONE, *TWO) if op in used
    ]
    sizes = [max(function.size1_in(k), 1) for k in (1, 2, 3)]
    return f"""{head(False)}{VECTORS}{chr(10).join(helpers)}
{LaneWriter(listed, "piece").source()}
static void gather(V *to, int64_t n, const double *from, int64_t stride, int64_t first, int64_t last)
{{
  for (int k = 0; k < LANES; k++) {{ /* lanes beyond the last state repeat it */
    const double *row = from + stride * (first + k < last ? first + k : last - 1);
    for (int64_t i = 0; i < n; i++) to[i][k] = row[i];
  }}
}}

int32_t entry(int64_t first, int64_t last, const double *t, const double *q, const double *v, const double *x, double *out,
              const int64_t *strides, const int64_t *context)
{{
  V of_t[1], of_q[{sizes[0]}], of_v[{sizes[1]}], of_x[{sizes[2]}], found[{max(function.size1_out(0), 1)}];
  const double *p = (const double *)(intptr_t)context[0];
  {reach(False)}
  for (int64_t at = first; at < last; at += LANES) {{
    gather(of_t, 1, t, strides[0], at, last);
    gather(of_q, {function.size1_in(1)}, q, strides[1], at, last);
    gather(of_v, {function.size1_in(2)}, v, strides[2], at, last);
    gather(of_x, {function.size1_in(3)}, x, strides[3], at, last);
    for (int i = 0; i < {function.size1_out(0)}; i++) found[i] = all(0.0);
    piece(of_t[0], of_q, of_v, of_x, p, found);
    for (int k = 0; k < LANES && at + k < last; k++)
      for (int64_t i = 0; i < {function.size1_out(0)}; i++) out[(at + k) * strides[4] + i] = found[i][k];
  }}
  return 0;
}}
"""
