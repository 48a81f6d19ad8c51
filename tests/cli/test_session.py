"""A user's session on the command line: new, check, run, plot, view, statics, linearize; what goes wrong on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import madi as package
from madi.cli.models import find_model, template, templates
from madi.papers import five_dof
from madi.papers.files import FILES, text
from madi.schema.read import loads
from tests.schema.files import same_arrays


def madi(*words, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "madi", *map(str, words)], capture_output=True, text=True, check=False, cwd=cwd
    )


def good(*words, cwd=None):
    done = madi(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_from_nothing_to_a_page_without_an_edit_or_a_name(tmp_path):
    assert "next: madi check" in good("new", "four-bar", cwd=tmp_path)
    assert "freedom" in good("check", cwd=tmp_path)
    told = good("run", cwd=tmp_path)
    assert "loops closed to" in told
    assert "saved: four-bar.nc" in told
    page = good("view", cwd=tmp_path)
    assert "four-bar.html" in page
    assert (tmp_path / "four-bar.html").stat().st_size > 500_000
    assert "figure: four-bar.png" in good("plot", "A", "coupler.x", cwd=tmp_path)
    assert "coupler.x" in good("plot", "--list", cwd=tmp_path).split()
    run = package.load_run(tmp_path / "four-bar.nc")
    np.testing.assert_allclose(run["A"], 2 * np.pi * run.data["time"].values, atol=1e-12)
    # lengths of coupler and rocker, from positions of the bodies' middles: the loop is closed all the way
    d = np.hypot(run["rocker.x"] - 0.25, run["rocker.z"])
    np.testing.assert_allclose(d, 0.1, atol=1e-9)


def test_every_command_has_help_with_an_example():
    for name in ("new", "check", "run", "plot", "view", "statics", "linearize", "import", "schema", "papers", "verify",
                 "bench", "info", "compare", "realtime", "export c"):  # fmt: skip
        assert "Example: madi" in good(*name.split(), "--help"), name


def test_help_waits_for_nothing():
    """How long it takes is the benchmarks' business; what it must not load is known."""
    good("--help")
    heavy = ("numba", "casadi", "xarray", "sympy", "matplotlib", "scipy")
    code = f"import sys, madi.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "nothing heavy is imported for it"


@pytest.mark.parametrize("name", sorted(templates()))
def test_every_template_loads_and_the_doctor_finds_no_error(name):
    model = loads(template(name))
    report = package.check(model)
    assert report.ok, str(report)
    assert not [f for f in report if f.severity == "warning"], str(report)
    assert model.run["duration"] > 0


@pytest.mark.parametrize("name", FILES)
def test_the_papers_files_are_the_papers_models(name):
    assert template(name) == text(name), "python -m madi.papers.files writes them anew"
    same_arrays(loads(template(name)), FILES[name][0]())


def test_the_five_dof_vehicle_in_inches_is_the_one_in_python():
    ours, theirs = loads(template("five-dof")).build(), five_dof.model().build()
    np.testing.assert_array_equal(ours.layout.ints, theirs.layout.ints)
    np.testing.assert_allclose(ours.layout.reals, theirs.layout.reals, rtol=1e-12, atol=1e-12)
    a = loads(template("five-dof")).simulate(engine="jit")
    b = package.simulate(five_dof.model(), 2.5, method="abm", rtol=1e-10, engine="jit")
    for name in five_dof.SIGNALS:
        np.testing.assert_allclose(a[name], b[name], atol=1e-9)


@pytest.mark.parametrize("name", ["rssr", "6x6"])
def test_a_papers_file_gives_the_papers_run(name):
    model = loads(template(name))
    options = {**model.run, "duration": 0.5}
    a = model.simulate(0.5, engine="jit")
    b = package.simulate(FILES[name][0](), options.pop("duration"), engine="jit", **options)
    np.testing.assert_array_equal(a.data["q"].values, b.data["q"].values)


