"""A model and its integrator as self-contained C99: no allocation, nothing but libm; for targets and other programs.

Three files: `NAME.h` says what every number is, `NAME.c` is the step (stepper.py), `main.c` repeats a run and prints
it. Parameters named on export stay adjustable: they are an argument of the step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from madi.engines.entries import ENTRIES, take_motion
from madi.errors import InputError, TraceError
from madi.export.stepper import Traced, define, structural_pieces
from madi.integrate.contract import BEYOND, DONE, NEWTON_FAILED, NOT_FINITE, Method
from madi.integrate.structural import HALVINGS, LENGTH
from madi.joints.chart import chart_rate, exponential, retract
from madi.joints.columns import FREE_COLUMN
from madi.symbolic.codegen import c_piece, literal
from madi.symbolic.sym import column_of, symbols
from madi.symbolic.trace import expressions
from madi.topology.layout import work_views
from madi.topology.parameters import Parameters, parameters

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System

EXPLICIT = ("rk4", "newmark-explicit", "newmark-explicit-full")
METHODS = ("newmark", "generalized-alpha", *EXPLICIT)


class ExplicitTraced(Traced):
    """What explicit methods need: the derivative in a chart, and motion on the manifold."""

    def derivative(self, entry: str) -> ca.Function:
        """(theta', v') at q moved by x = theta."""
        layout = self.layout
        nq, nv = layout.header("nq"), layout.header("nv")
        (t, ts), (q, qs), (v, vs), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", nv), symbols("x", nv)
        work = work_views(layout.ints, np.zeros(layout.work_size(), dtype=object))
        out, moved = np.zeros(2 * nv, dtype=object), np.zeros(nq, dtype=object)
        retract(self.model, qs, xs, moved)
        ENTRIES[entry].function(self.model, work, ts[0], moved, vs, np.zeros(nv, dtype=object), out[nv:])
        chart_rate(self.model, xs, vs, out)
        return self.function("derivative", [t, q, v, x], column_of(out))


RK4 = """
/* One step of the classical Runge-Kutta method, in the chart at q. carry: q, v, a. */
static int32_t advance(double t, double *carry, double *factor, const double *option, const double *p, double *last)
{
  static const double stage[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  const double h = option[0];
  double x[NV], v[NV], sum[2 * NV], k[2 * NV], q1[NQ], total = 0.0;
  int i, s;

  (void)factor;
  for (i = 0; i < 2 * NV; i++) sum[i] = k[i] = 0.0;
  for (s = 0; s < 4; s++) {
    for (i = 0; i < NV; i++) { x[i] = stage[s] * h * k[i]; v[i] = carry[NQ + i] + stage[s] * h * k[NV + i]; }
    derivative(t + stage[s] * h, carry, v, x, p, k);
    for (i = 0; i < 2 * NV; i++) sum[i] += h * weight[s] * k[i];
  }
  for (i = 0; i < 2 * NV; i++) total += fabs(sum[i]);
  last[0] = 0.0; last[1] = 0.0;
  if (!(total < BEYOND)) return NOT_FINITE;
  move(t, carry, v, sum, p, q1);
  for (i = 0; i < NQ; i++) carry[i] = q1[i];
  for (i = 0; i < NV; i++) { carry[NQ + i] += sum[NV + i]; x[i] = 0.0; }
  derivative(t + h, carry, carry + NQ, x, p, k);
  for (i = 0; i < NV; i++) carry[NQ + NV + i] = k[NV + i];
  return 0;
}
"""
NEWMARK_EXPLICIT = """
/* One step of explicit Newmark (beta = 0, gamma = 1/2). carry: q, v, a. */
static int32_t advance(double t, double *carry, double *factor, const double *option, const double *p, double *last)
{
  const double h = option[0];
  double x[NV], v[NV], zero[NV], k[2 * NV], q1[NQ], total = 0.0;
  int i;

  (void)factor;
  for (i = 0; i < NV; i++) {
    const double a = carry[NQ + NV + i];
    x[i] = h * carry[NQ + i] + 0.5 * h * h * a;
    v[i] = carry[NQ + i] + PREDICTOR * h * a;
    zero[i] = 0.0;
  }
  move(t, carry, v, x, p, q1);
  derivative(t + h, q1, v, zero, p, k);
  for (i = 0; i < NV; i++) total += fabs(k[NV + i]) + fabs(x[i]);
  last[0] = 0.0; last[1] = 0.0;
  if (!(total < BEYOND)) return NOT_FINITE;
  for (i = 0; i < NQ; i++) carry[i] = q1[i];
  for (i = 0; i < NV; i++) {
    carry[NQ + i] += 0.5 * h * (carry[NQ + NV + i] + k[NV + i]);
    carry[NQ + NV + i] = k[NV + i];
  }
  return 0;
}
"""

ONE_STEP = """  int32_t status;
  s->option[LENGTH] = s->step;
  status = advance(s->t, s->carry, s->factor, s->option, p, s->last);
"""
HALVED_STEP = """  double kept[{size}], done = 0.0, part = s->step;
  int32_t status = 0;
  int i, halved = 0;
  for (i = 0; i < {size}; i++) kept[i] = s->carry[i];
  while (done < s->step * (1.0 - 1e-9)) {{  /* where Newton fails, the step is halved, as often as option[HALVINGS] says */
    s->option[LENGTH] = part;
    status = advance(s->t + done, s->carry, s->factor, s->option, p, s->last);
    if (status == 0) {{ done += part; continue; }}
    if (++halved > s->option[HALVINGS]) break;
    part *= 0.5;
  }}
  if (status != 0) for (i = 0; i < {size}; i++) s->carry[i] = kept[i];
"""

DRIVEN = """
/* What is driven, as prescribed at time t. */
static void follow(double t, double *carry, const double *p)
{
  double out[NQ + 2 * NV];
  int i;
  drive(t, carry, carry + NQ, carry + NQ + NV, p, out);
  for (i = 0; i < NQ + 2 * NV; i++) carry[i] = out[i];
}
"""

HEADER = """/* {title}: equations of motion and a step of the method {method}, generated by madi.

   C99, no allocation, no library but libm. Use:

       {name}_state s;
       double p[{guard}_NP] = {guard}_PARAMETERS;    {note}
       {name}_start(&s, p);
       while (...) {name}_step(&s, p);

   Units: SI, radians. Quaternions are (w, x, y, z); speeds of free and spherical joints are in the child's axes.
*/
#ifndef {guard}_H
#define {guard}_H

#define {guard}_NQ {NQ}  /* coordinates */
#define {guard}_NV {NV}  /* speeds */
#define {guard}_NR {NR}  /* constraints of the loops */
#define {guard}_NP {NP}  /* parameters{np_note} */
#define {guard}_NB {NB}  /* bodies */
#define {guard}_STEP {step}  /* s, the step the defaults are for */
#define {guard}_PARAMETERS {{{defaults}}}

/* Where things are in carry[] */
#define {guard}_Q 0     /* coordinates:
{coordinates} */
#define {guard}_V {NQ}     /* speeds, in this order:
{speeds} */
#define {guard}_A {at_a}     /* accelerations, in the order of the speeds */
{more}
/* p[]:{closed}
{parameters} */

typedef struct {{
  double t;             /* s */
  double step;          /* s; may be changed between steps */
  double carry[{size}];
  double factor[{factor}];    /* the factored Jacobian, kept from step to step */
  double option[16];    /* of the method; see {name}_start */
  double last[6];       /* of the last step: Newton iterations, size of the last correction relative to the speeds, ... */
}} {name}_state;

/* The start of the run that was exported: coordinates, velocities, options; accelerations are computed. */
void {name}_start({name}_state *s, const double *p);

/* From s->t to s->t + s->step. 0: done; {NEWTON_FAILED}: Newton's iterations do not converge, {NOT_FINITE}: not finite (then
   q, v, a are as before the step). */
int {name}_step({name}_state *s, const double *p);

/* Position (3, m) and rotation matrix (9, by rows, body axes to ground) of every body's frame; out[12 {guard}_NB]:
{bodies} */
void {name}_poses(const {name}_state *s, const double *p, double *out);

#endif
"""

SOURCE = """/* {title}: see {name}.h. Generated by madi. */
#include "{name}.h"

#include <math.h>
#include <stdint.h>

{sizes}
{pieces}
void {name}_start({name}_state *s, const double *p)
{{
  static const double q[NQ] = {{{q}}};
  static const double v[NV] = {{{v}}};
  static const double option[16] = {{{option}}};
  double zero[NV] = {{0.0}};
  unsigned i;

  s->t = 0.0;
  s->step = {step};
  for (i = 0; i < sizeof s->carry / sizeof s->carry[0]; i++) s->carry[i] = 0.0;
  for (i = 0; i < sizeof s->factor / sizeof s->factor[0]; i++) s->factor[i] = 0.0;
  for (i = 0; i < NQ; i++) s->carry[i] = q[i];
  for (i = 0; i < NV; i++) s->carry[NQ + i] = v[i];
  for (i = 0; i < 16; i++) s->option[i] = option[i];
  for (i = 0; i < 6; i++) s->last[i] = 0.0;
  forward(s->t, s->carry, s->carry + NQ, zero, p, s->carry + NQ + NV);
{follow_start}{again}}}

int {name}_step({name}_state *s, const double *p)
{{
{advance}  if (status == 0) {{
    s->t += s->step;
{follow_step}  }}
  return (int)status;
}}

void {name}_poses(const {name}_state *s, const double *p, double *out)
{{
  const double none[1] = {{0.0}};
  poses(s->t, s->carry, s->carry + NQ, none, p, out);
}}
"""

MAIN = """/* Repeats a run of {title} and prints t, q, v; times the steps. Generated by madi.
   Build:  cc -std=c99 -O2 main.c {name}.c -lm -o {name} */
#include "{name}.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{{
  static {name}_state s;
  static const double p[{np_or_one}] = {defaults};
  const long steps = argc > 1 ? atol(argv[1]) : {steps};      /* how many; every how many a line is printed (0: none) */
  const long every = argc > 2 ? atol(argv[2]) : 1;
  clock_t began, ticks = 0;
  long k;
  int i;

  {name}_start(&s, p);
  for (k = 0; ; k++) {{
    if (every > 0 && k % every == 0) {{
      printf("%.17g", k * {guard}_STEP);
      for (i = 0; i < {guard}_NQ + {guard}_NV; i++) printf(",%.17g", s.carry[i]);
      printf("\\n");
    }}
    if (k == steps) break;
    s.t = k * {guard}_STEP;
    began = clock();
    if ({name}_step(&s, p) != 0) {{
      fprintf(stderr, "step %ld failed at t = %g s\\n", k, s.t);
      return 1;
    }}
    ticks += clock() - began;
  }}
  fprintf(stderr, "%ld steps of %g s in %g s\\n", steps, {guard}_STEP, (double)ticks / CLOCKS_PER_SEC);
  return 0;
}}
"""


def identifier(name: str) -> str:
    """A model's name as one of C."""
    word = re.sub(r"[^0-9a-zA-Z]+", "_", name).strip("_").lower() or "model"
    return word if word[0].isalpha() and word != "main" else f"model_{word}"


