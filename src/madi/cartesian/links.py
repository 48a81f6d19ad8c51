"""Links and rows of a drawn model: what its joints, drives, rotors and constraints are in absolute coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.cartesian.words import (
    BALL,
    MEASURE,
    ROWS,
    SECOND,
    SHIFT,
    TURN,
    Z,
    measures,
    parts,
)
from madi.constraints import CONSTRAINTS
from madi.errors import InputError
from madi.joints import KINDS, fixed, prismatic, revolute
from madi.joints.kind import JointKind
from madi.model.elements import Joint, body_name, inertia_matrix, joint_name
from madi.spatial.rotation import as_rotation, frame_with_z, quaternion_to_matrix
from madi.topology.frames import joint_frame

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System

GROUND = -1  # as an end of a link, until the number of bodies is known


@dataclass
class Link:
    """Two frames: bodies, origins from their centres of mass, axes. Of a joint: its kind, and where its coordinates and
    speeds are among the tree's."""

    ends: list[int]
    s: list[np.ndarray]
    C: list[np.ndarray]
    kind: JointKind | None = None
    q: int = -1
    v: int = -1

    @property
    def parts(self) -> list[tuple[int, int, int]]:
        """Of its motion (words.py)."""
        return parts(self.kind) if self.kind else []

    def coordinate(self, part: int) -> int:
        """Which of its coordinates a part is, -1: it has none."""
        return next((coordinate for one, coordinate, _ in self.parts if one == part), -1)


@dataclass
class Row:
    """A scalar constraint: see fields.py."""

    owner: str
    link: int
    kind: int
    i: int
    j: int
    other: int
    value: float
    offset: float
    signal: int


