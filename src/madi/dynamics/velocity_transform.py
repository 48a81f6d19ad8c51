"""P0's velocity transformation: Cartesian velocities z' = B v of all bodies, and the equations formed with it.

For body i the rows of B are those of its centre of mass, (c', w): with a column B_j = (b, e) about the reference origin,
the block is T_ij = (b + e x c, e) for every column j on the path of i. Then

    Mq = B^T M B,      Qq = B^T (Q - M Bdot v),

with M = diag(m 1, J) and the Newton-Euler force Q = (f, n - w x J w) at the centre of mass. Nothing recursive is used
beyond positions and velocities: an independent check of P1's recursion, and its cost grows with n times depth squared.

docs/references.md: [P0], [Jerkovsky 1978], [Kim, Vanderploeg 1986].
"""

from __future__ import annotations

from madi.dynamics.modal import modal_mass
from madi.dynamics.points import point
from madi.dynamics.recursive import body_terms, solve
from madi.kernel import TRANSFORM, call_seldom, kernel, seldom
from madi.spatial.inertia import body_inertia, momentum_of
from madi.spatial.vector import (
    cross,
    dot,
    first,
    join,
    minus,
    plus,
    put,
    scaled,
    second,
    six,
    symmetric_times,
    three,
    to_point,
    velocity_at,
)


@kernel
def equations(model, work):
    """M (lower part, free columns) and P."""
    M, P = work.M, work.P
    B, T, nv = work.B, work.T, model.nv
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
        m, c = model.mass[i], point(work, i, three(model.com, i))
        J = central_inertia(model, work, i, c)
        Q = cartesian_force(work, i, m, c, J)
        put(work.Q, i, Q)
        x = model.tip_blade[i]
        while x >= 0:
            b = six(B, x)
            put(T, x, join(velocity_at(b, c), second(b)))
            x = model.blade_parent[x]
        x = model.tip_blade[i]
        while x >= 0:
            k, b = model.blade_column[x], six(T, x)
            L = join(scaled(m, first(b)), symmetric_times(J, second(b)))
            P[k] = P[k] + dot(b, Q)
            y = x
            while y >= 0:
                j = k * nv + model.blade_column[y]
                M[j] = M[j] + dot(L, six(T, y))
                y = model.blade_parent[y]
            x = model.blade_parent[x]


@seldom(TRANSFORM)
def add_flexible(model, work, i):
    """A flexible body's part, B^T M B with M over the frame's motion and the modes: K, h and m (dynamics/modal.py)."""
    M, P = work.M, work.P
    B, h, nv = work.B, work.h, model.nv
    body_terms(model, work, i)
    x = model.tip_blade[i]
    while x >= 0:
        c, b = model.blade_column[x], six(B, x)
        L = momentum_of(work.inertia, i, b)  # K B + h: the body's momentum for a unit of the column
        if model.blade_body[x] == i:
            L = plus(L, six(h, x))
            P[x] = P[x] + work.own[x]
        else:
            P[c] = P[c] + dot(b, six(work.W, i))
        y = x
        while y >= 0:
            j = c * nv + model.blade_column[y]
            M[j] = M[j] + dot(six(B, y), L)
            if model.blade_body[y] == i:
                M[j] = M[j] + dot(six(h, y), b) + modal_mass(model, work, i, x, y)
            y = model.blade_parent[y]
        x = model.blade_parent[x]


@kernel
def central_inertia(model, work, i, c):
    """J about the centre of mass c in reference axes: the parallel-axis terms taken off again."""
    body_inertia(model, work, i)
    K, m = work.inertia, model.mass[i]
    return (
        K[i, 4] - m * (c[1] * c[1] + c[2] * c[2]),
        K[i, 5] + m * c[0] * c[1],
        K[i, 6] + m * c[0] * c[2],
        K[i, 7] - m * (c[0] * c[0] + c[2] * c[2]),
        K[i, 8] + m * c[1] * c[2],
        K[i, 9] - m * (c[0] * c[0] + c[1] * c[1]),
    )


@kernel
def cartesian_force(work, i, m, c, J):
    """Q - M Bdot v at the centre of mass c; Bdot v follows from A by c'' = v' + w' x c + w x c'."""
    Y, A, Q = six(work.Y, i), six(work.A, i), six(work.Q, i)
    w, e = second(Y), second(A)
    a = plus(velocity_at(A, c), cross(w, velocity_at(Y, c)))
    gyroscopic = plus(cross(w, symmetric_times(J, w)), symmetric_times(J, e))
    return join(minus(first(Q), scaled(m, a)), minus(to_point(Q, c), gyroscopic))


@kernel
def forward(model, work):
    """qdd of the free columns into work.acceleration."""
    equations(model, work)
    solve(model, work.M, work.P, work.acceleration)