def export_c(
    model: Model, out: Any, *, step: float, method: Method, option: Sequence[float], duration: float = 1.0,
    adjustable: Sequence[str] = (), q0: np.ndarray, v0: np.ndarray, system: System,
) -> list[Path]:  # fmt: skip
    """Write the three files; see `madi.export_c`."""
    if method.name not in METHODS:
        raise InputError(f"method={method.name!r} cannot be exported: choose one of {', '.join(METHODS)}")
    if system.frozen.signals.callbacks:
        names = ", ".join(callback.name for callback, _, _ in system.frozen.signals.callbacks)
        raise TraceError(f"the function of {names} stays in Python and cannot become C; use madi's functions and madi.where")
    if method.name in EXPLICIT and system.frozen.rows:
        raise InputError(
            f"method={method.name!r}: model {system.name!r} has loops; export it with 'newmark' or 'generalized-alpha', "
            "which close them within the step"
        )
    wanted = parameters(model, adjustable, system.frame) if adjustable else None
    name = identifier(system.name)
    pieces, sizes, facts = _pieces(system, method, wanted)
    texts = _texts(system, method, name, sizes, facts, pieces, wanted, step, duration, list(option), q0, v0)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"out={str(out)!r}: it cannot be written ({reason}); give a folder that can be made") from None
    return [folder / file for file in texts]


