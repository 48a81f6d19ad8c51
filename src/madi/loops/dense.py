"""Dense linear algebra of small matrices in flat arrays, by rows, in place: what null-space methods are made of."""

from __future__ import annotations

from madi.kernel import inline, kernel, sqrt

NAN = float("nan")


@kernel
def cholesky(a, n):
    """a (its lower half) becomes L of L L^T; returns the smallest and largest diagonal of L, NaN if it is not definite."""
    low, high = 1e300, 0.0
    for i in range(n):
        for j in range(i + 1):
            x = a[i * n + j]
            for k in range(j):
                x = x - a[i * n + k] * a[j * n + k]
            if i == j:
                x = sqrt(x) if x > 0.0 else NAN
                low, high = min(low, x), max(high, x)
                if x != x:
                    return NAN, NAN
                a[i * n + i] = x
            else:
                a[i * n + j] = x / a[j * n + j]
    return low, high


@inline
def solve_down(a, n, p, q, unit, x):
    """x <- L^-1 x, L[i, k] = a[i p + k q] below a diagonal that is 1 (unit) or a's."""
    for i in range(n):
        y = x[i]
        for k in range(i):
            y = y - a[i * p + k * q] * x[k]
        x[i] = y if unit else y / a[i * (n + 1)]


@inline
def solve_up(a, n, p, q, unit, x):
    """x <- U^-1 x, U[i, k] = a[i p + k q] above the diagonal."""
    for i in range(n - 1, -1, -1):
        y = x[i]
        for k in range(i + 1, n):
            y = y - a[i * p + k * q] * x[k]
        x[i] = y if unit else y / a[i * (n + 1)]


@kernel
def cholesky_solve(a, n, x):
    """x <- (L L^T)^-1 x."""
    solve_down(a, n, n, 1, False, x)
    solve_up(a, n, 1, n, False, x)


@kernel
def lu(a, n, order):
    """a becomes L U with rows exchanged (order[k]: the row that came to place k); smallest and largest pivot."""
    low, high = 1e300, 0.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i * n + k]) > abs(a[best * n + k]):
                best = i
        order[k] = best
        if best != k:
            for j in range(n):
                a[k * n + j], a[best * n + j] = a[best * n + j], a[k * n + j]
        pivot = a[k * n + k]
        low, high = min(low, abs(pivot)), max(high, abs(pivot))
        if not abs(pivot) > 1e-300:
            return NAN, NAN
        for i in range(k + 1, n):
            x = a[i * n + k] / pivot
            a[i * n + k] = x
            if x != 0.0:
                for j in range(k + 1, n):
                    a[i * n + j] = a[i * n + j] - x * a[k * n + j]
    return low, high


@kernel
def lu_solve(a, n, order, x):
    """x <- (L U)^-1 x, rows exchanged as they were."""
    for k in range(n):
        best = int(order[k])
        x[k], x[best] = x[best], x[k]
    solve_down(a, n, n, 1, True, x)
    solve_up(a, n, n, 1, False, x)


@kernel
def lu_solve_transposed(a, n, order, x):
    """x <- (L U)^-T x."""
    solve_down(a, n, 1, n, False, x)
    solve_up(a, n, 1, n, True, x)
    for k in range(n - 1, -1, -1):
        best = int(order[k])
        x[k], x[best] = x[best], x[k]


@kernel
def polar(A, B, f, row):
    """A <- the orthogonal matrix nearest to it (singular values below sqrt(3)); whether that is sure."""
    for _ in range(100):
        worst = 0.0
        for i in range(f):
            for j in range(f):
                x = 0.0
                for k in range(f):
                    x += A[k * f + i] * A[k * f + j]
                B[i * f + j] = x
                worst = max(worst, abs(x - (1.0 if i == j else 0.0)))
        if worst < 1e-14:
            return True
        for i in range(f):  # row by row: A <- A (3 - A^T A) / 2
            for j in range(f):
                x = 0.0
                for k in range(f):
                    x += A[i * f + k] * ((3.0 if k == j else 0.0) - B[k * f + j])
                row[j] = 0.5 * x
            for j in range(f):
                A[i * f + j] = row[j]
    return worst < 1e-8


@inline
def combine(A, N, B, f, n):
    """N <- A N, f x f times f x n; B is scratch."""
    for i in range(f):
        for c in range(n):
            x = 0.0
            for j in range(f):
                x += A[i * f + j] * N[j * n + c]
            B[i * n + c] = x
    for j in range(f * n):
        N[j] = B[j]
