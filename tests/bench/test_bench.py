"""The benchmark's own checks: what it compares with is the same mechanism (its times are not tested)."""

import importlib
import sys

import numpy as np
import pytest


@pytest.mark.parametrize("which", ["arm", "6x6", "chain", "tree"])
def test_all_engines_agree_on_the_benchmark_models(which):
    from madi.bench import models, trees
    from madi.bench.peers import peers_of
    from madi.papers.rrc import arm

    model = {"arm": arm, "6x6": lambda: models.six_by_six(printed=False), "chain": lambda: models.chain(12),
             "tree": lambda: models.binary_tree(15)}[which]()  # fmt: skip
    system = model.build()
    peers = peers_of(system)
    assert [peer.name for peer in peers] == ["Pinocchio", "MuJoCo", "Exudyn"]
    assert trees.agreement(system, peers) < 1e-9
    q, v = trees.state(system, seed=3)
    a = np.random.default_rng(1).normal(size=system.nv)
    mine = system.inverse_dynamics(q, v, a)
    for peer in peers:
        assert np.max(np.abs(peer.inverse_dynamics(q, v, a) - mine)) < 1e-9 * np.max(np.abs(mine)), peer.name


def test_rk4_of_all_engines_ends_in_the_same_state():
    from madi.bench import models, trees
    from madi.bench.peers import peers_of
    from madi.run.simulate import simulate

    system = models.six_by_six(printed=False).build()
    q, v = trees.state(system)
    mine = simulate(system, 0.05, step=1e-3, start=(q, v), times=[0.05])
    for peer in peers_of(system):
        _, end_q, end_v = peer.run_rk4(q, v, 0.05, 1e-3)
        np.testing.assert_allclose(end_v, mine.data["v"].values[-1], atol=1e-6)
        sign = np.sign(end_q[3:7] @ mine.data["q"].values[-1][3:7])
        end_q[3:7] *= sign
        np.testing.assert_allclose(end_q, mine.data["q"].values[-1], atol=1e-7)


@pytest.mark.parametrize("windows", [1, 3])
def test_loop_peers_agree_with_the_closed_form(windows):
    """What `madi bench loops` compares with is the same mechanism."""
    from madi.bench.peers import loop_peers
    from madi.verify import four_bars

    peers = loop_peers()
    exact = four_bars.corner(windows, np.array([1.0]))[0]
    for run in (peers.exudyn_four_bars, peers.mujoco_four_bars):
        found = run(windows, 1.0, 1e-3)
        np.testing.assert_allclose(found.result, exact, atol=1e-3)
        assert found.seconds > 0


def test_loop_peers_on_andrews_and_rssr():
    import madi as package
    from madi.bench.peers import loop_peers
    from madi.papers import rssr
    from madi.verify import andrews

    peers = loop_peers()
    np.testing.assert_allclose(peers.exudyn_andrews(0.03, 1e-5).result, list(andrews.ANGLES.values()), atol=1e-3)
    run = package.simulate(rssr.model("body"), 1.0, method="dopri", rtol=1e-9, engine="jit", times=[1.0])
    place = [run[f"body1.{axis}"][-1] for axis in "xyz"]
    np.testing.assert_allclose(peers.exudyn_rssr(1.0, 1e-3).result, place, atol=1e-4)


@pytest.mark.parametrize("absent", [set(), {"exudyn"}, {"mujoco", "pydrake"}, {"pinocchio", "mujoco", "exudyn", "pydrake"}])
def test_a_peer_that_is_missing_has_no_row_and_that_is_said(absent, monkeypatch):
    """(Programs and calls are not timed: their number counts.)"""
    peers, start = (importlib.import_module(f"madi.bench.{name}") for name in ("peers", "start"))
    there = {"mujoco", "pinocchio", "exudyn"} - absent
    find = lambda name: name if name in there else None  # noqa: E731
    monkeypatch.setattr(start, "find_spec", find)
    monkeypatch.setattr(peers, "find_spec", find)
    for name in {"mujoco", "pinocchio", "exudyn"} - there:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(start, "cpu_of", lambda program, cache: 1.0)
    monkeypatch.setattr(start, "per_call", lambda function, *_: 1e-6 if function() is not False else 0.0)
    monkeypatch.setattr(start, "peer_time", lambda *_: 1e-6)
    monkeypatch.setattr(start, "STATES", 100)
    monkeypatch.setattr(start, "engines_of", lambda system: ["jit"])
    report = start.report(quick=True)
    told = " ".join(report["notes"])
    rows = [str(next(iter(row.values()))) for table in report["tables"].values() for row in table]
    for module, name in (("mujoco", "MuJoCo"), ("pinocchio", "Pinocchio"), ("exudyn", "Exudyn"), ("pydrake", "Drake")):
        assert any(row.startswith(name) for row in rows) == (module in there)
        assert (name in told) == (module not in there)
    if "exudyn" in there:
        row = next(row for row in report["tables"]["Forward dynamics of a pendulum, from Python and back"]
                   if row["call"].startswith("Exudyn"))  # fmt: skip
        assert np.isnan(row["µs"])


def test_balls_settle_as_mujoco_s_do():
    """Ten balls in a box: after a second all lie on the floor, as deep as either engine lets them."""
    from madi.bench import contact

    mine, other = contact.ours(10), contact.theirs(10)
    assert -1.0 < mine["overlap, mm"] < 0.1
    assert abs(other["overlap, mm"]) < 5.0
    assert mine["energy rose"] < 1e-3
