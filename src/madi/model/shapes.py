"""Shapes on bodies: one concept for what a body looks like, what it weighs and what it touches; contacts between them.

A shape is drawn in the frame of its body. For contact it becomes a `Solid` in the drawing, and two of them a `Geometry`: by
which of them the other is felt, and in how many points (forces/shapes.py)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import Finding, finite_numbers
from madi.forces.contact_law import POINT, TURNING_POINT
from madi.forces.shapes import BOX, CAPSULE, CYLINDER, PER_RIM, PLANE, POINTS, PROBES, RIMS, SEGMENTS, SPHERE
from madi.model.elements import Body, Element, body_name, inertia_matrix
from madi.spatial.rotation import as_rotation, frame_with_z

if TYPE_CHECKING:
    from madi.model.model import Model

WORDS = {"plane": PLANE, "sphere": SPHERE, "capsule": CAPSULE, "cylinder": CYLINDER, "box": BOX, "points": POINTS,
         "mesh": POINTS}  # fmt: skip
SIZES = {"plane": (), "sphere": ("radius",), "capsule": ("radius", "length"), "cylinder": ("radius", "length"),
         "box": ("size",), "points": ("points",), "mesh": ("file",)}  # fmt: skip
MOST_CORNERS = 200  # of a mesh that touches: each is looked at in every evaluation
SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


@dataclass(eq=False)
class Shape(Element):
    """A shape as drawn, in its body's frame."""

    name: str
    body: Any
    kind: str
    radius: Any = None
    length: Any = None
    size: Any = None
    normal: Any = None
    axis: Any = None
    points: Any = None
    file: Any = None
    scale: Any = 1.0
    at: Any = (0.0, 0.0, 0.0)
    orientation: Any = None
    density: Any = None
    contact: bool = True
    group: str | None = None
    color: str | None = None

    def turn(self) -> np.ndarray:
        """Its axes in the body frame: z along its axis or normal, if it has one."""
        own = self.normal if self.kind == "plane" else self.axis
        if own is not None:
            return frame_with_z(np.asarray(own, dtype=float))
        return as_rotation(self.orientation, self.name)

    def numbers(self) -> tuple[float, float, float]:
        """Radius and half length, or half sizes."""
        if self.kind == "box":
            x, y, z = (0.5 * float(one) for one in self.size)
            return x, y, z
        half = 0.5 * float(self.length) if self.length is not None else 0.0
        return float(self.radius or 0.0), half, 0.0

    def corners(self) -> np.ndarray:
        """Points that it touches with, in its own axes."""
        if self.kind == "box":
            return np.asarray(SIGNS * self.numbers())
        if self.kind == "mesh":
            from madi.model.mesh import read_mesh

            return np.unique(np.asarray(read_mesh(self.file)).reshape(-1, 3), axis=0) * float(self.scale)
        return np.asarray(self.points, dtype=float).reshape(-1, 3)

    def reach(self) -> float:
        """How far it gets from its middle; infinite of a plane."""
        a, b, c = self.numbers() if self.kind not in ("points", "mesh") else (0.0, 0.0, 0.0)
        if self.kind in ("points", "mesh"):
            return float(np.max(np.linalg.norm(self.corners(), axis=1)))
        return {"plane": math.inf, "sphere": a, "capsule": a + b, "cylinder": math.hypot(a, b),
                "box": math.sqrt(a * a + b * b + c * c)}[self.kind]  # fmt: skip


@dataclass(eq=False)
class Contact(Element):
    """Contact as drawn, between shapes or groups of them, by name."""

    name: str
    a: Any
    b: Any
    parameters: dict[str, Any] = field(default_factory=dict)


# ---- what is wrong with them ----------------------------------------------------------------------------------------------


def shape_findings(model: Model) -> Iterator[Finding]:
    """Defects of shapes."""
    known = {"ground", *(body.name for body in model.bodies)}
    for shape in model.shapes:
        where = f"shape {shape.name!r}"
        if shape.kind not in WORDS:
            yield Finding(where, f"there is no kind {shape.kind!r} of shape", f"There are: {', '.join(WORDS)}")
            continue
        if body_name(shape.body) not in known:
            yield Finding(where, f"there is no body {body_name(shape.body)!r}", "Give a body of the model, or m.ground")
        for name in ("radius", "length"):
            value = getattr(shape, name)
            number = finite_numbers(value)
            if name in SIZES[shape.kind] and (number is None or number.shape != () or number <= 0):
                yield Finding(where, f"its {name} {value!r} is not a number > 0", "Give it in metres")
        yield from _more_findings(shape, where)
        if shape.density is not None:
            density = finite_numbers(shape.density)
            if density is None or density.shape != () or density <= 0:
                yield Finding(where, f"its density {shape.density!r} is not > 0", "Give it in kg/m3, or leave it out")
            elif shape.kind not in ("sphere", "capsule", "cylinder", "box"):
                yield Finding(where, f"a {shape.kind} has no volume to weigh", "Give the body its mass")


