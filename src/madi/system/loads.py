"""Loads of joints and constraints: what they are, where they mean nothing, which of them mechanics determines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from madi.equations.loads import Load
from madi.errors import InputError
from madi.system.evaluate import side_by_side
from madi.system.observation import Reaction

if TYPE_CHECKING:
    from madi.assembly.redundancy import Mobility
    from madi.system import System

OPEN = 1e-6  # m or rad; of the largest speed (1 at least): loops that far open have no loads
AS_THEY_ARE = np.eye(3)
MIXTURES = 2  # of all redundant multipliers, at random: each tells by itself
DETERMINED = 1e-9  # of the largest change (1 N, 1 N m at least) of a load with the redundant multipliers: rounding


def reactions(
    system: System, q: Any, v: Any, joints: Any, tau: Any, t: float, axes: Any, a: Any, way: str, engine: str
) -> dict[str, Reaction]:
    """Of the joints named, at a closed state: see `System.reactions`."""
    if way not in ("selected", "newton-euler"):
        raise InputError(f"way={way!r}: choose 'selected' or 'newton-euler'")
    names = None if joints is None else (joints,) if isinstance(joints, str) else tuple(joints)
    asked = system._asked_loads.get(names) or _asked(system, names)
    if q is None:
        q, v = system.start.q, system.start.v if v is None else v
    refuse_open_loops(system, q, v, t, engine)
    multipliers = np.zeros(0)
    if system.frozen.rows:
        engine = system.general(engine)
        out = system._evaluate("multipliers", q, v, tau, t, engine)
        a, multipliers = out[..., : system.nv] if a is None else a, out[..., system.nv :]
    elif a is None:
        a = system.forward_dynamics(q, v, tau, t, engine=engine)
    x = side_by_side(system.checked_rows(a, system.nv, "a"), np.zeros(system.n_held), asked.request, multipliers)
    entry = "loads" if way == "selected" else "loads-newton-euler"
    row = system._evaluate_checked(entry, q, v, x, t, engine, (asked.size,), None)
    body, many = system._body(axes), row.ndim > 1
    turn = AS_THEY_ARE
    if body:
        turn = np.swapaxes(system.observe(q, v, t, engine=engine).rotation[..., body - 1, :, :], -1, -2)
        turn = turn if many else turn[0]
    vectors = row[..., : 6 * len(asked.wanted)].reshape(*row.shape[:-1], 2 * len(asked.wanted), 3)
    if body:
        vectors = vectors @ np.swapaxes(turn, -1, -2)
    # which of them are determined is found at the first state; where there is none, at the start
    first = (q, t, turn) if row.size or not many else (system.start.q, 0.0, AS_THEY_ARE)
    q = np.asarray(first[0], dtype=float)
    at = q[(0,) * (q.ndim - 1)], float(np.ravel(first[1])[0]), first[2].reshape(-1, 3, 3)[0]
    sure = determined(system, *at, asked.wanted, engine=system.general(engine))
    found = {}
    for k, (name, driving) in enumerate(zip(asked.names, asked.driving, strict=True)):
        own = {speed: row[..., j].copy() if many else float(row[j]) for speed, j in driving}
        found[name] = Reaction(vectors[..., 2 * k, :], vectors[..., 2 * k + 1, :], own, bool(sure[k].all()), sure[k])
    return found


class Asked(NamedTuple):
    """Loads that were asked for by these names: what the entry is told, and where the driving forces of each are in what it
    gives."""

    names: tuple[str, ...]
    wanted: list[Load]
    request: np.ndarray
    driving: list[list[tuple[str, int]]]
    size: int


def _asked(system: System, names: tuple[str, ...] | None) -> Asked:
    """What these names ask for; it is kept."""
    known = tuple(system.loaded_names) if names is None else names
    wanted = [system.load_of(name) for name in known]
    columns, speeds, where = system.driving_columns(wanted), system.speeds, dict[Load, list[tuple[str, int]]]()
    for j, (load, c) in enumerate(columns, start=6 * len(wanted)):
        where.setdefault(load, []).append((speeds[c], j))
    driving = [where.get(load, []) for load in wanted]
    found = Asked(known, wanted, np.array(Load.request(wanted)), driving, 6 * len(wanted) + len(columns))
    system._asked_loads[names] = found
    return found


def refuse_open_loops(system: System, q: Any, v: Any, t: float, engine: str = "auto") -> None:
    """Loads of a mechanism that is torn open mean nothing."""
    if not system.frozen.rows:
        return
    from madi.assembly.assemble import by_element

    if np.ndim(q) < 2 and np.ndim(v) < 2:
        seen = system.observe(q, v, t, engine=system.general(engine))  # drives put in
        phi, rate, _ = system.constraint_rows.at(t, seen.q[0], seen.v[0])
    else:
        seen = system.observe(q, v, t)
        terms = system.constraint_terms(seen.q, seen.v, t)[:2]
        phi, rate = (np.max(np.abs(part.reshape(-1, part.shape[-1])), axis=0, initial=0.0) for part in terms)
    speed = 1.0 + float(np.max(np.abs(seen.v), initial=0.0))
    for values, what, most in ((phi, "positions", OPEN), (rate, "speeds", OPEN * speed)):
        if np.max(np.abs(values), initial=0.0) > most:
            worst = max(by_element(system, values).items(), key=lambda item: item[1])
            raise InputError(
                f"the loops are open at these {what} ({worst[0]!r}: {worst[1]:.3g}): loads there mean nothing. Use "
                "s.start.q and s.start.v, a state of a run, or s.assemble(q, v)"
            )


def determined(
    system: System, q: Any, t: float, turn: np.ndarray, wanted: list[Load], found: Mobility | None = None,
    engine: str = "auto",
) -> np.ndarray:  # fmt: skip
    """Which of the six components of each load the mechanics of rigid bodies determines: those that no multipliers
    without motion (redundancy.py) change. `found`: the mobility there, where it is known already."""
    sure = np.ones((len(wanted), 6), dtype=bool)
    freedoms = (found or system.mobility(q, t)) if system.frozen.rows else None
    if freedoms is None or not freedoms.redundant:
        return sure
    rest = np.concatenate([np.zeros(system.nv + system.n_held), Load.request(wanted)])
    size = 6 * len(wanted) + len(system.driving_columns(wanted))

    def loads(multipliers: np.ndarray) -> np.ndarray:
        x = np.concatenate([rest, multipliers])
        row = system._evaluate("loads", q, np.zeros(system.nv), x, t, engine, (size,))[: 6 * len(wanted)]
        return row.reshape(-1, 2, 3) @ turn.T

    none, rng = loads(np.zeros(freedoms.rows)), np.random.default_rng(1)
    for _ in range(MIXTURES):  # what one of them changes, a mixture of all changes too, but for a chance of nought
        change = np.abs(loads(freedoms.any_null(rng)) - none).reshape(-1, 6)
        sure &= change < DETERMINED * max(1.0, float(np.max(change)))
    return sure
