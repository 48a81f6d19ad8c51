"""Two joint coordinates move in a fixed ratio (gears, rack and pinion, belts): Phi = q_a - ratio q_b - offset."""

from __future__ import annotations

from madi.constraints.fields import Arrays, Work
from madi.constraints.kind import ConstraintKind, RowKind
from madi.joints.columns import is_driven
from madi.kernel import inline, kernel
from madi.spatial.vector import NO_VECTOR, join, put


@kernel
def row(model: Arrays, work: Work, r):
    """Residual, rate and right-hand side, straight in joint coordinates; driven coordinates bring their acceleration."""
    a, b, ratio = model.row_a[r], model.row_b[r], model.row_value[r, 0]
    work.phi[r] = work.q[model.column_q[a]] - ratio * work.q[model.column_q[b]] - model.row_value[r, 1]
    work.rate[r] = work.v[a] - ratio * work.v[b]
    known = 0.0
    if is_driven(model, a):
        known = known + work.acceleration[a]
    if is_driven(model, b):
        known = known - ratio * work.acceleration[b]
    work.gamma[r] = -known
    work.pace[r] = 0.0
    put(work.psi, r, join(NO_VECTOR, NO_VECTOR))


@inline
def entry(model: Arrays, r, column):
    """Entry of Phi_q in one of the row's two columns."""
    return 1.0 if model.row_a[r] == column else -model.row_value[r, 0]


ROWS = (RowKind("coupler", "ratio", row, number="ratio", on_joints=True),)
CONSTRAINTS = (ConstraintKind("coupler", "coupler", "coupler", lambda points, parameters: float(parameters["ratio"]), True),)
