"""How the forces that a flexible body's own motion takes change with its modes.

All in the body's axes, about its own origin, with the functions f_a along e_a of bending.py. A point has the acceleration
a_P = a + A rho + C rho' + rho'', with the acceleration a of the origin, A = e~ + w~ w~ and C = 2 w~. By function that is

    Q_a = int f_a a_P dm = sigma_a a + A p_a + C q_a + r_a,      q_a = int f_a rho' dm,   r_a = int f_a rho'' dm,

and what the body takes is the force int a_P dm, its moment int rho x a_P dm, and of mode c  g_c = E_ac e_a . Q_a. They
change with the amplitudes, their rates and second rates (e_a of the function that changes) by

    (sigma_a A e_a, e_a x Q_a + p_a x A e_a),      (sigma_a C e_a, p_a x C e_a),      (sigma_a e_a, p_a x e_a),
    e_a . Q_a:   w_ab e_a . A e_b,                 w_ab e_a . C e_b,                   w_ab e_a . e_b,

where the amplitudes zeta_p of what bending takes from the length follow the slopes w_p at their places,

    d zeta = w psi_c',     d zeta' = w' psi_c',     d zeta'' = w'' psi_c',            by xi_c,
                           d zeta' = w psi_c',      d zeta'' = 2 w' psi_c',           by xi_c'.

What a mode adds to the sections' inertia is linear in xi', xi'' and in w: w x t_c in the moment. So is its share t_c of N_c.
Products over pairs of places are taken by the orthonormal functions, as in `own_mass`.
"""

from __future__ import annotations

