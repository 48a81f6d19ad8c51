"""Road profiles: heights, slopes, normals; what a wheel feels of them."""

import numpy as np
import pytest

import madi
from madi.forces.envelope import distance
from madi.forces.road import smoothed
from madi.kernel.lookup import Curves


def packed(road, foot):
    """(numbers, blocks) of a road, as the kernels read them."""
    curves = Curves()
    return np.array(curves.numbers(road.pack(foot))), curves.array()


def test_heights_of_all_features():
    road = madi.flat(level=0.1).half_ellipse(5.0, 2.0, 0.3)
    np.testing.assert_allclose(road.height([0.0, 5.0, 6.0, 7.1]), [0.1, 0.4, 0.1 + 0.3 * np.sqrt(0.75), 0.1])
    assert madi.flat().half_round(1.0, 0.2).height(1.0)[0] == pytest.approx(0.2)
    line = madi.flat().polyline([(1, 0), (2, 1), (4, 0.5)])
    np.testing.assert_allclose(line.height([0, 1.5, 3, 9]), [0, 0.5, 0.75, 0.5])
    wave = madi.flat().sine(0.4, 2.0, start=1.0, end=4.9)  # one whole wave fits
    np.testing.assert_allclose(wave.height([0.5, 2.0, 3.0, 3.5]), [0, 0.4, 0, 0], atol=1e-12)


def test_slope_is_the_derivative_and_the_normal_stands_on_it():
    road = madi.flat().sine(0.4, 3.0).half_ellipse(4.0, 1.0, 0.2).polyline([(0, 0), (3, 0.5), (9, 0.1)])
    for x in (0.7, 2.2, 3.6, 4.4, 7.0):
        h = 1e-6
        slope = (road.height(x + h)[0] - road.height(x - h)[0]) / (2 * h)
        np.testing.assert_allclose(road.normal(x), np.array([-slope, 0, 1]) / np.hypot(1, slope), atol=1e-7)


def test_the_two_sides_have_a_phase():
    road = madi.flat().half_ellipse(5.0, 1.0, 0.3).sine(0.1, 2.0, start=8.0, end=10.0).two_sided(shift=1.5)
    assert road.height(5.0, y=1.0)[0] == pytest.approx(0.3)
    assert road.height(5.0, y=-1.0)[0] == 0.0
    assert road.height(6.5, y=-1.0)[0] == pytest.approx(0.3)
    assert road.height(9.0, y=1.0)[0] == pytest.approx(0.1)
    assert road.height(10.5, y=-1.0)[0] == pytest.approx(0.1)


def test_a_disc_envelops_an_edge_before_it_is_there():
    """A wheel before a step or on a bump: a disc is as far from the road as from its nearest point (of the road as the
    footprint blunts it); so it is where one place is asked for: as a slope the edge would be a wall."""
    radius, z, u = 0.5, 0.5, np.linspace(-1.0, 1.0, 8001)
    for road in (madi.flat().polyline([(0.0, 0.0), (1e-6, 0.1)]), madi.flat().half_ellipse(0.3, 0.3, 0.1)):
        numbers = packed(road, 0.1 * radius)
        heights = np.array([smoothed(*numbers, 0, x, 0.0, 0.1 * radius)[0] for x in u])
        for x in (-0.25, -0.2, -0.15, 0.1):
            nearest = np.sqrt(np.min((u - x) ** 2 + (z - heights) ** 2))
            for places, enough in ((9, 0.03), (17, 0.01), (41, 0.0025)):
                assert distance(*numbers, 0, (x, 0.0, z), radius, places)[0] == pytest.approx(nearest, abs=enough)
        assert distance(*numbers, 0, (-0.2, 0.0, z), radius, 1) == distance(*numbers, 0, (-0.2, 0.0, z), radius, 9)


@pytest.mark.parametrize("places", [1, 9, 17, 33])
@pytest.mark.parametrize("degrees", [-30, -10, 0, 5, 20])
def test_on_any_slope_the_distance_is_that_of_a_plane(places, degrees):
    angle = np.radians(degrees)
    radius, x = 0.5, 3.0
    plane = packed(madi.flat().polyline([(-50, -50 * np.tan(angle)), (50, 50 * np.tan(angle))]), 0.1 * radius)
    for depth in (0.0, 0.02):
        z = x * np.tan(angle) + (radius - depth) / np.cos(angle)
        far, by, slope, _ = distance(*plane, 0, (x, 0.0, z), radius, places)
        assert far == pytest.approx(radius - depth, abs=2e-4 * radius)
        np.testing.assert_allclose(by, (-np.sin(angle), np.cos(angle)), atol=1e-3)
        assert slope == pytest.approx(np.tan(angle), abs=1e-9)


def test_the_footprint_averages_the_road_with_a_tent():
    road = madi.flat(0.05).half_ellipse(2.0, 0.5, 0.1).polyline([(3, 0), (4, 0.3), (4.2, 0.1), (6, 0.2)])
    foot = 0.08
    numbers = packed(road, foot)
    u = np.linspace(-foot, foot, 4001)
    tent = (1 - np.abs(u) / foot) / foot
    for x in (1.45, 1.53, 1.56, 2.1, 2.47, 2.6, 3.01, 3.97, 4.15, 4.3):
        h, slope, curve = smoothed(*numbers, 0, x, 0.0, foot)
        assert h == pytest.approx(np.trapezoid(tent * road.height(x + u), u), abs=1e-6)
        ahead, behind = (smoothed(*numbers, 0, x + e, 0.0, foot) for e in (1e-5, -1e-5))
        assert slope == pytest.approx((ahead[0] - behind[0]) / 2e-5, abs=1e-6)
        assert curve == pytest.approx((ahead[1] - behind[1]) / 2e-5, rel=1e-3, abs=1e-3)


