"""From the drawn model to the Cartesian arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.cartesian.arrays import model_arrays, scratch
from madi.cartesian.equations import masses
from madi.cartesian.motion import UNIVERSAL, take
from madi.cartesian.rows import COUPLER, DISTANCE, DOT1, DOT2, MEASURE, POINT, SCREW
from madi.cartesian.rows import rows as evaluate_rows
from madi.errors import InputError
from madi.joints import KINDS
from madi.loops.kkt import EPSILON
from madi.model.check import inertia_matrix
from madi.model.elements import Joint, body_name, joint_name
from madi.spatial.rotation import as_rotation, frame_with_z, quaternion_to_matrix
from madi.topology.freeze import joint_frame
from madi.topology.layout import work_views
from madi.topology.pattern import Factor

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System

X, Y, Z = range(3)
POINTS = [(POINT, X, 0), (POINT, Y, 0), (POINT, Z, 0)]
PARALLEL = [(DOT1, X, Z), (DOT1, Y, Z)]  # z of b normal to x and y of a
ON_AXIS = [(DOT2, X, 0), (DOT2, Y, 0)]
# joint: its rows (kind, axis of a, axis of b), and the measures of its coordinates: 0..2 a slide, 3 the turn about z
JOINTS: dict[str, tuple[list[tuple[int, int, int]], list[int]]] = {
    "revolute": ([*POINTS, *PARALLEL], [3]),
    "prismatic": ([*ON_AXIS, *PARALLEL, (DOT1, Y, X)], [2]),
    "screw": ([*ON_AXIS, *PARALLEL, (SCREW, 2, 3)], [3]),
    "cylindrical": ([*ON_AXIS, *PARALLEL], [2, 3]),
    "universal": ([*POINTS, (DOT1, Z, X)], []),
    "spherical": (POINTS, []),
    "planar": ([(DOT2, Z, 0), *PARALLEL], [0, 1, 3]),
    "fixed": ([*POINTS, *PARALLEL, (DOT1, Y, X)], []),
    "free": ([], []),
}


@dataclass
class Cartesian:
    """Arrays, scratch, and the way back to names."""

    system: System
    arrays: Any
    work: Any
    forces: Any  # scratch of the force elements
    q0: np.ndarray
    v0: np.ndarray
    names: list[str]  # bodies, as drawn
    links: dict[str, int] = field(default_factory=dict)  # joints and constraints
    row_owner: list[str] = field(default_factory=list)  # joint or constraint of every row
    coms: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))

    @property
    def coordinates(self) -> int:
        """Seven a body."""
        return 7 * len(self.names)

    @property
    def constraints(self) -> int:
        """Rows; the unit length of each body's Euler parameters is not counted."""
        return len(self.row_owner)


