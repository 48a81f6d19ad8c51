"""Numbers and names: bodies, coordinates, columns, in the order of the tree; where the user gave them a start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN, LOCKED
from madi.model.elements import body_name
from madi.model.model import joint_coordinates, joint_speeds
from madi.signals.trace import Signals, add_drive
from madi.topology.graph import SpanningTree
from madi.topology.modal import modal_start

if TYPE_CHECKING:
    from madi.model.elements import Body, Joint
    from madi.model.model import Model


@dataclass
class Numbering:
    """Coordinates and columns as they are met: names, units, starts, and which of those the user gave."""

    coordinates: list[str] = field(default_factory=list)
    speeds: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    speed_units: list[str] = field(default_factory=list)
    q0: list[float] = field(default_factory=list)
    v0: list[float] = field(default_factory=list)
    armature: list[float] = field(default_factory=list)
    given_q: list[bool] = field(default_factory=list)
    given_v: list[bool] = field(default_factory=list)
    places: dict[str, np.ndarray] = field(default_factory=dict)  # of each body: q_at, v_at, v_end

    def add_joint(self, joint: Joint) -> None:
        """Coordinates and columns of a joint."""
        kind = KINDS[joint.kind]
        self.coordinates += joint_coordinates(joint)
        self.speeds += joint_speeds(joint)
        self.units += kind.units
        self.speed_units += kind.rate_units
        self.q0 += list(_initial(joint.q0, kind.nq, kind.quaternion))
        self.v0 += list(_initial(joint.v0, kind.nv, None))
        self.armature += np.broadcast_to(np.asarray(joint.armature, dtype=float), kind.nv).tolist()
        self.given_q += [joint.q0 is not None] * kind.nq
        self.given_v += [joint.v0 is not None] * kind.nv

    def add_modes(self, owner: Body) -> None:
        """Those of a flexible body, where it is walked to from the point it is attached to."""
        about = owner.flexible.field
        names = [f"{owner.name}.{name}" for name in about.names]
        self.coordinates += names
        self.speeds += names
        self.units += about.units
        self.speed_units += [f"{unit}/s" for unit in about.units]
        self.armature += [0.0] * len(names)
        self.q0 += modal_start(owner, owner.q0)
        self.v0 += modal_start(owner, owner.v0)
        self.given_q += [True] * len(names)  # straight unless told: loops are closed by joints, if they can be
        self.given_v += [True] * len(names)

    def add_states(self, model: Model) -> None:
        """First-order states z' = g(t, q, v, z): columns with a unit on the diagonal of M that move no body."""
        begin = len(self.speeds)
        for force in model.forces:
            for name, unit in FORCES[force.kind].states:
                self.speeds.append(f"{force.name}.{name}" if name else force.name)
                self.speed_units.append(unit)
                self.v0.append(float(force.parameters.get("start", 0.0)))
                self.armature.append(1.0)
                self.given_v.append(True)
        self.places["v_at"][0], self.places["v_end"][0] = begin, len(self.speeds)


def number_bodies(tree: SpanningTree) -> dict[str, int]:
    """Bodies in depth-first order, the ground first."""
    return {"ground": 0, **{edge.body: k + 1 for k, edge in enumerate(tree.edges)}}


def number_columns(model: Model, tree: SpanningTree) -> Numbering:
    """All coordinates and columns."""
    drawn = {"ground": model.ground, **{body.name: body for body in model.bodies}}
    made = Numbering(places={name: np.zeros(len(tree.edges) + 1, dtype=np.int64) for name in ("q_at", "v_at", "v_end")})
    for i, edge in enumerate(tree.edges, start=1):
        made.places["q_at"][i], made.places["v_at"][i] = len(made.coordinates), len(made.speeds)
        if edge.joint.station is not None and edge.reverse:
            made.add_modes(drawn[body_name(edge.joint.parent)])
        made.add_joint(edge.joint)
        made.places["v_end"][i] = len(made.speeds)
    made.add_states(model)
    return made


def _initial(given: Any, count: int, quaternion: int | None) -> np.ndarray:
    values = np.zeros(count) if given is None else np.atleast_1d(np.asarray(given, dtype=float)).copy()
    if quaternion is not None:
        if given is None:
            values[quaternion] = 1.0
        part = slice(quaternion, quaternion + 4)
        values[part] /= np.linalg.norm(values[part])
    return values


def column_arrays(
    model: Model, ints: dict[str, np.ndarray], coordinates: list[str], speeds: list[str], signals: Signals
) -> dict[str, np.ndarray]:
    """Of each column its body, the columns before it on the path to the base, its drive and its coordinate."""
    nv = len(speeds)
    columns = {
        name: np.full(nv, FREE_COLUMN if name == "drive" else -1, dtype=np.int64)
        for name in ["column_body", "column_parent", "free_column_parent", "drive", "column_q"]
    }
    tip = np.full(len(ints["parent"]), -1, dtype=np.int64)
    for i in range(1, len(tip)):
        before = tip[ints["parent"][i]]
        for c in range(ints["v_at"][i], ints["v_end"][i]):
            columns["column_body"][c], columns["column_parent"][c] = i, before
            before = c
        tip[i] = before
    place = {name: k for k, name in enumerate(coordinates)}
    columns["column_body"][ints["v_at"][0] :] = 0  # first-order states
    for c, name in enumerate(speeds[: ints["v_at"][0]]):
        columns["column_q"][c] = place.get(name, -1)
    column = {name: c for c, name in reversed(list(enumerate(speeds)))}
    of_joint: dict[str, list[int]] = {}
    for c, name in enumerate(speeds[: ints["v_at"][0]]):
        of_joint.setdefault(name.split(".")[0], []).append(c)
    for drive in model.drives:
        if drive.function is None:
            columns["drive"][of_joint.get(drive.coordinate, [])] = LOCKED
        elif drive.coordinate in column:
            where = f"drive of {drive.coordinate!r}"
            columns["drive"][column[drive.coordinate]] = add_drive(signals, where, drive.function)
    for c in range(nv):  # parents come first
        before = columns["column_parent"][c]
        if before >= 0 and columns["drive"][before] != FREE_COLUMN:
            before = columns["free_column_parent"][before]
        columns["free_column_parent"][c] = before
    return columns
