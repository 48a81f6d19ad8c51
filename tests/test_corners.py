"""Corners in which a wrong number came without a word. Answers are known from elsewhere: closed forms, identities, a second
formulation, another engine."""

import functools
import threading
import warnings

import numpy as np
import pytest

import madi
from madi.papers import rssr
from madi.pipeline import prepare
from madi.signals.jumps import speed_jumps
from madi.vehicle import Car
from madi.verify import andrews, tops
from tests.mechanisms import four_bar


def pendulum(at=(0.0, 0.0, 0.0), **given):
    m = madi.Model("pendulum")
    place = np.asarray(at, dtype=float)
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=place + (0, 0, -0.3))
    m.revolute("A", m.ground, "bob", at=place, axis=(0, 1, 0), **given)
    return m


# ---- options of a run are not an evaluation's -------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["plain", "jit"])
def test_a_refused_run_leaves_a_system_as_it_was(engine):
    s = four_bar().build()
    q, v = s.start.q + 1e-3, s.start.v
    before = s.forward_dynamics(q, v, engine=engine)
    with pytest.raises(madi.InputError):
        prepare(s, 1.0, loops="baumgarte", feedback=(50.0, 50.0), engine=engine, rtol=5)
    np.testing.assert_array_equal(s.forward_dynamics(q, v, engine=engine), before)
    madi.simulate(s, 0.01, loops="augmented", feedback=(50.0, 50.0), engine=engine, times=[0.01])
    np.testing.assert_array_equal(s.forward_dynamics(q, v, engine=engine), before)


def test_a_function_may_ask_the_system_it_acts_on():
    """Its run has scratch of its own: an evaluation within it does not disturb it."""
    s, found = pendulum(q0=0.5).build(), []
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", madi.in_python(lambda t, q, v: found.append(s.forward_dynamics(q, v)[0]) or 0.0))
    system = m.build()
    run = madi.simulate(system, 0.5, rtol=1e-9, times=[0.5], engine="jit")
    assert found
    assert run["A"][-1] == pytest.approx(madi.simulate(s, 0.5, rtol=1e-9, times=[0.5], engine="jit")["A"][-1], abs=1e-8)


# ---- functions with memory --------------------------------------------------------------------------------------------


RNG = np.random.default_rng(1)


def counted():
    calls = [0]

    def hold(t, q, v):
        calls[0] += 1
        return 1.0 if calls[0] > 40 else 0.0

    return hold, calls


def integral():
    total = [0.0]

    def control(t, q, v):
        total[0] += q[0]
        return -total[0]

    return control, total


class Controller:
    """Memory in an object."""

    def __init__(self):
        self.total = 0.0

    def __call__(self, t, q, v):
        self.total += float(v[0]) if isinstance(v[0], float) else v[0]
        return -self.total


def rebound():
    count = 0

    def f(t, q, v):
        nonlocal count
        count += 1
        return -q["A"] * np.cos(t)

    return f


class Shared:
    """Memory on a class."""

    total = 0.0

    def f(self, t, q, v):
        Shared.total = Shared.total + q[0]
        return -q[0]


class Late:
    """Another value only after many calls."""

    def __init__(self):
        self.calls, self.lock = 0, None

    def f(self, t, q, v):
        self.calls += 1
        return 0.0 * q[0] if self.calls < 50 else 1.0 + 0.0 * q[0]


def with_attribute():
    def f(t, q, v):
        f.total = f.total + q[0]
        return -f.total

    f.total = 0.0
    return f


def with_lock():
    late = Late()
    late.lock = threading.Lock()
    return late.f


@pytest.mark.parametrize("make", [
    lambda: Shared().f, lambda: Late().f, with_attribute, with_lock,
    lambda: functools.partial(lambda t, q, v, state: state.append(q[0]) or -q[0], state=[]),
    lambda: counted()[0], lambda: integral()[0], Controller, rebound,
    lambda: lambda t, q, v: RNG.normal(), lambda: lambda t, q, v: np.random.default_rng().normal(),
    lambda: lambda t, q, v: 1.0 if q[0] > 0 else -1.0,
])  # fmt: skip
def test_a_function_with_memory_stays_in_python_and_is_told(make):
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", make())
    with pytest.warns(madi.MadiWarning, match=r"force 'f'.*stays in Python.*madi.in_python"):
        s = m.build()
    assert len(s.frozen.signals.callbacks) == 1
    m.build()  # what tracing tried is not left behind
    assert Shared.total == 0.0


