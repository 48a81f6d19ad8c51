"""What nobody has asked for yet is computed when somebody does, and is what it would have been."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import madi
from madi.results import labelled, later, recorded, writing
from tests.mechanisms import four_bar, sprung_double_pendulum


@pytest.fixture
def in_pieces(monkeypatch):
    """Stretches of a few outputs, and runs that count as large."""
    monkeypatch.setattr(recorded, "ROOM", 500)
    monkeypatch.setattr(recorded, "FEWEST", 1)
    for module in (labelled, writing):
        monkeypatch.setattr(module, "LARGE", 10)


def spinning(rate, mass=1.0):
    m = madi.Model("wheel", gravity=(0, 0, 0))
    wheel = m.body("wheel", mass=mass, inertia=(0.1, 0.1, 0.2), position=(0.3, 0, 0))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), v0=rate)
    return m


def waiting(run):
    return {name for name, variable in run.arrays.data_vars.items() if variable.waiting is not None}


def test_only_what_is_asked_for_is_computed():
    run = madi.simulate(sprung_double_pendulum(), 0.2, step=0.01, engine="jit")
    before = waiting(run)
    assert {"position", "orientation", "energy", "force_value"} <= before
    assert not {"q", "v", "a"} & before
    run["a.x"]
    assert before - waiting(run) == {"position"}
    run["energy"]
    assert {"velocity", "orientation", "bryant"} <= waiting(run)


def test_stretches_are_one_run(in_pieces):
    """Poses, velocities and energies of a run in pieces are those of its states, asked of the System."""
    m = four_bar(q0=0.3, v0=1.0)
    run, s = madi.simulate(m, 0.2, step=0.01, engine="jit", reactions=["A"]), m.build()
    assert run.arrays.later().source.at_once <= 5
    q, v, a = (run.arrays[name].values for name in "qva")
    seen = s.observe(q, v, run["time"], a)
    for name in ("position", "velocity", "acceleration", "angular_velocity", "kinetic", "potential", "momentum"):
        np.testing.assert_allclose(run.arrays[name].values, getattr(seen, name), rtol=0, atol=1e-13, err_msg=name)
    loads = s.reactions(q, v, ["A"], t=run["time"])["A"]
    sure = run.arrays["reaction_determined"].values[0]
    found = np.hstack([run.arrays["reaction_force"].values[:, 0], run.arrays["reaction_moment"].values[:, 0]])
    np.testing.assert_allclose(found[:, sure], np.hstack([loads.force, loads.moment])[:, sure], atol=1e-8)


def test_turns_go_on_from_stretch_to_stretch(in_pieces):
    """Closed form: a wheel that turns at 7 rad/s for two seconds; its quaternion is (cos, 0, 0, sin) of half the angle."""
    run = madi.simulate(spinning(7.0), 2.0, step=0.01, engine="jit")
    half = 3.5 * run["time"]
    expected = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)
    np.testing.assert_allclose(run.data["orientation"].values[:, 0], expected, atol=1e-9)
    np.testing.assert_allclose(run["wheel.yaw"], 7.0 * run["time"], atol=1e-9)


def test_a_dataset_reads_what_is_asked_of_it(in_pieces):
    run, other = (madi.simulate(four_bar(q0=0.3, v0=1.0), 0.2, step=0.01, engine="jit", reactions=["A"]) for _ in range(2))
    other.arrays.compute()
    source = run.arrays.later()
    data = run.data
    assert not source.found
    assert data["position"].sel(body="coupler", axis="x").values.shape == (21,)
    assert set(source.found) == {"position"}
    assert data["velocity"][3:5, 1].values.shape == (2, 3)
    assert pickle.loads(pickle.dumps(data)).equals(other.data)
    assert copy.deepcopy(data).equals(other.data)
    assert data.equals(other.data)
    data["velocity"][0, 0, 0] = 5.0
    assert run["crank.vx"][0] == 5.0


@pytest.mark.parametrize("asked", [False, True])
def test_runs_are_pickled_copied_and_saved_whole(in_pieces, tmp_path, asked):
    run, other = (madi.simulate(four_bar(q0=0.3, v0=1.0), 0.2, step=0.01, engine="jit", reactions=["A"]) for _ in range(2))
    other.arrays.compute()
    if asked:
        run.data  # noqa: B018
    for same in (pickle.loads(pickle.dumps(run)), copy.deepcopy(run), copy.copy(run)):
        assert same.data.equals(other.data)
    run = madi.simulate(four_bar(q0=0.3, v0=1.0), 0.2, step=0.01, engine="jit", reactions=["A"])
    if asked:
        run.data  # noqa: B018
    read = madi.load_run(run.save(tmp_path / "run.nc"))
    assert read.data.drop_attrs().equals(other.data.drop_attrs())
    for name in other.data.data_vars:
        assert read.data[name].attrs == other.data[name].attrs, name
    assert set(read.data.coords) == set(other.data.coords)
    assert set(read.signals) == set(madi.load_run(other.save(tmp_path / "other.nc")).signals)


def test_fewer_digits_and_compression(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "ROOM", 50_000)
    monkeypatch.setattr(writing, "LARGE", 10)
    run = madi.simulate(four_bar(q0=0.3, v0=1.0), 2.0, step=1e-3, engine="jit")
    sizes = {}
    half = {"dtype": "float32"}
    for name, options in {"all": {}, "half": half, "small": {**half, "compression": True}}.items():
        path = run.save(tmp_path / f"{name}.nc", **options)
        sizes[name] = path.stat().st_size
        read, exact = madi.load_run(path), 2.0**-23 if options else 0.0
        for signal in ("A", "coupler.x", "coupler.vz", "energy", "violation"):
            np.testing.assert_allclose(read[signal], run[signal], rtol=exact, atol=exact * 1e-6, err_msg=signal)
    assert sizes["small"] < sizes["half"] < 0.7 * sizes["all"]
    with pytest.raises(madi.InputError, match="float64 or float32"):
        run.save(tmp_path / "x.nc", dtype="int8")
    with pytest.raises(madi.InputError, match=r"for \.nc files"):
        run.save(tmp_path / "x.csv", compression=True)


def test_a_run_that_stands_still_is_read_however_small_its_file(tmp_path, monkeypatch):
    """Declared sizes are limited by the file's (files.py): what was compressed to nothing must stay readable."""
    from madi.results import files

    for module in (files, writing):
        monkeypatch.setattr(module, "ROOM", 1000)
    run = madi.simulate(spinning(0.0), 20.0, step=1e-3, engine="jit")
    path = run.save(tmp_path / "still.nc", compression=True)
    assert not np.any(madi.load_run(path)["wheel.vx"])