class Builder:
    """`origins`: of the trees' reference frames, where coordinates are measured from: near the bodies (see_from_frame)."""

    def __init__(self, model: Model, system: System, origins: np.ndarray):
        self.model, self.system = model, system
        self.bodies = {body.name: k for k, body in enumerate(model.bodies)}
        frame = system.layout.arrays.frame
        self.origin = [origins[frame[system._body(body.name)]] for body in model.bodies]
        self.R = [as_rotation(body.orientation, body.name) for body in model.bodies]
        self.com = [
            np.asarray(body.position, dtype=float) - o + R @ np.asarray(body.com, dtype=float)
            for body, R, o in zip(model.bodies, self.R, self.origin, strict=True)
        ]
        self.mass = [float(body.mass) for body in model.bodies]
        self.J = [inertia_matrix(body) for body in model.bodies]
        self.links: list[Link] = []
        self.link_of: dict[str, int] = {}
        self.rows: list[Row] = []
        self.rotors: list[tuple[int, int, int]] = []  # joint's link, part, the rotor's link

    @property
    def n(self) -> int:
        """Bodies; this is also the number of the ground."""
        return len(self.com)

    def link(self, name: str, a: Any, b: Any, axes: tuple[np.ndarray, np.ndarray], points: tuple[Any, Any]) -> int:
        """A link between two bodies by its frames, global, as drawn."""
        ends = [self.bodies.get(body_name(end), GROUND) for end in (a, b)]
        origin = self.origin[max(ends)]
        inside = []
        for i, p in zip(ends, points, strict=True):
            place = np.asarray(p, dtype=float) - origin
            inside.append(place if i == GROUND else self.R[i].T @ (place - self.com[i]))
        turned = [axis if i == GROUND else self.R[i].T @ axis for i, axis in zip(ends, axes, strict=True)]
        self.links.append(Link(ends, inside, turned))
        self.link_of.setdefault(name, len(self.links) - 1)
        return len(self.links) - 1

    def ends(self, link: int) -> list[int]:
        """The bodies of a link, the ground by its number."""
        return [self.n if i == GROUND else i for i in self.links[link].ends]

    def row(self, owner: str, link: int, kind: int, i: int = 0, j: int = 0, other: int = -1, value: float = 0.0,
            offset: float = 0.0, signal: int = -1) -> None:  # fmt: skip
        """One more row."""
        self.rows.append(Row(owner, link, kind, i, j, link if other < 0 else other, value, offset, signal))

    def rows_of(self, owner: str, link: int, words: str, value: float = 0.0) -> None:
        """The rows that these words name."""
        for word in words.split():
            self.row(owner, link, *ROWS[word], value=value)

    # ---- joints -----------------------------------------------------------------------------------------------------

    def joint(self, joint: Joint) -> None:
        """The rows of a joint, and of what prescribes its motion."""
        drawn = {"ground": self.model.ground, **{body.name: body for body in self.model.bodies}}
        here = joint_frame(joint, drawn[body_name(joint.child)], False)
        kind, system = KINDS[joint.kind], self.system
        link = self.link(joint.name, joint.parent, joint.child, (here.R, here.R), (here.r, here.r))
        self.links[link].kind = kind
        if joint.name in system._joint_of and kind.nv:
            self.links[link].q = system.q_slice(joint.name).start
            self.links[link].v = system.v_slice(joint.name).start
        self.rows_of(joint.name, link, kind.absolute, float(joint.pitch) / (2 * np.pi))
        measured = measures(kind)
        rotors = np.broadcast_to(np.asarray(joint.armature, dtype=float), kind.nv)
        if rotors.any() and not measured:
            raise InputError(
                f"formulation='cartesian': an armature of {joint.name!r} ({joint.kind}) is not there; use revolute joints, "
                "or the default formulation"
            )
        for part, inertia in zip(measured, rotors, strict=False):
            if inertia:
                self.rotor(joint, link, part, float(inertia))
        self.drives(joint, link, here, measured)

    def drives(self, joint: Joint, link: int, here: Any, measured: list[int]) -> None:
        """What prescribes the motion of a joint."""
        parts = [f"{joint.name}.{part}" if part else joint.name for part in KINDS[joint.kind].coordinates]
        for drive in self.model.drives:
            if drive.function is None and drive.coordinate == joint.name:
                self.lock(joint, link, here, measured)
            elif drive.coordinate in parts:
                if not measured:
                    raise InputError(
                        f"formulation='cartesian': a drive of {drive.coordinate!r} ({joint.kind}) is not there; use two "
                        "revolute joints, or the default formulation"
                    )
                k = parts.index(drive.coordinate)
                self.row(joint.name, link, MEASURE, measured[k], signal=self.signal(joint, drive.coordinate, k))

    def rotor(self, joint: Joint, link: int, part: int, inertia: float) -> None:
        """What turns with a joint's coordinate alone: a body of its own on the ground, coupled to it."""
        name = f"{joint.name} (rotor of part {part})"
        self.bodies[name] = self.n
        self.origin.append(np.zeros(3))
        self.R.append(np.eye(3))
        self.com.append(np.zeros(3))
        self.mass.append(inertia)
        self.J.append(inertia * np.eye(3))
        kind, measured = (revolute.KIND, TURN) if part == TURN else (prismatic.KIND, Z)
        own = self.link(name, "ground", name, (np.eye(3), np.eye(3)), (np.zeros(3), np.zeros(3)))
        self.links[own].kind = kind
        self.rows_of(name, own, kind.absolute)
        self.row(name, link, ROWS["coupler"][0], part, measured, own, 1.0)
        self.rotors.append((link, part, own))

    def lock(self, joint: Joint, link: int, here: Any, measured: list[int]) -> None:
        """A joint at its start: its coordinates are held, or its two frames in the pose they have there."""
        q0 = np.zeros(KINDS[joint.kind].nq) if joint.q0 is None else np.atleast_1d(np.asarray(joint.q0, dtype=float))
        if measured:
            for part, value in zip(measured, q0, strict=True):
                self.row(joint.name, link, MEASURE, part, offset=float(value))
            return
        turn, shift = _pose(KINDS[joint.kind], None if joint.q0 is None else q0)
        held = self.link(
            f"{joint.name} (lock)", joint.parent, joint.child, (here.R @ turn, here.R), (here.r + here.R @ shift, here.r)
        )
        self.rows_of(joint.name, held, fixed.KIND.absolute)

    def signal(self, joint: Joint, coordinate: str, k: int) -> int:
        """Where the tree's tape has the drive of coordinate k of a joint, which the tree may have cut."""
        system = self.system
        if coordinate in system.speeds:
            return int(system.layout.arrays.drive[system.speeds.index(coordinate)])
        rows = zip(system.frozen.rows, system.layout.arrays.row_signal, strict=True)
        wanted = KINDS[joint.kind].measured[k]
        return next(int(s) for row, s in rows if row.element == joint.name and row.kind == wanted and s >= 0)

    # ---- constraints ------------------------------------------------------------------------------------------------

    def measure(self, reference: Any) -> tuple[int, int]:
        """(link, part) of a joint coordinate."""
        name = str(joint_name(reference))
        joint = next(joint for joint in self.model.joints if joint.name == name.split(".")[0])
        parts = [f"{joint.name}.{part}" if part else joint.name for part in KINDS[joint.kind].coordinates]
        measured = measures(KINDS[joint.kind])
        if not measured:
            raise InputError(f"formulation='cartesian': a coupler on {name!r} ({joint.kind}) is not there")
        return self.link_of[joint.name], measured[parts.index(name)]

    def constraint(self, c: Any) -> None:
        """The rows of a constraint."""
        kind = CONSTRAINTS[c.kind]
        if kind.on_joints:
            (link, part), (other, second) = self.measure(c.a), self.measure(c.b)
            value, offset = kind.number((), c.parameters), float(c.parameters["offset"])
            for word in kind.absolute.split():
                self.row(c.name, link, ROWS[word][0], part, second, other, value, offset)
            return
        axes = np.eye(3) if c.axis is None else frame_with_z(np.asarray(c.axis, dtype=float))
        points = tuple(np.asarray(p, dtype=float) for p in c.at)
        link = self.link(c.name, c.a, c.b, (axes, axes), points)  # type: ignore[arg-type]
        self.rows_of(c.name, link, kind.absolute, kind.number(points, c.parameters))


def _pose(kind: JointKind, q0: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Turn and shift of a joint with coordinates q0 (None: as drawn): its parts, one after the other."""
    turn, shift = np.eye(3), np.zeros(3)
    for part, k, _ in parts(kind) if q0 is not None else ():
        assert q0 is not None
        if part == SHIFT:
            shift = shift + q0[k : k + 3]
        elif part == BALL:
            step = np.eye(3)
            quaternion_to_matrix(q0[k : k + 4] / np.linalg.norm(q0[k : k + 4]), 0, step)
            turn = turn @ step
        elif part in (TURN, SECOND):
            s, c = np.sin(q0[k]), np.cos(q0[k])
            turn = turn @ np.array(
                [[c, -s, 0], [s, c, 0], [0, 0, 1]] if part == TURN else [[1, 0, 0], [0, c, -s], [0, s, c]]
            )
        else:
            shift[part] += q0[k]
    return turn, shift