def test_trying_a_function_leaves_no_mark_on_it():
    (hold, calls), (control, total) = counted(), integral()
    for function in (hold, control):
        m = pendulum(q0=0.5)
        m.joint_torque("f", "A", function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m.build()
    assert calls == [0]
    assert total == [0.0]


def test_every_call_is_made():
    hold, calls = counted()
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", madi.in_python(hold))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = madi.simulate(m, 1.0, step=0.01, engine="jit", times=[1.0])
    assert calls[0] >= run.statistics["evaluations"]
    free = madi.simulate(pendulum(q0=0.5), 1.0, step=0.01, engine="jit", times=[1.0])
    assert abs(run["A"][-1] - free["A"][-1]) > 0.1  # the torque set in after forty calls


NOTHING = object()


def with_gain():
    def f(t, q, v):
        return -f.gain * q[0]

    f.gain = 3.0
    return f


@pytest.mark.parametrize("function", [
    lambda t, q, v: -2.0 * q["A"] - v["A"], lambda t: np.sin(3 * t), lambda t, q, v, k=3.0: -k * np.tanh(q[0]),
    lambda t, q, v: madi.where(q["A"] > 0, -1.0, 1.0), madi.table([(0, 0), (1, 0.2), (2, 0)]), with_gain(),
    lambda t, q, v, nothing=NOTHING: -q[0], functools.partial(lambda t, q, v, k: -k * q[0], k=2.0),
])  # fmt: skip
def test_a_pure_function_is_traced_without_a_word(function):
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not m.build().frozen.signals.callbacks


def test_a_drive_with_memory_is_refused():
    calls = []
    m = pendulum()
    m.drive("A", lambda t: calls.append(1) or 0.1 * t * len(calls))
    with pytest.raises(madi.ModelError, match="function of time alone"):
        m.build()


def test_indices_move_and_names_do_not():
    """A torque on a joint moves the cut elsewhere: q[k] is another joint then, q[name] is not."""

    def drawn(torque):
        m = madi.Model("four-bar")
        A, B, C, D = (np.array(p) for p in ((0, 0, 0), (0, 0, 0.3), (0.95, 0, 0.75), (0.9, 0, 0)))
        for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
            m.body(name, 1.0, inertia=(0.05, 0.05, 0.05), position=(P + Q) / 2)
        m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
        m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0))
        m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
        m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
        if torque is not None:
            m.joint_torque("motor", "C", torque)
        return m

    plain = drawn(None).build()
    by_name = drawn(lambda t, q, v: -3.0 * q["A"])
    assert plain.cut_joints != by_name.build().cut_joints
    spring = drawn(None)
    spring.torque("on rocker", "rocker", lambda t, q, v: (0.0, -3.0 * q["A"], 0.0))
    spring.torque("on coupler", "coupler", lambda t, q, v: (0.0, 3.0 * q["A"], 0.0))
    run, same = (madi.simulate(m, 0.5, rtol=1e-9, times=[0.5], engine="jit") for m in (by_name, spring))
    assert run["rocker.ry"][-1] == pytest.approx(same["rocker.ry"][-1], abs=1e-6)
    with pytest.raises(madi.ModelError, match="there is no speed 'spin'"):
        drawn(lambda t, q, v: -v["spin"]).build()


# ---- far from the origin ----------------------------------------------------------------------------------------------

FAR = [(1e3, -1e3, 1e3), (1e6, 1e6, -1e6)]


def double_pendulum(at):
    o = np.asarray(at, dtype=float)
    m = madi.Model("double pendulum")
    m.body("upper", 1.0, inertia=(0.08, 0.08, 0.001), position=o + (0, 0, -0.5))
    m.body("lower", 0.5, inertia=(0.04, 0.04, 0.001), position=o + (0, 0, -1.5))
    m.revolute("A", m.ground, "upper", at=o, axis=(0, 1, 0), q0=1.2)
    m.revolute("B", "upper", "lower", at=o + (0, 0, -1), axis=(0, 1, 0))
    m.spring_damper(
        "k", m.ground, "lower", at=(o + (0.5, 0, 0), o + (0, 0, -1.5)), stiffness=100.0, damping=1.0, free_length=0.5
    )
    return m


def far_four_bar(at):
    o = np.asarray(at, dtype=float)
    m = madi.Model("four-bar")
    A, B, C, D = (o + p for p in ((0, 0, 0), (0, 0, 0.25), (0.5, 0, 0.75), (1, 0, 0)))
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        m.body(name, 1.0, inertia=(0.05, 0.05, 0.05), position=(P + Q) / 2)
    m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0), v0=2.0)
    m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
    m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
    return m