def test_a_file_is_written_without_all_of_it_in_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(recorded, "ROOM", 50_000)
    monkeypatch.setattr(writing, "LARGE", 10)
    run = madi.simulate(four_bar(q0=0.3, v0=1.0), 10.0, step=1e-3, engine="jit")
    whole = sum(8 * np.prod(one.waiting.shape) for one in run.arrays.data_vars.values() if one.waiting is not None)
    tracemalloc.start()
    run.save(tmp_path / "run.nc")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * whole
    fresh = madi.simulate(four_bar(q0=0.3, v0=1.0), 0.01, step=1e-3, engine="jit")
    assert waiting(run) == waiting(fresh) - {"cut_q", "cut_v"}


def test_functions_in_python_are_asked_during_the_run_alone():
    """They may remember what they were asked."""
    asked = []

    def force(t):
        asked.append(t)
        return (float(len(asked) % 2), 0.0, 0.0)

    m = spinning(1.0)
    m.force("f", "wheel", madi.in_python(force), at=(0.3, 0, 0))
    run = madi.simulate(m, 0.1, step=0.01)
    before = len(asked)
    run["f.power"], run["wheel.x"]
    assert len(asked) == before


def test_what_waits_belongs_to_the_run_it_was_asked_of():
    """A System whose parameters are moved on does not change what a run of it says later."""
    from madi.run.simulate import prepare
    from madi.topology.parameters import parameters

    m = spinning(2.0)
    s = m.build().adjustable(parameters(m, ["wheel.mass"]))
    solver = prepare(s, 0.1, step=0.01, engine="jit")
    s.adjust(np.array([3.0]))
    solver.reset()
    solver.start(s.q0, s.v0)
    solver.run(False)
    run = solver.result()
    s.adjust(np.array([50.0]))
    inertia = 0.2 + 3.0 * 0.3**2  # about the axle
    np.testing.assert_allclose(run["kinetic"], 0.5 * inertia * 2.0**2, rtol=1e-12)


