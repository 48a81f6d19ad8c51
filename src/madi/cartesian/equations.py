"""The absolute-coordinate equations, q = (r, p) of every body, p Euler parameters (Haug, ch. 9 and 11).

    w' = 2 G p',    m r'' + Phi_r^T lam = f,    4 G^T J G p'' + (Phi_w' 2 G)^T lam = 2 G^T (n' - w' x J w'),

Phi_r r'' + Phi_w' 2 G p'' = gamma, and p^T p'' = -p'^T p' of every body. The last is no row of its own:
k p (p^T p'' + p'^T p') is added to the equations of p, along which all their other terms vanish; so the mass matrix is
definite, 4 x 4 for the rotation of a body. Rows that depend on each other do no harm: the multipliers have -eps on their
diagonal, which proximal steps take out again.

docs/references.md: [Haug 1989].
"""

from __future__ import annotations

from madi.cartesian.motion import local_spin
from madi.kernel import kernel
from madi.loops.kkt import ACCELERATION, FACTORISATIONS, VALID, eliminate, solve


@kernel
def masses(model, work):
    """The mass matrix of every body: m three times, then the upper triangle of 4 G^T J G + k p p^T, k the trace of J."""
    G, J, q, M = work.G, model.J, work.q, work.mass
    for i in range(model.n):
        for j in range(3):
            M[i, j] = model.mass[i]
        stiff = J[i, 0, 0] + J[i, 1, 1] + J[i, 2, 2]
        at = 3
        for a in range(4):
            x = J[i, 0, 0] * G[i, 0, a] + J[i, 0, 1] * G[i, 1, a] + J[i, 0, 2] * G[i, 2, a]
            y = J[i, 1, 0] * G[i, 0, a] + J[i, 1, 1] * G[i, 1, a] + J[i, 1, 2] * G[i, 2, a]
            z = J[i, 2, 0] * G[i, 0, a] + J[i, 2, 1] * G[i, 1, a] + J[i, 2, 2] * G[i, 2, a]
            for b in range(a, 4):
                M[i, at] = (
                    4.0 * (x * G[i, 0, b] + y * G[i, 1, b] + z * G[i, 2, b]) + stiff * q[7 * i + 3 + a] * q[7 * i + 3 + b]
                )
                at += 1


@kernel
def factorise(model, work):
    """The factor for the masses and Jacobian in work."""
    F = work.factor
    for k in range(model.nu + model.nl):
        F[k] = 0.0
    for i in range(model.n):
        for j in range(13):
            F[model.m_place[i, j]] = work.mass[i, j]
    for r in range(model.nr):
        F[model.row_place[r]] = -model.row_value[r, 2]
        for slot in range(4):
            if model.row_body[r, slot] < model.n:
                for j in range(7 * slot, 7 * slot + 7):
                    p = model.j_place[r, j]
                    if p >= 0:
                        F[p] = F[p] + work.jacobian[r, j]
    eliminate(model, F)
    work.tally[VALID] = 1.0
    work.tally[FACTORISATIONS] = work.tally[FACTORISATIONS] + 1.0


@kernel
def right_hand_side(model, work, x):
    """x = (forces, gamma)."""
    G, J = work.G, model.J
    for i in range(model.n):
        k, R, F = 7 * i, work.R, work.force
        w0, w1, w2 = local_spin(work, i, work.v, k)
        h0 = J[i, 0, 0] * w0 + J[i, 0, 1] * w1 + J[i, 0, 2] * w2
        h1 = J[i, 1, 0] * w0 + J[i, 1, 1] * w1 + J[i, 1, 2] * w2
        h2 = J[i, 2, 0] * w0 + J[i, 2, 1] * w1 + J[i, 2, 2] * w2
        n0 = R[i, 0, 0] * F[i, 3] + R[i, 1, 0] * F[i, 4] + R[i, 2, 0] * F[i, 5] - (w1 * h2 - w2 * h1)
        n1 = R[i, 0, 1] * F[i, 3] + R[i, 1, 1] * F[i, 4] + R[i, 2, 1] * F[i, 5] - (w2 * h0 - w0 * h2)
        n2 = R[i, 0, 2] * F[i, 3] + R[i, 1, 2] * F[i, 4] + R[i, 2, 2] * F[i, 5] - (w0 * h1 - w1 * h0)
        a, b, c, d = work.v[k + 3], work.v[k + 4], work.v[k + 5], work.v[k + 6]
        stiff = (J[i, 0, 0] + J[i, 1, 1] + J[i, 2, 2]) * (a * a + b * b + c * c + d * d)
        for j in range(3):
            x[model.q_place[k + j]] = F[i, j]
        for j in range(4):
            x[model.q_place[k + 3 + j]] = (
                2.0 * (G[i, 0, j] * n0 + G[i, 1, j] * n1 + G[i, 2, j] * n2) - stiff * work.q[k + 3 + j]
            )
    for r in range(model.nr):
        x[model.row_place[r]] = work.gamma[r]


@kernel
def residual(model, work, x, out):
    """out = right-hand side less the matrix in work times x."""
    right_hand_side(model, work, out)
    for i in range(model.n):
        k, at = 7 * i, 3
        for j in range(3):
            p = model.q_place[k + j]
            out[p] = out[p] - work.mass[i, j] * x[p]
        for a in range(4):
            p = model.q_place[k + 3 + a]
            for b in range(a, 4):
                s = model.q_place[k + 3 + b]
                out[p] = out[p] - work.mass[i, at] * x[s]
                if a != b:
                    out[s] = out[s] - work.mass[i, at] * x[p]
                at += 1
    for r in range(model.nr):
        p = model.row_place[r]
        for slot in range(4):
            i = model.row_body[r, slot]
            if i < model.n:
                for j in range(7):
                    if model.j_place[r, 7 * slot + j] >= 0:
                        s, y = model.q_place[7 * i + j], work.jacobian[r, 7 * slot + j]
                        out[p] = out[p] - y * x[s]
                        out[s] = out[s] - y * x[p]


@kernel
def accelerations(model, work, fresh):
    """a and lam by quasi-Newton steps with the factor at hand, which is made anew if they gain too little."""
    x, y = work.unknown, work.correction
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    last = 1e300
    for _ in range(30):
        residual(model, work, x, y)
        solve(model, work.factor, y)
        size, scale = 0.0, 1e-3
        for k in range(model.nu):
            x[k] = x[k] + y[k]
        for k in range(7 * model.n):
            p = model.q_place[k]
            scale = max(scale, abs(x[p]))
            if not abs(y[p]) <= size:
                size = abs(y[p])
        work.tally[ACCELERATION] = work.tally[ACCELERATION] + 1.0
        if size <= 1e-12 * scale:
            break
        if not size < 0.2 * last:
            if size <= 1e-10 * scale:
                break
            if not fresh:
                factorise(model, work)
                right_hand_side(model, work, x)
                solve(model, work.factor, x)
                fresh = True
        last = size
    for k in range(7 * model.n):
        work.a[k] = x[model.q_place[k]]
    for r in range(model.nr):
        work.lam[r] = x[model.row_place[r]]
