"""A flexible body alone, as it is bent: its inertia, the momentum of its modes, and what its motion takes.

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
seen from it.

docs/references.md: [P3], [Shabana 2013], [Schwertassek, Wallrapp 1999], [Kane, Ryan, Banerjee 1987].
"""

from __future__ import annotations

from madi.bodies.fields import Arrays, Work
from madi.kernel import inline, kernel
from madi.spatial.inertia import put_inertia_from, turned_symmetric
from madi.spatial.vector import (
    NO_VECTOR,
    at,
    cross,
    dot,
    first,
    join,
    minus,
    plus,
    plus_scaled,
    put,
    scaled,
    second,
    six,
    six_at,
    symmetric_times,
    three,
    turned,
    turned_back,
    velocity_at,
)

S1, J1, N0, MASS, J2, N1, G = range(7)  # the integrals in their order; before them are m, S0, J0


@inline
def integral(model: Arrays, i, what):
    """First number of an integral of body i."""
    k, start = model.modes[i] + model.shortenings[i], model.inertia_at[i] + 10
    if what == S1:
        return start
    if what == J1:
        return start + 3 * k
    if what == N0:
        return start + 9 * k
    if what == MASS:
        return start + 12 * k
    if what == J2:
        return start + 12 * k + k * k
    if what == N1:
        return start + 12 * k + 7 * k * k
    return start + 12 * k + 10 * k * k


@kernel
def bend(model: Arrays, work: Work, i):
    """eta = (xi, 1/2 xi^T G_r xi) and g_rc = sum_e G_rce xi_e, how function r of the foreshortening grows with mode c."""
    k, l, n = model.modes[i], model.v_at[i], model.shortenings[i]
    numbers, g, row = integral(model, i, G), model.shortening_at[i], model.eta_at[i]
    for c in range(k):
        work.eta[row + c] = work.xi[l + c]
    for r in range(n):
        total = 0.0
        for c in range(k):
            x = 0.0
            for e in range(k):
                x = x + model.shape[numbers + (r * k + c) * k + e] * work.xi[l + e]
            work.shortening[g + r * k + c] = x
            total = total + 0.5 * x * work.xi[l + c]
        work.eta[row + k + r] = total


@kernel
def own_mass(model: Arrays, work: Work, i):
    """m_cd of the body as it is bent: E^T m E, E = (1, g)."""
    k, n, m = model.modes[i], model.shortenings[i], integral(model, i, MASS)
    s, g, start = model.shape, work.shortening, model.shortening_at[i]
    size = k + n
    for c in range(k):
        for d in range(c + 1):
            total = s[m + c * size + d]
            for r in range(n):
                x, y = g[start + r * k + c], g[start + r * k + d]
                total = total + s[m + c * size + k + r] * y + x * s[m + d * size + k + r]
                for b in range(n):
                    total = total + x * s[m + (k + r) * size + k + b] * g[start + b * k + d]
            work.own_mass[model.block_at[i] + c * k + d] = total
            work.own_mass[model.block_at[i] + d * k + c] = total


@kernel
def bent_body(model: Arrays, work: Work, i):
    """work.inertia of the body, h and m of its modes."""
    bend(model, work, i)
    by_functions(model, work, i)
    by_modes(model, work, i)
    own_mass(model, work, i)
    m, S = model.shape[model.inertia_at[i]], turned(work.R, i, three(work.bent, model.modal[i]))
    J = turned_symmetric(work.R, i, bent_inertia(model, work, i))
    put_inertia_from(work.inertia, i, m, three(work.r, i), S, J)


@kernel
def by_functions(model: Arrays, work: Work, i):
    """S and J of the bent body into work.bent; of every function of eta, S_a and N_a into work.slides, dJ/deta_a into
    work.turns, all in the body's axes."""
    n, s = model.modes[i] + model.shortenings[i], model.shape
    start, row, eta = model.inertia_at[i], model.eta_at[i], work.eta
    S, J = at(s, start + 1), six_at(s, start + 4)
    for a in range(n):
        slide, turn = at(s, integral(model, i, S1) + 3 * a), six_at(s, integral(model, i, J1) + 6 * a)
        N, half = at(s, integral(model, i, N0) + 3 * a), turn
        for b in range(n):
            x = eta[row + b]
            N = plus_scaled(N, x, at(s, integral(model, i, N1) + 3 * (b * n + a)))
            half = plus_scaled(half, 0.5 * x, six_at(s, integral(model, i, J2) + 6 * (a * n + b)))
        S, J = plus_scaled(S, eta[row + a], slide), plus_scaled(J, eta[row + a], half)
        put(work.slides, row + a, join(slide, N))
        put(work.turns, row + a, minus(scaled(2.0, half), turn))  # J1 and twice the half of J2
    put_bent(work, model.modal[i], S, J)


@kernel
def by_modes(model: Arrays, work: Work, i):
    """By xi: each mode brings its part of the foreshortening along; then h_c, about the reference origin."""
    k, row, start = model.modes[i], model.eta_at[i], model.shortening_at[i]
    D, F, r = work.turns, work.slides, three(work.r, i)
    for c in range(k):
        D_c, F_c = six(D, row + c), six(F, row + c)
        for b in range(model.shortenings[i]):
            g = work.shortening[start + b * k + c]
            D_c, F_c = plus_scaled(D_c, g, six(D, row + k + b)), plus_scaled(F_c, g, six(F, row + k + b))
        put(D, row + c, D_c)
        put(F, row + c, F_c)
        S, N = turned(work.R, i, first(F_c)), turned(work.R, i, second(F_c))
        put(work.h, model.v_at[i] + c, join(S, plus(N, cross(r, S))))


