"""Drives whose speed jumps: where they are found, and the impulse that follows."""

import numpy as np
import pytest

import madi
from madi.signals.jumps import speed_jumps
from tests.mechanisms import pendulum


def test_a_jump_of_a_drive_is_one_impulse_whatever_the_method():
    """Two bars in a row on a free hinge, the elbow's drive begins to move at once: angular momentum stays zero, so that the
    first bar turns by a closed form: (I1 + I2 + ...) w1 + (...) (w1 + w2) = 0."""
    m = madi.Model("elbow", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    m.body("c", 1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    m.revolute("O", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("E", "b", "c", at=(1, 0, 0), axis=(0, 0, 1))
    m.drive("E", lambda t: madi.where(t < 0.5, 0.0, 0.7 * (t - 0.5)))
    # stretched: L = (0.35 + 1 + 0.25 + 0.1 + 2 * 0.5) w1 + (0.25 + 0.1 + 0.5) w2
    wanted = -0.7 * (0.35 + 0.5) / (0.35 + 1.35 + 1.0)
    for options in ({"rtol": 1e-9}, {"rtol": 1e-9, "method": "abm"}, {"rtol": 1e-9, "method": "radau"}, {"step": 1e-3},
                    {"rtol": 1e-9, "formulation": "cartesian"}, {"step": 1e-3, "method": "newmark"}):  # fmt: skip
        run = madi.simulate(m, 0.6, times=[0.5 + 1e-6 if "rtol" in options else 0.501, 0.6], engine="jit", **options)
        assert run["O.v"][0] == pytest.approx(wanted, rel=2e-3), options
        assert np.max(np.abs(run.data["momentum"].values[:, 5])) < 1e-8
        assert run.statistics["jumps"] == pytest.approx([0.5])
    with pytest.raises(madi.InputError, match=r"jumps by 0.7 at t = 0.5.*no impulse"):
        madi.simulate(m, 1.0, method="ida")


def test_smooth_tables_do_not_jump_and_broken_lines_do():
    points = [(0.01 * k, np.sin(0.05 * k)) for k in range(150)]
    for between, jumps in (("cubic", 0), ("linear", 151)):
        m = pendulum()
        m.drive("A", madi.table(points, between=between))
        found = speed_jumps(m.build(), 2.0)
        assert abs(len(found) - jumps) <= 2
    knots = [jump.time for jump in found]
    np.testing.assert_allclose(knots[4:19], 0.01 * np.arange(5, 20), atol=1e-12)
