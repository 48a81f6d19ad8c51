"""A machine with faults: no cache folder, no room, killed saves, a terminal with ASCII only."""

import os
import subprocess
import sys
import textwrap

import pytest

from madi.files import whole_file
from tests.mechanisms import pendulum
from tests.package.places import ROOT, SOURCE

PATH = os.pathsep.join([str(SOURCE.parent), str(ROOT)])  # of this checkout, wherever madi is installed


@pytest.mark.slow
def test_damaged_kernels_are_made_anew(tmp_path):
    """A process with a damaged cache gives the same numbers, without a complaint; the cache is whole afterwards."""
    program = (
        "import madi, tests.mechanisms as t; print(madi.simulate(t.pendulum(q0=.5), 1., step=.01, engine='jit')['A'][-1])"
    )
    environment = {**os.environ, "MADI_CACHE_DIR": str(tmp_path / "cache"), "MADI_LIBRARY": "none", "PYTHONPATH": PATH}

    def told():
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert all(line.startswith("madi: prepar") for line in done.stderr.splitlines()), done.stderr  # what one waits for
        return done.stdout

    first = told()
    damaged = 0
    for path in sorted((tmp_path / "cache").rglob("*.nb*")):
        path.write_bytes(path.read_bytes()[:100] if damaged % 2 else b"")
        damaged += 1
    assert damaged > 4
    assert told() == first == told()


@pytest.mark.parametrize("how", ["a file is there", pytest.param("no room", marks=pytest.mark.slow)])
def test_without_a_cache_runs_go_on_with_one_warning(how, tmp_path):
    folder = tmp_path / "cache"
    if how == "a file is there":
        folder.write_text("no folder")
    program = """
        import errno, sys, madi, tests.mechanisms as t, pathlib
        if sys.argv[1] == "no room":
            from madi.engines import cache
            def full(*_, **__):
                raise OSError(errno.ENOSPC, "No space left on device")
            cache.os.replace = full
        run = madi.simulate(t.pendulum(q0=.5), 1., step=.01, engine="jit")
        print(run["A"][-1])
    """
    variables = {"MADI_CACHE_DIR": str(folder), "MADI_LIBRARY": "none", "PYTHONPATH": PATH, "TMPDIR": str(tmp_path / "tmp")}
    environment = os.environ | variables
    (tmp_path / "tmp").mkdir()
    words = [sys.executable, "-c", textwrap.dedent(program), how]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("MadiWarning") == 1
    assert str(folder) in done.stderr
    assert not list((tmp_path / "tmp").iterdir())


def test_parts_of_killed_saves_are_swept(tmp_path):
    for k in range(5):
        part = tmp_path / f".run-{k}.nc.part"
        part.write_text("half")
        if k:
            os.utime(part, (1, 1))
    with whole_file(tmp_path / "run.nc") as target:
        target.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".run-0.nc.part", "run.nc"]


def test_every_command_speaks_ascii(tmp_path):
    """On a terminal that knows nothing else, nothing is an error."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "COLUMNS": "120"}
    m = pendulum(q0=0.5)
    m.name, m.description = "Maschine µ → ∞ 마디", "größer"
    m.save(tmp_path / "m.yaml")
    for words in (["info", "m.yaml"], ["check", "m.yaml"], ["run", "m.yaml", "--duration", "0.1s", "--engine", "plain"],
                  ["new"], ["cache"], ["schema", "--reference"], ["--help"], ["check", "nichts-µ.yaml"]):  # fmt: skip
        done = subprocess.run([sys.executable, "-m", "madi", *words], cwd=tmp_path, env=environment, capture_output=True)
        assert b"Traceback" not in done.stderr, words
        assert b"UnicodeEncodeError" not in done.stderr
