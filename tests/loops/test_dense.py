"""Dense algebra of the null-space methods against NumPy."""

import numpy as np
import pytest
from scipy.linalg import polar

from madi.loops import dense


@pytest.mark.parametrize("shape", [(4, 1), (5, 3), (6, 6), (12, 5)])
def test_dense_algebra(shape):
    rng = np.random.default_rng(3)
    n, f = shape
    A, B = rng.normal(size=shape), rng.normal(size=shape)
    H = np.zeros(f * f)
    dense.products_of_rows(A.reshape(-1), B.reshape(-1), H, f, n)
    np.testing.assert_allclose(H.reshape(f, f), A.T @ B, atol=1e-12)
    turned = A.reshape(-1).copy()
    dense.combine(H, turned, np.zeros(f), f, n)
    np.testing.assert_allclose(turned.reshape(n, f), A @ (A.T @ B).T, atol=1e-12)
    G = A.T @ A
    flat, x = G.reshape(-1).copy(), rng.normal(size=f)
    low, high = dense.cholesky(flat, f)
    pivots = np.diag(np.linalg.cholesky(G))
    assert (low, high) == pytest.approx((pivots.min(), pivots.max()), rel=1e-12)
    y = x.copy()
    dense.cholesky_solve(flat, f, y)
    np.testing.assert_allclose(G @ y, x, atol=1e-10)
    assert all(np.isnan(dense.cholesky((-G).reshape(-1).copy(), f)))


def test_the_iteration_ends_at_the_polar_factor():
    rng = np.random.default_rng(4)
    n, f = 9, 4
    N = np.linalg.qr(rng.normal(size=(n, f)))[0] @ (np.eye(f) + 0.2 * rng.normal(size=(f, f)))
    N /= np.linalg.norm(N, 2)
    found, G, errors = N.reshape(-1).copy(), np.zeros(f * f), []
    while not errors or errors[-1] > 1e-12:
        errors.append(dense.straighten(found, G, np.zeros(f), f, n))
    assert errors[0] == pytest.approx(np.max(np.abs(N.T @ N - np.eye(f))))
    assert errors[-1] < 2 * errors[-2] ** 2 + 1e-15
    np.testing.assert_allclose(found.reshape(n, f), polar(N)[0], atol=1e-12)
