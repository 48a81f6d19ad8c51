"""Radau: outputs between steps, loops, stiff springs."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar_in_space, pendulum


@pytest.mark.parametrize("times", [[0.37, 1.0], np.linspace(0, 1, 41)])
def test_radau_outputs_follow_the_tolerance(times):
    m = pendulum(q0=1.0)
    exact = madi.simulate(m, 1.0, rtol=1e-12, times=times, engine="jit")["A"]
    for rtol in (1e-6, 1e-8):
        found = madi.simulate(m, 1.0, rtol=rtol, method="radau", times=times, engine="jit")["A"]
        assert np.max(np.abs(found - exact)) < 30 * rtol


def test_radau_on_loops_and_stiff_springs():
    m = four_bar_in_space()
    m.spring_damper("stiff", "coupler", m.ground, at=((0.7, 0.2, 0.3), (0.7, 0.9, 0.3)), stiffness=3e6, damping=2e3)
    s = m.build()
    exact = madi.simulate(s, 0.3, method="dopri", rtol=1e-10, times=[0.3])
    run = madi.simulate(s, 0.3, method="radau", rtol=1e-7, times=[0.3])
    np.testing.assert_allclose(run.data["q"].values[-1], exact.data["q"].values[-1], atol=1e-7)
    assert run.statistics["evaluations"] < exact.statistics["evaluations"]
