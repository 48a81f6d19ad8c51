"""docs/theory/tires.md: its equations in NumPy beside madi."""

import numpy as np
import pytest

import madi
from madi.forces.envelope import distance, pressed, tangent_distance
from madi.forces.magic_formula import at_load, fold, gripping_slips, relaxation_lengths, rolling_radius
from madi.forces.road import smoothed
from madi.spatial.rotation import as_rotation
from madi.vehicle import example_tire
from tests.forces.test_road import packed

R, K, C, MU, V0, PATCH = 0.32, 2e5, 900.0, 0.8, 0.5, 0.1
CK, CA, ROLLING, SLIDING = 8e4, 6e4, 0.015, 0.6
HEIGHT = 0.30
UP = np.array([0, 0, 0, 1.0, 0, 0, 0])


def rig(law=None, road=None, tir=None, **numbers):
    """A free hub, its centre drawn 0.30 m above the road, on a tire or none."""
    m = madi.Model("rig", gravity=(0, 0, 0))
    m.body("hub", 20.0, inertia=(1, 1, 1), position=(0, 0, HEIGHT))
    m.free("base", m.ground, "hub")
    if tir is not None:
        m.magic_tire("tire", "hub", (0, 0, HEIGHT), (0, 1, 0), tir, **numbers)
    elif law:
        given = {"slip_stiffness": CK, "cornering_stiffness": CA, "friction": MU, "low_speed": V0, "patch": PATCH,
                 "rolling_resistance": ROLLING, "sliding_friction": SLIDING, "damping": C} | numbers  # fmt: skip
        m.tire("tire", "hub", (0, 0, HEIGHT), (0, 1, 0), radius=R, stiffness=K, law=law, road=road, **given)
    return m.build(frame="ground")


BARE = rig()


def wrench(s, q, v):
    """Force and moment about the centre, ground axes."""
    zero = np.zeros(s.nv)
    load = BARE.inverse_dynamics(q, v[:6], zero[:6], engine="plain")
    load = load - s.inverse_dynamics(q, v, zero, engine="plain")[:6]
    turn = as_rotation(tuple(q[3:7]), "hub")
    return turn @ load[:3], turn @ load[3:]


def pose(rng, lean, depth=0.02):
    """A hub that is yawed, cambered and turned about its axis; its centre above a level road."""
    yaw, spin = rng.uniform(-3, 3, 2)

    def about(k, a):
        q = np.zeros(4)
        q[0], q[1 + k] = np.cos(a / 2), np.sin(a / 2)
        return as_rotation(tuple(q), "turn")

    turn = about(2, yaw) @ about(0, lean) @ about(1, spin)
    w = 0.5 * np.sqrt(max(1 + np.trace(turn), 1e-12))
    x = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (4 * w)
    return np.concatenate([[*rng.normal(size=2), (R - depth) * np.cos(lean) - HEIGHT], [w], x])


# ---- laws, from the page ----


def smooth(N, sigma):
    F = np.array([CK, CA]) * sigma
    size, circle = np.linalg.norm(F), MU * N
    rho = size**2 / (circle**2 + size**2)
    return circle * size / np.hypot(circle, size) * ((1 - rho) * F / size + rho * sigma / np.linalg.norm(sigma)), 0.0


def brush(N, sigma, ck=CK, ca=CA):
    F = np.array([ck, ca]) * sigma
    size = np.linalg.norm(F)
    z = min(size / (3 * MU * N), 1.0)
    force = MU * N * (3 * z * (1 - z) ** 2 * F / size + z**2 * (3 - 2 * z) * sigma / np.linalg.norm(sigma))
    return force, -PATCH * z * (1 - z) ** 3 * MU * N * F[1] / size


def fiala(N, sigma):
    F = np.array([CK, CA]) * sigma
    size = np.linalg.norm(F)
    U = (MU - (MU - SLIDING) * min(np.linalg.norm(sigma), 1.0)) * N
    z = min(size / (3 * U), 1.0)
    share = z**2 * (3 - 2 * z) / (z * (3 - 3 * z + z * z))
    direction = (1 - share) * F / size + share * sigma / np.linalg.norm(sigma)
    along = size if size <= U / 2 else U - U**2 / (4 * size)
    force = np.array([along, U * (1 - (1 - z) ** 3)]) * direction
    return force, -U * PATCH * z * (1 - z) ** 3 * direction[1]