@pytest.mark.parametrize("at", FAR)
@pytest.mark.parametrize("make", [double_pendulum, far_four_bar])
@pytest.mark.parametrize("engine", ["plain", "jit", "compiled"])
def test_a_mechanism_far_away_accelerates_as_at_home(make, at, engine):
    near, far = make((0, 0, 0)).build(), make(at).build()
    q, v = near.start.q, near.start.v
    np.testing.assert_allclose(
        far.forward_dynamics(q, v, engine=engine), near.forward_dynamics(q, v, engine=engine), rtol=1e-9, atol=1e-9
    )
    here, there = near.reactions(q, v, ["A"])["A"], far.reactions(q, v, ["A"])["A"]
    np.testing.assert_allclose(there.force, here.force, atol=1e-8)
    np.testing.assert_allclose(there.moment, here.moment, atol=1e-8)
    assert far.body_pose(q, far.bodies[0])[0] == pytest.approx(np.add(near.body_pose(q, near.bodies[0])[0], at), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"formulation": "cartesian"}, {"loops": "qr"}, {"method": "radau"}])
def test_a_run_far_away_is_the_run_at_home(options):
    near, far = (madi.simulate(far_four_bar(at), 1.0, rtol=1e-9, times=[1.0], engine="jit", **options)
                 for at in ((0, 0, 0), (1e6, -1e6, 1e6)))  # fmt: skip
    assert far["A"][-1] == pytest.approx(near["A"][-1], abs=1e-7)


