"""docs/theory/elements.md: its equations in NumPy beside madi."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import madi
from madi.joints.chart import retract

A_AT, B_AT = np.array([1.0, 0.0, 0.5]), np.array([1.0, 1.0, 0.6])


def pair(draw=None):
    """Two free bodies, and what `draw` puts between them."""
    m = madi.Model("pair", gravity=(0, 0, 0))
    for name, at in (("a", A_AT), ("b", B_AT)):
        m.body(name, 1.0, inertia=(1, 1.2, 0.9), position=at)
        m.free(name.upper(), m.ground, name)
    if draw:
        draw(m)
    return m.build(frame="ground")


BARE = pair()


def moved(s, theta):
    out = np.empty(s.nq)
    retract(s.layout.arrays, np.array(s.q0, dtype=float), np.asarray(theta, dtype=float), out)
    return out


def poses(q):
    """Position and rotation of both bodies."""
    for k, at in ((0, A_AT), (1, B_AT)):
        w, x, y, z = q[7 * k + 3 : 7 * k + 7]
        yield at + q[7 * k : 7 * k + 3], Rotation.from_quat([x, y, z, w]).as_matrix()


def loads(s, q, v):
    """Force, and moment about its own origin, on a and on b, ground axes."""
    zero = np.zeros(12)
    tau = BARE.inverse_dynamics(q, v, zero, engine="plain") - s.inverse_dynamics(q, v, zero, engine="plain")
    return [turn @ tau[6 * k + i : 6 * k + i + 3] for k, (_, turn) in enumerate(poses(q)) for i in (0, 3)]


def motions(q, v):
    """Velocity of the origin and angular velocity of both bodies, ground axes."""
    return [turn @ v[6 * k + i : 6 * k + i + 3] for k, (_, turn) in enumerate(poses(q)) for i in (0, 3)]


def random_states(s, seed, count=8, size=0.3):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield moved(s, size * rng.normal(size=12)), rng.normal(size=12)


# ---- 2. lines ----


def test_a_line_and_its_stiffness():
    k, c, rest = 30.0, 2.0, 0.6
    ends = (np.array([1, 0.1, 0.5]), np.array([1, 0.9, 0.7]))
    s = pair(lambda m: m.spring_damper("f", "a", "b", ends, stiffness=k, damping=c, free_length=rest))

    def force(q, v):
        (ra, Ea), (rb, Eb) = poses(q)
        va, wa, vb, wb = motions(q, v)
        pa, pb = Ea @ (ends[0] - A_AT), Eb @ (ends[1] - B_AT)
        line = rb + pb - ra - pa
        l = np.linalg.norm(line)
        t = line / l
        rate = t @ (vb + np.cross(wb, pb) - va - np.cross(wa, pa))
        return (k * (l - rest) + c * rate) * t, l, t, pa, pb

    for q, v in random_states(s, 1):
        f, l, t, pa, pb = force(q, v)
        np.testing.assert_allclose(
            np.concatenate(loads(s, q, v)), np.concatenate([f, np.cross(pa, f), -f, -np.cross(pb, f)]), atol=1e-10
        )
        h, still = 1e-6, np.zeros(12)
        matrix = k * np.outer(t, t) + k * (l - rest) / l * (np.eye(3) - np.outer(t, t))
        for i in range(3):  # move b's origin along a ground axis
            ahead, behind = q.copy(), q.copy()
            ahead[7 + i], behind[7 + i] = q[7 + i] + h, q[7 + i] - h
            slope = (loads(s, ahead, still)[0] - loads(s, behind, still)[0]) / (2 * h)
            np.testing.assert_allclose(slope, matrix[:, i], atol=1e-6)


@pytest.mark.parametrize("between", ["linear", "cubic"])
def test_tables(between):
    table = np.array([(-0.3, -10.0), (0.0, 0.0), (0.1, 4.0), (0.4, 30.0)])
    m = madi.Model("slide", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    m.characteristic("f", m.ground, "b", ((0, 0, 0), (1, 0, 0)), spring=table, damper=[(-1, -4), (0, 0), (2, 3)],
                     between=between)  # fmt: skip
    s = m.build()
    curve = PchipInterpolator(*table.T) if between == "cubic" else lambda x: np.interp(x, *table.T)
    for x in (-0.25, -0.1, 0.05, 0.3):
        now = s.powers([x], [0.7], engine="plain")["f"]
        damper = 0.7 * 1.5 if between == "linear" else PchipInterpolator([-1, 0, 2], [-4, 0, 3])(0.7)
        assert now["value"] == pytest.approx(curve(x) + damper)
        fine = np.linspace(0, x, 20001)
        assert now["potential"] == pytest.approx(np.trapezoid(curve(fine), fine), abs=1e-7)
        assert now["dissipated"] == pytest.approx(0.7 * damper)


# ---- 3. gas ----


@pytest.mark.parametrize("n", [1.0, 1.3, 1.4])
def test_gas(n):
    p, A, V, ambient = 2e6, 25e-4, 0.5e-3, 101325.0
    m = madi.Model("unit", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(1, 1, 1), position=(0, 0, 0.6))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1))
    m.hydropneumatic("f", m.ground, "b", ((0, 0, 0), (0, 0, 0.6)), p, A, V, exponent=n, compression=5e3, rebound=9e3)
    s = m.build()
    for x in (-0.05, 0.03, 0.12):
        rho = V / (V - A * x)
        found = s.powers([-x], [0.0], engine="plain")["f"]
        assert found["value"] == pytest.approx(A * ((p + ambient) * rho**n - ambient), rel=1e-12)
        stored = np.log(rho) if n == 1 else (rho ** (n - 1) - 1) / (n - 1)
        assert found["potential"] == pytest.approx((p + ambient) * V * stored - ambient * A * x, rel=1e-10)
        h = 1e-6
        slope = np.diff([s.powers([-x + d], [0.0], engine="plain")["f"]["value"] for d in (h, -h)])[0] / (2 * h)
        assert slope == pytest.approx(n * (p + ambient) * A**2 / V * rho ** (n + 1), rel=1e-6)
        for rate, c in ((-0.2, 5e3), (0.2, 9e3)):
            now = s.powers([-x], [rate], engine="plain")["f"]
            assert now["value"] - found["value"] == pytest.approx(-c * rate)
            assert now["dissipated"] == pytest.approx(c * rate**2)
    # a twentieth of the volume is the least; there a straight line
    least = 0.95 * V / A
    values = [s.powers([-least - d], [0.0], engine="plain")["f"]["value"] for d in (0.0, 0.01, 0.02)]
    assert values[2] - values[1] == pytest.approx(values[1] - values[0], rel=1e-9)
    assert values[1] - values[0] == pytest.approx(0.01 * n * (p + ambient) * A**2 / V * 20 ** (n + 1), rel=1e-9)


# ---- 4. stops ----


def leaving(c, v):
    goal = c * v - np.log(1 + c * v)
    return brentq(lambda w: -c * w - np.log(1 - c * w) - goal, 0.0, (1 - 1e-12) / c)


@pytest.mark.parametrize("kind, mass, power", [("bump_stop", 10.0, 1.5), ("bump_stop", 2.0, 1.0), ("stop", 10.0, 1.0)])
def test_restitution_depends_on_damping_and_velocity_only(kind, mass, power):
    c, v = 0.8, 1.5
    m = madi.Model("impact", gravity=(0, 0, 0))
    m.body("b", mass, inertia=(1, 1, 1), position=(0, 0, 1.0))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1), v0=-v)
    if kind == "stop":
        m.stop("f", "A", -0.1, 0.5, stiffness=4e4, damping=c)
    else:
        m.bump_stop("f", m.ground, "b", ((0, 0, 0), (0, 0, 1)), 0.9, 4e4, exponent=power, damping=c)
    run = madi.simulate(m, 0.4, rtol=1e-9, atol=1e-12, times=np.linspace(0, 0.4, 201))
    assert run["A.v"][-1] == pytest.approx(leaving(c, v), rel=1e-5)
    assert run["A"][-1] > -0.1  # free again
    d, rate = 0.02, 0.3
    now = m.build().powers([-0.1 - d], [-rate], engine="plain")["f"]
    assert now["value"] == pytest.approx(4e4 * d**power * (1 + c * rate))
    assert now["potential"] == pytest.approx(4e4 * d ** (power + 1) / (power + 1))


def test_restitution_to_first_order():
    for c in (1e-3, 1e-4):
        assert 1 - leaving(c, 1.0) == pytest.approx(2 / 3 * c, rel=2 * c)


# ---- 5. torsion bar ----


def twist(E):
    """(angle, gradient) by the quaternion and by the page's formula; z the axis."""
    _, _, z, w = Rotation.from_matrix(E).as_quat()
    angle = 2 * np.arctan2(z, w)
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    up = np.array([0, 0, 1.0])
    return angle, (up + E[:, 2]) / (1 + E[2, 2])


