"""Newton's matrix of a tree, J = c_a M + c_v dR/dv + c_q dR/dtheta, eliminated in O(n) without its entries.

A change x_j of column j moves its acceleration by c_a x_j, its speed by c_v x_j, its coordinate by c_q x_j. By
dynamics/slopes.py, with K and C of the subtree of a column,

    J_cj = B_c . (K_c g_j + C_c e_j)         j carries c,          g_j = c_a B_j + c_v kappa_j + c_q psi'_j,
           B_c . (K_j g_j + C_j e_j + t_j)   else,                 e_j = c_v B_j + c_q psi_j,   t_j = c_q D_j x* W_j.

K and C are sums over bodies, whose own are M^ and C^. So let s_i = (g, e) of body i be the sum of (g_j, e_j) x_j over the
columns on its path, nine numbers (of e its half in w counts): outward a sum, as the base's motion is the sum of what all
columns seem to move it by. Then row c of J x is B_c . f_c, where inward

    f_i = M^ g_i + C^ e_i + sum over children k of (f_k + sum over the columns j of k of t_j x_j),

and within a joint the t_j of those j that do not carry c. Elements between a body and the ground (equations/
articulated_slopes.py) add a force by e and by d = sum c_q D_j x_j: with them s has all of e, and d, 18 numbers.

Eliminated from the leaves: let f_i = N s_i + p below which nothing is unknown any more, N a matrix of six rows. With s_i =
s + b x for the columns x of the joint (b_j = (g_j, e_j, d_j)), rows u_c = N^T B_c, h_j = N b_j + t_j, and the small square

    A_cj = B_c . N b_j + (j carries c: 0, else B_c . t_j) + what acts within the joint,
    A x = r - B . p - u s        =>     x = y - G s,       A y = r - B . p,      A G = u,

    what the parent gets:               N - h G  and  p + h y;       and outward again        x = y - G s,    s_i = s + b x.

So the factor is B, h, b, G of every column and the squares; a solution takes 30 products a column. There is no pivoting, nor
is there in the elimination of the entries, which goes from the leaves to the root as well.

docs/references.md: [Featherstone 1983], [Carpentier, Mansard 2018].
"""

from __future__ import annotations

from madi.bodies.rigid_slopes import carries
from madi.equations.articulated_slopes import (
    KAPPA,
    MOVED,
    OF_BODY,
    OF_COLUMN,
    OF_LOAD,
    PSI,
    RATE,
    TURN,
    bodies_from,
    columns_from,
    loads_from,
)
from madi.integrate.newton_full import factorise_full, solve_full
from madi.kernel import inline, kernel, view1
from madi.spatial.vector import at as vector_at
from madi.spatial.vector import cross, dot, first, join, plus, plus_scaled, put_at, scaled, second, six_at, symmetric_times

NARROW, WIDE = 9, 18  # numbers of s: without and with elements between a body and the ground


def factor_length(n: int, nv: int, n_own: int, width: int) -> int:
    """Numbers of the factor: squares; B, h, b, G of the columns; N, p and s of the bodies."""
    return n_own + nv * (12 + 2 * width) + n * (6 * width + 6 + width)


@inline
def of_column(plan, c):
    """Where column c begins in the factor."""
    return plan.n_own + (12 + 2 * plan.width) * c


@inline
def of_body(model, plan, i):
    """Where N, p, s of body i begin."""
    return of_column(plan, model.nv) + (7 * plan.width + 6) * i


@kernel
def assemble_tree(model, plan, values, c_a, c_v, c_q, F):
    """What is eliminated, from the values of equations/articulated_slopes.py: squares, B, t (in the place of h), b, N."""
    n, w, columns = plan.n_own, plan.width, columns_from(model, plan.n_own)
    for k in range(n):
        F[k] = c_a * values[k] + c_v * values[n + k] + c_q * values[2 * n + k]
    for c in range(model.nv):
        k, to = columns + OF_COLUMN * c, of_column(plan, c)
        B, psi, d = six_at(values, k), six_at(values, k + PSI), scaled(c_q, six_at(values, k + MOVED))
        g = plus_scaled(scaled(c_a, B), c_v, six_at(values, k + KAPPA))
        e = plus_scaled(scaled(c_v, B), c_q, psi)
        put_at(F, to, B)
        put_at(F, to + 6, scaled(c_q, six_at(values, k + TURN)))
        put_at(F, to + 12, plus_scaled(g, c_q, six_at(values, k + RATE)))
        put_at(F, to + 18, second(e))
        if w == WIDE:
            put_at(F, to + 21, first(e))
            put_at(F, to + 24, d)
    for i in range(1, model.n):
        to = of_body(model, plan, i)
        put_force(values, bodies_from(n) + OF_BODY * i, F, to, w)
        if w == WIDE:
            put_load(values, loads_from(model, n) + OF_LOAD * plan.load[i], plan.load[i], F, to)


