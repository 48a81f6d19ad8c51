"""Springs and dampers in place of constraints: lam = k Phi + c Phi', the tree moves under them."""

from __future__ import annotations

from madi.constraints.dispatch import apply_multipliers, evaluate_rows
from madi.dynamics import recursive
from madi.equations.fields import Arrays, Work
from madi.equations.motion import give, kinematics_and_forces
from madi.kernel import kernel


@kernel
def forward_penalty(model: Arrays, work: Work, t, q, v, x, out):
    """Accelerations of the tree under the penalty forces."""
    kinematics_and_forces(model, work, t, q, v, x)
    evaluate_rows(model, work)
    for r in range(model.nr):
        work.lam[r] = work.options.feedback_position * work.phi[r] + work.options.feedback_rate * work.rate[r]
    apply_multipliers(model, work)
    recursive.forward(model, work)
    give(work.acceleration, model.nv, out)