def test_json_for_machines(tmp_path):
    (tmp_path / "p.yaml").write_text(template("pendulum"))
    found = json.loads(good("check", "p.yaml", "--json", cwd=tmp_path))
    assert found["ok"]
    assert found["findings"][0]["element"] == "mobility"
    told = json.loads(good("run", "p.yaml", "--duration", "0.2s", "--out", "p.csv", "--json", cwd=tmp_path))
    assert told["statistics"]["method"] == "dopri"
    assert told["end"] == 0.2
    head = (tmp_path / "p.csv").read_text().splitlines()[0]
    assert head.startswith("time [s],energy [J]")
    assert "shoulder [rad]" in head
    linear = json.loads(good("linearize", "p.yaml", "--json", cwd=tmp_path))
    assert len(linear["A"]) == 4
    told = json.loads(good("info", "p.yaml", "--json", cwd=tmp_path))
    assert told["coordinates"] == ["shoulder", "elbow"]
    assert told["tree"][1]["parent"] == "upper"
    rest = json.loads(good("statics", "p.yaml", "--json", cwd=tmp_path))
    assert rest["stable"]
    assert abs(np.sin(rest["coordinates"]["shoulder"])) < 1e-6
    np.testing.assert_allclose(rest["loads"]["shoulder"]["force"], [0, 0, 2 * 9.81], atol=1e-6)


def test_tables_for_people(tmp_path):
    (tmp_path / "p.yaml").write_text(template("pendulum"))
    assert "frequency, Hz" in good("linearize", "p.yaml", "--mode", "0", cwd=tmp_path)
    assert (tmp_path / "mode.html").exists()
    assert "19.62" in good("statics", "p.yaml", cwd=tmp_path)


def test_a_parameter_can_be_changed(tmp_path):
    (tmp_path / "p.yaml").write_text(template("pendulum"))
    good("run", "p.yaml", "--duration", "0.1s", "--set", "L=2 m", "--out", "long.nc", cwd=tmp_path)
    run = package.load_run(tmp_path / "long.nc")
    assert np.hypot(run["upper.x"][0], run["upper.z"][0]) == pytest.approx(1.0)
    done = madi("run", "p.yaml", "--set", "K=2", cwd=tmp_path)
    assert done.returncode == 2
    assert "no parameter 'K'; it has: L, weight" in done.stderr