def _pieces(system: System, method: Method, wanted: Parameters | None) -> tuple[str, dict[str, Any], dict[str, int]]:
    """The C of the step; sizes as macros; lengths of carry and factor and where the step length goes."""
    traced = ExplicitTraced(system.layout, wanted)
    nq, nv, nr = system.nq, system.nv, system.n_constraints
    entry = system.entry()
    if method.name in EXPLICIT:
        explicit = RK4 if method.name == "rk4" else NEWMARK_EXPLICIT.replace("PREDICTOR", literal(method.own[0]))
        parts = {"derivative": traced.derivative(entry),
                 "move": traced.move(retract if method.name == "rk4" else exponential)}  # fmt: skip
        text = "\n".join([*(c_piece(function, key) for key, function in parts.items()), explicit])
        sizes: dict[str, Any] = {"NQ": nq, "NV": nv, "NOT_FINITE": NOT_FINITE, "BEYOND": BEYOND}
        facts = {"carry": nq + 2 * nv, "factor": 1, "length": 0}
    else:
        text, sizes = structural_pieces(traced)
        facts = {"carry": nq + 3 * nv + nr, "factor": 1 + sizes["NF"], "length": LENGTH}
    inputs, out = expressions(system.layout, entry, reals=traced.reals)
    forward = c_piece(traced.function("forward", inputs, out), "forward")
    poses = c_piece(_poses(system, traced, wanted), "poses")
    driven = c_piece(_drive(system, traced), "drive") + DRIVEN if np.any(system.layout.arrays.drive != FREE_COLUMN) else ""
    return "\n".join([text, forward, poses, driven]), sizes, facts


