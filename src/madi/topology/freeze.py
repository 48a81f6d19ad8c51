"""From a checked model and its spanning tree to the flat arrays kernels read.

Inside, a body's frame is the frame of its joint in the tree: origin at the joint, z along its axis. Then every one-axis
joint is a turn or slide along z, and a body's pose is its parent's times one constant and one elementary motion. The
frame the user gave the body is a constant offset from it, applied to results only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.dynamics.kinematics import positions
from madi.dynamics.recursive import mass_matrix
from madi.forces import BY_CODE
from madi.forces import KINDS as FORCES
from madi.forces.stop import QUICK
from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN, LOCKED
from madi.joints.free import BASE
from madi.joints.kind import AGAINST, AGAINST_BY_AXIS, FORWARD
from madi.kernel import SEPARATE
from madi.model.check import inertia_matrix
from madi.model.elements import Body, Force, Joint, body_name, joint_name
from madi.model.model import joint_coordinates, joint_speeds
from madi.signals.trace import Signals, add_drive, add_function
from madi.spatial.rotation import as_rotation, frame_with_z
from madi.topology.closures import Row, closures
from madi.topology.graph import Edge, SpanningTree
from madi.topology.layout import Layout, pack, repack
from madi.topology.modal import Modal, modal_start
from madi.topology.pattern import pattern

if TYPE_CHECKING:
    from madi.model.model import Model

FLIP = np.diag([1.0, -1.0, -1.0])  # half a turn about x: z points the other way


@dataclass
class Frame:
    """A frame in the reference pose, global."""

    R: np.ndarray
    r: np.ndarray

    def point(self, x: Any) -> np.ndarray:
        """Coordinates of a global point in this frame, tiny ones set to zero."""
        return clean(self.R.T @ (np.asarray(x, dtype=float) - self.r), float(np.max(np.abs([*self.r, *np.asarray(x), 0.0]))))

    def axes(self, R: np.ndarray) -> np.ndarray:
        """Axes, given as columns in the ground, in this frame."""
        return clean(self.R.T @ R)


def clean(values: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """Rounding noise next to `scale` becomes an exact zero, so that a trace can drop it."""
    return np.where(np.abs(values) < 4e-16 * max(scale, 1e-300), 0.0, values)


@dataclass
class Frozen:
    """The layout and everything needed to translate between names and numbers."""

    layout: Layout
    bodies: list[str]  # 1..n
    joints: list[Joint]  # joint of body k + 1
    coordinates: list[str]
    speeds: list[str]
    units: list[str]
    speed_units: list[str]
    q0: np.ndarray
    v0: np.ndarray
    body_R: np.ndarray  # [n, 3, 3] the user's body frame in the internal one
    body_r: np.ndarray
    frames: list[Frame]  # internal frames in the reference pose, ground first
    signals: Signals
    riding: list[str]  # bodies that carry a reference frame with their own axes
    rows: list[Row]  # the scalar constraints
    given_q: np.ndarray  # which coordinates and velocities the user gave a start
    given_v: np.ndarray


def joint_frame(joint: Joint, child: Body, reverse: bool) -> Frame:
    """Frame F of a joint in the reference pose."""
    at = np.asarray(child.position if joint.at is None else joint.at, dtype=float)
    kind = KINDS[joint.kind]
    if kind.axes == 0:
        return Frame(as_rotation(child.orientation, joint.name), at)
    axes = [np.asarray(axis, dtype=float) for axis in joint.axes]
    x = axes[1] if kind.axes == 2 else joint.x_axis
    R = frame_with_z(axes[0], x)
    if reverse and kind.one_axis:
        R = R @ FLIP + 0.0
    return Frame(R, at)


def freeze(model: Model, tree: SpanningTree, frame: str) -> Frozen:
    """All arrays of the model."""
    drawn = {"ground": model.ground, **{body.name: body for body in model.bodies}}
    number = {"ground": 0, **{edge.body: k + 1 for k, edge in enumerate(tree.edges)}}
    n = len(tree.edges) + 1
    frames = [Frame(np.eye(3), np.zeros(3))]
    ints: dict[str, np.ndarray] = {
        name: np.zeros(n, dtype=np.int64)
        for name in ["parent", "code", "reverse", "q_at", "v_at", "v_end", "last", "frame", "carries", "axisymmetric"]
    }
    modal = Modal(n)
    reals: dict[str, np.ndarray] = {
        "C": np.tile(np.eye(3), (n, 1, 1)), "d": np.zeros((n, 3)), "pitch": np.zeros(n), "mass": np.zeros(n),
        "com": np.zeros((n, 3)), "J": np.zeros((n, 6)),
    }  # fmt: skip
    body_R, body_r = np.zeros((n - 1, 3, 3)), np.zeros((n - 1, 3))
    coordinates: list[str] = []
    speeds: list[str] = []
    units: list[str] = []
    speed_units: list[str] = []
    q0: list[float] = []
    v0: list[float] = []
    armature: list[float] = []
    riding = _bases(model, tree) if frame == "base" else set()
    group = _tied_trees(model, tree)
    frame_of: dict[str, int] = {}  # reference frames of trees, by group
    given_q: list[bool] = []
    given_v: list[bool] = []
    for i, edge in enumerate(tree.edges, start=1):
        joint, kind, body = edge.joint, KINDS[edge.joint.kind], drawn[edge.body]
        parent = number[edge.parent]
        here = joint_frame(joint, drawn[body_name(joint.child)], edge.reverse)
        frames.append(here)
        base = edge.body in riding
        ints["parent"][i], ints["code"][i] = parent, BASE if base else kind.code
        ints["reverse"][i] = FORWARD if not edge.reverse else AGAINST_BY_AXIS if kind.one_axis else AGAINST
        if parent == 0:
            ints["carries"][i] = int(not base and group[edge.body] not in frame_of)
            ints["frame"][i] = frame_of.setdefault(group[edge.body], len(frame_of) + 1)
        else:
            ints["frame"][i] = ints["frame"][parent]
        ints["q_at"][i], ints["v_at"][i] = len(coordinates), len(speeds)
        coordinates += joint_coordinates(joint)
        speeds += joint_speeds(joint)
        units += kind.units
        speed_units += kind.rate_units
        if joint.station is not None:
            owner = drawn[body_name(joint.parent)]
            if edge.reverse:  # from the point it is attached to to the body: here its modes are
                names = [f"{owner.name}.{name}" for name in owner.flexible.field.names]
                coordinates += names
                speeds += names
                units += owner.flexible.field.units
                speed_units += [f"{unit}/s" for unit in owner.flexible.field.units]
                armature += [0.0] * len(names)
                for values, flags, given in ((q0, given_q, owner.q0), (v0, given_v, owner.v0)):
                    values += modal_start(owner, given)
                    flags += [True] * len(names)  # straight unless told: loops are closed by joints, if they can be
            modal.add(i, joint, owner, edge.reverse, ints, number[owner.name])
        ints["v_end"][i] = len(speeds)
        reals["C"][i] = frames[parent].axes(here.R)
        reals["d"][i] = frames[parent].point(here.r)
        reals["pitch"][i] = float(joint.pitch) / (2 * np.pi)
        _put_inertia(reals, ints, i, body, here)
        R = as_rotation(body.orientation, body.name)
        body_R[i - 1], body_r[i - 1] = here.R.T @ R, here.point(body.position)
        q0 += list(_initial(joint.q0, kind.nq, kind.quaternion))
        v0 += list(_initial(joint.v0, kind.nv, None))
        armature += np.broadcast_to(np.asarray(joint.armature, dtype=float), kind.nv).tolist()
        given_q += [joint.q0 is not None] * kind.nq
        given_v += [joint.v0 is not None] * kind.nv
    states = range(len(speeds), len(speeds) + sum(len(FORCES[force.kind].states) for force in model.forces))
    ints["v_at"][0], ints["v_end"][0] = states.start, states.stop
    for force in model.forces:  # z' = g(t, q, v, z): a column with a unit on the diagonal of M that moves no body
        for name, unit in FORCES[force.kind].states:
            speeds.append(f"{force.name}.{name}" if name else force.name)
            speed_units.append(unit)
            v0.append(float(force.parameters.get("start", 0.0)))
            armature.append(1.0)
            given_v.append(True)
    _put_last(ints)
    signals = Signals(speeds=len(speeds))
    columns = _columns(model, ints, coordinates, speeds, signals)
    ints |= modal.arrays(ints, columns)
    loops = closures(model, tree.cuts, number, frames, speeds, signals, joint_frame)
    rows = loops.arrays()
    of_drives = len(signals.ops)
    scheme = pattern({**ints, **columns, **rows}, np.ones(len(loops.rows), dtype=bool))
    start_q = np.array(q0, dtype=float)
    start_v = np.where(columns["drive"] == LOCKED, 0.0, np.array(v0, dtype=float))  # what is locked does not move
    forces, parameters = _forces(model, number, frames, reals, (coordinates, speeds), signals, start_q, start_v)
    sizes = {
        "n": n, "nq": len(coordinates), "nv": len(speeds), "nf": len(frame_of) + 1, "ne": len(model.forces),
        "np": len(parameters), "nt": len(signals.ops), "ns": signals.count, "nc": len(signals.callbacks), "nd": of_drives,
        "na": len(forces["measured"]),
        "nk": len(loops.pairs), "nr": len(loops.rows), **scheme.pop("sizes"), **modal.sizes(),
    }  # fmt: skip
    ops = np.array(signals.ops, dtype=float).reshape(-1, 4)
    layout = pack(
        sizes,
        {
            **ints, **columns, **forces, **reals, **rows, **scheme, "shape": modal.shape, "separate": [0] * len(SEPARATE),
            "row_value": [(*value, 0.0) for value in loops.values],
            "tape_op": ops[:, 0], "tape_a": ops[:, 1], "tape_b": ops[:, 2], "tape_constant": ops[:, 3],
            "callback": [[c.address, first, count] for c, first, count in signals.callbacks],
            "gravity": model.gravity, "parameter": parameters, "armature": armature,
        },
    )  # fmt: skip
    layout = _scaled_stops(model, layout, forces, start_q)
    return Frozen(
        layout, [edge.body for edge in tree.edges], [edge.joint for edge in tree.edges], coordinates, speeds, units,
        speed_units, start_q, start_v, body_R, body_r, frames, signals, sorted(riding), loops.rows,
        np.array(given_q, dtype=bool), np.array(given_v, dtype=bool),
    )  # fmt: skip


def _roots_tied(model: Model, tree: SpanningTree) -> tuple[dict[str, str], list[set[str]]]:
    """The body on the ground that each body is attached to, by way of others; and which of those (or the ground) each loop
    or constraint ties."""
    root: dict[str, str] = {"ground": "ground"}
    for edge in tree.edges:
        root[edge.body] = edge.body if edge.parent == "ground" else root[edge.parent]
    closing = [(joint.parent, joint.child) for joint in tree.cuts if KINDS[joint.kind].cut]
    closing += [(c.a, c.b) for c in model.constraints if not CONSTRAINTS[c.kind].on_joints]
    return root, [{root[body_name(end)] for end in ends} for ends in closing]


def _bases(model: Model, tree: SpanningTree) -> set[str]:
    """Bodies whose axes their tree's reference frame has: on a free joint to the ground, and no loop leaves their tree."""
    free = {e.body for e in tree.edges if e.parent == "ground" and e.joint.kind == "free" and not e.reverse}
    for roots in _roots_tied(model, tree)[1]:
        if len(roots) > 1:
            free -= roots
    return free