def test_exit_codes_and_messages(tmp_path):
    (tmp_path / "bad.yaml").write_text("bodies:\n  a: {mass: 3 m}\n")
    for words, code, told in [
        (("run", "bad.yaml"), 1, "bad.yaml, line 2, bodies.a.mass: '3 m' is in m; kg is needed"),
        (("check", "nothing.yaml"), 2, "there is no file"),
        (("run", "nothing"), 2, "there is no model 'nothing'"),
        (("new", "nothing"), 2, "there is no template 'nothing'"),
        (("plot", "nothing.nc"), 2, "there is no file 'nothing.nc'"),
        (("view", "bad.nc"), 2, "there is no file"),
        (("run", "bad.yaml", "--step", "soon"), 1, "is in m"),
        (("run", "rssr", "--step", "soon"), 2, "not a time"),
        (("run", "rssr", "--duration", "1s", "--set", "x"), 2, "NAME=VALUE"),
        (("run", "andrews"), 2, "how long?"),
    ]:
        done = madi(*words, cwd=tmp_path)
        assert done.returncode == code, (words, done.stderr)
        assert told in " ".join(done.stderr.split()), (words, done.stderr)
        assert "Traceback" not in done.stderr
    (tmp_path / "bad2.yaml").write_text("bodies:\n  a: {mass: 3}\n")
    done = madi("check", "bad2.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "connected to nothing" in done.stdout
    (tmp_path / "run.nc").write_bytes(b"not a run")
    done = madi("view", "run.nc", cwd=tmp_path)
    assert done.returncode == 2
    assert "not a run that madi can read" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.yaml", "bad2.yaml", "run.nc"], "nothing half-written"


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    good("new", "pendulum", cwd=tmp_path)
    done = madi("new", "pendulum", cwd=tmp_path)
    assert done.returncode == 2
    assert "--force" in done.stderr


def test_a_run_that_fails_keeps_what_was_computed(tmp_path):
    (tmp_path / "p.yaml").write_text(template("pendulum") + "\n")
    text = (tmp_path / "p.yaml").read_text().replace("damping: 5e-3", "damping: 5e-3, stiffness: 5e3")
    (tmp_path / "p.yaml").write_text(text)
    done = madi("run", "p.yaml", "--method", "rk4", "--step", "10ms", cwd=tmp_path)
    assert done.returncode == 1
    assert "too long for this motion" in done.stderr
    assert "saved: p.nc" in done.stdout
    assert len(package.load_run(tmp_path / "p.nc").data["time"]) > 1


def test_control_c_keeps_what_was_computed(tmp_path):
    words = [sys.executable, "-m", "madi", "run", "rssr", "--duration", "4000s", "--step", "1ms", "--every", "10ms",
             "--engine", "jit", "--out", "long.nc", "--checkpoint", "0.1s"]  # fmt: skip
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # fmt: skip
    deadline = time.monotonic() + 900
    while not (tmp_path / "long.nc.checkpoint").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    out, told = process.communicate(timeout=120)
    assert process.returncode == 1, told
    assert "stopped" in told
    assert "saved: long.nc" in out
    kept = package.load_run(tmp_path / "long.nc").data
    assert 0.1 < float(kept["time"][-1]) < 4000.0
    assert (tmp_path / "long.nc.checkpoint").exists(), "it can be taken up"


def test_the_schema_is_printed():
    assert json.loads(good("schema"))["title"] == "madi model file"
    assert "### revolute" in good("schema", "--reference")


def test_models_by_name_are_still_known():
    assert find_model("ralf").name == "RALF"


def test_statics_and_linearize_work_on_the_first_example(tmp_path):
    good("new", "four-bar", cwd=tmp_path)
    assert "equilibrium of 'four-bar'" in good("statics", cwd=tmp_path)
    assert "0 states" in good("linearize", cwd=tmp_path)
    assert "cut: spherical 'C'" in good("info", cwd=tmp_path)
    assert good("--version").strip() == package.__version__


def test_a_failed_run_does_not_take_the_place_of_a_whole_one(tmp_path):
    (tmp_path / "p.yaml").write_text(template("pendulum"))
    good("run", "p.yaml", "--duration", "0.1s", cwd=tmp_path)
    before = (tmp_path / "p.nc").read_bytes()
    text = template("pendulum").replace("damping: 5e-3", "damping: 5e-3, stiffness: 5e3")
    (tmp_path / "p.yaml").write_text(text)
    done = madi("run", "p.yaml", "--method", "rk4", "--step", "10ms", cwd=tmp_path)
    assert done.returncode == 1
    assert "error.run" not in done.stderr
    assert (tmp_path / "p.nc").read_bytes() == before
    assert (tmp_path / "p.failed.nc").exists()


def test_a_table_of_a_driven_mechanism_has_its_motor(tmp_path):
    good("new", "four-bar", "--out", "linkage.yaml", cwd=tmp_path)
    good("run", "--out", "x.csv", cwd=tmp_path)
    assert "A.drive [N m]" in (tmp_path / "x.csv").read_text().splitlines()[0]
    assert "saved: linkage.nc" in good("run", cwd=tmp_path), "named after the file, however it is called"


def test_a_robot_is_imported_beside_its_meshes_and_run(tmp_path):
    from tests.imports.robots import ARM

    robot = tmp_path / "robot"
    robot.mkdir()
    (robot / "thumb.stl").write_text(
        "solid a\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    )
    (robot / "arm.urdf").write_text(ARM.replace("package://hand/thumb.dae", "package://hand/thumb.stl"))
    told = good("import", "robot/arm.urdf", "--limits", cwd=tmp_path)
    assert "3 bodies, 3 joints, 1 constraints" in told
    assert "not carried over: dry friction of joints (friction=True, --friction, carries it over): shoulder" in told
    good("run", "robot/arm.yaml", "--duration", "0.1s", cwd=tmp_path)
    good("view", "arm.nc", cwd=tmp_path)
    assert '"kind":"mesh"' in (tmp_path / "arm.html").read_text()
    done = madi("import", "robot/none.urdf", cwd=tmp_path)
    assert done.returncode != 0
    assert "cannot be read" in done.stderr
