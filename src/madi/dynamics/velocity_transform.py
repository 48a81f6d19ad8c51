"""P0's velocity transformation: Cartesian velocities z' = B v of all bodies, and the equations formed with it.

For body i the rows of B are those of its centre of mass, (c', w): with a column B_j = (b, e) about the reference origin,
the block is T_ij = (b + e x c, e) for every column j on the path of i. Then

    Mq = B^T M B,      Qq = B^T (Q - M Bdot v),

with M = diag(m 1, J) and the Newton-Euler force Q = (f, n - w x J w) at the centre of mass. Nothing recursive is used
beyond positions and velocities: an independent check of P1's recursion, and its cost grows with n times depth squared.
"""

from __future__ import annotations

from madi.dynamics.kinematics import point
from madi.dynamics.recursive import solve
from madi.kernel import kernel
from madi.spatial.algebra import body_inertia


@kernel
def equations(model, work):
    """M (lower part, free columns) and P."""
    M, P, B = work.M, work.P, work.B
    T, Q = work.T, work.Q
    nv = model.nv
    for c in range(nv):
        P[c] = work.tau[c]
        j = c
        while j >= 0:
            M[c * nv + j] = 0.0
            j = model.column_parent[j]
    for i in range(1, model.n):
        m = model.mass[i]
        c0, c1, c2 = point(work, i, model.com[i, 0], model.com[i, 1], model.com[i, 2])
        J0, J1, J2, J3, J4, J5 = central_inertia(model, work, i, c0, c1, c2)
        f0, f1, f2, n0, n1, n2 = cartesian_force(work, i, m, c0, c1, c2, J0, J1, J2, J3, J4, J5)
        Q[i, 0], Q[i, 1], Q[i, 2] = f0, f1, f2
        Q[i, 3], Q[i, 4], Q[i, 5] = n0, n1, n2
        last = tip_column(model, i)
        c = last
        while c >= 0:
            e0, e1, e2 = B[c, 3], B[c, 4], B[c, 5]
            T[c, 0] = B[c, 0] + (e1 * c2 - e2 * c1)
            T[c, 1] = B[c, 1] + (e2 * c0 - e0 * c2)
            T[c, 2] = B[c, 2] + (e0 * c1 - e1 * c0)
            T[c, 3], T[c, 4], T[c, 5] = e0, e1, e2
            c = model.column_parent[c]
        c = last
        while c >= 0:
            g0, g1, g2 = m * T[c, 0], m * T[c, 1], m * T[c, 2]
            g3 = J0 * T[c, 3] + J1 * T[c, 4] + J2 * T[c, 5]
            g4 = J1 * T[c, 3] + J3 * T[c, 4] + J4 * T[c, 5]
            g5 = J2 * T[c, 3] + J4 * T[c, 4] + J5 * T[c, 5]
            P[c] = P[c] + (T[c, 0] * f0 + T[c, 1] * f1 + T[c, 2] * f2 + T[c, 3] * n0 + T[c, 4] * n1 + T[c, 5] * n2)
            j = c
            while j >= 0:
                M[c * nv + j] = M[c * nv + j] + (
                    g0 * T[j, 0] + g1 * T[j, 1] + g2 * T[j, 2] + g3 * T[j, 3] + g4 * T[j, 4] + g5 * T[j, 5]
                )
                j = model.column_parent[j]
            c = model.column_parent[c]


@kernel
def tip_column(model, i):
    """Last column on the path to body i, -1 if nothing moves it."""
    while i > 0:
        if model.v_end[i] > model.v_at[i]:
            return model.v_end[i] - 1
        i = model.parent[i]
    return -1


@kernel
def central_inertia(model, work, i, c0, c1, c2):
    """J about the centre of mass in reference axes: the parallel-axis terms taken off again."""
    body_inertia(model, work, i)
    K, m = work.inertia, model.mass[i]
    return (
        K[i, 4] - m * (c1 * c1 + c2 * c2),
        K[i, 5] + m * c0 * c1,
        K[i, 6] + m * c0 * c2,
        K[i, 7] - m * (c0 * c0 + c2 * c2),
        K[i, 8] + m * c1 * c2,
        K[i, 9] - m * (c0 * c0 + c1 * c1),
    )


@kernel
def cartesian_force(work, i, m, c0, c1, c2, J0, J1, J2, J3, J4, J5):
    """Q - M Bdot v at the centre of mass; Bdot v follows from A by c'' = v' + w' x c + w x c'."""
    Y, A, Q = work.Y, work.A, work.Q
    w0, w1, w2 = Y[i, 3], Y[i, 4], Y[i, 5]
    e0, e1, e2 = A[i, 3], A[i, 4], A[i, 5]
    u0, u1, u2 = Y[i, 0] + (w1 * c2 - w2 * c1), Y[i, 1] + (w2 * c0 - w0 * c2), Y[i, 2] + (w0 * c1 - w1 * c0)
    a0 = A[i, 0] + (e1 * c2 - e2 * c1) + (w1 * u2 - w2 * u1)
    a1 = A[i, 1] + (e2 * c0 - e0 * c2) + (w2 * u0 - w0 * u2)
    a2 = A[i, 2] + (e0 * c1 - e1 * c0) + (w0 * u1 - w1 * u0)
    h0, h1, h2 = J0 * w0 + J1 * w1 + J2 * w2, J1 * w0 + J3 * w1 + J4 * w2, J2 * w0 + J4 * w1 + J5 * w2
    f0, f1, f2 = Q[i, 0], Q[i, 1], Q[i, 2]
    return (
        f0 - m * a0,
        f1 - m * a1,
        f2 - m * a2,
        Q[i, 3] - (c1 * f2 - c2 * f1) - (w1 * h2 - w2 * h1) - (J0 * e0 + J1 * e1 + J2 * e2),
        Q[i, 4] - (c2 * f0 - c0 * f2) - (w2 * h0 - w0 * h2) - (J1 * e0 + J3 * e1 + J4 * e2),
        Q[i, 5] - (c0 * f1 - c1 * f0) - (w0 * h1 - w1 * h0) - (J2 * e0 + J4 * e1 + J5 * e2),
    )


@kernel
def forward(model, work):
    """qdd of the free columns into work.acceleration."""
    equations(model, work)
    solve(model, work.M, work.P, work.acceleration)
