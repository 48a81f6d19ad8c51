"""What a flexible body adds to the recursions: its own inertia, the momentum of its modes, and the couplings between them.

A flexible body with modal coordinates xi is, in its frame, the field rho = s + sum Psi_c xi_c + 1/2 sum X_cd xi_c xi_d. What
bending takes from its length is written with a few functions of place, X_cd = sum_r G_rcd phi_r: then the field is linear in
eta = (xi, 1/2 xi^T G_r xi), rho = s + sum Psi_a eta_a with Psi = phi behind the modes, and

    S = int rho dm = S0 + S1_a eta_a,      J = int (rho.rho - rho rho^T) dm = J0 + J1_a eta_a + 1/2 J2_ab eta_a eta_b,
    N_a = int rho x Psi_a dm = N0_a + N1_ba eta_b,      m_ab = int Psi_a . Psi_b dm

are complete but for the sections' own inertias, which enter linearly: the inertia integrals, computed once
(flexible/field.py). By xi, E_ac = deta_a/dxi_c = (1, g_rc), g = G xi: S_c = E_ac S1_a, N_c = E_ac N_a, m_cd = E_ac m_ab
E_bd. Momentum is K Y + h_c xi_c', where K is the ten-number inertia of (m, S, J) and h_c = (S_c, N_c), about the reference
origin. In the body's axes and about its own origin

    m a + e x S + S_c xi_c''         + w x (w x S + 2 S') + S1_r y_r                                   = F,
    S x a + J e + N_c xi_c''         + w x (J w + N_c xi_c') + J' w + N_r y_r                          = moment of F,
    S_c . a + N_c . e + m_cd xi_d''  + E_ac (w . (N1_ba - N1_ab) eta_b' - 1/2 w . dJ/deta_a w + m_ar y_r)  = tau_c,

y_r = xi'^T G_r xi', a the acceleration of the frame's origin, w and e = w' its angular velocity and acceleration, ' the rate
seen from it. What is attached to points of the body moves with the modes by blades B_x (joints/modal.py): U_c = K B_c + h_c
+ sum_x K_x B_x is the momentum of all that mode c moves, and between modes there is the block

    M_cd = m_cd + B_d . (K B_c + h_c) + h_d . B_c + sum_x B_xd . K_x B_xc.

docs/references.md: [P3], [Shabana 2013], [Schwertassek, Wallrapp 1999], [Kane, Ryan, Banerjee 1987].
"""

from __future__ import annotations

from madi.kernel import COLUMNS, ENERGY, INERTIA, TERMS, inline, kernel, seldom
from madi.spatial.algebra import dot6, inertia_times, turned, turned_back


@inline
def integral(model, i, what):
    """First number of S1 (0), J1 (1), N0 (2), m (3), J2 (4), N1 (5), G (6) of body i; before them m, S0, J0."""
    k, at = model.modes[i] + model.bows[i], model.inertia_at[i] + 10
    if what == 0:
        return at
    if what == 1:
        return at + 3 * k
    if what == 2:
        return at + 9 * k
    if what == 3:
        return at + 12 * k
    if what == 4:
        return at + 12 * k + k * k
    if what == 5:
        return at + 12 * k + 7 * k * k
    return at + 12 * k + 10 * k * k


@kernel
def bend(model, work, i):
    """eta = (xi, 1/2 xi^T G_r xi) and g_rc = sum_e G_rce xi_e, how function r of the foreshortening grows with mode c."""
    k, l, n = model.modes[i], model.v_at[i], model.bows[i]
    at, first, row = integral(model, i, 6), model.bow_at[i], model.eta_at[i]
    for c in range(k):
        work.eta[row + c] = work.xi[l + c]
    for r in range(n):
        total = 0.0
        for c in range(k):
            x = 0.0
            for e in range(k):
                x = x + model.shape[at + (r * k + c) * k + e] * work.xi[l + e]
            work.bow[first + r * k + c] = x
            total = total + 0.5 * x * work.xi[l + c]
        work.eta[row + k + r] = total