from madi.bodies.bending import (
    GROWTH,
    OVERLAP,
    RIGID,
    SIGMA,
    SLOPE,
    TILT,
    X_END,
    Y_END,
    Z_END,
    bent_inertia,
    functions,
    moment_of,
    slopes_of,
    taken_from,
)
from madi.bodies.fields import Arrays, Work
from madi.bodies.rigid_slopes import put_coriolis
from madi.kernel import inline, kernel
from madi.kernel.sums import times
from madi.spatial.inertia import momentum_of, turned_symmetric
from madi.spatial.vector import (
    NO_MOTION,
    NO_VECTOR,
    X_AXIS,
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

COLUMNS = 6  # numbers of a wrench, of work.place_q and place_v one row for each


@inline
def motion(model: Arrays, work: Work, i):
    """Velocity and acceleration of the frame's origin, angular velocity and acceleration, in the body's axes."""
    R, r, y = work.R, three(work.r, i), six(work.Y, i)
    rate, u = plus(six(work.A, i), six(work.a, i)), velocity_at(y, r)
    a = plus(velocity_at(rate, r), cross(second(y), u))
    return turned_back(R, i, u), turned_back(R, i, a), turned_back(R, i, second(y)), turned_back(R, i, second(rate))


@kernel
def as_a_whole(model: Arrays, work: Work, i):
    """W, p and N of the body alone, by m, S, J and how they change; p and N about the reference origin."""
    R, r, f = work.R, three(work.r, i), model.modal[i]
    _, a, w, e = motion(model, work, i)
    functions_in_motion(model, work, i)
    S_rate, N_rate, S_second, N_second, J_rate = rates_of_modes(model, work, i)
    S, J, m = three(work.bent, f), bent_inertia(model, work, i), model.shape[model.integral_at[i, RIGID]]
    force = plus(plus_scaled(cross(e, S), m, a), plus(S_second, cross(w, plus(scaled(2.0, S_rate), cross(w, S)))))
    moment = plus(plus(cross(S, a), symmetric_times(J, e)), plus(N_second, symmetric_times(J_rate, w)))
    moment = plus(moment, cross(w, plus(N_rate, symmetric_times(J, w))))
    force = turned(R, i, force)
    put(work.W, i, join(force, plus(turned(R, i, moment), cross(r, force))))
    put(work.momentum, i, plus(first(momentum_of(work.inertia, i, six(work.Y, i))), turned(R, i, S_rate)))
    put_coriolis(work, i, six(work.Y, i))
    add_bending(work, i, turned(R, i, S_rate), turned(R, i, N_rate), turned_symmetric(R, i, J_rate))
    put(work.frame_W, f, six(work.W, i))
    put(work.frame_p, f, three(work.momentum, i))
    for k in range(9):
        work.frame_N[f, k] = work.coriolis[i, k]


@inline
def add_bending(work: Work, i, s, l, J):
    """Add 2 int ((r . rho') 1 - rho' r^T) dm = J' - l~ + 2 ((r_o . s) 1 - s r_o^T) to N, of s = int rho' dm and
    l = int rho x rho' dm, all in reference axes."""
    N, r = work.coriolis, scaled(2.0, three(work.r, i))
    d = dot(r, s)
    N[i, 0] = N[i, 0] + (J[0] + d - s[0] * r[0])
    N[i, 1] = N[i, 1] + (J[1] + l[2] - s[0] * r[1])
    N[i, 2] = N[i, 2] + (J[2] - l[1] - s[0] * r[2])
    N[i, 3] = N[i, 3] + (J[1] - l[2] - s[1] * r[0])
    N[i, 4] = N[i, 4] + (J[3] + d - s[1] * r[1])
    N[i, 5] = N[i, 5] + (J[4] + l[0] - s[1] * r[2])
    N[i, 6] = N[i, 6] + (J[2] + l[1] - s[2] * r[0])
    N[i, 7] = N[i, 7] + (J[4] - l[0] - s[2] * r[1])
    N[i, 8] = N[i, 8] + (J[5] + d - s[2] * r[2])


@kernel
def functions_in_motion(model: Arrays, work: Work, i):
    """eta', eta''; w' and w'' of the slopes at the places."""
    l, row, parts, slope = model.v_at[i], model.eta_at[i], model.part_end[i, X_END], model.slope_at[i]
    for u in range(parts):
        c = l + model.part_mode[row + u]
        work.eta_rate[row + u], work.eta_second[row + u] = work.xi_rate[c], work.acceleration[c]
    slopes_of(model, i, work.eta_rate, row, work.slope_rate)
    slopes_of(model, i, work.eta_second, row, work.slope_second)
    for p in range(model.slopes[i]):
        w, w1, w2 = work.slope[slope + p], work.slope_rate[slope + p], work.slope_second[slope + p]
        work.eta_rate[row + parts + p], work.eta_second[row + parts + p] = w * w1, w * w2 + w1 * w1


@kernel
def rates_of_modes(model: Arrays, work: Work, i):
    """int rho' dm, int rho x rho' dm, the same of rho'', and J'."""
    S1, N1, S2, N2, J1 = NO_VECTOR, NO_VECTOR, NO_VECTOR, NO_VECTOR, NO_MOTION
    for c in range(model.v_at[i], model.v_end[i]):
        x, y, F = work.xi_rate[c], work.acceleration[c], six(work.slides, c)
        S1, N1, J1 = plus_scaled(S1, x, first(F)), plus_scaled(N1, x, second(F)), plus_scaled(J1, x, six(work.turns, c))
        S2, N2 = plus_scaled(S2, y, first(F)), plus_scaled(N2, y, second(F))
    parts, slope, sigma = model.part_end[i, X_END], model.slope_at[i], model.integral_at[i, SIGMA]
    for p in range(model.slopes[i]):
        y = work.slope_rate[slope + p] * work.slope_rate[slope + p]
        S2 = plus_scaled(S2, y * model.shape[sigma + parts + p], X_AXIS)
        N2 = plus_scaled(N2, y, cross(moment_of(model, work, i, parts + p), X_AXIS))
    return S1, N1, S2, N2, J1


# ---- by function --------------------------------------------------------------------------------------------------------


@inline
def axis_of(model: Arrays, i, a):
    """Along which axis function a is."""
    if a < model.part_end[i, Y_END]:
        return 1
    return 2 if a < model.part_end[i, Z_END] else 0


@inline
def unit(k):
    """e of an axis."""
    return 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2)


@inline
def column_of(matrix, k):
    """Column k of work.spin or work.gyre."""
    return matrix[k], matrix[3 + k], matrix[6 + k]


@inline
def vector_of(model: Arrays, i, values, a):
    """q_a or Q_a."""
    n, k = functions(model, i), 3 * model.eta_at[i] + a
    return values[k], values[k + n], values[k + 2 * n]


