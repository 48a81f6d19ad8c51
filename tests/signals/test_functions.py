"""Functions of users during a run: what they may ask, and what is said when they fail."""

import pytest

import madi
from tests.mechanisms import four_bar


def test_a_function_that_fails_in_a_loop_is_named():
    m = four_bar(v0=1.0)

    def torque(t, q, v):
        if t > 0.05:
            raise RuntimeError("boom")
        return (0.0, 0.0, 0.0)

    m.torque("motor", "rocker", torque)
    ways = ({"step": 1e-2}, {"method": "dopri"}, {"step": 1e-2, "loops": "baumgarte"}, {"formulation": "cartesian"})
    for options in ways:
        with pytest.raises(madi.RunError, match=r"motor.* raised RuntimeError: boom"):
            madi.simulate(m, 1.0, engine="jit", **options)