@inline
def put_force(K, k, N, to, w):
    """The force of a body alone by g, and by e's half in w: [[m 1, -h~], [h~, I]], then -2 p~ over N."""
    m, x, y, z = K[k], K[k + 1], K[k + 2], K[k + 3]
    p, q, r = 2.0 * K[k + 10], 2.0 * K[k + 11], 2.0 * K[k + 12]
    put_at(N, to, (m, 0.0, 0.0, 0.0, z, -y))
    put_at(N, to + w, (0.0, m, 0.0, -z, 0.0, x))
    put_at(N, to + 2 * w, (0.0, 0.0, m, y, -x, 0.0))
    put_at(N, to + 3 * w, (0.0, -z, y, K[k + 4], K[k + 5], K[k + 6]))
    put_at(N, to + 4 * w, (z, 0.0, -x, K[k + 5], K[k + 7], K[k + 8]))
    put_at(N, to + 5 * w, (-y, x, 0.0, K[k + 6], K[k + 8], K[k + 9]))
    put_at(N, to + 6, (0.0, r, -q))
    put_at(N, to + w + 6, (-r, 0.0, p))
    put_at(N, to + 2 * w + 6, (q, -p, 0.0))
    for j in range(3):
        put_at(N, to + (3 + j) * w + 6, (K[k + 13 + 3 * j], K[k + 14 + 3 * j], K[k + 15 + 3 * j]))


@inline
def put_load(K, k, load, N, to):
    """The forces from the ground on the same body, by e = (v, w) and by d; load -1: none."""
    for row in range(6):
        at = to + WIDE * row
        if load < 0:
            for j in range(9, WIDE):
                N[at + j] = 0.0
        else:
            by_e = six_at(K, k + 36 + 6 * row)
            put_at(N, at + 9, first(by_e))
            for j in range(3):
                N[at + 6 + j] = N[at + 6 + j] + K[k + 39 + 6 * row + j]
            put_at(N, at + 12, six_at(K, k + 6 * row))


@kernel
def factorise_tree(model, plan, F):
    """From the leaves to the root."""
    if plan.width == NARROW:
        eliminate_bodies(model, plan, F, NARROW)
    else:
        eliminate_bodies(model, plan, F, WIDE)


@inline
def eliminate_bodies(model, plan, F, w):
    """The same for s of w numbers."""
    at = plan.n_own
    for step in range(1, model.n):
        i = model.n - step
        k, N = model.v_end[i] - model.v_at[i], of_body(model, plan, i)
        to = of_body(model, plan, model.parent[i])
        at -= k * k
        if k == 1:
            eliminate_one(F, N, to, of_column(plan, model.v_at[i]), at, w)
        elif k == 0:
            for j in range(6 * w):
                F[to + j] = F[to + j] + F[N + j]
        else:
            eliminate_several(model, plan, F, i, at, w)
    k = model.v_end[0] - model.v_at[0]
    factorise_full(view1(F, 0, k * k), k)


@inline
def put_row(F, N, B, u, w):
    """u = N^T B."""
    for k in range(w):
        x = F[N + k] * B[0] + F[N + w + k] * B[1] + F[N + 2 * w + k] * B[2]
        y = F[N + 3 * w + k] * B[3] + F[N + 4 * w + k] * B[4] + F[N + 5 * w + k] * B[5]
        F[u + k] = x + y


@inline
def force_by(F, N, E, b, w):
    """N b."""
    return (
        row_times(F, N, E, b, w), row_times(F, N + w, E, b, w), row_times(F, N + 2 * w, E, b, w),
        row_times(F, N + 3 * w, E, b, w), row_times(F, N + 4 * w, E, b, w), row_times(F, N + 5 * w, E, b, w),
    )  # fmt: skip


