"""Tire laws without a measured file: forces of slip, continuity, sliding, hills."""

import numpy as np
import pytest

import madi
from tests.mechanisms import pendulum


def test_the_tire_s_law_says_what_it_is():
    m = pendulum()
    with pytest.raises(madi.InputError, match="'smooth'"):
        m.tire("t", "bob", (0, 0, 0), (0, 1, 0), 0.3, 1e5, law="linear")


def rolling(road=None, **numbers):
    """One wheel under 200 kg, spinning about y, free in the plane and across it."""
    m = madi.Model("wheel")
    m.body("hub", 200.0, inertia=(2, 3, 2), position=(0, 0, 0.3))
    m.free("base", m.ground, "hub")
    given = {"stiffness": 2e5, "damping": 1e3, "slip_stiffness": 3e4, "cornering_stiffness": 4e4, "friction": 0.8} | numbers
    m.tire("tire", "hub", (0, 0, 0.3), (0, 1, 0), radius=0.3, road=road, **given)
    return m


def on_tire(m, q, v):
    """Force on the hub in ground axes, and its moment about the hub's centre, for the state (q, v)."""
    s, bare = m.build(frame="ground"), madi.Model("bare")
    bare.bodies, bare.joints, bare.ground = m.bodies, m.joints, m.ground
    zero = np.zeros(6)
    load = bare.build(frame="ground").inverse_dynamics(q, v, zero, engine="plain") - s.inverse_dynamics(
        q, v, zero, engine="plain"
    )
    return load[:3], load[3:]


LOW = np.array([0, 0, -0.01, 1, 0, 0, 0.0])  # pressed 10 mm into the road


def test_forces_of_slip():
    """Linear in small slip, on the friction circle in large; signs: braking slip brakes, side slip pushes back."""
    m, N, arm = rolling(), 2e5 * 0.01, 0.29
    V = np.hypot(10.0, 0.5)
    for slip in (1e-5, -1e-5):
        force, moment = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 10.0 * (1 + slip) / arm, 0]))
        assert force[2] == pytest.approx(N)
        assert force[0] == pytest.approx(3e4 * 10 * slip / V, rel=1e-4)  # driving slip pushes forward
        assert moment[1] == pytest.approx(-arm * force[0])
        force, _ = on_tire(m, LOW, np.array([10.0, 10 * slip, 0, 0, 10.0 / arm, 0]))
        assert force[1] == pytest.approx(-4e4 * 10 * slip / V, rel=1e-4)
    force, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 0.0, 0]))  # locked
    assert force[0] == pytest.approx(-0.8 * N, rel=2e-3)
    force, _ = on_tire(m, LOW, np.array([10.0, 3.0, 0, 0, 0.0, 0]))  # sliding askew: both together
    assert np.hypot(force[0], force[1]) == pytest.approx(0.8 * N, rel=2e-3)
    assert np.hypot(force[0], force[1]) < 0.8 * N


@pytest.mark.parametrize("law", ["smooth", "fiala", "brush"])
@pytest.mark.parametrize("path", ["standstill", "reverse", "lift-off", "touch-down"])
def test_continuous_where_a_tire_is_delicate(path, law):
    """Through standstill, into reverse and off the road the forces are finite and do not jump."""
    m, forces = rolling(rolling_resistance=0.02, law=law, sliding_friction=0.6), []
    for x in np.linspace(-1, 1, 401):
        q, v = LOW.copy(), np.array([2.0, 0.1, 0, 0, 6.0, 0])
        if path in ("lift-off", "touch-down"):
            q[2] = 1e-3 * x
            v[2] = 0.0 if path == "lift-off" else -0.3
        else:
            v = np.array([0.05 * x, 0.01, 0, 0, 0.05 * x / 0.29 if path == "reverse" else 0.1, 0])
        force, moment = on_tire(m, q, v)
        forces.append([*force, *moment])
    forces = np.array(forces)
    assert np.isfinite(forces).all()
    assert np.max(np.abs(np.diff(forces, axis=0))) < 0.02 * np.max(np.abs(forces))


