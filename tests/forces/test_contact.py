"""Contact of shapes by springs, dampers and bristles: geometry against brute force, laws against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import madi
from madi.forces import shapes
from madi.forces.contact_law import bounce
from madi.verify import contact as known

SIZES = np.array([0.5123, 0.8171, 0.3037])
numbers = st.floats(-2.0, 2.0)


def inside(kind, y):
    """Whether a point is in a shape, from its definition."""
    a, b, c = SIZES
    if kind == shapes.SPHERE:
        return np.linalg.norm(y) < a
    if kind == shapes.CAPSULE:
        return np.hypot(np.hypot(y[0], y[1]), max(abs(y[2]) - b, 0.0)) < a
    if kind == shapes.CYLINDER:
        return np.hypot(y[0], y[1]) < a and abs(y[2]) < b
    return bool(np.all(np.abs(y) < (a, b, c)))


@pytest.mark.parametrize("kind", [shapes.SPHERE, shapes.CAPSULE, shapes.CYLINDER, shapes.BOX])
@settings(max_examples=60, deadline=None)
@given(y=st.tuples(numbers, numbers, numbers))
def test_distance_is_how_far_one_must_go(kind, y):
    """A step of the distance along the normal is on the surface: inside just before, outside just behind."""
    y = np.array(y)
    d, n = shapes.field(SIZES, 0, kind, tuple(y))
    n = np.array(n)
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    if abs(d) < 1e-9:
        return
    assert inside(kind, y) == (d < 0)
    assert inside(kind, y - (d + 1e-7) * n)
    assert not inside(kind, y - (d - 1e-7) * n)
    rng = np.random.default_rng(0)
    for direction in rng.normal(size=(40, 3)):  # nothing is nearer
        u = direction / np.linalg.norm(direction)
        assert inside(kind, y + 0.999 * abs(d) * u) == (d < 0)


@settings(max_examples=40, deadline=None)
@given(d=st.tuples(numbers, numbers, numbers), turn=st.floats(0.0, 3.1), h=st.floats(0.0, 1.5), g=st.floats(0.0, 1.5))
def test_nearest_points_of_segments(d, turn, h, g):
    d, u, w = np.array(d), np.array([1.0, 0.0, 0.0]), np.array([np.cos(turn), np.sin(turn), 0.0])
    s, t = shapes.nearest_on_segments(tuple(d), tuple(u), h, tuple(w), g)
    assert abs(s) <= h + 1e-12
    assert abs(t) <= g + 1e-12
    best = min(
        minimize(lambda x: np.sum((d + x[0] * u - x[1] * w) ** 2), x0, bounds=[(-h, h), (-g, g)]).fun
        for x0 in ((0.0, 0.0), (h, g), (-h, -g))
    )
    assert np.sum((d + s * u - t * w) ** 2) <= best + 1e-7


@pytest.mark.parametrize("e", [0.9, 0.5, 0.1])
@pytest.mark.parametrize("height", [0.3, 2.0])
def test_restitution_is_what_was_asked_for_at_any_speed(e, height):
    m = known.ball(0.1, (0, 0, 0), (0, 0, 0), 0.0, height=height, restitution=e)
    run = madi.simulate(m, 0.9, rtol=1e-8, times=np.linspace(0, 0.9, 9001))
    v = run["ball.vz"]
    first = int(np.argmax(v > 0))
    assert np.max(v[first : first + 300]) / -np.min(v[:first]) == pytest.approx(e, rel=0.02)


@settings(max_examples=30, deadline=None)
@given(e=st.floats(0.3, 0.99))
def test_bounce_solves_its_equation(e):
    """Both halves of an impact do the same work on the spring: v dv / (1 + c v), by quadrature."""
    d = bounce(e)
    v, w = np.linspace(0, 1, 20001), np.linspace(0, e, 20001)
    assert np.trapezoid(v / (1 + d * v), v) == pytest.approx(np.trapezoid(w / (1 - d * w), w), rel=1e-3)


@pytest.mark.parametrize("method", [{"rtol": 1e-7}, {"method": "radau", "rtol": 1e-6}, {"method": "newmark", "step": 1e-3}])
def test_a_block_that_sticks_does_not_creep(method):
    run = madi.simulate(known.block(0.3, known.INCLINE, (0.3, 0.3, 0.1), 3.0), 4.0, times=[2.5, 4.0], **method)
    assert run["block.x"][0] == pytest.approx(known.UP, abs=1e-5)
    assert abs(np.ptp(run["block.x"])) < 1e-9
    weight = 9.0 * 9.81
    assert run["c.friction"][-1] == pytest.approx(weight * np.sin(known.INCLINE), rel=1e-6)
    assert run["c"][-1] == pytest.approx(weight * np.cos(known.INCLINE), rel=1e-6)


def test_engines_agree():
    model = known.ball(0.03, (1.5, 0, 0), (-30, -40, 10), 0.2, rolling=1e-3, spinning=1e-3)
    ends = []
    for engine in ("plain", "jit", "compiled"):
        run = madi.simulate(model, 0.02, step=1e-4, engine=engine)
        ends.append(np.concatenate([run.data["q"].values[-1], run.data["v"].values[-1]]))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], rtol=1e-9)


def test_rolling_resistance_stops_a_ball_and_holds_it():
    """On the level it rolls v^2 / (2 g rho / r 5/7) far; on a slope below rho / r it stays."""
    rho, r = 2e-3, 0.1
    run = madi.simulate(known.ball(r, (0.2, 0, 0), (0, 2.0, 0), 0.5, rolling=rho), 3.0, rtol=1e-7)
    assert run["ball.x"][-1] == pytest.approx(0.2**2 / (2 * 9.81 * rho / r * 5 / 7), rel=2e-3)
    slope = known.tilted(0.5 * rho / r)
    run = madi.simulate(
        known.ball(r, (0, 0, 0), (0, 0, 0), 0.5, gravity=slope, rolling=rho), 3.0, times=[2.0, 3.0], rtol=1e-7
    )
    assert abs(np.ptp(run["ball.x"])) < 1e-8


@pytest.mark.parametrize("mu, within", [(0.0, 1e-5), (0.3, 0.05)])
def test_energy_is_accounted_for(mu, within):
    """What a bouncing ball has lost is what its contact has dissipated; bristles that begin to stick are bent at once."""
    model = known.ball(0.1, (2.0, 0, 0), (0, 0, 0), mu, height=0.2, restitution=0.6)
    run = madi.simulate(model, 0.6, rtol=1e-9, atol=1e-11, times=np.linspace(0, 0.6, 120001))
    lost = np.trapezoid(run["dissipated"], run.data["time"].values)
    assert lost == pytest.approx(run["energy"][0] - run["energy"][-1], rel=within)


def test_shapes_weigh_what_they_enclose():
    """Mass, centre and inertia of a capsule and a box against sums over small cubes."""
    m = madi.Model("weights")
    m.body("b", mass=0.5, inertia=(0.01, 0.01, 0.01), com=(0.1, 0, 0))
    m.shape("one", "b", "capsule", radius=0.2, length=0.5, axis=(0, 1, 0), at=(0.3, 0, 0), density=800.0)
    m.free("f", m.ground, "b")
    s = m.build()
    grid = np.linspace(-0.5, 0.5, 121)
    x = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1).reshape(-1, 3)
    full = x[np.hypot(np.hypot(x[:, 0], x[:, 2]), np.maximum(np.abs(x[:, 1]) - 0.25, 0)) < 0.2]
    cube = 800.0 * (grid[1] - grid[0]) ** 3
    M = s.mass_matrix(s.q0)
    assert M[0, 0] == pytest.approx(0.5 + cube * len(full), rel=2e-2)
    p = full + (0.3, 0, 0)
    about = cube * np.sum(p[:, 1] ** 2 + p[:, 2] ** 2) + 0.01
    assert M[3, 3] == pytest.approx(about, rel=2e-2)


def test_files_have_shapes_and_contacts(tmp_path):
    model = known.ball(0.1, (1, 0, 0), (0, 0, 0), 0.3, restitution=0.4)
    again = madi.load(model.save(tmp_path / "ball.yaml"))
    a, b = (madi.simulate(one, 0.3, step=1e-4)["ball.x"] for one in (model, again))
    np.testing.assert_array_equal(a, b)


def test_shapes_do_not_start_deep_in_each_other():
    model = known.ball(0.1, (0, 0, 0), (0, 0, 0), 0.3, height=-0.05)
    with pytest.raises(madi.InputError, match=r"contact 'c' by 0\.05 m"):
        madi.simulate(model, 0.1)
    assert "0.05 m deep" in str(madi.check(model))
    hard = madi.TimeStepping(1e-3)
    madi.simulate(known.ball(0.1, (0, 0, 0), (0, 0, 0), 0.3, height=-0.05, overlap=True), 0.1, method=hard)
    assert "TimeStepping" in str(madi.check(known.ball(0.1, (0, 0, 0), (0, 0, 0), 0.3), step=0.01))


@pytest.mark.parametrize(
    "spoil, told",
    [
        (lambda m: m.contact("d", "skin", "wall"), "there is no shape or group 'wall'"),
        (lambda m: m.contact("d", "skin", "skin"), "its shapes are on one body"),
        (lambda m: m.contact("d", "skin", "floor", mu=-1.0), "mu -1.0 is not a number >= 0"),
        (lambda m: m.contact("d", "skin", "floor", restitution=1.5), "restitution 1.5"),
        (lambda m: m.contact("d", "skin", "floor", restitution=0.5, damping=1.0), "damping and restitution"),
        (lambda m: m.shape("s", "ball", "sphere", radius=0.0), "radius 0.0 is not a number > 0"),
        (lambda m: m.shape("s", "ball", "ball", radius=1.0), "there is no kind 'ball' of shape"),
        (lambda m: m.shape("s", "nobody", "sphere", radius=1.0), "there is no body 'nobody'"),
        (lambda m: m.shape("s", "ball", "plane", density=1.0), "no volume"),
    ],
)
def test_what_is_wrong_is_told(spoil, told):
    model = known.ball(0.1, (0, 0, 0), (0, 0, 0), 0.3)
    spoil(model)
    assert told in str(model.check())
