"""First-order states: z' = g(t, q, v, z), without mass, coordinate, gravity or energy."""

import numpy as np
import pytest

import madi

METHODS = ["dopri", "abm", "rk4", "ab3", "newmark", "generalized-alpha", "radau", "ida", "cvode", "newmark-explicit"]


def servo(loop=False):
    """A pendulum pushed by an actuator with a lag of 0.2 s, and a charge that leaks: z' = 1 - 2 z."""
    m = madi.Model("servo", gravity=(0, 0, -9.81))
    arm = m.body("arm", mass=2.0, com=(0.3, 0, 0), inertia=(0.01, 0.1, 0.1))
    m.revolute("A", m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), q0=0.2)
    m.state("push", lambda t, q, v: (madi.sin(3 * t) * 4 - v["push"]) / 0.2, start=0.5)
    m.joint_torque("motor", "A", lambda t, q, v: v["push"] - 0.8 * v["A"])
    m.state("charge", lambda t, q, v: 1.0 - 2.0 * v["charge"])
    if loop:
        rod = m.body("rod", mass=0.5, com=(0.3, 0, 0.4), inertia=(0.01, 0.01, 0.01))
        m.revolute("B", arm, rod, at=(0.6, 0, 0), axis=(0, 1, 0))
        m.point_on_line("guide", m.ground, rod, at=(0.6, 0, 0.4), axis=(0, 0, 1))
    return m


def exact(t):
    """The lag's closed form: z' = (4 sin 3t - z) / T."""
    T = 0.2
    a = 4 / (1 + 9 * T * T)
    return a * (np.sin(3 * t) - 3 * T * np.cos(3 * t)) + (0.5 + a * 3 * T) * np.exp(-t / T), 0.5 * (1 - np.exp(-2 * t))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loop", [False, True])
