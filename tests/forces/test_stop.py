"""Stops of joints: closed form and energy."""

import numpy as np
import pytest

import madi


@pytest.mark.parametrize("options", [{"rtol": 1e-8}, {"rtol": 1e-7, "method": "radau"}, {"step": 1e-4, "method": "newmark"}])
def test_stops_begin_at_zero_and_give_the_energy_back(options):
    """Without damping a wheel between two stops comes back as fast as it went, and swings in them by the closed form."""
    m = madi.Model("stops", gravity=(0, 0, 0))
    m.body("wheel", 1.0, inertia=(0.2, 0.2, 0.2))
    m.revolute("A", m.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), v0=3.0)
    m.stop("stop", "A", -0.5, 0.5, damping=0.0)
    run = madi.simulate(m, 2.0, engine="jit", times=np.linspace(0, 2, 2001), **options)
    assert np.max(np.abs(run["A"])) == pytest.approx(0.5 + 3.0 * 0.01, abs=2e-4)  # v sqrt(I / k), k = I / 0.01^2
    np.testing.assert_allclose(run["energy"], 0.5 * 0.2 * 9.0, rtol=2e-3)
    m.replace("stop", damping=1.0)
    damped = madi.simulate(m, 2.0, engine="jit", **options)
    assert damped["energy"][-1] < 0.7 * damped["energy"][0]
    assert np.max(damped["stop"] * np.sign(damped["A"])) <= 1e-9  # it never pulls