@kernel
def own_mass(model, work, i):
    """m_cd of the body as it is bent: E^T m E, E = (1, g)."""
    k, n, at = model.modes[i], model.bows[i], integral(model, i, 3)
    s, g, first = model.shape, work.bow, model.bow_at[i]
    size = k + n
    for c in range(k):
        for d in range(c + 1):
            m = s[at + c * size + d]
            for r in range(n):
                x, y = g[first + r * k + c], g[first + r * k + d]
                m = m + s[at + c * size + k + r] * y + x * s[at + d * size + k + r]
                for b in range(n):
                    m = m + x * s[at + (k + r) * size + k + b] * g[first + b * k + d]
            work.own_mass[model.block_at[i] + c * k + d] = m
            work.own_mass[model.block_at[i] + d * k + c] = m


@seldom(INERTIA)
def own_inertia(model, work, i):
    """work.inertia of a flexible body as it is bent now, and h of its modes."""
    k, l, n = model.modes[i], model.v_at[i], model.modes[i] + model.bows[i]
    R, r, s = work.R, work.r, model.shape
    at, row, q = model.inertia_at[i], model.eta_at[i], work.eta
    D, F = work.turns, work.slides
    m = s[at]
    x, y, z = s[at + 1], s[at + 2], s[at + 3]
    j0, j1, j2 = s[at + 4], s[at + 5], s[at + 6]
    j3, j4, j5 = s[at + 7], s[at + 8], s[at + 9]
    r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
    bend(model, work, i)
    for c in range(n):
        a, f, u = integral(model, i, 0) + 3 * c, q[row + c], row + c
        F[u, 0], F[u, 1], F[u, 2] = s[a], s[a + 1], s[a + 2]
        x, y, z = x + s[a] * f, y + s[a + 1] * f, z + s[a + 2] * f
        a = integral(model, i, 2) + 3 * c
        n0, n1, n2 = s[a], s[a + 1], s[a + 2]
        a = integral(model, i, 1) + 6 * c
        d0, d1, d2 = s[a], s[a + 1], s[a + 2]
        d3, d4, d5 = s[a + 3], s[a + 4], s[a + 5]
        for d in range(n):
            f = q[row + d]
            a = integral(model, i, 5) + 3 * (d * n + c)
            n0, n1, n2 = n0 + s[a] * f, n1 + s[a + 1] * f, n2 + s[a + 2] * f
            a, f = integral(model, i, 4) + 6 * (c * n + d), 0.5 * f
            d0, d1, d2 = d0 + s[a] * f, d1 + s[a + 1] * f, d2 + s[a + 2] * f
            d3, d4, d5 = d3 + s[a + 3] * f, d4 + s[a + 4] * f, d5 + s[a + 5] * f
        f, a = q[row + c], integral(model, i, 1) + 6 * c
        j0, j1, j2 = j0 + f * d0, j1 + f * d1, j2 + f * d2
        j3, j4, j5 = j3 + f * d3, j4 + f * d4, j5 + f * d5
        # dJ/deta_c: J1 and twice the half of J2
        D[u, 0], D[u, 1], D[u, 2] = 2.0 * d0 - s[a], 2.0 * d1 - s[a + 1], 2.0 * d2 - s[a + 2]
        D[u, 3], D[u, 4], D[u, 5] = 2.0 * d3 - s[a + 3], 2.0 * d4 - s[a + 4], 2.0 * d5 - s[a + 5]
        F[u, 3], F[u, 4], F[u, 5] = n0, n1, n2
    for c in range(k):  # by xi: each mode brings its part of the foreshortening along
        u = row + c
        for b in range(n - k):
            f = work.bow[model.bow_at[i] + b * k + c]
            for j in range(6):
                D[u, j] = D[u, j] + f * D[row + k + b, j]
                F[u, j] = F[u, j] + f * F[row + k + b, j]
        x2, y2, z2 = turned(R, i, F[u, 0], F[u, 1], F[u, 2])
        n0, n1, n2 = turned(R, i, F[u, 3], F[u, 4], F[u, 5])
        work.h[l + c, 0], work.h[l + c, 1], work.h[l + c, 2] = x2, y2, z2
        work.h[l + c, 3] = n0 + (r1 * z2 - r2 * y2)
        work.h[l + c, 4] = n1 + (r2 * x2 - r0 * z2)
        work.h[l + c, 5] = n2 + (r0 * y2 - r1 * x2)
    own_mass(model, work, i)
    S, f = work.bent, model.modal[i]
    S[f, 0], S[f, 1], S[f, 2] = x, y, z
    S[f, 3], S[f, 4], S[f, 5] = j0, j1, j2
    S[f, 6], S[f, 7], S[f, 8] = j3, j4, j5
    x, y, z = turned(R, i, x, y, z)
    # R J R^T, then from the frame's origin to the reference origin
    a0, a1, a2 = turned(R, i, j0, j1, j2)
    b0, b1, b2 = turned(R, i, j1, j3, j4)
    c0, c1, c2 = turned(R, i, j2, j4, j5)
    xx, xy, xz = turned(R, i, a0, b0, c0)
    _, yy, yz = turned(R, i, a1, b1, c1)
    _, _, zz = turned(R, i, a2, b2, c2)
    h0, h1, h2 = m * r0 + x, m * r1 + y, m * r2 + z
    # 2 r.S + m r.r and so on, as (h + S) and r
    e0, e1, e2 = h0 + x, h1 + y, h2 + z
    s00, s11, s22 = e0 * r0, e1 * r1, e2 * r2
    out = work.inertia
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = m, h0, h1, h2
    out[i, 4] = xx + (s11 + s22)
    out[i, 5] = xy - (h0 * r1 + r0 * y)
    out[i, 6] = xz - (h0 * r2 + r0 * z)
    out[i, 7] = yy + (s00 + s22)
    out[i, 8] = yz - (h1 * r2 + r1 * z)
    out[i, 9] = zz + (s00 + s11)