LAWS = {"smooth": smooth, "brush": brush, "fiala": fiala}


def by_hand(law, q, v, normal=(0, 0, 1.0), at=(0, 0, 0.0)):
    """The whole tire on a plane: equations (1), (8) to (12) and a law; force and moment about the centre, load."""
    turn, n = as_rotation(tuple(q[3:7]), "hub"), np.asarray(normal)
    centre = q[:3] + (0, 0, HEIGHT)
    velocity, omega = turn @ v[:3], turn @ v[3:6]
    e = turn[:, 1]
    D = n @ (centre - at)
    c = np.linalg.norm(np.cross(e, n))
    l = np.cross(e, n) / c
    s = np.cross(n, l)
    sine = e @ n
    r_l = D / c
    arm = -D * n + D * sine / c * s
    assert np.linalg.norm(arm) == pytest.approx(r_l)
    assert abs(e @ arm) < 1e-12
    d = R - r_l
    rate = -(n @ velocity) / c - D * sine / c**2 * (l @ omega)
    f = max(K * d + C * min(d / (0.02 * R), 1.0) * rate, 0.0) if d > 0 else 0.0
    N = f / c
    u = velocity + np.cross(omega, arm)
    V = np.hypot(velocity @ l, V0)
    sigma = -np.array([u @ l, u @ s]) / V
    (along, across), moment = LAWS[law](N, sigma) if N > 0 else ((0.0, 0.0), 0.0)
    spin = omega @ e
    drag = -ROLLING * N * R * spin / np.hypot(spin, V0 / R)
    force = along * l + across * s + N * n
    return force, np.cross(arm, force) + moment * n + drag * e, N


# ---- 2. the road ----


def test_the_footprint_lifts_a_hollow_by_its_curvature():
    """h averaged = h + w^2 h'' / 12."""
    w = 0.02
    road = packed(madi.flat().half_ellipse(0.0, 1.0, 0.2), w)
    for x in (0.0, 0.3, -0.5):
        h, curve = 0.2 * np.sqrt(1 - x * x), -0.2 * (1 - x * x) ** -1.5
        assert smoothed(*road, 0, x, 0.0, w)[0] - h == pytest.approx(w * w * curve / 12, rel=0.01)


def test_one_place_has_the_slope_of_the_true_foot_to_first_order():
    for size in (1e-2, 1e-3):
        numbers = packed(madi.flat().sine(size, 3.0, start=-30.0, end=30.0), 0.03)

        def slope(x, size=size):
            return size * np.pi / 3 * np.sin(2 * np.pi * (x + 30) / 3)

        def height(x, size=size):
            return size / 2 * (1 - np.cos(2 * np.pi * (x + 30) / 3))

        x, z = 0.4, 0.35
        far, (by_x, by_z), *_ = distance(*numbers, 0, (x, 0.0, z), 0.3, 1)
        h, m, _ = smoothed(*numbers, 0, x, 0.0, 0.03)
        assert h == pytest.approx(height(x), abs=4e-3 * size)  # a tent of 3 cm hardly averages 3 m
        assert far == pytest.approx((z - h) / np.hypot(1, m), rel=1e-12)
        foot = x
        for _ in range(60):
            foot = x + (z - height(foot)) * slope(foot)
        assert abs(-by_x / by_z - slope(foot)) < 3 * size**2
        average = m / slope(x)  # what the footprint leaves of it
        assert abs(slope(x) - slope(foot)) > 3 * abs(-by_x / by_z / average - slope(foot))


def test_the_sum_of_a_gaussian_hardly_depends_on_where_the_points_lie():
    for ratio in (0.5, 0.75):
        sums = [np.sum(np.exp(-((np.arange(-40, 41) - o) ** 2) / (2 * ratio**2))) for o in np.linspace(0, 1, 41)]
        ripple = 2 * np.exp(-2 * np.pi**2 * ratio**2)
        assert np.max(sums) / (np.sqrt(2 * np.pi) * ratio) - 1 == pytest.approx(ripple, rel=0.02)
    assert ripple == pytest.approx(3.0e-5, rel=0.01)


