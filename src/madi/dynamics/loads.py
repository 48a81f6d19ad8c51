"""Joint reactions of selected joints (P1 section 3).

The force vector through joint i, on the outboard body, WITHOUT walking through the joints outside it (P1 eq. 30):

    R_i = -L_i + K_i Ydot_i + sum_{l outboard of i} K_l B_l qdd_l.

With Ydot_i = A_i + a_i and W_i = L_i - K_i A_i (recursive.py) this is  R_i = -W_i + K_i a_i + sum U_l qdd_l, and the
columns outboard of i are one contiguous run. The classical way beside it walks to the root over all outboard bodies,
R_i = M^_i Ydot_i - Q^_i + sum_c R_c (P1 eq. 28). The driving force of a joint is B_i^T R_i (P1 eq. 36).

docs/references.md: [P1], [Luh, Walker, Paul 1980].
"""

from __future__ import annotations

from madi.dynamics.kinematics import to_ground
from madi.joints.dispatch import parent_point
from madi.kernel import inline, kernel
from madi.spatial.algebra import inertia_times


@inline
def reaction(model, work, i, qdd, out):
    """out[0:6] = R_i by P1 eq. 30; composites and accelerations are in work."""
    W, U, a = work.W, work.U, work.a
    r0, r1, r2, r3, r4, r5 = inertia_times(work.K, i, a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])
    r0, r1, r2 = r0 - W[i, 0], r1 - W[i, 1], r2 - W[i, 2]
    r3, r4, r5 = r3 - W[i, 3], r4 - W[i, 4], r5 - W[i, 5]
    for c in range(model.v_end[i], model.v_end[model.last[i]]):
        if model.drive[c] < 0:
            x = qdd[c]
            r0, r1, r2 = r0 + U[c, 0] * x, r1 + U[c, 1] * x, r2 + U[c, 2] * x
            r3, r4, r5 = r3 + U[c, 3] * x, r4 + U[c, 4] * x, r5 + U[c, 5] * x
    out[0], out[1], out[2] = r0, r1, r2
    out[3], out[4], out[5] = r3, r4, r5


@inline
def reaction_newton_euler(model, work, i, out):
    """out[0:6] = R_i by P1 eq. 28: over all bodies outboard of joint i, leaves to root."""
    Q, A, a = work.Q, work.A, work.a
    r0, r1, r2 = 0.0, 0.0, 0.0
    r3, r4, r5 = 0.0, 0.0, 0.0
    for k in range(model.last[i], i - 1, -1):
        f0, f1, f2, f3, f4, f5 = inertia_times(
            work.inertia,
            k,
            A[k, 0] + a[k, 0],
            A[k, 1] + a[k, 1],
            A[k, 2] + a[k, 2],
            A[k, 3] + a[k, 3],
            A[k, 4] + a[k, 4],
            A[k, 5] + a[k, 5],
        )
        r0, r1, r2 = r0 + f0 - Q[k, 0], r1 + f1 - Q[k, 1], r2 + f2 - Q[k, 2]
        r3, r4, r5 = r3 + f3 - Q[k, 3], r4 + f4 - Q[k, 4], r5 + f5 - Q[k, 5]
        if model.modal[k] >= 0:
            for c in range(model.v_at[k], model.v_end[k]):
                x, h = work.acceleration[c], work.h
                r0, r1, r2 = r0 + h[c, 0] * x, r1 + h[c, 1] * x, r2 + h[c, 2] * x
                r3, r4, r5 = r3 + h[c, 3] * x, r4 + h[c, 4] * x, r5 + h[c, 5] * x
    out[0], out[1], out[2] = r0, r1, r2
    out[3], out[4], out[5] = r3, r4, r5


@kernel
def at_joint(model, work, i, R, out, at):
    """Force and moment on the joint's DRAWN child, at the joint, ground axes (P1 eq. 31), from R = (f, n) at the origin."""
    sign = 1.0
    x, y, z = work.r[i, 0], work.r[i, 1], work.r[i, 2]
    if model.reverse[i] != 0:  # the drawn child is the tree's parent
        sign = -1.0
        x, y, z = parent_point(model, work, i, 0), parent_point(model, work, i, 1), parent_point(model, work, i, 2)
    f0, f1, f2 = sign * R[0], sign * R[1], sign * R[2]
    n0, n1, n2 = sign * R[3] - (y * f2 - z * f1), sign * R[4] - (z * f0 - x * f2), sign * R[5] - (x * f1 - y * f0)
    out[at], out[at + 1], out[at + 2] = to_ground(work, model.frame[i], f0, f1, f2)
    out[at + 3], out[at + 4], out[at + 5] = to_ground(work, model.frame[i], n0, n1, n2)
