"""Two joint coordinates move in a fixed ratio (gears, rack and pinion, belts): Phi = q_a - ratio q_b - offset."""

from __future__ import annotations

import numpy as np

from madi.constraints.fields import HELD_AT, PARAMETER, Arrays, Work
from madi.constraints.kind import ConstraintKind, RowKind
from madi.errors import finite_numbers
from madi.joints import KINDS as JOINTS
from madi.joints.columns import is_driven
from madi.kernel import inline, kernel
from madi.spatial.rotation import PARALLEL
from madi.spatial.vector import NO_VECTOR, join, put


@kernel
def row(model: Arrays, work: Work, r):
    """Residual, rate and right-hand side, straight in joint coordinates; driven coordinates bring their acceleration."""
    a, b, ratio = model.row_a[r], model.row_b[r], model.row_value[r, PARAMETER]
    work.phi[r] = work.q[model.column_q[a]] - ratio * work.q[model.column_q[b]] - model.row_value[r, HELD_AT]
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
    return 1.0 if model.row_a[r] == column else -model.row_value[r, PARAMETER]


def _gear(radii, joints):
    """Gears: radii > 0, on revolute joints about parallel axes of one carrier."""
    sizes = finite_numbers(radii, 2)
    if sizes is None or np.any(sizes <= 0):
        yield f"radii {radii!r} are not two numbers > 0", "Give radii or numbers of teeth"
    if len(joints) != 2:
        return
    if not all(JOINTS[joint.kind].hinge for joint in joints):
        yield "gears sit on revolute joints", "For a slide use m.rack(...) or m.coupler(...)"
        return
    if not {joints[0].parent, joints[0].child} & {joints[1].parent, joints[1].child}:
        yield (f"joints {joints[0].name!r} and {joints[1].name!r} have no body in common: gears turn on one carrier",
               "Draw both wheels' joints on the carrier (for a planet: sun and ring on the planet carrier)")  # fmt: skip
    a, b = (finite_numbers(joint.axes[0], 3) if joint.axes else None for joint in joints)
    if a is None or b is None:
        return
    if np.linalg.norm(np.cross(a, b)) > PARALLEL * np.linalg.norm(a) * np.linalg.norm(b) or np.dot(a, b) < 0:
        yield "the axes of its joints do not point one way", "Turn one of them, or use m.coupler(...)"


def _check(c, points, joints):
    """A gear's joints, or a ratio and an offset."""
    if "radii" in c.parameters:
        yield from _gear(c.parameters["radii"], [joint for end in (c.a, c.b) for joint in joints if joint.name == str(end)])
        return
    for what in ("ratio", "offset"):
        number = finite_numbers(c.parameters[what])
        if number is None or number.shape != ():
            yield f"its {what} {c.parameters[what]!r} is not a finite number", "Give a number"
        elif what == "ratio" and number == 0:
            yield "its ratio is zero", "That would lock the first joint: give radii or a ratio > 0"


ROWS = (RowKind("coupler", "ratio", row, number="ratio", on_joints=True),)
CONSTRAINTS = (ConstraintKind("coupler", "coupler", "coupler", lambda points, p: float(p["ratio"]), True, check=_check),)
