"""What there is to see of a model: shapes of bodies, joints, springs, roads, arrows. All in body frames, as drawn.

Bodies without looks of their own get some from what depends on them: rods between their joints, wheels where a tire is, the
box that has their inertia where neither tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.forces import KINDS as FORCES
from madi.forces.road import ROUND, Polyline, Road
from madi.joints import KINDS
from madi.model.elements import Body, body_name, inertia_matrix
from madi.results.meshes import corners
from madi.spatial.rotation import as_rotation, frame_with_z, matrix_to_quaternion

if TYPE_CHECKING:
    from madi.model.model import Model

Point = np.ndarray
BESIDE = 1e-4  # m: how far beyond a bump it is drawn densely
PLATE = 0.004  # of the drawing: how thick a plane is drawn
MOST_PLACES = 6000  # along a road, of its features and of each of its polylines: the page stays small


class Scene:
    """The drawing of a model, body by body."""

    def __init__(self, model: Model, names: list[str], span: float = 0.0):
        """`names`: bodies of the run; `span`: how far they get, where the drawing itself has no size."""
        self.model, self.span = model, span
        run = set(names)
        self.names = [body.name for body in model.bodies if body.name in run]
        self._number = {name: k for k, name in enumerate(self.names)}
        self.bodies = {body.name: body for body in model.bodies}
        self.frames = {
            name: (as_rotation(body.orientation, name), np.asarray(body.position, dtype=float))
            for name, body in self.bodies.items()
        }
        self.marks: dict[str, list[Point]] = {name: [] for name in self.bodies}
        for element in (*model.joints, *model.forces, *model.constraints):
            self._mark(element)
        self.joints_of: dict[Any, list[Any]] = {name: [] for name in self.bodies}  # what is drawn on each body
        self.tires_of: dict[Any, list[Any]] = {name: [] for name in self.bodies}
        for joint in model.joints:
            for name in {body_name(joint.parent), body_name(joint.child)} & self.joints_of.keys():
                self.joints_of[name].append(joint)
        for force in model.forces:
            if FORCES[force.kind].wheel and body_name(force.a) in self.tires_of:
                self.tires_of[body_name(force.a)].append(force)
        self.size = self._size()

    def number(self, name: Any) -> int:
        """A body's number; the ground's is -1."""
        base = str(body_name(name)).partition("@")[0]
        return self._number.get(base, -1)

    def local(self, name: Any, point: Any) -> Point:
        """A point of the drawing in a body's frame."""
        base = str(body_name(name)).partition("@")[0]
        R, r = self.frames.get(base, (np.eye(3), np.zeros(3)))
        return R.T @ (np.asarray(point, dtype=float) - r)

    def turned(self, name: Any, direction: Any) -> Point:
        """A direction of the drawing in a body's frame."""
        base = str(body_name(name)).partition("@")[0]
        return self.frames.get(base, (np.eye(3), np.zeros(3)))[0].T @ np.asarray(direction, dtype=float)

    def _mark(self, element: Any) -> None:
        """Where an element touches its bodies."""
        if hasattr(element, "parent"):
            ends = [(element.parent, element.at), (element.child, element.at)]
        else:
            ends = list(zip((element.a, element.b), element.at, strict=False))
        for body, point in ends:
            base = str(body_name(body)).partition("@")[0]
            if base in self.marks and point is not None:
                self.marks[base].append(self.local(base, point))

    def _size(self) -> float:
        """Diagonal of the drawing: what the camera must see."""
        points = [self.frames[name][0] @ mark + self.frames[name][1] for name, marks in self.marks.items() for mark in marks]
        points += [r for _, r in self.frames.values()]
        points += [R @ np.asarray(self.bodies[name].com, dtype=float) + r for name, (R, r) in self.frames.items()]
        points += [np.asarray(body.drawn[1], dtype=float) for body in self.bodies.values() if body.drawn is not None]
        spread = np.ptp(np.array(points), axis=0) if points else np.ones(3)
        radii = [float(force.parameters["radius"]) for force in self.model.forces if "radius" in force.parameters]
        looks = [float(np.linalg.norm(v.size)) for body in self.bodies.values() for v in body.visuals if v.size is not None]
        looks += [3 * shape.reach() for shape in self.model.shapes if shape.kind != "plane"]
        size = max(float(np.linalg.norm(spread)), 2 * max(radii, default=0.0), max(looks, default=0.0))
        if size > 0:
            return size
        gyration = [_gyration(body) for body in self.bodies.values()]  # one point: what its inertia tells, or its way
        return 3 * max(gyration, default=0.0) or self.span or 1.0

    # ---- bodies ---------------------------------------------------------------------------------------------------------

    def shapes(self, body: Body) -> list[dict[str, Any]]:
        """What a body looks like."""
        looks = [shape for visual in body.visuals if (shape := _visual(visual)) is not None]
        looks += [
            part for shape in self.model.shapes if body_name(shape.body) == body.name for part in _solid(shape, self.size)
        ]
        if looks:
            return looks
        if body.name == "ground" or body.flexible is not None:
            return []
        wheels, arms = self._wheels(body)
        if len(wheels) == 1:
            return [*wheels, *arms]
        marks = _apart(self.marks[body.name], 0.004 * self.size)
        com = np.asarray(body.com, dtype=float)
        own = [KINDS[joint.kind].parts.split() for joint in self.joints_of[body.name] if body_name(joint.child) == body.name]
        base = any("shift" in parts or {"x", "y"} <= set(parts) for parts in own)
        found = [_rod(a, b, 0.014 * self.size) for a, b in _tree(marks)]
        if not found and marks and np.linalg.norm(com - marks[0]) > 0.01 * self.size:
            found.append(_rod(marks[0], com, 0.009 * self.size))
        if base or len(marks) <= 1:
            found += self._box(body, com, marks, base and len(marks) > 1)
        return [*wheels, *found]

    def _wheels(self, body: Body) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Tires that are drawn on a body, and rods from its joints to them."""
        wheels: list[dict[str, Any]] = []
        centres: list[Point] = []
        for force in self.tires_of[body.name]:
            road, radius = force.parameters["road"], float(force.parameters["radius"])
            forward, up = road.axes()
            axis = force.parameters.get("axis")
            axis = np.cross(up, forward) if axis is None else np.asarray(axis, dtype=float)
            centres.append(self.local(body.name, force.at[0]))
            turn = frame_with_z(self.turned(body.name, axis))
            wheels.append(_shape("wheel", [radius, 0.45 * radius], centres[-1], turn))
        marks = _apart([*self.marks[body.name], *centres], 0.02 * self.size)
        return wheels, [_rod(a, b, 0.012 * self.size) for a, b in _tree(marks)]

    def _box(self, body: Body, com: Point, marks: list[Point], ghost: bool) -> list[dict[str, Any]]:
        """The box that has the body's mass and inertia; `ghost`: seen through, beside what shows its joints."""
        inertia, mass = inertia_matrix(body), float(body.mass)
        if inertia is None or mass <= 0:
            return [_shape("sphere", [0.02 * self.size], com, np.eye(3))]
        moments, axes = np.linalg.eigh(inertia)
        sides = np.sqrt(np.maximum(6.0 / mass * (moments.sum() - 2 * moments), 0.0))
        sides = np.clip(sides, 0.015 * self.size, 1.2 * self.size)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        return [{**_shape("box", list(sides), com, axes), **({"opacity": 0.45} if ghost else {})}]

    # ---- joints, springs, roads -----------------------------------------------------------------------------------------

    def joints(self, cuts: list[str]) -> list[dict[str, Any]]:
        """Joints to be marked, on the body they are attached to."""
        found, cut = [], set(cuts)
        for joint in self.model.joints:
            if joint.at is None or not KINDS[joint.kind].holds:
                continue
            on = joint.child if self.number(joint.parent) < 0 else joint.parent
            axis = self.turned(on, joint.axes[0]).tolist() if KINDS[joint.kind].axes == 1 else None
            found.append({
                "name": joint.name, "kind": joint.kind, "body": self.number(on), "at": self.local(on, joint.at).tolist(),
                "axis": axis, "cut": joint.name in cut,
            })  # fmt: skip
        return found

    def springs(self) -> list[dict[str, Any]]:
        """Lines between two points: springs as coils, massless rods and tracks straight."""
        found = []
        drawn: list[tuple[Any, bool]] = [
            *((force, FORCES[force.kind].line) for force in self.model.forces if FORCES[force.kind].points == 2),
            *((constraint, False) for constraint in self.model.constraints if CONSTRAINTS[constraint.kind].rod),
        ]
        for element, coil in drawn:
            a, b = self.local(element.a, element.at[0]), self.local(element.b, element.at[1])
            found.append({"name": element.name, "a": self.number(element.a), "b": self.number(element.b), "at": a.tolist(),
                          "to": b.tolist(), "coil": coil})  # fmt: skip
        return found

    def roads(self, positions: np.ndarray) -> list[tuple[np.ndarray, int]]:
        """Strips (left and right edge of every section) under what moved, and how many sections are between lines."""
        seen: list[Road] = []
        found = []
        for force in self.model.forces:
            road = force.parameters.get("road")
            if not isinstance(road, Road) or road in seen:
                continue
            seen.append(road)
            forward, up = road.axes()
            left = np.cross(up, forward)
            x, y = positions @ forward, positions @ left
            margin = 0.9 * self.size
            start, end = float(x.min()) - margin, float(x.max()) + margin
            way = np.unique(np.concatenate([np.linspace(start, end, 400), _details(road, start, end)]))
            sides = ((0.0, float(y.max()) + 0.6 * margin), (float(y.min()) - 0.6 * margin, 0.0))
            for inner, outer in sides:
                height = road.height(way, 0.5 * (inner + outer))
                edges = [way[:, None] * forward + side * left + height[:, None] * up for side in (outer, inner)]
                found.append((np.stack(edges, axis=1), 20))
        return found


