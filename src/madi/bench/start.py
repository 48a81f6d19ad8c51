"""`madi bench start`: what a user waits for before the dynamics begins: imports, first runs, the way from Python and back.

Processes are fresh, their times CPU seconds of process and children (best of several). Cold: nothing in the cache. Peers run
something as small; where one is not installed, its row is left out (Drake is in no extra: pip install drake). Crossings: one
forward dynamics of a pendulum from Python, answer included. States at once: per state and core, against Pinocchio's C++
without the way to it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from madi.bench.models import chain
from madi.bench.peers import missing, peer_of
from madi.bench.trees import engines_of, peer_time, state
from madi.engines import library
from madi.papers.rrc import arm
from madi.system import System

PENDULUM = """
import madi
m = madi.Model("pendulum")
a = m.body("a", mass=1.0, inertia=(0.08, 0.08, 0.001), position=(0, 0, -0.5))
m.revolute("A", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0), q0=1.2)
b = m.body("b", mass=0.5, inertia=(0.04, 0.04, 0.001), position=(0, 0, -1.5))
m.revolute("B", a, b, at=(0, 0, -1), axis=(0, 1, 0))
"""
FOUR_BAR = """
c = m.body("c", mass=0.5, inertia=(0.04, 0.04, 0.001), position=(1, 0, -1))
m.revolute("C", b, c, at=(1, 0, -1.5), axis=(0, 1, 0))
m.revolute("D", c, m.ground, at=(1, 0, 0), axis=(0, 1, 0))
"""
RUNS = {
    "double pendulum": PENDULUM + "madi.simulate(m, 2.0, rtol=1e-6)['A']",
    "double pendulum, reactions": PENDULUM + "madi.simulate(m, 2.0, rtol=1e-6, reactions=['A'])['A.fx']",
    "four-bar": PENDULUM + FOUR_BAR + "madi.simulate(m, 2.0, rtol=1e-6)['A']",
    "double pendulum, newmark": PENDULUM + "madi.simulate(m, 2.0, step=1e-3, method='newmark')['A']",
}
XML = (
    '<mujoco><worldbody><body pos="0 0 0"><joint type="hinge" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.5" mass="1"/>'
    '<body pos="0 0 -1"><joint type="hinge" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.5" mass="0.5"/></body></body>'
    "</worldbody></mujoco>"
)
PEERS = {
    "mujoco": ("MuJoCo", f"import mujoco\nm = mujoco.MjModel.from_xml_string('''{XML}''')\n"
               "d = mujoco.MjData(m)\nd.qpos[0] = 1.2\nmujoco.mj_step(m, d, 1000)"),
    "pinocchio": ("Pinocchio", "import pinocchio as p, numpy as n\nm = p.buildSampleModelManipulator()\nd = m.createData()\n"
                  "q, v = p.neutral(m), n.zeros(m.nv)\nfor _ in range(1000):\n  v += 1e-3 * p.aba(m, d, q, v, v)\n"
                  "  q = p.integrate(m, q, 1e-3 * v)"),
    "exudyn": ("Exudyn", "import exudyn as e, exudyn.itemInterface as i\ns = e.SystemContainer()\nm = s.AddSystem()\n"
               "m.AddNode(i.Node1D(referenceCoordinates=[1.2]))\nm.AddObject(i.Mass1D(nodeNumber=0, physicsMass=1))\n"
               "m.Assemble()\nk = e.SimulationSettings()\nk.timeIntegration.numberOfSteps = 1000\n"
               "k.displayComputationTime = False\nk.solutionSettings.writeSolutionToFile = False\n"
               "k.timeIntegration.verboseMode = 0\nm.SolveDynamic(k)"),
    "pydrake": ("Drake", "from pydrake.multibody.plant import MultibodyPlant\nfrom pydrake.multibody.tree import *\n"
                "from pydrake.systems.analysis import Simulator\np = MultibodyPlant(1e-3)\n"
                "one = SpatialInertia.SolidSphereWithMass(1.0, 0.1)\na, b = (p.AddRigidBody(n, one) for n in 'ab')\n"
                "p.AddJoint(RevoluteJoint('A', p.world_frame(), a.body_frame(), [0, 1, 0]))\n"
                "p.AddJoint(RevoluteJoint('B', a.body_frame(), b.body_frame(), [0, 1, 0]))\np.Finalize()\n"
                "Simulator(p).AdvanceTo(1.0)"),
}  # fmt: skip
STATES = 10_000
NOT_THERE = float("nan")


def cpu_of(program: str, cache: str) -> float:
    """CPU seconds of a process that runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    variables = {**os.environ, "MADI_CACHE_DIR": cache, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-c", program], env=variables, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def processes(rounds: int) -> list[dict[str, Any]]:
    """From the start of a process to its result."""
    rows: list[dict[str, Any]] = []
    bare = {"import numpy": "import numpy", "import madi": "import madi"}
    peers = {name: program for module, (name, program) in PEERS.items() if find_spec(module)}
    with tempfile.TemporaryDirectory() as warm:
        for name, program in {**bare, **RUNS, **peers}.items():
            colds = []
            for _ in range(rounds if program in RUNS.values() else 0):
                with tempfile.TemporaryDirectory() as empty:
                    colds.append(cpu_of(program, empty))
            cpu_of(program, warm)
            again = min(cpu_of(program, warm) for _ in range(rounds))
            rows.append({"process": name, "cold, CPU s": min(colds, default=float("nan")), "warm, CPU s": again})
    first = rows[0]["warm, CPU s"]
    return [row | {"cold / warm": row["cold, CPU s"] / row["warm, CPU s"], "warm / import numpy": row["warm, CPU s"] / first}
            for row in rows]  # fmt: skip


def per_call(function: Callable[[], Any], rounds: int, calls: int = 20_000) -> float:
    """CPU seconds of a call, the best of several rounds."""
    best = np.inf
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            function()
        best = min(best, (time.process_time() - start) / calls)
    return float(best)


def crossings(rounds: int) -> list[dict[str, Any]]:
    """One forward dynamics of a pendulum, from Python and back."""
    system = chain(1).build()
    q, v = state(system)
    out = np.empty(system.nv)
    calls: dict[str, Callable[[], Any] | None] = {
        "madi": lambda: system.forward_dynamics(q, v), "madi, out=": lambda: system.forward_dynamics(q, v, out=out),
        "madi, mass matrix": lambda: system.mass_matrix(q),
    }  # fmt: skip
    absent = missing()
    for name, of_peer in (("MuJoCo", of_mujoco), ("Pinocchio", of_pinocchio)):
        calls |= {} if name in absent else of_peer(system, q, v)
    calls |= of_drake(q, v) if find_spec("pydrake") else {}
    calls |= {} if "Exudyn" in absent else {"Exudyn (no call gives accelerations)": None}
    took = {name: NOT_THERE if call is None else 1e6 * per_call(call, rounds) for name, call in calls.items()}
    against = took.get("MuJoCo, mj_forward", NOT_THERE)
    return [{"call": name, "µs": mine, "of MuJoCo's": mine / against} for name, mine in took.items()]


def of_mujoco(system: System, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], Any]]:
    """MuJoCo's ways to an acceleration."""
    import mujoco

    peer: Any = peer_of(system, "MuJoCo")
    model, data = peer.model, peer.data

    def with_state() -> Any:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        return data.qacc

    return {"MuJoCo, mj_forward": lambda: mujoco.mj_forward(model, data), "MuJoCo, with its state": with_state}


