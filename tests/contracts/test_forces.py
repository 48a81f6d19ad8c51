"""Force elements: bad input, rest, stretch, rate, sign of the power, zero length; power and potential belong together."""

import numpy as np
import pytest

import madi
from tests.mechanisms import moved


def slider(**spring):
    """A body on a slide along x, tied to the ground by a spring from the origin."""
    m = madi.Model("slider", gravity=(0, 0, 0))
    body = m.body("body", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    m.spring_damper("s", body, m.ground, at=((1, 0, 0), (0, 0, 0)), **spring)
    return m.build()


def test_spring_at_rest_stretched_and_moving():
    s = slider(stiffness=50.0, damping=3.0)
    assert s.forward_dynamics([0.0], [0.0])[0] == pytest.approx(0.0, abs=1e-14)
    assert s.forward_dynamics([0.2], [0.0])[0] == pytest.approx(-50 * 0.2 / 2)
    assert s.forward_dynamics([0.0], [0.4])[0] == pytest.approx(-3 * 0.4 / 2)
    power = s.powers([0.2], [0.4])["s"]
    assert power["value"] == pytest.approx(50 * 0.2 + 3 * 0.4)
    assert power["potential"] == pytest.approx(0.5 * 50 * 0.2**2)
    assert power["dissipated"] == pytest.approx(3 * 0.4**2)
    assert power["power"] == pytest.approx(-(50 * 0.2 + 3 * 0.4) * 0.4)


@pytest.mark.parametrize("engine", ["plain", "jit", "compiled"])
def test_zero_length_is_finite(engine):
    """At zero length there is no direction: no force, no NaN; with no free length the spring is smooth through it."""
    s = slider(stiffness=50.0, damping=1.0, free_length=0.5)
    assert s.forward_dynamics([-1.0], [0.3], engine=engine)[0] == 0.0
    s = slider(stiffness=50.0, free_length=0.0)
    near = s.forward_dynamics([-1.0 + 1e-9], [0.0], engine=engine)[0]
    assert near == pytest.approx(-50e-9 / 2, rel=1e-6)


def test_joint_spring_and_torque():
    m = madi.Model("hinge", gravity=(0, 0, 0))
    arm = m.body("arm", mass=1.0, inertia=(0, 2.0, 2.0), position=(0, 0, 0))
    m.revolute("A", m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    m.joint_spring("k", "A", stiffness=7.0, damping=0.5, rest=0.1)
    m.joint_torque("t", "A", lambda t: 3.0 * t)
    s = m.build()
    assert s.forward_dynamics([0.3], [0.2], t=2.0)[0] == pytest.approx((-7 * 0.2 - 0.5 * 0.2 + 6.0) / 2.0)


def test_force_and_torque_act_in_global_axes():
    m = madi.Model("free", gravity=(0, 0, 0))
    body = m.body("body", mass=2.0, inertia=(3.0, 2.0, 4.0), com=(0.1, 0, 0))
    q = np.array([0, 0, 0, np.cos(0.3), 0, 0, np.sin(0.3)])  # turned about z
    m.free("F", m.ground, body, q0=q)
    m.force("f", body, (2.0, 0, 0))  # at the centre of mass
    m.torque("t", body, (0, 0, 8.0))
    s = m.build()
    a = s.forward_dynamics(q, np.zeros(6))
    _r, A = s.body_pose(q, "body")
    com_acceleration = A @ (a[:3] + np.cross(a[3:], (0.1, 0, 0)))
    np.testing.assert_allclose(com_acceleration, (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(A @ a[3:], (0, 0, 2), atol=1e-12)


def test_power_is_minus_rate_of_potential_minus_dissipation():
    rng = np.random.default_rng(2)
    m = madi.Model("two", gravity=(0, 0, 0))
    a = m.body("a", mass=1, inertia=(1, 1, 1), position=(1, 0, 0))
    b = m.body("b", mass=1, inertia=(1, 1, 1), position=(1, 1, 0))
    m.free("A", m.ground, a)
    m.spherical("B", a, b, at=(1, 0.5, 0))
    m.spring_damper("s", b, m.ground, at=((1, 1.2, 0), (0, 0, 0.3)), stiffness=9.0, damping=0.4, free_length=0.8)
    for frame in ("base", "ground"):
        s = m.build(frame=frame)
        v, h = rng.normal(size=s.nv), 1e-6
        now = s.powers(s.q0, v)["s"]
        ahead = s.powers(moved(s, s.q0, h * v), v)["s"]["potential"]
        behind = s.powers(moved(s, s.q0, -h * v), v)["s"]["potential"]
        assert now["power"] == pytest.approx(-(ahead - behind) / (2 * h) - now["dissipated"], rel=1e-6)


def test_functions_of_state_traced_or_not():
    """The same law, once traceable and once not (a table look-up): same accelerations; the second stays in Python."""
    law = np.array([[-1.0, 3.0], [0.0, 0.0], [1.0, -3.0]])

    def model(function):
        m = madi.Model("law", gravity=(0, 0, 0))
        cart = m.body("cart", mass=1.5, inertia=(1, 1, 1))
        m.prismatic("A", m.ground, cart, at=(0, 0, 0), axis=(1, 0, 0))
        m.force("f", cart, function)
        return m.build()

    traced = model(lambda t, q, v: (-3.0 * q[0] + t, 0.0, 0.0))
    kept = model(lambda t, q, v: (np.interp(q[0], law[:, 0], law[:, 1]) + t, 0.0, 0.0))
    assert not traced.frozen.signals.callbacks
    assert len(kept.frozen.signals.callbacks) == 1
    for engine in ("plain", "jit"):
        for s in (traced, kept):
            assert s.forward_dynamics([0.4], [0.0], t=0.5, engine=engine)[0] == pytest.approx((-1.2 + 0.5) / 1.5)
    assert traced.forward_dynamics([0.4], [0.0], t=0.5, engine="compiled")[0] == pytest.approx((-1.2 + 0.5) / 1.5)
    with pytest.raises(madi.EngineError, match=r"force 'f'.*jit"):
        kept.forward_dynamics([0.4], [0.0], engine="compiled")


def test_math_numpy_and_madi_functions_are_all_traced():
    import math

    def with_math(t):
        return math.sin(t) + math.sqrt(1 + t) * math.pi

    for function in (
        with_math,
        lambda t: np.sin(t) + np.sqrt(1 + t) * np.pi,
        lambda t: madi.sin(t) + (1 + t) ** 0.5 * np.pi,
    ):
        m = madi.Model("drive", gravity=(0, 0, 0))
        cart = m.body("cart", mass=1.5, inertia=(1, 1, 1))
        m.prismatic("A", m.ground, cart, at=(0, 0, 0), axis=(1, 0, 0))
        m.drive("A", function)
        s = m.build()
        for engine in ("plain", "jit", "compiled"):
            a = s.forward_dynamics([0.0], [0.0], t=0.7, engine=engine)[0]
            assert a == pytest.approx(-np.sin(0.7) - np.pi / 4 * 1.7**-1.5, rel=1e-12)


def test_every_tape_operation():
    """All operations a trace may contain, against NumPy, in the plain and the jitted life."""

    def function(t, q, v):
        x, y = q[0], v[0]
        return (
            np.sin(x) + np.cos(y) * np.tan(x) - np.arcsin(x / 3) + np.arccos(y / 3) / np.arctan(x)
            + np.exp(x) * np.log(2 + y) + np.sqrt(2 + x) + abs(y) ** 1.5 + np.sinh(x) + np.cosh(y) + np.tanh(x),
            np.arcsinh(x) + np.arccosh(2 + y) + np.arctanh(x / 3) + madi.atan2(y, x) + madi.floor(5 * x) + madi.ceil(5 * y)
            + x % 0.3 + np.sign(y),
            madi.where(x < y, x, 2 * y) + madi.where(x >= 0.2, 1.0, 3.0) + madi.where(x == y, 1.0, 0.5)
            + np.minimum(x, y) + np.maximum(x, 0.1),
        )  # fmt: skip

    def expected(x, y):
        return (
            np.sin(x) + np.cos(y) * np.tan(x) - np.arcsin(x / 3) + np.arccos(y / 3) / np.arctan(x)
            + np.exp(x) * np.log(2 + y) + np.sqrt(2 + x) + abs(y) ** 1.5 + np.sinh(x) + np.cosh(y) + np.tanh(x),
            np.arcsinh(x) + np.arccosh(2 + y) + np.arctanh(x / 3) + np.arctan2(y, x) + np.floor(5 * x) + np.ceil(5 * y)
            + x % 0.3 + np.sign(y),
            (x if x < y else 2 * y) + (1.0 if x >= 0.2 else 3.0) + 0.5 + min(x, y) + max(x, 0.1),
        )  # fmt: skip

    m = madi.Model("tape", gravity=(0, 0, 0))
    body = m.body("body", mass=1.0, inertia=(1, 1, 1))
    m.planar("A", m.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    m.force("f", body, function)
    s = m.build()
    assert not s.frozen.signals.callbacks
    for x, y in ((0.3, 0.8), (0.5, -0.4), (-0.7, 0.1)):
        q, v = np.array([x, 0, 0]), np.array([y, 0, 0])
        for engine in ("plain", "jit", "compiled"):
            a = s.forward_dynamics(q, v, engine=engine)
            np.testing.assert_allclose(a[:2], expected(x, y)[:2], rtol=1e-12)
        seen = s.powers(q, v)["f"]["value"]
        assert seen == pytest.approx(np.linalg.norm(expected(x, y)), rel=1e-12)
