"""Many runs at once: each is its single run; failures and wrong batches."""

import numpy as np
import pytest

import madi
from madi.topology.parameters import changed
from tests.mechanisms import double_pendulum, four_bar_in_space, sprung_double_pendulum


def test_many_runs_of_a_drive_that_jumps():
    m = double_pendulum((0, 0, 0))
    m.drive("B", lambda t: madi.where(t < 0.3, 0.0, 0.7 * (t - 0.3)))
    times = [0.0, 0.125, 0.25, 0.375, 0.5]
    found = madi.simulate_many(m, {"upper.mass": [1.0, 2.0]}, 0.5, rtol=1e-8, times=times)
    assert list(found["time"].values) == times
    alone = madi.simulate(m, 0.5, rtol=1e-8, times=times, engine="jit")
    np.testing.assert_allclose(found["q"].values[0], alone.data["q"].values, atol=1e-9)


@pytest.mark.parametrize("engine", ["jit", "compiled"])
@pytest.mark.parametrize("method", ["rk4", "newmark"])
def test_a_batch_is_its_single_runs(engine, method):
    m = sprung_double_pendulum()
    rng = np.random.default_rng(3)
    values = {"a.mass": rng.uniform(0.5, 2, 7), "s.stiffness": rng.uniform(1, 9, 7), "B.at.z": rng.uniform(-1.3, -0.8, 7)}
    starts = {"A": rng.uniform(-1, 1, 7)}
    found = madi.simulate_many(m, values, 0.4, start=(starts, None), step=0.01, method=method, engine=engine, workers=2)
    assert dict(found.sizes) == {"run": 7, "time": 41, "coordinate": 2, "speed": 2}
    assert not found["message"].values.any()
    np.testing.assert_array_equal(found["a.mass"].values, values["a.mass"])
    for k in (0, 3, 6):
        drawn = changed(m, {name: float(v[k]) for name, v in values.items()})
        run = madi.simulate(drawn, 0.4, start=({"A": starts["A"][k]}, None), step=0.01, method=method, engine="jit")
        np.testing.assert_allclose(found["q"].values[k], run.data["q"].values, atol=1e-12)


def test_same_numbers_under_other_names_are_another_model():
    """Compiled code is kept by what its parameters move, not by what they are called."""
    found = []
    for names in ("ab", "ba"):
        m = madi.Model("names", gravity=(0, 0, 0))
        for k, name in enumerate(names):
            m.body(name, 1.0 + k, inertia=(1, 1, 1))
            m.prismatic(f"p{k}", m.ground, name, at=(0, 0, 0), axis=(1, 0, 0), q0=0.1)
            m.joint_spring(f"s{name}", f"p{k}", stiffness=100.0)
        found.append(madi.simulate_many(m, {"sa.stiffness": [100.0, 400.0]}, 0.5, step=0.01, engine="compiled"))
    for k, batch in enumerate(found):
        w = np.sqrt(400.0 / (1.0 + k))
        assert batch["q"].values[1, -1, k] == pytest.approx(0.1 * np.cos(0.5 * w), abs=1e-5)


def test_batches_with_loops_failures_and_other_results():
    m = four_bar_in_space()
    found = madi.simulate_many(m, {"crank.mass": [1.0, 1.5]}, 0.1, step=1e-3, method="generalized-alpha",
                               keep=("q", "position", "energy"), engine="jit")  # fmt: skip
    assert found["position"].sizes == {"run": 2, "time": 101, "body": 3, "axis": 3}
    run = madi.simulate(changed(m, {"crank.mass": 1.5}), 0.1, step=1e-3, method="generalized-alpha", engine="jit")
    np.testing.assert_allclose(found["q"].values[1], run.data["q"].values, atol=1e-9)
    # run 1 blows up, run 2 goes on
    m = sprung_double_pendulum()
    found = madi.simulate_many(
        m, {"s.stiffness": [5.0, 1e9, 6.0]}, 0.5, step=0.01, method="rk4", start=({"B": 0.5}, None), engine="jit"
    )
    assert "beyond all bounds" in str(found["message"].values[1])
    assert not found["message"].values[[0, 2]].any()
    assert np.isnan(found["q"].values[1, -1]).all()
    assert np.isfinite(found["q"].values[[0, 2]]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: madi.simulate_many(m), "at least one list"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2], "b.mass": [1, 2, 3]}), "different lengths"),
        (lambda m: madi.simulate_many(m, {"a.mass": ["x"]}), "must be a list of numbers"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, np.nan]}), "not finite"),
        (lambda m: madi.simulate_many(m, ["a.mass"]), "give parameters as"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, workers=-1), "from 1 on"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, keep="wrong", step=0.1), "there is no 'wrong'"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, method="ida"), "one at a time"),
        (lambda m: madi.realtime(m, step=1e-3, method="dopri"), "chooses its own steps"),
        (lambda m: madi.realtime(m, step=1e-3, duration="long"), "duration='long'"),
    ],
)
def test_wrong_batches_are_told(call, message):
    with pytest.raises(madi.InputError, match=message):
        call(sprung_double_pendulum())