def test_what_has_gone_far_is_as_exact_as_at_the_start():
    """A pendulum on a cart that has gone 100 km along its rail: accelerations do not depend on where it is."""
    m = madi.Model("cart")
    m.body("cart", 2.0, inertia=(1, 1, 1))
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    m.prismatic("rail", m.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("A", "cart", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    s = m.build()
    here = s.forward_dynamics([0.0, 0.7], [3.0, 2.0], engine="jit")
    np.testing.assert_allclose(s.forward_dynamics([1e5, 0.7], [3.0, 2.0], engine="jit"), here, rtol=1e-13)


def test_a_wheel_far_along_its_road():
    def drawn(x):
        m = madi.Model("wheel")
        m.body("wheel", 20.0, inertia=(1, 1, 1), position=(x, 0, 0.29))
        m.free("wheel_free", m.ground, "wheel")
        m.tire("tire", "wheel", (x, 0, 0.29), (0, 1, 0), radius=0.3, stiffness=2e5, damping=100.0, slip_stiffness=5e4,
               cornering_stiffness=4e4)  # fmt: skip
        return m.build()

    near, far = drawn(0.0), drawn(1e6)
    v = np.array([10.0, 0.5, 0.1, 0.0, 32.0, 0.2])
    np.testing.assert_allclose(
        far.forward_dynamics(far.q0, v, engine="jit"), near.forward_dynamics(near.q0, v, engine="jit"), rtol=1e-9
    )


# ---- turns, tolerances, steps -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", [2, 6, 101])
@pytest.mark.parametrize("method", ["dopri", "abm"])
def test_cartesian_angles_keep_their_turns(outputs, method):
    m, times = pendulum(v0=12.0), np.linspace(0, 5, outputs)
    found = madi.simulate(m, 5.0, formulation="cartesian", method=method, rtol=1e-9, times=times, engine="jit")["A"]
    wanted = madi.simulate(m, 5.0, rtol=1e-11, times=times, engine="jit")["A"]
    assert wanted[-1] > 30
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def governor():
    m = madi.Model("governor")
    m.body("shaft", 2.0, inertia=(0.1, 0.1, 0.05), position=(0, 0, 0.2))
    m.revolute("S", m.ground, "shaft", at=(0, 0, 0), axis=(0, 0, 1), v0=8.0)
    m.body("collar", 1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.1))
    m.prismatic("P", "shaft", "collar", at=(0, 0, 0.1), axis=(0, 0, 1))
    for side, name in ((1, "left"), (-1, "right")):
        m.body(name, 0.5, inertia=(0.005, 0.005, 0.005), position=(side * 0.1, 0, 0.3))
        m.revolute(f"{name} pin", "shaft", name, at=(side * 0.02, 0, 0.4), axis=(0, 1, 0))
        m.distance(f"{name} rod", name, "collar", at=((side * 0.1, 0, 0.25), (side * 0.02, 0, 0.1)))
    m.joint_spring("spring", "P", 800.0, 5.0)
    return m


@pytest.mark.parametrize("jacobian", ["slow", "step", "once"])
@pytest.mark.parametrize("method", ["newmark", "generalized-alpha"])
def test_second_order_down_to_small_steps(method, jacobian):
    s = governor().build()
    exact = madi.simulate(s, 1.0, rtol=1e-12, times=[1.0], engine="jit").data["q"].values[-1]
    steps, errors = np.array([1e-2, 1e-3, 1e-4, 2e-5]), []
    for step in steps:
        run = madi.simulate(s, 1.0, step=step, method=method, jacobian=jacobian, times=[1.0], engine="jit")
        errors.append(np.max(np.abs(run.data["q"].values[-1] - exact)))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.all(np.abs(slopes - 2.0) < 0.15), errors


@pytest.mark.parametrize("times", [[0.37, 1.0], np.linspace(0, 1, 41)])
def test_radau_outputs_follow_the_tolerance(times):
    m = pendulum(q0=1.0)
    exact = madi.simulate(m, 1.0, rtol=1e-12, times=times, engine="jit")["A"]
    for rtol in (1e-6, 1e-8):
        found = madi.simulate(m, 1.0, rtol=rtol, method="radau", times=times, engine="jit")["A"]
        assert np.max(np.abs(found - exact)) < 30 * rtol


@pytest.mark.parametrize("options, told", [
    ({"step": 0.01, "rtol": 1e-8}, "rtol.*no use"), ({"step": 0.01, "atol": 1e-8}, "atol.*no use"),
    ({"step": 0.01, "method": "newmark", "max_step": 0.1}, "max_step.*no use"), ({"order": 3}, "order.*no use"),
    ({"step": 0.01, "method": "newmark", "loops": "qr"}, "leave `loops` out"), ({"feedback": (1.0, 1.0)}, "leave it out"),
    ({"step": 1e-300}, "steps"), ({"max_step": 1e-300}, "steps"), ({"step": True}, "give a number"),
    ({"step": "1"}, "give a number"), ({"rtol": "1e-6"}, "give a number"), ({"loops": "none"}, "choose one of"),
])  # fmt: skip
def test_options_nobody_listens_to_are_refused(options, told):
    with pytest.raises(madi.InputError, match=told):
        madi.simulate(four_bar(), 1.0, **options)


@pytest.mark.parametrize("duration", [True, "1", None])
def test_a_duration_is_a_number(duration):
    with pytest.raises(madi.InputError, match="duration"):
        madi.simulate(pendulum(), duration)


def test_loops_of_a_tree_are_no_matter():
    """One rule: without loops the word says nothing, with any method, formulation and engine."""
    for options in (
        {},
        {"step": 0.01, "method": "newmark"},
        {"formulation": "velocity-transform"},
        {"formulation": "cartesian"},
    ):
        more = {} if "step" in options else {"rtol": 1e-8}
        runs = [madi.simulate(pendulum(q0=0.3), 0.2, times=[0.2], engine="jit", **options, **more, **loops)["A"][-1]
                for loops in ({}, {"loops": "qr"})]  # fmt: skip
        assert runs[0] == runs[1]


def test_export_of_an_adaptive_method_is_told_as_such(tmp_path):
    with pytest.raises(madi.InputError, match=r"chooses its steps; exported code takes fixed ones"):
        madi.export_c(pendulum(), tmp_path, step=0.01, method="dopri")


def test_a_jump_of_a_drive_is_one_impulse_whatever_the_method():
    """Two bars in a row on a free hinge, the elbow's drive begins to move at once: angular momentum stays zero, so that the
    first bar turns by a closed form: (I1 + I2 + ...) w1 + (...) (w1 + w2) = 0."""
    m = madi.Model("elbow", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    m.body("c", 1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0))
    m.revolute("O", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("E", "b", "c", at=(1, 0, 0), axis=(0, 0, 1))
    m.drive("E", lambda t: madi.where(t < 0.5, 0.0, 0.7 * (t - 0.5)))
    # stretched: L = (0.35 + 1 + 0.25 + 0.1 + 2 * 0.5) w1 + (0.25 + 0.1 + 0.5) w2
    wanted = -0.7 * (0.35 + 0.5) / (0.35 + 1.35 + 1.0)
    for options in ({"rtol": 1e-9}, {"rtol": 1e-9, "method": "abm"}, {"rtol": 1e-9, "method": "radau"}, {"step": 1e-3},
                    {"rtol": 1e-9, "formulation": "cartesian"}, {"step": 1e-3, "method": "newmark"}):  # fmt: skip
        run = madi.simulate(m, 0.6, times=[0.5 + 1e-6 if "rtol" in options else 0.501, 0.6], engine="jit", **options)
        assert run["O.v"][0] == pytest.approx(wanted, rel=2e-3), options
        assert np.max(np.abs(run.data["momentum"].values[:, 5])) < 1e-8
        assert run.statistics["jumps"] == pytest.approx([0.5])
    with pytest.raises(madi.InputError, match=r"jumps by 0.7 at t = 0.5.*no impulse"):
        madi.simulate(m, 1.0, method="ida")


def test_smooth_tables_do_not_jump_and_broken_lines_do():
    points = [(0.01 * k, np.sin(0.05 * k)) for k in range(150)]
    for between, jumps in (("cubic", 0), ("linear", 151)):
        m = pendulum()
        m.drive("A", madi.table(points, between=between))
        found = speed_jumps(m.build(), 2.0)
        assert abs(len(found) - jumps) <= 2
    knots = [jump.time for jump in found]
    np.testing.assert_allclose(knots[4:19], 0.01 * np.arange(5, 20), atol=1e-12)


def test_many_runs_of_a_drive_that_jumps():
    m = double_pendulum((0, 0, 0))
    m.drive("B", lambda t: madi.where(t < 0.3, 0.0, 0.7 * (t - 0.3)))
    times = [0.0, 0.125, 0.25, 0.375, 0.5]
    found = madi.simulate_many(m, {"upper.mass": [1.0, 2.0]}, 0.5, rtol=1e-8, times=times)
    assert list(found["time"].values) == times
    alone = madi.simulate(m, 0.5, rtol=1e-8, times=times, engine="jit")
    np.testing.assert_allclose(found["q"].values[0], alone.data["q"].values, atol=1e-9)


def test_a_model_s_own_run_gives_way_where_it_must():
    m = pendulum(q0=0.3)
    m.run = {"method": "radau", "rtol": 1e-4, "duration": 0.1}
    assert m.simulate(rtol=1e-6, engine="jit").statistics["method"] == "radau"
    assert m.simulate(step=0.01, engine="jit").statistics["method"] == "radau"
    m.run = {"method": "newmark", "step": 0.01, "jacobian": "step", "duration": 0.1}
    assert m.simulate(step=0.005, engine="jit").statistics["method"] == "newmark"
    assert m.simulate(rtol=1e-6, engine="jit").statistics["method"] == "dopri"


# ---- names ------------------------------------------------------------------------------------------------------------


def test_a_body_s_signals_are_the_body_s():
    m = madi.Model("body")
    m.body("b", 1.0, inertia=(0.3, 0.2, 0.1), position=(0, 5.0, 0))
    m.free("b", m.ground, "b", v0=(1, 0, 0, 0.1, 0.2, 0.8))
    run = madi.simulate(m, 1.0, rtol=1e-8, engine="jit")
    np.testing.assert_array_equal(run["b.y"], run.data["position"].sel(body="b", axis="y").values)
    np.testing.assert_array_equal(run["b.y.q"], run.data["q"].sel(coordinate="b.y").values)
    assert run["b.y"][0] - run["b.y.q"][0] == 5.0
    assert len(set(run.signals)) == len(run.signals)
    for name in run.signals:
        assert len(run[name]) == len(run.data["time"])
    table = run.table()
    assert {"b.y", "b.y.q"} <= set(table.columns)


@pytest.mark.parametrize("draw", [
    lambda m: m.joint_spring("A", "A"), lambda m: m.force("energy", "bob", (0, 0, 1)),
    lambda m: m.force("A.v", "bob", (0, 0, 1)),
])  # fmt: skip
def test_names_that_would_mean_two_things_are_refused(draw):
    m = pendulum()
    draw(m)
    with pytest.raises(madi.ModelError, match=r"results would call"):
        m.build()


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a\nb", "\x1b[2J"])
def test_names_that_cannot_be_printed_are_refused(name):
    m = madi.Model("m")
    m.body(name, 1.0, inertia=(1, 1, 1))
    m.free("f", m.ground, name)
    with pytest.raises(madi.ModelError, match="cannot be printed"):
        m.build()


def test_attitude_against_scipy():
    from scipy.spatial.transform import Rotation

    run = madi.simulate(tops.heavy(), 2.0, rtol=1e-8, engine="jit")
    w, x, y, z = run.data["orientation"].sel(body="top").values.T
    R = Rotation.from_quat(np.column_stack([x, y, z, w]))
    yaw, pitch, roll = R.as_euler("ZYX").T
    np.testing.assert_allclose(run["top.roll"], roll, atol=1e-12)
    np.testing.assert_allclose(run["top.pitch"], pitch, atol=1e-12)
    np.testing.assert_allclose(np.exp(1j * run["top.yaw"]), np.exp(1j * yaw), atol=1e-12)
    for kind, variable in (("v", "velocity"), ("a", "acceleration"), ("w", "angular_velocity")):
        inside = R.inv().apply(run.data[variable].sel(body="top").values)
        np.testing.assert_allclose(np.column_stack([run[f"top.{kind}{axis}_body"] for axis in "xyz"]), inside, atol=1e-9)


def test_roll_is_roll_after_a_turn():
    """1.08 degrees of roll at 127 of yaw; and where y is up, yaw is about y."""
    from scipy.spatial.transform import Rotation

    for gravity, axes in (((0, 0, -9.81), np.eye(3)), ((0, -9.81, 0), np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T)):
        turn = axes @ Rotation.from_euler("ZYX", [127, 0.26, 1.08], degrees=True).as_matrix() @ axes.T
        x, y, z, w = Rotation.from_matrix(turn).as_quat()
        m = madi.Model("car", gravity=gravity)
        m.body("chassis", 1000.0, inertia=(400, 1500, 1600))
        velocity = turn.T @ axes @ Rotation.from_euler("z", 127 + 3, degrees=True).apply([20.0, 0, 0])
        m.free("chassis", m.ground, "chassis", q0=(0, 0, 0, w, x, y, z), v0=(*velocity, 0, 0, 0))
        run = madi.simulate(m, 0.01, step=0.01, engine="plain")
        found = [np.degrees(run[f"chassis.{part}"][0]) for part in ("roll", "pitch", "yaw", "slip")]
        np.testing.assert_allclose(found, [1.08, 0.26, 127, 3], atol=1e-9)


def test_coordinates_of_cut_joints_are_signals():
    s = andrews.model().build()
    run = madi.simulate(s, 0.03, rtol=1e-9, engine="jit")
    for name in s.cut_joints:
        slope = np.gradient(run[name], run.data["time"].values)
        assert np.max(np.abs(slope - run[f"{name}.v"])[2:-2]) < 2e-3 * np.max(np.abs(run[f"{name}.v"]))
    s = four_bar().build()
    cut = s.cut_joints[0]
    run = madi.simulate(s, 1.0, rtol=1e-9, engine="jit")
    # about one axis around a loop: some signed sum of the angles is constant
    signs = np.ndindex(*(2,) * len(s.joint_names))
    sums = [run[cut] + sum((1 - 2 * k) * run[name] for k, name in zip(one, s.joint_names, strict=True)) for one in signs]
    assert np.ptp(run[cut]) > 0.1
    assert min(map(np.ptp, sums)) < 1e-8


def test_loads_of_gears_and_racks():
    """Two wheels in mesh: 3 N m on the first; by hand (I1 + I2 r^2) a = 3, and the mesh takes I2 r^2 a."""
    m = madi.Model("gears")
    m.body("a", 1.0, inertia=(0.1, 0.1, 0.1))
    m.body("b", 1.0, inertia=(0.2, 0.2, 0.2), position=(1, 0, 0))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "b", m.ground, at=(1, 0, 0), axis=(0, 1, 0))
    m.gear("mesh", "A", "B", radii=(0.5, 0.25))
    m.joint_torque("motor", "A", 3.0)
    a = 3.0 / (0.1 + 0.2 * 4)
    for options in ({}, {"formulation": "cartesian"}):
        run = madi.simulate(m, 0.1, rtol=1e-8, times=[0.1], reactions=["mesh"], engine="jit", **options)
        assert run["mesh.my"][0] == pytest.approx(-0.2 * 4 * a, rel=1e-9)
        assert run["mesh.force"][0] == pytest.approx(0.0, abs=1e-9)
    m = madi.Model("rack")
    m.body("rack", 2.0, inertia=(1, 1, 1))
    m.body("pinion", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1))
    m.prismatic("slide", m.ground, "rack", at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("turn", m.ground, "pinion", at=(0, 0, 1), axis=(0, 1, 0))
    m.rack("mesh", "slide", "turn", radius=0.1)
    m.joint_torque("motor", "turn", 3.0)
    turn = 3.0 / (0.1 + 2.0 * 0.1**2)
    assert m.build().reactions([0, 0], [0, 0], ["mesh"])["mesh"].force[0] == pytest.approx(2.0 * 0.1 * turn, rel=1e-9)


# ---- elements ---------------------------------------------------------------------------------------------------------


def test_what_is_set_on_an_element_counts():
    m = pendulum()
    spring = m.joint_spring("s", "A", stiffness=10.0)
    spring.stiffness = 20.0
    assert spring.stiffness == 20.0
    assert m.build().inverse_dynamics([0.5], [0], [0])[0] == pytest.approx(20 * 0.5 + 9.81 * 0.3 * np.sin(0.5), rel=1e-9)
    with pytest.raises(madi.InputError, match=r"force 's' has no 'stifness'.*stiffness, damping, rest"):
        spring.stifness = 3.0
    spring.stiffness = "soft"
    with pytest.raises(madi.ModelError, match="stiffness 'soft'"):
        m.build()
    spring.kind = "rubber"
    with pytest.raises(madi.ModelError, match="there is no kind 'rubber' of force"):
        m.build()
    for element, field in ((m["bob"], "weight"), (m["A"], "angle")):
        with pytest.raises(madi.InputError, match=f"has no '{field}'"):
            setattr(element, field, 1.0)


def test_elements_are_found_removed_and_replaced():
    m = pendulum()
    m.joint_spring("s", "A", stiffness=10.0)
    m.drive("A", lambda t: t)
    assert m["A"].kind == "revolute"
    assert m["body bob"] is m["bob"]
    with pytest.raises(madi.InputError, match=r"in use by drive of 'A', force 's'"):
        m.remove("A")
    with pytest.raises(madi.InputError, match=r"in use by joint 'A'"):
        m.remove("bob")
    m.remove("drive A")
    m.replace("s", stiffness=20.0, rest=0.1)
    assert (m["s"].stiffness, m["s"].rest) == (20.0, 0.1)
    with pytest.raises(madi.InputError, match="has no 'k'"):
        m.replace("s", rest=0.7, k=1.0)
    assert m["s"].rest == 0.1
    m.remove("s")
    with pytest.raises(madi.InputError, match="there is no element 's'"):
        m["s"]
    m.force("bob", "bob", (0, 0, 1))
    with pytest.raises(madi.InputError, match=r"2 elements are called 'bob'.*body bob.*force bob"):
        m["bob"]


def test_the_tire_s_law_says_what_it_is():
    m = pendulum()
    with pytest.raises(madi.InputError, match="'smooth'"):
        m.tire("t", "bob", (0, 0, 0), (0, 1, 0), 0.3, 1e5, law="linear")


# ---- rotors, stops, wheels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_armature_adds_to_the_diagonal(seed):
    """M + diag(armature), and what follows from it by a dense solution, in all formulations and lives."""
    from tests.mechanisms import random_tree

    rng = np.random.default_rng(seed)
    m = random_tree(rng, 6, moving=False)
    bare = m.build()
    for joint in m.joints:
        if joint.kind in ("revolute", "prismatic", "screw"):
            joint.armature = float(rng.uniform(0.1, 2.0))
    s = m.build()
    rotor = np.zeros(s.nv)
    for joint in m.joints:
        rotor[s.v_slice(joint.name)] = joint.armature
    q, v, tau = s.q0, rng.normal(size=s.nv), rng.normal(size=s.nv)
    np.testing.assert_allclose(s.mass_matrix(q), bare.mass_matrix(q) + np.diag(rotor), rtol=1e-12)
    bias = bare.inverse_dynamics(q, v, np.zeros(s.nv))
    wanted = np.linalg.solve(bare.mass_matrix(q) + np.diag(rotor), tau - bias)
    for formulation in ("recursive", "articulated", "velocity-transform"):
        for engine in ("plain", "jit", "compiled"):
            found = s.forward_dynamics(q, v, tau, formulation=formulation, engine=engine)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.inverse_dynamics(q, v, wanted), tau, rtol=1e-9, atol=1e-9)
    assert s.energy(q, v)["kinetic"] == pytest.approx(bare.energy(q, v)["kinetic"] + 0.5 * rotor @ v**2, rel=1e-12)


def test_armature_in_cartesian_coordinates_loops_and_files(tmp_path):
    m = far_four_bar((0, 0, 0))
    m["A"].armature = 0.3
    m["B"].armature = 0.05
    m.joint_torque("motor", "A", lambda t: 2.0 * np.sin(3 * t))
    back = madi.load(m.save(tmp_path / "m.yaml"))
    assert back["A"].armature == 0.3
    common = {"rtol": 1e-9, "times": [0.5, 1.0], "reactions": ["A", "D"], "engine": "jit"}
    ways = [(m, {}), (back, {}), (m, {"formulation": "cartesian"}), (m, {"loops": "svd"})]
    runs = [madi.simulate(model, 1.0, **common, **options) for model, options in ways]
    for run in runs[1:]:
        for name in ("A", "energy", "A.fx", "A.my", "D.fz"):
            np.testing.assert_allclose(run[name], runs[0][name], atol=1e-6)
    energy = madi.simulate(m, 1.0, rtol=1e-10, engine="jit")
    work = np.trapezoid(energy["power"], energy.data["time"].values)
    np.testing.assert_allclose(energy["energy"][-1] - energy["energy"][0], work, rtol=1e-4)


def test_a_rotor_alone_is_inertia_enough():
    m = madi.Model("motor")
    m.body("hand", 0.0)
    m.revolute("A", m.ground, "hand", at=(0, 0, 0), axis=(0, 0, 1), armature=0.5)
    assert m.build().forward_dynamics([0], [0], [2.0]) == pytest.approx([4.0])
    m.replace("A", armature=-1.0)
    with pytest.raises(madi.ModelError, match="armature"):
        m.build()


@pytest.mark.parametrize("options", [{"rtol": 1e-8}, {"rtol": 1e-7, "method": "radau"}, {"step": 1e-4, "method": "newmark"}])
def test_stops_begin_at_zero_and_give_the_energy_back(options):
    """Without damping a wheel between two stops comes back as fast as it went, and swings in them by the closed form."""
    m = madi.Model("stops", gravity=(0, 0, 0))
    m.body("wheel", 1.0, inertia=(0.2, 0.2, 0.2))
    m.revolute("A", m.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), v0=3.0)
    m.stop("stop", "A", -0.5, 0.5, damping=0.0)
    run = madi.simulate(m, 2.0, engine="jit", times=np.linspace(0, 2, 2001), **options)
    assert np.max(np.abs(run["A"])) == pytest.approx(0.5 + 3.0 * 0.01, abs=2e-4)  # v sqrt(I / k), k = I / 0.01^2
    np.testing.assert_allclose(run["energy"], 0.5 * 0.2 * 9.0, rtol=2e-3)
    m.replace("stop", damping=1.0)
    damped = madi.simulate(m, 2.0, engine="jit", **options)
    assert damped["energy"][-1] < 0.7 * damped["energy"][0]
    assert np.max(damped["stop"] * np.sign(damped["A"])) <= 1e-9  # it never pulls