def _drive(system: System, traced: Traced) -> ca.Function:
    """(q, v, x) with what is driven as prescribed at t; x: accelerations."""
    layout = system.layout
    nq, nv = system.nq, system.nv
    (t, ts), (q, qs), (v, vs), (x, xs) = symbols("t", 1), symbols("q", nq), symbols("v", nv), symbols("x", nv)
    work = work_views(layout.ints, np.zeros(layout.work_size(), dtype=object))
    take_motion(traced.model, work, ts[0], qs, vs)
    free = layout.arrays.drive == FREE_COLUMN
    out = [*work.q, *work.v, *np.where(free, xs, work.acceleration)]
    return traced.function("drive", [t, q, v, x], column_of(out))


def _poses(system: System, traced: Traced, wanted: Parameters | None) -> ca.Function:
    """Position and rotation of the bodies' frames as the user drew them."""
    inputs, out = expressions(system.layout, "poses", reals=traced.reals)
    rows = []
    for k in range(len(system.bodies)):
        part = out[18 * k : 18 * k + 12]
        R = ca.reshape(part[:9], 3, 3).T
        lever = ca.SX(system.frozen.body_r[k])
        if wanted is not None:
            for j, slope in enumerate(wanted.body_slopes):
                lever = lever + ca.SX(slope[k]) * (traced.p[j] - wanted.values[j])
        rows += [part[9:12] + R @ lever, ca.reshape((R @ ca.SX(system.frozen.body_R[k])).T, 9, 1)]
    t, q, v, x = inputs
    return traced.function("poses", [t, q, v, x], ca.vertcat(*rows))


