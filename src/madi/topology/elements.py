"""Force elements as arrays: what each acts on, its parameters in internal frames, its signals and states."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.dynamics.kinematics import positions
from madi.dynamics.recursive import mass_diagonal
from madi.forces import BY_CODE
from madi.forces import KINDS as FORCES
from madi.forces.modes import MEMORY, TOLD
from madi.joints import KINDS
from madi.model.elements import Force, body_name, joint_name
from madi.signals.trace import Signals, add_function
from madi.topology.frames import Frame
from madi.topology.layout import Layout, repack

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.graph import SpanningTree

FEW_POINTS, POINTS_PER_BODY = 200, 12  # of contact at once: a ball has twelve others around it


def force_arrays(
    model: Model, number: dict[str, int], frames: list[Frame], reals: dict[str, np.ndarray],
    names: tuple[list[str], list[str]], signals: Signals, q0: np.ndarray, v0: np.ndarray,
) -> tuple[dict[str, np.ndarray], list[float]]:  # fmt: skip
    """All elements, in the order drawn: their table, and the parameters behind each other."""
    columns = ["force_kind", "force_a", "force_b", "force_at", "force_signal", "force_call", "force_state", "force_held",
               "force_touch"]  # fmt: skip
    table = np.full((len(model.forces), len(columns)), -1, dtype=np.int64)
    table[:, 5] = 0
    state = len(v0) - sum(len(FORCES[force.kind].states) for force in model.forces)
    parameters: list[float] = []
    taken = touched = 0
    column = {name: c for c, name in reversed(list(enumerate(names[1])))}
    measured = [e for e, force in enumerate(model.forces) if FORCES[force.kind].law and callable(force.value)]
    place = {e: len(v0) + 2 * k for k, e in enumerate(measured)}
    seen = np.concatenate([v0, np.zeros(2 * len(measured))])  # what functions get as v
    for e, force in enumerate(model.forces):
        kind = FORCES[force.kind]
        table[e, 0], table[e, 3] = kind.code, len(parameters)
        if kind.states:
            table[e, 6] = state
            state += len(kind.states)
        if count := held_count(force):
            table[e, 7] = taken
            taken += count
        if kind.touches is not None:
            table[e, 8] = touched
            touched += kind.touches(force)
        if kind.on_joint:
            table[e, 1] = column[str(joint_name(force.a))]
        elif kind.ends:
            table[e, 1] = number[body_name(force.a)]
            if kind.ends == 2:
                table[e, 2] = number[body_name(force.b)]
        parameters += signals.curves.numbers(_parameters(force, table[e], frames, reals))
        if kind.signals:
            where, value = f"force {force.name!r}", 0.0 if force.value is None else force.value
            law = place.get(e)
            if law is not None:
                a, b = (np.asarray(point, dtype=float) for point in force.at)
                seen[law] = np.linalg.norm(b - a)
            table[e, 4] = add_function(signals, where, value, kind.signals, q0, v0, names, seen, law)
    found = {name: table[:, k] for k, name in enumerate(columns)}
    modes = [
        (e, kind, -1 if kind == TOLD else int(table[e, 1]))
        for e, force in enumerate(model.forces)
        for kind in FORCES[force.kind].modes
    ]
    modes += [(e, MEMORY, -1) for e, force in enumerate(model.forces) for _ in range(memory_of(force))]
    modes.sort(key=lambda mode: mode[0])
    places = np.array(modes, dtype=np.int64).reshape(-1, 3).T
    held = dict(zip(("held_of", "held_kind", "held_column"), places, strict=True))
    more = {"measured": np.array(measured, dtype=np.int64), "n_touch": np.array(touched)}
    return found | held | more, parameters


def hard_sizes(model: Model, tree: SpanningTree, nv: int, rows: int) -> dict[str, int]:
    """Room for what a time-stepping method meets in a step: all points of contact, stops and frictions, unless these are so
    many that bodies are in each other's way before they all touch."""
    points = sum(touches(force) for force in model.forces if (touches := FORCES[force.kind].touches) is not None)
    n_hard = min(points, max(FEW_POINTS, POINTS_PER_BODY * len(tree.edges)))
    n_hard += sum(TOLD in FORCES[force.kind].modes for force in model.forces)
    columns: dict[str, int] = {"ground": 0}
    for edge in tree.edges:
        joint = edge.joint
        own = len(joint.station.psi) if joint.station is not None else KINDS[joint.kind].nv
        columns[edge.body] = columns.get(edge.parent, 0) + own
    most = nv if rows else min(nv, 2 * max(columns.values()))
    return {"n_hard": n_hard, "n_feel": n_hard * most, "n_value": 3 * n_hard * most}


def memory_of(force: Force) -> int:
    """How many numbers an element remembers."""
    memory = FORCES[force.kind].memory
    return 0 if memory is None else memory(force)


def held_count(force: Force) -> int:
    """Held values of an element: its modes, then its memory."""
    return len(FORCES[force.kind].modes) + memory_of(force)


def _parameters(force: Force, row: np.ndarray, frames: list[Frame], reals: dict[str, np.ndarray]) -> list[Any]:
    """Points in internal coordinates, then the numbers (and blocks of measured curves), in the order the force's KIND names
    them."""
    values: list[Any] = []
    for body, point in zip((int(row[1]), int(row[2])), force.at, strict=False):
        values += list(reals["com"][body] if point is None else frames[body].point(point))
    pack: Any = getattr(BY_CODE[FORCES[force.kind].code], "pack", None)
    given = dict(force.parameters)
    for name, takes in FORCES[force.kind].takes.items():
        if takes.drawn and given.get(name, 0.0) is None:
            given[name] = float(np.linalg.norm(np.subtract(force.at[1], force.at[0], dtype=float)))
    if pack is not None:
        bodies = [frames[max(int(k), 0)] for k in (row[1:3] if FORCES[force.kind].ends else (0, 0))]
        return pack(replace(force, parameters=given), values, bodies)
    return values + [0.0 if value is None else float(value) for value in given.values()]


def by_inertia(model: Model, layout: Layout, forces: dict[str, np.ndarray], q0: np.ndarray) -> Layout:
    """Stiffnesses that are left out follow from the inertia that their coordinate moves at the start."""
    open_ones = [
        (e, FORCES[force.kind].parameters.index(name), takes.quick)
        for e, force in enumerate(model.forces)
        for name, takes in FORCES[force.kind].takes.items()
        if takes.quick and force.parameters.get(name, 0.0) is None
    ]
    if not open_ones:
        return layout
    work = layout.scratch()
    positions(layout.arrays, work, q0)
    inertia = np.empty(layout.sizes["nv"])
    mass_diagonal(layout.arrays, work, inertia)
    numbers = layout.arrays.parameter.copy()
    for e, place, quick in open_ones:
        numbers[forces["force_at"][e] + place] = inertia[forces["force_a"][e]] / quick**2
    return repack(layout, {}, {"parameter": numbers})