def test_a_negative_mass_in_a_batch_is_a_defect():
    with pytest.raises(madi.ModelError, match="mass"):
        madi.simulate_many(sprung_double_pendulum(), {"a.mass": [1.0, -5.0]}, 0.1, step=0.01)


def test_a_solver_that_runs_again_calls_what_it_was_given_last():
    """Functions are connected anew for each run: machine code must not go on with the addresses of the last."""
    from madi.run.simulate import prepare

    s = sprung_double_pendulum().build()
    for options in ({"step": 0.01}, {"step": 0.01, "method": "newmark"}):
        solver, found = prepare(s, 0.2, engine="jit", **options), []
        for _ in range(3):
            solver.reset()
            solver.start(s.q0, s.v0)
            assert solver.run(False) == 0
            found.append(solver.memory.outputs.q_out.copy())
            table = dict(zip(solver.memory.fields, solver.memory.table, strict=True))
            for name, part in solver.memory.parts().items():
                assert table[name] == part.table.ctypes.data, name
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_array_equal(found[2], found[0])


def crank_rocker(**given):
    """A four-bar in the plane whose crank starts where it is told."""
    m = madi.Model("crank and rocker", gravity=(0, 0, -9.81))
    for name, x, z in (("crank", 0.0, 0.25), ("coupler", 0.75, 0.75), ("rocker", 1.5, 0.5)):
        m.body(name, 1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0, z))
    m.revolute("A", m.ground, "crank", at=(0, 0, 0), axis=(0, 1, 0), **given)
    m.revolute("B", "crank", "coupler", at=(0, 0, 0.5), axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=(1.5, 0, 1.0), axis=(0, 1, 0), cut=True)
    m.revolute("D", m.ground, "rocker", at=(1.5, 0, 0), axis=(0, 1, 0))
    return m


@pytest.mark.parametrize("engine", ["jit", "plain"])
def test_loops_that_moved_points_tear_open_are_closed_where_single_runs_start(engine, monkeypatch):
    """In the compiled loop, without Python."""
    from madi.run.slice import Slices

    m = crank_rocker(q0=0.8, v0=2.0)
    values = {"D.at.x": np.linspace(1.3, 1.7, 4), "B.at.z": np.linspace(0.4, 0.6, 4)}
    asked = []
    monkeypatch.setattr(Slices, "_assemble", lambda self, k, q, v: asked.append(k))
    found = madi.simulate_many(m, values, 0.05, step=0.01, engine=engine, workers=1)
    assert not asked
    for k in range(4):
        alone = madi.simulate(changed(m, {name: float(v[k]) for name, v in values.items()}), 0.05, step=0.01, engine=engine)
        np.testing.assert_allclose(found["q"].values[k], alone.data["q"].values, atol=1e-9)
        np.testing.assert_allclose(found["v"].values[k], alone.data["v"].values, atol=1e-8)
        assert found["q"].values[k, 0, 0] == 0.8


def test_starts_of_their_own_with_loops(monkeypatch):
    """The crank anywhere in its turn: it is led there from the drawing, as `assemble` does; what cannot be there is told."""
    from madi.run.slice import Slices

    m, python = crank_rocker(), Slices._assemble
    starts = {"A": np.array([-2.9, -1.0, 0.0, 0.5, 2.0, 3.1])}
    asked = []
    monkeypatch.setattr(Slices, "_assemble", lambda self, k, q, v: asked.append(k) or python(self, k, q, v))
    found = madi.simulate_many(
        m, {"rocker.mass": np.linspace(1, 2, 6)}, 0.02, start=(starts, {"A": np.full(6, 1.5)}), step=0.01
    )
    assert not asked
    s = m.build()
    for k, angle in enumerate(starts["A"]):
        right = s.assemble({"A": angle}, {"A": 1.5})
        np.testing.assert_allclose(found["q"].values[k, 0], right.q, atol=1e-10)
        np.testing.assert_allclose(found["v"].values[k, 0], right.v, atol=1e-9)
    found = madi.simulate_many(m, {"B.at.z": [0.5, 3.0, 0.6]}, 0.02, start=({"A": [0.1, -1.57, 0.3]}, None), step=0.01)
    assert asked == [1]
    assert list(found["cause"].values) == ["", "loops cannot be closed", ""]
    assert np.isfinite(found["q"].values[[0, 2]]).all()


def test_extremes_of_named_elements_are_looked_at():
    """The others are as they were; what the named ones do to the whole is told too."""
    m = sprung_double_pendulum()
    for name, value, told in (
        ("a.mass", -1.0, "mass"),
        ("b.mass", 0.0, "inertia without mass"),
        ("a.inertia.x", -3.0, "inertia"),
    ):
        with pytest.raises(madi.ModelError, match=told):
            madi.simulate_many(m, {name: [1.0, value]}, 0.1, step=0.01)
    point = madi.Model("a point mass on an arm")
    bob = point.body("bob", 1.0, position=(1, 0, 0))
    point.revolute("pin", point.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(madi.ModelError, match="nothing with inertia"):
        madi.simulate_many(point, {"pin.at.x": [0.0, 1.0]}, 0.1, step=0.01)
    assert changed(m, {"a.mass": 7.0}).bodies[1] is m.bodies[1]
    assert m.bodies[0].mass != 7.0
