"""Rows that are independent, and directions that span what they leave free: how null-space methods choose them.

All in coordinates measured by mass (`weigh`); see null_space.py.
"""

from __future__ import annotations

from madi.constraints.fields import REGULARISATION
from madi.kernel import HUGE, kernel, sqrt
from madi.loops.dense import combine, polar, products_of_rows
from madi.loops.fields import Arrays, Work
from madi.loops.kkt import EPSILON

DEPENDENT = 1e-7  # pivot of a row, against the largest, below which it adds nothing
VANISHED, ORTHOGONAL = 1e-28, 1e-15  # square of a column, by the largest entry's; cosine of two: rounding, nothing to turn


@kernel
def weigh(model: Arrays, work: Work):
    """work.column_scale, work.row_scale: what columns and rows are measured by; nothing, in P2's own form."""
    if work.options.unweighted != 0:
        for c in range(model.nn):
            work.column_scale[c] = 1.0
        for r in range(model.nr):
            work.row_scale[r] = 1.0
        return
    for k in range(model.nm):
        if model.m_row[k] == model.m_column[k]:
            work.column_scale[model.column_number[model.m_row[k]]] = 1.0 / sqrt(work.m_value[k])
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            work.row_scale[r] = sqrt(EPSILON / model.row_value[r, REGULARISATION])


@kernel
def choose_rows(model: Arrays, work: Work):
    """work.row_order: first the independent rows, then the others, by Gaussian elimination with complete pivoting of Phi_q;
    work.column_order: the columns they take. Returns how many are independent; -1 where numbers are not finite."""
    n, a = model.nn, work.spare
    rows, total = 0, 0.0
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            for c in range(n):
                a[rows * n + c] = 0.0
            for j in range(model.row_first[r], model.row_first[r + 1]):
                c = model.column_number[model.j_column[j]]
                a[rows * n + c] = work.j_value[j] * work.column_scale[c] * work.row_scale[r]
                total += abs(a[rows * n + c])
            work.row_order[rows] = r
            rows += 1
    if not total < HUGE:
        return -1
    for c in range(n):
        work.column_order[c] = c
    largest = 0.0
    for k in range(min(rows, n)):
        row, column, best = k, k, 0.0
        for i in range(k, rows):
            for j in range(k, n):
                if abs(a[i * n + j]) > best:
                    row, column, best = i, j, abs(a[i * n + j])
        largest = max(largest, best)
        if not best > DEPENDENT * largest:
            return k
        for j in range(n):
            a[k * n + j], a[row * n + j] = a[row * n + j], a[k * n + j]
        for i in range(rows):
            a[i * n + k], a[i * n + column] = a[i * n + column], a[i * n + k]
        work.row_order[k], work.row_order[row] = work.row_order[row], work.row_order[k]
        work.column_order[k], work.column_order[column] = work.column_order[column], work.column_order[k]
        for i in range(k + 1, rows):
            x = a[i * n + k] / a[k * n + k]
            if x != 0.0:
                for j in range(k, n):
                    a[i * n + j] = a[i * n + j] - x * a[k * n + j]
    return min(rows, n)


@kernel
def gather(model: Arrays, work: Work):
    """work.j_scaled, work.m_scaled: entries of Phi_q and M measured by mass; work.dense: the chosen rows, full."""
    n, m, J, size = model.nn, work.rank, work.dense, work.column_scale
    for r in range(model.nr):
        if model.row_place[r] >= 0:
            for j in range(model.row_first[r], model.row_first[r + 1]):
                work.j_scaled[j] = work.j_value[j] * size[model.column_number[model.j_column[j]]] * work.row_scale[r]
    for k in range(model.nm):
        i, j = model.column_number[model.m_row[k]], model.column_number[model.m_column[k]]
        work.m_scaled[k] = work.m_value[k] * size[i] * size[j]
    for i in range(m):
        r = int(work.row_order[i])
        for c in range(n):
            J[i * n + c] = 0.0
        for j in range(model.row_first[r], model.row_first[r + 1]):
            J[i * n + model.column_number[model.j_column[j]]] = work.j_scaled[j]