class _Builder:
    def __init__(self, model: Model, system: System):
        self.model, self.system = model, system
        self.bodies = {body.name: k for k, body in enumerate(model.bodies)}
        self.n = len(model.bodies)
        self.bodies["ground"] = self.n
        self.R = [as_rotation(body.orientation, body.name) for body in model.bodies] + [np.eye(3)]
        self.com = [
            np.asarray(body.position, dtype=float) + R @ np.asarray(body.com, dtype=float)
            for body, R in zip(model.bodies, self.R, strict=False)
        ] + [np.zeros(3)]
        self.links: list[dict[str, Any]] = []
        self.link_of: dict[str, int] = {}
        self.rows: list[dict[str, Any]] = []

    def link(self, name: str, a: Any, b: Any, axes: tuple[np.ndarray, np.ndarray], points: tuple[Any, Any]) -> int:
        ends = self.bodies[body_name(a)], self.bodies[body_name(b)]
        self.links.append(
            {
                "ends": ends,
                "s": [self.R[i].T @ (np.asarray(p, dtype=float) - self.com[i]) for i, p in zip(ends, points, strict=True)],
                "C": [self.R[i].T @ axis for i, axis in zip(ends, axes, strict=True)],
                "code": -1, "q": -1, "v": -1,
            }
        )  # fmt: skip
        self.link_of.setdefault(name, len(self.links) - 1)
        return len(self.links) - 1

    def row(self, owner: str, link: int, kind: int, i: int = 0, j: int = 0, other: int = -1, value: float = 0.0,
            offset: float = 0.0, signal: int = -1) -> None:  # fmt: skip
        self.rows.append(
            {"owner": owner, "link": link, "kind": kind, "i": i, "j": j, "other": link if other < 0 else other,
             "value": value, "offset": offset, "signal": signal}
        )  # fmt: skip

    def joint(self, joint: Joint) -> None:
        """The rows of a joint, and of what prescribes its motion."""
        drawn = {"ground": self.model.ground, **{body.name: body for body in self.model.bodies}}
        here = joint_frame(joint, drawn[body_name(joint.child)], False)
        kind, system = KINDS[joint.kind], self.system
        link = self.link(joint.name, joint.parent, joint.child, (here.R, here.R), (here.r, here.r))
        self.links[link]["code"] = kind.code
        if joint.name in system._joint_of and kind.nv:
            self.links[link]["q"] = system.q_slice(joint.name).start
            self.links[link]["v"] = system.v_slice(joint.name).start
        rows, measures = JOINTS[joint.kind]
        for row, i, j in rows:
            self.row(joint.name, link, row, i, j, value=float(joint.pitch) / (2 * np.pi))
        parts = [f"{joint.name}.{part}" if part else joint.name for part in kind.coordinates]
        for drive in self.model.drives:
            if drive.function is None and drive.coordinate == joint.name:
                self.lock(joint, link, here, measures)
            elif drive.coordinate in parts:
                if not measures:
                    raise InputError(
                        f"formulation='cartesian': a drive of {drive.coordinate!r} ({joint.kind}) is not there; use two "
                        "revolute joints, or the default formulation"
                    )
                k = parts.index(drive.coordinate)
                self.row(joint.name, link, MEASURE, measures[k], signal=self.signal(joint, drive.coordinate, k))

    def lock(self, joint: Joint, link: int, here: Any, measures: list[int]) -> None:
        q0 = np.zeros(KINDS[joint.kind].nq) if joint.q0 is None else np.atleast_1d(np.asarray(joint.q0, dtype=float))
        if measures:
            for part, value in zip(measures, q0, strict=True):
                self.row(joint.name, link, MEASURE, part, offset=float(value))
            return
        turn, shift = _pose(joint, q0)
        held = self.link(
            f"{joint.name} (lock)", joint.parent, joint.child, (here.R @ turn, here.R), (here.r + here.R @ shift, here.r)
        )
        for row, i, j in JOINTS["fixed"][0]:
            self.row(joint.name, held, row, i, j)

    def signal(self, joint: Joint, coordinate: str, k: int) -> int:
        """Where the tree's tape has the drive of coordinate k of a joint, which the tree may have cut."""
        system = self.system
        if coordinate in system.speeds:
            return int(system.layout.arrays.drive[system.speeds.index(coordinate)])
        rows = zip(system.frozen.rows, system.layout.arrays.row_signal, strict=True)
        wanted = KINDS[joint.kind].measured[k]
        return next(int(s) for row, s in rows if row.element == joint.name and row.kind == wanted and s >= 0)

    def measure(self, reference: Any) -> tuple[int, int]:
        """(link, part) of a joint coordinate."""
        name = str(joint_name(reference))
        joint = next(joint for joint in self.model.joints if joint.name == name.split(".")[0])
        parts = [f"{joint.name}.{part}" if part else joint.name for part in KINDS[joint.kind].coordinates]
        measures = JOINTS[joint.kind][1]
        if not measures:
            raise InputError(f"formulation='cartesian': a coupler on {name!r} ({joint.kind}) is not there")
        return self.link_of[joint.name], measures[parts.index(name)]

    def constraint(self, c: Any) -> None:
        if c.kind == "coupler":
            (link, part), (other, second) = self.measure(c.a), self.measure(c.b)
            ratio, offset = float(c.parameters["ratio"]), float(c.parameters["offset"])
            self.row(c.name, link, COUPLER, part, second, other, ratio, offset)
            return
        axes = np.eye(3) if c.axis is None else frame_with_z(np.asarray(c.axis, dtype=float))
        points = tuple(np.asarray(p, dtype=float) for p in c.at)
        link = self.link(c.name, c.a, c.b, (axes, axes), points)  # type: ignore[arg-type]
        if c.kind == "distance":
            given = c.parameters["length"]
            length = float(np.linalg.norm(points[1] - points[0]) if given is None else given)
            self.row(c.name, link, DISTANCE, value=length)
        else:
            for i in (Z,) if c.kind == "point_on_plane" else (X, Y):
                self.row(c.name, link, DOT2, i)


