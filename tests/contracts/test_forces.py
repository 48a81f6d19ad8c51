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
    assert kept.forward_dynamics([0.4], [0.0], t=0.5, engine="compiled")[0] == pytest.approx((-1.2 + 0.5) / 1.5)


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


def between(m, kind):
    """One element of each kind between two free bodies (or a body and the ground)."""
    at = ((1, 0.1, 0.5), (1, 0.9, 0.7))
    if kind == "hydropneumatic":
        m.hydropneumatic(
            "f", "a", "b", at, pressure=1e3, area=0.01, volume=0.02, compression=3.0, rebound=9.0, free_length=1.0
        )
    elif kind == "bump_stop":
        m.bump_stop("f", "a", "b", at, clearance=1.0, stiffness=100.0, damping=0.5)
    elif kind == "characteristic":
        m.characteristic(
            "f", "a", "b", at, spring=[(-0.3, -10), (0, 0), (0.1, 4), (0.4, 30)], damper=[(-1, -4), (0, 0), (1, 2)]
        )
    elif kind == "torsion_bar":
        m.torsion_bar("f", "a", m.ground, axis=(0, 0, 1), stiffness=5.0, damping=0.3, rest=0.1)
    elif kind == "bushing":
        m.bushing(
            "f", "a", "b", (1, 0.5, 0.6), stiffness=(10, 20, 30, 1, 2, 3), damping=(1, 2, 3, 0.1, 0.2, 0.3), axis=(1, 1, 0)
        )
    elif kind == "wheel":
        m.wheel("f", "a", (1, 0, 0.5), radius=0.8, stiffness=100.0, damping=3.0, places=5)
    elif kind == "track":
        m.track("f", "a", "b", ((1, 0, 0.5), (1, 1, 0.6)), radii=(0.3, 0.3), tension=50.0, stiffness=20.0, support=100.0,
                support_damping=2.0, road=madi.flat(level=0.5))  # fmt: skip
    elif kind in ("tire", "fiala", "brush"):
        road = madi.flat().sine(0.2, 3.0, start=-3.0, end=6.0)
        m.tire("f", "a", (1, 0, 0.5), (0.1, 1, 0.2), radius=0.8, stiffness=100.0, damping=3.0, slip_stiffness=40.0,
               cornering_stiffness=30.0, rolling_resistance=0.02, sliding_friction=0.5, road=road,
               law="smooth" if kind == "tire" else kind)  # fmt: skip
    elif kind == "two_point_force":
        m.two_point_force("f", "a", "b", at, lambda length, rate, t: 30.0 * (length - 0.6) ** 3 + 2.0 * rate + 5.0)
    elif kind == "two_point_force in Python":
        law = madi.in_python(lambda length, rate, v, t: 30.0 * (length - 0.6) ** 3 + 2.0 * rate + 5.0 + 0.1 * v[0])
        m.two_point_force("f", "a", "b", at, law)
    elif kind == "spring_damper":
        m.spring_damper("f", "a", "b", at, stiffness=30.0, damping=2.0, free_length=0.6)


ELEMENTS = ["spring_damper", "hydropneumatic", "bump_stop", "characteristic", "torsion_bar", "bushing", "wheel", "track",
            "tire", "fiala", "brush"]  # fmt: skip


def two_free(kind):
    m = madi.Model("two", gravity=(0, 0, 0))
    m.body("a", mass=1, inertia=(1, 1.2, 0.9), position=(1, 0, 0.5))
    m.body("b", mass=1, inertia=(1, 1, 1.4), position=(1, 1, 0.6))
    m.free("A", m.ground, "a")
    m.free("B", m.ground, "b")
    between(m, kind)
    return m


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("frame", ["base", "ground"])
def test_every_element_balances_its_power(kind, frame):
    """Virtual work = power delivered = -d(potential)/dt - dissipated, whatever the state; the three lives agree."""
    rng = np.random.default_rng(4)
    s, bare = two_free(kind).build(frame=frame), two_free(None).build(frame=frame)
    active = 0
    for _ in range(6):
        q, v, h = moved(s, s.q0, 0.15 * rng.normal(size=s.nv)), rng.normal(size=s.nv), 1e-6
        now = s.powers(q, v, engine="plain")["f"]
        ahead, behind = (s.powers(moved(s, q, t * v), v, engine="plain")["f"]["potential"] for t in (h, -h))
        scale = abs(now["power"]) + abs(now["dissipated"]) + 1.0
        assert now["power"] == pytest.approx(-(ahead - behind) / (2 * h) - now["dissipated"], abs=1e-7 * scale)
        force = bare.inverse_dynamics(q, v, 0 * v, engine="plain") - s.inverse_dynamics(q, v, 0 * v, engine="plain")
        assert force @ v == pytest.approx(now["power"], abs=1e-9 * scale)
        assert now["dissipated"] >= -1e-12
        active += now["value"] != 0
        plain = s.forward_dynamics(q, v, engine="plain")
        for engine in ("jit", "compiled"):
            np.testing.assert_allclose(s.forward_dynamics(q, v, engine=engine), plain, rtol=1e-9, atol=1e-9)
    assert active > 0


@pytest.mark.parametrize(
    "kind",
    [
        *(kind for kind in ELEMENTS if kind not in ("torsion_bar", "wheel", "track", "tire", "fiala", "brush")),
        "two_point_force",
        "two_point_force in Python",
    ],
)
def test_internal_forces_leave_momentum_alone(kind):
    s = two_free(kind).build(frame="ground")
    rng = np.random.default_rng(6)
    q, v = moved(s, s.q0, 0.1 * rng.normal(size=s.nv)), rng.normal(size=s.nv)
    a = s.forward_dynamics(q, v, engine="plain")
    h = 1e-6
    ahead = s.momentum(moved(s, q, h * v), v + h * a, engine="plain")
    behind = s.momentum(moved(s, q, -h * v), v - h * a, engine="plain")
    np.testing.assert_allclose((ahead - behind) / (2 * h), 0.0, atol=1e-7)


