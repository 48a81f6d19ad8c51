"""Dense linear algebra of small matrices in flat arrays, by rows, in place: what null-space methods are made of."""

from __future__ import annotations

from madi.kernel import HUGE, LEAST_SIZE, inline, kernel, sqrt

NAN = float("nan")
ORTHONORMAL, NEARLY_ORTHONORMAL = 1e-14, 1e-8  # entries of A^T A - 1: rounding; half the digits, good enough at the end


@kernel
def cholesky(a, n):
    """a (its upper half) becomes U of U^T U; returns the smallest and largest diagonal of U, NaN if it is not definite.
    Rows are taken from the rows below them as a whole: what is side by side in memory is done side by side."""
    low, high = HUGE, 0.0
    for k in range(n):
        x = a[k * n + k]
        if not x > 0.0:
            return NAN, NAN
        x = sqrt(x)
        low, high = min(low, x), max(high, x)
        x = 1.0 / x
        for j in range(k, n):
            a[k * n + j] = x * a[k * n + j]
        for i in range(k + 1, n):
            x = a[k * n + i]
            if x != 0.0:
                for j in range(i, n):
                    a[i * n + j] = a[i * n + j] - x * a[k * n + j]
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
    """x <- (U^T U)^-1 x."""
    for i in range(n):
        y = x[i] / a[i * (n + 1)]
        x[i] = y
        for k in range(i + 1, n):
            x[k] = x[k] - y * a[i * n + k]
    solve_up(a, n, n, 1, False, x)


@kernel
def lu(a, n, order):
    """a becomes L U with rows exchanged (order[k]: the row that came to place k); smallest and largest pivot."""
    low, high = HUGE, 0.0
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
        if not abs(pivot) > LEAST_SIZE:
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
        if worst < ORTHONORMAL:
            return True
        for i in range(f):  # row by row: A <- A (3 - A^T A) / 2
            for j in range(f):
                x = 0.0
                for k in range(f):
                    x += A[i * f + k] * ((3.0 if k == j else 0.0) - B[k * f + j])
                row[j] = 0.5 * x
            for j in range(f):
                A[i * f + j] = row[j]
    return worst < NEARLY_ORTHONORMAL


# ---- f right-hand sides side by side: X is n x f, and each product is one for a whole row of it ---------------------------


@kernel
def take_row(X, i, k, y, f):
    """Row i of X less y times row k."""
    for j in range(f):
        X[i * f + j] = X[i * f + j] - y * X[k * f + j]


@kernel
def divide_row(X, i, y, f):
    """Row i of X divided by y."""
    y = 1.0 / y
    for j in range(f):
        X[i * f + j] = y * X[i * f + j]


@kernel
def solve_up_all(a, n, X, f):
    """X <- U^-1 X."""
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            if a[i * n + k] != 0.0:
                take_row(X, i, k, a[i * n + k], f)
        divide_row(X, i, a[i * (n + 1)], f)


@kernel
def cholesky_solve_all(a, n, X, f):
    """X <- (U^T U)^-1 X."""
    for i in range(n):
        divide_row(X, i, a[i * (n + 1)], f)
        for k in range(i + 1, n):
            if a[i * n + k] != 0.0:
                take_row(X, k, i, a[i * n + k], f)
    solve_up_all(a, n, X, f)


@kernel
def lu_solve_all(a, n, order, X, f):
    """X <- (L U)^-1 X, rows exchanged as they were."""
    for c in range(n):
        best = int(order[c])
        if best != c:
            for j in range(f):
                X[c * f + j], X[best * f + j] = X[best * f + j], X[c * f + j]
    for i in range(n):
        for k in range(i):
            if a[i * n + k] != 0.0:
                take_row(X, i, k, a[i * n + k], f)
    solve_up_all(a, n, X, f)


@kernel
def combine(A, N, row, f, n):
    """N <- N A^T, n x f times f x f."""
    for c in range(n):
        for i in range(f):
            x = 0.0
            for j in range(f):
                x += A[i * f + j] * N[c * f + j]
            row[i] = x
        for i in range(f):
            N[c * f + i] = row[i]


@kernel
def products_of_rows(A, B, H, f, n):
    """H = A^T B, f x f, of two n x f matrices."""
    for j in range(f * f):
        H[j] = 0.0
    for c in range(n):
        for i in range(f):
            x = A[c * f + i]
            for j in range(f):
                H[i * f + j] = H[i * f + j] + x * B[c * f + j]