def test_one_pass_computes_a_family():
    passes = []

    class Counted(later.Later):
        def stretches(self, names):
            passes.append(list(names))
            return super().stretches(passes[-1])

    run = madi.simulate(spinning(1.0), 0.1, step=0.01, engine="jit")
    source = run.arrays.later()
    source.__class__ = Counted
    run["wheel.vx"], run["wheel.vy"], run["wheel.wz"], run["energy"], run["kinetic"]
    assert len(passes) == 2


UNITS = ("A", "B.v", "A.a", "a.x", "a.roll", "energy", "time", "A.fx", "A.force")


@pytest.mark.parametrize("through", ["run", "data", "file"])
def test_what_is_given_may_be_written_into(through, tmp_path):
    """In-place conversion to other units changes nothing else: the energies are those of the true states."""
    m, s = sprung_double_pendulum(), sprung_double_pendulum().build()
    options = {"step": 0.01, "engine": "jit", "reactions": ["A"], "start": ([0.7, -0.2], [0.0, 2.0])}
    run, same = (madi.simulate(m, 0.2, **options) for _ in range(2))
    if through == "data":
        _ = run.data
    elif through == "file":
        run = madi.load_run(run.save(tmp_path / "run.nc"))
    for name in UNITS:
        values = run[name]
        values *= 180 / np.pi
    for name in (*UNITS, "b.yaw", "kinetic", "A.fx_child"):
        np.testing.assert_array_equal(run[name], same[name], err_msg=name)
    truth = s.energy(same.arrays["q"].values, same.arrays["v"].values)["total"]
    np.testing.assert_allclose(run["energy"], truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("large", [False, True])
def test_what_others_are_computed_from_stays(large, request):
    """Through the arrays with names nothing can be written into the states, through the Dataset into a copy of them."""
    if large:
        request.getfixturevalue("in_pieces")
    m = four_bar(q0=0.3, v0=1.0)
    run, same = (madi.simulate(m, 0.2, step=0.01, engine="jit", reactions=["A"]) for _ in range(2))
    for name in ("q", "v", "a", "time", "multiplier"):
        with pytest.raises(ValueError, match="read-only"):
            run.arrays[name].values[...] *= 2.0
    for name in ("q", "v", "a", "multiplier"):
        values = run.data[name].values
        values *= 2.0
        np.testing.assert_array_equal(run.data[name].values, 2.0 * same.arrays[name].values)
    for name in ("energy", "driving_force", "position", "reaction_force"):
        if name in same.arrays:
            np.testing.assert_array_equal(run.data[name].values, same.arrays[name].values, err_msg=name)


def test_a_function_kept_of_many_runs_may_write_too():
    m, start = sprung_double_pendulum(), ([0.7, -0.2], [0.0, 2.0])

    def swing(run):
        angle = run["A"]
        angle *= 180 / np.pi
        return run["energy"][-1]

    keep = {"e": swing, "again": swing, "q": "q", "last": "last(energy)"}
    many = madi.simulate_many(m, {"gravity.z": [-9.81, -9.0]}, 0.1, step=0.01, start=start, keep=keep)
    one = madi.simulate(m, 0.1, step=0.01, start=start)
    np.testing.assert_allclose(many["q"].values[0], one.data["q"].values, atol=1e-12)
    for name in ("e", "again", "last"):
        np.testing.assert_allclose(many[name].values[0], one["energy"][-1], atol=1e-11, err_msg=name)