@inline
def row_times(F, a, E, b, w):
    """The sum of F[a + k] E[b + k]."""
    x = 0.0
    for k in range(w):
        x = x + F[a + k] * E[b + k]
    return x


@inline
def eliminate_one(F, N, to, c, at, w):
    """The only column of a joint: its turn does not move what carries it."""
    B, G, h = six_at(F, c), c + 12 + w, plus(force_by(F, N, F, c + 12, w), six_at(F, c + 6))
    inverse = 1.0 / (F[at] + dot(B, h))
    F[at] = inverse
    put_at(F, c + 6, h)
    put_row(F, N, B, G, w)
    for k in range(w):
        F[G + k] = F[G + k] * inverse
    for row in range(6):
        a, b, x = to + w * row, N + w * row, F[c + 6 + row]
        for k in range(w):
            F[a + k] = F[a + k] + (F[b + k] - x * F[G + k])


@inline
def eliminate_several(model, plan, F, i, at, w):
    """All columns of joint i at once."""
    l, n, N = model.v_at[i], model.v_end[i] - model.v_at[i], of_body(model, plan, i)
    to = of_body(model, plan, model.parent[i])
    A = view1(F, at, n * n)
    for j in range(n):
        c = of_column(plan, l + j)
        own, t = force_by(F, N, F, c + 12, w), six_at(F, c + 6)
        h = plus(own, t)
        put_at(F, c + 6, h)
        put_row(F, N, six_at(F, c), c + 12 + w, w)
        for r in range(n):
            B = six_at(F, of_column(plan, l + r))
            A[r * n + j] = A[r * n + j] + dot(B, own if carries(model, l + j, l + r) else h)
    factorise_full(A, n)
    solve_rows(F, A, n, of_column(plan, l) + 12 + w, 12 + 2 * w, w)
    for row in range(6):
        a, b = to + w * row, N + w * row
        for k in range(w):
            F[a + k] = F[a + k] + F[b + k]
        for j in range(n):
            c = of_column(plan, l + j)
            x, G = F[c + 6 + row], c + 12 + w
            for k in range(w):
                F[a + k] = F[a + k] - x * F[G + k]


@inline
def solve_rows(F, A, n, G, step, w):
    """A^-1 times n rows of w numbers, the first at G, the next `step` further on."""
    for i in range(n):
        for j in range(i):
            for k in range(w):
                F[G + i * step + k] = F[G + i * step + k] - A[i * n + j] * F[G + j * step + k]
    for turn in range(n):
        i = n - 1 - turn
        for j in range(i + 1, n):
            for k in range(w):
                F[G + i * step + k] = F[G + i * step + k] - A[i * n + j] * F[G + j * step + k]
        for k in range(w):
            F[G + i * step + k] = F[G + i * step + k] * A[i * n + i]


@kernel
def solve_tree(model, plan, F, x):
    """x <- the solution for the right-hand side x, by columns."""
    if plan.width == NARROW:
        substitute(model, plan, F, x, NARROW)
    else:
        substitute(model, plan, F, x, WIDE)


@inline
def substitute(model, plan, F, x, w):
    """The same for s of w numbers."""
    for i in range(model.n):
        p = of_body(model, plan, i) + 6 * w
        for k in range(6 + w):
            F[p + k] = 0.0
    at = plan.n_own
    for step in range(1, model.n):
        i = model.n - step
        l, n = model.v_at[i], model.v_end[i] - model.v_at[i]
        at -= n * n
        p, to = of_body(model, plan, i) + 6 * w, of_body(model, plan, model.parent[i]) + 6 * w
        f = six_at(F, p)
        for c in range(l, l + n):
            x[c] = x[c] - dot(six_at(F, of_column(plan, c)), f)
        if n == 1:
            x[l] = x[l] * F[at]
        elif n > 1:
            solve_full(view1(F, at, n * n), n, view1(x, l, n))
        for c in range(l, l + n):
            f = plus_scaled(f, x[c], six_at(F, of_column(plan, c) + 6))
        put_at(F, to, plus(six_at(F, to), f))
    n = model.v_end[0] - model.v_at[0]
    solve_full(view1(F, 0, n * n), n, view1(x, model.v_at[0], n))
    for i in range(1, model.n):
        s, carrier = of_body(model, plan, i) + 6 * w + 6, of_body(model, plan, model.parent[i]) + 6 * w + 6
        for k in range(w):
            F[s + k] = F[carrier + k]
        for c in range(model.v_at[i], model.v_end[i]):
            x[c] = x[c] - row_times(F, of_column(plan, c) + 12 + w, F, carrier, w)
        for c in range(model.v_at[i], model.v_end[i]):
            b = of_column(plan, c) + 12
            for k in range(w):
                F[s + k] = F[s + k] + x[c] * F[b + k]