def _more_findings(shape: Shape, where: str) -> Iterator[Finding]:
    size = finite_numbers(shape.size, 3) if shape.kind == "box" else np.ones(3)
    if size is None or np.any(size <= 0):
        yield Finding(where, f"its size {shape.size!r} is not three numbers > 0", "Give lengths along x, y, z in metres")
    if finite_numbers(shape.at, 3) is None:
        yield Finding(where, f"at {shape.at!r} is not three finite numbers", "Give a point in the body's frame")
    for name in ("normal", "axis"):
        value = getattr(shape, name)
        if value is not None and ((x := finite_numbers(value, 3)) is None or not np.any(x)):
            yield Finding(where, f"its {name} {value!r} is not a direction", "Give three numbers, not all zero")
    if shape.kind == "points":
        points = finite_numbers(shape.points)
        if points is None or points.ndim != 2 or points.shape[1] != 3:
            yield Finding(where, "its points are not rows of three numbers", "Give points in its own axes")
    if shape.kind == "mesh" and shape.contact and len(shape.corners()) > MOST_CORNERS:
        count = len(shape.corners())
        cure = f"Use a coarser one, at most {MOST_CORNERS}; contact=False only shows it"
        yield Finding(where, f"its mesh has {count} corners, and each is looked at in every evaluation", cure)


def contact_findings(model: Model) -> Iterator[Finding]:
    """Defects of contacts: what they are between, and their numbers."""
    for contact in model.contacts:
        where = f"contact {contact.name!r}"
        sides = [shapes_of(model, end) for end in (contact.a, contact.b)]
        for end, shapes in zip((contact.a, contact.b), sides, strict=True):
            if not shapes:
                yield Finding(where, f"there is no shape or group {end!r} that touches", _near_shapes(model))
        if all(sides) and not list(pairs(model, contact)):
            yield Finding(where, "its shapes are on one body, or cannot be in contact", "Give shapes of two bodies")
        yield from _law_findings(where, contact.parameters)


def _near_shapes(model: Model) -> str:
    names = [shape.name for shape in model.shapes if shape.contact]
    return f"Shapes: {', '.join(names[:12])}" if names else "Draw it first: m.shape(name, body, kind, ...)"


BOUNDS = {"stiffness": (0.0, None), "exponent": (1.0, 3.0), "damping": (0.0, None), "restitution": (0.0, 1.0),
          "mu": (0.0, None), "static": (0.0, None), "stribeck": (0.0, None), "rolling": (0.0, None),
          "spinning": (0.0, None), "shear": (0.0, None), "slowest": (0.0, None)}  # fmt: skip


def _law_findings(where: str, given: dict[str, Any]) -> Iterator[Finding]:
    for name, (low, high) in BOUNDS.items():
        value = given.get(name)
        if value is None:
            continue
        number = finite_numbers(value)
        if number is None or number.shape != () or number < low or (high is not None and number > high):
            told = f"from {low:g} to {high:g}" if high is not None else f">= {low:g}"
            yield Finding(where, f"{name} {value!r} is not a number {told}", "Give it in SI units")
    static, mu = (finite_numbers(given.get(name)) for name in ("static", "mu"))
    if static is not None and mu is not None and static < mu:
        yield Finding(where, f"static {static} is below mu {mu}", "What sticks bears at least what it slides against")
    if given.get("damping") is not None and given.get("restitution") is not None:
        yield Finding(where, "it has damping and restitution", "Give one of them: each follows from the other")


# ---- pairs ----------------------------------------------------------------------------------------------------------------


def shapes_of(model: Model, name: Any) -> list[Shape]:
    """A shape by its name, or all of a group, that touch."""
    found = [shape for shape in model.shapes if shape.contact and name in (shape.name, shape.group)]
    return [shape for shape in found if shape.name == name] or found


def pairs(model: Model, contact: Contact) -> Iterator[tuple[Shape, Shape]]:
    """Shapes that can be in contact: on two bodies, each pair once."""
    seen: set[frozenset[str]] = set()
    for a in shapes_of(model, contact.a):
        for b in shapes_of(model, contact.b):
            key = frozenset((a.name, b.name))
            if body_name(a.body) != body_name(b.body) and key not in seen and ways(a, b):
                seen.add(key)
                yield a, b


