"""In a notebook's kernel: pictures once, no magic words; progress and waits as one output, not a flood."""

from tests.show.books import executed, of_cells, shown, streams

MODEL = """
import numpy as np
import madi
m = madi.Model("pendulum")
bob = m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
m.revolute("A", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
run = m.simulate(0.5)
"""
SLOW = """
import time
def slow(t, q, v):
    time.sleep(1e-4)
    return 0.0
m.joint_torque("slow", "A", madi.in_python(slow))
run = madi.simulate(m, 1.0, step=3e-4, progress=True)
"""
WAIT = """
from madi.show.waiting import explain_wait
explain_wait("a thing", lambda: time.sleep(0.1))
"""


def pictures(cell):
    return sum("image/png" in kinds for kinds in shown(cell))


def test_a_notebook(tmp_path):
    cells = executed(
        of_cells(
            MODEL,
            "run.plot()",
            "figure = run.plot()",
            "run.plot()\nNone",
            "for _ in range(2):\n    display(run.plot('A', 'A.v'))",
            "import matplotlib.pyplot as plt\nplt.plot([0, 1]);",
            "run.plot()",  # and now that pyplot has set the notebook up for its own figures
            "run",
            "m.build().equations()",
            SLOW,
            WAIT,
        ),
        tmp_path,
    ).cells
    assert [pictures(cell) for cell in cells] == [0, 1, 0, 0, 2, 1, 1, 0, 0, 0, 0]
    assert all(kinds == {"image/png", "text/plain"} for kinds in shown(cells[1]))
    assert [("text/html" in kinds) for kinds in shown(cells[7])] == [True]
    assert [("text/latex" in kinds, "text/html" in kinds) for kinds in shown(cells[8])] == [(True, False)]
    told = [output["data"]["text/plain"] for output in cells[9]["outputs"]]
    assert len(told) == 1  # one output, kept up to date
    assert told[0].startswith("pendulum: ended after")
    waited = [output["data"]["text/plain"] for output in cells[10]["outputs"]]
    assert len(waited) == 1
    assert waited[0].startswith("madi: preparing a thing (once; kept for later runs) ... 0.")
    assert not any(streams(cell) for cell in cells)
