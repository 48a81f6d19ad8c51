"""A flexible body alone, as it is bent: its inertia, the momentum of its modes, and what its motion takes.

A flexible body with modal coordinates xi is, in its frame, the field rho = s + sum Psi_c xi_c + 1/2 sum X_cd xi_c xi_d. It
is written with scalar functions f_a of place, each along one axis e_a (flexible/integrals.py): the parts of the Psi_c along
y, z and x, and, along x, the chi_p of what bending takes from its length, X_cd = e_x sum_p chi_p psi_c'(p) psi_d'(p). Then
the field is linear in eta = (xi, zeta), zeta_p = 1/2 w'^2 with the slope w' = sum psi_c' xi_c at the place p. With
sigma_a = int f_a dm, w_ab = int f_a f_b dm and p0_a = int s f_a dm, all computed once,

    p_a = int rho f_a dm = p0_a + sum_b w_ab e_b eta_b,     S = int rho dm = S0 + sum sigma_a e_a eta_a,
    N_a = int rho x e_a f_a dm = p_a x e_a,     J = int (rho.rho - rho rho^T) dm = J0 + sum 1/2 eta_a T(p0_a + p_a, e_a),
    dJ/deta_a = T(p_a, e_a),     T(p, e) = 2 p.e - p e^T - e p^T

are complete but for the sections' own inertias, which enter linearly: t_c in N_c, and in m_cd. By xi each mode has its
parts and E_pc = dzeta_p/dxi_c = w' psi_c': S_c = E_ac sigma_a e_a, and so on. The modal mass of the body as it is bent is
that of the modes, w_ap E_pd of parts along x, and E^T w E of the chi_p, which is g^T g by fewer, orthonormal functions
phi_r: X_cd = e_x sum_r G_rcd phi_r, g_rc = G_rcd xi_d. To form it takes O(k^3), as to solve with it; all else is O(k^2), for
the places are some multiple of the modes, and what needs only its product with a vector (`mass_times`) does not form it.

Momentum is K Y + h_c xi_c', where K is the ten-number inertia of (m, S, J) and h_c = (S_c, N_c), about the reference origin.
In the body's axes and about its own origin

    m a + e x S + S_c xi_c''         + w x (w x S + 2 S') + e_x sigma_p y_p                              = F,
    S x a + J e + N_c xi_c''         + w x (J w + N_c xi_c') + J' w + N_p y_p                            = moment of F,
    S_c . a + N_c . e + m_cd xi_d''  + E_ac (2 w . (q_a x e_a) - 1/2 w . dJ/deta_a w + e_a.e_x w_ap y_p) = tau_c,

y_p = (sum psi_c' xi_c')^2, q_a = int rho' f_a dm = sum_b w_ab e_b eta_b', a the acceleration of the frame's origin, w and
e = w' its angular velocity and acceleration, ' the rate seen from it.

docs/references.md: [P3], [Shabana 2013], [Schwertassek, Wallrapp 1999], [Kane, Ryan, Banerjee 1987].
"""

from __future__ import annotations

