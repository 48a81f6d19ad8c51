"""Loads of joints and constraints: what they are, where they mean nothing, which of them mechanics determines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations.loads import Load
from madi.errors import InputError
from madi.system.observation import Reaction

if TYPE_CHECKING:
    from madi.system import System

OPEN = 1e-6  # m or rad; of the largest speed (1 at least): loops that far open have no loads
DETERMINED = 1e-9  # of the largest change (1 N, 1 N m at least) of a load with the redundant multipliers: rounding


def reactions(
    system: System, q: Any, v: Any, joints: Any, tau: Any, t: float, axes: Any, a: Any, way: str, engine: str
) -> dict[str, Reaction]:
    """Of the joints named, at a closed state: see `System.reactions`."""
    if way not in ("selected", "newton-euler"):
        raise InputError(f"way={way!r}: choose 'selected' or 'newton-euler'")
    names = system.loaded_names if joints is None else [joints] if isinstance(joints, str) else list(joints)
    if q is None:
        q, v = system.start.q, system.start.v if v is None else v
    refuse_open_loops(system, q, v, t)
    wanted = [system.load_of(name) for name in names]
    multipliers = np.zeros(0)
    if system.frozen.rows:
        engine = system.general(engine)
        out = system._evaluate("multipliers", q, v, system.checked_vector(tau, system.nv, "tau"), t, engine)
        a, multipliers = out[: system.nv] if a is None else a, out[system.nv :]
    elif a is None:
        a = system.forward_dynamics(q, v, tau, t, engine=engine)
    x = np.concatenate([system.checked_vector(a, system.nv, "a"), Load.request(wanted), multipliers])
    driving = system.driving_columns(wanted)
    entry = "loads" if way == "selected" else "loads-newton-euler"
    row = system._evaluate(entry, q, v, x, t, engine, size=6 * len(wanted) + len(driving))
    body = system._body(axes)
    turn = system.observe(q, v, t, engine=engine).rotation[0, body - 1].T if body else np.eye(3)
    found = {}
    sure = determined(system, q, t, turn, wanted)
    for k, name in enumerate(names):
        own = {system.speeds[c]: float(row[6 * len(wanted) + j]) for j, (load, c) in enumerate(driving) if load == wanted[k]}
        force, moment = turn @ row[6 * k : 6 * k + 3], turn @ row[6 * k + 3 : 6 * k + 6]
        found[name] = Reaction(force, moment, own, bool(sure[k].all()), sure[k])
    return found


def refuse_open_loops(system: System, q: Any, v: Any, t: float) -> None:
    """Loads of a mechanism that is torn open mean nothing."""
    if not system.frozen.rows:
        return
    from madi.assembly.assemble import by_element

    seen = system.observe(q, v, t, engine="plain")  # drives put in
    phi, rate, _, _ = system.constraint_terms(seen.q[0], seen.v[0], t, engine="plain")
    speed = 1.0 + float(np.max(np.abs(seen.v[0]), initial=0.0))
    for values, what, most in ((phi, "positions", OPEN), (rate, "speeds", OPEN * speed)):
        if np.max(np.abs(values), initial=0.0) > most:
            worst = max(by_element(system, values).items(), key=lambda item: item[1])
            raise InputError(
                f"the loops are open at these {what} ({worst[0]!r}: {worst[1]:.3g}): loads there mean nothing. Use "
                "s.start.q and s.start.v, a state of a run, or s.assemble(q, v)"
            )


def determined(system: System, q: Any, t: float, turn: np.ndarray, wanted: list[Load]) -> np.ndarray:
    """Which of the six components of each load the mechanics of rigid bodies determines: those that no multipliers
    without motion (redundancy.py) change."""
    sure = np.ones((len(wanted), 6), dtype=bool)
    null = system.mobility(q, t).null if system.frozen.rows else np.zeros((0, 0))
    if not null.shape[1]:
        return sure
    rest = np.concatenate([np.zeros(system.nv), Load.request(wanted)])
    size = 6 * len(wanted) + len(system.driving_columns(wanted))

    def loads(multipliers: np.ndarray) -> np.ndarray:
        x = np.concatenate([rest, multipliers])
        row = system._evaluate("loads", q, np.zeros(system.nv), x, t, "plain", size=size)[: 6 * len(wanted)]
        return row.reshape(-1, 2, 3) @ turn.T

    none = loads(np.zeros(len(null)))
    for k in range(null.shape[1]):
        change = np.abs(loads(null[:, k]) - none).reshape(-1, 6)
        sure &= change < DETERMINED * max(1.0, float(np.max(change)))
    return sure
