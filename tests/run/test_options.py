"""Options of a run: wrong ones are refused, and none outlives the run."""

import numpy as np
import pytest

import madi
from madi.run.simulate import prepare
from tests.mechanisms import four_bar, pendulum, pinned_bob


def test_options_of_a_run_do_not_stay_in_the_system():
    s = four_bar(q0=0.5, v0=1.0).build()
    q, v = s.start.q + [0, 1e-3, 0], s.start.v
    before = s.forward_dynamics(q, v, engine="jit")
    madi.simulate(s, 0.01, step=1e-3, loops="baumgarte", engine="jit")
    np.testing.assert_allclose(s.forward_dynamics(q, v, engine="jit"), before, rtol=1e-12)


@pytest.mark.parametrize("options, told", [
    ({"feedback": 5, "loops": "baumgarte"}, "two numbers"), ({"feedback": (1.0, 1.0)}, "leave it out"),
    ({"loops": "projektion"}, "pseudo-inverse"),
    ({"formulation": "cartesian", "loops": "augmented"}, "has loops='projection'"),
    ({"formulation": "articulated"}, "serves trees"),
])  # fmt: skip
def test_wrong_options_are_told(options, told):
    with pytest.raises(madi.InputError, match=told):
        madi.simulate(four_bar(v0=1.0), 0.1, step=1e-2, **options)
    with pytest.raises(madi.InputError, match="assembly_mode"):
        madi.assemble(four_bar(), assembly_mode=-1)
    with pytest.raises(madi.InputError, match="no coordinate 'nonsense'"):
        madi.assemble(four_bar(), pin=["nonsense"])


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


def test_a_model_s_own_run_gives_way_where_it_must():
    m = pendulum(q0=0.3)
    m.run = {"method": "radau", "rtol": 1e-4, "duration": 0.1}
    assert m.simulate(rtol=1e-6, engine="jit").statistics["method"] == "radau"
    assert m.simulate(step=0.01, engine="jit").statistics["method"] == "radau"
    m.run = {"method": "newmark", "step": 0.01, "jacobian": "step", "duration": 0.1}
    assert m.simulate(step=0.005, engine="jit").statistics["method"] == "newmark"
    assert m.simulate(rtol=1e-6, engine="jit").statistics["method"] == "dopri"


@pytest.mark.parametrize("options", [
    {"duration": -1}, {"duration": np.nan}, {"step": 0.0}, {"method": "euler"}, {"engine": "gpu"}, {"times": [2.0, 1.0]},
    {"times": [0.0, 99.0]}, {"rtol": 2.0}, {"method": "rk4"}, {"method": "dopri", "step": 0.1}, {"q0": [1, 2]},
    {"reactions": ["nothing"]}, {"duration": "ten"}, {"step": "short"}, {"times": "abc"}, {"rtol": "a"},
    {"q0": {"B": 1.0}}, {"loops": "none"}, {"formulation": "magic"}, {"frame": "moon"}, {"max_step": -1.0},
])  # fmt: skip
def test_bad_calls_are_input_errors(options):
    duration = options.pop("duration", 1.0)
    with pytest.raises(madi.InputError):
        madi.simulate(pinned_bob(), duration, **options)


def test_a_last_output_time_with_rounding_is_reached():
    for step in (1e-4, 0.3):
        run = madi.simulate(pinned_bob(), 1.0, step=step, times=[0.0, 1.0 + 5e-13])
        assert run.data["time"].values[-1] == 1.0
