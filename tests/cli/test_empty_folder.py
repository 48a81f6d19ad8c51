"""Every command of `madi` in an empty folder: it makes what it writes to, and knows that it may write before it computes."""

import inspect
import subprocess
import sys

import pytest
import typer

from madi.cli import app

ROBOT = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""

# of every command: words that write somewhere (OUT is replaced), and what must be there afterwards
WRITES = {
    "new": (["new", "four-bar", "--out", "OUT/model.yaml"], "model.yaml"),
    "import": (["import", "robot.urdf", "--out", "OUT/robot.yaml"], "robot.yaml"),
    "run": (["run", "rssr", "--duration", "10ms", "--out", "OUT/run.nc"], "run.nc"),
    "plot": (["plot", "here.nc", "R1", "--out", "OUT/plot.png"], "plot.png"),
    "view": (["view", "here.nc", "--out", "OUT/page.html", "--no-open"], "page.html"),
    "linearize": (["linearize", "five-dof", "--mode", "1", "--out", "OUT/mode.html"], "mode.html"),
    "info": (["info", "rssr", "--equations", "--out", "OUT/equations.html"], "equations.html"),
    "compare": (["compare", "rssr", "--duration", "10ms", "--methods", "projection,qr", "--out", "OUT/c.png"], "c.png"),
    "export c": (["export", "c", "five-dof", "--out", "OUT"], "main.c"),
    "verify": (["verify", "bricard", "--book", "OUT/book.md"], "book.md"),
    "papers": (["papers", "five-dof", "--out", "OUT"], "five-dof.png"),
    "bench": (["bench", "methods", "--quick", "--book", "OUT/bench.md"], "bench.md"),
}
PRINTS = {
    "check": ["check", "rssr"], "statics": ["statics", "five-dof"], "schema": ["schema"], "version": ["version"],
    "cache": ["cache"], "realtime": ["realtime", "five-dof", "--duration", "10ms", "--engine", "jit"],
}  # fmt: skip
SLOW = {"bench"}


def madi(*words, folder):
    code = "import sys; from madi.cli import main; sys.argv = ['madi', *sys.argv[1:]]; main()"
    return subprocess.run([sys.executable, "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False)


def test_every_command_is_here():
    found = set()
    for command in typer.main.get_command(app).commands.values():
        inner = getattr(command, "commands", None)
        found |= {command.name} if inner is None else {f"{command.name} {name}" for name in inner}
    assert found == set(WRITES) | set(PRINTS)


def prepared(folder, name):
    """What the command reads."""
    if name == "import":
        (folder / "robot.urdf").write_text(ROBOT)
    if name in ("plot", "view"):
        done = madi("run", "rssr", "--duration", "10ms", "--out", "here.nc", folder=folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in WRITES])
def test_a_command_makes_its_folder(name, tmp_path):
    prepared(tmp_path, name)
    words, made = WRITES[name]
    done = madi(*[word.replace("OUT", "new/folder") for word in words], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "folder" / made).stat().st_size > 100


@pytest.mark.parametrize("name", list(WRITES))
def test_a_place_that_cannot_be_written_is_found_out_first(name, tmp_path):
    """Where a file stands in place of a folder nothing can be written: exit code 2, told at once, nothing else left."""
    prepared(tmp_path, name)
    before = {path.name for path in tmp_path.iterdir()}
    (tmp_path / "taken").write_text("a file")
    words, _ = WRITES[name]
    done = madi(*[word.replace("OUT", "taken/x") for word in words], folder=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "cannot be written" in done.stderr
    assert done.stdout == ""  # nothing was computed
    assert {path.name for path in tmp_path.iterdir()} == before | {"taken"}


@pytest.mark.parametrize("name", list(PRINTS))
def test_the_others_run_in_an_empty_folder(name, tmp_path):
    done = madi(*PRINTS[name], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not list(tmp_path.iterdir())


def test_papers_knows_all_experiments_and_writes_the_book(tmp_path):
    from madi.papers import EXPERIMENTS

    (tmp_path / "empty").mkdir()
    tmp_path = tmp_path / "empty"
    told = " ".join(madi("papers", "--help", folder=tmp_path).stdout.split())
    assert all(name in told for name in EXPERIMENTS)
    done = madi("papers", "five-dof", "--book", folder=tmp_path)
    assert done.returncode == 2
    assert "whole book" in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_chapter_of_the_book(tmp_path):
    from madi.cli.books import table
    from madi.papers import experiment
    from madi.papers.book import write

    write(tmp_path / "docs", {"five-dof": experiment("five-dof")(tmp_path / "out")}, "here", table)
    text = (tmp_path / "docs" / "papers.md").read_text()
    assert "## P0: Relative joint coordinates" in text
    assert "| claim | verdict | numbers |" in text
    for name in ("five-dof.png", "five-dof-road.png"):
        assert f"(images/{name})" in text
        assert (tmp_path / "docs" / "images" / name).stat().st_size > 10_000


def test_every_experiment_has_a_report():
    from madi.papers import EXPERIMENTS, experiment
    from madi.papers.book import PAPERS

    assert {paper for paper, _ in EXPERIMENTS.values()} == set(PAPERS)
    for name in EXPERIMENTS:
        assert list(inspect.signature(experiment(name)).parameters) == ["out"]