def sharpness(places, r):
    return r / (0.75 * 1.9 * r / (places - 1)) ** 2


@pytest.mark.parametrize("places, size", [(9, 0.032), (17, 0.0079), (33, 0.0020)])
def test_enveloping_is_off_by_the_curvature_as_said(places, size):
    r = 0.5
    assert 1 / sharpness(places, r) == pytest.approx(size * r, rel=0.02)
    for high, long in ((0.1, 0.6), (0.2, 0.6)):
        road = packed(madi.flat().half_ellipse(0.0, long, high), 0.1 * r)
        top, _, bend = smoothed(*road, 0, 0.0, 0.0, 0.1 * r)
        D = distance(*road, 0, (0.0, 0.0, top + r - 0.01), r, places)[0]
        expected = np.log(1 - bend * (r - 0.01)) / (2 * sharpness(places, r))
        assert D - (r - 0.01) == pytest.approx(expected, rel=0.05)
        assert expected > 0


def test_two_parts_of_the_road_count_by_ln2():
    """In a valley whose sides are equally near, far from each other."""
    r, places = 0.5, 17
    valley = packed(madi.flat().polyline([(-2.0, 2.0), (0.0, 0.0), (2.0, 2.0)]), 0.1 * r)
    z = 0.5 * np.sqrt(2)
    nearer = 0.5 - distance(*valley, 0, (0.0, 0.0, z), r, places)[0]
    assert nearer == pytest.approx(np.log(2) / sharpness(places, r), rel=0.05)


def test_a_step_is_met_in_smoothed_stairs():
    r, x, fine = 0.3, np.linspace(-0.3, 0.15, 181), np.linspace(-0.8, 0.8, 6401)
    road = packed(madi.flat().polyline([(0.0, 0.0), (1e-6, 0.08)]), 0.1 * r)
    heights = np.array([smoothed(*road, 0, u, 0.0, 0.1 * r)[0] for u in fine])
    nearest = np.array([np.sqrt(np.min((fine - u) ** 2 + (r - heights) ** 2)) for u in x])
    for places, off in ((9, 22e-3), (17, 9e-3), (33, 3e-3)):
        found = np.array([distance(*road, 0, (u, 0.0, r), r, places)[0] for u in x])
        assert np.max(np.abs(found - nearest)) == pytest.approx(off, rel=0.1)
    for u in x[::20]:  # a road with edges is enveloped, whatever was asked for
        assert distance(*road, 0, (u, 0.0, r), r, 1) == distance(*road, 0, (u, 0.0, r), r, 9)
    tangent = min(tangent_distance(*road, 0, (u, 0.0, r), 0.1 * r)[0] for u in x)
    assert tangent == pytest.approx(0.09, abs=0.005)  # as a slope under the whole wheel it would be a wall


# ---- 3 to 8. contact, slip, laws ----


@pytest.mark.parametrize("law", LAWS)
def test_a_whole_tire_by_hand(law):
    """Random attitudes and velocities, cambered up to 50 degrees, with damper and rolling resistance."""
    s, rng = rig(law), np.random.default_rng(3)
    loads = []
    for k in range(60):
        lean = rng.uniform(-0.87, 0.87) if k % 2 else 0.1 * rng.normal()
        q = pose(rng, lean, depth=0.02 * rng.uniform(0.05, 2.0))
        turn = as_rotation(tuple(q[3:7]), "hub")
        l = np.cross(turn[:, 1], (0, 0, 1))
        velocity = 10 * rng.uniform(-1, 1) * l / np.linalg.norm(l) + rng.normal(size=3) * (0.5, 0.5, 0.2)
        omega = (velocity @ l / np.linalg.norm(l) / 0.3) * turn[:, 1] + 0.5 * rng.normal(size=3)
        v = np.concatenate([turn.T @ velocity, turn.T @ omega])
        force, moment, N = by_hand(law, q, v)
        found, torque = wrench(s, q, v)
        np.testing.assert_allclose(found, force, rtol=1e-9, atol=1e-6)
        np.testing.assert_allclose(torque, moment, rtol=1e-9, atol=1e-6)
        assert s.powers(q, v, engine="plain")["tire"]["value"] == pytest.approx(N, abs=1e-6)
        loads.append(N)
    assert np.count_nonzero(loads) > 40


