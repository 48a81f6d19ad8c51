"""Matrices by rows in flat arrays, times vectors: inner loops over what lies side by side.

A product that stands alone costs little but its beginning and end, so rows are taken by fours: they share the loop and the
vector. Nothing is written inside an inner loop: the compiler cannot know that two arrays do not overlap.
"""

from __future__ import annotations

from madi.kernel import inline, kernel

TOGETHER = 4  # rows of one inner loop (`four_along`)


@inline
def along(a, i, b, j, start, end):
    """Sum of a[i + p] b[j + p] over p from start to end."""
    total = 0.0
    for p in range(start, end):
        total = total + a[i + p] * b[j + p]
    return total


@inline
def four_along(a, i, stride, b, j, start, end):
    """The same of four rows of a, `stride` apart."""
    w, x, y, z = 0.0, 0.0, 0.0, 0.0
    second, third, fourth = i + stride, i + 2 * stride, i + 3 * stride
    for p in range(start, end):
        c = b[j + p]
        w = w + a[i + p] * c
        x = x + a[second + p] * c
        y = y + a[third + p] * c
        z = z + a[fourth + p] * c
    return w, x, y, z


@inline
def add_four(a, i, stride, w, x, y, z, start, end, out, k):
    """out[k + p] += w, x, y, z times four rows of a, over p from start to end: `out` is read and written once for four."""
    second, third, fourth = i + stride, i + 2 * stride, i + 3 * stride
    for p in range(start, end):
        out[k + p] = out[k + p] + (w * a[i + p] + x * a[second + p] + y * a[third + p] + z * a[fourth + p])


@kernel
def times(a, i, stride, rows, b, j, start, end, out, k):
    """out[k + r] = sum_p a[i + stride r + p] b[j + p] over p from start to end, of so many rows."""
    whole = rows - rows % TOGETHER
    for r in range(0, whole, TOGETHER):
        out[k + r], out[k + r + 1], out[k + r + 2], out[k + r + 3] = four_along(a, i + stride * r, stride, b, j, start, end)
    for r in range(whole, rows):
        out[k + r] = along(a, i + stride * r, b, j, start, end)
