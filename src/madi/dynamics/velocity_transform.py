"""P0's velocity transformation: Cartesian velocities z' = B v of all bodies, and the equations formed with it.

For body i the rows of B are those of its centre of mass, (c', w): with a column B_j = (b, e) about the reference origin,
the block is T_ij = (b + e x c, e) for every column j on the path of i. Then

    Mq = B^T M B,      Qq = B^T (Q - M Bdot v),

with M = diag(m 1, J) and the Newton-Euler force Q = (f, n - w x J w) at the centre of mass. Nothing recursive is used
beyond positions and velocities: an independent check of P1's recursion, and its cost grows with n times depth squared.

docs/references.md: [P0], [Jerkovsky 1978], [Kim, Vanderploeg 1986].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.dynamics.recursive import solve
from madi.kernel import kernel


@kernel
def equations(model: Arrays, work: Work):
    """M (lower part, free columns) and P."""
    M, P, nv = work.M, work.P, model.nv
    for c in range(nv):
        P[c] = work.tau[c]
        j = c
        while j >= 0:
            M[c * nv + j] = 0.0
            j = model.column_parent[j]
        M[c * nv + c] = bodies.added_inertia(model, work, c)
    for i in range(1, model.n):
        bodies.transform(model, work, i)


@kernel
def forward(model: Arrays, work: Work):
    """qdd of the free columns into work.acceleration."""
    equations(model, work)
    solve(model, work.M, work.P, work.acceleration)