@kernel
def orthogonal_complement(work: Work, m, n):
    """work.null: the n - m last columns of Q, J^T = Q R by Householder's reflections."""
    a, size = work.spare, work.correction
    for j in range(m * n):
        a[j] = work.dense[j]
    for k in range(m):  # row k of `a` is the column of J^T that the reflection takes to its first k + 1 places
        norm = 0.0
        for c in range(k, n):
            norm += a[k * n + c] * a[k * n + c]
        norm = sqrt(norm)
        if a[k * n + k] > 0.0:
            norm = -norm
        a[k * n + k] = a[k * n + k] - norm
        size[k] = -norm * a[k * n + k]  # |u|^2 / 2
        for i in range(k + 1, m):
            x = 0.0
            for c in range(k, n):
                x += a[k * n + c] * a[i * n + c]
            x = x / size[k]
            for c in range(k, n):
                a[i * n + c] = a[i * n + c] - x * a[k * n + c]
    f = n - m
    for i in range(f):
        for c in range(n):
            work.null[c * f + i] = 1.0 if c == m + i else 0.0
        for k in range(m - 1, -1, -1):
            x = 0.0
            for c in range(k, n):
                x += a[k * n + c] * work.null[c * f + i]
            x = x / size[k]
            for c in range(k, n):
                work.null[c * f + i] = work.null[c * f + i] - x * a[k * n + c]


@kernel
def singular_directions(work: Work, m, n):
    """work.null: the n - m last columns of V, J = U S V^T by Jacobi's rotations of the columns of J (one-sided)."""
    a, V, size = work.spare, work.product, work.correction
    for j in range(m * n):
        a[j] = work.dense[j]
    for i in range(n):
        for j in range(n):
            V[i * n + j] = 1.0 if i == j else 0.0
    largest = 0.0
    for j in range(m * n):
        largest = max(largest, abs(a[j]))
    tiny = VANISHED * largest * largest
    for _ in range(60):
        turned = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                x, y, z = 0.0, 0.0, 0.0
                for i in range(m):
                    x += a[i * n + p] * a[i * n + p]
                    y += a[i * n + q] * a[i * n + q]
                    z += a[i * n + p] * a[i * n + q]
                if x <= tiny or y <= tiny or abs(z) <= ORTHOGONAL * sqrt(x * y):
                    continue
                turned = True
                tau = (y - x) / (2.0 * z)
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + sqrt(1.0 + tau * tau))
                c = 1.0 / sqrt(1.0 + t * t)
                s = c * t
                for i in range(m):
                    x, y = a[i * n + p], a[i * n + q]
                    a[i * n + p], a[i * n + q] = c * x - s * y, s * x + c * y
                for i in range(n):
                    x, y = V[i * n + p], V[i * n + q]
                    V[i * n + p], V[i * n + q] = c * x - s * y, s * x + c * y
        if not turned:
            break
    for c in range(n):
        size[c] = 0.0
        for i in range(m):
            size[c] = size[c] + a[i * n + c] * a[i * n + c]
    for i in range(n - m):  # the columns that vanish
        least = 0
        for c in range(1, n):
            if size[c] < size[least]:
                least = c
        size[least] = HUGE
        for c in range(n):
            work.null[c * (n - m) + i] = V[c * n + least]


@kernel
def turn_to_old(work: Work, m, n):
    """work.null, an orthonormal basis, is turned within its span to lie nearest to work.basis: the old directions,
    projected, and made orthonormal by the polar iteration of Newton and Schulz. False where they cannot be kept."""
    f, A = n - m, work.reduced
    products_of_rows(work.basis, work.null, A, f, n)
    if not polar(A, work.product, f, work.short):
        return False
    combine(A, work.null, work.short, f, n)
    return True


@kernel
def straighten(work: Work, f, n):
    """One step of the polar iteration on the directions in work.null: N <- (3 - N N^T) N / 2."""
    N, A = work.null, work.reduced
    products_of_rows(N, N, A, f, n)
    for i in range(f):
        for j in range(f):
            A[i * f + j] = (1.5 if i == j else 0.0) - 0.5 * A[i * f + j]
    combine(A, N, work.short, f, n)
