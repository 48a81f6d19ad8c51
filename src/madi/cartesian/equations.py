"""The absolute-coordinate equations, q = (r, p) of every body, p Euler parameters (Haug, ch. 9 and 11).

    w' = 2 G p',    m r'' + Phi_r^T lam = f,    4 G^T J G p'' + (Phi_w' 2 G)^T lam = 2 G^T (n' - w' x J w'),

Phi_r r'' + Phi_w' 2 G p'' = gamma, and p^T p'' = -p'^T p' of every body. The last is no row of its own:
k p (p^T p'' + p'^T p') is added to the equations of p, along which all their other terms vanish; so the mass matrix is
definite, 4 x 4 for the rotation of a body. Rows that depend on each other do no harm: the multipliers have -eps on their
diagonal, which proximal steps take out again.

docs/references.md: [Haug 1989].
"""

from __future__ import annotations

from madi.cartesian.fields import Arrays, Work
from madi.cartesian.motion import local_spin
from madi.constraints.fields import REGULARISATION
from madi.kernel import HUGE, inline, kernel
from madi.loops.closing import LEAST_ACCELERATION, MOST_ITERATIONS, SLOW
from madi.loops.kkt import eliminate, solve
from madi.spatial.vector import axis, cross, dot, minus, second, six, turned, turned_back

ACCELERATION_TINY, ACCELERATION_GOOD = 1e-12, 1e-10  # of the largest: stop at once; stop when nothing more is gained


@kernel
def masses(model: Arrays, work: Work):
    """The mass matrix of every body: m three times, then the upper triangle of 4 G^T J G + k p p^T, k the trace of J."""
    G, q, M = work.G, work.q, work.mass
    for i in range(model.n):
        for j in range(3):
            M[i, j] = model.mass[i]
        stiff = trace(model.J, i)
        m = 3
        for a in range(4):
            x = turned(model.J, i, axis(G, i, a))
            for b in range(a, 4):
                M[i, m] = 4.0 * dot(x, axis(G, i, b)) + stiff * q[7 * i + 3 + a] * q[7 * i + 3 + b]
                m += 1


@inline
def trace(J, i):
    """xx + yy + zz of matrix i."""
    return J[i, 0, 0] + J[i, 1, 1] + J[i, 2, 2]


@kernel
def factorise(model: Arrays, work: Work):
    """The factor for the masses and Jacobian in work."""
    F = work.factor
    for k in range(model.nu + model.nl):
        F[k] = 0.0
    for i in range(model.n):
        for j in range(13):
            F[model.m_place[i, j]] = work.mass[i, j]
    for r in range(model.nr):
        F[model.row_place[r]] = -model.row_value[r, REGULARISATION]
        for slot in range(4):
            if model.row_body[r, slot] < model.n:
                for j in range(7):
                    p = model.j_place[4 * r + slot, j]
                    if p >= 0:
                        F[p] = F[p] + work.jacobian[4 * r + slot, j]
    eliminate(model, F)
    work.factor_valid = 1
    work.tally.factorisations += 1


@kernel
def right_hand_side(model: Arrays, work: Work, x):
    """x = (forces, gamma)."""
    for i in range(model.n):
        k, F = 7 * i, six(work.force, i)
        w = local_spin(work, i, work.v, k)
        n = minus(turned_back(work.R, i, second(F)), cross(w, turned(model.J, i, w)))
        a, b, c, d = work.v[k + 3], work.v[k + 4], work.v[k + 5], work.v[k + 6]
        stiff = trace(model.J, i) * (a * a + b * b + c * c + d * d)
        for j in range(3):
            x[model.q_place[k + j]] = work.force[i, j]
        for j in range(4):
            x[model.q_place[k + 3 + j]] = 2.0 * dot(axis(work.G, i, j), n) - stiff * work.q[k + 3 + j]
    for r in range(model.nr):
        x[model.row_place[r]] = work.gamma[r]


@kernel
def residual(model: Arrays, work: Work, x, out):
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
                    if model.j_place[4 * r + slot, j] >= 0:
                        s, y = model.q_place[7 * i + j], work.jacobian[4 * r + slot, j]
                        out[p] = out[p] - y * x[s]
                        out[s] = out[s] - y * x[p]


@kernel
def accelerations(model: Arrays, work: Work, fresh):
    """a and lam by quasi-Newton steps with the factor at hand, which is made anew if they gain too little."""
    x, y = work.unknown, work.correction
    right_hand_side(model, work, x)
    solve(model, work.factor, x)
    last = HUGE
    for _ in range(MOST_ITERATIONS):
        residual(model, work, x, y)
        solve(model, work.factor, y)
        size, scale = 0.0, LEAST_ACCELERATION
        for k in range(model.nu):
            x[k] = x[k] + y[k]
        for k in range(7 * model.n):
            p = model.q_place[k]
            scale = max(scale, abs(x[p]))
            if not abs(y[p]) <= size:
                size = abs(y[p])
        work.tally.acceleration_steps += 1
        if size <= ACCELERATION_TINY * scale:
            break
        if not size < SLOW * last:
            if size <= ACCELERATION_GOOD * scale:
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