def test_a_wheel_with_camber_and_toe_is_in_balance():
    """Free in space it spins about its own axis: a wheel drawn with camber and toe does not wobble (Euler)."""
    car = Car("car", mass=800.0, inertia=(300, 1000, 1200), com=(0, 0, 0.5))
    hard = {"pivot_inner": (0.4, 0.3, 0.3), "pivot_outer": (0.4, 0.6, 0.3), "spring_top": (0, 0.5, 0.7),
            "spring_bottom": (0.1, 0.5, 0.3), "wheel_centre": (0, 0.7, 0.3)}  # fmt: skip
    car.trailing_arm("rear", hard, stiffness=2e4, damping=1e3)
    car.wheels("rear", 15.0, (0.5, 0.8, 0.5), camber=0.03, toe=0.02)
    for body in car.model.bodies:
        if body.name.endswith("wheel"):
            joint = next(j for j in car.model.joints if j.child in (body, body.name))
            axis = np.asarray(joint.axes[0]) / np.linalg.norm(joint.axes[0])
            np.testing.assert_allclose(np.asarray(body.inertia) @ axis, 0.8 * axis, atol=1e-12)
            across = np.cross(axis, (1, 0, 0))
            np.testing.assert_allclose(np.asarray(body.inertia) @ across, 0.5 * across, atol=1e-12)


