"""Wheels and tires on slopes, edges and with camber; sliding, touch-down, relaxation."""

from pathlib import Path

import numpy as np
import pytest

import madi
from tests.jumps import largest_jump

LAWS = ("smooth", "fiala", "brush")
TIRE = "tests/data/tires/tno_205_60r15_mf62.tir"
HMMWV = "tests/data/tires/hmmwv_37x12_5r16_5_mf52.tir"


def wheel(law=None, road=None, tir=None, places=1, axis=(0, 1, 0), radius=0.3, **more):
    """A free body on one wheel or tire, its centre at the origin."""
    m = madi.Model("wheel", gravity=(0, 0, 0))
    m.body("hub", 20.0, inertia=(1, 1, 1))
    m.free("base", m.ground, "hub")
    if tir is not None:
        m.magic_tire("f", "hub", (0, 0, 0), axis, tir, road=road, places=places, **more)
    elif law is None:
        m.wheel(
            "f", "hub", (0, 0, 0), radius=radius, stiffness=1e5, damping=more.get("damping", 0.0), road=road, places=places
        )
    else:
        m.tire("f", "hub", (0, 0, 0), axis, radius=radius, stiffness=1e5, slip_stiffness=6e4, cornering_stiffness=4e4,
               friction=0.9, law=law, road=road, places=places, low_speed=0.1, **more)  # fmt: skip
    return m.build(frame="ground")


def load(s, q=None, v=None):
    """Force and moment on the hub at its centre, ground axes (the hub not turned)."""
    q, v, none = s.q0 if q is None else q, np.zeros(s.nv) if v is None else v, np.zeros(s.nv)
    found = BARE.inverse_dynamics(q, v, none) - s.inverse_dynamics(q, v, none)
    return found[:3], found[3:6]


def bare():
    m = madi.Model("bare", gravity=(0, 0, 0))
    m.body("hub", 20.0, inertia=(1, 1, 1))
    m.free("base", m.ground, "hub")
    return m.build(frame="ground")


BARE = bare()


@pytest.mark.parametrize("law", [None, *LAWS])
@pytest.mark.parametrize("places", [1, 9])
@pytest.mark.parametrize("degrees", [10, 20])
def test_a_slope_carries_as_level_ground_does(law, places, degrees):
    """20 mm of deflection is 2000 N, along the slope's normal."""
    angle = np.radians(degrees)
    height = 0.28 / np.cos(angle)
    slope = madi.flat().polyline([(-9, -9 * np.tan(angle) - height), (9, 9 * np.tan(angle) - height)])
    force, _ = load(wheel(law, slope, places=places))
    assert np.linalg.norm(force) == pytest.approx(2000.0, rel=0.01)
    np.testing.assert_allclose(force / np.linalg.norm(force), (-np.sin(angle), 0, np.cos(angle)), atol=1e-3)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("degrees, known", [(5, 103.0), (10, 208.0), (-5, -103.0)])
def test_a_cambered_wheel_presses_where_its_plane_meets_the_road(law, degrees, known):
    """At 4 kN the hub has a moment about the way it rolls: load times height times the tangent of the camber."""
    g = np.radians(degrees)
    height = 0.2947
    # r - height / cos g is the deflection in the wheel's plane; f = k d, and 4 kN = f / cos g
    radius = height / np.cos(g) + 4000.0 * np.cos(g) / 1e5
    s = wheel(law, madi.flat(-height), axis=(0, np.cos(g), np.sin(g)), radius=radius)
    force, moment = load(s)
    assert force[2] == pytest.approx(4000.0, rel=1e-9)
    assert moment[0] == pytest.approx(4000.0 * height * np.tan(g), rel=1e-9)
    assert moment[0] == pytest.approx(known, rel=0.01)


def test_the_longitudinal_force_has_a_lateral_arm():
    g, height = np.radians(5.0), 0.28
    s = wheel("brush", madi.flat(-height), axis=(0, np.cos(g), np.sin(g)))
    force, moment = load(s, v=np.array([5.0, 0, 0, 0, 20.0 * np.cos(g), 20.0 * np.sin(g)]))
    assert force[0] > 100.0
    arm = np.array([0.0, height * np.tan(g), -height])
    np.testing.assert_allclose(moment, np.cross(arm, force), atol=1e-9 * np.linalg.norm(moment) + 1e-9)