def _gyration(body: Body) -> float:
    """Largest radius of gyration."""
    inertia = inertia_matrix(body)
    if body.flexible is not None or inertia is None or not float(body.mass) > 0:
        return 0.0
    return float(np.sqrt(max(np.linalg.eigvalsh(inertia)[-1], 0.0) / float(body.mass)))


def _details(road: Road, start: float, end: float) -> np.ndarray:
    """Places where a road needs more points than elsewhere."""
    places = [np.zeros(0)]
    for kind, _, shift, a, b, *_rest in road.features:
        spans = [(a - b, a + b)] if kind == ROUND else [(a, min(b, a + 60.0))]
        for low, high in [*spans, *((low + shift, high + shift) for low, high in spans)]:
            places.append(np.linspace(low - BESIDE, high + BESIDE, 61))
    found = np.concatenate(places)
    found = found[(found > start) & (found < end)][:MOST_PLACES]
    return np.concatenate([found, *(_drawn(line, side, start, end) for line in road.lines for side in (1.0, -1.0))])


def _drawn(line: Polyline, side: float, start: float, end: float) -> np.ndarray:
    """The points of a polyline that a picture shows: all of them, or of as many cells as fit the lowest and the highest."""
    shift = 0.0 if line.shift is None or side > 0 else line.shift
    x, height = line.points[:, 0] + shift, line.points[:, 1]
    first, last = np.searchsorted(x, (start, end))
    x, height = x[first:last], height[first:last]
    if len(x) > MOST_PLACES:
        begins = np.linspace(0, len(x), MOST_PLACES // 2, endpoint=False).astype(np.int64)
        cell = np.repeat(np.arange(len(begins)), np.diff([*begins, len(x)]))
        order = np.lexsort((height, cell))
        ends = np.concatenate([begins[1:], [len(x)]]) - 1
        x = x[np.sort(np.concatenate([order[begins], order[ends]]))]
    return np.asarray(x)


def _shape(kind: str, size: list[Any], position: Any, turn: np.ndarray) -> dict[str, Any]:
    return {
        "kind": kind, "size": [float(x) for x in size], "position": [float(x) for x in position],
        "turn": [float(x) for x in matrix_to_quaternion(np.asarray(turn)[None])[0]],
    }  # fmt: skip


def _rod(a: Point, b: Point, radius: float) -> dict[str, Any]:
    return {"kind": "rod", "a": a.tolist(), "b": b.tolist(), "radius": min(radius, 0.25 * float(np.linalg.norm(b - a)))}


def _visual(visual: Any) -> dict[str, Any] | None:
    turn = as_rotation(visual.orientation, "visual")
    color = {} if visual.color is None else {"color": str(visual.color)}
    if visual.kind == "mesh":
        triangles = corners(visual)
        return None if triangles is None else {
            **_shape("mesh", [], visual.position, turn), **color, "vertices": triangles.reshape(-1),
        }  # fmt: skip
    return {**_shape(visual.kind, np.atleast_1d(visual.size).tolist(), visual.position, turn), **color}


def _solid(shape: Any, size: float) -> list[dict[str, Any]]:
    """A shape that bodies touch with; of a plane a thin square, of points small balls."""
    turn, at, (a, b, c) = shape.turn(), np.asarray(shape.at, dtype=float), (0.0, 0.0, 0.0)
    if shape.kind in ("points", "mesh"):
        found = [_shape("sphere", [0.004 * size], at + turn @ point, np.eye(3)) for point in shape.corners()]
    else:
        a, b, c = shape.numbers()
        parts = {
            "plane": [("box", [2 * size, 2 * size, PLATE * size], at - 0.5 * PLATE * size * turn[:, 2])],
            "sphere": [("sphere", [a], at)],
            "box": [("box", [2 * a, 2 * b, 2 * c], at)],
            "cylinder": [("cylinder", [a, 2 * b], at)],
            "capsule": [
                ("cylinder", [a, 2 * b], at),
                ("sphere", [a], at + b * turn[:, 2]),
                ("sphere", [a], at - b * turn[:, 2]),
            ],
        }
        found = [_shape(kind, numbers, place, turn) for kind, numbers, place in parts[shape.kind]]
    return [{**part, "color": str(shape.color)} for part in found] if shape.color else found


def _apart(points: list[Point], least: float) -> list[Point]:
    """Points that are not one and the same."""
    found: list[Point] = []
    for point in points:
        if all(np.linalg.norm(point - other) > least for other in found):
            found.append(point)
    return found[:24]


def _tree(points: list[Point]) -> list[tuple[Point, Point]]:
    """The shortest tree through points (Prim)."""
    if len(points) < 2:
        return []
    inside, outside, found = [0], list(range(1, len(points))), []
    while outside:
        pairs = [(float(np.linalg.norm(points[a] - points[b])), a, b) for a in inside for b in outside]
        _, a, b = min(pairs)
        found.append((points[a], points[b]))
        inside.append(b)
        outside.remove(b)
    return found


def graph(system: Any) -> dict[str, Any]:
    """Tree and cuts, for the drawing: bodies in the order of the tree with their depth and joint."""
    nodes: list[dict[str, Any]] = [{"name": "ground", "depth": 0}]
    depth = {"ground": 0}
    for edge in system.spanning_tree.edges:
        depth[edge.body] = depth[edge.parent] + 1
        kind = "point" if edge.joint.station is not None else edge.joint.kind
        nodes.append({"name": edge.body, "depth": depth[edge.body], "parent": edge.parent,
                      "joint": "" if kind == "point" else edge.joint.name, "kind": kind})  # fmt: skip
    cuts = [
        {"joint": joint.name, "a": body_name(joint.parent), "b": body_name(joint.child)}
        for joint in system.spanning_tree.cuts
    ]
    for c in system.model.constraints:
        if not CONSTRAINTS[c.kind].on_joints:
            cuts.append({"joint": c.name, "a": body_name(c.a), "b": body_name(c.b)})
    return {"nodes": nodes, "cuts": cuts}


def lines_of_forces(model: Model) -> list[Any]:
    """Force elements along a line, wheels and applied forces: those an arrow can show."""
    return [force for force in model.forces if (kind := FORCES[force.kind]).line or kind.wheel or kind.given]