@seldom(TERMS)
def own_terms(model, work, i):
    """W = Q^ - M^ A of a flexible body alone, by the equations on top in the body's axes, where its integrals are sparse;
    work.own: what the body alone adds to the equations of its modes, for xi'' = 0. Q^ follows (for loads)."""
    k, l, v = model.modes[i], model.v_at[i], work.xi_rate
    R, r, s = work.R, work.r, model.shape
    Y, A, S = work.Y, work.A, work.bent
    f, m = model.modal[i], s[model.inertia_at[i]]
    w0, w1, w2 = Y[i, 3], Y[i, 4], Y[i, 5]
    e0, e1, e2 = A[i, 3], A[i, 4], A[i, 5]
    r0, r1, r2 = r[i, 0], r[i, 1], r[i, 2]
    v0, v1, v2 = Y[i, 0] + (w1 * r2 - w2 * r1), Y[i, 1] + (w2 * r0 - w0 * r2), Y[i, 2] + (w0 * r1 - w1 * r0)
    # acceleration of the frame's origin
    a0 = A[i, 0] + (e1 * r2 - e2 * r1) + (w1 * v2 - w2 * v1)
    a1 = A[i, 1] + (e2 * r0 - e0 * r2) + (w2 * v0 - w0 * v2)
    a2 = A[i, 2] + (e0 * r1 - e1 * r0) + (w0 * v1 - w1 * v0)
    a0, a1, a2 = turned_back(R, i, a0, a1, a2)
    e0, e1, e2 = turned_back(R, i, e0, e1, e2)
    w0, w1, w2 = turned_back(R, i, w0, w1, w2)
    p0, p1, p2 = 0.0, 0.0, 0.0  # S'
    q0, q1, q2 = 0.0, 0.0, 0.0  # N_c xi_c'
    f0, f1, f2 = 0.0, 0.0, 0.0  # what the foreshortening's acceleration takes, and J' w
    n0, n1, n2 = 0.0, 0.0, 0.0
    row, n = model.eta_at[i], k + model.bows[i]
    F, D, g, rate = work.slides, work.turns, work.bow, work.eta_rate
    for c in range(k):
        x, u = v[l + c], row + c
        rate[u] = x
        p0, p1, p2 = p0 + F[u, 0] * x, p1 + F[u, 1] * x, p2 + F[u, 2] * x
        q0, q1, q2 = q0 + F[u, 3] * x, q1 + F[u, 4] * x, q2 + F[u, 5] * x
        u0 = D[u, 0] * w0 + D[u, 1] * w1 + D[u, 2] * w2
        u1 = D[u, 1] * w0 + D[u, 3] * w1 + D[u, 4] * w2
        u2 = D[u, 2] * w0 + D[u, 4] * w1 + D[u, 5] * w2
        n0, n1, n2 = n0 + x * u0, n1 + x * u1, n2 + x * u2
        work.own[l + c] = (
            0.5 * (w0 * u0 + w1 * u1 + w2 * u2)
            - (F[u, 0] * a0 + F[u, 1] * a1 + F[u, 2] * a2)
            - (F[u, 3] * e0 + F[u, 4] * e1 + F[u, 5] * e2)
        )
    for b in range(n - k):  # the foreshortening's rate, and its acceleration for xi'' = 0
        at, u = integral(model, i, 6) + b * k * k, row + k + b
        x, y = 0.0, 0.0
        for c in range(k):
            x = x + g[model.bow_at[i] + b * k + c] * v[l + c]
            for d in range(k):
                y = y + s[at + c * k + d] * v[l + c] * v[l + d]
        rate[u] = x
        f0, f1, f2 = f0 + F[u, 0] * y, f1 + F[u, 1] * y, f2 + F[u, 2] * y
        n0, n1, n2 = n0 + F[u, 3] * y, n1 + F[u, 4] * y, n2 + F[u, 5] * y
        for c in range(k):
            x = s[integral(model, i, 3) + c * n + k + b]
            for d in range(n - k):
                x = x + g[model.bow_at[i] + d * k + c] * s[integral(model, i, 3) + (k + d) * n + k + b]
            work.own[l + c] = work.own[l + c] - x * y
    for c in range(n):  # w . (N1_dc - N1_cd) eta_d'
        x = 0.0
        for d in range(n):
            a, b = integral(model, i, 5) + 3 * (d * n + c), integral(model, i, 5) + 3 * (c * n + d)
            x = x + rate[row + d] * (w0 * (s[a] - s[b]) + w1 * (s[a + 1] - s[b + 1]) + w2 * (s[a + 2] - s[b + 2]))
        if c < k:
            work.own[l + c] = work.own[l + c] - x
        else:
            for d in range(k):
                work.own[l + d] = work.own[l + d] - g[model.bow_at[i] + (c - k) * k + d] * x
    x, y, z = S[f, 0], S[f, 1], S[f, 2]
    # m a + e x S + w x (w x S + 2 S') + S_cd xi_c' xi_d'
    u0, u1, u2 = 2.0 * p0 + (w1 * z - w2 * y), 2.0 * p1 + (w2 * x - w0 * z), 2.0 * p2 + (w0 * y - w1 * x)
    f0 = f0 + m * a0 + (e1 * z - e2 * y) + (w1 * u2 - w2 * u1)
    f1 = f1 + m * a1 + (e2 * x - e0 * z) + (w2 * u0 - w0 * u2)
    f2 = f2 + m * a2 + (e0 * y - e1 * x) + (w0 * u1 - w1 * u0)
    # S x a + J e + w x (J w + N_c xi_c') + J' w + ...
    u0 = q0 + S[f, 3] * w0 + S[f, 4] * w1 + S[f, 5] * w2
    u1 = q1 + S[f, 4] * w0 + S[f, 6] * w1 + S[f, 7] * w2
    u2 = q2 + S[f, 5] * w0 + S[f, 7] * w1 + S[f, 8] * w2
    n0 = n0 + (y * a2 - z * a1) + (S[f, 3] * e0 + S[f, 4] * e1 + S[f, 5] * e2) + (w1 * u2 - w2 * u1)
    n1 = n1 + (z * a0 - x * a2) + (S[f, 4] * e0 + S[f, 6] * e1 + S[f, 7] * e2) + (w2 * u0 - w0 * u2)
    n2 = n2 + (x * a1 - y * a0) + (S[f, 5] * e0 + S[f, 7] * e1 + S[f, 8] * e2) + (w0 * u1 - w1 * u0)
    f0, f1, f2 = turned(R, i, f0, f1, f2)
    n0, n1, n2 = turned(R, i, n0, n1, n2)
    Q, W = work.Q, work.W
    W[i, 0], W[i, 1], W[i, 2] = Q[i, 0] - f0, Q[i, 1] - f1, Q[i, 2] - f2
    W[i, 3] = Q[i, 3] - n0 - (r1 * f2 - r2 * f1)
    W[i, 4] = Q[i, 4] - n1 - (r2 * f0 - r0 * f2)
    W[i, 5] = Q[i, 5] - n2 - (r0 * f1 - r1 * f0)
    f0, f1, f2, n0, n1, n2 = inertia_times(work.inertia, i, A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5])
    Q[i, 0], Q[i, 1], Q[i, 2] = W[i, 0] + f0, W[i, 1] + f1, W[i, 2] + f2
    Q[i, 3], Q[i, 4], Q[i, 5] = W[i, 3] + n0, W[i, 4] + n1, W[i, 5] + n2
    for c in range(l, l + k):
        work.own[c] = work.own[c] + dot6(work.B, c, W, i)