def ways(a: Shape, b: Shape) -> list[tuple[Shape, Shape, int]]:
    """(felt, feeling, way): how two shapes meet; empty, if they cannot."""
    kinds = {a.kind, b.kind}
    corners_of, round_ones = ("points", "mesh", "box"), ("sphere", "capsule")
    if kinds <= set(round_ones):
        return [(a, b, SEGMENTS)]
    if kinds <= {"plane"} or kinds <= {"points", "mesh"}:
        return []
    found = []
    for x, y in ((a, b), (b, a)):
        if y.kind in ("points", "mesh") or (x.kind == "plane"):
            continue
        if (x.kind in corners_of and (y.kind not in round_ones or x.kind != "box")) or (
            x.kind in round_ones and y.kind in ("plane", "box", "cylinder")
        ):
            found.append((x, y, PROBES))
        elif x.kind == "cylinder" and y.kind in ("plane", "box", "cylinder"):
            found.append((x, y, RIMS))
    return found


@dataclass(frozen=True)
class Solid:
    """A shape in the drawing."""

    name: str
    place: np.ndarray
    axes: np.ndarray
    sizes: tuple[float, float, float]
    kind: int


@dataclass(frozen=True)
class Geometry:
    """How a shape a is felt by a shape b, for the element (forces/contact.py)."""

    a: Solid
    b: Solid
    way: int
    probes: np.ndarray
    bound: float
    least: float  # how far the smaller of the two gets from its middle
    turning: bool
    overlap: bool  # they may start deep in each other

    @property
    def field(self) -> int:
        """b's kind."""
        return self.b.kind

    @property
    def count(self) -> int:
        """Points."""
        return {PROBES: len(self.probes), RIMS: 2 * PER_RIM, SEGMENTS: 1}[self.way]

    @property
    def memory(self) -> int:
        """Numbers that are remembered of them."""
        return self.count * (TURNING_POINT if self.turning else POINT)


def solid(model: Model, shape: Shape) -> Solid:
    """Where a shape is in the drawing."""
    owner = next((body for body in model.bodies if body.name == body_name(shape.body)), Body("ground"))
    R, r = as_rotation(owner.orientation, owner.name), np.asarray(owner.position, dtype=float)
    at = np.asarray(shape.at, dtype=float)
    return Solid(shape.name, r + R @ at, R @ shape.turn(), shape.numbers(), WORDS[shape.kind])


def geometry(model: Model, a: Shape, b: Shape, way: int, turning: bool, overlap: bool) -> Geometry:
    """a felt by b."""
    probes = np.zeros((0, 4))
    if way == PROBES:
        if a.kind in ("points", "mesh", "box"):
            places = a.corners()
        else:
            half = a.numbers()[1]
            ends = (0.0,) if a.kind == "sphere" else (-half, half) if b.kind == "plane" else (-half, 0.0, half)
            places = np.array([(0.0, 0.0, z) for z in ends])
        radius = a.numbers()[0] if a.kind in ("sphere", "capsule") else 0.0
        probes = np.column_stack([places, np.full(len(places), radius)])
    bound = a.reach() if b.kind == "plane" else a.reach() + b.reach()
    least = min(a.reach(), b.reach())
    return Geometry(solid(model, a), solid(model, b), way, probes, bound, least, turning, overlap)


# ---- what they weigh ------------------------------------------------------------------------------------------------------


def weighed(model: Model, body: Body) -> Body:
    """A body with the mass of its shapes: sums of masses, first and second moments."""
    heavy = [s for s in model.shapes if s.density is not None and body_name(s.body) == body.name]
    own = inertia_matrix(body)
    if not heavy or own is None:
        return body
    parts = [(float(body.mass), np.asarray(body.com, dtype=float), own)]
    parts += [(mass, np.asarray(s.at, dtype=float), s.turn() @ J @ s.turn().T) for s in heavy for mass, J in (_weight(s),)]
    mass = sum(m for m, _, _ in parts)
    com = sum((m * c for m, c, _ in parts), np.zeros(3)) / mass
    inertia = sum((J + m * ((d := c - com) @ d * np.eye(3) - np.outer(d, d)) for m, c, J in parts), np.zeros((3, 3)))
    return replace(body, mass=mass, com=com, inertia=inertia)


def _weight(shape: Shape) -> tuple[float, np.ndarray]:
    """Mass, and inertia about its middle in its own axes."""
    rho, (a, b, c) = float(shape.density), shape.numbers()
    if shape.kind == "sphere":
        m = rho * 4 / 3 * math.pi * a**3
        return m, np.eye(3) * 0.4 * m * a * a
    if shape.kind == "box":
        m = rho * 8 * a * b * c
        return m, np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * m / 3
    m = rho * math.pi * a * a * 2 * b
    across = m * (a * a / 4 + b * b / 3)
    J = np.diag([across, across, m * a * a / 2])
    if shape.kind == "capsule":  # two half balls more, centres of mass 3/8 r beyond the ends
        ball = rho * 4 / 3 * math.pi * a**3
        J = J + ball * np.diag([0.4 * a * a + b * b + 0.75 * a * b] * 2 + [0.4 * a * a])
        m += ball
    return m, J
