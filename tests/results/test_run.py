"""Runs: names, units, poses, saving and loading, plots, choices of engine and output."""

import re

import numpy as np
import pytest

import madi


def double_pendulum():
    m = madi.Model("double pendulum")
    upper = m.body("upper", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0, 0, -0.5))
    lower = m.body("lower", mass=0.5, inertia=(0.05, 0.05, 0.01), position=(0, 0, -1.5))
    m.revolute("A", m.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), q0=1.0)
    m.revolute("B", upper, lower, at=(0, 0, -1), axis=(0, 1, 0), v0=0.5)
    m.joint_spring("k", "B", stiffness=2.0)
    return m


@pytest.fixture(scope="module")
def run():
    return madi.simulate(double_pendulum(), 1.0, step=1e-3, reactions=["B"])


def test_dataset_has_names_and_units(run):
    d = run.data
    assert list(d["coordinate"].values) == ["A", "B"]
    assert d["position"].dims == ("time", "body", "axis")
    assert d["orientation"].dims == ("time", "body", "quaternion")
    assert d["reaction_force"].dims == ("time", "joint", "axis")
    assert d["position"].attrs["units"] == "m"
    assert d["time"].attrs["units"] == "s"
    assert d.sizes["time"] == 1001
    assert d.attrs["model"] == "double pendulum"


def test_signals_by_name(run):
    d = run.data
    np.testing.assert_array_equal(run["A"], d["q"].sel(coordinate="A"))
    np.testing.assert_array_equal(run["B.v"], d["v"].sel(speed="B"))
    np.testing.assert_array_equal(run["lower.z"], d["position"].sel(body="lower", axis="z"))
    np.testing.assert_array_equal(run["B.fz"], d["reaction_force"].sel(joint="B", axis="z"))
    with pytest.raises(madi.InputError, match="no signal 'C'"):
        run["C"]


def test_poses_and_velocities_belong_together(run):
    t, x = run.data["time"].values, run["lower.x"]
    np.testing.assert_allclose(np.gradient(x, t)[5:-5], run["lower.vx"][5:-5], atol=1e-4)
    np.testing.assert_allclose(np.gradient(run["lower.vz"], t)[5:-5], run["lower.az"][5:-5], atol=2e-3)
    np.testing.assert_allclose(run["upper.x"], -0.5 * np.sin(run["A"]), atol=1e-12)
    np.testing.assert_allclose(run["lower.wy"], run["A.v"] + run["B.v"], atol=1e-12)
    q = run.data["orientation"].sel(body="lower").values
    angle = 2 * np.arctan2(q[:, 2], q[:, 0])
    np.testing.assert_allclose(np.sin(angle), np.sin(run["A"] + run["B"]), atol=1e-10)


def test_save_and_load(run, tmp_path):
    path = run.save(tmp_path / "out.nc")
    again = madi.load_run(path)
    assert list(tmp_path.iterdir()) == [path]
    np.testing.assert_array_equal(again.data["q"].values, run.data["q"].values)
    np.testing.assert_array_equal(again["B.fz"], run["B.fz"])
    assert again.statistics["method"] == "rk4"
    (tmp_path / "no.nc").write_text("nothing of the kind")
    with pytest.raises(madi.InputError, match=r"no\.nc"):
        madi.load_run(tmp_path / "no.nc")


def test_plot(run, tmp_path):
    from matplotlib.colors import to_rgb
    from PIL import Image

    figure = run.plot("A", "B", "lower.z", "energy", path=tmp_path / "plot.png")
    drawn = {line.get_label(): line for axis in figure.axes for line in axis.lines}
    assert set(drawn) == {"A", "B", "lower.z", "energy"}
    for name, line in drawn.items():
        np.testing.assert_array_equal(line.get_ydata(), run[name])
        np.testing.assert_array_equal(line.get_xdata(), run.data["time"].values)
    assert [axis.get_ylabel() for axis in figure.axes] == ["rad", "m", "J"]
    picture = np.asarray(Image.open(tmp_path / "plot.png").convert("RGB"))
    for line in drawn.values():  # each curve is in the picture, in its own colour
        colour = [round(255 * part) for part in to_rgb(line.get_color())]
        assert np.sum(np.all(np.abs(picture.astype(int) - colour) < 12, axis=2)) > 100


