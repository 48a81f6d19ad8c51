"""What free speeds get where the speed of a drive jumps: M_ff dv_f = -M_fd dv_d.

A driven column is not solved for: its force is whatever its motion takes, and where its speed jumps, an impulse along its
own direction. That reaches the free columns through their masses in common, M_fd. Integrators carry driven speeds like all
others, by their accelerations; at the end of a step dv_d is what the prescribed speed has over the carried one: the jump,
where there is one, else no more than the error of the step.
"""

from __future__ import annotations

from madi.bodies import mass_entry
from madi.dynamics.fields import Arrays, Work
from madi.joints.columns import is_free
from madi.kernel import kernel


@kernel
def drive_impulse(model: Arrays, work: Work, v):
    """work.P = -M_fd dv_d, dv_d = work.v - v of the driven columns; composites are in work. Returns the largest dv_d."""
    P, largest = work.P, 0.0
    for c in range(model.nv):
        P[c] = 0.0
        if not is_free(model, c):
            largest = max(largest, abs(work.v[c] - v[c]))
    if largest == 0.0:
        return largest
    for c in range(model.nv):
        x = model.motion_parent[c]
        while x >= 0:
            j = model.motion_column[x]
            if is_free(model, c) and not is_free(model, j):
                P[c] = P[c] - mass_entry(model, work, c, x) * (work.v[j] - v[j])
            elif not is_free(model, c) and is_free(model, j):
                P[j] = P[j] - mass_entry(model, work, c, x) * (work.v[c] - v[c])
            x = model.motion_parent[x]
    return largest
