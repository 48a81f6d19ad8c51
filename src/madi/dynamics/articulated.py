"""O(n) forward dynamics: articulated inertias, eliminated one column at a time from the leaves to the root.

With Ydot_i = A_i + a_i (A known, kinematics.py) the force through joint i is `I_i a_i + p_i`, where for the body alone
I = M^ and p = M^ A - Q^. Through column c, with U = I B_c, d = B_c^T U + its armature and u = tau_c - B_c^T p:

    I' = I - U U^T / d,      p' = p + U u / d,      and outwards      qdd_c = (u - U^T a) / d.

Because all bodies share one origin and A carries the velocity terms, there is neither a 6x6 transform nor a bias product
on the way to the root.

docs/references.md: [Featherstone 1983], [Featherstone 2008].
"""

from __future__ import annotations

from madi.dynamics.kinematics import point_acceleration
from madi.dynamics.modal import block_place, generalised_force, modal_columns
from madi.dynamics.recursive import body_terms
from madi.joints.dispatch import MODAL
from madi.kernel import ACCELERATE, ELIMINATE, call_seldom, inline, kernel, seldom


@inline
def start_articulated(work, i):
    """I of the body alone, [[m 1, -h~], [h~, I]], its upper triangle row by row (21 numbers)."""
    K, I = work.inertia, work.articulated
    m, x = K[i, 0], K[i, 1]
    y, z = K[i, 2], K[i, 3]
    I[i, 0], I[i, 1], I[i, 2] = m, 0.0, 0.0
    I[i, 3], I[i, 4], I[i, 5] = 0.0, z, -y
    I[i, 6], I[i, 7], I[i, 8] = m, 0.0, -z
    I[i, 9], I[i, 10] = 0.0, x
    I[i, 11], I[i, 12] = m, y
    I[i, 13], I[i, 14] = -x, 0.0
    for j in range(6):
        I[i, 15 + j] = K[i, 4 + j]


@kernel
def forward(model, work):
    """qdd of the free columns into work.acceleration."""
    I, W, B = work.articulated, work.W, work.B
    U, a = work.U, work.a
    n = model.n
    for i in range(1, n):
        body_terms(model, work, i)  # W = Q^ - M^ A = -p
        start_articulated(work, i)
    for i in range(n - 1, 0, -1):
        p = model.parent[i]
        if model.code[i] == MODAL:
            call_seldom(model.seldom[ELIMINATE], ELIMINATE, model, work, i)
        else:
            for c in range(model.v_end[i] - 1, model.v_at[i] - 1, -1):
                if model.drive[c] == -1:
                    eliminate(model, work, i, c)
        if p > 0:
            for j in range(21):
                I[p, j] = I[p, j] + I[i, j]
            for j in range(6):
                W[p, j] = W[p, j] + W[i, j]
    for i in range(1, n):
        p = model.parent[i]
        for j in range(6):
            a[i, j] = a[p, j]
        if model.code[i] == MODAL:
            call_seldom(model.seldom[ACCELERATE], ACCELERATE, model, work, i)
            continue
        for c in range(model.v_at[i], model.v_end[i]):
            if model.drive[c] == -1:
                x = work.P[c]
                for j in range(6):
                    x = x - U[c, j] * a[i, j]
                work.acceleration[c] = x * work.T[c, 0]
                for j in range(6):
                    a[i, j] = a[i, j] + B[c, j] * work.acceleration[c]
    for c in range(model.v_at[0], model.v_end[0]):  # first-order states
        work.T[c, 0] = 1.0
        work.acceleration[c] = work.tau[c]


@inline
def eliminate(model, work, i, c):
    """Take column c out of the articulated inertia and force of body i; u goes to P, 1/d to T."""
    I, W = work.articulated, work.W
    B, U = work.B, work.U
    b0, b1, b2 = B[c, 0], B[c, 1], B[c, 2]
    b3, b4, b5 = B[c, 3], B[c, 4], B[c, 5]
    i00, i01, i02 = I[i, 0], I[i, 1], I[i, 2]
    i03, i04, i05 = I[i, 3], I[i, 4], I[i, 5]
    i11, i12, i13 = I[i, 6], I[i, 7], I[i, 8]
    i14, i15 = I[i, 9], I[i, 10]
    i22, i23 = I[i, 11], I[i, 12]
    i24, i25 = I[i, 13], I[i, 14]
    i33, i34, i35 = I[i, 15], I[i, 16], I[i, 17]
    i44, i45, i55 = I[i, 18], I[i, 19], I[i, 20]
    w0, w1, w2 = W[i, 0], W[i, 1], W[i, 2]
    w3, w4, w5 = W[i, 3], W[i, 4], W[i, 5]
    u0 = i00 * b0 + i01 * b1 + i02 * b2 + i03 * b3 + i04 * b4 + i05 * b5
    u1 = i01 * b0 + i11 * b1 + i12 * b2 + i13 * b3 + i14 * b4 + i15 * b5
    u2 = i02 * b0 + i12 * b1 + i22 * b2 + i23 * b3 + i24 * b4 + i25 * b5
    u3 = i03 * b0 + i13 * b1 + i23 * b2 + i33 * b3 + i34 * b4 + i35 * b5
    u4 = i04 * b0 + i14 * b1 + i24 * b2 + i34 * b3 + i44 * b4 + i45 * b5
    u5 = i05 * b0 + i15 * b1 + i25 * b2 + i35 * b3 + i45 * b4 + i55 * b5
    inverse = 1.0 / (b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4 + b5 * u5 + model.armature[c])
    u = work.tau[c] + (b0 * w0 + b1 * w1 + b2 * w2 + b3 * w3 + b4 * w4 + b5 * w5)
    work.P[c] = u
    work.T[c, 0] = inverse
    x = u * inverse
    U[c, 0], U[c, 1], U[c, 2] = u0, u1, u2
    U[c, 3], U[c, 4], U[c, 5] = u3, u4, u5
    W[i, 0], W[i, 1], W[i, 2] = w0 - u0 * x, w1 - u1 * x, w2 - u2 * x
    W[i, 3], W[i, 4], W[i, 5] = w3 - u3 * x, w4 - u4 * x, w5 - u5 * x
    x0, x1, x2 = u0 * inverse, u1 * inverse, u2 * inverse
    x3, x4, x5 = u3 * inverse, u4 * inverse, u5 * inverse
    I[i, 0], I[i, 1], I[i, 2] = i00 - x0 * u0, i01 - x0 * u1, i02 - x0 * u2
    I[i, 3], I[i, 4], I[i, 5] = i03 - x0 * u3, i04 - x0 * u4, i05 - x0 * u5
    I[i, 6], I[i, 7], I[i, 8] = i11 - x1 * u1, i12 - x1 * u2, i13 - x1 * u3
    I[i, 9], I[i, 10] = i14 - x1 * u4, i15 - x1 * u5
    I[i, 11], I[i, 12] = i22 - x2 * u2, i23 - x2 * u3
    I[i, 13], I[i, 14] = i24 - x2 * u4, i25 - x2 * u5
    I[i, 15], I[i, 16], I[i, 17] = i33 - x3 * u3, i34 - x3 * u4, i35 - x3 * u5
    I[i, 18], I[i, 19], I[i, 20] = i44 - x4 * u4, i45 - x4 * u5, i55 - x5 * u5


