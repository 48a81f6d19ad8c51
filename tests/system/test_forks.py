"""A process forked from one whose threads are at work, or were: it has none of them, and none of the locks they held."""

import ast
import os
import subprocess
import sys

import pytest

from tests.package.places import SOURCE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system forks no processes")

START = """
import os, threading
import numpy as np
import madi, madi.integrate.many
madi.integrate.many.cores = lambda: 2
m = madi.Model("pendulum")
bob = m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
m.revolute("A", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
s = m.build()
q = np.linspace(-1, 1, 500)[:, None]
wanted = -9.81 * np.sin(q) / 1.1
"""
END = """
child = os.fork()
if not child:
    right = False
    try:
        right = bool({answer})
    finally:
        os._exit(0 if right else 1)
held.set()
assert os.waitpid(child, 0)[1] == 0
assert {answer}
"""
EVALUATED = "np.allclose(s.forward_dynamics(q, np.zeros((500, 1))), wanted)"
# what is done before the fork, and what both processes then ask
CASES = {
    "threads of many states": ("held = threading.Event(); " + EVALUATED, EVALUATED),
    "a lock another thread has": (
        """
run = madi.simulate(m, 0.1, step=0.01, start=([0.5], [0.0]))
held, there = threading.Event(), threading.Event()
def hold():
    with run.arrays.later()._lock:
        there.set()
        held.wait()
threading.Thread(target=hold).start()
there.wait()
""",
        "abs(run['energy'] + 9.81 * np.cos(0.5)).max() < 1e-3",
    ),
    "threads of a sweep": (
        "held = threading.Event(); madi.simulate_many(m, {'bob.mass': np.ones(50)}, 0.1, step=0.01)",
        "not madi.simulate_many(m, {'bob.mass': np.ones(50)}, 0.1, step=0.01)['q'].values.any()",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_forked_process_goes_on(case):
    """(Right values: of a pendulum, in closed form.)"""
    before, answer = CASES[case]
    script = START + before + END.format(answer=answer)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_a_forked_process_leaves_the_folder_of_the_first(tmp_path):
    """Where no cache can be kept, what is made lies in a folder of the process that made it."""
    script = f"""
import os, sys
os.environ["TMPDIR"] = {str(tmp_path)!r}
from madi.engines.cache import temporary_folder
folder = temporary_folder()
if not os.fork():
    sys.exit()
os.wait()
assert folder.is_dir()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)
    assert not list(tmp_path.glob("madi-*"))


def test_no_module_keeps_another_lock_or_executor():
    """They are `Lock`, or named in kernel/forks.py; what lives for one call only is inside a function."""
    kinds = {"Lock", "RLock", "Condition", "Semaphore", "Event", "ThreadPoolExecutor", "ProcessPoolExecutor"}
    wrong = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            called = (
                [one.func for one in ast.walk(node) if isinstance(one, ast.Call)] if isinstance(node, ast.Assign) else []
            )
            of_threading = [one for one in called if isinstance(one, ast.Attribute) and one.attr in kinds]
            wrong += [f"{path}: {one.attr}" for one in of_threading]
    assert not wrong