def _tied_trees(model: Model, tree: SpanningTree) -> dict[str, str]:
    """Of each body on the ground, the first whose reference frame it shares: loops tie their trees together."""
    root, ties = _roots_tied(model, tree)
    group = {body: body for body in root.values() if body != "ground"}
    for roots in ties:
        together = {group[body] for body in roots - {"ground"}}
        first = next((body for body in group if body in together), "")
        group |= {body: first for body, old in group.items() if old in together}
    return group


def _initial(given: Any, count: int, quaternion: int | None) -> np.ndarray:
    values = np.zeros(count) if given is None else np.atleast_1d(np.asarray(given, dtype=float)).copy()
    if quaternion is not None:
        if given is None:
            values[quaternion] = 1.0
        part = slice(quaternion, quaternion + 4)
        values[part] /= np.linalg.norm(values[part])
    return values


def _put_inertia(reals: dict[str, np.ndarray], ints: dict[str, np.ndarray], i: int, body: Body, here: Frame) -> None:
    R = here.R.T @ as_rotation(body.orientation, body.name)
    inertia = inertia_matrix(body)
    assert inertia is not None
    J = R @ inertia @ R.T
    size = float(np.max(np.abs(J)))
    J = clean(0.5 * (J + J.T), 8 * size)
    com = here.point(
        np.asarray(body.position) + as_rotation(body.orientation, body.name) @ np.asarray(body.com, dtype=float)
    )
    reals["mass"][i], reals["com"][i] = float(body.mass), com
    reals["J"][i] = J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]
    off = abs(J[0, 1]) + abs(J[0, 2]) + abs(J[1, 2]) + abs(J[0, 0] - J[1, 1])
    ints["axisymmetric"][i] = int(off <= 1e-15 * size and com[0] == 0 and com[1] == 0)


