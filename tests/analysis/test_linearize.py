"""Linearisation against closed forms: pendulums, a spinning top, loops, a car against the single-track model."""

import numpy as np
import pytest

import madi
from madi.papers import lane_change
from tests.mechanisms import four_bar


def pendulum(length=1.0, mass=1.0, damping=0.0):
    m = madi.Model("pendulum")
    m.body("bob", mass, inertia=(0.01, 0.01, 0.01), position=(0, 0, -length))
    m.revolute("pin", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    if damping:
        m.joint_spring("d", "pin", damping=damping)
    return m


def test_damped_pendulum():
    found = madi.linearize(pendulum(damping=0.3), inputs=["pin"], outputs=["bob.x", "pin.v", "pin.a", "bob.ax"])
    I = 1.0 + 0.01
    np.testing.assert_allclose(found.A, [[0, 1], [-9.81 / I, -0.3 / I]], atol=1e-9)
    np.testing.assert_allclose(found.B[:, 0], [0, 1 / I], atol=1e-12)
    np.testing.assert_allclose(found.C, [[-1, 0], [0, 1], [-9.81 / I, -0.3 / I], [9.81 / I, 0.3 / I]], atol=1e-6)
    np.testing.assert_allclose(found.D[:, 0], [0, 0, 1 / I, -1 / I], atol=1e-6)
    mode = found.modes[0]
    assert mode["frequency"] == pytest.approx(np.sqrt(9.81 / I) / (2 * np.pi))
    assert mode["damping"] == pytest.approx(0.3 / I / 2 / np.sqrt(9.81 / I))
    assert found.steady
    assert "pin" in str(found)


def test_three_masses_on_springs():
    """A chain of slides: frequencies of the textbook matrix, shapes too."""
    m = madi.Model("chain", gravity=(0, 0, 0))
    before = m.ground
    for k in range(3):
        m.body(f"m{k}", 2.0, inertia=(1, 1, 1), position=(k + 1, 0, 0))
        m.prismatic(f"s{k}", before, f"m{k}", at=(k + 1, 0, 0), axis=(1, 0, 0))
        m.joint_spring(f"k{k}", f"s{k}", stiffness=50.0)
        before = f"m{k}"
    found = madi.linearize(m)
    K = 50.0 * np.array([[2, -1, 0], [-1, 2, -1], [0, -1, 1.0]])
    np.testing.assert_allclose([mode["frequency"] * 2 * np.pi for mode in found.modes], np.sqrt(np.linalg.eigvalsh(K / 2)))
    run = found.motion(0, amplitude=0.01)
    x = np.array([np.ptp(run[f"m{k}.x"]) for k in range(3)])
    vector = np.linalg.eigh(K / 2)[1][:, 0]
    np.testing.assert_allclose(x / x[2], np.abs(vector / vector[2]), rtol=1e-3)


@pytest.mark.parametrize("spin", [20.0, 60.0])
def test_sleeping_top(spin):
    """A heavy top upright: nutation and precession rates are roots of I1 w^2 - I3 W w + m g l = 0; seen in its own turning
    axes they are shifted by W."""
    m = madi.Model("top")
    m.body("top", 1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, 0.1))
    m.spherical("tip", m.ground, "top", at=(0, 0, 0))
    found = madi.linearize(m, q=[1, 0, 0, 0], v=[0, 0, spin])
    I1, I3, moment = 0.02 + 0.01, 0.01, 9.81 * 0.1
    roots = np.roots([I1, -I3 * spin, moment]).astype(complex)
    expected = sorted(np.abs(spin - roots)) if np.isreal(roots).all() else None
    values = found.eigenvalues
    assert found.steady
    if expected is not None:
        rates = sorted(value.imag for value in values if value.imag > 1e-3)
        np.testing.assert_allclose(rates, expected, rtol=1e-6)
        assert np.max(values.real) < 1e-6
    else:  # too slow: it falls, by the imaginary part of the roots
        assert np.max(values.real) == pytest.approx(np.max(np.abs(roots.imag)), rel=1e-6)