def test_a_wheel_at_rest_and_in_the_air():
    m = madi.Model("drop")
    m.body("wheel", 20.0, inertia=(1, 1, 1), position=(0, 0, 0.5))
    m.prismatic("up", m.ground, "wheel", at=(0, 0, 0.5), axis=(0, 0, 1))
    m.wheel("tire", "wheel", at=(0, 0, 0.5), radius=0.3, stiffness=1e4, damping=200.0)
    run = madi.simulate(m, 5.0, step=1e-3, engine="jit")
    tire = run.data["force_value"].sel(force="tire").values
    assert tire[0] == 0.0
    assert np.min(tire) >= 0.0
    assert run["up"][-1] == pytest.approx(-0.2 - 20 * 9.81 / 1e4, abs=1e-6)


def test_bad_roads_are_told():
    with pytest.raises(madi.InputError, match="x increasing"):
        madi.flat().polyline([(1, 0), (0, 1)])
    with pytest.raises(madi.InputError, match="must be a number > 0"):
        madi.flat().half_round(1.0, -0.2)
    with pytest.raises(madi.InputError, match="along one line"):
        madi.flat(forward=(0, 0, 1))


@pytest.mark.parametrize("places", [1, 9, 17])
def test_a_wheel_rolls_off_a_kerb_and_over_one(places):
    """Off a kerb it flies and lands: no push backwards. Over a small one it loses little of its way."""
    for drop in (0.05, -0.02):
        m = madi.Model("kerb")
        m.body("a", 400.0, inertia=(0.4, 0.7, 0.4), position=(0, 0, max(drop, 0.0) + 0.28))
        m.free("A", m.ground, "a", v0=(5, 0, 0, 0, 0, 0))
        road = madi.flat().polyline([(1, max(drop, 0.0)), (1.001, max(-drop, 0.0))])
        m.wheel("w", "a", (0, 0, max(drop, 0.0) + 0.28), radius=0.3, stiffness=2e5, damping=3e3, road=road, places=places)
        run = madi.simulate(m, 1.0, times=np.linspace(0, 1, 201), max_step=2e-3)
        assert np.min(run["a.vx"]) > (4.99 if drop > 0 else 4.5)
        assert np.max(run["w"]) < 6e4
        assert run["a.z"][-1] > 0.2


@pytest.mark.parametrize("places", [1, 9, 33])
def test_below_the_road_a_wheel_is_pushed_up(places):
    m = madi.Model("deep")
    m.body("a", 20.0, inertia=(1, 1, 1), position=(2.0, 0, -0.1))
    m.prismatic("up", m.ground, "a", at=(2.0, 0, -0.1), axis=(0, 0, 1))
    road = madi.flat().half_ellipse(2.0, 0.5, 0.1)
    m.wheel("w", "a", (2.0, 0, -0.1), radius=0.3, stiffness=1e4, damping=800.0, road=road, places=places)
    run = madi.simulate(m, 4.0, times=[0.0, 4.0])
    assert run["a.z"][-1] == pytest.approx(0.1 + 0.3 - 20 * 9.81 / 1e4, abs=0.02)


def test_a_long_hill_is_smooth_and_ends():
    hill = packed(madi.flat().half_ellipse(0.0, 1000.0, 50.0), 0.03)
    assert smoothed(*hill, 0, 1e5, 0.0, 0.03) == (0.0, 0.0, 0.0)
    for x in (100.0, 300.0):
        exact = 50 * np.sqrt(1 - (x / 1000) ** 2)
        assert smoothed(*hill, 0, x, 0.0, 0.03)[0] == pytest.approx(exact, abs=2e-5)
        heights = [smoothed(*hill, 0, x + d, 0.0, 0.03)[0] for d in (0.0, 1e-9)]
        assert abs(heights[1] - heights[0]) < 1e-7


def test_bumps_are_not_leapt_over_and_their_work_is_counted():
    m = madi.Model("runner")
    m.body("cart", 1.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.body("wheel", 20.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.prismatic("x", m.ground, "cart", at=(0, 0, 0.3), axis=(1, 0, 0))
    m.prismatic("z", "cart", "wheel", at=(0, 0, 0.3), axis=(0, 0, 1))
    m.drive("x", lambda t: 20.0 * t)
    road = madi.flat().sine(0.05, 0.4, start=100.0, end=100.4)
    m.wheel("tire", "wheel", at=(0, 0, 0.3), radius=0.3 + 20 * 9.81 / 2e5, stiffness=2e5, damping=300.0, road=road)
    run = madi.simulate(m, 5.3, rtol=1e-9, engine="jit", times=np.linspace(4.9, 5.3, 4001))
    assert run["z"].max() > 0.02
    time = run.data["time"].values
    net = run["power"] - run["dissipated"]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (net[1:] + net[:-1]) * np.diff(time))])
    assert np.max(np.abs(run["energy"] - run["energy"][0] - work)) < 2e-3 * np.ptp(run["energy"])
    assert np.array_equal(run["tire"], run.data["force_value"].sel(force="tire").values)
