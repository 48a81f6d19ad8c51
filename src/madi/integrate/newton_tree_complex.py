"""As newton_tree.py with a complex matrix: F has all real parts, E all imaginary ones, in the same places. B is real, and so
is a body's own force by s."""

from __future__ import annotations

from madi.bodies.rigid_slopes import carries
from madi.integrate.newton_full import factorise_full_complex, solve_full_complex
from madi.integrate.newton_tree import NARROW, WIDE, assemble_tree, force_by, of_body, of_column, put_row, row_times
from madi.kernel import inline, kernel, view1
from madi.spatial.vector import dot, minus, plus, plus_scaled, put_at, six_at


@kernel
def assemble_tree_complex(model, plan, values, re, im, F, E):
    """mu dR/dqdd + dR/dqd + dR/dq / mu for mu = re + i im."""
    square = re * re + im * im
    assemble_tree(model, plan, values, re, 1.0, re / square, F)
    assemble_tree(model, plan, values, im, 0.0, -im / square, E)
    for i in range(1, model.n):
        N = of_body(model, plan, i)
        for k in range(6 * plan.width):
            E[N + k] = 0.0


@kernel
def factorise_tree_complex(model, plan, F, E):
    """From the leaves to the root."""
    if plan.width == NARROW:
        eliminate_bodies(model, plan, F, E, NARROW)
    else:
        eliminate_bodies(model, plan, F, E, WIDE)


@inline
def eliminate_bodies(model, plan, F, E, w):
    """The same for s of w numbers."""
    at = plan.n_own
    for step in range(1, model.n):
        i = model.n - step
        n = model.v_end[i] - model.v_at[i]
        at -= n * n
        if n > 0:
            put_columns(model, plan, F, E, i, at, w)
        give_parent(model, plan, F, E, i, w)
    n = model.v_end[0] - model.v_at[0]
    factorise_full_complex(view1(F, 0, n * n), view1(E, 0, n * n), n)


@inline
def put_columns(model, plan, F, E, i, at, w):
    """h and G of joint i, and the factor of its square."""
    l, n, N = model.v_at[i], model.v_end[i] - model.v_at[i], of_body(model, plan, i)
    A, D = view1(F, at, n * n), view1(E, at, n * n)
    for j in range(n):
        c = of_column(plan, l + j)
        b, B = c + 12, six_at(F, c)
        re = minus(force_by(F, N, F, b, w), force_by(E, N, E, b, w))
        im = plus(force_by(F, N, E, b, w), force_by(E, N, F, b, w))
        x, y = plus(re, six_at(F, c + 6)), plus(im, six_at(E, c + 6))
        put_at(F, c + 6, x)
        put_at(E, c + 6, y)
        put_row(F, N, B, b + w, w)
        put_row(E, N, B, b + w, w)
        for r in range(n):
            B, inside = six_at(F, of_column(plan, l + r)), carries(model, l + j, l + r)
            A[r * n + j] = A[r * n + j] + dot(B, re if inside else x)
            D[r * n + j] = D[r * n + j] + dot(B, im if inside else y)
    factorise_full_complex(A, D, n)
    solve_rows(F, E, A, D, n, of_column(plan, l) + 12 + w, 12 + 2 * w, w)


@inline
def give_parent(model, plan, F, E, i, w):
    """N - h G of body i, to its parent's."""
    N, to = of_body(model, plan, i), of_body(model, plan, model.parent[i])
    for row in range(6):
        a, b = to + w * row, N + w * row
        for k in range(w):
            F[a + k], E[a + k] = F[a + k] + F[b + k], E[a + k] + E[b + k]
        for j in range(model.v_at[i], model.v_end[i]):
            c = of_column(plan, j)
            x, y = F[c + 6 + row], E[c + 6 + row]
            take(F, E, a, x, y, c + 12 + w, w)


@inline
def take(F, E, a, x, y, b, w):
    """Row a less x + i y times row b."""
    for k in range(w):
        re, im = F[b + k], E[b + k]
        F[a + k] = F[a + k] - (x * re - y * im)
        E[a + k] = E[a + k] - (x * im + y * re)


@inline
def solve_rows(F, E, A, D, n, G, step, w):
    """(A + i D)^-1 times n rows of w numbers, the first at G, the next `step` further on."""
    for i in range(n):
        for j in range(i):
            take(F, E, G + i * step, A[i * n + j], D[i * n + j], G + j * step, w)
    for turn in range(n):
        i = n - 1 - turn
        for j in range(i + 1, n):
            take(F, E, G + i * step, A[i * n + j], D[i * n + j], G + j * step, w)
        x, y, row = A[i * n + i], D[i * n + i], G + i * step
        for k in range(w):
            re, im = F[row + k], E[row + k]
            F[row + k], E[row + k] = x * re - y * im, x * im + y * re


@kernel
def solve_tree_complex(model, plan, F, E, x, y):
    """x + i y <- the solution for the right-hand side x + i y."""
    if plan.width == NARROW:
        substitute(model, plan, F, E, x, y, NARROW)
    else:
        substitute(model, plan, F, E, x, y, WIDE)


@inline
def substitute(model, plan, F, E, x, y, w):
    """The same for s of w numbers."""
    for i in range(model.n):
        p = of_body(model, plan, i) + 6 * w
        for k in range(6 + w):
            F[p + k], E[p + k] = 0.0, 0.0
    at = plan.n_own
    for step in range(1, model.n):
        i = model.n - step
        l, n = model.v_at[i], model.v_end[i] - model.v_at[i]
        at -= n * n
        p, to = of_body(model, plan, i) + 6 * w, of_body(model, plan, model.parent[i]) + 6 * w
        f, g = six_at(F, p), six_at(E, p)
        for c in range(l, l + n):
            B = six_at(F, of_column(plan, c))
            x[c], y[c] = x[c] - dot(B, f), y[c] - dot(B, g)
        solve_full_complex(view1(F, at, n * n), view1(E, at, n * n), n, view1(x, l, n), view1(y, l, n))
        for c in range(l, l + n):
            re, im = six_at(F, of_column(plan, c) + 6), six_at(E, of_column(plan, c) + 6)
            f, g = plus_scaled(plus_scaled(f, x[c], re), -y[c], im), plus_scaled(plus_scaled(g, x[c], im), y[c], re)
        put_at(F, to, plus(six_at(F, to), f))
        put_at(E, to, plus(six_at(E, to), g))
    l, n = model.v_at[0], model.v_end[0] - model.v_at[0]
    solve_full_complex(view1(F, 0, n * n), view1(E, 0, n * n), n, view1(x, l, n), view1(y, l, n))
    for i in range(1, model.n):
        s, carrier = of_body(model, plan, i) + 6 * w + 6, of_body(model, plan, model.parent[i]) + 6 * w + 6
        for k in range(w):
            F[s + k], E[s + k] = F[carrier + k], E[carrier + k]
        for c in range(model.v_at[i], model.v_end[i]):
            G = of_column(plan, c) + 12 + w
            x[c] = x[c] - (row_times(F, G, F, carrier, w) - row_times(E, G, E, carrier, w))
            y[c] = y[c] - (row_times(F, G, E, carrier, w) + row_times(E, G, F, carrier, w))
        for c in range(model.v_at[i], model.v_end[i]):
            take(F, E, s, -x[c], -y[c], of_column(plan, c) + 12, w)