def test_twist_and_gradient_at_any_tilt():
    k, c, rest = 5.0, 0.3, 0.1
    s = pair(lambda m: m.torsion_bar("f", "a", "b", axis=(0, 0, 1), stiffness=k, damping=c, rest=rest))
    tilts = []
    for q, v in random_states(s, 3, 20, size=0.7):
        (_, Ea), (_, Eb) = poses(q)
        _, wa, _, wb = motions(q, v)
        E = Ea.T @ Eb
        angle, g = twist(E)
        rate = g @ Ea.T @ (wb - wa)
        torque = -(k * (angle - rest) + c * rate) * Ea @ g
        _, ma, _, mb = loads(s, q, v)
        np.testing.assert_allclose(mb, torque, atol=1e-9)
        np.testing.assert_allclose(ma, -torque, atol=1e-9)
        assert s.powers(q, v, engine="plain")["f"]["potential"] == pytest.approx(0.5 * k * (angle - rest) ** 2)
        h = 1e-6  # the angle's rate by differences
        turn = Ea.T @ (wb - wa)
        ahead, behind = (twist(Rotation.from_rotvec(e * turn).as_matrix() @ E)[0] for e in (h, -h))
        assert (ahead - behind) / (2 * h) == pytest.approx(rate, rel=1e-5, abs=1e-7)
        tilt = np.arccos(E[2, 2])
        A, B = E[0, 0] + E[1, 1], E[1, 0] - E[0, 1]
        assert np.hypot(A, B) == pytest.approx(1 + np.cos(tilt))
        assert np.linalg.norm(g) == pytest.approx(1 / np.cos(tilt / 2))
        tilts.append(tilt)
    assert max(tilts) > 1.0