@pytest.mark.parametrize("degrees", [0, 11, 45, 80, 135, 200])
@pytest.mark.parametrize("law", [*LAWS, TIRE, HMMWV])
def test_a_sliding_tire_opposes_its_sliding(law, degrees):
    """A locked wheel slides in any direction: the force is against it, and on the circle."""
    angle = np.radians(degrees)
    if law in LAWS:
        s, friction = wheel(law, madi.flat(-0.28)), 0.9
    else:
        tir = madi.read_tir(law)
        tir = tir.scaled(**dict.fromkeys(("LHX", "LVX", "LHY", "LVY"), 0.0))
        s, friction = wheel(tir=tir, road=madi.flat(0.02 - tir.radius)), None
    way = np.array([np.cos(angle), np.sin(angle)])
    force, _ = load(s, v=np.array([*(20.0 * way), 0, 0, 0, 0]))
    size = np.linalg.norm(force[:2])
    off = np.degrees(np.arccos(np.clip(-force[:2] @ way / size, -1, 1)))
    assert off < 1.0
    if friction:
        assert 0.97 * friction * force[2] < size <= friction * force[2] * (1 + 1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_no_force_leaves_the_circle(law):
    s, rng = wheel(law, madi.flat(-0.28)), np.random.default_rng(2)
    for _ in range(2000):
        v = rng.normal(size=6) * (5, 2, 0, 0, 20, 0) * 10.0 ** rng.uniform(-3, 0.5)
        force, _ = load(s, v=v)
        assert np.linalg.norm(force[:2]) <= 0.9 * force[2] * (1 + 1e-12)


@pytest.mark.parametrize("what", ["wheel", *LAWS, "track"])
def test_touching_down_does_not_jump(what):
    """At 2 m/s downwards, the force where contact begins, found by bisection: below a newton."""
    if what == "track":
        m = madi.Model("track", gravity=(0, 0, 0))
        m.body("hub", 20.0, inertia=(1, 1, 1))
        m.free("base", m.ground, "hub")
        m.track("f", "hub", m.ground, ((0, 0, 0), (2, 0, 0)), radii=(0.3, 0.3), tension=1.0, support=1e5,
                support_damping=450.0, road=madi.flat(-0.3))  # fmt: skip
        s = m.build(frame="ground")
    else:
        s = wheel(None if what == "wheel" else what, madi.flat(-0.3), damping=300.0)
    v = np.array([0, 0, -2.0, 0, 0, 0])

    def force(z):
        q = s.q0.copy()
        q[2] = z
        return load(s, q, v)[0]

    low, high = -0.05, 0.05
    free = force(high)
    assert np.linalg.norm(force(low) - free) > 500.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.linalg.norm(force(middle) - free) < 1e-12 else (middle, high)
    assert np.linalg.norm(force(low) - free) < 1.0
    heights = np.linspace(-0.02, 0.01, 3001)
    values = np.array([force(z) for z in heights])
    assert np.max(np.abs(np.diff(values, axis=0))) < 30.0  # over 10 micrometres, stiffness and onset


@pytest.mark.parametrize("road", ["half ellipse", "half round", "kerb"])
@pytest.mark.parametrize("places", [9, 17])
def test_edges_are_passed_without_a_jump(road, places):
    """At 5 m/s over vertical edges the change of force between two places is followed by bisection."""
    ways = {
        "half ellipse": madi.flat(-0.45).half_ellipse(2.0, 0.8, 0.1),
        "half round": madi.flat(-0.45).half_round(2.0, 0.15),
        "kerb": madi.flat(-0.45).polyline([(2.0, 0.0), (2.001, 0.12)]),
    }
    s = wheel("smooth", ways[road], places=places, radius=0.5, damping=2e3)
    v = np.array([5.0, 0, 0, 0, 10.0, 0])

    def force(x):
        q = s.q0.copy()
        q[0] = x
        return np.concatenate(load(s, q, v))

    jump, values = largest_jump(force, 0.5, 3.5, points=601, followed=5)
    assert np.ptp(values[:, 2]) > 5e3
    assert jump < 1.0


def test_gravity_does_not_move_the_lags_of_a_relaxed_tire():
    """A wheel held above the road: its lags stay at zero whatever gravity is changed to; and have no energy."""
    tir = madi.read_tir(TIRE)

    def model(gravity):
        m = madi.Model("held")
        m.body("hub", 20.0, inertia=(1, 1, 1), position=(0, 0, 1.0))
        m.prismatic("up", m.ground, "hub", at=(0, 0, 1.0), axis=(0, 0, 1))
        m.lock("up")
        m.magic_tire("tire", "hub", (0, 0, tir.radius - 0.01), (0, 1, 0), tir, relaxation=True)
        m.gravity = gravity
        return m

    for gravity in ((0, 0, -9.81), (3.0, 2.0, -9.0)):
        run = madi.simulate(model(gravity), 1.0, times=[0.0, 1.0])
        np.testing.assert_allclose(run["tire.lag_along"], 0.0, atol=1e-12)
        np.testing.assert_allclose(run["tire.lag_across"], 0.0, atol=1e-12)
    runs = madi.simulate_many(model((0, 0, -9.81)), {"gravity.x": [0.0, 5.0]}, 1.0, step=1e-2)
    assert np.max(np.abs(runs["v"].sel(speed=["tire.lag_along", "tire.lag_across"]).values)) < 1e-12


def test_friction_with_the_other_sign_is_the_same_tire():
    """Files with PDY1 < 0 have B < 0 with it: the same curve."""
    for path in (TIRE, HMMWV):
        tir = madi.read_tir(path)
        text = Path(path).read_text()
        for key in ("PDY1", "PDY2", "RVY1", "RVY2", "RVY3", "QBZ10"):
            lines = text.split("\n")
            for k, line in enumerate(lines):
                if line.split("=")[0].strip() == key:
                    name, _, rest = line.partition("=")
                    value, *comment = rest.split("$")
                    lines[k] = f"{name}= {-float(value.split()[0])!r}" + "".join(f" $ {x}" for x in comment)
            text = "\n".join(lines)
        other = madi.forces.tir.parse_tir(text)
        assert other["PDY1"] == tir["PDY1"] > 0
        rng = np.random.default_rng(1)
        states = rng.uniform((1e3, -0.5, -0.3, -0.1), (8e3, 0.5, 0.3, 0.1), size=(50, 4)).T
        a, b = tir.forces(*states), other.forces(*states)
        for name in a:
            np.testing.assert_array_equal(a[name], b[name])