@kernel
def times_tree(model, plan, values, part, F, x, out):
    """out = a block (0: by qdd, 1: by qd, 2: by q) times x, the scratch of a factor F used; by the sums that are
    eliminated otherwise."""
    n, w, columns, bodies = plan.n_own, plan.width, columns_from(model, plan.n_own), bodies_from(plan.n_own)
    for k in range(w):
        F[of_body(model, plan, 0) + 6 * w + 6 + k] = 0.0
    for i in range(1, model.n):
        s = of_body(model, plan, i) + 6 * w + 6
        carrier = of_body(model, plan, model.parent[i]) + 6 * w + 6
        for k in range(w):
            F[s + k] = F[carrier + k]
        for c in range(model.v_at[i], model.v_end[i]):
            add_motion(values, columns + OF_COLUMN * c, part, x[c], F, s, w)
        put_at(F, s - 6, force_of(values, bodies + OF_BODY * i, F, s))
        if w == WIDE and plan.load[i] >= 0:
            add_load(values, loads_from(model, n) + OF_LOAD * plan.load[i], F, s)
    at = part * n + n
    for step in range(model.n):
        i = model.n - 1 - step
        l, m = model.v_at[i], model.v_end[i]
        at -= (m - l) * (m - l)
        f = six_at(F, of_body(model, plan, i) + 6 * w)
        for c in range(l, m):
            y = 0.0 if i == 0 else dot(six_at(values, columns + OF_COLUMN * c), f)
            for j in range(l, m):
                y = y + values[at + (c - l) * (m - l) + j - l] * x[j]
                if part == 2 and i > 0 and not carries(model, j, c):
                    t = six_at(values, columns + OF_COLUMN * j + TURN)
                    y = y + dot(six_at(values, columns + OF_COLUMN * c), t) * x[j]
            out[c] = y
        if i > 0:
            for j in range(l, m):
                if part == 2:
                    f = plus_scaled(f, x[j], six_at(values, columns + OF_COLUMN * j + TURN))
            to = of_body(model, plan, model.parent[i]) + 6 * w
            put_at(F, to, plus(six_at(F, to), f))


@inline
def add_motion(values, k, part, x, F, s, w):
    """What column k adds to s: as b, of one of the three coefficients."""
    at = k if part == 0 else k + KAPPA if part == 1 else k + RATE
    for j in range(6):
        F[s + j] = F[s + j] + x * values[at + j]
    if part > 0:
        at = k if part == 1 else k + PSI
        for j in range(3):
            F[s + 6 + j] = F[s + 6 + j] + x * values[at + 3 + j]
            if w == WIDE:
                F[s + 9 + j] = F[s + 9 + j] + x * values[at + j]
    if part == 2 and w == WIDE:
        for j in range(6):
            F[s + 12 + j] = F[s + 12 + j] + x * values[k + MOVED + j]


@inline
def force_of(K, k, F, s):
    """The force of a body alone by s: M^ g + (2 e x p, N e)."""
    m, h, v, w, e = K[k], vector_at(K, k + 1), vector_at(F, s), vector_at(F, s + 3), vector_at(F, s + 6)
    S, p = six_at(K, k + 4), vector_at(K, k + 10)
    turned = (dot(vector_at(K, k + 13), e), dot(vector_at(K, k + 16), e), dot(vector_at(K, k + 19), e))
    f = plus_scaled(plus_scaled(cross(w, h), m, v), 2.0, cross(e, p))
    return join(f, plus(plus(cross(h, v), symmetric_times(S, w)), turned))


@inline
def add_load(K, k, F, s):
    """The same of its elements, into p, which is before s."""
    d, e = six_at(F, s + 12), join(vector_at(F, s + 9), vector_at(F, s + 6))
    for row in range(6):
        F[s - 6 + row] = F[s - 6 + row] + dot(six_at(K, k + 6 * row), d) + dot(six_at(K, k + 36 + 6 * row), e)
