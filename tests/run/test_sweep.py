"""Sweeps: slices, what is kept, files, designs, clusters."""

import os
import signal

import numpy as np
import pytest
from scipy.stats import qmc

import madi
from madi.run import batch
from madi.run.slice import Slices
from madi.topology.parameters import changed, parameters
from tests.mechanisms import four_bar, pendulum, sprung_double_pendulum

KEEP = {"q": "q", "energy": "energy", "orientation": "orientation", "high": "max(coupler.z)", "cuts": "cut_q",
        "end": lambda run: run["coupler.x"][-1]}  # fmt: skip


def spinning():
    m = madi.Model("wheel", gravity=(0, 0, 0))
    wheel = m.body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    m.revolute("axle", m.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1))
    return m


@pytest.mark.parametrize("options", [{"step": 0.01}, {"rtol": 1e-8}, {"step": 0.01, "method": "radau"},
                                     {"step": 0.01, "loops": "pseudo-inverse"}])  # fmt: skip
def test_what_is_kept_is_what_single_runs_have(options):
    """Hard points move too: loops are closed anew where they have come open."""
    m, n = four_bar(q0=0.3, v0=1.0), 5
    values = {"crank.mass": np.linspace(0.5, 2, n), "B.at.z": read(m, "B.at.z") + np.linspace(0, 0.01, n)}
    options["times"] = np.linspace(0, 0.3, 31)
    found = madi.simulate_many(m, values, 0.3, engine="jit", keep=KEEP, **options)
    assert not found["message"].values.any()
    for k in (0, n - 1):
        run = madi.simulate(changed(m, {name: v[k] for name, v in values.items()}), 0.3, engine="jit", **options)
        for name in ("q", "energy", "orientation", "cuts"):
            other = run.data["cut_q" if name == "cuts" else name].values
            np.testing.assert_allclose(found[name].values[k], other, atol=1e-8, err_msg=name)
        assert found["high"].values[k] == pytest.approx(run["coupler.z"].max(), abs=1e-8)
        assert found["end"].values[k] == pytest.approx(run["coupler.x"][-1], abs=1e-8)


def read(m, name):
    return parameters(m, [name]).values[0]


def test_slices_of_any_length_have_the_same_bits(monkeypatch):
    values = {"crank.mass": np.linspace(0.5, 2, 9)}
    found = []
    for length in (0.0, 1e3):
        monkeypatch.setattr(batch, "SLICE", length)
        one = madi.simulate_many(four_bar(q0=0.3, v0=1.0), values, 0.1, step=0.01, engine="jit", keep=KEEP, workers=1)
        found.append(one)
    assert found[0].identical(found[1])


def test_plain_python_agrees():
    keep = {"q": "q", "fall": "first(a.z) - min(a.z)"}
    plain, jit = (
        madi.simulate_many(sprung_double_pendulum(), {"a.mass": [1.0, 2.0]}, 0.1, step=0.01, engine=engine, keep=keep)
        for engine in ("plain", "jit")
    )
    for name in keep:
        np.testing.assert_allclose(plain[name], jit[name], atol=1e-12)


def test_expressions_of_signals():
    """Closed forms: a wheel turns evenly; each run counts its own whole turns."""
    rates, T = np.array([-9.0, 0.5, 7.0]), 2.0
    keep = {"turn": "last(wheel.yaw)", "area": "integral(axle.v)", "mean": "mean(axle.v**2)", "rms": "rms(axle.v)",
            "square": "w = axle.v; where(w > 0, w, 0)", "axle.v": "axle.v",
            "name": '2 * max(abs("axle.v")) - 1'}  # fmt: skip
    found = madi.simulate_many(spinning(), {}, T, start=(None, {"axle": rates}), step=0.01, engine="jit", keep=keep)
    for name, expected in {"turn": rates * T, "area": rates * T, "mean": rates**2, "rms": abs(rates),
                           "name": 2 * abs(rates) - 1}.items():  # fmt: skip
        assert found[name].dims == ("run",)
        np.testing.assert_allclose(found[name], expected, atol=1e-9, err_msg=name)
    assert found["square"].dims == ("run", "time")
    np.testing.assert_allclose(found["square"].values[:, -1], np.maximum(rates, 0))
    assert found["turn"].attrs["units"] == "rad"


