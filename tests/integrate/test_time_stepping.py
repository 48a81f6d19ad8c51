"""Time stepping with hard contact: against events, closed forms and conservation; loops, stops and friction of joints."""

import numpy as np
import pytest

import madi
from madi.verify import contact as known
from madi.verify import dry_friction

STEP = 1e-3


def hard(model, duration, step=STEP, **options):
    return madi.simulate(model, duration, method=madi.TimeStepping(step), **options)


def test_friction_of_a_joint_is_that_of_events():
    """A block thrown up an incline stops where it does with events, to the order of the step, and stays to the last bit."""
    run = hard(dry_friction.incline(0.3), 3.0, times=[1.0, 3.0])
    assert run["x"][0] == pytest.approx(dry_friction.STOP_WAY, abs=2e-3)
    assert np.ptp(run["x"]) < 1e-12
    assert abs(run["friction"][-1]) == pytest.approx(9.81 * np.sin(dry_friction.INCLINE), rel=1e-6)


def test_stops_of_joints():
    run = hard(dry_friction.pendulum(), 2.4, 1e-4, times=np.linspace(0, 2.4, 2401))
    rates = run["A.v"]
    hits = run.data["time"].values[1:][(rates[1:] > 0) & (rates[:-1] <= 0)]
    np.testing.assert_allclose(hits[:2], dry_friction.HITS[:2], atol=2e-3)
    assert np.min(run["A"]) > -1e-9


def test_a_stop_pushes_what_rests_on_it():
    run = hard(dry_friction.ball(), 4.0)
    assert run["floor"][-1] == pytest.approx(9.81, rel=1e-9)
    assert abs(run["z"][-1]) < 1e-9


def test_order_at_contacts():
    """A ball from sliding to rolling: the error falls with the step."""
    model = known.ball(0.11, (6, 0, 0), (0, 0, 0), 0.2)
    errors = [abs(hard(model, 2.0, h, times=[2.0])["ball.vx"][0] - known.ROLLS) for h in (4e-3, 2e-3, 1e-3, 5e-4)]
    assert errors[-1] < 1e-4
    assert errors[-1] < 0.5 * errors[0]


def spheres(count=12):
    m = madi.Model("spheres")
    rng = np.random.default_rng(3)
    for k in range(count):
        place = (0.22 * (k % 2) - 0.11, 0.22 * (k // 2 % 2) - 0.11, 0.12 + 0.22 * (k // 4)) + rng.uniform(-5e-3, 5e-3, 3)
        m.body(f"b{k}", position=place)
        m.shape(f"s{k}", f"b{k}", "sphere", radius=0.1, density=1000.0, group="balls")
        m.free(f"f{k}", m.ground, f"b{k}")
    for name, normal in (("floor", (0, 0, 1)), ("a", (1, 0, 0)), ("b", (-1, 0, 0)), ("c", (0, 1, 0)), ("d", (0, -1, 0))):
        at = (0, 0, 0) if name == "floor" else tuple(-0.25 * np.array(normal))
        m.shape(name, m.ground, "plane", normal=normal, at=at, group="walls")
    m.contact("on walls", "balls", "walls", mu=0.4, restitution=0.3)
    m.contact("among", "balls", "balls", mu=0.4, restitution=0.3)
    return m


def test_energy_of_settling_balls_never_rises_and_they_do_not_overlap():
    run = hard(spheres(), 1.0, times=np.linspace(0, 1, 201))
    energy = run["energy"]
    assert np.max(np.diff(energy)) < 2e-3 * (energy[0] - energy[-1])
    assert energy[-1] < 0.9 * energy[0]
    gaps = run.data["contact_gap"].values
    assert np.min(gaps) > -1e-4  # a thousandth of a ball
    assert run.statistics["residual"] <= 1e-8 or run.statistics["contacts"] > 10


def test_momentum_of_free_balls_is_kept():
    m = madi.Model("two", gravity=(0, 0, 0))
    for k, x in enumerate((0.0, 0.3)):
        m.body(f"b{k}", position=(x, 0.03 * k, 0))
        m.shape(f"s{k}", f"b{k}", "sphere", radius=0.1, density=1000.0)
        m.free(f"f{k}", m.ground, f"b{k}", v0=(1.0 - k, 0, 0, 0, 5.0, 3.0))
    m.contact("c", "s0", "s1", mu=0.3, restitution=0.8)
    p = hard(m, 0.5).data["momentum"].values
    np.testing.assert_allclose(p[-1, :3], p[0, :3], atol=1e-9)
    np.testing.assert_allclose(p[-1, 3:], p[0, 3:], atol=1e-3)  # places at impacts are as good as the step


def test_a_loop_that_hits_the_floor_stays_closed():
    """A four-bar's coupler with a ball on it: impulses go through the loop."""
    m = madi.Model("four-bar")
    for name, p in (("a", (0, 0, -0.1)), ("b", (0.2, 0, -0.2)), ("c", (0.4, 0, -0.1))):
        m.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=p)
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), q0=1.2)
    m.revolute("B", "a", "b", at=(0, 0, -0.2), axis=(0, 1, 0))
    m.revolute("C", "b", "c", at=(0.4, 0, -0.2), axis=(0, 1, 0))
    m.revolute("D", m.ground, "c", at=(0.4, 0, 0), axis=(0, 1, 0), cut=True)
    m.shape("ball", "b", "sphere", radius=0.02)
    m.shape("floor", m.ground, "plane", at=(0, 0, -0.2))
    m.contact("c", "ball", "floor", restitution=0.5, mu=0.2)
    run = hard(m, 1.0, 1e-3)
    assert np.max(run["violation"]) < 1e-9
    assert np.min(run["c.gap"]) > -1e-4
    assert np.max(np.diff(run["energy"])) < 1e-3 * np.ptp(run["energy"])
    assert run["c"].max() > 0


def test_it_goes_on_from_a_checkpoint(tmp_path):
    model, file = known.block(0.3, known.INCLINE, (0.3, 0.3, 0.1), 3.0), tmp_path / "half.npz"
    method = madi.TimeStepping(STEP)
    whole = madi.simulate(model, 1.0, method=method)
    madi.simulate(model, 1.0, method=method, checkpoint=madi.Checkpoint(file, every=1e-9))
    again = madi.simulate(model, 1.0, method=method, checkpoint=madi.Checkpoint(file, resume=True))
    np.testing.assert_array_equal(again["block.x"], whole["block.x"])


def test_options_are_checked():
    with pytest.raises(madi.InputError, match="needs a step"):
        madi.simulate(dry_friction.ball(), 1.0, method="time-stepping")
    with pytest.raises(madi.InputError, match="give one of them"):
        madi.simulate(dry_friction.ball(), 1.0, step=1e-2, method=madi.TimeStepping(1e-3))
    with pytest.raises(madi.InputError, match="sweeps=0"):
        madi.TimeStepping(sweeps=0)


@pytest.mark.parametrize(
    "add, told",
    [
        (lambda m: m.event("top", lambda t, q, v: v["z"]), "'top' is an event"),
        (lambda m: m.friction("pin", "z", mu=0.1), "by its joint's load"),
        (lambda m: (m.shape("s", "ball", "sphere", radius=0.1), m.shape("p", m.ground, "plane", at=(0, 0, -9)),
                    m.contact("c", "s", "p", rolling=1e-3)), "resists rolling"),
    ],
)  # fmt: skip
def test_what_it_would_pass_over_is_refused(add, told):
    model = dry_friction.ball()
    add(model)
    with pytest.raises(madi.InputError, match=told):
        hard(model, 0.1)