def test_engines_give_the_same_run(run):
    for engine in ("jit", "compiled"):
        other = madi.simulate(double_pendulum(), 1.0, step=1e-3, engine=engine)
        np.testing.assert_allclose(other.data["q"].values, run.data["q"].values, atol=1e-10)
        assert other.statistics["engine"] == engine


def test_what_is_in_the_cache_changes_nothing():
    """One machine, one model, one answer, to the last bit."""
    s = double_pendulum().build()
    before = madi.simulate(s, 0.1, step=1e-3)
    s.engine("compiled").load(s.formulation())
    after = madi.simulate(s, 0.1, step=1e-3)
    assert before.statistics["engine"] == after.statistics["engine"] == "jit"
    assert np.array_equal(before.data["q"].values, after.data["q"].values)


def test_recorded_reactions_are_those_of_the_state(run):
    s = double_pendulum().build()
    k = 700
    q, v = run.data["q"].values[k].copy(), run.data["v"].values[k].copy()
    load = s.reactions(q, v, ["B"])["B"]
    np.testing.assert_allclose(run.data["reaction_force"].values[k, 0], load.force, rtol=1e-9, atol=1e-9)


def test_locked_joint_stays():
    m = double_pendulum()
    m.lock("B")
    m.joints[1].q0 = 0.4  # its v0 of 0.5 does not matter any more
    run = madi.simulate(m, 1.0, step=1e-2)
    np.testing.assert_array_equal(run["B"], np.full(101, 0.4))
    energy = run["energy"]
    assert np.max(np.abs(energy - energy[0])) < 1e-5


def test_progress_line(capsys):
    madi.simulate(double_pendulum(), 3.0, step=1e-3, engine="jit", progress=True)
    told = capsys.readouterr().err
    assert re.search(r"double pendulum: .*\d+ %, \d+ s left", told)
    assert "\r" not in told  # no terminal reads it


def test_one_system_in_several_threads():
    from concurrent.futures import ThreadPoolExecutor

    from madi.bench.models import chain

    s = chain(60).build()
    rng = np.random.default_rng(0)
    states = [(rng.normal(size=60), rng.normal(size=60)) for _ in range(8)]
    alone = [s.forward_dynamics(q, v) for q, v in states]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda k: s.forward_dynamics(*states[k % 8]), range(800)))
    for k, a in enumerate(together):
        np.testing.assert_array_equal(a, alone[k % 8])


def test_power_closes_the_energy_balance():
    """d(energy)/dt = power - dissipated, with a drive, an applied torque, springs and dampers."""
    m = double_pendulum()
    m.drive("A", lambda t: 0.5 * madi.sin(4 * t))
    m.torque("t", "lower", lambda t: (0.0, 1.5 * madi.cos(t), 0.0))
    m.spring_damper("s", "lower", m.ground, at=((0, 0, -2), (1, 0, -2)), stiffness=5.0, damping=0.7)
    run = madi.simulate(m, 2.0, step=1e-3)
    t = run.data["time"].values
    balance = np.gradient(run["energy"], t) - (run["power"] - run["dissipated"])
    assert np.max(np.abs(balance[5:-5])) < 1e-3 * np.max(np.abs(run["power"]))


def test_start_by_name():
    run = madi.simulate(double_pendulum(), 0.01, step=0.01, start=({"B": 0.7}, {"A": -1.0}))
    assert (run["A"][0], run["B"][0], run["A.v"][0], run["B.v"][0]) == (1.0, 0.7, -1.0, 0.5)


