"""A user's script under pyright, as editors run it: names, answers, and what is given have types."""

import json
import subprocess
import sys

import pytest

from tests.package.places import SOURCE

SCRIPT = """
import numpy as np

import madi

m = madi.Model("pendulum", gravity=(0, 0, -9.81))
bob = m.body("bob", mass=1.0, com=(0, 0, -1), inertia=np.eye(3), position=np.zeros(3))
m.revolute("A", m.ground, bob, at=(0, 0, 0), axis=[0, 1, 0], q0=0.3)
arm = m.body("arm", 1, inertia=(1, 1, 1), orientation=(1, 0, 0, 0))
m.spherical("B", "bob", arm, at=np.array([0.0, 0, -1]))
m.spring_damper("spring", m.ground, arm, at=((1, 0, 0), np.zeros(3)), stiffness=100)
m.joint_torque("motor", "A", lambda t, q, v: -q["A"] + madi.sin(t))
m.force("push", arm, (0, 0, 1))
m.drive("A", madi.table([(0, 0), (1, 0.5)]))
run: madi.Run = madi.simulate(m, 1.0, method=madi.Newmark(iterations=2), step=1e-3, reactions=["A"])
height: np.ndarray = run["bob.z"]
run.plot("A", path="run.png").suptitle("A")
run.view("run.html").resolve()
run.table("A").describe()
s = m.build()
acceleration: np.ndarray = s.forward_dynamics(np.zeros((10, s.nq)), np.zeros((10, s.nv)), t=np.zeros(10))
s.mass_matrix([0.0, 1, 0, 0, 0])
ok: bool = madi.check(m).ok and m.check().ok
rest = madi.statics(m, {"A": 0.1})
print(madi.linearize(rest).modes[0]["frequency"], madi.assemble(m, pin=["A"]).q.shape)
again: madi.Run = m.simulate(1.0, step=1e-3, reactions=["A"], start=(None, {"A": 1.0}), progress=False)
madi.simulate(m, 1.0, start=madi.assemble(m))
highest = {"top": lambda run: run["bob.z"].max(), "q": "q"}
madi.simulate_many(m, {"bob.mass": [1.0, 2.0]}, 1.0, step=0.01, keep=highest)
madi.simulate_many(m, {"bob.mass": np.ones(3)}, start=(np.zeros((3, s.nq)), None), times=[0.0, 1.0])
corner = madi.vehicle.Corner
m.simulate(1.0, stepp=1e-3)  # ERROR
m.simulate(1.0, step="short")  # ERROR
madi.simulate(m, 1.0, start=3.0)  # ERROR
madi.simulate_many(m, {"bob.mass": [1.0]}, history=True)  # ERROR
madi.vehicle.no_such_thing  # ERROR
madi.Newmark(betta=0.25)  # ERROR
madi.simulate(m, 1.0, stepp=1e-3)  # ERROR
m.revolutte("B")  # ERROR
run.no_such_thing  # ERROR
m.revolute("C", m.ground, 3, at=(0, 0, 0), axis=(0, 1, 0))  # ERROR
m.revolute("C", m.ground, bob, at="origin", axis=(0, 1, 0))  # ERROR
m.prismatic("C", m.ground, bob, at=(0, 0, 0), axis=1.0)  # ERROR
m.joint_torque("D", "A", "strong")  # ERROR
s.forward_dynamics("A", s.v0)  # ERROR
"""


def test_a_users_script(tmp_path):
    pytest.importorskip("pyright")
    (tmp_path / "script.py").write_text(SCRIPT)
    settings = {"extraPaths": [str(SOURCE.parent)], "typeCheckingMode": "standard", "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    found = json.loads(done.stdout)["generalDiagnostics"]
    told = {one["range"]["start"]["line"] + 1: one["message"] for one in found}
    wrong = {k for k, line in enumerate(SCRIPT.splitlines(), start=1) if "# ERROR" in line}
    assert set(told) == wrong, told
