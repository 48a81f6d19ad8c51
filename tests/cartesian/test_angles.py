"""Joint angles in Cartesian coordinates keep their full turns."""

import numpy as np

import madi
from tests.mechanisms import four_bar


def test_turns_are_counted_in_cartesian_coordinates():
    m = four_bar()
    m.drive("A", lambda t: 20.0 * t)
    for times in (np.linspace(0, 0.6, 61), [0.0, 0.3, 0.6]):
        a = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit")
        b = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit", formulation="cartesian")
        np.testing.assert_allclose(b["A"], 20.0 * np.asarray(times), atol=1e-8)
        np.testing.assert_allclose(b.data["position"], a.data["position"], atol=1e-6)