def test_unrecorded_loads_say_how_to_get_them(run):
    with pytest.raises(madi.InputError, match=r"reactions=\['A'\]"):
        run["A.fx"]


def test_bryant_angles_are_an_output():
    """P4's angles: turns about x, y', z'' in this order; a body set by them reports them."""
    from scipy.spatial.transform import Rotation

    angles = (0.4, -0.7, 1.1)
    q = Rotation.from_euler("XYZ", angles).as_quat()[[3, 0, 1, 2]]
    m = madi.Model("turned", gravity=(0, 0, 0))
    m.body("box", 1.0, inertia=(1, 1, 1))
    m.spherical("ball", m.ground, "box", at=(0, 0, 0), q0=q, v0=(0, 0, 0.5))
    run = madi.simulate(m, 0.2, step=0.1)
    assert [run[f"box.r{axis}"][0] for axis in "xyz"] == pytest.approx(angles)
    assert run["box.rz"][-1] == pytest.approx(1.1 + 0.1)  # about the body's own z: the third angle alone


def test_a_run_keeps_the_model_it_was_made_of(tmp_path):
    m = double_pendulum()
    run = madi.simulate(m, 0.1, step=1e-2, engine="plain")
    m.forces[0].parameters["stiffness"] = 1000.0
    m.bodies.clear()
    assert run.model.forces[0].parameters["stiffness"] == 2.0
    again = madi.load_run(run.save(tmp_path / "run.nc"))
    assert again.model.forces[0].parameters["stiffness"] == 2.0
    assert again.model.build().digest == run.data.attrs["model_hash"]
    assert isinstance(again.statistics["steps"], int)


def test_a_run_is_saved_even_where_its_model_cannot_be_written(tmp_path):
    from madi.flexible import Shape, tube

    m = madi.Model("beam")
    shape = Shape("by hand", lambda x, order: [x**2, 2 * x, 2 + 0 * x, 0 * x][order], 1.0)
    m.beam("b", (0, 0, 0), (1, 0, 0), tube(0.02, 0.01), 2e11, 7800.0, {"z": [shape]}, strict=False)
    m.fixed("wall", m.ground, "b", at=(0, 0, 0))
    m.run = {"duration": 0.01, "step": 1e-4, "progress": False}
    run = m.simulate(engine="plain")
    with pytest.warns(madi.MadiWarning, match="without its model"):
        run.save(tmp_path / "run.nc")
    assert madi.load_run(tmp_path / "run.nc").model is None


def test_tables_and_formats(run, tmp_path):
    import pandas as pd

    frame = pd.read_csv(run.save(tmp_path / "run.csv", "A", "B.fz", "k.force"))
    assert list(frame.columns) == ["time [s]", "A [rad]", "B.fz [N]", "k.force [N m]"]
    np.testing.assert_array_equal(frame["A [rad]"], run["A"])
    again = pd.read_parquet(run.save(tmp_path / "run.parquet"))
    np.testing.assert_array_equal(again["A [rad]"], run["A"])
    assert "lower.x [m]" in again
    np.testing.assert_allclose(run["B.force"], np.linalg.norm(run.data["reaction_force"].sel(joint="B"), axis=1))
    with pytest.raises(madi.InputError, match=r"\.nc, \.csv or \.parquet"):
        run.save(tmp_path / "run.txt")
    for name in run.signals:
        assert run[name].shape == run["A"].shape


def test_signals_of_other_sizes_get_their_own_panel(run):
    figure = run.plot("A", "B", "energy", "lower.x", "violation" if "violation" in run.data else "A.v")
    assert len(figure.axes) >= 4
    with pytest.raises(madi.InputError, match="Near it: lower"):
        run["lower.xx"]


def test_files_that_are_no_runs_are_told(tmp_path):
    import xarray as xr

    xr.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(madi.InputError, match="not a run"):
        madi.load_run(tmp_path / "other.nc")
