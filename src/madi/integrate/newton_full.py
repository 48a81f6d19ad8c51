"""Full matrices, row by row: factorisation without pivoting, and solutions. L has a unit diagonal, which is left out; in the
place of U's diagonal is its inverse."""

from __future__ import annotations

from madi.kernel import inline, kernel


@inline
def four(D, k):
    """D[k:k+4]: four numbers that a processor reads, multiplies and writes together."""
    return D[k], D[k + 1], D[k + 2], D[k + 3]


@inline
def four_less(D, at, w, p, q, r, s):
    """D[at:at+4] -= w[0] p + w[1] q + w[2] r + w[3] s."""
    x = four(D, at)
    D[at], D[at + 1], D[at + 2], D[at + 3] = (
        x[0] - (w[0] * p[0] + w[1] * q[0] + w[2] * r[0] + w[3] * s[0]),
        x[1] - (w[0] * p[1] + w[1] * q[1] + w[2] * r[1] + w[3] * s[1]),
        x[2] - (w[0] * p[2] + w[1] * q[2] + w[2] * r[2] + w[3] * s[2]),
        x[3] - (w[0] * p[3] + w[1] * q[3] + w[2] * r[3] + w[3] * s[3]),
    )


@inline
def shares(D, a, b, n):
    """Of the row at a, what it has of four pivot rows, whose diagonal entries begin at b: into the row, too."""
    c, d, e = b + n, b + 2 * n, b + 3 * n
    w = D[a] * D[b]
    x = (D[a + 1] - w * D[b + 1]) * D[c + 1]
    y = (D[a + 2] - w * D[b + 2] - x * D[c + 2]) * D[d + 2]
    z = (D[a + 3] - w * D[b + 3] - x * D[c + 3] - y * D[d + 3]) * D[e + 3]
    D[a], D[a + 1], D[a + 2], D[a + 3] = w, x, y, z
    return w, x, y, z


@kernel
def take_four(D, a, k, n):
    """Take four pivot rows, from row k on, out of the four rows at a: by tiles of four by four, each number read once for
    four."""
    b = k * n
    c, d, e = b + n, b + 2 * n, b + 3 * n
    w, x = shares(D, a + k, b + k, n), shares(D, a + n + k, b + k, n)
    y, z = shares(D, a + 2 * n + k, b + k, n), shares(D, a + 3 * n + k, b + k, n)
    j = k + 4
    while j + 4 <= n:
        p, q, r, s = four(D, b + j), four(D, c + j), four(D, d + j), four(D, e + j)
        four_less(D, a + j, w, p, q, r, s)
        four_less(D, a + n + j, x, p, q, r, s)
        four_less(D, a + 2 * n + j, y, p, q, r, s)
        four_less(D, a + 3 * n + j, z, p, q, r, s)
        j += 4
    while j < n:
        p, q, r, s = D[b + j], D[c + j], D[d + j], D[e + j]
        D[a + j] = D[a + j] - (w[0] * p + w[1] * q + w[2] * r + w[3] * s)
        D[a + n + j] = D[a + n + j] - (x[0] * p + x[1] * q + x[2] * r + x[3] * s)
        D[a + 2 * n + j] = D[a + 2 * n + j] - (y[0] * p + y[1] * q + y[2] * r + y[3] * s)
        D[a + 3 * n + j] = D[a + 3 * n + j] - (z[0] * p + z[1] * q + z[2] * r + z[3] * s)
        j += 1


@kernel
def factorise_full(D, n):
    """A full matrix, row by row: four rows at a time less four pivot rows at a time, then what is left among them."""
    for i in range(n):
        a, whole = i * n, i - i % 4
        if i == whole and i + 4 <= n:
            for k in range(0, i, 4):
                take_four(D, a, k, n)
        elif n - whole < 4:  # the last rows, fewer than four
            for k in range(0, whole, 4):
                b = k * n
                w = shares(D, a + k, b + k, n)
                for j in range(k + 4, n):
                    D[a + j] = D[a + j] - (
                        w[0] * D[b + j] + w[1] * D[b + n + j] + w[2] * D[b + 2 * n + j] + w[3] * D[b + 3 * n + j]
                    )
        for k in range(whole, i):
            y = D[a + k] * D[k * n + k]
            D[a + k] = y
            for j in range(k + 1, n):
                D[a + j] = D[a + j] - y * D[k * n + j]
        D[a + i] = 1.0 / D[a + i]


@kernel
def solve_full(D, n, x):
    """The same with a full matrix."""
    for i in range(n):
        y = 0.0
        for j in range(i):
            y = y + D[i * n + j] * x[j]
        x[i] = x[i] - y
    for i in range(n - 1, -1, -1):
        y = 0.0
        for j in range(i + 1, n):
            y = y + D[i * n + j] * x[j]
        x[i] = (x[i] - y) * D[i * n + i]


# ---- the same with a complex matrix: real and imaginary parts apart ----------------------------------------------------


@kernel
def factorise_full_complex(D, E, n):
    """A full matrix D + i E, row by row."""
    for i in range(n):
        a = i * n
        for k in range(i):
            b = k * n
            re, im = D[a + k] * D[b + k] - E[a + k] * E[b + k], D[a + k] * E[b + k] + E[a + k] * D[b + k]
            D[a + k], E[a + k] = re, im
            for j in range(k + 1, n):
                x, y = D[b + j], E[b + j]
                D[a + j] = D[a + j] - (re * x - im * y)
                E[a + j] = E[a + j] - (re * y + im * x)
        x, y = D[a + i], E[a + i]
        square = x * x + y * y
        D[a + i], E[a + i] = x / square, -y / square


@kernel
def solve_full_complex(D, E, n, x, y):
    """The same with a full matrix D + i E, for x + i y."""
    for i in range(n):
        re, im = 0.0, 0.0
        for j in range(i):
            a, b = D[i * n + j], E[i * n + j]
            re, im = re + (a * x[j] - b * y[j]), im + (a * y[j] + b * x[j])
        x[i], y[i] = x[i] - re, y[i] - im
    for i in range(n - 1, -1, -1):
        re, im = x[i], y[i]
        for j in range(i + 1, n):
            a, b = D[i * n + j], E[i * n + j]
            re, im = re - (a * x[j] - b * y[j]), im - (a * y[j] + b * x[j])
        a, b = D[i * n + i], E[i * n + i]
        x[i], y[i] = re * a - im * b, re * b + im * a