@inline
def put_bent(work: Work, f, S, J):
    """work.bent of flexible body f: S and J in its axes."""
    put(work.bent, f, S)
    work.bent[f, 3], work.bent[f, 4], work.bent[f, 5] = J[0], J[1], J[2]
    work.bent[f, 6], work.bent[f, 7], work.bent[f, 8] = J[3], J[4], J[5]


@inline
def bent_inertia(model: Arrays, work: Work, i):
    """J of flexible body i in its axes."""
    J, f = work.bent, model.modal[i]
    return J[f, 3], J[f, 4], J[f, 5], J[f, 6], J[f, 7], J[f, 8]


@kernel
def own_force(model: Arrays, work: Work, i):
    """Force (f, n) about the reference origin that the motion of the body takes for xi'' = 0, by the equations on top in its
    axes, where its integrals are sparse; work.own: what it adds to the equations of its modes, but for that force."""
    R, r = work.R, three(work.r, i)
    Y, A, m = six(work.Y, i), six(work.A, i), model.shape[model.inertia_at[i]]
    a = plus(velocity_at(A, r), cross(second(Y), velocity_at(Y, r)))  # acceleration of the frame's origin
    a, e, w = turned_back(R, i, a), turned_back(R, i, second(A)), turned_back(R, i, second(Y))
    S_rate, N_rate, turn = modes_in_motion(model, work, i, a, e, w)
    f, n = foreshortening_in_motion(model, work, i)
    coriolis(model, work, i, w)
    S, J = three(work.bent, model.modal[i]), bent_inertia(model, work, i)
    # m a + e x S + w x (w x S + 2 S') + S1_r y_r
    f = plus(plus(plus_scaled(f, m, a), cross(e, S)), cross(w, plus(scaled(2.0, S_rate), cross(w, S))))
    # S x a + J e + w x (J w + N_c xi_c') + J' w + N_r y_r
    n = plus(plus(n, turn), plus(cross(S, a), symmetric_times(J, e)))
    n = plus(n, cross(w, plus(N_rate, symmetric_times(J, w))))
    f, n = turned(R, i, f), turned(R, i, n)
    return join(f, plus(n, cross(r, f)))


@kernel
def modes_in_motion(model: Arrays, work: Work, i, a, e, w):
    """S', N_c xi_c' and J' w; work.own = 1/2 w . dJ/dxi_c w - S_c . a - N_c . e."""
    S_rate, N_rate, turn = NO_VECTOR, NO_VECTOR, NO_VECTOR
    row, l = model.eta_at[i], model.v_at[i]
    for c in range(model.modes[i]):
        x, F = work.xi_rate[l + c], six(work.slides, row + c)
        work.eta_rate[row + c] = x
        S_rate, N_rate = plus_scaled(S_rate, x, first(F)), plus_scaled(N_rate, x, second(F))
        u = symmetric_times(six(work.turns, row + c), w)
        turn = plus_scaled(turn, x, u)
        work.own[l + c] = 0.5 * dot(w, u) - dot(first(F), a) - dot(second(F), e)
    return S_rate, N_rate, turn


@kernel
def foreshortening_in_motion(model: Arrays, work: Work, i):
    """S1_r y_r and N_r y_r: what the foreshortening's acceleration for xi'' = 0 takes; work.own less E_ac m_ar y_r. Its rate
    is kept."""
    k, l, n = model.modes[i], model.v_at[i], model.modes[i] + model.shortenings[i]
    s, g, v = model.shape, work.shortening, work.xi_rate
    f, moment, start = NO_VECTOR, NO_VECTOR, model.shortening_at[i]
    for b in range(n - k):
        numbers, m, u = integral(model, i, G) + b * k * k, integral(model, i, MASS), model.eta_at[i] + k + b
        x, y = 0.0, 0.0
        for c in range(k):
            x = x + g[start + b * k + c] * v[l + c]
            for d in range(k):
                y = y + s[numbers + c * k + d] * v[l + c] * v[l + d]
        work.eta_rate[u] = x
        F = six(work.slides, u)
        f, moment = plus_scaled(f, y, first(F)), plus_scaled(moment, y, second(F))
        for c in range(k):
            x = s[m + c * n + k + b]
            for d in range(n - k):
                x = x + g[start + d * k + c] * s[m + (k + d) * n + k + b]
            work.own[l + c] = work.own[l + c] - x * y
    return f, moment


@kernel
def coriolis(model: Arrays, work: Work, i, w):
    """work.own less E_ac w . (N1_ba - N1_ab) eta_b'."""
    k, l, n = model.modes[i], model.v_at[i], model.modes[i] + model.shortenings[i]
    s, numbers, row = model.shape, integral(model, i, N1), model.eta_at[i]
    for a in range(n):
        x = 0.0
        for b in range(n):
            change = minus(at(s, numbers + 3 * (b * n + a)), at(s, numbers + 3 * (a * n + b)))
            x = x + work.eta_rate[row + b] * dot(w, change)
        if a < k:
            work.own[l + a] = work.own[l + a] - x
        else:
            for c in range(k):
                work.own[l + c] = work.own[l + c] - work.shortening[model.shortening_at[i] + (a - k) * k + c] * x