@pytest.mark.parametrize(("keep", "message"), [
    ("max(wheel.zz)", "there is no 'wheel.zz'"), ("largest(wheel.z)", "there is no function 'largest'"),
    ({"time": "q"}, "has a meaning"),
    ("max(wheel.z", "is expected"), (["q", "q"], "twice"), ([3], "neither a name"), ("q(axle)", "signals have names"),
    (lambda run: "text", "must give a number"), ("__import__('os')", "no function"),
])  # fmt: skip
def test_what_cannot_be_kept_is_told(keep, message):
    with pytest.raises(madi.InputError, match=message):
        madi.simulate_many(spinning(), {"wheel.mass": [1.0, 2.0]}, 0.1, step=0.01, keep=keep)


def test_failures_are_kept_by_cause():
    m = sprung_double_pendulum()
    options = {"step": 0.01, "method": "rk4", "engine": "jit", "start": ({"B": 0.5}, None)}
    keep = {"e": "last(energy)", "f": lambda run: run["A"][:2]}
    found = madi.simulate_many(m, {"s.stiffness": [5.0, 1e9, 6.0]}, 0.5, keep=keep, **options)
    assert list(found["cause"].values) == ["", "not finite", ""]
    assert found.attrs["failures"] == "not finite: 1"
    assert list(np.isnan(found["e"].values)) == [False, True, False]
    assert list(np.isnan(found["f"].values[:, 0])) == [False, True, False]


def test_a_block_s_parameter_is_found_by_the_user_s_name():
    m = pendulum(q0=0.1)
    m.joint_spring("bar_torsion", "A", stiffness=2.0)
    assert read(m, "bar.stiffness") == 2.0
    m.joint_spring("bar_other", "A", stiffness=3.0)
    with pytest.raises(madi.InputError, match=r"'bar' has several: bar_torsion\.stiffness, bar_other\.stiffness"):
        read(m, "bar.stiffness")


# ---- files --------------------------------------------------------------------------------------------------------------


