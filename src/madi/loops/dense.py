"""Dense linear algebra of a block's directions in flat arrays, by rows, in place: f of them side by side, N is n x f."""

from __future__ import annotations

from madi.kernel import HUGE, inline, kernel, sqrt

NAN = float("nan")


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
def solve_up(a, n, x):
    """x <- U^-1 x."""
    for i in range(n - 1, -1, -1):
        y = x[i]
        for k in range(i + 1, n):
            y = y - a[i * n + k] * x[k]
        x[i] = y / a[i * (n + 1)]


@kernel
def cholesky_solve(a, n, x):
    """x <- (U^T U)^-1 x."""
    for i in range(n):
        y = x[i] / a[i * (n + 1)]
        x[i] = y
        for k in range(i + 1, n):
            x[k] = x[k] - y * a[i * n + k]
    solve_up(a, n, x)


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
            if x != 0.0:
                for j in range(f):
                    H[i * f + j] = H[i * f + j] + x * B[c * f + j]


@kernel
def straighten(N, A, row, f, n):
    """One step of Newton's and Schulz's iteration for the polar factor, N <- N (3 - N^T N) / 2; A: scratch. Returns by how
    much N^T N was not 1 before."""
    products_of_rows(N, N, A, f, n)
    worst = 0.0
    for i in range(f):
        for j in range(f):
            x = A[i * f + j] - (1.0 if i == j else 0.0)
            if not abs(x) <= worst:
                worst = abs(x)
            A[i * f + j] = (1.0 if i == j else 0.0) - 0.5 * x
    combine(A, N, row, f, n)
    return worst
