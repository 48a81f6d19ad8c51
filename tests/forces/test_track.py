"""Tracks between two wheels against the closed form."""

import numpy as np
import pytest

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