@pytest.mark.parametrize("tilt", [0.05, 0.4, 1.2])
def test_a_torque_about_the_axis_does_work_on_a_cone(tilt):
    work = np.zeros(3)
    steps = 90
    for beta in np.arange(steps) * 2 * np.pi / steps:
        p, dp = np.array([np.cos(beta), np.sin(beta), 0]), np.array([-np.sin(beta), np.cos(beta), 0])
        before, after = (
            Rotation.from_rotvec(tilt * np.array([np.cos(beta + e), np.sin(beta + e), 0])) for e in (-1e-6, 1e-6)
        )
        omega = (after * before.inv()).as_rotvec() / 2e-6  # of the swing, by differences
        np.testing.assert_allclose(omega, np.sin(tilt) * dp + (1 - np.cos(tilt)) * np.cross(p, dp), atol=1e-8)
        z_a, z_b = np.array([0, 0, 1.0]), Rotation.from_rotvec(tilt * p).as_matrix()[:, 2]
        work += np.array([z_a, z_b, (z_a + z_b) / (1 + z_a @ z_b)]) @ omega * 2 * np.pi / steps
    solid = 2 * np.pi * (1 - np.cos(tilt))
    np.testing.assert_allclose(work, [solid, -solid, 0], atol=1e-6)


# ---- 7. bushing ----


def test_bushing_is_a_rotation_vector_and_the_transposed_rate():
    k, c = np.array([10, 20, 30, 1, 2, 3.0]), np.array([1, 2, 3, 0.1, 0.2, 0.3])
    at = np.array([1, 0.5, 0.6])
    s = pair(lambda m: m.bushing("f", "a", "b", at, stiffness=k, damping=c))
    naive = []
    for q, v in random_states(s, 5, 10, size=0.4):
        (ra, Ea), (rb, Eb) = poses(q)
        va, wa, vb, wb = motions(q, v)
        pa, pb = Ea @ (at - A_AT), Eb @ (at - B_AT)
        apart = rb + pb - ra - pa
        d = Ea.T @ apart
        slide = Ea.T @ (vb + np.cross(wb, pb) - va - np.cross(wa, pa + apart))
        theta = Rotation.from_matrix(Ea.T @ Eb).as_rotvec()
        w = Eb.T @ (wb - wa)
        size = np.linalg.norm(theta)
        y = 1 / size**2 - (1 + np.cos(size)) / (2 * size * np.sin(size))
        t = np.array([[0, -theta[2], theta[1]], [theta[2], 0, -theta[0]], [-theta[1], theta[0], 0]])
        T = np.eye(3) + t / 2 + y * t @ t
        h = 1e-6
        ends = [(Rotation.from_rotvec(theta) * Rotation.from_rotvec(e * w)).as_rotvec() for e in (h, -h)]
        np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), T @ w, atol=1e-6)
        np.testing.assert_allclose(T.T @ theta, theta, atol=1e-12)
        force = Ea @ (-k[:3] * d - c[:3] * slide)
        torque = Eb @ (-T.T @ (k[3:] * theta) - c[3:] * w)
        expected = [-force, -np.cross(pa + apart, force) - torque, force, np.cross(pb, force) + torque]
        np.testing.assert_allclose(np.concatenate(loads(s, q, v)), np.concatenate(expected), atol=1e-8)
        now = s.powers(q, v, engine="plain")["f"]
        assert now["potential"] == pytest.approx(0.5 * k @ np.concatenate([d, theta]) ** 2)
        assert now["dissipated"] == pytest.approx(c @ np.concatenate([slide, w]) ** 2)
        naive.append(np.linalg.norm(T.T @ (k[3:] * theta) - k[3:] * theta))
    assert max(naive) > 0.1


