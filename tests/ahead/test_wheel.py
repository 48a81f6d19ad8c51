"""A wheel in an empty environment: no compiler, no Numba, an empty cache, a home not to be written to; nothing is compiled.

The quick test takes the machine code this checkout has (MADI_WHEEL=made) and borrows the dependencies; the slow one makes
the wheel that is handed out and installs it with all it needs, as a user would.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

from madi.engines import library
from tests.package.places import ROOT

BLOCKED = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n"
FOREIGN = ("PYTHONPATH", "MADI_LIBRARY", "MADI_CACHE_DIR", "XDG_CACHE_HOME", "CC")


def make_wheel(folder, which):
    """The wheel, built by pip."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    alone = ["--no-build-isolation"] if which == "made" and find_spec("hatchling") else []
    done = subprocess.run([*command, *alone], env={**os.environ, "MADI_WHEEL": which}, capture_output=True, text=True)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("hatchling is neither installed nor to be had")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def empty_environment(folder):
    """An environment with Python alone; its Python, its folder of packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    told = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
    )
    return python, Path(told.stdout.strip())


def install(python, wheel, *options):
    words = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *options, str(wheel)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def borrow(packages):
    """Dependencies from where the tests run, but for what compiles."""
    import numpy

    (packages / "borrowed.pth").write_text(str(numpy.__path__[0].removesuffix("numpy")))
    for name in ("numba", "llvmlite"):
        (packages / f"{name}.py").write_text(BLOCKED)


def smoke(python, folder, **variables):
    """tools/smoke.py in a process with no compiler in reach and no home to write to; what it told."""
    folder.mkdir()
    (folder / "bin").mkdir()
    (folder / "file").write_text("no folder can be made below this, whoever asks")
    shutil.copy(ROOT / "tools" / "smoke.py", folder)
    env = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    env |= {"PATH": str(folder / "bin"), "HOME": str(folder / "file" / "home"), **variables}
    words = [str(python), "-I", str(folder / "smoke.py"), "--json"]
    done = subprocess.run(words, env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return json.loads(done.stdout)


def nothing_is_compiled(python, packages, folder):
    """Two processes with one cache, empty at first, and one without any."""
    cache = folder / "cache"
    cache.mkdir()
    told = [smoke(python, folder / name, MADI_CACHE_DIR=str(cache)) for name in ("first", "second")]
    told.append(smoke(python, folder / "without a cache"))
    assert not list(cache.iterdir())
    for one in told:
        assert one["madi"].startswith(str(packages))
        assert one["compiled"] == []
        assert "sympy" not in one["loaded"]  # for equations that people read
    first, second = (one["cpu"] for one in told[:2])
    print(f"CPU time of the first process {first} s, of the second {second} s: {first / second:.2f} times as long")
    return told[0]


def test_a_wheel_runs_without_compiling(tmp_path):
    assert library.is_there(), library.why_none()
    wheel = make_wheel(tmp_path, "made")
    assert "none-any" not in wheel.name
    assert "manylinux" not in wheel.name  # it is linked with this machine's C library
    python, packages = empty_environment(tmp_path / "environment")
    install(python, wheel, "--no-deps", "--no-index")
    borrow(packages)
    told = nothing_is_compiled(python, packages, tmp_path)
    assert told["library"] == library.level()


def test_a_wheel_carries_its_notices(tmp_path):
    with ZipFile(make_wheel(tmp_path, "pure")) as wheel:
        names = wheel.namelist()
        head = wheel.read("madi/view/static/page.js").decode()[:3000]
        about = wheel.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert {name.rpartition("/")[2] for name in names if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    assert "three.js authors" in head
    assert "Leon Sorokin" in head
    assert about.count("Project-URL: ") == 5
    assert not [name for name in names if name.startswith("madi/libraries")]


@pytest.mark.slow
def test_the_wheel_that_is_handed_out_runs_in_an_empty_environment(tmp_path):
    wheel = make_wheel(tmp_path, "")
    python, packages = empty_environment(tmp_path / "environment")
    install(python, wheel)
    assert not (packages / "numba").exists()
    assert nothing_is_compiled(python, packages, tmp_path)["library"] in library.levels()
