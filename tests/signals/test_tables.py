"""Tables of users between their points."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import madi


def test_a_smooth_table_does_not_overshoot():
    """A spline through these points swung to 3216 N between 200 N and 0 N."""
    gas = madi.table([(0, 0), (0.002, 6000), (0.005, 1500), (0.010, 200), (0.040, 0)])
    x = np.linspace(-0.01, 0.05, 6001)
    y = np.array([gas(t) for t in x])
    assert y.min() == 0.0
    assert y.max() == 6000.0
    assert np.all(np.diff(y[x > 0.002]) <= 1e-9)
    dwell = madi.table([(0, 0), (1, 1.0), (3, 1.0), (4, 0)])
    assert all(dwell(t) == pytest.approx(1.0, abs=1e-15) for t in np.linspace(1, 3, 21))
    h = 1e-6  # smooth: slopes go on, and are level at the ends
    for t in (0.0, 1.0, 3.0, 4.0):
        assert (dwell(t) - dwell(t - h)) / h == pytest.approx((dwell(t + h) - dwell(t)) / h, abs=1e-4)


def test_a_table_of_many_symbols_is_traced():
    """Of an array that has the state in it, as of each of its numbers alone."""
    gain = madi.table([(-1, 2.0), (0, 0.5), (2, -1.0)])
    m = madi.Model("two slides")
    for name in "ab":
        body = m.body(name, mass=2.0, inertia=(1, 1, 1))
        m.prismatic(name.upper(), m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    m.force("push", "a", lambda t, q, v: np.append(gain(np.array([q["A"], q["B"] + t])), 0.0))
    s = m.build()
    assert not s.frozen.signals.callbacks
    for q in ([0.3, -0.4], [-2.0, 1.1]):
        expected = [float(gain(q[0])) / 2.0, 0.0]
        for engine in ("plain", "jit", "compiled"):
            np.testing.assert_allclose(s.forward_dynamics(q, [0, 0], t=0.1, engine=engine), expected, atol=1e-13)
    square = gain(np.array([[0.5, 1.0], [-0.2, 3.0]], dtype=object))
    np.testing.assert_array_equal(square.astype(float), gain(np.array([[0.5, 1.0], [-0.2, 3.0]])))


@pytest.mark.parametrize("between", ["cubic", "linear"])
def test_a_table_that_was_pickled_can_be_saved(between, tmp_path):
    lift = pickle.loads(pickle.dumps(madi.table([(0, 0), (1, 0.2), (3, 0.1)], between)))
    m = madi.Model("slide")
    body = m.body("a", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    m.drive("A", lambda t: 2.0 * lift(t))
    m.save(tmp_path / "model.yaml")
    again = madi.load(tmp_path / "model.yaml")
    first, second = (madi.simulate(one, 2.0, step=0.1)["A"] for one in (m, again))
    np.testing.assert_allclose(first, 2.0 * lift(np.linspace(0, 2, 21)), atol=1e-12)
    np.testing.assert_allclose(second, first, atol=1e-12)
