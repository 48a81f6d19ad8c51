"""Many runs at once: each is its single run; failures and wrong batches."""

import numpy as np

import madi
from tests.mechanisms import double_pendulum


def test_many_runs_of_a_drive_that_jumps():
    m = double_pendulum((0, 0, 0))
    m.drive("B", lambda t: madi.where(t < 0.3, 0.0, 0.7 * (t - 0.3)))
    times = [0.0, 0.125, 0.25, 0.375, 0.5]
    found = madi.simulate_many(m, {"upper.mass": [1.0, 2.0]}, 0.5, rtol=1e-8, times=times)
    assert list(found["time"].values) == times
    alone = madi.simulate(m, 0.5, rtol=1e-8, times=times, engine="jit")
    np.testing.assert_allclose(found["q"].values[0], alone.data["q"].values, atol=1e-9)