def test_every_integrator_has_the_closed_form(method, loop):
    fixed = method in ("rk4", "ab3", "newmark", "generalized-alpha", "newmark-explicit")
    options = {"step": 1e-3} if fixed else {"rtol": 1e-8, "atol": 1e-9}
    if method == "newmark-explicit":
        options = {"step": 1e-4}
    run = madi.simulate(servo(loop), 2.0, method=method, times=np.linspace(0, 2.0, 11), **options)
    push, charge = exact(run.data["time"].values)
    error = 1e-3 if method == "newmark-explicit" else 2e-5 if method.startswith(("newmark", "generalized")) else 1e-6
    np.testing.assert_allclose(run["push"], push, atol=error)
    np.testing.assert_allclose(run["charge"], charge, atol=error)
    reference = madi.simulate(servo(loop), 2.0, method="dopri", times=np.linspace(0, 2.0, 11), rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(run["A"], reference["A"], atol=max(10 * error, 2e-5))


@pytest.mark.parametrize("method", ["abm", "dopri", "radau", "newmark"])
def test_a_state_that_acts_on_nothing_changes_nothing(method):
    options = {"step": 1e-3} if method == "newmark" else {"rtol": 1e-9, "atol": 1e-10}
    found = []
    for start in (None, 1.0, 1e6):
        m = servo()
        if start is not None:
            m.state("idle", 0.0, start=start)
        found.append(madi.simulate(m, 1.0, method=method, times=[1.0], **options)["A"][0])
    np.testing.assert_allclose(found, found[0], atol=1e-8)


@pytest.mark.parametrize("rate", [lambda t, q, v: (2e7 - v["z"]) / 0.1, lambda t, q, v: v["z"] - 2e7])
def test_statics_takes_a_state_as_far_as_it_must_go(rate):
    m = servo()
    m.state("z", rate, start=3.0)
    found = madi.statics(m)
    assert found.v[-1] == pytest.approx(2e7)
    assert found.stable is None


EVERYWHERE = [(how, engine) for how in ("recursive", "articulated", "velocity-transform") for engine in
              ("plain", "jit", "compiled")] + [("cartesian", "plain"), ("cartesian", "jit")]  # fmt: skip


@pytest.mark.parametrize("formulation, engine", EVERYWHERE)
def test_every_formulation_and_engine_agree(formulation, engine):
    run = madi.simulate(
        servo(), 0.5, times=np.linspace(0, 0.5, 11), rtol=1e-9, atol=1e-10, formulation=formulation, engine=engine
    )
    reference = madi.simulate(servo(), 0.5, times=np.linspace(0, 0.5, 11), rtol=1e-10, atol=1e-11)
    push, charge = exact(run.data["time"].values)
    np.testing.assert_allclose(run["push"], push, atol=1e-8)
    np.testing.assert_allclose(run["charge"], charge, atol=1e-8)
    np.testing.assert_allclose(run["A"], reference["A"], atol=1e-7)


def test_neither_mass_nor_gravity_nor_energy():
    s = servo().build()
    assert s.states == ["push", "charge"]
    assert s.speeds[-2:] == s.states
    assert s.coordinates == ["A"]
    assert s.mobility().degrees_of_freedom == 1
    still, full = s.v0.copy(), s.v0.copy()
    still[-2:], full[-2:] = 0.0, 1e3
    a, b = s.energy(s.q0, still), s.energy(s.q0, full)
    assert a == b
    np.testing.assert_array_equal(s.momentum(s.q0, still), s.momentum(s.q0, full))
    for gravity in ((5, 3, -9.81), (0, 0, 0)):
        m = servo()
        m.gravity = gravity
        run = madi.simulate(m, 1.0, times=np.linspace(0, 1.0, 11), rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(run["push"], exact(run.data["time"].values)[0], atol=1e-8)


def test_linearisation_has_them_as_states_without_displacement():
    m = servo()
    m.joint_spring("spring", "A", stiffness=40.0)
    linear = madi.linearize(m)
    assert linear.states == ("A", "A.v", "push", "charge")
    eigenvalues = np.linalg.eigvals(linear.A)
    for wanted in (-5.0, -2.0):
        assert np.min(np.abs(eigenvalues - wanted)) < 1e-9
    assert linear.A[1, 2] == pytest.approx(1 / (0.1 + 2.0 * 0.3**2))  # the push on the arm


def test_statics_finds_the_state_that_does_not_change():
    m = servo()
    m.state("integral", lambda t, q, v: 0.3 - v["integral"] / (1 + v["integral"] ** 2) - 0.1 * q["A"])
    m.joint_torque("more", "A", lambda t, q, v: 2 * v["integral"])
    found = madi.statics(m)
    z = dict(zip(found.system.speeds, found.v, strict=True))
    assert z["charge"] == pytest.approx(0.5)
    assert z["push"] == pytest.approx(0.0, abs=1e-12)
    angle = found.q[0]
    assert 0.3 - z["integral"] / (1 + z["integral"] ** 2) - 0.1 * angle == pytest.approx(0, abs=1e-12)
    assert 2.0 * 9.81 * 0.3 * np.cos(angle) + 2 * z["integral"] == pytest.approx(0, abs=1e-8)


def test_files_keep_them(tmp_path):
    m = servo()
    m.save(tmp_path / "servo.yaml")
    again = madi.load(tmp_path / "servo.yaml")
    np.testing.assert_array_equal(again.build().layout.reals, m.build().layout.reals)


@pytest.mark.parametrize("name", ["arm.vx", "push.rate", "a|b"])
def test_a_state_is_named_as_a_signal_can_be(name):
    m = servo()
    m.state(name, 1.0)
    with pytest.raises(madi.ModelError, match="a state's name"):
        m.build()


def test_a_mode_of_a_state_moves_the_state():
    m = servo()
    m.joint_spring("spring", "A", stiffness=40.0)
    linear = madi.linearize(m)
    k = int(np.argmin([abs(mode["eigenvalue"] + 2.0) for mode in linear.modes]))
    shape = linear.shape(k)
    assert abs(shape["charge"]) == 1.0
    assert "charge" in str(linear)


def test_a_state_with_the_name_of_a_joint_is_refused():
    m = servo()
    m.state("A", 1.0)
    with pytest.raises(madi.ModelError, match="a joint has its name"):
        m.build()


def test_equations_and_explanations_name_states_as_states():
    s = servo(loop=True).build()
    assert "first-order state(s): push, charge" in s.explain()
    assert "Grübler: 2 - " in s.explain()
    text = s.equations().latex()
    assert r"\dot z_{charge}" in text
    assert "q_{charge}" not in text