@kernel
def put_rotation(work: Work, w, e):
    """A = e~ + w~ w~ and C = 2 w~."""
    A, C, s = work.spin, work.gyre, dot(w, w)
    A[0], A[1], A[2] = w[0] * w[0] - s, w[0] * w[1] - e[2], w[0] * w[2] + e[1]
    A[3], A[4], A[5] = w[0] * w[1] + e[2], w[1] * w[1] - s, w[1] * w[2] - e[0]
    A[6], A[7], A[8] = w[0] * w[2] - e[1], w[1] * w[2] + e[0], w[2] * w[2] - s
    C[0], C[1], C[2] = 0.0, -2.0 * w[2], 2.0 * w[1]
    C[3], C[4], C[5] = 2.0 * w[2], 0.0, -2.0 * w[0]
    C[6], C[7], C[8] = -2.0 * w[1], 2.0 * w[0], 0.0


@kernel
def weighted(model: Arrays, i, x, out):
    """sum_b w_ab e_b x_b of every function, by rows as work.momenta."""
    n, row, k, rows = functions(model, i), model.eta_at[i], 3 * model.eta_at[i], model.integral_at[i, OVERLAP]
    y_end, z_end = model.part_end[i, Y_END], model.part_end[i, Z_END]
    times(model.shape, rows, n, n, x, row, z_end, n, out, k)
    times(model.shape, rows, n, n, x, row, 0, y_end, out, k + n)
    times(model.shape, rows, n, n, x, row, y_end, z_end, out, k + 2 * n)


@kernel
def by_function(model: Arrays, work: Work, i, a, w, e):
    """q_a into work.momenta, Q_a into work.pushes."""
    n, k, sigma = functions(model, i), 3 * model.eta_at[i], model.integral_at[i, SIGMA]
    weighted(model, i, work.eta_rate, work.momenta)
    weighted(model, i, work.eta_second, work.pushes)
    for b in range(n):
        p, q = moment_of(model, work, i, b), vector_of(model, i, work.momenta, b)
        both = plus_scaled(plus(cross(e, p), cross(w, cross(w, p))), 2.0, cross(w, q))
        Q = plus(plus_scaled(vector_of(model, i, work.pushes, b), model.shape[sigma + b], a), both)
        work.pushes[k + b], work.pushes[k + n + b], work.pushes[k + 2 * n + b] = Q


@kernel
def by_place(model: Arrays, work: Work, i):
    """How force and moment change by the slope at each place, and by its rate."""
    slope, stride, parts = model.slope_at[i], model.n_slopes, model.part_end[i, X_END]
    sigma, A, C = model.integral_at[i, SIGMA] + parts, column_of(work.spin, 0), column_of(work.gyre, 0)
    for p in range(model.slopes[i]):
        k, s, m = slope + p, model.shape[sigma + p], moment_of(model, work, i, parts + p)
        w, w1, w2 = work.slope[k], work.slope_rate[k], work.slope_second[k]
        Q = vector_of(model, i, work.pushes, parts + p)
        q, v = plus_scaled(plus_scaled(scaled(w2, X_AXIS), w, A), w1, C), plus_scaled(scaled(2.0 * w1, X_AXIS), w, C)
        put_column(work.place_q, k, stride, join(scaled(s, q), plus_scaled(cross(m, q), w, cross(X_AXIS, Q))))
        put_column(work.place_v, k, stride, join(scaled(s, v), cross(m, v)))


@inline
def put_column(a, k, stride, x):
    """Column of six rows in a flat array."""
    a[k], a[k + stride], a[k + 2 * stride] = x[0], x[1], x[2]
    a[k + 3 * stride], a[k + 4 * stride], a[k + 5 * stride] = x[3], x[4], x[5]


# ---- by mode ------------------------------------------------------------------------------------------------------------


@kernel
def mode_forces(model: Arrays, work: Work, i):
    """d_c f and d_c' f about the reference origin into F and G of the modes, eps_c into E."""
    R, r = work.R, three(work.r, i)
    u, a, w, e = motion(model, work, i)
    put_rotation(work, w, e)
    by_function(model, work, i, a, w, e)
    by_place(model, work, i)
    l, m = model.v_at[i], model.v_end[i]
    for c in range(l, m):
        F, tilt = six(work.slides, c), at(model.shape, model.integral_at[i, TILT] + 3 * (c - l))
        eps = plus(scaled(2.0, cross(u, first(F))), minus(cross(w, second(F)), symmetric_times(six(work.turns, c), w)))
        put(work.E, c, eps)
        put(work.F, c, NO_MOTION)
        put(work.G, c, join(NO_VECTOR, cross(w, tilt)))
    for part in range(model.part_end[i, X_END]):
        add_part(model, work, i, part)
    for c in range(l, m):
        put(work.E, c, turned(R, i, three(work.E, c)))
        f, g = turned(R, i, first(six(work.F, c))), turned(R, i, first(six(work.G, c)))
        n, k = turned(R, i, second(six(work.F, c))), turned(R, i, second(six(work.G, c)))
        put(work.F, c, join(f, plus(n, cross(r, f))))
        put(work.G, c, join(g, plus(k, cross(r, g))))


