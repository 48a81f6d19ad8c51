"""Rank, extreme singular values and least squares of a large sparse matrix A, where they are beyond doubt.

A A^T + delta is factored symmetrically, by minimum degree. Its pivot of a row is the square of how far the row is from the
span of those before it: rows whose pivot is next to nothing are *dependent*. That is believed only if

- the others surely are independent: the smallest eigenvalue of their own A_i A_i^T says so, far above rounding;
- what the others leave of a random mixture of the dependent rows is rounding, in A itself and not in its square.

Between the two lies what only singular values tell: then there is no answer here, and rows.py takes the full matrix. The
singular values of A that are not zero are sqrt(mu) of (A_i A^T)(A A_i^T) w = mu A_i A_i^T w, w over the independent rows; x
of least norm with the least |A x - b| is A_i^T w of

    [[1, A A_i^T], [A_i A^T, 0]] (u, w) = (b, 0),

docs/references.md: [Björck 1996].
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from madi.kernel.cores import one_core

SURE = 1e-10  # smallest eigenvalue of A_i A_i^T, against the largest, of rows that surely are independent (1e-5 squared)
NEXT_TO_NOTHING = 3e-11  # of the largest diagonal entry: pivots of dependent rows; below what is SURE
DELTA = 1e-14  # the same: so that no pivot is zero, above the rounding of what is left of a dependent row
LEFT = 1e-11  # of the largest singular value: what rounding and closed loops leave of dependent rows; DEPENDENT is 1e-9
MIXTURES = 2  # of the dependent rows, at random
REFINED = 2  # times a solution is corrected: digits that the square, and delta, took


class Certain:
    """Of rows whose rank is beyond doubt: extreme singular values, which rows depend on the others, least squares."""

    def __init__(self, A: Any, independent: np.ndarray, factor: Any, largest: float):
        """`A`: sparse by rows; `independent`: flags; `factor`: of A_i A_i^T; `largest`: singular value."""
        self.A, self.independent, self._factor, self.largest = A, independent, factor, largest
        self.dependent = np.flatnonzero(~independent)
        self.rank = int(independent.sum())
        self._own = A[independent]
        self.smallest = 0.0  # of those that are not zero; `certain` finds it

    @cached_property
    def _whole(self) -> Any:
        """The factored equations of least squares, where rows depend on others."""
        from scipy.sparse import bmat, identity
        from scipy.sparse.linalg import splu

        cross = self.A @ self._own.T
        unit = self.largest**2  # of the size of `cross`
        return splu(bmat([[unit * identity(self.A.shape[0]), cross], [cross.T, None]], format="csc")), unit

    def by_square(self, right: np.ndarray) -> np.ndarray:
        """w with (A_i A^T)(A A_i^T) w = right."""
        factor, unit = self._whole
        return np.asarray(-factor.solve(np.concatenate([np.zeros(self.A.shape[0]), right]))[self.A.shape[0] :] / unit)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x of least norm with the least |A x - right|."""
        x = np.zeros(self.A.shape[1])
        for _ in range(1 + REFINED):
            rest = right - self.A @ x
            x += self._own.T @ self._weights(rest)
        return x

    def _weights(self, right: np.ndarray) -> np.ndarray:
        if not len(self.dependent):
            return np.asarray(self._factor.solve(right))
        factor, _ = self._whole
        return np.asarray(factor.solve(np.concatenate([right, np.zeros(self.rank)]))[self.A.shape[0] :])

    def balanced(self, weights: np.ndarray) -> np.ndarray:
        """n with n^T A = 0 that has these numbers at the dependent rows."""
        found = np.zeros(self.A.shape[0])
        found[self.dependent] = weights
        rest = self.A[self.dependent].T @ weights
        for _ in range(1 + REFINED):
            w = self._factor.solve(self._own @ rest)
            found[self.independent] -= w
            rest = rest - self._own.T @ w
        return found


def certain(A: Any) -> Certain | None:
    """What can be said of a sparse matrix; None where singular values must tell."""
    from scipy.sparse.linalg import ArpackError

    try:
        with one_core(A.shape[0]):
            found = _ranked(A.tocsr())
            if found is not None:
                found.smallest = _smallest(found)
            return found
    except (RuntimeError, ArpackError):  # exactly singular, or not found
        return None


def _ranked(A: Any) -> Certain | None:
    """Without its smallest singular value."""
    from scipy.sparse import identity

    gram = A @ A.T
    size = float(np.max(gram.diagonal(), initial=0.0))
    if not (size > 0 and np.isfinite(gram.data).all()):
        return None
    factor = _factored(gram + DELTA * size * identity(len(gram.diagonal()), format="csr"))
    if factor is None:
        return None
    independent = factor.U.diagonal()[factor.perm_c] > NEXT_TO_NOTHING * size
    own = A[independent]
    if not independent.all():
        factor = _factored(own @ own.T)
    if factor is None or own.shape[0] < 2:
        return None
    found = Certain(A, independent, factor, float(np.sqrt(_extreme(gram))))
    least = 1.0 / _extreme(_operator(factor.solve, own.shape[0]))
    if not least > SURE * found.largest**2:
        return None
    rng = np.random.default_rng(1)
    for _ in range(MIXTURES if len(found.dependent) else 0):
        mixture = found.balanced(rng.uniform(-1.0, 1.0, len(found.dependent)))
        if not np.max(np.abs(A.T @ mixture)) < LEFT * found.largest * max(1.0, float(np.max(np.abs(mixture)))):
            return None
    return found


def _smallest(found: Certain) -> float:
    """The smallest singular value that is not zero."""
    if not len(found.dependent):
        return float(1.0 / np.sqrt(_extreme(_operator(found._factor.solve, found.rank))))
    from scipy.sparse.linalg import eigsh

    own = found._own @ found._own.T
    begin, inverse = np.random.default_rng(1).normal(size=found.rank), _operator(found.by_square, found.rank)
    (mu,) = eigsh(own, 1, M=own, sigma=0.0, OPinv=inverse, v0=begin, tol=EXACT, return_eigenvectors=False)
    return float(np.sqrt(mu))


EXACT = 1e-8  # relative, of an extreme eigenvalue


def _extreme(symmetric: Any) -> float:
    """The largest eigenvalue."""
    from scipy.sparse.linalg import eigsh

    begin = np.random.default_rng(1).normal(size=symmetric.shape[0])
    return float(eigsh(symmetric, 1, which="LM", v0=begin, tol=EXACT, return_eigenvectors=False)[0])


def _operator(apply: Any, size: int) -> Any:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator((size, size), matvec=apply, dtype=float)


def _factored(symmetric: Any) -> Any:
    """A positive matrix, its pivots on the diagonal; None where one had to be taken elsewhere."""
    from scipy.sparse.linalg import splu

    factor = splu(symmetric.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return factor if np.array_equal(factor.perm_r, factor.perm_c) else None
