"""O(n) forward dynamics: articulated inertias, eliminated one column at a time from the tips inwards.

With Ydot_i = A_i + a_i (A known, kinematics.py) the force through joint i is `I_i a_i + p_i`, where for the body alone
I = M^ and p = M^ A - Q^. Through column c, with U = I B_c, d = B_c^T U and u = tau_c - B_c^T p:

    I' = I - U U^T / d,      p' = p + U u / d,      and outwards      qdd_c = (u - U^T a) / d.

Because all bodies share one origin and A carries the velocity terms, there is neither a 6x6 transform nor a bias product
on the way inwards.
"""

from __future__ import annotations

from madi.dynamics.recursive import body_terms
from madi.kernel import kernel


@kernel
def start_articulated(work, i):
    """I of the body alone as a full 6x6 matrix [[m 1, -h~], [h~, I]]."""
    K, I = work.inertia, work.articulated
    m, x, y, z = K[i, 0], K[i, 1], K[i, 2], K[i, 3]
    for j in range(36):
        I[i, j] = 0.0
    I[i, 0], I[i, 7], I[i, 14] = m, m, m
    I[i, 4], I[i, 5] = z, -y
    I[i, 9], I[i, 11] = -z, x
    I[i, 15], I[i, 16] = y, -x
    I[i, 24], I[i, 30] = z, -y
    I[i, 19], I[i, 31] = -z, x
    I[i, 20], I[i, 26] = y, -x
    I[i, 21], I[i, 22], I[i, 23] = K[i, 4], K[i, 5], K[i, 6]
    I[i, 27], I[i, 28], I[i, 29] = K[i, 5], K[i, 7], K[i, 8]
    I[i, 33], I[i, 34], I[i, 35] = K[i, 6], K[i, 8], K[i, 9]


@kernel
def forward(model, work):
    """qdd of the free columns into work.acceleration."""
    I, W, B, U, a = work.articulated, work.W, work.B, work.U, work.a
    n = model.n
    for i in range(1, n):
        body_terms(model, work, i)  # W = Q^ - M^ A = -p
        start_articulated(work, i)
    for i in range(n - 1, 0, -1):
        p = model.parent[i]
        for c in range(model.v_end[i] - 1, model.v_at[i] - 1, -1):
            if model.drive[c] == -1:
                eliminate(work, i, c)
        if p > 0:
            for j in range(36):
                I[p, j] = I[p, j] + I[i, j]
            for j in range(6):
                W[p, j] = W[p, j] + W[i, j]
    for i in range(1, n):
        p = model.parent[i]
        for j in range(6):
            a[i, j] = a[p, j]
        for c in range(model.v_at[i], model.v_end[i]):
            if model.drive[c] == -1:
                x = work.P[c]
                for j in range(6):
                    x = x - U[c, j] * a[i, j]
                work.acceleration[c] = x * work.T[c, 0]
                for j in range(6):
                    a[i, j] = a[i, j] + B[c, j] * work.acceleration[c]


@kernel
def eliminate(work, i, c):
    """Take column c out of the articulated inertia and force of body i; u goes to P, 1/d to T."""
    I, W, B, U = work.articulated, work.W, work.B, work.U
    b0, b1, b2, b3, b4, b5 = B[c, 0], B[c, 1], B[c, 2], B[c, 3], B[c, 4], B[c, 5]
    for j in range(6):
        U[c, j] = (
            I[i, j] * b0
            + I[i, 6 + j] * b1
            + I[i, 12 + j] * b2
            + I[i, 18 + j] * b3
            + I[i, 24 + j] * b4
            + I[i, 30 + j] * b5
        )
    u0, u1, u2, u3, u4, u5 = U[c, 0], U[c, 1], U[c, 2], U[c, 3], U[c, 4], U[c, 5]
    inverse = 1.0 / (b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4 + b5 * u5)
    u = work.tau[c] + (
        b0 * W[i, 0] + b1 * W[i, 1] + b2 * W[i, 2] + b3 * W[i, 3] + b4 * W[i, 4] + b5 * W[i, 5]
    )
    work.P[c] = u
    work.T[c, 0] = inverse
    step = u * inverse
    for j in range(6):
        W[i, j] = W[i, j] - U[c, j] * step
    for j in range(6):
        x = U[c, j] * inverse
        for k in range(j, 6):
            I[i, 6 * j + k] = I[i, 6 * j + k] - x * U[c, k]
            I[i, 6 * k + j] = I[i, 6 * j + k]