@inline
def by_slope(model: Arrays, work: Work, i, u, change):
    """The wrench sum_p psi_u' x_p of the wrenches in work.place_q or place_v."""
    row, psi = model.eta_at[i], model.integral_at[i, SLOPE] + u * model.slopes[i]
    start, end = model.part_first[row + u], model.part_last[row + u]
    times(change, model.slope_at[i], model.n_slopes, COLUMNS, model.shape, psi, start, end, work.wrench, 0)
    return six_at(work.wrench, 0)


@kernel
def add_part(model: Arrays, work: Work, i, u):
    """Add a part's share to E, F and G of its mode, in the body's axes."""
    row, n, k = model.eta_at[i], functions(model, i), axis_of(model, i, u)
    c, s = model.v_at[i] + model.part_mode[row + u], model.shape[model.integral_at[i, SIGMA] + u]
    p, e = moment_of(model, work, i, u), unit(k)
    A, C = column_of(work.spin, k), column_of(work.gyre, k)
    F = join(scaled(s, A), plus(cross(e, vector_of(model, i, work.pushes, u)), cross(p, A)))
    G, eps = join(scaled(s, C), cross(p, C)), scaled(2.0, cross(vector_of(model, i, work.momenta, u), e))
    if model.slopes[i] > 0 and u < model.part_end[i, Z_END]:
        k = 3 * row + model.part_end[i, X_END]
        y, z = taken_from(model, work, i, u, work.momenta, k + n), taken_from(model, work, i, u, work.momenta, k + 2 * n)
        F, G = plus(F, by_slope(model, work, i, u, work.place_q)), plus(G, by_slope(model, work, i, u, work.place_v))
        eps = plus(eps, (0.0, 2.0 * z, -2.0 * y))
    put(work.E, c, plus(three(work.E, c), eps))
    put(work.F, c, plus(six(work.F, c), F))
    put(work.G, c, plus(six(work.G, c), G))


# ---- between modes ------------------------------------------------------------------------------------------------------


@kernel
def own_changes(model: Arrays, work: Work, i):
    """d_d g_c into work.block_q, d_d' g_c into block_v; Q_a, A and C are there."""
    for k in range(model.block_at[i], model.block_at[i] + model.modes[i] * model.modes[i]):
        work.block_q[k], work.block_v[k] = 0.0, 0.0
    parts_meet(model, work, i)
    if model.slopes[i] > 0:
        for u in range(model.part_end[i, X_END]):
            part_meets_places(model, work, i, u)
        places_meet(model, work, i)


@inline
def add_entry(model: Arrays, work: Work, i, u, v, q, qd):
    """Add to the entry of the modes of two parts."""
    row = model.eta_at[i]
    k = model.block_at[i] + model.part_mode[row + u] * model.modes[i] + model.part_mode[row + v]
    work.block_q[k], work.block_v[k] = work.block_q[k] + q, work.block_v[k] + qd


@kernel
def parts_meet(model: Arrays, work: Work, i):
    """w_uv e_u . A e_v, and of C."""
    n, parts = functions(model, i), model.part_end[i, X_END]
    for u in range(parts):
        rows, a = model.integral_at[i, OVERLAP] + u * n, 3 * axis_of(model, i, u)
        for v in range(parts):
            k, w = a + axis_of(model, i, v), model.shape[rows + v]
            add_entry(model, work, i, u, v, w * work.spin[k], w * work.gyre[k])


