"""Wheels whose centre comes near level ground, or under it: one law in all engines, continuous, the gradient of its energy.

(0.3 of the radius is where an enveloping wheel leaves the tangent of the road below it.)"""

import numpy as np
import pytest

import madi

RADIUS, STIFFNESS = 0.4, 1e4
ROADS = {
    "a plane": madi.flat(),
    "a bump far away": madi.flat().half_round(8.0, 0.1),
    "a line far away": madi.flat().polyline([(5.0, 0.0), (6.0, 0.1), (7.0, 0.0)]),
    "waves far away": madi.flat().sine(0.05, 2.0, 4.0, 9.0),
}
HEIGHTS = np.sort(np.concatenate([np.linspace(-0.9, 1.05, 391), 0.30003 + np.linspace(-1e-3, 1e-3, 21)])) * RADIUS


def sunk(road, places):
    m = madi.Model("wheel", gravity=(0, 0, 0))
    body = m.body("hub", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    m.wheel("w", body, (0, 0, 0), radius=RADIUS, stiffness=STIFFNESS, road=ROADS[road], places=places)
    return m.build()


@pytest.mark.parametrize("places", [1, 9, 11])
@pytest.mark.parametrize("road", ROADS)
def test_one_law_whatever_the_depth_and_the_engine(road, places):
    s, q = sunk(road, places), HEIGHTS[:, None]
    plain, jit, compiled = (s.forward_dynamics(q, [0.0], engine=e)[:, 0] for e in ("plain", "jit", "compiled"))
    np.testing.assert_allclose(jit, plain, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-7)
    shallow = HEIGHTS > 0.3 * RADIUS
    np.testing.assert_allclose(plain[shallow], STIFFNESS * np.maximum(RADIUS - HEIGHTS[shallow], 0.0), rtol=1e-12, atol=1e-7)
    depth = 1.0 - HEIGHTS / RADIUS  # of the radius
    np.testing.assert_allclose(plain[~shallow], STIFFNESS * RADIUS * depth[~shallow], rtol=0.1)


@pytest.mark.parametrize("places", [9, 11])
@pytest.mark.parametrize("road", ROADS)
def test_it_is_continuous_and_the_gradient_of_its_energy(road, places):
    s, h = sunk(road, places), 1e-6
    steps = np.diff(s.forward_dynamics(HEIGHTS[:, None], [0.0])[:, 0]) / np.diff(HEIGHTS)
    assert np.max(np.abs(steps)) < 2.5 * STIFFNESS  # no jump: one of 1 N over the finest step would be 2.5e4
    away = HEIGHTS[np.abs(HEIGHTS) > 1e-3]
    force = s.forward_dynamics(away[:, None], [0.0])[:, 0]
    ahead, behind = (s.energy((away + sign * h)[:, None], np.zeros((len(away), 1)))["potential"] for sign in (1, -1))
    np.testing.assert_allclose(force, -(ahead - behind) / (2 * h), rtol=1e-5, atol=0.01)