def _pose(joint: Joint, q0: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Turn and shift of a joint with coordinates q0, for the types whose coordinates are not measured."""
    turn, shift = np.eye(3), np.zeros(3)
    if joint.kind == "universal":
        a, b = q0
        turn = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]]) @ np.array(
            [[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]]
        )
    elif joint.kind in ("spherical", "free") and joint.q0 is not None:
        at = KINDS[joint.kind].quaternion or 0
        quaternion_to_matrix(q0[at : at + 4] / np.linalg.norm(q0[at : at + 4]), 0, turn)
        shift = q0[:3] if joint.kind == "free" else shift
    return turn, shift


def cartesian(model: Model, system: System, q: np.ndarray, v: np.ndarray) -> Cartesian:
    """The Cartesian model of a drawn one; `system`: the same with frame="ground", for names and force elements; q, v: the
    start in its coordinates."""
    for body in model.bodies:
        if body.flexible is not None:
            raise InputError(f"formulation='cartesian': body {body.name!r} is flexible; it serves rigid bodies only")
        inertia = inertia_matrix(body)
        if float(body.mass) <= 0 or inertia is None or np.linalg.eigvalsh(inertia)[0] <= 0:
            raise InputError(
                f"formulation='cartesian': body {body.name!r} needs a mass and three moments of inertia > 0, because every "
                "body has its own six freedoms there"
            )
    made = _Builder(model, system)
    for edge in system.spanning_tree.edges:
        if edge.body in system.spanning_tree.floating:
            made.joint(edge.joint)
    for joint in model.joints:
        made.joint(joint)
    for constraint in model.constraints:
        made.constraint(constraint)
    sizes, fields = _pattern(made)
    n = made.n
    tree = [system._body(body.name) for body in model.bodies]
    body_R, body_r = system.frozen.body_R, system.frozen.body_r
    coms = np.array([body.com for body in model.bodies], dtype=float).reshape(n, 3)
    fields |= {
        "tree_body": tree, "mass": [body.mass for body in model.bodies],
        "J": [inertia_matrix(body) for body in model.bodies], "gravity": model.gravity,
        "inner_R": [body_R[i - 1].T for i in tree],
        "inner_r": [-coms[k] - body_R[i - 1].T @ body_r[i - 1] for k, i in enumerate(tree)],
        "link_s": [s for link in made.links for s in link["s"]], "link_C": [C for link in made.links for C in link["C"]],
        "row_value": [(row["value"], row["offset"], 1.0) for row in made.rows],
    }  # fmt: skip
    arrays = model_arrays(sizes, fields)
    work = scratch(sizes)
    forces = work_views(system.layout.ints, np.zeros(system.layout.work_size()))
    forces.R[0], forces.frame_R[0] = np.eye(3), np.eye(3)
    seen = system.observe(q, v, engine="plain")
    q0, v0 = np.zeros(7 * n), np.zeros(7 * n)
    forces.q[:] = seen.q[0]
    for k, link in enumerate(made.links):
        if link["q"] >= 0 and JOINTS_WITH_TURN.get(link["code"]) is not None:
            work.turn[k] = seen.q[0, link["q"] + JOINTS_WITH_TURN[link["code"]]]
            if link["code"] == UNIVERSAL:
                work.turn2[k] = seen.q[0, link["q"] + 1]
    from madi.spatial.rotation import matrix_to_quaternion

    for k, i in enumerate(tree):
        R, w = seen.rotation[0, i - 1], seen.angular_velocity[0, i - 1]
        lever = R @ coms[k]
        p = matrix_to_quaternion(R)
        q0[7 * k : 7 * k + 3], q0[7 * k + 3 : 7 * k + 7] = seen.position[0, i - 1] + lever, p
        v0[7 * k : 7 * k + 3] = seen.velocity[0, i - 1] + np.cross(w, lever)
        a, b, c, d = p
        E = np.array([[-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])  # w = 2 E p'
        v0[7 * k + 3 : 7 * k + 7] = 0.5 * E.T @ w
    names = [body.name for body in model.bodies]
    owners = [row["owner"] for row in made.rows]
    found = Cartesian(system, arrays, work, forces, q0, v0, names, made.link_of, owners, coms)
    _regularise(found)
    return found


JOINTS_WITH_TURN = {0: 0, 2: 0, 4: 1, 5: 0, 7: 2}  # code: which coordinate is the turn about z


def _pattern(made: _Builder) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes, index arrays, and the elimination: coordinates body by body, then rows by least degree."""
    n, nr, nk = made.n, len(made.rows), len(made.links)
    row_body = np.full((nr, 4), n, dtype=np.int64)
    meets: list[list[int]] = []  # of every row, the flat entries (slot, coordinate) that are not zero by structure
    for r, row in enumerate(made.rows):
        row_body[r, :2] = made.links[row["link"]]["ends"]
        if row["kind"] in (SCREW, COUPLER):
            row_body[r, 2:] = made.links[row["other"]]["ends"]
        entries = []
        for slot in range(4):
            if row_body[r, slot] < n:
                along = [row["i"]] if row["kind"] == POINT else [] if row["kind"] == DOT1 else [0, 1, 2]
                entries += [7 * slot + j for j in (*along, 3, 4, 5, 6)]
        meets.append(entries)
    neighbours: list[set[int]] = [set() for _ in range(7 * n + nr)]

    def join(i: int, j: int) -> None:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)

    for i in range(n):
        for a in range(3, 7):
            for b in range(3, 7):
                join(7 * i + a, 7 * i + b)
    for r, entries in enumerate(meets):
        for entry in entries:
            join(7 * int(row_body[r, entry // 7]) + entry % 7, 7 * n + r)
    factor = Factor(neighbours, 7 * n)
    rank = factor.rank
    j_place = np.full((nr, 28), -1, dtype=np.int64)
    for r, entries in enumerate(meets):
        for entry in entries:
            q = 7 * int(row_body[r, entry // 7]) + entry % 7
            j_place[r, entry] = factor.position(int(rank[q]), int(rank[7 * n + r]))
    blocks = [(a, b) for a in range(3, 7) for b in range(a, 7)]
    m_place = [
        [factor.position(int(rank[7 * i + a]), int(rank[7 * i + b])) for a, b in [(0, 0), (1, 1), (2, 2), *blocks]]
        for i in range(n)
    ]
    sizes = {"n": n, "nk": nk, "nr": nr, **factor.sizes()}
    fields = {
        "link_a": [link["ends"][0] for link in made.links], "link_b": [link["ends"][1] for link in made.links],
        **{f"link_{what}": [link[what] for link in made.links] for what in ("code", "q", "v")},
        **{f"row_{what}": [row[what] for row in made.rows] for what in ("kind", "link", "i", "j", "other", "signal")},
        "row_place": rank[7 * n :], "row_body": row_body, "j_place": j_place, "q_place": rank[: 7 * n],
        "m_place": m_place, **factor.arrays(),
    }  # fmt: skip
    return sizes, fields


def _regularise(made: Cartesian) -> None:
    """eps of the rows: a small part of the mean of Phi_q M^-1 Phi_q^T at the start."""
    model, work, n = made.arrays, made.work, len(made.names)
    with np.errstate(all="ignore"):
        take(model, work, made.system.layout.arrays, made.forces, 0.0, made.q0, made.v0)
        evaluate_rows(model, work, made.forces)
        masses(model, work)
    blocks = np.zeros((n, 7, 7))
    for i in range(n):
        blocks[i, :3, :3] = np.eye(3) * work.mass[i, 0]
        upper = np.zeros((4, 4))
        upper[np.triu_indices(4)] = work.mass[i, 3:]
        blocks[i, 3:, 3:] = upper + np.triu(upper, 1).T
    inverse = np.linalg.inv(blocks)
    compliance = np.zeros(len(made.row_owner))
    for r in range(len(compliance)):
        for slot in range(4):
            i = int(model.row_body[r, slot])
            if i < n:
                J = work.jacobian[r, 7 * slot : 7 * slot + 7]
                compliance[r] += J @ inverse[i] @ J
    positive = compliance[compliance > 0]
    mean = float(np.exp(np.mean(np.log(positive)))) if len(positive) else 1.0
    model.row_value[:, 2] = EPSILON * np.clip(compliance, 1e-2 * mean, 1e2 * mean)
