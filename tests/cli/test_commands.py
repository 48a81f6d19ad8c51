"""The command line: exit codes, messages, JSON; and the benchmark's own checks (its times are not tested)."""

import json
import subprocess
import sys

import numpy as np
import pytest


def madi(*words):
    code = "import sys; from madi.cli import main; sys.argv = ['madi', *sys.argv[1:]]; main()"
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_help_shows_commands_and_examples():
    done = madi("--help")
    assert done.returncode == 0
    assert "papers" in done.stdout
    assert "Example: madi papers rssr rrc" in madi("papers", "--help").stdout


def test_wrong_call_is_exit_code_2():
    done = madi("papers", "nothing")
    assert done.returncode == 2
    assert "there are: tracked, rssr" in " ".join(done.stderr.split())


def test_verify_says_good_or_bad():
    done = madi("verify", "bricard", "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)["tables"]["Cases"]
    assert all(row["good"] == "yes" for row in rows)
    done = madi("verify", "nothing")
    assert done.returncode == 2
    assert "there is no case 'nothing'" in " ".join(done.stderr.split())


def test_papers_rrc_as_json(tmp_path):
    done = madi("papers", "rrc", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["rrc"]
    assert (tmp_path / "rrc.png").stat().st_size > 20_000
    assert report["values"]["both ways to the reaction differ by (1), relative"] < 1e-10
    table = report["tables"]["Table 3: CPU time for the reaction of one joint"]
    assert [row["joint"] for row in table] == list(range(1, 8))


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
    from madi.pipeline import simulate

    system = models.six_by_six(printed=False).build()
    q, v = trees.state(system)
    mine = simulate(system, 0.05, step=1e-3, q0=q, v0=v, times=[0.05])
    for peer in peers_of(system):
        _, end_q, end_v = peer.run_rk4(q, v, 0.05, 1e-3)
        np.testing.assert_allclose(end_v, mine.data["v"].values[-1], atol=1e-6)
        sign = np.sign(end_q[3:7] @ mine.data["q"].values[-1][3:7])
        end_q[3:7] *= sign
        np.testing.assert_allclose(end_q, mine.data["q"].values[-1], atol=1e-7)


@pytest.mark.slow
def test_bench_trees_runs():
    done = madi("bench", "trees", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    start = done.stdout.index("{")  # Exudyn prints a line when it is imported
    report = json.loads(done.stdout[start:])["trees"]
    assert all(row["largest difference"] < 1e-9 for row in report["tables"]["Agreement of all engines (relative)"])


def test_compare_from_the_command_line(tmp_path):
    figure = tmp_path / "andrews.png"
    done = madi("compare", "andrews", "--duration", "3ms", "--methods", "projection,qr", "--out", str(figure), "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)["table"]
    assert [row["method"] for row in table] == ["projection", "qr"]
    assert table[1]["motion"] < 1e-8
    assert figure.exists()
    wrong = madi("compare", "andrews", "--methods", "projection,lu")
    assert wrong.returncode == 2
    assert "there is no method 'lu'" in " ".join(wrong.stderr.split())
    assert madi("compare", "rrc").returncode == 2  # no loops


@pytest.mark.slow
def test_lane_change_and_methods_report(tmp_path):
    done = madi("papers", "lane-change", "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["lane-change"]
    apart = [value for name, value in found["values"].items() if "relative against Cartesian" in name]
    assert len(apart) == 5
    assert max(apart) < 0.01
    assert all((tmp_path / name).exists() for name in ("lane_change.png", "lane_change_steps.png"))
    assert madi("bench", "methods", "--quick").returncode == 0


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


@pytest.mark.slow
def test_bench_loops_runs():
    done = madi("bench", "loops", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    values = json.loads(text[text.index("{") :])["loops"]["values"]
    assert values["N = 40: energy error Exudyn / madi"] > 1
    assert values["N = 40: energy error MuJoCo / madi"] > 1
