"""Tables of users between their points."""

from __future__ import annotations

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
