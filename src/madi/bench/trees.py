"""`madi bench trees`: open mechanisms, madi's engines against Pinocchio, MuJoCo and Exudyn, in one run.

Every engine's numbers are first checked against the others: no agreement, no times. Then, model by model, one engine after
the other, the best of several rounds is taken: machines are noisy, ratios mean more than microseconds. Times are per
evaluation inside a compiled loop; a peer that can only be called from Python has the cost of the call taken off.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from madi.bench.models import binary_tree, chain, six_by_six
from madi.bench.peers import Peer, peers_of
from madi.errors import EngineError
from madi.integrate.many import MANY, Many
from madi.model.model import Model
from madi.papers.rrc import arm
from madi.system import System

LARGEST_COMPILED = 60  # columns; gcc's time grows faster than the trace
QUANTITIES = {"forward dynamics": None, "inverse dynamics": "inverse", "mass matrix": "mass-matrix"}


def models(quick: bool) -> list[Model]:
    """What is measured."""
    lengths = (10, 30, 100) if quick else (10, 30, 100, 300)
    return [arm("7-joint arm"), six_by_six(printed=False), *(chain(n) for n in lengths), binary_tree(63)]


def state(system: System, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A state with all joints bent and moving; the base turned, but not by a quarter (Exudyn's singular pitch)."""
    rng = np.random.default_rng(seed)
    q, v = system.q0, 0.5 * rng.normal(size=system.nv)
    first = 7 if system.nq > system.nv else 0
    q[first:] = 0.4 * rng.normal(size=system.nq - first)
    if first:
        q[3:7] = np.array([0.95, 0.1, 0.2, -0.15]) / np.linalg.norm([0.95, 0.1, 0.2, -0.15])
    return q, v


def engines_of(system: System) -> list[str]:
    """The engines that are measured for this size."""
    from madi.engines.compiler import compiler

    return ["jit", "compiled"] if system.nv <= LARGEST_COMPILED and compiler() else ["jit"]


def agreement(system: System, peers: list[Peer]) -> float:
    """Largest relative difference of the generalised force M a that each acceleration stands for, over all engines."""
    q, v = state(system)
    tau = np.zeros(system.nv)
    M = system.mass_matrix(q)
    reference = M @ system.forward_dynamics(q, v, tau)
    answers = [peer.forward_dynamics(q, v, tau) for peer in peers]
    answers += [system.forward_dynamics(q, v, tau, engine=engine) for engine in engines_of(system)]
    worst = max(float(np.max(np.abs(M @ a - reference))) for a in answers) / float(np.max(np.abs(reference)))
    for peer in peers:
        worst = max(worst, float(np.max(np.abs(peer.mass_matrix(q) - M)) / np.max(np.abs(M))))
    return worst


def time_entry(system: System, engine: str, entry: str, seconds: float) -> float:
    """Seconds per evaluation in a compiled loop: best of five rounds that together last about `seconds`."""
    machine = system.engine(engine)
    loop, (q, v) = machine.loop(MANY), state(system)
    out, nv = np.zeros(max(system.nv**2, 1)), system.nv
    sizes = {"nq": system.nq, "nv": nv, "nx": nv, "width": len(out)}
    memory = Many(sizes, function=machine.function(entry), t=np.zeros(1), q=q, v=v, x=np.zeros(nv), out=out)
    n, took = 10, 0.0
    while took < seconds / 20:
        n *= 2
        memory.last = n
        start = time.process_time()
        loop(memory)
        took = time.process_time() - start
    best, memory.last = np.inf, 4 * n
    for _ in range(5):
        start = time.process_time()
        loop(memory)
        best = min(best, (time.process_time() - start) / (4 * n))
    return float(best)


