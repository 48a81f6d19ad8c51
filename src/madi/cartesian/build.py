"""From the drawn model to the Cartesian arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.cartesian.arrays import model_arrays, scratch
from madi.cartesian.equations import masses
from madi.cartesian.motion import UNIVERSAL, angles, relative, take
from madi.cartesian.rows import COUPLER, DISTANCE, DOT1, DOT2, MEASURE, POINT, SCREW
from madi.cartesian.rows import rows as evaluate_rows
from madi.errors import InputError
from madi.joints import KINDS
from madi.loops.kkt import EPSILON
from madi.model.check import inertia_matrix
from madi.model.elements import Joint, body_name, joint_name
from madi.spatial.rotation import as_rotation, frame_with_z, quaternion_to_matrix
from madi.topology.freeze import joint_frame
from madi.topology.pattern import Factor

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System

X, Y, Z = range(3)
GROUND = -1  # as an end of a link, until the number of bodies is known
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
    origins: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # where coordinates are measured from

    @property
    def coordinates(self) -> int:
        """Seven a body."""
        return 7 * int(self.arrays.n)

    @property
    def size(self) -> int:
        """What is integrated: the coordinates, and the joints' angles."""
        return int(self.arrays.nq)

    @property
    def constraints(self) -> int:
        """Rows; the unit length of each body's Euler parameters is not counted."""
        return len(self.row_owner)