def _put_last(ints: dict[str, np.ndarray]) -> None:
    n = len(ints["parent"])
    ints["last"][:] = np.arange(n)
    for i in range(n - 1, 0, -1):
        p = ints["parent"][i]
        ints["last"][p] = max(ints["last"][p], ints["last"][i])


def _columns(
    model: Model, ints: dict[str, np.ndarray], coordinates: list[str], speeds: list[str], signals: Signals
) -> dict[str, np.ndarray]:
    nv = len(speeds)
    columns = {
        name: np.full(nv, -1, dtype=np.int64)
        for name in ["column_body", "column_parent", "free_parent", "drive", "column_q"]
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
    for drive in model.drives:
        if drive.function is None:
            joints = speeds[: ints["v_at"][0]]
            locked = [c for c, name in enumerate(joints) if name.split(".")[0] == drive.coordinate]
            columns["drive"][locked] = LOCKED
        elif drive.coordinate in speeds:
            where = f"drive of {drive.coordinate!r}"
            columns["drive"][speeds.index(drive.coordinate)] = add_drive(signals, where, drive.function)
    for c in range(nv):
        before = columns["column_parent"][c]
        while before >= 0 and columns["drive"][before] != FREE_COLUMN:
            before = columns["column_parent"][before]
        columns["free_parent"][c] = before
    return columns


def _forces(
    model: Model, number: dict[str, int], frames: list[Frame], reals: dict[str, np.ndarray],
    names: tuple[list[str], list[str]], signals: Signals, q0: np.ndarray, v0: np.ndarray,
) -> tuple[dict[str, np.ndarray], list[float]]:  # fmt: skip
    columns = ["force_kind", "force_a", "force_b", "force_at", "force_signal", "force_call", "force_state"]
    table = np.full((len(model.forces), len(columns)), -1, dtype=np.int64)
    table[:, 5] = 0
    state = len(v0) - sum(len(FORCES[force.kind].states) for force in model.forces)
    parameters: list[float] = []
    measured = [e for e, force in enumerate(model.forces) if FORCES[force.kind].law and callable(force.value)]
    seen = np.concatenate([v0, np.zeros(2 * len(measured))])  # what functions get as v
    for e, force in enumerate(model.forces):
        kind = FORCES[force.kind]
        table[e, 0], table[e, 3] = kind.code, len(parameters)
        if kind.states:
            table[e, 6] = state
            state += len(kind.states)
        if kind.on_joint:
            table[e, 1] = names[1].index(str(joint_name(force.a)))
        elif kind.ends:
            table[e, 1] = number[body_name(force.a)]
            if kind.ends == 2:
                table[e, 2] = number[body_name(force.b)]
        parameters += _parameters(force, table[e], frames, reals)
        if kind.signals:
            where, value = f"force {force.name!r}", 0.0 if force.value is None else force.value
            law = len(v0) + 2 * measured.index(e) if e in measured else None
            if law is not None:
                a, b = (np.asarray(point, dtype=float) for point in force.at)
                seen[law] = np.linalg.norm(b - a)
            table[e, 4] = add_function(signals, where, value, kind.signals, q0, v0, names, seen, law)
    found = {name: table[:, k] for k, name in enumerate(columns)}
    return found | {"measured": np.array(measured, dtype=np.int64)}, parameters


def _parameters(force: Force, row: np.ndarray, frames: list[Frame], reals: dict[str, np.ndarray]) -> list[float]:
    """Points in internal coordinates, then the numbers, in the order the force's KIND names them."""
    values: list[float] = []
    for body, point in zip((int(row[1]), int(row[2])), force.at, strict=False):
        values += list(reals["com"][body] if point is None else frames[body].point(point))
    pack: Any = getattr(BY_CODE[FORCES[force.kind].code], "pack", None)
    given = dict(force.parameters)
    if "free_length" in given and given["free_length"] is None:
        given["free_length"] = float(np.linalg.norm(np.subtract(force.at[1], force.at[0], dtype=float)))
    if pack is not None:
        bodies = [frames[max(int(k), 0)] for k in (row[1:3] if FORCES[force.kind].ends else (0, 0))]
        return pack(replace(force, parameters=given), values, bodies)
    return values + [0.0 if value is None else float(value) for value in given.values()]


def _scaled_stops(model: Model, layout: Layout, forces: dict[str, np.ndarray], q0: np.ndarray) -> Layout:
    """Stops without a stiffness of their own get one by the inertia that their coordinate moves at the start."""
    open_ones = [e for e, force in enumerate(model.forces) if force.kind == "stop" and force.parameters["stiffness"] is None]
    if not open_ones:
        return layout
    work, nv = layout.scratch(), layout.sizes["nv"]
    positions(layout.arrays, work, q0)
    mass_matrix(layout.arrays, work)
    inertia = np.diag(work.M.reshape(nv, nv))
    numbers = layout.arrays.parameter.copy()
    for e in open_ones:
        numbers[forces["force_at"][e] + 2] = inertia[forces["force_a"][e]] / QUICK**2
    return repack(layout, {}, {"parameter": numbers})


def path_matrix(edges: tuple[Edge, ...]) -> np.ndarray:
    """P0's path matrix: [i, j] = 1 if body j is on the path from the base to body i (itself included)."""
    number = {edge.body: k for k, edge in enumerate(edges)}
    matrix = np.zeros((len(edges), len(edges)), dtype=np.int64)
    for k, edge in enumerate(edges):
        if edge.parent in number:
            matrix[k] = matrix[number[edge.parent]]
        matrix[k, k] = 1
    return matrix