@inline
def add_momentum(model, work, i, rate, out, j):
    """out[j] += h_c rate_c: of momentum (rate: the modes' speeds) or force (their accelerations)."""
    for c in range(model.v_at[i], model.v_end[i]):
        for b in range(6):
            out[j, b] = out[j, b] + work.h[c, b] * rate[c]


@inline
def modal_mass(model, work, i, c, d):
    """m_cd of two columns of body i, alone and as it is bent."""
    l = model.v_at[i]
    return work.own_mass[model.block_at[i] + (c - l) * model.modes[i] + d - l]


@inline
def block_place(model, i, c, d):
    """Where M_cd of two columns of body i is in work.block; d <= c."""
    l = model.v_at[i]
    return model.block_at[i] + (c - l) * model.modes[i] + d - l


@seldom(COLUMNS)
def modal_columns(model, work, i):
    """U and the block of M of the modes of body i; U of the blades of its points is there already."""
    l = model.v_at[i]
    B, U, h = work.B, work.U, work.h
    for c in range(l, model.v_end[i]):
        u0, u1, u2, u3, u4, u5 = inertia_times(work.inertia, i, B[c, 0], B[c, 1], B[c, 2], B[c, 3], B[c, 4], B[c, 5])
        U[c, 0], U[c, 1], U[c, 2] = u0 + h[c, 0], u1 + h[c, 1], u2 + h[c, 2]
        U[c, 3], U[c, 4], U[c, 5] = u3 + h[c, 3], u4 + h[c, 4], u5 + h[c, 5]
        for d in range(l, c + 1):
            m = modal_mass(model, work, i, c, d) + dot6(B, d, U, c) + dot6(h, d, B, c)
            work.block[block_place(model, i, c, d)] = m
    for x in range(model.copy_at[i], model.copy_end[i]):
        c = model.blade_column[x]
        for j in range(6):
            U[c, j] = U[c, j] + U[x, j]
        for d in range(l, c + 1):
            at = block_place(model, i, c, d)
            work.block[at] = work.block[at] + dot6(B, x - c + d, U, x)


