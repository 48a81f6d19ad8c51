"""Signals of a run by name: bodies, joints in the tree and cut joints."""

import numpy as np

import madi
from madi.verify import andrews
from tests.mechanisms import four_bar


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