def test_loops_are_reduced_away():
    """A four-bar at rest: one mode; its frequency is that of small swings in a run."""
    m = four_bar()
    m.joint_spring("d", "A", damping=0.0)
    rest = madi.statics(m)
    found = madi.linearize(rest)
    assert len(found.states) == 2
    omega = abs(found.modes[0]["eigenvalue"].imag)
    q = rest.q.copy()
    nudge = found.N[:, 0] * 1e-3
    start = m.build().assemble(q + nudge)
    times = np.linspace(0, 4 * np.pi / omega, 401)
    run = madi.simulate(m, float(times[-1]), start=(start.q, np.zeros(3)), rtol=1e-10, times=times)
    swing = run["A"] - rest.q[0]
    crossing = times[np.flatnonzero(np.diff(np.sign(swing)) != 0)]
    assert np.mean(np.diff(crossing)) == pytest.approx(np.pi / omega, rel=5e-3)


def test_car_against_the_single_track_model():
    """At speed the lateral pair of eigenvalues is the linear single-track model's, where the car hardly rolls; on its own
    springs it has three ride modes and four wheels that hop."""
    c = lane_change.car()
    for force in c.model.forces:
        if force.name.endswith("_spring"):
            force.parameters.update(stiffness=5e6, free_length=None)
        if force.name.endswith("_tire"):
            force.parameters.update(stiffness=5e6, damping=5e3)
    speed, C, L = 20.0, 2 * 45e3, 2.4
    start = c.settle(speed)
    found = madi.linearize(c.model.build(), start.q0, start.v0)
    masses, x = (np.array([getattr(b, n) for b in c.model.bodies]) for n in ("mass", "position"))
    m, a = masses.sum(), -(masses @ x[:, 0]) / masses.sum()
    b = L - a
    Iz = 1250.0 + sum(body.mass * (np.square(np.asarray(body.position)[:2] + (a, 0)).sum()) for body in c.model.bodies)
    Iz += sum(np.asarray(body.inertia)[2] if np.ndim(body.inertia) == 1 else np.asarray(body.inertia)[2, 2]
              for body in c.model.bodies[1:])  # fmt: skip
    A = np.array([
        [-2 * C / (m * speed), -1 - C * (a - b) / (m * speed**2)],
        [-C * (a - b) / Iz, -C * (a * a + b * b) / (Iz * speed)],
    ])  # fmt: skip
    pair = np.linalg.eigvals(A)
    near = min(found.eigenvalues, key=lambda value: abs(value - pair[np.argmax(pair.imag)]))
    assert abs(near - pair[np.argmax(pair.imag)]) < 0.03 * abs(pair[0])
    soft = lane_change.car()
    start = soft.settle(speed)
    found = madi.linearize(soft.model.build(), start.q0, start.v0)
    hop = [mode["frequency"] for mode in found.modes if 10 < mode["frequency"] < 16 and mode["damped_frequency"] > 5]
    assert len(hop) == 4
    ride = [mode for mode in found.modes if 1.0 < mode["frequency"] < 1.8]
    assert len(ride) >= 3


@pytest.mark.parametrize("call, told", [
    (lambda: madi.linearize("pendulum"), "give a Model"),
    (lambda: madi.linearize(pendulum(), v=[1.0]), "give q too"),
    (lambda: madi.linearize(pendulum(), inputs=["bob"]), "no free joint coordinate"),
    (lambda: madi.linearize(pendulum(), outputs=["bob.q"]), "no signal"),
    (lambda: madi.linearize(pendulum()).shape(5), "no mode 5"),
])  # fmt: skip
def test_wrong_calls_are_told(call, told):
    with pytest.raises(madi.InputError, match=told):
        call()


def test_not_steady_is_said():
    found = madi.linearize(pendulum(), q=[0.5], v=[0.0])
    assert not found.steady
    assert "not a steady state" in str(found)