@kernel
def articulated_times(work, i, x):
    """U_x = I_i B_x."""
    I, B = work.articulated, work.B
    b0, b1, b2 = B[x, 0], B[x, 1], B[x, 2]
    b3, b4, b5 = B[x, 3], B[x, 4], B[x, 5]
    work.U[x, 0] = I[i, 0] * b0 + I[i, 1] * b1 + I[i, 2] * b2 + I[i, 3] * b3 + I[i, 4] * b4 + I[i, 5] * b5
    work.U[x, 1] = I[i, 1] * b0 + I[i, 6] * b1 + I[i, 7] * b2 + I[i, 8] * b3 + I[i, 9] * b4 + I[i, 10] * b5
    work.U[x, 2] = I[i, 2] * b0 + I[i, 7] * b1 + I[i, 11] * b2 + I[i, 12] * b3 + I[i, 13] * b4 + I[i, 14] * b5
    work.U[x, 3] = I[i, 3] * b0 + I[i, 8] * b1 + I[i, 12] * b2 + I[i, 15] * b3 + I[i, 16] * b4 + I[i, 17] * b5
    work.U[x, 4] = I[i, 4] * b0 + I[i, 9] * b1 + I[i, 13] * b2 + I[i, 16] * b3 + I[i, 18] * b4 + I[i, 19] * b5
    work.U[x, 5] = I[i, 5] * b0 + I[i, 10] * b1 + I[i, 14] * b2 + I[i, 17] * b3 + I[i, 19] * b4 + I[i, 20] * b5


@seldom(ELIMINATE)
def eliminate_modes(model, work, i):
    """Take the modes of a flexible body out of its articulated inertia and force, the last first. Between them is the block
    (dynamics/modal.py), of which c's row stays for the way outwards: xi_c'' = (u - U^T a - sum_{d<c} M_cd xi_d'') / d.
    Of a point: what its blades carry."""
    I, W, U = work.articulated, work.W, work.U
    if model.modal[i] < 0:
        for x in range(model.blade_at[i], model.blade_at[i] + model.modes[i]):
            articulated_times(work, i, x)
        return
    l, m = model.v_at[i], model.v_end[i]
    modal_columns(model, work, i)
    for c in range(l, m):
        work.P[c] = generalised_force(model, work, c) + work.tau[c]
    for c in range(m - 1, l - 1, -1):
        if model.drive[c] != -1:
            continue
        inverse = 1.0 / work.block[block_place(model, i, c, c)]
        work.T[c, 0] = inverse
        x, at = work.P[c] * inverse, 0
        for j in range(6):
            W[i, j] = W[i, j] - U[c, j] * x
            y = U[c, j] * inverse
            for k in range(j, 6):
                I[i, at] = I[i, at] - y * U[c, k]
                at += 1
        for d in range(l, c):
            if model.drive[d] == -1:
                y = work.block[block_place(model, i, c, d)] * inverse
                work.P[d] = work.P[d] - y * work.P[c]
                for j in range(6):
                    U[d, j] = U[d, j] - y * U[c, j]
                for k in range(l, d + 1):
                    at = block_place(model, i, d, k)
                    work.block[at] = work.block[at] - y * work.block[block_place(model, i, c, k)]


@seldom(ACCELERATE)
def accelerate_modes(model, work, i):
    """Accelerations of the modes, then of the body's frame; or of a point."""
    if model.modal[i] < 0:
        point_acceleration(model, work, i, work.acceleration)
        return
    a, l = work.a, model.v_at[i]
    for c in range(l, model.v_end[i]):
        if model.drive[c] == -1:
            x = work.P[c]
            for j in range(6):
                x = x - work.U[c, j] * a[i, j]
            for d in range(l, c):
                if model.drive[d] == -1:
                    x = x - work.block[block_place(model, i, c, d)] * work.acceleration[d]
            work.acceleration[c] = x * work.T[c, 0]
    for c in range(l, model.v_end[i]):
        if model.drive[c] == -1:
            for j in range(6):
                a[i, j] = a[i, j] + work.B[c, j] * work.acceleration[c]
