"""The command line: exit codes, messages, JSON; papers, comparisons and benchmarks from it."""

import json
import subprocess
import sys

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


@pytest.mark.slow
def test_bench_loops_runs():
    done = madi("bench", "loops", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    text = done.stdout
    values = json.loads(text[text.index("{") :])["loops"]["values"]
    assert values["N = 40: energy error Exudyn / madi"] > 1
    assert values["N = 40: energy error MuJoCo / madi"] > 1
