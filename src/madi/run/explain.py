"""Why a run stopped: time, element, quantity, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madi.assembly.assemble import by_element
from madi.integrate.memory import NEWTON_FAILED, NOT_FINITE, STEP_TOO_SMALL
from madi.integrate.structural import ONCE
from madi.integrate.time_stepping import TOO_MANY
from madi.loops.kkt import NEARLY_SINGULAR
from madi.loops.memory import AT_POSITIONS, NOT
from madi.results.diagnose import cause, runaway

if TYPE_CHECKING:
    from madi.run.solver import Solver


def explain(run: Solver, status: int) -> str:
    """Why the run stopped: time, element, quantity, and what to do."""
    m = run.memory
    q, v, t = m.q.copy(), m.v.copy(), float(m.t)
    where = f"model {run.system.name!r} stopped at t = {t:.6g} s after {int(m.accepted)} steps: "
    kept = f" Outputs before it ({int(m.next)}) are in error.run."
    machine = run.system.general(run.engine.name)
    found = cause(run.system, t, float(m.h), q, v, machine)
    if found is not None:
        return where + found + kept
    if run.loops and run.tally.failed != NOT:
        return where + _open_loops(run) + kept
    if run.loops and run.loops.close and run.tally.lowest < NEARLY_SINGULAR:
        return (
            f"{where}the loops are in a singular position there, where rounding outgrows the tolerance. Loosen rtol "
            f"(1e-9 passes what can be passed), or use a fixed step.{kept}"
        )
    if status == STEP_TOO_SMALL:
        return (
            f"{where}the step fell below what numbers can resolve ({m.h:.2g} s). Something is very stiff "
            f"or jumps there: look at forces and springs that act at this time, or loosen rtol and atol.{kept}"
        )
    if status == NEWTON_FAILED:
        return where + _not_converged(run) + kept
    if status == TOO_MANY:
        room = run.system.layout.header("n_hard")
        return (
            f"{where}more points touch than there is room for ({room}). Let fewer shapes touch, or take coarser ones (fewer "
            f"corners).{kept}"
        )
    assert status == NOT_FINITE
    if getattr(m, "policy", None) == ONCE:
        return f"{where}the state grew beyond all bounds. The matrix is that of the start: use jacobian='step'.{kept}"
    return where + runaway(run.system, q, v, not run.adaptive, machine) + kept


def _not_converged(run: Solver) -> str:
    """The last steps, and which equation is farthest from zero."""
    m = run.memory
    if run.loop is run.method.fixed and run.method.adaptive:
        return "Newton's iterations do not converge at this step. Use a smaller one, or none: rtol and atol choose then."
    if run.adaptive:
        return "Newton's iterations do not converge, however short the step: look at what jumps there."
    worst = f"the equation of {run.system.speeds[max(int(m.worst_equation), 0)]!r} ({m.worst_residual:.3g} N or N m)"
    if run.system.n_constraints:
        row = run.system.constraint_names[max(int(m.worst_row), 0)]
        worst += f", the constraint {row!r} ({m.worst_rate:.3g} m/s or rad/s)"
    told = "; ".join(f"t = {t:.6g}, step {h:.3g}: {int(k)} iterations, correction {c:.1e}" for t, h, k, c in m.history if k)
    return (
        f"Newton's iterations do not converge, the step halved {int(m.halvings)} times. Farthest from zero: "
        f"{worst}. Last steps: {told}. Use a smaller step, or look at what "
        "jumps there: stops, contacts, friction."
    )


def _open_loops(run: Solver) -> str:
    """Which loops could not be closed, by name."""
    positions = run.tally.failed == AT_POSITIONS
    what, values, unit = ("position", run.open[0], "m or rad") if positions else ("velocity", run.open[1], "per s")
    parts = sorted(by_element(run.system, values).items(), key=lambda item: -item[1])
    listed = ", ".join(f"{name} {size:.3g}" for name, size in parts[:6])
    rows = [row.driven for row in run.system.frozen.rows if row.driven]
    drives = ", ".join(map(repr, [*(run.system.speeds[c] for c in run.driven), *rows]))
    cure = (
        f"The drives ({drives}) ask for a position the loops do not allow: change them, or the lengths."
        if drives
        else "The mechanism is at the end of its reach or in a singular position: use smaller steps, or rtol."
    )
    return f"the loops cannot be closed ({what}, {unit}, by joint or constraint: {listed}). {cure}"


def explain_spoiled(run: Solver) -> str:
    """Which drive is not finite, and from when on."""
    t = run.spoiled or 0.0
    seen = run.system.observe(run.system.q0, run.system.v0, t, engine=run.system.general(run.engine.name))
    for c in run.driven:
        place = int(run.system.layout.arrays.column_q[c])
        if not np.isfinite([seen.q[0, place], seen.v[0, c], seen.a[0, c]]).all():
            name = run.system.speeds[c]
            return (
                f"model {run.system.name!r}: the drive of {name!r} is not finite at t = {t:.6g} s; check its function "
                "there. Outputs before it are in error.run."
            )
    return f"model {run.system.name!r}: the state is not finite at t = {t:.6g} s. Outputs before it are in error.run."
