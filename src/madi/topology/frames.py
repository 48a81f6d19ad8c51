"""Frames: where joints sit in the drawing, in which reference frame each tree is seen, bodies in their joints' frames.

Inside, a body's frame is the frame of its joint in the tree: origin at the joint, z along its axis. Then every one-axis
joint is a turn or slide along z, and a body's pose is its parent's times one constant and one elementary motion. The
frame the user gave the body is a constant offset from it, applied to results only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.bodies import packed
from madi.constraints import CONSTRAINTS
from madi.joints import KINDS
from madi.joints.free import BASE
from madi.joints.kind import AGAINST, AGAINST_BY_AXIS, FORWARD
from madi.kernel import LEAST_SIZE
from madi.model.elements import Body, Joint, body_name, inertia_matrix
from madi.spatial.rotation import as_rotation, frame_with_z
from madi.topology.graph import SpanningTree

if TYPE_CHECKING:
    from madi.model.model import Model

FLIP = np.diag([1.0, -1.0, -1.0])  # half a turn about x: z points the other way
NOISE = 4e-16  # of the numbers around it: rounding noise
SAME = 1e-15  # of the largest moment of inertia: differences that are none


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
    return np.where(np.abs(values) < NOISE * max(scale, LEAST_SIZE), 0.0, values)


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


@dataclass
class Bodies:
    """Arrays of bodies and their joints, by number; the ground is 0."""

    ints: dict[str, np.ndarray]
    reals: dict[str, np.ndarray]
    frames: list[Frame]  # internal frames in the reference pose, ground first
    offset_R: np.ndarray  # [n, 3, 3] the user's body frame in the internal one
    offset_r: np.ndarray
    riding: set[str]  # bodies that carry a reference frame with their own axes
    reference_frames: int


def place_bodies(model: Model, tree: SpanningTree, number: dict[str, int], frame: str) -> Bodies:
    """All frames, in the order of the tree."""
    n, drawn = len(number), {"ground": model.ground, **{body.name: body for body in model.bodies}}
    riding = bases(model, tree) if frame == "base" else set()
    names = ("parent", "code", "reverse", "last", "frame", "carries", "axisymmetric")
    ints = {name: np.zeros(n, dtype=np.int64) for name in names}
    reals = {
        "C": np.tile(np.eye(3), (n, 1, 1)), "d": np.zeros((n, 3)), "pitch": np.zeros(n), "mass": np.zeros(n),
        "com": np.zeros((n, 3)), "J": np.zeros((n, 6)),
    }  # fmt: skip
    count = _see(tree, ints, number, riding, tied_trees(model, tree))
    ground, offsets = Frame(np.eye(3), np.zeros(3)), (np.zeros((n - 1, 3, 3)), np.zeros((n - 1, 3)))
    made = Bodies(ints, reals, [ground], *offsets, riding, count)
    for i, edge in enumerate(tree.edges, start=1):
        joint, kind, body = edge.joint, KINDS[edge.joint.kind], drawn[edge.body]
        parent = number[edge.parent]
        here = joint_frame(joint, drawn[body_name(joint.child)], edge.reverse)
        made.frames.append(here)
        ints["parent"][i], ints["code"][i] = parent, int(BASE or 0) if edge.body in riding else kind.code
        ints["reverse"][i] = FORWARD if not edge.reverse else AGAINST_BY_AXIS if kind.one_axis else AGAINST
        reals["C"][i] = made.frames[parent].axes(here.R)
        reals["d"][i] = made.frames[parent].point(here.r)
        reals["pitch"][i] = float(joint.pitch) / (2 * np.pi)
        _put_inertia(reals, ints, i, body, here)
        R = as_rotation(body.orientation, body.name)
        made.offset_R[i - 1], made.offset_r[i - 1] = here.R.T @ R, here.point(body.position)
    _put_last(ints)
    return made


def _see(tree: SpanningTree, ints: dict[str, np.ndarray], number: dict[str, int], riding: set[str],
         group: dict[str, str]) -> int:  # fmt: skip
    """Reference frames of the bodies, by group of trees; returns how many there are, the ground's own included."""
    frame_of: dict[str, int] = {}
    for i, edge in enumerate(tree.edges, start=1):
        if edge.parent == "ground":
            ints["carries"][i] = int(edge.body not in riding and group[edge.body] not in frame_of)
            ints["frame"][i] = frame_of.setdefault(group[edge.body], len(frame_of) + 1)
        else:
            ints["frame"][i] = ints["frame"][number[edge.parent]]
    return len(frame_of) + 1


def _roots_tied(model: Model, tree: SpanningTree) -> tuple[dict[str, str], list[set[str]]]:
    """The body on the ground that each body is attached to, by way of others; and which of those (or the ground) each loop
    or constraint ties."""
    root: dict[str, str] = {"ground": "ground"}
    for edge in tree.edges:
        root[edge.body] = edge.body if edge.parent == "ground" else root[edge.parent]
    closing = [(joint.parent, joint.child) for joint in tree.cuts if KINDS[joint.kind].cut]
    closing += [(c.a, c.b) for c in model.constraints if not CONSTRAINTS[c.kind].on_joints]
    return root, [{root[body_name(end)] for end in ends} for ends in closing]


def bases(model: Model, tree: SpanningTree) -> set[str]:
    """Bodies whose axes their tree's reference frame has: on a free joint to the ground, and no loop leaves their tree."""
    free = {e.body for e in tree.edges if e.parent == "ground" and KINDS[e.joint.kind].carrier is not None and not e.reverse}
    for roots in _roots_tied(model, tree)[1]:
        if len(roots) > 1:
            free -= roots
    return free


def tied_trees(model: Model, tree: SpanningTree) -> dict[str, str]:
    """Of each body on the ground, the first whose reference frame it shares: loops tie their trees together."""
    root, ties = _roots_tied(model, tree)
    order = {body: k for k, body in enumerate(dict.fromkeys(body for body in root.values() if body != "ground"))}
    above = dict(zip(order, order, strict=True))  # union-find; the first of a group is its name

    def first(body: str) -> str:
        while above[body] != body:
            above[body] = above[above[body]]
            body = above[body]
        return body

    for roots in ties:
        together = {first(body) for body in roots - {"ground"}}
        lowest = min(together, key=order.__getitem__, default="")
        above |= dict.fromkeys(together, lowest)
    return {body: first(body) for body in order}


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
    ints["axisymmetric"][i] = int(off <= SAME * size and com[0] == 0 and com[1] == 0)
    for name, value in packed(body, R).items():
        reals.setdefault(name, np.zeros((len(ints["code"]), *np.shape(value))))[i] = value


def _put_last(ints: dict[str, np.ndarray]) -> None:
    n = len(ints["parent"])
    ints["last"][:] = np.arange(n)
    for i in range(n - 1, 0, -1):
        p = ints["parent"][i]
        ints["last"][p] = max(ints["last"][p], ints["last"][i])