def test_tables_pass_their_points_and_go_straight_on():
    from madi.forces.characteristic import curve, integrals

    points = [(-0.3, -10.0), (0.0, 0.0), (0.1, 4.0), (0.4, 30.0)]
    for between in ("cubic", "linear"):
        p = integrals(points, between)
        for x, f in points:
            assert curve(p, 0, x)[0] == pytest.approx(f, abs=1e-12)
        h = 1e-6
        for x in (-0.5, -0.2, 0.0, 0.05, 0.3, 0.9):
            slope = (curve(p, 0, x + h)[1] - curve(p, 0, x - h)[1]) / (2 * h)
            assert slope == pytest.approx(curve(p, 0, x)[0], abs=1e-5)  # the integral belongs to the value
        assert curve(p, 0, 0.0)[1] == pytest.approx(0.0, abs=1e-12)
        far = [curve(p, 0, x)[0] for x in (1.0, 2.0, 3.0)]
        assert far[2] - far[1] == pytest.approx(far[1] - far[0])
    straight = integrals(points, "linear")
    assert curve(straight, 0, 0.05)[0] == pytest.approx(2.0)


def test_the_gas_of_a_hydropneumatic_unit():
    """Half the volume: 2^n times the pressure."""
    m = madi.Model("unit", gravity=(0, 0, 0))
    m.body("b", 2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    m.hydropneumatic("u", m.ground, "b", ((0, 0, 0), (1, 0, 0)), pressure=1e5, area=1e-3, volume=5e-4, exponent=1.3)
    s = m.build()
    assert s.forward_dynamics([0.0], [0.0], engine="plain")[0] == pytest.approx(1e5 * 1e-3 / 2)
    # absolute pressure, less that of the air outside
    pushed = (2**1.3 * (1e5 + 101325.0) - 101325.0) * 1e-3
    assert s.forward_dynamics([-0.25], [0.0], engine="plain")[0] == pytest.approx(pushed / 2)


def test_isothermal_gas_is_the_limit():
    def unit(n):
        m = madi.Model("unit", gravity=(0, 0, 0))
        m.body("b", 2.0, inertia=(1, 1, 1), position=(1, 0, 0))
        m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
        m.hydropneumatic("u", m.ground, "b", ((0, 0, 0), (1, 0, 0)), pressure=2e6, area=1e-3, volume=5e-4, exponent=n)
        return m.build()

    for x in (-0.3, 0.2):
        exact, near = (unit(n).powers([x], [0.0])["u"] for n in (1.0, 1.0 + 1e-7))
        assert exact["value"] == pytest.approx((2101325.0 / (1 + x / 0.5) - 101325.0) * 1e-3)  # Boyle
        assert near["value"] == pytest.approx(exact["value"], rel=1e-6)
        assert near["potential"] == pytest.approx(exact["potential"], rel=1e-6)


LINE = ((0, 0, 0), (1, 0, 0))


@pytest.mark.parametrize(
    "draw, told",
    [
        (lambda m: m.hydropneumatic("f", "b", m.ground, LINE, -1, area=1, volume=1), "pressure -1 is not > 0"),
        (lambda m: m.hydropneumatic("f", "b", m.ground, LINE, 1, 1, 1, exponent=0.9), "exponent 0.9 is not >= 1"),
        (lambda m: m.characteristic("f", "b", m.ground, LINE, damper=[(-1, -2), (0, 0), (1, -1)]), "after a rate of 0"),
        (lambda m: m.characteristic("f", "b", m.ground, LINE, damper=[(-1, -2), (0, 1), (1, 3)]), "gives 1 at no rate"),
        (lambda m: m.bushing("f", "b", m.ground, (0, 0, 0), stiffness=(1, 2, 3)), "is not six numbers"),
        (lambda m: m.characteristic("f", "b", m.ground, LINE, spring=[(1, 2), (0, 3)]), "spring table"),
        (lambda m: m.wheel("f", "b", (0, 0, 0), radius=0.3, stiffness=1e5, road="bumpy"), "is not a road"),
        (lambda m: m.wheel("f", "b", (0, 0, 0), radius=0.3, stiffness=1e5, places=2.5), "small odd number"),
        (lambda m: m.torsion_bar("f", "b", m.ground, axis=(0, 0, 0), stiffness=1.0), "axis (0, 0, 0) is not 3"),
        (lambda m: m.bump_stop("f", "b", "nobody", LINE, clearance=1, stiffness=1), "there is no body 'nobody'"),
        (lambda m: m.distance("f", "b", m.ground, ((0, 0, 0), (0, 0, 0))), "is not a number > 0"),
        (lambda m: m.coupler("f", "A", "A", ratio=1.0), "with itself"),
        (lambda m: m.gear("f", "A", "A2", radii=(0, 1)), "there is no joint 'A2'"),
        (lambda m: m.point_on_plane("f", "b", m.ground, (0, 0, 0), (0, 0, 0)), "direction (0, 0, 0) is not one"),
    ],
)  # fmt: skip
def test_bad_elements_are_told(draw, told):
    m = madi.Model("bad")
    m.body("b", 1.0, inertia=(1, 1, 1))
    m.revolute("A", m.ground, "b", at=(0, 0, 0), axis=(0, 1, 0))
    draw(m)
    findings = m.check()
    assert findings
    assert any(told in str(finding) for finding in findings), findings
    assert all("'f'" in finding.element for finding in findings)
