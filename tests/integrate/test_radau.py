"""Radau: outputs between steps, loops, stiff springs."""

import numpy as np
import pytest

import madi
from tests.mechanisms import pendulum


@pytest.mark.parametrize("times", [[0.37, 1.0], np.linspace(0, 1, 41)])
def test_radau_outputs_follow_the_tolerance(times):
    m = pendulum(q0=1.0)
    exact = madi.simulate(m, 1.0, rtol=1e-12, times=times, engine="jit")["A"]
    for rtol in (1e-6, 1e-8):
        found = madi.simulate(m, 1.0, rtol=rtol, method="radau", times=times, engine="jit")["A"]
        assert np.max(np.abs(found - exact)) < 30 * rtol