class _Builder:
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
        self.links: list[dict[str, Any]] = []
        self.link_of: dict[str, int] = {}
        self.rows: list[dict[str, Any]] = []
        self.rotors: list[tuple[int, int, int]] = []  # joint's link, part, the rotor's link

    @property
    def n(self) -> int:
        """Bodies; this is also the number of the ground."""
        return len(self.com)

    def link(self, name: str, a: Any, b: Any, axes: tuple[np.ndarray, np.ndarray], points: tuple[Any, Any]) -> int:
        ends = [self.bodies.get(body_name(end), GROUND) for end in (a, b)]
        origin = self.origin[max(ends)]
        inside = []
        for i, p in zip(ends, points, strict=True):
            place = np.asarray(p, dtype=float) - origin
            inside.append(place if i == GROUND else self.R[i].T @ (place - self.com[i]))
        turned = [axis if i == GROUND else self.R[i].T @ axis for i, axis in zip(ends, axes, strict=True)]
        self.links.append({"ends": ends, "s": inside, "C": turned, "code": -1, "q": -1, "v": -1})
        self.link_of.setdefault(name, len(self.links) - 1)
        return len(self.links) - 1

    def rotor(self, joint: Joint, link: int, part: int, inertia: float) -> None:
        """What turns with a joint's coordinate alone: a body of its own on the ground, coupled to it."""
        name = f"{joint.name} (rotor of part {part})"
        self.bodies[name] = self.n
        self.origin.append(np.zeros(3))
        self.R.append(np.eye(3))
        self.com.append(np.zeros(3))
        self.mass.append(inertia)
        self.J.append(inertia * np.eye(3))
        kind, measured = ("prismatic", 2) if part < 3 else ("revolute", 3)
        own = self.link(name, "ground", name, (np.eye(3), np.eye(3)), (np.zeros(3), np.zeros(3)))
        self.links[own]["code"] = KINDS[kind].code
        for row, i, j in JOINTS[kind][0]:
            self.row(name, own, row, i, j)
        self.row(name, link, COUPLER, part, measured, own, 1.0)
        self.rotors.append((link, part, own))

    def ends(self, link: int) -> list[int]:
        """The bodies of a link, the ground by its number."""
        return [self.n if i == GROUND else i for i in self.links[link]["ends"]]

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
        rotors = np.broadcast_to(np.asarray(joint.armature, dtype=float), kind.nv)
        if rotors.any() and not measures:
            raise InputError(
                f"formulation='cartesian': an armature of {joint.name!r} ({joint.kind}) is not there; use revolute joints, "
                "or the default formulation"
            )
        for part, inertia in zip(measures, rotors, strict=False):
            if inertia:
                self.rotor(joint, link, part, float(inertia))
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
                "body has its own six degrees of freedom there"
            )
    seen, tree_work = system.observe(q, v, engine="plain"), system.engine("plain").work
    made = _Builder(model, system, tree_work.frame_r.copy())
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
    coms = np.array([body.com for body in model.bodies], dtype=float).reshape(len(tree), 3)
    more = n - len(tree)  # rotors
    inner_r = [-coms[k] - body_R[i - 1].T @ body_r[i - 1] for k, i in enumerate(tree)]
    fields |= {
        "tree_body": [*tree, *[-1] * more], "mass": made.mass, "J": made.J, "gravity": model.gravity,
        "inner_R": [*(body_R[i - 1].T for i in tree), *[np.eye(3)] * more], "inner_r": [*inner_r, *[np.zeros(3)] * more],
        "link_s": [s for link in made.links for s in link["s"]], "link_C": [C for link in made.links for C in link["C"]],
        "row_value": [(row["value"], row["offset"], 1.0) for row in made.rows],
    }  # fmt: skip
    arrays = model_arrays(sizes, fields)
    work = scratch(sizes)
    forces = system.layout.scratch()
    forces.R[0], forces.frame_R[:], forces.frame_r[:] = np.eye(3), np.eye(3), tree_work.frame_r
    q0, v0 = np.zeros(sizes["nq"]), np.zeros(sizes["nq"])
    forces.q[:] = seen.q[0]
    from madi.spatial.rotation import matrix_to_quaternion

    for k, i in enumerate(tree):
        R, w = seen.rotation[0, i - 1], seen.angular_velocity[0, i - 1]
        lever = R @ coms[k]
        p = matrix_to_quaternion(R)
        q0[7 * k : 7 * k + 3], q0[7 * k + 3 : 7 * k + 7] = tree_work.r[i] - R @ inner_r[k], p
        v0[7 * k : 7 * k + 3] = seen.velocity[0, i - 1] + np.cross(w, lever)
        a, b, c, d = p
        E = np.array([[-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])  # w = 2 E p'
        v0[7 * k + 3 : 7 * k + 7] = 0.5 * E.T @ w
    v0[sizes["nq"] - sizes["nz"] :] = v[len(v) - sizes["nz"] :]
    names = [body.name for body in model.bodies]
    owners = [row["owner"] for row in made.rows]
    found = Cartesian(
        system, arrays, work, forces, q0, v0, names, made.link_of, owners, coms, np.array(made.origin[: len(names)])
    )
    _put_turns(found, made, seen)
    _regularise(found)
    return found


def _put_turns(found: Cartesian, made: _Builder, seen: Any) -> None:
    """Angles at the start, with the whole turns that the tree's coordinates have; rotors where their joints are."""
    arrays, work, n = found.arrays, found.work, made.n
    for k, link in enumerate(made.links):
        at = 7 * n + int(arrays.link_turn[k])
        if link["q"] >= 0 and at >= 7 * n:
            first = link["q"] + JOINTS_WITH_TURN[link["code"]]
            turns = 2 if link["code"] == UNIVERSAL else 1
            found.q0[at : at + turns] = seen.q[0, first : first + turns]
    for i in range(len(found.names), n):
        found.q0[7 * i + 3] = 1.0
    take(arrays, work, found.system.layout.arrays, found.forces, 0.0, found.q0, found.v0)
    angles(arrays, work, found.forces.joint_R, found.q0, found.v0, np.zeros(len(found.q0)))
    for joint, part, own in made.rotors:
        i = made.links[own]["ends"][1]
        relative(arrays, work, joint)
        if part < 3:
            found.q0[7 * i + 2], found.v0[7 * i + 2] = work.state[part], work.state[3 + part]
            continue
        at, turn = 7 * n + int(arrays.link_turn[own]), 7 * n + int(arrays.link_turn[joint])
        angle, rate = found.q0[turn], found.v0[turn]
        found.q0[at], found.v0[at] = angle, rate
        c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
        found.q0[[7 * i + 3, 7 * i + 6]], found.v0[[7 * i + 3, 7 * i + 6]] = (c, s), (-0.5 * rate * s, 0.5 * rate * c)


JOINTS_WITH_TURN = {0: 0, 2: 0, 4: 1, 5: 0, 7: 2}  # code: which coordinate is the turn about z


def _pattern(made: _Builder) -> tuple[dict[str, int], dict[str, Any]]:
    """Sizes, index arrays, and the elimination: coordinates body by body, then rows by minimum degree."""
    n, nr, nk, nz = made.n, len(made.rows), len(made.links), len(made.system.states)
    row_body = np.full((nr, 4), n, dtype=np.int64)
    meets: list[list[int]] = []  # of every row, the flat entries (slot, coordinate) that are not zero by structure
    for r, row in enumerate(made.rows):
        row_body[r, :2] = made.ends(row["link"])
        if row["kind"] in (SCREW, COUPLER):
            row_body[r, 2:] = made.ends(row["other"])
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
    turns = [0 if link["code"] not in JOINTS_WITH_TURN else 2 if link["code"] == UNIVERSAL else 1 for link in made.links]
    before = np.cumsum([0, *turns])
    sizes = {"n": n, "nk": nk, "nr": nr, "nq": 7 * n + int(before[-1]) + nz, "nz": nz, **factor.sizes()}
    ends = [made.ends(k) for k in range(nk)]
    fields = {
        "link_a": [a for a, _ in ends], "link_b": [b for _, b in ends],
        "link_turn": [int(at) if count else -1 for at, count in zip(before, turns, strict=False)],
        **{f"link_{what}": [link[what] for link in made.links] for what in ("code", "q", "v")},
        **{f"row_{what}": [row[what] for row in made.rows] for what in ("kind", "link", "i", "j", "other", "signal")},
        "row_place": rank[7 * n :], "row_body": row_body, "j_place": j_place, "q_place": rank[: 7 * n],
        "m_place": m_place, **factor.arrays(),
    }  # fmt: skip
    return sizes, fields


def _regularise(made: Cartesian) -> None:
    """eps of the rows: a small part of the mean of Phi_q M^-1 Phi_q^T at the start."""
    model, work, n = made.arrays, made.work, int(made.arrays.n)
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
