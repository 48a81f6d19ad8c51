"""Options of a run: wrong ones are refused, and none outlives the run."""

import re

import numpy as np
import pytest

import madi
from madi.integrate import METHODS
from madi.loops.methods import LOOP_METHODS
from madi.run.options import MOVED
from madi.run.simulate import prepare
from tests.mechanisms import double_pendulum, four_bar, pendulum, pinned_bob


def test_options_of_a_run_do_not_stay_in_the_system():
    s = four_bar(q0=0.5, v0=1.0).build()
    q, v = s.start.q + [0, 1e-3, 0], s.start.v
    before = s.forward_dynamics(q, v, engine="jit")
    madi.simulate(s, 0.01, step=1e-3, loops="baumgarte", engine="jit")
    np.testing.assert_allclose(s.forward_dynamics(q, v, engine="jit"), before, rtol=1e-12)


@pytest.mark.parametrize("options, told", [
    ({"loops": {"baumgarte": 5}}, "give the options of 'baumgarte' as"), ({"loops": "projektion"}, "pseudo-inverse"),
    ({"loops": {"baumgarte": {}, "qr": {}}}, "choose one of projection"),
    ({"loops": madi.RK4()}, "choose one of projection"),
    ({"method": madi.QR}, "choose one of rk4"), ({"method": ["rk4"]}, "choose one of rk4"),
    ({"formulation": "cartesian", "loops": "augmented"}, "'augmented'.*'cartesian'"),
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
        prepare(s, 1.0, loops=madi.Baumgarte(50.0, 50.0), engine=engine, rtol=5)
    np.testing.assert_array_equal(s.forward_dynamics(q, v, engine=engine), before)
    madi.simulate(s, 0.01, loops=madi.Augmented(alpha=50.0, beta=50.0), engine=engine, times=[0.01])
    np.testing.assert_array_equal(s.forward_dynamics(q, v, engine=engine), before)


@pytest.mark.parametrize("options, told", [
    ({"step": 0.01, "rtol": 1e-8}, "rtol.*no use"), ({"step": 0.01, "atol": 1e-8}, "atol.*no use"),
    ({"step": 0.01, "method": "newmark", "max_step": 0.1}, "max_step.*no use"),
    ({"step": 0.01, "method": "newmark", "loops": "qr"}, "leave `loops` out"),
    ({"step": 0.01, "method": madi.Newmark(), "loops": madi.Baumgarte(1.0, 1.0)}, "leave `loops` out"),
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
    m.run = {"method": {"newmark": {"jacobian": "step"}}, "step": 0.01, "duration": 0.1}
    assert m.simulate(step=0.005, engine="jit").statistics["method"] == "newmark"
    assert m.simulate(rtol=1e-6, engine="jit").statistics["method"] == "dopri"


@pytest.mark.parametrize("options", [
    {"duration": -1}, {"duration": np.nan}, {"step": 0.0}, {"method": "euler"}, {"engine": "gpu"}, {"times": [2.0, 1.0]},
    {"times": [0.0, 99.0]}, {"rtol": 2.0}, {"method": "rk4"}, {"method": "dopri", "step": 0.1}, {"start": ([1, 2], None)},
    {"reactions": ["nothing"]}, {"duration": "ten"}, {"step": "short"}, {"times": "abc"}, {"rtol": "a"},
    {"start": ({"B": 1.0}, None)}, {"loops": "none"}, {"formulation": "magic"}, {"frame": "moon"}, {"max_step": -1.0},
])  # fmt: skip
def test_bad_calls_are_input_errors(options):
    duration = options.pop("duration", 1.0)
    with pytest.raises(madi.InputError):
        madi.simulate(pinned_bob(), duration, **options)


def test_a_last_output_time_with_rounding_is_reached():
    for step in (1e-4, 0.3):
        run = madi.simulate(pinned_bob(), 1.0, step=step, times=[0.0, 1.0 + 5e-13])
        assert run.data["time"].values[-1] == 1.0


# what options were called before they belonged to methods, loop methods, starts and checkpoints, and what they are now
OLD = {
    "gamma": "madi.Newmark(gamma=", "beta": "madi.Newmark(beta=",
    "spectral_radius": "madi.GeneralizedAlpha(spectral_radius=", "alpha": "madi.GeneralizedAlpha(alpha=",
    "iterations": "madi.Newmark(iterations=", "jacobian": "madi.Newmark(jacobian=", "order": "madi.Adams(order=",
    "first_step": "madi.DormandPrince(first_step=", "feedback": "madi.Baumgarte(alpha, beta)",
    "closing": "madi.Projection(closing=", "weighting": "madi.PseudoInverse(weighting=", "q0": "start=(q0, v0)",
    "v0": "start=(q0, v0)", "checkpoint_every": "madi.Checkpoint(file, every=",
    "resume": "madi.Checkpoint(file, resume=True)",
}  # fmt: skip
CALLS = {
    "simulate": lambda old: madi.simulate(pendulum(), 0.1, step=0.01, **old),
    "simulate_many": lambda old: madi.simulate_many(pendulum(), {"bob.mass": [1.0, 2.0]}, 0.1, step=0.01, **old),
    "export_c": lambda old: madi.export_c(pendulum(), "nowhere", step=0.01, **old),
    "simulate of a model": lambda old: pendulum().simulate(0.1, step=0.01, **old),
    "realtime": lambda old: madi.realtime(pendulum(), step=0.01, duration=0.1, **old),
}


@pytest.mark.parametrize("name", OLD)
@pytest.mark.parametrize("call", CALLS)
def test_an_option_s_old_name_is_answered_with_the_new_spelling(call, name):
    with pytest.raises(madi.InputError, match=rf"^\w+: {name}= is now .*{re.escape(OLD[name])}"):
        CALLS[call]({name: 1})


def test_every_option_that_moved_is_tested():
    assert set(OLD) == set(MOVED)


@pytest.mark.parametrize("call", CALLS)
def test_an_option_that_never_was_is_answered_with_those_there_are(call):
    with pytest.raises(madi.InputError, match=r"there is no option 'stepp'; there are step, .*method"):
        CALLS[call]({"stepp": 1})


def test_what_many_runs_and_timed_steps_cannot_do_is_refused():
    for call, name in (("simulate_many", "checkpoint"), ("realtime", "checkpoint"), ("realtime", "progress")):
        with pytest.raises(madi.InputError, match=f"there is no option '{name}'"):
            CALLS[call]({name: True})


def test_every_method_and_loop_method_has_a_name_in_madi():
    for method in (*METHODS.values(), *LOOP_METHODS.values()):
        assert getattr(madi, method.__name__) is method
        assert method.__name__ in madi.__all__


def same(runs):
    first = runs[0]
    for run in runs[1:]:
        assert run.statistics["method"] == first.statistics["method"]
        assert run.statistics.get("loops") == first.statistics.get("loops")
        for name in ("q", "v", "a"):
            np.testing.assert_array_equal(run.data[name].values, first.data[name].values)


@pytest.mark.parametrize("word", [name for name, method in METHODS.items() if method.outside is None])
def test_a_method_as_word_object_class_and_mapping_is_one_method(word):
    steps = {"rtol": 1e-6} if METHODS[word].fixed is None else {"step": 0.01}
    kind = METHODS[word]
    same([madi.simulate(pendulum(q0=0.4), 0.2, method=given, engine="jit", **steps)
          for given in (word, kind, kind(), {word: {}})])  # fmt: skip


@pytest.mark.parametrize("word", LOOP_METHODS)
def test_a_loop_method_as_word_object_class_and_mapping_is_one_method(word):
    kind, s = LOOP_METHODS[word], four_bar(v0=2.0).build()
    same([madi.simulate(s, 0.05, step=0.01, loops=given, engine="plain") for given in (word, kind, kind(), {word: {}})])


@pytest.mark.parametrize("given, options", [
    (madi.Newmark(gamma=0.6, beta=0.4, iterations=3, jacobian="once"),
     {"gamma": 0.6, "beta": 0.4, "iterations": 3, "jacobian": "once"}),
    (madi.GeneralizedAlpha(spectral_radius=0.5), {"spectral_radius": 0.5}),
    (madi.GeneralizedAlpha(alpha=0.2), {"alpha": 0.2}), (madi.Adams(order=3), {"order": 3}),
], ids=str)  # fmt: skip
def test_options_of_a_method_matter_and_can_be_given_as_a_mapping(given, options):
    runs = [madi.simulate(pendulum(q0=0.4), 0.2, step=0.01, method=method, engine="jit")
            for method in (given, {given.name: options}, given.name)]  # fmt: skip
    same(runs[:2])
    assert np.max(np.abs(runs[0].data["q"].values - runs[2].data["q"].values)) > 1e-12


@pytest.mark.parametrize("given, options", [
    (madi.Baumgarte(3.0, 7.0), {"alpha": 3.0, "beta": 7.0}),
    (madi.Augmented(alpha=3.0, beta=7.0, closing=1e-6), {"alpha": 3.0, "beta": 7.0, "closing": 1e-6}),
    (madi.Projection(closing=1e-4), {"closing": 1e-4}),
    (madi.PseudoInverse(weighting="none", closing=1e-6), {"weighting": "none", "closing": 1e-6}),
], ids=lambda given: getattr(given, "name", ""))  # fmt: skip
def test_options_of_a_loop_method_matter_and_can_be_given_as_a_mapping(given, options):
    s = four_bar(v0=3.0).build()
    runs = [
        madi.simulate(s, 0.5, step=0.01, loops=loops, engine="jit") for loops in (given, {given.name: options}, given.name)
    ]
    same(runs[:2])
    assert np.max(np.abs(runs[0].data["q"].values - runs[2].data["q"].values)) > 0.0


def test_first_steps_belong_to_every_adaptive_method():
    for kind in (madi.DormandPrince, madi.Adams, madi.Radau):
        runs = [madi.simulate(pendulum(q0=0.4), 0.2, rtol=1e-4, method=method, history=True, engine="jit")
                for method in (kind(first_step=1e-6), {kind.name: {"first_step": 1e-6}}, kind())]  # fmt: skip
        same(runs[:2])
        first = [run.data["step_size"].values[0] for run in runs]
        assert first[0] <= 1e-6 * (1 + 1e-9) < first[2]


def test_options_that_these_steps_have_no_use_for_are_refused():
    for kind in (madi.Adams, madi.Radau):
        with pytest.raises(madi.InputError, match=r"first_step=1e-06: with a step of 0\.01 s all steps have that length"):
            madi.simulate(pendulum(), 0.1, step=0.01, method=kind(first_step=1e-6))
    with pytest.raises(madi.InputError, match="order=3: it belongs to fixed steps"):
        madi.simulate(pendulum(), 0.1, method=madi.Adams(order=3))


@pytest.mark.parametrize("what, word", [("method", word) for word in METHODS] + [("loops", word) for word in LOOP_METHODS])
def test_an_option_that_a_method_does_not_have_is_refused_by_name(what, word):
    with pytest.raises(madi.InputError, match=rf"{what}: '{word}' has no option 'softly'"):
        madi.simulate(four_bar(), 0.1, **{what: {word: {"softly": 1}}})
    with pytest.raises(TypeError, match="softly"):
        {**METHODS, **LOOP_METHODS}[word](softly=1)


def test_what_options_there_are_is_told():
    with pytest.raises(madi.InputError, match=r"'newmark' has no option 'rho'; it has iterations, jacobian, gamma, beta"):
        madi.simulate(pendulum(), 0.1, step=0.01, method={"newmark": {"rho": 0.5}})
    with pytest.raises(madi.InputError, match=r"'baumgarte' has no option 'closing'; it has alpha, beta"):
        madi.simulate(four_bar(), 0.1, loops={"baumgarte": {"closing": 1e-6}})


@pytest.mark.parametrize("word", METHODS)
def test_what_a_method_is_is_no_option_of_it(word):
    """Its name, its loops and so on are not the user's to give."""
    for name in ("name", "fixed", "implicit", "closes", *([] if word == "abm" else ["order"])):
        with pytest.raises(madi.InputError, match=f"'{word}' has no option '{name}'"):
            madi.simulate(pendulum(), 0.1, method={word: {name: 3}})


@pytest.mark.parametrize("make, told", [
    (lambda: madi.Newmark(gamma=0.4), r"gamma=0\.4.*from 0\.5 to 1"), (lambda: madi.Newmark(gamma="soft"), "gamma 'soft'"),
    (lambda: madi.Newmark(beta=0.0), r"beta=0\.0"), (lambda: madi.Newmark(beta=np.nan), "beta nan"),
    (lambda: madi.Newmark(iterations=0), "iterations=0.*from 1 to 100"),
    (lambda: madi.Newmark(iterations=1.5), r"iterations=1\.5"),
    (lambda: madi.Newmark(iterations=True), "iterations=True"),
    (lambda: madi.Newmark(iterations=10**6), "iterations=1000000"),
    (lambda: madi.Newmark(jacobian="never"), "jacobian='never'.*iteration, step, slow, once"),
    (lambda: madi.Newmark(iterations=2, jacobian="slow"), "jacobian='slow'"),
    (lambda: madi.GeneralizedAlpha(spectral_radius=1.1), r"spectral_radius=1\.1.*from 0 to 1"),
    (lambda: madi.GeneralizedAlpha(spectral_radius=np.nan), "spectral_radius nan"),
    (lambda: madi.GeneralizedAlpha(alpha=0.5), r"alpha=0\.5.*from 0 to 0\.333"),
    (lambda: madi.GeneralizedAlpha(spectral_radius=0.5, alpha=0.1), "not both"),
    (lambda: madi.GeneralizedAlpha(iterations="two"), "iterations='two'"),
    (lambda: madi.Adams(order=1), "order=1.*2 to 5"), (lambda: madi.Adams(order=6), "order=6"),
    (lambda: madi.Adams(order="high"), "order='high'"), (lambda: madi.Adams(first_step=0.0), r"first_step=0\.0"),
    (lambda: madi.DormandPrince(first_step=-1.0), r"first_step=-1\.0.*> 0"),
    (lambda: madi.DormandPrince(first_step="short"), "first_step 'short'"),
    (lambda: madi.Radau(first_step=np.inf), "first_step inf"),
    (lambda: madi.Radau(first_step=True), "first_step True"),
    (lambda: madi.CVODE(feedback=5.0), r"feedback=5\.0.*two numbers"),
    (lambda: madi.CVODE(feedback=(1.0, -1.0)), "feedback"), (lambda: madi.Baumgarte(-1.0, 1.0), "two numbers >= 0"),
    (lambda: madi.Baumgarte("a", 1.0), "feedback 'a'"), (lambda: madi.Baumgarte(np.nan, 1.0), "feedback nan"),
    (lambda: madi.Augmented(alpha=-1.0), "two numbers >= 0"), (lambda: madi.Augmented(closing=1.0), "closing=1.0"),
    (lambda: madi.Projection(closing=0.0), r"closing=0\.0.*from 1e-13 to 0\.1"),
    (lambda: madi.Projection(closing="tight"), "closing"),
    (lambda: madi.QR(weighting="heavy"), "weighting='heavy'.*'mass' or 'none'"),
    (lambda: madi.QR(closing=np.nan), "closing nan"),
    (lambda: madi.Partition(weighting=1), "weighting=1"), (lambda: madi.SingularValues(closing=-1.0), "closing"),
    (lambda: madi.Checkpoint(5), "checkpoint=5"), (lambda: madi.Checkpoint("x", every=0.0), r"every=0\.0"),
])  # fmt: skip
def test_methods_reject_bad_values_as_soon_as_they_are_made(make, told):
    with pytest.raises(madi.InputError, match=told):
        make()


def test_methods_can_be_compared_and_not_changed():
    assert madi.Newmark(iterations=2) == madi.Newmark(iterations=2) != madi.Newmark()
    assert str(madi.Newmark(iterations=2)) == "newmark (iterations=2)"
    assert str(madi.Newmark()) == "newmark"
    with pytest.raises(AttributeError):
        madi.Newmark().gamma = 0.7


def test_a_start_is_a_pair_each_given_in_any_way_or_a_state():
    m = double_pendulum((0, 0, 0))
    s = m.build()
    q = s.q0 + [0.0, 0.3]
    v = np.array([0.0, -0.5])
    options = {"step": 0.01, "engine": "jit"}
    given = ((q, v), [list(q), list(v)], ({"B": float(q[1])}, {"B": -0.5}), (q, {"B": -0.5}), ({"B": float(q[1])}, v))
    same([madi.simulate(m, 0.1, start=start, **options) for start in given])
    same([madi.simulate(m, 0.1, start=start, **options) for start in (None, (None, None), (s.q0, s.v0), (s.q0, None))])
    same([madi.simulate(m, 0.1, start=start, **options) for start in ((None, v), (s.q0, v))])
    for wrong in (5.0, q, {"B": 0.3}, (q,), (q, v, v), "drawn"):
        with pytest.raises(madi.InputError, match=r"^start=.*give \(q0, v0\)|^[qv]0"):
            madi.simulate(m, 0.1, start=wrong, **options)


def test_an_assembly_and_an_equilibrium_are_starts():
    m = four_bar(v0=2.0)
    closed = madi.assemble(m, {"A": 0.7})
    run = madi.simulate(m, 0.05, step=0.01, start=closed, engine="jit")
    np.testing.assert_allclose(run.data["q"].values[0], closed.q, atol=1e-12)
    np.testing.assert_allclose(run.data["v"].values[0], closed.v, atol=1e-11)
    same([run, madi.simulate(m, 0.05, step=0.01, start=(closed.q, closed.v), engine="jit")])
    swing = pendulum(q0=0.4)
    rest = madi.statics(swing)
    still = madi.simulate(swing, 0.1, step=0.01, start=(rest.q, [0.0]), engine="jit")
    assert np.max(np.abs(still["A"] - rest.q[0])) < 1e-9


def test_starts_of_many_runs_and_of_exported_code(tmp_path):
    m = double_pendulum((0, 0, 0))
    found = madi.simulate_many(
        m, {"upper.mass": [1.0, 2.0]}, 0.1, step=0.01, start=({"B": [0.1, 0.2]}, {"A": 0.5}), workers=1
    )
    np.testing.assert_allclose(found["q"].values[:, 0, 1], [0.1, 0.2])
    np.testing.assert_allclose(found["v"].values[:, 0, 0], 0.5)
    madi.export_c(m, tmp_path, step=0.01, start=({"B": 0.125}, {"A": 0.75}))
    text = (tmp_path / "double_pendulum.c").read_text()
    assert "0.125" in text
    assert "0.75" in text


@pytest.mark.parametrize("engine", ["plain", "jit"])
@pytest.mark.parametrize("loops", [
    madi.Baumgarte(80.0, 80.0), madi.Augmented(alpha=80.0, beta=80.0, closing=1e-3), madi.Projection(closing=1e-2),
    madi.PseudoInverse(weighting="none"), madi.Partition(closing=1e-2),
], ids=lambda loops: loops.name)  # fmt: skip
def test_nothing_a_run_sets_survives_in_its_system(loops, engine):
    """Evaluations before and after, and a second run after another: feedback, tolerances, counters and directions are the
    run's own."""
    s = four_bar(q0=0.5, v0=1.0).build()
    q, v = s.start.q + [0, 1e-3, 0], s.start.v  # open loops: feedback would show
    before = s.forward_dynamics(q, v, engine=engine)
    usual = madi.simulate(s, 0.05, step=1e-2, engine=engine)
    first = madi.simulate(s, 0.05, step=1e-2, loops=loops, engine=engine)
    np.testing.assert_array_equal(s.forward_dynamics(q, v, engine=engine), before)
    again = madi.simulate(s, 0.05, step=1e-2, loops=loops, engine=engine)
    afterwards = madi.simulate(s, 0.05, step=1e-2, engine=engine)
    for one, two in ((first, again), (usual, afterwards)):
        same([one, two])
        for name in ("factorisations", "position_iterations", "velocity_iterations", "acceleration_iterations", "leaps",
                     "evaluations", "decompositions", "condition", "singular_times"):  # fmt: skip
            assert one.statistics.get(name) == two.statistics.get(name), name


def test_each_run_has_a_tally_and_options_of_its_own():
    s = four_bar(v0=2.0).build()
    one = prepare(s, 0.05, step=0.01, loops=madi.Baumgarte(3.0, 4.0), engine="jit")
    two = prepare(s, 0.05, step=0.01, engine="jit")
    assert one.run(False) == 0
    assert one.closing_engine.work.tally.asked > 0
    assert two.closing_engine.work.tally.asked == two.closing_engine.work.tally.factorisations == 0
    assert (one.options.feedback_rate, one.options.feedback_position) == (6.0, 16.0)
    assert (two.options.feedback_rate, two.options.feedback_position) == (0.0, 0.0)
    assert s.engine("jit").work.options.feedback_rate == 0.0
    assert s.engine("jit").work.tally.asked == 0


@pytest.mark.parametrize("method, made", [
    (None, 2), ("newmark", 2), ("generalized-alpha", 2), (madi.Newmark(iterations=3), 3),
    ({"newmark": {"iterations": 1}}, 1), (madi.Newmark(), 0),
], ids=str)  # fmt: skip
def test_real_time_makes_two_iterations_unless_it_is_told_otherwise(method, made, monkeypatch):
    from madi.run import pace

    solvers = []
    monkeypatch.setattr(pace, "prepare", lambda *given, **options: solvers.append(prepare(*given, **options)) or solvers[0])
    madi.realtime(pendulum(), step=0.01, duration=0.1, method=method, engine="plain")
    assert solvers[0].memory.iterations == made  # 0: until they converge
