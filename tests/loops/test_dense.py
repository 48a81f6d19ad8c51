"""Dense algebra of the null-space methods against NumPy."""

import numpy as np
import pytest

from madi.loops import dense, directions, null_space
from madi.loops.memory import fresh_tally


@pytest.mark.parametrize("shape", [(1, 4), (3, 5), (6, 6), (5, 12)])
def test_dense_algebra(shape):
    rng = np.random.default_rng(3)
    m, n = shape
    J = rng.normal(size=shape)

    class Work:
        dense, spare = J.reshape(-1).copy(), np.zeros(m * n)
        null, product, reduced, basis = (np.zeros(n * n) for _ in range(4))
        square, column_order, short = np.zeros(n * n), np.zeros(n), np.zeros(n)
        correction, rest, column_scale, row_scale = np.zeros(n + m), np.zeros(n), np.ones(n), np.ones(m)
        tally, row_order, j_scaled = fresh_tally(), np.arange(m, dtype=float), J.reshape(-1).copy()

    class Model:
        row_first, j_column, column_number = np.arange(0, m * n + 1, n), np.tile(np.arange(n), m), np.arange(n)

    for choose in (directions.orthogonal_complement, directions.singular_directions, None):
        work = Work()
        null_space.factor_rows(Model(), work, m, n, work.square)
        if choose is None:
            null_space.unit_complement(Model(), work, m, n)
        else:
            choose(work, m, n)
        N = work.null[: (n - m) * n].reshape(n, n - m).T
        assert np.max(np.abs(J @ N.T), initial=0.0) < 1e-12
        np.testing.assert_allclose(N @ N.T, np.eye(n - m), atol=1e-12)
    square = rng.normal(size=(n, n))
    flat, order, x = square.reshape(-1).copy(), np.zeros(n), rng.normal(size=n)
    dense.lu(flat, n, order)
    y = x.copy()
    dense.lu_solve(flat, n, order, y)
    np.testing.assert_allclose(square @ y, x, atol=1e-10)
    near = np.linalg.qr(square)[0] + 0.1 * rng.normal(size=(n, n))
    A = near.reshape(-1).copy()
    assert dense.polar(A, np.zeros(n * n), n, np.zeros(n))
    U, _, Vt = np.linalg.svd(near)
    np.testing.assert_allclose(A.reshape(n, n), U @ Vt, atol=1e-10)
