"""Tracks between two wheels against the closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import madi


@pytest.mark.parametrize("radii", [(0.3, 0.3), (0.35, 0.2)])
@pytest.mark.parametrize("over", [False, True])
def test_a_track_pulls_along_the_common_tangent(radii, over):
    """Closed form: the wrench of T along the line through both tangent points."""
    m = madi.Model("track", gravity=(0, 0, 0))
    ends = (np.array([0.0, 0, 0.5]), np.array([1.2, 0, 0.7]))
    for name, at in zip("ab", ends, strict=True):
        m.body(name, 1.0, inertia=(1, 1, 1), position=at)
        m.free(name.upper(), m.ground, name)
    m.track("f", "a", "b", ends, radii=radii, tension=1e3, over=over, road=madi.flat(-5.0))
    s = m.build(frame="ground")
    force = -s.inverse_dynamics(s.q0, 0 * s.v0, 0 * s.v0)
    between, wider = (ends[1] - ends[0])[[0, 2]], radii[1] - radii[0]
    side = -1.0 if over else 1.0
    angle = np.arctan2(between[1], between[0]) - np.arcsin(side * wider / np.linalg.norm(between))
    t = np.array([np.cos(angle), 0.0, np.sin(angle)])
    out = side * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    np.testing.assert_allclose(force[:3], 1e3 * t, atol=1e-9)
    np.testing.assert_allclose(force[3:6], np.cross(radii[0] * out, 1e3 * t), atol=1e-9)
    np.testing.assert_allclose(force[6:9], -1e3 * t, atol=1e-9)
    np.testing.assert_allclose(force[9:], np.cross(radii[1] * out, -1e3 * t), atol=1e-9)
    assert (out[2] > 0) == over


def hung(road, places=3, radii=(0.3, 0.2)):
    """Two free bodies with a track between them."""
    m = madi.Model("track", gravity=(0, 0, 0))
    ends = (np.array([0.0, 0, 0.5]), np.array([1.2, 0, 0.6]))
    for name, at in zip("ab", ends, strict=True):
        m.body(name, 1.0, inertia=(1, 1, 1), position=at)
        m.free(name.upper(), m.ground, name)
    m.track("f", "a", "b", ends, radii=radii, tension=1e3, stiffness=2e4, support=3e4, support_damping=200.0, road=road,
            places=places)  # fmt: skip
    return m.build(frame="ground"), ends


@pytest.mark.parametrize("radii", [(0.3, 0.3), (0.35, 0.2)])
def test_a_track_is_as_tight_upside_down(radii):
    """Turned over as a whole about the road's left axis, past half a turn, one body a little more than the other."""
    s, ends = hung(madi.flat(-50.0), radii=radii)
    zero, found = np.zeros(12), []
    for angle in (0.0, 3.1, 3.2, 5.0):
        turn = Rotation.from_rotvec([0, angle, 0])
        places = [turn.apply(end) for end in ends]
        turns = [np.array([np.cos(x / 2), 0, np.sin(x / 2), 0]) for x in (angle, angle + 0.07)]
        q = np.concatenate([x for place, at, r in zip(places, ends, turns, strict=True) for x in (place - at, r)])
        found.append(s.powers(q, zero, engine="plain")["f"]["value"])
    np.testing.assert_allclose(found, found[0], rtol=1e-10)
    assert found[0] > 0.0


def test_level_ground_is_pressed_as_a_road_with_shapes_is():
    """The short way over level ground against the long one, which a bump of no height asks for; and clear of the ground."""
    rng = np.random.default_rng(0)
    for level in (0.3, 0.0):
        plain, _ = hung(madi.flat(level))
        shaped, _ = hung(madi.flat(level).half_ellipse(at=0.6, half_length=0.1, height=1e-300))
        for _ in range(5):
            q, v = plain.q0 + 0.02 * rng.normal(size=14), rng.normal(size=12)
            q[[3, 10]], q[[4, 5, 6, 11, 12, 13]] = 1.0, 0.0
            forces = [s.inverse_dynamics(q, v, np.zeros(12), engine="jit") for s in (plain, shaped)]
            np.testing.assert_allclose(*forces, atol=1e-10)
            powers = [list(s.powers(q, v, engine="jit")["f"].values()) for s in (plain, shaped)]
            np.testing.assert_allclose(*powers, rtol=1e-12, atol=1e-10)
