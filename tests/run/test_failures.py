"""Runs that fail or are interrupted say why and keep their results."""

import numpy as np
import pytest

import madi
from tests.mechanisms import pinned_bob


@pytest.mark.parametrize("engine", ["plain", "jit"])
def test_a_force_that_leaves_the_numbers_stops_the_run_and_keeps_it(engine):
    m = pinned_bob()
    m.force("blow", "bob", lambda t: (madi.sqrt(0.5 - t), 0.0, 0.0))
    with pytest.raises(madi.RunError, match=r"t = 0\.\d+ s.*force 'blow' is not finite") as caught:
        madi.simulate(m, 1.0, step=0.01, engine=engine)
    kept = caught.value.run
    assert 0.4 < kept.data["time"].values[-1] <= 0.51
    assert np.all(np.isfinite(kept.data["q"].values))


def test_a_step_too_long_is_told():
    m = pinned_bob()
    m.joint_spring("stiff", "pin", stiffness=1e8)
    with pytest.raises(madi.RunError, match=r"'pin'.*shorter"):
        madi.simulate(m, 10.0, step=0.05, start=([0.1], None))


@pytest.mark.parametrize("method", ["dopri", "abm"])
def test_nan_in_one_component_stops_an_adaptive_run(method):
    """Two pendulums that know nothing of each other; the force on the first one leaves the numbers."""
    m = madi.Model("two")
    for k in "ab":
        m.body(k, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
        m.revolute(f"pin_{k}", m.ground, k, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    m.force("blow", "a", lambda t: (madi.sqrt(0.5 - t), 0.0, 0.0))
    with pytest.raises(madi.RunError) as caught:
        madi.simulate(m, 1.0, method=method)
    kept = caught.value.run
    assert 0.4 < kept.data["time"].values[-1] < 0.501
    assert np.all(np.isfinite(kept.data["q"].values))


def test_a_drive_that_is_not_finite_is_no_result():
    m = pinned_bob()
    m.drive("pin", lambda t: madi.where(t < 0.5, t, madi.log(-1 - t)))
    with pytest.raises(madi.RunError, match=r"drive of 'pin' is not finite at t = 0\.5") as caught:
        madi.simulate(m, 1.0, step=0.01)
    assert np.all(np.isfinite(caught.value.run.data["q"].values))


def test_ctrl_c_keeps_what_was_computed():
    m = pinned_bob()

    def interrupted(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return (0.0, 0.0, 0.0)

    m.force("f", "bob", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        madi.simulate(m, 1.0, step=0.01, engine="jit")
    kept = caught.value.run.data
    assert kept["time"].values[-1] == pytest.approx(0.5)
    assert np.all(np.isfinite(kept["q"].values))
