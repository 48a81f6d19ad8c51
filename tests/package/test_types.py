"""A user's script under mypy --strict: madi's names have types, and answers have theirs."""

import subprocess
import sys
from inspect import signature
from typing import get_type_hints

from tests.package.places import ROOT

SCRIPT = """
from typing import assert_type

import numpy as np
import xarray as xr

import madi

m = madi.Model("pendulum")
bob = m.body("bob", mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
m.revolute("A", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
run = madi.simulate(m, 1.0, method=madi.Newmark(iterations=2), step=1e-3)
assert_type(run, madi.Run)
assert_type(run["A"], np.ndarray)
assert_type(run.data, xr.Dataset)
s = m.build()
assert_type(s, madi.System)
assert_type(s.forward_dynamics(s.q0, s.v0), np.ndarray)
assert_type(m.simulate(1.0, step=1e-3), madi.Run)
madi.vehicle.no_such_thing  # ERROR
m.simulate(1.0, stepp=1e-3)  # ERROR
madi.Newmark(betta=0.25)  # ERROR
madi.simulate(m, 1.0, stepp=1e-3)  # ERROR
m.revolutte("B")  # ERROR
run.no_such_thing  # ERROR
"""


def test_names_and_answers_have_types(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={ROOT / '.mypy_cache'}",
        str(script),
    ]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    wrong = {k for k, line in enumerate(SCRIPT.splitlines(), start=1) if "# ERROR" in line}
    assert {int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line} == wrong, told


def test_options_of_runs_are_those_of_simulate():
    """What type checkers are told of `Model.simulate` and `simulate_many`, against the functions themselves."""
    from madi.run import batch, options, simulate
    from madi.run.checkpoint import Checkpoint
    from madi.run.stream import Stream

    known = {"Run": object, "Checkpoint": Checkpoint, "Stream": Stream}
    face = get_type_hints(simulate.simulate, localns=known)
    told = get_type_hints(options.RunOptions, localns=known)
    assert told.pop("every") == float | None
    assert told == {name: face[name] for name in simulate.OPTIONS}
    own = set(signature(batch.simulate_many).parameters)
    of_many = get_type_hints(options.ManyOptions, localns=known)
    assert of_many == {name: face[name] for name in simulate.PREPARED if name not in own and name != "history"}
