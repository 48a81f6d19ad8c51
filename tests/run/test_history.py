"""The history of steps."""

import numpy as np

import madi
from tests.mechanisms import four_bar


def test_history_of_steps():
    run = madi.simulate(four_bar(v0=3.0), 1.0, rtol=1e-7, max_step=0.01, loops="qr", history=True)
    plain = madi.simulate(four_bar(v0=3.0), 1.0, rtol=1e-7, max_step=0.01, loops="qr")
    steps = run.data["step_size"].values
    assert len(steps) == run.statistics["steps"] == plain.statistics["steps"]
    np.testing.assert_allclose(steps.sum(), 1.0)
    assert steps.max() <= 0.01 * (1 + 1e-9)
    assert (run.data["step_residual"] >= run.data["step_violation"] - 1e-13).all()
    assert float(run.data["step_violation"].max()) < 1e-10
    np.testing.assert_array_equal(run.data["q"].values, plain.data["q"].values)
