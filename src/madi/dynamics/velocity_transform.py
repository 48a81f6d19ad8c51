"""P0's velocity transformation: Cartesian velocities z' = B v of all bodies, and the equations formed with it.

For body i the rows of B are those of its centre of mass, (c', w): with a column B_j = (b, e) about the reference origin,
the block is T_ij = (b + e x c, e) for every column j on the path of i. Then

    Mq = B^T M B,      Qq = B^T (Q - M Bdot v),

with M = diag(m 1, J) and the Newton-Euler force Q = (f, n - w x J w) at the centre of mass. Nothing recursive is used
beyond positions and velocities: an independent check of P1's recursion, and its cost grows with n times depth squared.

docs/references.md: [P0], [Jerkovsky 1978], [Kim, Vanderploeg 1986].
"""

from __future__ import annotations

from madi.dynamics.kinematics import point
from madi.dynamics.modal import modal_mass
from madi.dynamics.recursive import body_terms, solve
from madi.kernel import TRANSFORM, call_seldom, kernel, seldom
from madi.spatial.algebra import body_inertia, dot6, inertia_times


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
        M[c * nv + c] = model.armature[c]
    for i in range(1, model.n):
        if model.modal[i] >= 0:
            call_seldom(model.seldom[TRANSFORM], TRANSFORM, model, work, i)
            continue
        m = model.mass[i]
        c0, c1, c2 = point(work, i, model.com[i, 0], model.com[i, 1], model.com[i, 2])
        J0, J1, J2, J3, J4, J5 = central_inertia(model, work, i, c0, c1, c2)
        f0, f1, f2, n0, n1, n2 = cartesian_force(work, i, m, c0, c1, c2, J0, J1, J2, J3, J4, J5)
        Q[i, 0], Q[i, 1], Q[i, 2] = f0, f1, f2
        Q[i, 3], Q[i, 4], Q[i, 5] = n0, n1, n2
        last = model.tip_blade[i]
        x = last
        while x >= 0:
            e0, e1, e2 = B[x, 3], B[x, 4], B[x, 5]
            T[x, 0] = B[x, 0] + (e1 * c2 - e2 * c1)
            T[x, 1] = B[x, 1] + (e2 * c0 - e0 * c2)
            T[x, 2] = B[x, 2] + (e0 * c1 - e1 * c0)
            T[x, 3], T[x, 4], T[x, 5] = e0, e1, e2
            x = model.blade_parent[x]
        x = last
        while x >= 0:
            c = model.blade_column[x]
            g0, g1, g2 = m * T[x, 0], m * T[x, 1], m * T[x, 2]
            g3 = J0 * T[x, 3] + J1 * T[x, 4] + J2 * T[x, 5]
            g4 = J1 * T[x, 3] + J3 * T[x, 4] + J4 * T[x, 5]
            g5 = J2 * T[x, 3] + J4 * T[x, 4] + J5 * T[x, 5]
            P[c] = P[c] + (T[x, 0] * f0 + T[x, 1] * f1 + T[x, 2] * f2 + T[x, 3] * n0 + T[x, 4] * n1 + T[x, 5] * n2)
            y = x
            while y >= 0:
                j = c * nv + model.blade_column[y]
                M[j] = M[j] + (g0 * T[y, 0] + g1 * T[y, 1] + g2 * T[y, 2] + g3 * T[y, 3] + g4 * T[y, 4] + g5 * T[y, 5])
                y = model.blade_parent[y]
            x = model.blade_parent[x]


@seldom(TRANSFORM)
def add_flexible(model, work, i):
    """A flexible body's part, B^T M B with M over the frame's motion and the modes: K, h and m (dynamics/modal.py)."""
    M, P, B = work.M, work.P, work.B
    T, nv = work.T, model.nv
    body_terms(model, work, i)
    x = model.tip_blade[i]
    while x >= 0:  # T = K B + h: the body's momentum for a unit of the column
        t0, t1, t2, t3, t4, t5 = inertia_times(work.inertia, i, B[x, 0], B[x, 1], B[x, 2], B[x, 3], B[x, 4], B[x, 5])
        T[x, 0], T[x, 1], T[x, 2] = t0, t1, t2
        T[x, 3], T[x, 4], T[x, 5] = t3, t4, t5
        if model.blade_body[x] == i:
            for j in range(6):
                T[x, j] = T[x, j] + work.h[x, j]
            P[x] = P[x] + work.own[x]
        else:
            P[model.blade_column[x]] = P[model.blade_column[x]] + dot6(B, x, work.W, i)
        c, y = model.blade_column[x], x
        while y >= 0:
            j = c * nv + model.blade_column[y]
            M[j] = M[j] + dot6(B, y, T, x)
            if model.blade_body[y] == i:
                M[j] = M[j] + dot6(work.h, y, B, x) + modal_mass(model, work, i, x, y)
            y = model.blade_parent[y]
        x = model.blade_parent[x]


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
