"""Models written and read back to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import madi
from madi.cli.models import NAMED, find_model
from madi.integrate import METHODS
from madi.integrate.method import Method
from madi.loops.methods import LOOP_METHODS, LoopMethod
from madi.papers import ralf
from madi.run.options import by_word
from madi.schema.read import loads
from madi.schema.write import document, to_yaml
from madi.verify import slider_crank, spin_up
from tests.mechanisms import close_loops, random_tree
from tests.schema.files import GOOD_RUNS, PENDULUM, again, every_element, same_arrays

TIRE = sorted((Path(__file__).parents[1] / "data" / "tires").glob("*.tir"))[0]
EXAMPLES = {
    **{name: lambda name=name: find_model(name) for name in NAMED},
    "ralf driven": lambda: ralf.model(actuators="driven"), "slider-crank": slider_crank.model, "spin-up": spin_up.model,
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_comes_back_to_the_last_bit(name):
    model = EXAMPLES[name]()
    back = again(model)
    same_arrays(model, back)
    assert to_yaml(document(back)) == to_yaml(document(model)), "writing again writes the same"


@pytest.mark.parametrize("seed", range(100))
def test_random_models_come_back_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)), moving=bool(seed % 3 == 0), reverse=0.3, forces=True)
    if seed % 2:
        close_loops(model, rng, 1)
    same_arrays(model, again(model))


def test_every_element_comes_back_to_the_last_bit():
    model = every_element()
    back = again(model)
    same_arrays(model, back)
    assert {**back.run, "method": "rk4"} == {**model.run, "method": "rk4"}
    assert back.run["method"] == "rk4", "where there is nothing to say, the word alone is written"
    assert back.adjustables == model.adjustables


def test_a_relaxed_magic_tire_keeps_its_states():
    m = madi.Model("wheel")
    wheel = m.body("wheel", 20.0, inertia=(0.5, 1, 0.5), position=(0, 0, 0.3))
    m.free("wheel", m.ground, wheel, v0=(10, 0, 0, 0, 33, 0))
    m.magic_tire("tire", wheel, at=(0, 0, 0.3), axis=(0, 1, 0), tir=TIRE, relaxation=True)
    m.body("last", 1.0, inertia=(1, 1, 1))
    m.revolute("last", m.ground, "last", at=(0, 0, 0), axis=(0, 1, 0))
    same_arrays(m, again(m))


def test_a_function_that_is_no_expression_is_told_when_saving(tmp_path):
    m = loads(PENDULUM)
    m.force("f", "bob", lambda t: (1.0 if t > 1 else 0.0, 0, 0))
    with pytest.raises(madi.InputError, match="force 'f': its function cannot be written as an expression"):
        m.save(tmp_path / "m.yaml")
    assert not list(tmp_path.iterdir()), "nothing half-written"


def test_looks_are_kept_and_meshes_stay_in_the_folder(tmp_path):
    m = loads(PENDULUM)
    m.visual("bob", "box", size=(0.1, 0.2, 0.3), color="#336699")
    m.visual(m.ground, "cylinder", size=(0.05, 0.4))
    (tmp_path / "bob.stl").write_text("solid bob\nendsolid bob\n")
    m.visual("bob", "mesh", file=tmp_path / "bob.stl", scale=0.001)
    back = madi.load(m.save(tmp_path / "m.yaml"))
    assert [v.kind for v in back.bodies[0].visuals] == ["box", "mesh"]
    assert [v.kind for v in back.ground.visuals] == ["cylinder"]
    assert back.bodies[0].visuals[0].color == "#336699"
    assert back.bodies[0].visuals[1].scale == 0.001
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(madi.InputError, match="copy it there"):
        m.save(tmp_path / "elsewhere" / "m.yaml")
    with pytest.raises(madi.InputError, match="a sphere needs size: 1 number"):
        m.visual("bob", "sphere", size=(1, 2))


def spring_model():
    m = madi.Model("m")
    body = m.body("b", 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    m.revolute("A", m.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    return m


def test_functions_with_conditions_and_remainders_come_back():
    m = spring_model()
    m.force("F", "b", lambda t: ((t > 1) * 100.0, t % 2.0, 100.0 * madi.atan2(t, 2.0)))
    same_arrays(m, again(m))


@pytest.mark.parametrize("name", ['a"b', "A²", "x y", "12", "é", "it's", "q(1)", "null", "1e5", "-", "# no", "a: b"])
def test_names_that_look_like_something_else_come_back(name):
    m = madi.Model(name)
    body = m.body(name, 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    m.revolute(name, m.ground, body, at=(0, 0, 0), axis=(0, 1, 0), q0=[0.2])
    m.joint_torque(f"torque of {name}", name, lambda t, q, v: -q[0] * v[0])
    m.lock(name)
    back = again(m)
    same_arrays(m, back)
    assert back.name == name
    assert back.bodies[0].name == name


def test_elements_changed_after_drawing_are_written_as_they_are():
    m = spring_model()
    two = m.body("c", 1.0, inertia=(1, 1, 1), position=(0, 1, -1))
    m.revolute("B", m.ground, two, at=(0, 1, 0), axis=(0, 1, 0))
    gear = m.gear("g", "A", "B", (1.0, 3.0))
    same_arrays(m, again(m))
    gear.parameters["offset"] = 0.25
    same_arrays(m, again(m))
    gear.parameters["offset"], gear.parameters["ratio"] = 0.0, 1.7
    same_arrays(m, again(m))
    beam = spin_up.model()
    beam.bodies[0].position = (0.0, 0.0, 0.5)
    beam.joints[0].at = (0.0, 0.0, 0.5)
    same_arrays(beam, again(beam))


def chosen(run):
    """Method and loop method of a `run:`, as objects."""
    return (by_word(run.get("method", "rk4"), "method", Method, METHODS),
            by_word(run.get("loops", "projection"), "loops", LoopMethod, LOOP_METHODS))  # fmt: skip


@pytest.mark.parametrize("run", GOOD_RUNS)
def test_methods_and_loop_methods_with_options_come_back(run):
    m = loads(f"{PENDULUM}run: {run}\n")
    back = again(m)
    assert chosen(back.run) == chosen(m.run)
    assert again(back).run == back.run
    assert to_yaml(document(back)) == to_yaml(document(m))


@pytest.mark.parametrize("given, written", [
    ({"method": madi.Newmark(iterations=2, jacobian="step")},
     {"method": {"newmark": {"iterations": 2, "jacobian": "step"}}}),
    ({"method": madi.Newmark()}, {"method": "newmark"}), ({"method": {"newmark": {"gamma": 0.5}}}, {"method": "newmark"}),
    ({"method": madi.CVODE(feedback=(3.0, 4.0))}, {"method": {"cvode": {"feedback": [3.0, 4.0]}}}),
    ({"method": madi.Adams(order=5, first_step=1e-3)}, {"method": {"abm": {"first_step": 1e-3, "order": 5}}}),
    ({"loops": madi.Baumgarte(20, 10)}, {"loops": {"baumgarte": {"alpha": 20}}}),
    ({"loops": madi.QR(weighting="none", closing=1e-6)}, {"loops": {"qr": {"closing": 1e-6, "weighting": "none"}}}),
    ({"loops": madi.Projection()}, {"loops": "projection"}),
], ids=str)  # fmt: skip
def test_objects_of_a_run_are_written_as_words_and_options(given, written, tmp_path):
    m = loads(PENDULUM)
    m.run = given
    assert document(m)["run"] == written
    back = madi.load(m.save(tmp_path / "m.yaml"))
    assert chosen(back.run) == chosen(given)


def test_a_file_s_method_is_the_run_s():
    m = loads(PENDULUM + "run: {duration: 0.2 s, step: 10 ms, method: {newmark: {iterations: 3, jacobian: step}}}\n")
    assert m.run["method"] == {"newmark": {"iterations": 3, "jacobian": "step"}}
    method = madi.Newmark(iterations=3, jacobian="step")
    runs = [m.simulate(engine="jit"), madi.simulate(m, 0.2, step=0.01, method=method, engine="jit"),
            again(m).simulate(engine="jit"), madi.simulate(m, 0.2, step=0.01, method="newmark", engine="jit")]  # fmt: skip
    for run in runs[:3]:
        np.testing.assert_array_equal(run.data["q"].values, runs[0].data["q"].values)
        assert run.statistics["newton_iterations"] == 3 * run.statistics["steps"]
    assert runs[3].statistics["newton_iterations"] != runs[0].statistics["newton_iterations"]
