"""Runs of flexible bodies: energy, the stiff limit, a rotating beam, integrators."""

from itertools import pairwise

import numpy as np
import pytest

import madi
from madi.verify import spin_up
from tests.bodies.beams import flexible_pendulum


def test_energy_of_a_flexible_pendulum_stays():
    m = flexible_pendulum(E=2e9, modes={"y": 1, "z": 2, "axial": 1})
    run = madi.simulate(m, 10.0, rtol=1e-10, times=np.linspace(0, 10, 201))
    assert np.ptp(run["energy"]) < 1e-6 * np.max(np.abs(run["kinetic"]))
    assert np.max(np.abs(run["link.z1"])) > 1e-3  # it does bend


def test_stiff_limit_is_the_rigid_pendulum():
    m = madi.Model("rigid")
    mass = 2700 * 0.02 * 0.01
    m.body("link", mass, com=(0.5, 0, 0), inertia=(0, mass / 12, mass / 12), unphysical=True)
    m.revolute("pin", m.ground, "link", at=(0, 0, 0), axis=(0, 1, 0))
    times = np.linspace(0, 1, 11)
    rigid = madi.simulate(m, 1.0, rtol=1e-9, times=times)["pin"]
    gaps = []
    for E in (7e9, 7e10, 7e11, 7e12):
        run = madi.simulate(flexible_pendulum(E=E, damping=0.3), 1.0, rtol=1e-8, times=times, method="radau")
        gaps.append(np.max(np.abs(run["pin"] - rigid)))
    assert gaps[-1] < 1e-4
    assert all(b < 0.2 * a for a, b in pairwise(gaps))


def test_spin_up_of_a_rotating_beam():
    """Kane's: the tip lags, as geometrically exact beams do, and comes back."""
    run = madi.simulate(spin_up.model(), 20.0, rtol=1e-8, times=np.linspace(0, 20, 401))
    tip = spin_up.tip(run)
    for t, wanted in spin_up.TIP.items():
        assert np.interp(t, run["time"], tip) == pytest.approx(wanted, abs=5e-3 * 0.57)
    assert np.min(tip) == pytest.approx(spin_up.LARGEST, rel=5e-3)
    assert np.max(np.abs(tip[run["time"] > 15])) < 5e-3  # steady: straight again


def test_spin_up_without_stiffening_diverges_and_the_user_is_told():
    with pytest.warns(madi.MadiWarning, match="stiffening=True"):
        run = madi.simulate(spin_up.model(stiffening=False), 10.5, rtol=1e-8, times=np.linspace(0, 10.5, 106))
    tip = np.abs(spin_up.tip(run))
    assert tip[-1] > 50.0  # it grows without bound once the hub turns faster than the first frequency, 3.8 rad/s
    assert np.all(np.diff(tip[run["time"] > 8.6]) > 0)


def test_locked_modes_are_rigid():
    """m.lock(beam) takes its modes away: the rigid link."""
    m = flexible_pendulum(E=1e6)
    m.lock("link")
    mass = 2700 * 0.02 * 0.01
    s = m.build()
    a = s.forward_dynamics(s.q0, s.v0)
    assert a[s.speeds.index("pin")] == pytest.approx(9.81 * mass * 0.5 / (mass / 3))
    assert "locked" in s.explain()


@pytest.mark.parametrize("method", ["newmark", "generalized-alpha", "radau", "ida", "cvode", "abm"])
def test_every_integrator_takes_modes(method):
    m = flexible_pendulum(E=2e9, damping=0.02)
    times = np.linspace(0, 0.5, 6)
    step = {"step": 1e-3} if method in ("newmark", "generalized-alpha") else {}
    wanted = madi.simulate(m, 0.5, rtol=1e-10, times=times)
    tight = {} if step else {"rtol": 1e-8}
    found = madi.simulate(m, 0.5, method=method, times=times, **tight, **step)
    np.testing.assert_allclose(found["pin"], wanted["pin"], atol=2e-4)
    np.testing.assert_allclose(found["link@tip.z"], wanted["link@tip.z"], atol=5e-4)


def test_parameters_act_on_models_with_beams():
    """Gravity, a load's mass, a spring: adjustable; the beam's own numbers: told."""
    m = flexible_pendulum(E=2e9)
    m.fixed("grip", "link", m.body("load", 0.3, position=(1, 0, 0)), at=(1, 0, 0))
    m.joint_spring("spring", "pin", stiffness=3.0)
    for name, values in (("gravity.z", [-9.81, -20.0]), ("load.mass", [0.3, 1.0]), ("spring.stiffness", [3.0, 30.0])):
        many = madi.simulate_many(m, {name: values}, 0.1, step=1e-4)
        ends = many["q"].sel(coordinate="pin").isel(time=-1).values
        assert abs(ends[0] - ends[1]) > 1e-4
    with pytest.raises(madi.InputError, match="flexible body 'link' cannot stay adjustable"):
        madi.simulate_many(m, {"link.mass": [1.0, 2.0]}, 0.1, step=1e-4)
