"""IDA and CVODE on loops."""

import numpy as np
import pytest

import madi
from madi.verify import andrews


@pytest.mark.parametrize("method", [madi.IDA(), madi.CVODE(feedback=(100.0, 100.0))], ids=str)
def test_sundials_on_loops(method):
    """Independent rows only: the planar linkage drawn in space has redundant ones."""
    s = andrews.model().build()
    exact = madi.simulate(s, 0.01, method="dopri", rtol=1e-11, atol=1e-13, times=[0.01])
    run = madi.simulate(s, 0.01, method=method, rtol=1e-9, times=[0.005, 0.01], engine="jit")
    np.testing.assert_allclose(run.data["q"].values[-1], exact.data["q"].values[-1], atol=1e-5)
    assert run.data["violation"].values.max() < 1e-10