def test_a_sweep_that_was_broken_off_is_taken_up(tmp_path, monkeypatch):
    from madi.run import collected

    monkeypatch.setattr(collected, "FULL", 1)  # every slice is written
    monkeypatch.setattr(batch, "SLICE", 0.0)  # and is one run
    m, path, made = four_bar(q0=0.3, v0=1.0), tmp_path / "sweep.nc", []
    values = {"crank.mass": np.linspace(0.5, 2, 8)}

    def counted(self, first, last, run=Slices.run):
        if len(made) == 4:
            raise KeyboardInterrupt
        made.append(first)
        return run(self, first, last)

    options = {"step": 0.01, "engine": "jit", "keep": {"q": "q", "high": "max(coupler.z)"}, "workers": 1}
    whole = madi.simulate_many(m, values, 0.1, **options)
    monkeypatch.setattr(Slices, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        madi.simulate_many(m, values, 0.1, out=path, **options)
    assert not path.exists()
    assert len(list((tmp_path / "sweep.nc.parts").iterdir())) == 4
    made.clear()

    def noted(self, first, last, run=counted.__defaults__[0]):
        made.append(first)
        return run(self, first, last)

    monkeypatch.setattr(Slices, "run", noted)
    with pytest.raises(madi.InputError, match="part of another sweep"):
        madi.simulate_many(m, values, 0.2, out=path, **options)
    with madi.simulate_many(m, values, 0.1, out=path, **options) as found:
        assert sorted(made) == [4, 5, 6, 7]
        assert found.drop_attrs().load().equals(whole.drop_attrs())
    assert [one.name for one in tmp_path.iterdir()] == ["sweep.nc"]
    with madi.simulate_many(m, values, 0.1, out=path, **options) as again:  # all is there
        assert sorted(made) == [4, 5, 6, 7]
        assert again["high"].load().equals(whole["high"])


# ---- designs ------------------------------------------------------------------------------------------------------------


def test_designs():
    ends = {"a": (1.0, 3.0), "b": (-1.0, 1.0)}
    grid = madi.design({"a": (1.0, 3.0), "b": [5.0, 7.0]}, 3)
    assert [*zip(grid["a"], grid["b"], strict=True)] == [(1, 5), (1, 7), (2, 5), (2, 7), (3, 5), (3, 7)]
    latin = madi.design(ends, 50, "latin", seed=2)
    assert sorted(np.floor((latin["b"] + 1) / 2 * 50).astype(int)) == list(range(50))
    sobol = np.column_stack([*madi.design(ends, 64, "sobol", seed=3).values()])
    unit = (sobol - [1.0, -1.0]) / 2
    assert qmc.discrepancy(unit) < 0.1 * qmc.discrepancy(np.random.default_rng(0).random((64, 2)))
    for kind in ("random", "latin", "sobol"):
        one, same, other = (madi.design(ends, 16, kind, seed=seed)["a"] for seed in (1, 1, 2))
        assert np.array_equal(one, same)
        assert not np.array_equal(one, other)
        assert one.min() >= 1
        assert one.max() <= 3


@pytest.mark.parametrize(("given", "options", "message"), [
    ({"a": (1, 2)}, {"kind": "star"}, "choose one of"), ({"a": (1, 2)}, {"kind": "sobol"}, "how many runs"),
    ({"a": (2, 1)}, {"runs": 3}, "no interval"), ({"a": "xy"}, {"runs": 3}, "give"), ({}, {"runs": 3}, "give parameters"),
    ({"a": (1, 2)}, {"runs": 0}, "from 1 on"), ({"a": (0, 1), "b": (0, 1)}, {"runs": 10**6}, "too large"),
])  # fmt: skip
def test_wrong_designs_are_told(given, options, message):
    with pytest.raises(madi.InputError, match=message):
        madi.design(given, **options)


# ---- clusters -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_cluster_gives_what_threads_give(client):
    """To the last bit: starts, drives, failures and functions of a run too."""
    m = sprung_double_pendulum()
    m.drive("A", lambda t: 0.2 * madi.sin(3 * t))
    values = {"s.stiffness": [5.0, 1e12, 6.0, 7.0, 8.0]}
    options = {"step": 0.01, "method": "rk4", "engine": "jit", "start": ({"B": [0.5, 0.1, 0.2, 0.3, 0.4]}, None),
               "keep": {"q": "q", "e": "max(energy)", "f": lambda run: run["B"][[0, -1]]}}  # fmt: skip
    here, there = (madi.simulate_many(m, values, 0.5, on=on, **options) for on in (None, client))
    assert here["cause"].values[1]
    assert there.identical(here)


def test_a_killed_worker_loses_nothing(client):
    killed = []
    m, values = four_bar(q0=0.3, v0=1.0), {"crank.mass": np.linspace(0.5, 2, 64)}
    options = {"step": 1e-4, "engine": "jit", "keep": {"q": "q", "high": "max(coupler.z)"}, "times": [0.0, 1.0, 2.0]}
    here = madi.simulate_many(m, values, 2.0, **options)
    from madi.run.collected import Collected

    put = Collected.put

    def kill_one(self, *given):
        if not killed:  # when the first results are there, the others are being made
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
        put(self, *given)

    Collected.put = kill_one
    try:
        there = madi.simulate_many(m, values, 2.0, on=client, **options)
    finally:
        Collected.put = put
    assert killed
    client.wait_for_workers(2)
    assert killed[0] not in client.run(os.getpid).values()
    assert there.identical(here)


def test_functions_that_cannot_be_saved_are_refused_by_name(client):
    m = spinning()
    m.torque("motor", "wheel", madi.in_python(lambda t: (0.0, 0.0, np.random.default_rng(0).random())))
    with pytest.raises(madi.InputError, match="motor"):
        madi.simulate_many(m, {"wheel.mass": [1.0, 2.0]}, 0.1, step=0.01, on=client)
    with pytest.raises(madi.InputError, match="give a dask"):
        madi.simulate_many(spinning(), {"wheel.mass": [1.0, 2.0]}, 0.1, step=0.01, on="cluster")
