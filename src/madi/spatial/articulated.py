"""Articulated inertias: symmetric 6 x 6 matrices, of which the upper triangle is kept row by row (21 numbers).

docs/references.md: [Featherstone 1983], [Featherstone 2008].
"""

from __future__ import annotations

from madi.kernel import inline
from madi.spatial.vector import scaled


@inline
def start_articulated(I, i, K):
    """I of a body alone, [[m 1, -h~], [h~, I]], from the ten numbers in row i of K."""
    m, x = K[i, 0], K[i, 1]
    y, z = K[i, 2], K[i, 3]
    I[i, 0], I[i, 1], I[i, 2] = m, 0.0, 0.0
    I[i, 3], I[i, 4], I[i, 5] = 0.0, z, -y
    I[i, 6], I[i, 7], I[i, 8] = m, 0.0, -z
    I[i, 9], I[i, 10] = 0.0, x
    I[i, 11], I[i, 12] = m, y
    I[i, 13], I[i, 14] = -x, 0.0
    for j in range(6):
        I[i, 15 + j] = K[i, 4 + j]


@inline
def articulated_times(I, i, b):
    """I_i b."""
    return (
        I[i, 0] * b[0] + I[i, 1] * b[1] + I[i, 2] * b[2] + I[i, 3] * b[3] + I[i, 4] * b[4] + I[i, 5] * b[5],
        I[i, 1] * b[0] + I[i, 6] * b[1] + I[i, 7] * b[2] + I[i, 8] * b[3] + I[i, 9] * b[4] + I[i, 10] * b[5],
        I[i, 2] * b[0] + I[i, 7] * b[1] + I[i, 11] * b[2] + I[i, 12] * b[3] + I[i, 13] * b[4] + I[i, 14] * b[5],
        I[i, 3] * b[0] + I[i, 8] * b[1] + I[i, 12] * b[2] + I[i, 15] * b[3] + I[i, 16] * b[4] + I[i, 17] * b[5],
        I[i, 4] * b[0] + I[i, 9] * b[1] + I[i, 13] * b[2] + I[i, 16] * b[3] + I[i, 18] * b[4] + I[i, 19] * b[5],
        I[i, 5] * b[0] + I[i, 10] * b[1] + I[i, 14] * b[2] + I[i, 17] * b[3] + I[i, 19] * b[4] + I[i, 20] * b[5],
    )


@inline
def take_out(I, i, U, s):
    """I_i = I_i - s U U^T."""
    x = scaled(s, U)
    I[i, 0], I[i, 1], I[i, 2] = I[i, 0] - x[0] * U[0], I[i, 1] - x[0] * U[1], I[i, 2] - x[0] * U[2]
    I[i, 3], I[i, 4], I[i, 5] = I[i, 3] - x[0] * U[3], I[i, 4] - x[0] * U[4], I[i, 5] - x[0] * U[5]
    I[i, 6], I[i, 7], I[i, 8] = I[i, 6] - x[1] * U[1], I[i, 7] - x[1] * U[2], I[i, 8] - x[1] * U[3]
    I[i, 9], I[i, 10] = I[i, 9] - x[1] * U[4], I[i, 10] - x[1] * U[5]
    I[i, 11], I[i, 12] = I[i, 11] - x[2] * U[2], I[i, 12] - x[2] * U[3]
    I[i, 13], I[i, 14] = I[i, 13] - x[2] * U[4], I[i, 14] - x[2] * U[5]
    I[i, 15], I[i, 16], I[i, 17] = I[i, 15] - x[3] * U[3], I[i, 16] - x[3] * U[4], I[i, 17] - x[3] * U[5]
    I[i, 18], I[i, 19], I[i, 20] = I[i, 18] - x[4] * U[4], I[i, 19] - x[4] * U[5], I[i, 20] - x[5] * U[5]