@pytest.mark.parametrize("law", ["fiala", "brush"])
def test_laws_that_slide_by_their_formulas(law):
    """Pure slip along and across against the papers' formulas, written out here; slope C at no slip; the limit beyond."""
    m, N, arm, mu, b = rolling(law=law, patch=0.08, low_speed=1e-6), 2e5 * 0.01, 0.29, 0.8, 0.08
    for k in (1e-4, 0.02, 0.05, 0.3):
        force, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 10.0 * (1 + k) / arm, 0]))
        F, z = 3e4 * k, 3e4 * k / (3 * mu * N)
        fiala = F if k < mu * N / 6e4 else mu * N - (mu * N) ** 2 / (4 * F)
        brush = mu * N * (3 * z - 3 * z**2 + z**3) if z < 1 else mu * N
        assert force[0] == pytest.approx(fiala if law == "fiala" else brush, rel=1e-9)
        force, moment = on_tire(m, LOW, np.array([10.0, -10 * k, 0, 0, 10.0 / arm, 0]))
        H, z = max(1 - 4e4 * k / (3 * mu * N), 0.0), min(4e4 * k / (3 * mu * N), 1.0)
        assert force[1] == pytest.approx(
            mu * N * (1 - H**3) if law == "fiala" else mu * N * (3 * z - 3 * z**2 + z**3), rel=1e-9
        )
        trail = b / 3 * (1 - z) ** 3 / (1 - z + z**2 / 3)
        aligning = -mu * N * b * (1 - H) * H**3 if law == "fiala" else -trail * force[1]
        assert moment[2] == pytest.approx(aligning, rel=1e-8, abs=1e-8)
    slope = on_tire(m, LOW, np.array([10.0, -1e-6, 0, 0, 10.0 / arm, 0]))[0][1] / 1e-7
    assert slope == pytest.approx(4e4, rel=1e-4)


def test_friction_that_falls_with_slip():
    m = rolling(law="fiala", sliding_friction=0.5, low_speed=1e-6)
    locked, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 0.0, 0]))  # slip 1: sliding friction
    N = 2000.0
    assert -locked[0] == pytest.approx(0.5 * N - (0.5 * N) ** 2 / (4 * 3e4), rel=1e-9)
    with pytest.raises(madi.InputError, match="choose one of smooth, fiala, brush"):
        rolling(law="magic")


def test_a_hill_holds_and_a_wheel_rolls_down():
    """On a slope of 10 % a locked wheel sticks (it creeps viscously), a free one accelerates as a rolling ring does."""
    road = madi.flat().polyline([(-1000, -100), (1000, 100)])
    m = rolling(road, damping=2e4)
    m.bodies[0].inertia = (5.0, 9.0, 5.0)
    m.joints[0].q0 = (0, 0, 0.001, 1, 0, 0, 0)
    run = madi.simulate(m, 2.0, method="radau", rtol=1e-7, times=[1.0, 2.0])
    a = np.diff(run.data["velocity"].values[:, 0, 0])[0]
    slope = np.arctan(0.1)
    expected = -9.81 * np.sin(slope) * np.cos(slope) / (1 + 9.0 / (200.0 * 0.29**2))
    assert a == pytest.approx(expected, rel=0.05)
    m = madi.Model("parked")
    m.body("car", 200.0, inertia=(2, 3, 2), position=(0, 0, 0.3))
    m.planar("base", m.ground, "car", at=(0, 0, 0.3), axis=(0, 1, 0), x_axis=(1, 0, 0))
    for k in (-1, 1):
        m.tire(f"tire{k}", "car", (0.5 * k, 0, 0.3 + 0.05 * k), (0, 1, 0), radius=0.3, stiffness=2e5, damping=4e3,
               slip_stiffness=3e4, road=road)  # fmt: skip
    run = madi.simulate(m, 3.0, method="radau", rtol=1e-7, times=[2.0, 3.0])
    creep = 200 * 9.81 * np.sin(slope) / (2 * 3e4 / 0.5)
    assert abs(np.diff(run.data["position"].values[:, 0, 0])[0]) == pytest.approx(creep, rel=0.1)