def test_exchanged_bodies_of_a_bushing_differ_in_second_order():
    ends, still = [], np.zeros(12)
    for k in ((10, 20, 30, 0, 0, 0), (20, 20, 20, 0, 0, 0)):
        one = pair(lambda m, k=k: m.bushing("f", "a", "b", (1, 0.5, 0.6), stiffness=k))
        two = pair(lambda m, k=k: m.bushing("f", "b", "a", (1, 0.5, 0.6), stiffness=k))
        sizes = []
        for size in (0.1, 0.05):
            q = moved(one, size * np.random.default_rng(2).normal(size=12))
            sizes.append(np.linalg.norm(loads(one, q, still)[2] - loads(two, q, still)[2]))
        ends.append(sizes)
    assert ends[0][0] / ends[0][1] == pytest.approx(4, rel=0.2)
    assert max(ends[1]) < 1e-12


# ---- 8. track ----


@pytest.mark.parametrize("over", [False, True])
def test_track_pulls_along_the_tangent_line(over):
    ra, rb, T0, k = 0.3, 0.5, 1000.0, 2e4
    centres = (A_AT, np.array([2.4, 0.0, 0.7]))
    m = madi.Model("track", gravity=(0, 0, 0))
    for name, at in zip("ab", centres, strict=True):
        m.body(name, 1.0, inertia=(1, 1, 1), position=at)
        m.free(name.upper(), m.ground, name)
    bare = m.build(frame="ground")
    m.track("f", "a", "b", centres, radii=(ra, rb), tension=T0, stiffness=k, over=over, road=madi.flat(level=-5.0))
    s = m.build(frame="ground")
    o, w, rng = (-1.0 if over else 1.0), rb - ra, np.random.default_rng(1)

    def belt(c):
        """Span, t, m, inclination."""
        span = np.sqrt(c @ c - w * w)
        t = (span * c + o * w * np.array([c[1], -c[0]])) / (c @ c)
        m = o * np.array([t[1], -t[0]])
        np.testing.assert_allclose(c, span * t - w * m, atol=1e-12)
        return span, t, m, np.arctan2(t[1], t[0])

    drawn = (centres[1] - centres[0])[[0, 2]]
    rest, _, _, p0 = belt(drawn)
    for _ in range(6):
        (xa, za, xb, zb), (aa, ab) = 0.1 * rng.normal(size=4), 0.05 * rng.normal(size=2)
        q = np.concatenate([[xa, 0, za, np.cos(aa / 2), 0, np.sin(aa / 2), 0],
                            [xb, 0, zb, np.cos(ab / 2), 0, np.sin(ab / 2), 0]])  # fmt: skip
        span, t, n, p = belt(drawn + (xb - xa, zb - za))
        e = span - rest - o * w * (p - p0) - o * rb * ab + o * ra * aa
        T = max(T0 + k * e, 0.0)
        now = s.powers(q, np.zeros(12), engine="plain")["f"]
        assert now["value"] == pytest.approx(T, rel=1e-9)
        if T > 0:
            assert now["potential"] == pytest.approx(T0 * e + 0.5 * k * e * e, rel=1e-9, abs=1e-9)
        zero = np.zeros(12)
        tau = bare.inverse_dynamics(q, zero, zero, engine="plain") - s.inverse_dynamics(q, zero, zero, engine="plain")
        for j, (sign, r, angle) in enumerate(((1, ra, aa), (-1, rb, ab))):
            turn = Rotation.from_rotvec([0, angle, 0]).as_matrix()
            force = sign * T * np.array([t[0], 0, t[1]])
            arm = r * np.array([n[0], 0, n[1]])  # to the tangent point
            np.testing.assert_allclose(turn @ tau[6 * j : 6 * j + 3], force, rtol=1e-9, atol=1e-7)
            np.testing.assert_allclose(turn @ tau[6 * j + 3 : 6 * j + 6], np.cross(arm, force), rtol=1e-9, atol=1e-7)