@inline
def mass_entry(model, work, c, x):
    """M of column c and the column of blade x on its path."""
    i, j = model.column_body[c], model.blade_column[x]
    if model.modal[i] >= 0 and model.column_body[j] == i:
        return work.block[block_place(model, i, c, j)]
    return dot6(work.B, x, work.U, c)


@inline
def generalised_force(model, work, c):
    """B^T W of column c; of a mode, its own body's part and what each of its points carries."""
    i = model.column_body[c]
    if model.modal[i] < 0:
        return dot6(work.B, c, work.W, i)
    total = work.own[c]
    for x in range(model.copy_at[i] + c - model.v_at[i], model.copy_end[i], model.modes[i]):
        total = total + dot6(work.B, x, work.W, model.blade_body[x])
    return total


@seldom(ENERGY)
def modal_energy(model, work, i):
    """Kinetic energy of a flexible body beyond that of its frame, Y . h_c xi_c' + 1/2 m_cd xi_c' xi_d', into work.own of its
    first mode."""
    total = 0.0
    for c in range(model.v_at[i], model.v_end[i]):
        x = dot6(work.h, c, work.Y, i)
        for d in range(model.v_at[i], model.v_end[i]):
            x = x + 0.5 * modal_mass(model, work, i, c, d) * work.xi_rate[d]
        total = total + x * work.xi_rate[c]
    work.own[model.v_at[i]] = total
