"""Machine code's own functions against the C library's."""

import math

import numpy as np
import pytest

from madi import kernel


@pytest.fixture(scope="module")
def inverse_tangent():
    """atan2 as kernels have it in machine code."""
    import numba

    from madi.engines import numba_support

    numba_support.register_kernels()
    return numba.njit(lambda y, x: kernel.atan2(y, x)), numba.njit(lambda x: kernel.atan(x))


def test_atan2_is_that_of_the_c_library(inverse_tangent):
    atan2, atan = inverse_tangent
    rng = np.random.default_rng(0)
    for y, x in rng.normal(size=(20000, 2)) * 10.0 ** rng.uniform(-9, 9, size=(20000, 2)):
        assert atan2(y, x) == pytest.approx(math.atan2(y, x), rel=5e-16)
        assert atan(y) == pytest.approx(math.atan(y), rel=5e-16)


def test_at_the_ends_it_is_the_c_library(inverse_tangent):
    atan2, atan = inverse_tangent
    ends = (0.0, 1.0, -1.0, 1e-300, -5e-324, 1e305, math.inf, -math.inf, math.nan)
    for y in ends:
        np.testing.assert_allclose(atan(y), math.atan(y), rtol=5e-16)
        for x in ends:
            np.testing.assert_allclose(atan2(y, x), math.atan2(y, x), rtol=5e-16)
