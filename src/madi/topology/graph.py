"""The graph of a model and its spanning tree (P0): bodies are nodes, joints are edges weighted by type.

Dijkstra from the ground gives every body its cheapest path; the joints on those paths are the tree, the others are cut.
Joints that had better not be cut (the user said so; a drive, a coupler or a spring acts on their coordinate) weigh nothing
and of equally short ways are taken first, so that they are all in the tree unless they form a loop among themselves.
A group of bodies that no joint ties to the ground gets a free joint to it, at the body drawn first.

docs/references.md: [P0], [Dijkstra 1959], [Wittenburg 1977].
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.model.elements import Joint, body_name, joint_name

if TYPE_CHECKING:
    from madi.model.model import Model


@dataclass(frozen=True)
class Edge:
    """A joint of the tree: `body` is attached to `parent`; `reverse` when the joint was drawn the other way."""

    body: str
    parent: str
    joint: Joint
    reverse: bool


@dataclass(frozen=True)
class SpanningTree:
    """Edges in depth-first order, parents before children; the cut joints; the bodies that got a free joint of ours."""

    edges: tuple[Edge, ...]
    cuts: tuple[Joint, ...]
    floating: tuple[str, ...]


def wishes(model: Model) -> dict[str, int]:
    """How much a joint belongs in the tree: 0 its cut is forbidden, 1 coupled, 2 driven, sprung or with a rotor; others are
    not named."""
    found = {str(joint_name(force.a)).split(".")[0]: 2 for force in model.forces if FORCES[force.kind].on_joint}
    found |= {str(drive.coordinate).split(".")[0]: 2 for drive in model.drives}
    found |= {joint.name: 2 for joint in model.joints if np.any(joint.armature)}
    for constraint in model.constraints:
        if CONSTRAINTS[constraint.kind].on_joints:
            found |= {str(joint_name(end)).split(".")[0]: 1 for end in (constraint.a, constraint.b)}
    return found | {joint.name: 0 for joint in model.joints if joint.cut is False}


def spanning_tree(model: Model) -> SpanningTree:
    """Dijkstra over the joints that may be in the tree; of equally short ways the joint drawn first is taken."""
    wish = wishes(model)
    order = {body.name: k for k, body in enumerate(model.bodies)}
    neighbours: dict[str, list[tuple[int, Joint, str, bool]]] = {name: [] for name in ["ground", *order]}
    for k, joint in enumerate(model.joints):
        parent, child = body_name(joint.parent), body_name(joint.child)
        if not joint.cut:
            neighbours[parent].append((k, joint, child, False))
            neighbours[child].append((k, joint, parent, True))

    reached: dict[str, Edge | None] = {}

    def grow(root: str) -> None:
        distance = {root: 0.0}
        heap: list[tuple[float, int, int, str, Edge | None]] = [(0.0, -1, -1, root, None)]
        while heap:
            length, _, _, name, edge = heapq.heappop(heap)
            if name in reached and name != root:
                continue
            if edge is not None:
                reached[name] = edge
            for k, joint, other, reverse in neighbours[name]:
                far = length + (0.0 if joint.name in wish else KINDS[joint.kind].weight)
                if other not in reached and far <= distance.get(other, float("inf")):
                    distance[other] = far
                    heapq.heappush(heap, (far, wish.get(joint.name, 3), k, other, Edge(other, name, joint, reverse)))

    reached["ground"] = None
    grow("ground")
    floating = []
    taken = {joint.name for joint in model.joints}
    for name in order:
        if name not in reached:
            free = f"{name}_free"
            while free in taken:
                free += "_"
            joint = Joint(free, "free", "ground", name)
            reached[name] = Edge(name, "ground", joint, False)
            floating.append(name)
            grow(name)

    edges = tuple(_depth_first(reached, {joint.name: k for k, joint in enumerate(model.joints)}))
    used = {id(edge.joint) for edge in edges}
    cuts = tuple(joint for joint in model.joints if id(joint) not in used)
    return SpanningTree(edges, cuts, tuple(floating))


def _depth_first(reached: dict[str, Edge | None], drawn: dict[str, int]) -> list[Edge]:
    children: dict[str, list[Edge]] = {}
    for edge in reached.values():
        if edge is not None:
            children.setdefault(edge.parent, []).append(edge)
    for branch in children.values():
        branch.sort(key=lambda edge: drawn.get(edge.joint.name, len(drawn)), reverse=True)
    result: list[Edge] = []
    stack = children.get("ground", [])[:]
    while stack:
        edge = stack.pop()
        result.append(edge)
        stack.extend(children.get(edge.body, []))
    return result