def peer_time(peer: Peer, quantity: str, q: np.ndarray, v: np.ndarray, seconds: float) -> float:
    """A peer's time per evaluation."""
    n = max(20, int(seconds / 5 / (1e-6 * (1 + 0.4 * peer.nv + 2e-4 * peer.nv**2))))
    if quantity == "forward dynamics":
        return peer.time_forward(q, v, n if peer.name != "Exudyn" else max(20, n // 20))
    return peer.time_inverse(q, v, n) if quantity == "inverse dynamics" else peer.time_mass(q, n)


def run_times(system: System, peers: list[Peer], duration: float) -> dict[str, Any]:
    """RK4 at 1 ms: seconds for `duration` (large models: from its fiftieth, before long chains whip), and how far the
    engines' states lie apart after 0.1 s."""
    from madi.run.simulate import simulate

    q, v = state(system)
    part = duration if system.nv <= 63 else 0.02 * duration
    row: dict[str, Any] = {"model": system.name}
    ends = {}
    fastest = np.inf
    for engine in engines_of(system):
        took = []
        for _ in range(3):
            start = time.process_time()
            simulate(system, part, step=1e-3, start=(q, v), times=[part], engine=engine)
            took.append(time.process_time() - start)
        row[f"madi {engine}, s"] = min(took) * duration / part
        short = simulate(system, 0.1, step=1e-3, start=(q, v), times=[0.1], engine=engine)
        ends[engine] = short.data["v"].values[-1]
    for peer in peers:
        seconds = min(peer.run_rk4(q, v, part, 1e-3)[0] for _ in range(2)) * duration / part
        fastest = min(fastest, seconds)
        row[f"{peer.name}, s"] = seconds
        ends[peer.name] = peer.run_rk4(q, v, 0.1, 1e-3)[2]
    row["fastest peer / madi"] = fastest / min(row[f"madi {engine}, s"] for engine in engines_of(system))
    reference = ends["jit"]
    row["states apart"] = max(float(np.max(np.abs(end - reference)) / np.max(np.abs(reference))) for end in ends.values())
    return row


def report(quick: bool = False) -> dict[str, Any]:
    """All tables."""
    seconds = 0.1 if quick else 0.5
    tables: dict[str, list[dict[str, Any]]] = {f"{quantity}, µs": [] for quantity in QUANTITIES}
    runs: list[dict[str, Any]] = []
    checks: list[dict[str, Any]] = []
    for model in models(quick):
        system = model.build()
        peers = peers_of(system)
        apart = agreement(system, peers)
        if not apart < 1e-8:
            raise EngineError(f"{system.name}: the engines disagree by {apart:.1e}; their times would mean nothing")
        checks.append({"model": system.name, "columns": system.nv, "largest difference": apart})
        q, v = state(system)
        for quantity, entry in QUANTITIES.items():
            row: dict[str, Any] = {"model": system.name}
            for engine in engines_of(system):
                row[f"madi {engine}"] = 1e6 * time_entry(system, engine, entry or system.formulation(), seconds)
            for peer in peers:
                row[peer.name] = 1e6 * peer_time(peer, quantity, q, v, seconds)
            row.setdefault("madi compiled", float("nan"))
            for engine in ("jit", "compiled"):
                row[f"Pinocchio/{engine}"] = row["Pinocchio"] / row[f"madi {engine}"]
                row[f"MuJoCo/{engine}"] = row["MuJoCo"] / row[f"madi {engine}"]
            row["jit per body"] = row["madi jit"] / len(system.bodies)
            order = ["model", "madi jit", "madi compiled", *(peer.name for peer in peers), "Pinocchio/jit", "MuJoCo/jit",
                     "Pinocchio/compiled", "MuJoCo/compiled", "jit per body"]  # fmt: skip
            tables[f"{quantity}, µs"].append({key: row[key] for key in order})
        runs.append(run_times(system, peers, 1.0 if quick else 10.0))
    label = "1 s" if quick else "10 s"
    return {
        "title": "Trees: madi against Pinocchio, MuJoCo and Exudyn, one run",
        "tables": {"Agreement of all engines (relative)": checks, **tables, f"{label} of RK4 at 1 ms": _same_columns(runs)},
        "notes": [
            "Pinocchio: time from Python less that of the same call on one joint. MuJoCo: forward and runs in its own loop,",
            "the rest less the same call on one body. Exudyn: RK44 steps in its own loop; it has no inverse dynamics call.",
        ],
    }


def _same_columns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return [{key: row.get(key, float("nan")) for key in columns} for row in rows]