def test_on_a_slope_in_any_direction():
    """The road rises by 20 degrees; the wheel is yawed against it, so that it is cambered against the road."""
    angle = np.radians(20)
    road = madi.flat().polyline([(-50, -50 * np.tan(angle)), (50, 50 * np.tan(angle))])
    s, rng, normal = rig("brush", road), np.random.default_rng(5), np.array([-np.sin(angle), 0, np.cos(angle)])
    for _ in range(10):
        q = pose(rng, 0.2 * rng.normal())
        turn = as_rotation(tuple(q[3:7]), "hub")
        c = np.linalg.norm(np.cross(turn[:, 1], normal))
        q[2] = q[0] * np.tan(angle) + (R - 0.015) * c / np.cos(angle) - HEIGHT
        v = np.array([2.0, 0.3, 0.1, 0.2, 5.0, 0.3])
        force, moment, N = by_hand("brush", q, v, normal)
        found, torque = wrench(s, q, v)
        assert N > 1000
        np.testing.assert_allclose(found, force, atol=1e-3 * np.linalg.norm(force))
        np.testing.assert_allclose(torque, moment, rtol=1e-3, atol=1e-3 * np.linalg.norm(moment))


def test_far_over_the_cosine_is_continued():
    for degrees in (65, 75, 85):
        g, q = np.radians(degrees), UP.copy()
        q[3:] = np.cos(g / 2), np.sin(g / 2), 0, 0
        chi, slope = 0.25 + np.cos(g) ** 2, 2 * np.cos(g)
        D = (R - 0.02) * chi
        q[2] = D - HEIGHT
        force, moment = wrench(rig("smooth"), q, np.zeros(6))
        np.testing.assert_allclose(force, [0, 0, K * 0.02 / chi], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(moment, [force[2] * D * np.sin(g) * slope / chi, 0, 0], rtol=1e-9, atol=1e-9)


def test_a_torus():
    """Lowest point of a leaning torus, by search; with the disc as its limit."""
    r, t, g = 0.32, 0.08, 0.3
    a, b = np.meshgrid(np.linspace(0, 2 * np.pi, 721), np.linspace(0, 2 * np.pi, 721))
    ring = np.stack([np.cos(a), 0 * a, np.sin(a)])
    x = (r - t) * ring + t * (np.cos(b) * ring + np.sin(b) * np.array([0, 1, 0])[:, None, None])
    turn = np.array([[1, 0, 0], [0, np.cos(g), -np.sin(g)], [0, np.sin(g), np.cos(g)]])
    x = np.einsum("ij,jkl->ikl", turn, x)
    k = np.unravel_index(np.argmin(x[2]), x[2].shape)
    D = -x[2][k]
    assert t + (D - t) / np.cos(g) == pytest.approx(r, abs=1e-4)  # it touches: no deflection
    assert x[1][k] == pytest.approx((D - t) * np.tan(g), abs=2e-3)
    assert abs(x[1][k] - D * np.tan(g)) > 0.02  # a disc's


def test_the_damper_sets_in():
    soft = 0.02 * R
    cases = [(0.0, 2.0, 0.0), (soft / 2, 2.0, K * soft / 2 + C), (2 * soft, 2.0, K * 2 * soft + 2 * C)]
    for d, rate, expected in [*cases, (1e-4, -20.0, 0.0), (-1e-3, 5.0, 0.0)]:
        force, elastic = pressed(K, C, soft, d, rate)
        assert force == pytest.approx(expected, abs=1e-9)
        assert (force - elastic) * rate >= 0


def test_the_brush_by_bristles():
    """Force and moment of 20000 bristles of one stiffness, under parabolic pressure; Fiala's forces with uniform."""
    x = (np.arange(20000) + 0.5) / 10000 - 1  # x / b
    N, dx = 4000.0, PATCH / 10000
    parabola, uniform = 0.75 * N / PATCH * (1 - x**2), np.full_like(x, 0.5 * N / PATCH)
    for sigma in (0.01, 0.04, 0.09, 0.2):
        bent = CA * sigma / (2 * PATCH**2) * PATCH * (1 - x)
        held = np.minimum(bent, MU * parabola)
        force, moment = brush(N, np.array([0.0, sigma]), CA, CA)
        assert np.sum(held) * dx == pytest.approx(force[1], rel=1e-6)
        assert np.sum(PATCH * x * held) * dx == pytest.approx(moment, rel=1e-5, abs=1e-6)
        size, z = CA * sigma, min(CA * sigma / (3 * MU * N), 1)
        held = np.minimum(bent, MU * uniform)
        along = size if size <= MU * N / 2 else MU * N - (MU * N) ** 2 / (4 * size)
        assert np.sum(held) * dx == pytest.approx(along, rel=1e-3)
        trail = PATCH / 3 * (1 - z) ** 3 / (1 - z + z**2 / 3)
        assert moment == pytest.approx(-trail * force[1], abs=1e-9)


def sliding_tips(ck, ca, sigma, muN, steps=1500):
    """A brush of two stiffnesses with b = 1: tips slide against friction, their deflections' rates counted."""
    c = np.array([ck, ca]) / 2
    z = min(np.linalg.norm(2 * c * sigma) / (3 * muN), 0.999)
    s = 2 * (1 - z)
    total, bent = 0.5 * s**2 * c * sigma, s * sigma
    h = (2 - 1e-9 - s) / steps

    def limit(s):
        return muN * 0.75 * (1 - (s - 1) ** 2)

    def rate(s, bent):
        force = c * bent
        along = force / np.linalg.norm(force)
        slide = (force @ (c * sigma) + limit(s) * muN * 1.5 * (s - 1)) / (force @ (c * along))
        return sigma - slide * along

    for _ in range(steps):
        before = c * bent / np.linalg.norm(c * bent)
        bent = bent + h * rate(s + h / 2, bent + h / 2 * rate(s, bent))
        along = c * bent / np.linalg.norm(c * bent)
        s += h
        bent = limit(s) * along / c
        total = total + 0.5 * h * (limit(s - h) * before + limit(s) * along)
    return total


def test_what_two_stiffnesses_neglect():
    N, worst = 4000.0, []
    for direction in (0.3, 0.8, 1.2):
        unit = np.array([np.cos(direction), np.sin(direction)])
        np.testing.assert_allclose(
            sliding_tips(CA, CA, 0.08 * unit, MU * N), brush(N, 0.08 * unit, CA, CA)[0], rtol=1e-4
        )  # exact for one
        for size in (0.05, 0.08, 0.12):
            a, b = sliding_tips(2 * CA, CA, size * unit, MU * N), brush(N, size * unit, 2 * CA, CA)[0]
            worst.append(np.degrees(abs(np.arctan2(a[1], a[0]) - np.arctan2(b[1], b[0]))))
    assert 6 < max(worst) < 9


def test_nothing_leaves_the_circle_and_all_oppose_the_slip():
    rng = np.random.default_rng(8)
    for _ in range(500):
        sigma, N = rng.normal(size=2) * 10 ** rng.uniform(-3, 1), 4000.0
        for law in LAWS.values():
            force, _ = law(N, sigma)
            assert np.linalg.norm(force) <= MU * N * (1 + 1e-12)
            assert force @ sigma > 0
    np.testing.assert_allclose(brush(4000.0, np.array([-0.8, -0.4]))[0], -MU * 4000 * np.array([2, 1]) / np.sqrt(5))
    at = np.array([1 / CK, 1 / CA]) * 3 * MU * 4000 / np.sqrt(2)  # |F| = 3 U of Fiala's with constant friction
    assert np.hypot(*(np.array([CK, CA]) * at)) == pytest.approx(3 * MU * 4000)
    assert np.degrees(np.pi / 4 - np.arctan(11 / 12)) == pytest.approx(2.5, abs=0.05)


# ---- 9. the Magic Formula ----

PLAIN = ("PHX1", "PHX2", "PVX1", "PVX2", "PHY1", "PHY2", "PVY1", "PVY2", "RHX1", "RHY1", "RHY2", "RVY1", "RVY2", "RVY3")


def quiet(**numbers):
    return example_tire().scaled(**(dict.fromkeys(PLAIN, 0.0) | numbers))


def magic(x, B, C, D, E):
    return D * np.sin(C * np.arctan(B * x - E * (B * x - np.arctan(B * x))))


def test_what_the_letters_mean():
    tir = quiet(PEX2=0.0, PEX3=0.0, PEX4=0.0)
    N = tir["FNOMIN"]
    C, D, E, slope = tir["PCX1"], tir["PDX1"] * N, tir["PEX1"], tir["PKX1"] * N
    B = slope / (C * D)
    x = np.linspace(-1, 1, 21)
    np.testing.assert_allclose(tir.forces(N, kappa=x)["fx"], magic(x, B, C, D, E), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(magic(x, B, C, D, E), magic(x, -B, C, -D, E))  # PDX1 < 0 is the same curve
    fine = np.linspace(1e-3, 1, 100001)
    y = magic(fine, B, C, D, E)
    peak = B * fine[np.argmax(y)]
    assert y.max() == pytest.approx(D, rel=1e-9)
    assert (peak - np.tan(np.pi / (2 * C))) / (peak - np.arctan(peak)) == pytest.approx(E, abs=1e-3)
    assert magic(1e9, B, C, D, E) == pytest.approx(D * np.sin(np.pi * C / 2), rel=1e-6)


def test_negative_friction_is_normalised():
    tir = example_tire()
    with_it = ("PDY1", "PDY2", "RVY1", "RVY2", "RVY3", "QBZ10")
    other = tir.scaled(**{key: -tir.get(key) for key in with_it if key in tir.values})
    one, two = (t.forces(3000.0, 0.05, 0.06, 0.02) for t in (tir, other))
    assert one == pytest.approx(two, rel=1e-12)
    wrong = tir.scaled(RVY1=-tir.get("RVY1", 0.0) - 0.1).forces(3000.0, 0.05, 0.06, 0.02)
    assert wrong["fy"] != pytest.approx(one["fy"], rel=1e-6)


def test_beyond_what_is_measured_the_force_turns():
    tir, V = quiet(), 10.0
    s, p = rig(tir=tir, low_speed=1e-6), fold(tir)
    N = tir["VERTICAL_STIFFNESS"] * (tir.radius - HEIGHT)
    grip = np.array(gripping_slips(p, 0, at_load(p, 0, N)))
    _, _, _, ky = at_load(p, 0, N)
    assert grip[1] * abs(ky) == pytest.approx((tir["PDY1"] + tir.get("PDY2") * (N / tir["FNOMIN"] - 1)) * N)
    turned = []
    for kappa, tangent in ((0.02, 0.03), (-0.2, 0.3), (-0.4, 0.1), (-1.0, 0.5)):
        found = tir.forces(N, kappa, np.arctan(tangent), 0.0, V)
        formula = np.array([found["fx"], found["fy"]])
        y = np.clip((np.hypot(*(np.array([kappa, tangent]) / grip)) - 4.5) / 7.5, 0, 1)
        w, sigma = 3 * y**2 - 2 * y**3, np.array([kappa, -tangent])
        expected = (1 - w) * formula + w * np.linalg.norm(formula) * sigma / np.linalg.norm(sigma)
        force, _ = wrench(s, UP, np.array([V, V * tangent, 0, 0, V * (1 + kappa) / rolling_radius(p, 0, N), 0]))
        np.testing.assert_allclose(force[:2], expected, rtol=1e-6, atol=1e-2)
        turned.append(w)
    assert turned[0] == 0
    assert turned[-1] == 1
    assert any(0 < w < 1 for w in turned)


# ---- 10. relaxation ----


@pytest.fixture(scope="module")
def relaxed():
    tir = quiet()
    return tir, rig(tir=tir, relaxation=True, low_speed=0.5), fold(tir)


@pytest.mark.parametrize("speed", [0.0, 0.3, 12.0, -5.0])
def test_rates_of_the_lags_and_the_spring_at_standstill(relaxed, speed):
    tir, s, p = relaxed
    N = tir["VERTICAL_STIFFNESS"] * (tir.radius - HEIGHT)
    along, across = relaxation_lengths(p, 0, at_load(p, 0, N), 0.0)
    r_e = rolling_radius(p, 0, N)
    u, w, slip, aside = 0.004, -0.003, 0.05, 0.02
    v = np.array([speed, aside, 0, 0, (speed - slip) / r_e, 0, u, w])
    rates = s.forward_dynamics(UP, v, engine="plain")[6:]
    np.testing.assert_allclose(rates, [-slip - abs(speed) * u / along, aside - abs(speed) * w / across], rtol=1e-9)
    T = 0.01 * 0.25 / (speed**2 + 0.25)
    kappa, tangent = (u - T * slip) / along, (w + T * aside) / across
    found = tir.forces(N, kappa, np.arctan(tangent), 0.0, speed if speed else 1e-9)
    force, _ = wrench(s, UP, v)
    np.testing.assert_allclose(force[:2], [found["fx"], found["fy"]], rtol=1e-3, atol=1.0)
    if speed == 0.0:  # a spring of the carcass' stiffness
        _, _, kx, _ = at_load(p, 0, N)
        still = np.array([0, 0, 0, 0, 0, 0, 1e-5, 0])
        assert wrench(s, UP, still)[0][0] / 1e-5 == pytest.approx(kx / along, rel=1e-3)


def test_no_more_is_stored_at_standstill_than_friction_holds(relaxed):
    tir, s, p = relaxed
    N = tir["VERTICAL_STIFFNESS"] * (tir.radius - HEIGHT)
    along, _ = relaxation_lengths(p, 0, at_load(p, 0, N), 0.0)
    most = along * gripping_slips(p, 0, at_load(p, 0, N))[0]
    for over, less in ((0.9, 1.0), (1.05, 0.5), (1.2, 0.0)):
        rate = s.forward_dynamics(UP, np.array([0, 0, 0, 0, 0.1, 0, over * most, 0]), engine="plain")[6]
        excess = max(over - 1, 0.0) * most
        assert rate == pytest.approx(less * 0.1 * rolling_radius(p, 0, N) - excess / 0.02, rel=1e-6)


# ---- 11. power ----


def test_rolling_radius_and_measured_moments_may_deliver_power():
    tir = quiet(QSY1=0.0, QSY2=0.0, QSY3=0.0, QSY4=0.0)
    s, p, V = rig(tir=tir, low_speed=1e-6, damping=0.0), fold(tir), 20.0
    N = tir["VERTICAL_STIFFNESS"] * (tir.radius - HEIGHT)
    r_e = rolling_radius(p, 0, N)
    assert HEIGHT < r_e < tir.radius
    for kappa in (1e-3, 0.2):
        spin = V * (1 + kappa) / r_e
        v = np.array([V, 0, 0, 0, spin, 0])
        found = tir.forces(N, kappa, 0.0, 0.0, V)
        expected = found["fx"] * (V - spin * r_e) + (found["fx"] * (r_e - HEIGHT) + found["my"]) * spin
        now = s.powers(UP, v, engine="plain")["tire"]
        assert now["power"] == pytest.approx(expected, rel=1e-6)
        assert (now["dissipated"] < 0) == (kappa < 0.1)


@pytest.mark.parametrize("law", LAWS)
def test_an_aligning_moment_may_turn_the_wheel_further(law):
    s, V, turn = rig(law, rolling_resistance=0.0), 10.0, 1.0
    for share in (0.5, 2.0):
        tangent = share * PATCH / 3 * turn / V
        v = np.array([V, V * tangent, 0, 0, V / HEIGHT, turn])
        lost = s.powers(UP, v, engine="plain")["tire"]["dissipated"]
        assert (lost < 0) == (law != "smooth" and share < 1)
