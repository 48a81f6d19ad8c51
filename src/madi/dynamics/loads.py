"""Joint reactions of selected joints (P1 section 3).

The force vector through joint i, on the outboard body, WITHOUT walking through the joints outside it (P1 eq. 30):

    R_i = -L_i + K_i Ydot_i + sum_{l outboard of i} K_l B_l qdd_l.

With Ydot_i = A_i + a_i and W_i = L_i - K_i A_i (recursive.py) this is  R_i = -W_i + K_i a_i + sum U_l qdd_l, and the
columns outboard of i are one contiguous run. The classical way beside it walks to the root over all outboard bodies,
R_i = M^_i Ydot_i - Q^_i + sum_c R_c (P1 eq. 28). The driving force of a joint is B_i^T R_i (P1 eq. 36).

docs/references.md: [P1], [Luh, Walker, Paul 1980].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.points import to_ground
from madi.joints.columns import is_driven
from madi.joints.kind import FORWARD
from madi.joints.place import parent_point
from madi.kernel import inline, kernel
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import NO_MOTION, first, minus, plus, plus_scaled, put_at, scaled, six, three, to_point


@inline
def reaction(model: Arrays, work: Work, i, qdd):
    """R_i by P1 eq. 30; composites and accelerations are in work."""
    R = minus(momentum_of(work.K, i, six(work.a, i)), six(work.W, i))
    for c in range(model.v_end[i], model.v_end[model.last[i]]):
        if not is_driven(model, c):
            R = plus_scaled(R, qdd[c], six(work.U, c))
    return R


@inline
def reaction_newton_euler(model: Arrays, work: Work, i):
    """R_i by P1 eq. 28: over all bodies outboard of joint i, leaves to root."""
    R = NO_MOTION
    for k in range(model.last[i], i - 1, -1):
        rate = plus(six(work.A, k), six(work.a, k))
        R = minus(plus(R, bodies.momentum(model, work, k, rate, work.acceleration)), six(work.Q, k))
    return R


@kernel
def at_joint(model: Arrays, work: Work, i, R, out, at):
    """Force and moment on the joint's DRAWN child, at the joint, ground axes (P1 eq. 31), from R = (f, n) at the origin."""
    x = three(work.r, i)
    if model.reverse[i] != FORWARD:  # the drawn child is the tree's parent
        R, x = scaled(-1.0, R), parent_point(model, work, i)
    put_at(out, at, to_ground(work, model.frame[i], first(R)))
    put_at(out, at + 3, to_ground(work, model.frame[i], to_point(R, x)))