from madi.bodies.fields import Arrays, Work
from madi.kernel import inline, kernel
from madi.kernel.sums import TOGETHER, add_four, along, four_along, times
from madi.spatial.inertia import put_inertia_from, turned_symmetric
from madi.spatial.vector import (
    NO_MOTION,
    NO_VECTOR,
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    at,
    cross,
    dot,
    first,
    join,
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

# kinds of integrals, model.integral_at: m, S0, J0; sigma_a; p0_a; t_c; m_cd of the modes; w_ab; psi' of parts at places; G
RIGID, SIGMA, FIRST, TILT, MASS, OVERLAP, SLOPE, GROWTH = range(8)
Y_END, Z_END, X_END = range(3)  # model.part_end


@inline
def functions(model: Arrays, i):
    """How many functions the body is written with: parts of modes, then chi_p."""
    return model.part_end[i, X_END] + model.slopes[i]


@kernel
def bend(model: Arrays, work: Work, i):
    """eta, and E_pc of the bending parts."""
    row, places, parts = model.eta_at[i], model.slopes[i], model.part_end[i, X_END]
    s, g, w, eta = model.shape, work.shortening, work.slope, work.eta
    rows, slope = model.integral_at[i, SLOPE], model.slope_at[i]
    for u in range(parts):
        eta[row + u] = work.xi[model.v_at[i] + model.part_mode[row + u]]
    slopes_of(model, i, eta, row, w)
    for p in range(places):
        eta[row + parts + p] = 0.5 * w[slope + p] * w[slope + p]
    for u in range(model.part_end[i, Z_END]):
        at_u, numbers = model.shortening_at[i] + u * places, rows + u * places
        for p in range(model.part_first[row + u], model.part_last[row + u]):
            g[at_u + p] = w[slope + p] * s[numbers + p]


@kernel
def slopes_of(model: Arrays, i, x, k, out):
    """sum_u psi_u' x_u at the places, x[k] of the first part, into `out` of places."""
    for p in range(model.slopes[i]):
        out[model.slope_at[i] + p] = 0.0
    for plane in range(Y_END, X_END):
        add_slopes(model, i, plane, model.shape, model.integral_at[i, SLOPE], x, k, out)


@kernel
def add_slopes(model: Arrays, i, plane, a, at_a, x, k, out):
    """Add to `out` of places the rows of a, one for each part that bends in a plane, times x_u, x[k] of the first part: by
    fours where they are of the same places."""
    row, places, slope = model.eta_at[i], model.slopes[i], model.slope_at[i]
    u, end = 0 if plane == Y_END else model.part_end[i, plane - 1], model.part_end[i, plane]
    while u < end:
        first, last, at_u, at_x = model.part_first[row + u], model.part_last[row + u], at_a + u * places, k + u
        same = u + TOGETHER <= end
        for v in range(row + u + 1, row + min(u + TOGETHER, end)):
            same = same and model.part_first[v] == first and model.part_last[v] == last
        if same:
            add_four(a, at_u, places, x[at_x], x[at_x + 1], x[at_x + 2], x[at_x + 3], first, last, out, slope)
            u += TOGETHER
        else:
            for p in range(first, last):
                out[slope + p] = out[slope + p] + x[at_x] * a[at_u + p]
            u += 1


@kernel
def bent_body(model: Arrays, work: Work, i):
    """work.inertia of the body, h of its modes."""
    bend(model, work, i)
    by_functions(model, work, i)
    by_modes(model, work, i)
    m, S = model.shape[model.integral_at[i, RIGID]], turned(work.R, i, three(work.bent, model.modal[i]))
    J = turned_symmetric(work.R, i, bent_inertia(model, work, i))
    put_inertia_from(work.inertia, i, m, three(work.r, i), S, J)


@inline
def moment_of(model: Arrays, work: Work, i, a):
    """p_a."""
    n, row = functions(model, i), 4 * model.eta_at[i]
    return work.moment[row + a], work.moment[row + n + a], work.moment[row + 2 * n + a]


@inline
def turning_along(p, e):
    """T(p, e) of a unit vector along an axis: what dJ is where int rho f dm is p and f moves points along e."""
    both = dot(p, e)
    return (
        2.0 * (both - p[0] * e[0]),
        -(p[0] * e[1] + e[0] * p[1]),
        -(p[0] * e[2] + e[0] * p[2]),
        2.0 * (both - p[1] * e[1]),
        -(p[1] * e[2] + e[1] * p[2]),
        2.0 * (both - p[2] * e[2]),
    )


@kernel
def by_functions(model: Arrays, work: Work, i):
    """p_a into work.moment; S and J of the bent body into work.bent, in its axes."""
    n, row, s, p = functions(model, i), model.eta_at[i], model.shape, work.moment
    y_end, z_end, k = model.part_end[i, Y_END], model.part_end[i, Z_END], 4 * row
    rows, sigma = model.integral_at[i, OVERLAP], model.integral_at[i, SIGMA]
    times(s, rows, n, n, work.eta, row, z_end, n, p, k)
    times(s, rows, n, n, work.eta, row, 0, y_end, p, k + n)
    times(s, rows, n, n, work.eta, row, y_end, z_end, p, k + 2 * n)
    for a in range(n):
        x, y, z = at(s, model.integral_at[i, FIRST] + 3 * a)
        p[k + a], p[k + n + a], p[k + 2 * n + a] = p[k + a] + x, p[k + n + a] + y, p[k + 2 * n + a] + z
        p[k + 3 * n + a] = s[sigma + a]
    y, Y = in_all(model, work, i, 0, y_end)
    z, Z = in_all(model, work, i, y_end, z_end)
    x, X = in_all(model, work, i, z_end, n)
    start = model.integral_at[i, RIGID]
    J = plus(six_at(s, start + 4), turning_along(X, X_AXIS))
    J = plus(J, plus(turning_along(Y, Y_AXIS), turning_along(Z, Z_AXIS)))
    put_bent(work, model.modal[i], plus(at(s, start + 1), (x, y, z)), J)


@kernel
def in_all(model: Arrays, work: Work, i, start, end):
    """Sums of sigma_a eta_a and of 1/2 (p0_a + p_a) eta_a over functions along one axis."""
    total, p, row = 0.0, NO_VECTOR, model.eta_at[i]
    for a in range(start, end):
        x = work.eta[row + a]
        total = total + model.shape[model.integral_at[i, SIGMA] + a] * x
        both = plus(at(model.shape, model.integral_at[i, FIRST] + 3 * a), moment_of(model, work, i, a))
        p = plus_scaled(p, 0.5 * x, both)
    return total, p


@inline
def add_function(work: Work, c, sigma, p, e):
    """Add to S_c, N_c and dJ/dxi_c what a function along e has."""
    put(work.slides, c, plus(six(work.slides, c), join(scaled(sigma, e), cross(p, e))))
    put(work.turns, c, plus(six(work.turns, c), turning_along(p, e)))


@kernel
def by_modes(model: Arrays, work: Work, i):
    """S_c, N_c, dJ/dxi_c: of a mode's parts, and what they take from the length along; then h_c, about the reference
    origin."""
    l, row, r = model.v_at[i], model.eta_at[i], three(work.r, i)
    sigma, k, z_end = model.integral_at[i, SIGMA], model.modes[i], model.part_end[i, Z_END]
    for c in range(k):
        put(work.slides, l + c, join(NO_VECTOR, at(model.shape, model.integral_at[i, TILT] + 3 * c)))
        put(work.turns, l + c, NO_MOTION)
    for u in range(model.part_end[i, Y_END]):
        c = l + model.part_mode[row + u]
        add_function(work, c, model.shape[sigma + u], moment_of(model, work, i, u), Y_AXIS)
    for u in range(model.part_end[i, Y_END], z_end):
        c = l + model.part_mode[row + u]
        add_function(work, c, model.shape[sigma + u], moment_of(model, work, i, u), Z_AXIS)
    for u in range(z_end, model.part_end[i, X_END]):
        c = l + model.part_mode[row + u]
        add_function(work, c, model.shape[sigma + u], moment_of(model, work, i, u), X_AXIS)
    if model.slopes[i] > 0:
        for u in range(z_end):
            x, p = taken_along(model, work, i, u)
            add_function(work, l + model.part_mode[row + u], x, p, X_AXIS)
    for c in range(l, l + k):
        F = six(work.slides, c)
        S, N = turned(work.R, i, first(F)), turned(work.R, i, second(F))
        put(work.h, c, join(S, plus(N, cross(r, S))))


@kernel
def taken_along(model: Arrays, work: Work, i, u):
    """sum_p E_pc sigma_p and sum_p E_pc p_p of bending part u."""
    n, row, at_u = functions(model, i), model.eta_at[i], model.shortening_at[i] + u * model.slopes[i]
    at_p, start, end = 4 * row + model.part_end[i, X_END], model.part_first[row + u], model.part_last[row + u]
    x, y, z, sigma = four_along(work.moment, at_p, n, work.shortening, at_u, start, end)
    return sigma, (x, y, z)


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
def own_force(model: Arrays, work: Work, i, later):
    """Force (f, n) about the reference origin that the motion of the body takes for xi'' = 0, by the equations on top in its
    axes, where its integrals are sparse; work.own: what it adds to the equations of its modes, but for that force, and where
    `mass_times` follows (later = 1) but for what that takes along with its own products."""
    R, r = work.R, three(work.r, i)
    Y, A, m = six(work.Y, i), six(work.A, i), model.shape[model.integral_at[i, RIGID]]
    a = plus(velocity_at(A, r), cross(second(Y), velocity_at(Y, r)))  # acceleration of the frame's origin
    a, e, w = turned_back(R, i, a), turned_back(R, i, second(A)), turned_back(R, i, second(Y))
    S_rate, N_rate, turn = modes_in_motion(model, work, i, a, e, w)
    f, n = foreshortening_in_motion(model, work, i)
    coriolis(model, work, i, w, later)
    S, J = three(work.bent, model.modal[i]), bent_inertia(model, work, i)
    # m a + e x S + w x (w x S + 2 S') + e_x sigma_p y_p
    f = plus(plus(plus_scaled(f, m, a), cross(e, S)), cross(w, plus(scaled(2.0, S_rate), cross(w, S))))
    # S x a + J e + w x (J w + N_c xi_c') + J' w + N_p y_p
    n = plus(plus(n, turn), plus(cross(S, a), symmetric_times(J, e)))
    n = plus(n, cross(w, plus(N_rate, symmetric_times(J, w))))
    f, n = turned(R, i, f), turned(R, i, n)
    return join(f, plus(n, cross(r, f)))


@kernel
def modes_in_motion(model: Arrays, work: Work, i, a, e, w):
    """S', N_c xi_c' and J' w; work.own = 1/2 w . dJ/dxi_c w - S_c . a - N_c . e."""
    S_rate, N_rate, turn = NO_VECTOR, NO_VECTOR, NO_VECTOR
    for c in range(model.v_at[i], model.v_end[i]):
        x, F = work.xi_rate[c], six(work.slides, c)
        S_rate, N_rate = plus_scaled(S_rate, x, first(F)), plus_scaled(N_rate, x, second(F))
        u = symmetric_times(six(work.turns, c), w)
        turn = plus_scaled(turn, x, u)
        work.own[c] = 0.5 * dot(w, u) - dot(first(F), a) - dot(second(F), e)
    return S_rate, N_rate, turn


@kernel
def foreshortening_in_motion(model: Arrays, work: Work, i):
    """sum e_x sigma_p y_p and N_p y_p: what the foreshortening's acceleration for xi'' = 0 takes. eta' is kept, and y_p in
    work.push."""
    l, row, parts, slope = model.v_at[i], model.eta_at[i], model.part_end[i, X_END], model.slope_at[i]
    for u in range(parts):
        work.eta_rate[row + u] = work.xi_rate[l + model.part_mode[row + u]]
    slopes_of(model, i, work.eta_rate, row, work.push)
    x, moment = 0.0, NO_VECTOR
    for p in range(model.slopes[i]):
        rate = work.push[slope + p]
        work.eta_rate[row + parts + p] = work.slope[slope + p] * rate
        work.push[slope + p] = rate * rate
        x = x + model.shape[model.integral_at[i, SIGMA] + parts + p] * rate * rate
        moment = plus_scaled(moment, rate * rate, moment_of(model, work, i, parts + p))
    return scaled(x, X_AXIS), cross(moment, X_AXIS)


@kernel
def coriolis(model: Arrays, work: Work, i, w, later):
    """work.own less E_ac (2 w . (q_a x e_a) + e_a . e_x w_ap y_p); the products with w_ap and, for the places, with E_pc may
    come later."""
    row, n, s, k = model.eta_at[i], functions(model, i), model.shape, 3 * model.eta_at[i]
    y_end, z_end, parts = model.part_end[i, Y_END], model.part_end[i, Z_END], model.part_end[i, X_END]
    rows, slope, places, q = model.integral_at[i, OVERLAP], model.slope_at[i], model.slopes[i], work.momenta
    times(s, rows, n, z_end, work.eta_rate, row, z_end, n, q, k)
    times(s, rows, n, n, work.eta_rate, row, 0, y_end, q, k + n)
    times(s, rows, n, n, work.eta_rate, row, y_end, z_end, q, k + 2 * n)
    if later == 1:
        for a in range(z_end, n):
            q[k + a] = 0.0
    else:
        times(s, rows + z_end * n + parts, n, n - z_end, work.push, slope, 0, places, q, k + z_end)
    for u in range(y_end):
        take_own(model, work, i, u, 2.0 * (q[k + u] * w[2] - q[k + 2 * n + u] * w[0]))
    for u in range(y_end, z_end):
        take_own(model, work, i, u, 2.0 * (q[k + n + u] * w[0] - q[k + u] * w[1]))
    for a in range(z_end, n):
        q[k + a] = q[k + a] + 2.0 * (q[k + 2 * n + a] * w[1] - q[k + n + a] * w[2])
    for u in range(z_end, parts):
        take_own(model, work, i, u, q[k + u])
    if later == 0:
        for u in range(z_end):
            take_own(model, work, i, u, taken_from(model, work, i, u, q, k + parts))


@inline
def take_own(model: Arrays, work: Work, i, u, x):
    """work.own of the mode of part u less x."""
    c = model.v_at[i] + model.part_mode[model.eta_at[i] + u]
    work.own[c] = work.own[c] - x


@inline
def taken_from(model: Arrays, work: Work, i, u, x, k):
    """sum_p E_pc x_p of bending part u, x[k] of the first place."""
    at_u, row = model.shortening_at[i] + u * model.slopes[i], model.eta_at[i]
    return along(work.shortening, at_u, x, k, model.part_first[row + u], model.part_last[row + u])


@kernel
def mass_times(model: Arrays, work: Work, i, x, later):
    """work.modal_momentum of the body: m_cd x_d as it is bent, by E x and E^T; x[v_at] of its first mode. Where `coriolis`
    left something (later = 1), that is added: y_p is in work.push, the rest in work.momenta."""
    l, k, n, row = model.v_at[i], model.modes[i], functions(model, i), model.eta_at[i]
    z_end, parts, places, slope = model.part_end[i, Z_END], model.part_end[i, X_END], model.slopes[i], model.slope_at[i]
    s, push, pull, total = model.shape, work.push, work.pull, work.modal_momentum
    times(s, model.integral_at[i, MASS], k, k, x, l, 0, k, total, l)
    if later == 0:
        for p in range(places):
            push[slope + p] = 0.0
    for u in range(z_end):
        work.eta_rate[row + u] = x[l + model.part_mode[row + u]]
    for plane in range(Y_END, X_END):  # E x
        add_slopes(model, i, plane, work.shortening, model.shortening_at[i], work.eta_rate, row, push)
    times(s, model.integral_at[i, OVERLAP] + parts * n + parts, n, places, push, slope, 0, places, pull, slope)
    for u in range(z_end, parts):
        c, numbers = l + model.part_mode[row + u], model.integral_at[i, OVERLAP] + u * n + parts
        total[c] = total[c] + along(s, numbers, push, slope, 0, places)
        for p in range(places):
            pull[slope + p] = pull[slope + p] + x[c] * s[numbers + p]
    if later == 1:
        for p in range(places):
            pull[slope + p] = pull[slope + p] + work.momenta[3 * row + parts + p]
    for u in range(z_end):
        c = l + model.part_mode[row + u]
        total[c] = total[c] + taken_from(model, work, i, u, pull, slope)


@kernel
def own_mass(model: Arrays, work: Work, i):
    """m_cd of the body as it is bent: that of the modes, of what they take from the length g^T g, and of both."""
    k, n, b, row = model.modes[i], model.shortenings[i], model.block_at[i], model.eta_at[i]
    z_end, parts, places, s = model.part_end[i, Z_END], model.part_end[i, X_END], model.slopes[i], model.shape
    m, mass, mine, growth = work.own_mass, model.integral_at[i, MASS], work.products, model.growth_at[i]
    for c in range(k * k):
        m[b + c] = s[mass + c]
    if places == 0:
        return
    y_end, numbers = model.part_end[i, Y_END], model.integral_at[i, GROWTH]
    for u in range(z_end):
        start, end = (0, y_end) if u < y_end else (y_end, z_end)
        times(s, numbers, end - start, n, work.eta, row + start, 0, end - start, work.growth, growth + u * n)
        numbers = numbers + n * (end - start)
    for u in range(z_end):
        times(work.growth, growth, n, u + 1, work.growth, growth + u * n, 0, n, mine, row)
        for v in range(u + 1):
            add_mass(model, work, i, u, v, mine[row + v])
    for u in range(z_end, parts):
        numbers = model.integral_at[i, OVERLAP] + u * functions(model, i) + parts
        for v in range(z_end):
            add_mass(model, work, i, u, v, taken_from(model, work, i, v, s, numbers))


@inline
def add_mass(model: Arrays, work: Work, i, u, v, m):
    """Add to m_cd and m_dc of the modes of two parts."""
    row, b, k = model.eta_at[i], model.block_at[i], model.modes[i]
    c, d = model.part_mode[row + u], model.part_mode[row + v]
    work.own_mass[b + c * k + d] = work.own_mass[b + c * k + d] + m
    if u != v:
        work.own_mass[b + d * k + c] = work.own_mass[b + d * k + c] + m