def in_comment(name: str) -> str:
    """A user's word, harmless inside a C comment."""
    return (
        re.sub(r"[^ -~]+", " ", str(name)).replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("??", "? ?")
    )


UNITS = {"mass": "kg", "inertia": "kg m2", "com": "m", "at": "m", "position": "m", "radius": "m", "length": "m",
         "free_length": "m", "gravity": "m/s2"}  # fmt: skip


def unit_of(parameter: str) -> str:
    """Unit of a parameter, by its field; of stiffnesses and dampings it depends on what they act on."""
    return next((UNITS[word] for word in parameter.split(".") if word in UNITS), "SI")


def _lines(names: Sequence[str], units: Sequence[str] = ()) -> str:
    told = [
        f"     {k:3d}  {in_comment(name)}" + (f", {units[k]}" if units and units[k] else "") for k, name in enumerate(names)
    ]
    return "\n".join(told) or "     none"


def _texts(system: System, method: Method, name: str, sizes: dict[str, Any], facts: dict[str, int], pieces: str,
           wanted: Parameters | None, step: float, duration: float, option: list[float], q0: np.ndarray,
           v0: np.ndarray) -> dict[str, str]:  # fmt: skip
    """The three files by name."""
    guard, nr = name.upper(), system.n_constraints
    nq, nv = system.nq, system.nv
    names = wanted.names if wanted else []
    count = len(names)
    values = [literal(v) for v in wanted.values] if wanted else ["0.0"]
    more = ""
    if "NF" in sizes:
        more = (
            f"#define {guard}_ALGORITHMIC {nq + 2 * nv}  /* the method's own accelerations */\n"
            f"#define {guard}_LAMBDA {nq + 3 * nv}  /* multipliers (N, N m) of the constraints:\n"
            f"{_lines(system.constraint_names)} */\n"
        )
    common = {"title": in_comment(system.name), "name": name, "guard": guard, "method": method.name, "step": literal(step)}
    full = [0.0] * 6 + option if "NF" in sizes else [0.0] * 16
    header = HEADER.format(
        **common, NQ=nq, NV=nv, NR=nr, NP=max(count, 1), NB=len(system.bodies), defaults=", ".join(values),
        note="(change them at will)" if count else "(none: this model was exported without)",
        np_note="" if count else " (none: a dummy)",
        coordinates=_lines(system.coordinates, system.frozen.units), speeds=_lines(system.speeds, system.frozen.speed_units),
        at_a=nq + nv, more=more,
        closed=" (the start is closed for the values above: with others that move hard points, set q and v yourself)"
        if count and nr else "", parameters=_lines(names, [unit_of(name) for name in names]),
        size=facts["carry"],
        factor=facts["factor"], NEWTON_FAILED=NEWTON_FAILED, NOT_FINITE=NOT_FINITE, bodies=_lines(system.bodies),
    )  # fmt: skip
    advance = ONE_STEP if "NF" not in sizes else HALVED_STEP.format(size=facts["carry"])
    advance = advance.replace("LENGTH", str(facts["length"])).replace("HALVINGS", str(HALVINGS))
    again, driven = "", bool(np.any(system.layout.arrays.drive != FREE_COLUMN))
    if "NF" in sizes:
        again = "  for (i = 0; i < NV; i++) s->carry[NQ + 2 * NV + i] = s->carry[NQ + NV + i];\n"
    source = SOURCE.format(
        **common, sizes=define(sizes), pieces=pieces, q=", ".join(map(literal, q0)), v=", ".join(map(literal, v0)),
        option=", ".join(map(literal, full)), advance=advance, again=again,
        follow_start="  follow(s->t, s->carry, p);\n" if driven else "",
        follow_step="    follow(s->t, s->carry, p);\n" if driven else "",
    )  # fmt: skip
    main = MAIN.format(
        **common, np_or_one=max(count, 1), defaults=f"{guard}_PARAMETERS", steps=max(1, round(duration / step))
    )
    assert DONE == 0
    return {f"{name}.h": header, f"{name}.c": source, "main.c": main}
