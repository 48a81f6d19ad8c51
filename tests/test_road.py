"""Road profiles: heights, slopes, normals; what a wheel feels of them."""

import numpy as np
import pytest

import madi


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


def test_a_disc_feels_an_edge_before_it_is_there():
    """A wheel over a step: as a disc it climbs the circle around the edge, as a point it jumps."""
    from madi.forces.wheel import felt

    step = np.array(madi.flat().polyline([(0.0, 0.0), (1e-6, 0.1)]).pack())
    radius = 0.5
    for x in (-0.3, -0.2, -0.1):
        exact = 0.1 + np.sqrt(radius**2 - x**2) - radius
        assert felt(step, 0, x, 0.0, radius, 41)[0] == pytest.approx(max(exact, 0.0), abs=8e-3)
        assert felt(step, 0, x, 0.0, radius, 1)[0] == 0.0


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
