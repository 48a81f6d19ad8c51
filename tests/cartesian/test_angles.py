"""Joint angles in Cartesian coordinates keep their full turns."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar, pendulum


def test_turns_are_counted_in_cartesian_coordinates():
    m = four_bar()
    m.drive("A", lambda t: 20.0 * t)
    for times in (np.linspace(0, 0.6, 61), [0.0, 0.3, 0.6]):
        a = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit")
        b = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit", formulation="cartesian")
        np.testing.assert_allclose(b["A"], 20.0 * np.asarray(times), atol=1e-8)
        np.testing.assert_allclose(b.data["position"], a.data["position"], atol=1e-6)


@pytest.mark.parametrize("outputs", [2, 6, 101])
@pytest.mark.parametrize("method", ["dopri", "abm"])
def test_cartesian_angles_keep_their_turns(outputs, method):
    m, times = pendulum(v0=12.0), np.linspace(0, 5, outputs)
    found = madi.simulate(m, 5.0, formulation="cartesian", method=method, rtol=1e-9, times=times, engine="jit")["A"]
    wanted = madi.simulate(m, 5.0, rtol=1e-11, times=times, engine="jit")["A"]
    assert wanted[-1] > 30
    np.testing.assert_allclose(found, wanted, atol=1e-5)