# ---- counters, engines ------------------------------------------------------------------------------------------------


def test_statics_of_a_gram_beside_a_ton():
    m = madi.Model("car")
    m.body("car", 1500.0, inertia=(500, 1500, 1500), position=(0, 0, 1))
    m.prismatic("z", m.ground, "car", at=(0, 0, 1), axis=(0, 0, 1))
    m.joint_spring("suspension", "z", stiffness=8e4)
    m.body("sensor", 1e-4, inertia=(1e-9, 1e-9, 1e-9), position=(0, 0, 1.5))
    m.prismatic("mount", "car", "sensor", at=(0, 0, 1.5), axis=(0, 0, 1))
    m.joint_spring("rubber", "mount", stiffness=1e5)
    rest = madi.statics(m)
    np.testing.assert_allclose(rest.q, [-9.81 * 1500.0001 / 8e4, -9.81 * 1e-4 / 1e5], rtol=1e-8)


def test_statics_that_fail_hand_back_the_nearest():
    m = pendulum(q0=0.5)
    m.torque("too much", "bob", (0, -20.0, 0))
    with pytest.raises(madi.RunError, match=r"Farthest from balance is joint 'A'") as caught:
        madi.statics(m)
    assert caught.value.equilibrium.q.shape == (1,)


def test_statics_of_what_cannot_move_gives_its_loads():
    """A three-hinged frame: by the method of joints half the weight each side, and the thrust that closes the triangle."""
    m = madi.Model("frame")
    m.body("left", 10.0, inertia=(1, 1, 1), position=(0.5, 0, 0.5))
    m.body("right", 10.0, inertia=(1, 1, 1), position=(1.5, 0, 0.5))
    m.revolute("A", m.ground, "left", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "left", "right", at=(1, 0, 1), axis=(0, 1, 0))
    m.revolute("C", m.ground, "right", at=(2, 0, 0), axis=(0, 1, 0))
    load = madi.statics(m).reactions(["A"])["A"].force
    np.testing.assert_allclose(load, [98.1 * 0.5, 0, 98.1], atol=1e-8)


def test_auto_weighs_what_compiling_takes_here(monkeypatch, tmp_path):
    from madi.engines import choice, compiler

    s = rssr.model("body").build()
    method = prepare(s, 1.0, rtol=1e-6, engine="jit").method
    monkeypatch.setattr(choice, "instructions", lambda *_: 50_000)
    monkeypatch.setattr(compiler, "is_trusted", lambda: True)
    from madi.engines import cache, jit

    monkeypatch.setattr(cache, "is_sealed", lambda path: False)
    monkeypatch.setattr(jit, "is_made", lambda piece: True)
    for seconds, wanted in ((1.0, "compiled"), (200.0, "jit")):
        monkeypatch.setattr(compiler, "seconds_for", lambda lines, seconds=seconds: seconds)
        assert choice.choose_engine(s, "auto", "recursive", 4.0, 1e-6, "projection", method) == wanted
