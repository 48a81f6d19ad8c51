"""What force elements with axes of their own share: axes and angular velocities of bodies, torques."""

from __future__ import annotations

from madi.dynamics.kinematics import from_ground, to_ground
from madi.kernel import kernel


@kernel
def axis(model, work, i, s, k, common):
    """Column k of the axes parameter[s:s+9] of body i, in the reference frame (common) or the ground."""
    p, R = model.parameter, work.R
    a, b, c = p[s + k], p[s + 3 + k], p[s + 6 + k]
    x = R[i, 0, 0] * a + R[i, 0, 1] * b + R[i, 0, 2] * c
    y = R[i, 1, 0] * a + R[i, 1, 1] * b + R[i, 1, 2] * c
    z = R[i, 2, 0] * a + R[i, 2, 1] * b + R[i, 2, 2] * c
    if not common:
        x, y, z = to_ground(work, model.frame[i], x, y, z)
    return x, y, z


@kernel
def spin(model, work, i, common):
    """Angular velocity of body i."""
    x, y, z = work.Y[i, 3], work.Y[i, 4], work.Y[i, 5]
    if not common:
        x, y, z = to_ground(work, model.frame[i], x, y, z)
    return x, y, z


@kernel
def add_torque(model, work, i, x, y, z, common):
    """Add a torque to body i."""
    if i > 0:
        if not common:
            x, y, z = from_ground(work, model.frame[i], x, y, z)
        Q = work.Q
        Q[i, 3], Q[i, 4], Q[i, 5] = Q[i, 3] + x, Q[i, 4] + y, Q[i, 5] + z
