"""Every joint, as it is registered: columns against differences of the pose, bias against differences of the columns."""

import numpy as np
import pytest

import madi
from madi.joints import KINDS
from madi.spatial.rotation import as_rotation
from tests.mechanisms import add_joint, moved, random_state, rotation

DRAWN = {}  # how the last child was drawn
JOINTS = [kind for kind in KINDS if kind != "modal"]  # that one comes with a flexible body: test_flexible_bodies.py


def one_joint(kind, reverse, frame):
    rng = np.random.default_rng(sum(map(ord, kind)) + reverse)
    m = madi.Model(kind, gravity=(0, 0, 0))
    carrier = m.body("carrier", mass=1, inertia=(1, 1, 1), position=rng.normal(size=3))
    m.revolute("turn", m.ground, carrier, at=rng.normal(size=3), axis=rng.normal(size=3))
    DRAWN.update(position=rng.normal(size=3), orientation=rotation(rng))
    child = m.body("child", mass=1, inertia=(1, 1, 1), **DRAWN)
    ends = (child, carrier) if reverse else (carrier, child)
    add_joint(m, rng, kind, "A", *ends, at=rng.normal(size=3))
    s = m.build(frame=frame)
    return s, rng


cases = pytest.mark.parametrize(
    ("kind", "reverse"), [(kind, reverse) for kind in JOINTS for reverse in (False, True)], ids=lambda x: str(x)
)


@cases
def test_velocity_is_rate_of_pose(kind, reverse):
    s, rng = one_joint(kind, reverse, "base")
    q, v, _ = random_state(rng, s)
    seen = s.observe(q, v, engine="plain")
    h = 1e-6

    def pose(k):
        return s.body_pose(moved(s, q, k * h * v), "child", engine="plain")

    (r1, A1), (r0, A0) = pose(1), pose(-1)
    k = s.bodies.index("child")
    np.testing.assert_allclose((r1 - r0) / (2 * h), seen.velocity[0, k], atol=1e-8)
    W = (A1 - A0) / (2 * h) @ seen.rotation[0, k].T
    np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0]], seen.angular_velocity[0, k], atol=1e-8)


@cases
def test_bias_is_rate_of_columns(kind, reverse):
    """With constant speeds the state velocity of the child changes by A (gravity is off)."""
    s, rng = one_joint(kind, reverse, "ground")
    q, v, _ = random_state(rng, s)
    engine = s.engine("plain")
    i = s.bodies.index("child") + 1

    def state_velocity(k):
        theta = k * h * v
        for joint in s.frozen.joints:  # in a chart, constant speeds of a free joint are not a straight line
            if joint.kind == "free":
                c = s.v_slice(joint.name).start
                theta[c : c + 3] += 0.5 * (k * h) ** 2 * np.cross(v[c + 3 : c + 6], v[c : c + 3])
        engine.evaluate("observe", 0.0, moved(s, q, theta), v, np.zeros(s.nv), 1000)
        return engine.work.Y[i].copy()

    h = 1e-5
    rate = (state_velocity(1) - state_velocity(-1)) / (2 * h)
    state_velocity(0)
    np.testing.assert_allclose(rate, engine.work.A[i], atol=2e-7 * max(1, np.max(np.abs(rate))))


@cases
def test_at_zero_the_child_is_where_it_was_drawn(kind, reverse):
    s, _ = one_joint(kind, reverse, "base")
    r, A = s.body_pose(s.q0, "child", engine="plain")
    np.testing.assert_allclose(r, DRAWN["position"], atol=1e-12)
    np.testing.assert_allclose(A, as_rotation(DRAWN["orientation"], ""), atol=1e-12)


@pytest.mark.parametrize("kind", JOINTS)
def test_chart_goes_there_and_back(kind):
    """retract and chart_point are inverse; chart_rate is the rate of chart_point along a motion."""
    from madi.joints.chart import chart_point, chart_rate

    s, rng = one_joint(kind, False, "base")
    q, v, _ = random_state(rng, s)
    model = s.layout.arrays
    for size in (1e-3, 0.7, 2.0):
        theta = size * rng.normal(size=s.nv) / np.sqrt(s.nv)
        back = np.zeros(s.nv)
        chart_point(model, q, moved(s, q, theta), back)
        np.testing.assert_allclose(back, theta, atol=1e-12)
        rate, ahead, behind = np.zeros(s.nv), np.zeros(s.nv), np.zeros(s.nv)
        chart_rate(model, theta, v, rate)
        h = 1e-6
        here = moved(s, q, theta)
        chart_point(model, q, moved(s, here, h * v), ahead)
        chart_point(model, q, moved(s, here, -h * v), behind)
        np.testing.assert_allclose((ahead - behind) / (2 * h), rate, atol=1e-8)


def test_screw_advances_by_its_pitch():
    m = madi.Model("screw")
    nut = m.body("nut", mass=1, inertia=(1, 1, 1))
    m.screw("A", m.ground, nut, at=(0, 0, 0), axis=(0, 0, 2), pitch=0.3)
    r, A = m.build().body_pose([2 * np.pi], "nut", engine="plain")
    np.testing.assert_allclose(r, (0, 0, 0.3), atol=1e-12)
    np.testing.assert_allclose(A, np.eye(3), atol=1e-12)