def of_pinocchio(system: System, q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Pinocchio's."""
    import pinocchio

    peer: Any = peer_of(system, "Pinocchio")
    model, data, none = peer.model, peer.data, np.zeros(1)
    return {"Pinocchio, aba": lambda: pinocchio.aba(model, data, q, v, none)}


def of_drake(q: np.ndarray, v: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Drake's, of a pendulum: the derivatives of its state, which it computes anew where the state was set."""
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import RevoluteJoint, SpatialInertia

    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("a", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.AddJoint(RevoluteJoint("A", plant.world_frame(), body.body_frame(), [0, 1, 0]))
    plant.Finalize()
    context, both = plant.CreateDefaultContext(), np.concatenate([q, v])

    def with_state() -> Any:
        plant.SetPositionsAndVelocities(context, both)
        return plant.EvalTimeDerivatives(context).CopyToVector()

    return {"Drake, with its state": with_state}


def many(rounds: int) -> list[dict[str, Any]]:
    """States of the arm in one call."""
    system = arm().build()
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(STATES, system.nq)), rng.normal(size=(STATES, system.nv))
    rows, theirs = list[dict[str, Any]](), NOT_THERE
    if "Pinocchio" not in missing():
        peer = peer_of(system, "Pinocchio")
        theirs = min(peer_time(peer, "forward dynamics", *state(system), 0.1) for _ in range(rounds))
        rows = [{"way": "Pinocchio, one after the other", "ns a state and core": 1e9 * theirs, "Pinocchio / it": 1.0}]
    for engine in engines_of(system):
        mine = per_call(lambda engine=engine: system.forward_dynamics(q, v, engine=engine), rounds + 2, 3) / STATES  # type: ignore[misc]
        told = "general engine" if engine == "jit" else "generated C, in lanes"
        rows.append({"way": f"madi, {told}", "ns a state and core": 1e9 * mine, "Pinocchio / it": theirs / mine})
    return rows


def report(quick: bool = False) -> dict[str, Any]:
    """All tables."""
    rounds = 2 if quick else 5
    absent = [*missing(), *([] if find_spec("pydrake") else ["Drake"])]
    without = [f"Not installed, so without a row: {', '.join(absent)}."] if absent else []
    level = library.level() or f"none ({library.why_none()})"
    return {
        "title": "What a user waits for", "values": {"machine code of the package": level},
        "tables": {
            "A process, from its start to its result": processes(rounds),
            "Forward dynamics of a pendulum, from Python and back": crossings(rounds),
            f"{STATES} states of the 7-joint arm in one call": many(rounds),
        },
        "notes": ["CPU times; cold: with an empty cache. Peers' processes run something as small, not the same.", *without],
    }  # fmt: skip