@inline
def plane_of(model: Arrays, i, v):
    """First and one past the last of the parts along one axis, of which part v bends; and of their places."""
    row, start, end = model.eta_at[i], 0, model.part_end[i, Y_END]
    if v >= end:
        start, end = end, model.part_end[i, Z_END]
    first_place, last_place = model.slopes[i], 0
    for x in range(start, end):
        if model.part_last[row + x] > model.part_first[row + x]:
            first_place = min(first_place, model.part_first[row + x])
            last_place = max(last_place, model.part_last[row + x])
    return start, end, first_place, last_place


@kernel
def by_slopes(model: Arrays, work: Work, i, x, v, out):
    """out[v] = sum_p psi_v' x_p of the parts that bend in the plane of part v, by part; returns the end of them."""
    row, places, slope = model.eta_at[i], model.slopes[i], model.slope_at[i]
    start, end, p, last = plane_of(model, i, v)
    numbers = model.integral_at[i, SLOPE] + start * places
    times(model.shape, numbers, places, end - start, x, slope, p, last, out, row + start)
    return end


@kernel
def part_meets_places(model: Arrays, work: Work, i, u):
    """What part u and the places do to each other, by the sums of w_up w_p psi_v', and with w_p', over the places."""
    row, slope, parts = model.eta_at[i], model.slope_at[i], model.part_end[i, X_END]
    rows, axis = model.integral_at[i, OVERLAP] + u * functions(model, i) + parts, axis_of(model, i, u)
    A, C, there, along_x = work.spin, work.gyre, 3 * axis, 1.0 * (axis == 0)
    for p in range(model.slopes[i]):
        w = model.shape[rows + p]
        work.pull[slope + p] = w * work.slope[slope + p]
        work.push[slope + p] = w * work.slope_rate[slope + p]
    v = 0
    while v < model.part_end[i, Z_END]:
        by_slopes(model, work, i, work.pull, v, work.products)
        end = by_slopes(model, work, i, work.push, v, work.more_products)
        for x in range(v, end):
            s, s1 = work.products[row + x], work.more_products[row + x]
            add_entry(model, work, i, u, x, A[there] * s + C[there] * s1, C[there] * s + 2.0 * along_x * s1)
            add_entry(model, work, i, x, u, A[axis] * s, C[axis] * s)
        v = end
    if axis == 0:
        for p in range(model.slopes[i]):
            work.pull[slope + p] = model.shape[rows + p] * work.slope_second[slope + p]
        v = 0
        while v < model.part_end[i, Z_END]:
            end = by_slopes(model, work, i, work.pull, v, work.products)
            for x in range(v, end):
                add_entry(model, work, i, u, x, work.products[row + x], 0.0)
            v = end


@kernel
def places_meet(model: Arrays, work: Work, i):
    """Places with places, by g of orthonormal functions; and each with itself, e_x . Q_p psi_c' psi_d'."""
    row, n, z_end, growth = model.eta_at[i], model.shortenings[i], model.part_end[i, Z_END], model.growth_at[i]
    slope, parts, y_end = model.slope_at[i], model.part_end[i, X_END], model.part_end[i, Y_END]
    numbers, s = model.integral_at[i, GROWTH], model.shape
    for u in range(z_end):
        work.products[row + u] = work.spin[0] * work.eta[row + u] + work.eta_second[row + u]
    for u in range(z_end):
        start, end = (0, y_end) if u < y_end else (y_end, z_end)
        k = growth + u * n
        times(s, numbers, end - start, n, work.products, row + start, 0, end - start, work.growth_second, k)
        times(s, numbers, end - start, n, work.eta_rate, row + start, 0, end - start, work.growth_rate, k)
        numbers = numbers + n * (end - start)
    for u in range(z_end):
        times(work.growth_second, growth, n, z_end, work.growth, growth + u * n, 0, n, work.products, row)
        times(work.growth_rate, growth, n, z_end, work.growth, growth + u * n, 0, n, work.more_products, row)
        for v in range(z_end):
            add_entry(model, work, i, u, v, work.products[row + v], 2.0 * work.more_products[row + v])
        psi, q = model.integral_at[i, SLOPE] + u * model.slopes[i], 3 * row + parts
        for p in range(model.slopes[i]):
            work.pull[slope + p] = s[psi + p] * work.pushes[q + p]
        end = by_slopes(model, work, i, work.pull, u, work.products)
        for v in range(0 if u < y_end else y_end, end):
            add_entry(model, work, i, u, v, work.products[row + v], 0.0)