def test_a_track_out_of_its_plane_is_a_gradient_but_no_single_wrench():
    centres = (np.array([1.0, 0.0, 1.0]), np.array([2.2, 0.0, 1.1]))
    m = madi.Model("track", gravity=(0, 0, 0))
    for name, at in zip("ab", centres, strict=True):
        m.body(name, 1.0, inertia=(1, 1, 1), position=at)
        m.free(name.upper(), m.ground, name)
    bare = m.build(frame="ground")
    m.track("f", "a", "b", centres, radii=(0.3, 0.2), tension=50.0, stiffness=200.0)
    s = m.build(frame="ground")
    zero, v, h = np.zeros(12), np.random.default_rng(4).normal(size=12), 1e-6
    for aside, left in ((0.0, 0.0), (0.1, 0.4)):
        q = np.array(s.q0)
        q[8] = aside
        tau = bare.inverse_dynamics(q, zero, zero, engine="plain") - s.inverse_dynamics(q, zero, zero, engine="plain")
        at = [centres[k] + q[7 * k : 7 * k + 3] for k in range(2)]
        moment = sum(tau[6 * k + 3 : 6 * k + 6] + np.cross(at[k], tau[6 * k : 6 * k + 3]) for k in range(2))
        np.testing.assert_allclose(tau[:3], -tau[6:9], atol=1e-12)
        assert np.linalg.norm(moment) == pytest.approx(left, rel=0.1, abs=1e-9)
        states = []
        for e in (h, -h):
            out = np.empty(s.nq)
            retract(s.layout.arrays, q, e * v, out)
            states.append(s.powers(out, v, engine="plain")["f"]["potential"])
        assert tau @ v == pytest.approx(-(states[0] - states[1]) / (2 * h), rel=1e-6)


def test_support_divides_by_virtual_work():
    """A road above the belt at one place: forces on the centres from the gradient of the place, by differences."""
    ra, rb, stiffness = 0.3, 0.5, 3e4
    centres = (A_AT, np.array([2.4, 0.0, 1.0]))
    m = madi.Model("track", gravity=(0, 0, 0))
    for name, at in zip("ab", centres, strict=True):
        m.body(name, 1.0, inertia=(1, 1, 1), position=at)
        m.free(name.upper(), m.ground, name)
    bare = m.build(frame="ground")
    m.track("f", "a", "b", centres, radii=(ra, rb), tension=1e-9, support=stiffness, places=1, road=madi.flat(level=0.45))
    s = m.build(frame="ground")

    def place(a, b):
        c, w = b - a, rb - ra
        span = np.sqrt(c @ c - w * w)
        t = (span * c + w * np.array([c[1], -c[0]])) / (c @ c)
        return 0.5 * (a + b) + 0.5 * (ra + rb) * np.array([t[1], -t[0]])

    ends = [c[[0, 2]] for c in centres]
    push = stiffness * (0.45 - place(*ends)[1])
    assert push > 0
    zero, q = np.zeros(12), np.array(s.q0)
    tau = bare.inverse_dynamics(q, zero, zero, engine="plain") - s.inverse_dynamics(q, zero, zero, engine="plain")
    h = 1e-6
    for j in range(2):
        for i in range(2):
            step = np.zeros((2, 2))
            step[j, i] = h
            up = (place(*(np.array(ends) + step))[1] - place(*(np.array(ends) - step))[1]) / (2 * h)
            assert tau[6 * j + 2 * i] == pytest.approx(push * up, rel=1e-6, abs=1e-6)


# ---- 9. states ----


def test_a_state_is_a_lag_without_energy():
    m = madi.Model("lag", gravity=(0, 0, 0))
    m.body("b", 2.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    m.state("u", lambda t, q, v: (3.0 - v["u"]) / 0.2)
    m.joint_torque("push", "A", lambda t, q, v: v["u"])
    run = madi.simulate(m, 1.0, rtol=1e-9, times=np.linspace(0, 1, 11))
    t = np.linspace(0, 1, 11)
    u = run.data["v"].values[:, 1]
    np.testing.assert_allclose(u, 3 * (1 - np.exp(-t / 0.2)), atol=1e-7)
    np.testing.assert_allclose(run["A.v"], 1.5 * (t - 0.2 * (1 - np.exp(-t / 0.2))), atol=1e-7)
    s = m.build()
    M = s.mass_matrix(s.q0)
    assert M[1, 1] == 1.0
    assert M[0, 1] == M[1, 0] == 0
    assert s.energy(s.q0, np.array([0.5, 7.0]))["kinetic"] == pytest.approx(0.25)
