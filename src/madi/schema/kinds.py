"""THE schema: what a model file can say. Reader, writer, JSON Schema and reference page are made from these tables.

An element of type T is made by the method T of `Model`; its signature tells which entries must be given and the defaults of
the others. So a new element is a method there and a line here (a test holds the two against each other).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cache
from typing import Any

from madi.engines import ENGINES
from madi.integrate import METHODS
from madi.joints import KINDS as JOINT_KINDS
from madi.loops.methods import LOOP_METHODS
from madi.model.model import Model
from madi.model.shapes import WORDS as SHAPE_KINDS
from madi.schema.fields import (
    Array,
    Choice,
    Flag,
    Function,
    Inertia,
    List,
    Loads,
    MeshFile,
    Named,
    Number,
    Points,
    Reference,
    Rotation,
    Table,
    Text,
    Type,
    Vector,
    start_type,
)
from madi.schema.parts import ModesType, RoadType, SectionType, TirType

VERSION = 1
Entries = dict[str, tuple[Type, str]]


@dataclass(frozen=True)
class Kind:
    """A type of element: the group it stands in, its entries, and which of them must be given."""

    name: str
    group: str
    entries: Entries
    needed: tuple[str, ...]
    defaults: dict[str, Any]
    help: str

    @property
    def types(self) -> dict[str, Type]:
        """Types of the entries."""
        return {name: entry[0] for name, entry in self.entries.items()}


class OneOrEach(Type):
    """One number for all, or a number for each."""

    def __init__(self, one: Number, each: Vector, words: str):
        self.one, self.each, self.words = one, each, f"a number, or {words}"

    def read(self, node: Any, context: Any) -> Any:
        """A float or a tuple."""
        return (self.each if isinstance(node.value, list) else self.one).read(node, context)

    def write(self, value: Any) -> Any:
        """A number or a list."""
        return Array("", [0, 1]).write(value)

    def json(self) -> dict[str, Any]:
        """A number or an array."""
        return {"type": ["number", "string", "array"]}


DAMPING = OneOrEach(Number(), Vector("1", None), "one for each mode")
BODY, JOINT = Reference("bodies"), Reference("joints")
PLACE, AXIS, WAY = Vector("m"), Vector("1"), RoadType()
VISUAL: Entries = {
    "type": (Text(("box", "sphere", "cylinder", "mesh")), "what it is; a cylinder stands along z"),
    "size": (Vector("m", None), "[x, y, z] of a box, [radius] of a sphere, [radius, length] of a cylinder"),
    "position": (PLACE, "its middle, in the body frame"),
    "orientation": (Rotation(), "how it is turned in the body frame"),
    "color": (Text(), "#rrggbb, or a colour's name in English"),
    "file": (Text(), "of a mesh: an STL or OBJ file beside the model"),
    "scale": (Number(), "of a mesh: its unit in metres (0.001 for mm)"),
}
_FRAME: Entries = {
    "position": (PLACE, "the body frame's origin in the drawing, global"),
    "orientation": (Rotation(), "of the body frame in the drawing; default: global axes"),
}
BODIES: dict[str, Entries] = {
    "body": {
        "mass": (Number("kg"), "its mass"),
        "com": (PLACE, "centre of mass, in the body frame"),
        "inertia": (Inertia(), "about the centre of mass, body axes"),
        **_FRAME,
        "unphysical": (Flag(), "accept an inertia that no rigid body can have"),
    },
    "beam": {
        "start": (PLACE, "its start in the drawing, global"),
        "end": (PLACE, "its end; x points there"),
        "section": (SectionType(), "its section"),
        "E": (Number("Pa"), "Young's modulus"),
        "rho": (Number("kg/m3"), "density"),
        "modes": (ModesType(), "shapes it may take; default y: 3, z: 3"),
        "y_axis": (AXIS, "where its y axis points"),
        "damping": (DAMPING, "damping ratio of the modes"),
        "proportional": (Vector(("1/s", "s")), "[a, b] of damping a M + b K"),
        "stiffening": (Flag(), "bending shortens it: turning fast, or hanging, stiffens it"),
        "rotary": (Flag(), "sections resist being tilted; default: where that matters"),
        "G": (Number("Pa"), "shear modulus; default E / 2.6"),
        "points": (Named(Number("m")), "named points along it: body@NAME hangs things there"),
        "q0": (Vector("1", None), "modal coordinates at the start"),
        "v0": (Vector("1/s", None), "and their rates"),
        "strict": (Flag(), "refuse shapes whose ends do not fit the joints"),
    },
    "flexible_body": {
        "nodes": (Array("N rows of x, y, z, m", [2]), "in the body frame"),
        "masses": (Array("N numbers, kg", [1]), "of the nodes"),
        "modes": (Array("k x N x 6 numbers", [3]), "displacement and rotation of each node in each mode"),
        "stiffness": (Array("k numbers, or k x k", [1, 2]), "modal stiffness"),
        **_FRAME,
        "inertias": (Array("N x 3, or N x 3 x 3, kg m2", [2, 3]), "of the nodes"),
        "modal_mass": (Array("k x k numbers", [2]), "where a consistent one is known"),
        "damping": (DAMPING, "damping ratio of the modes"),
        "proportional": (Vector(("1/s", "s")), "[a, b] of damping a M + b K"),
        "labels": (List(Text()), "names of the nodes, \"\" where there is none"),
        "q0": (Vector("1", None), "modal coordinates at the start"),
        "v0": (Vector("1/s", None), "and their rates"),
    },
}  # fmt: skip
_ENDS: Entries = {"parent": (BODY, "the body it is attached to"), "child": (BODY, "the body it carries"),
                  "at": (PLACE, "where it is in the drawing, global")}  # fmt: skip
_AXIS: Entries = {"axis": (AXIS, "its axis in the drawing, global")}
_CUT: Entries = {"cut": (Flag(), "true: it closes a loop; false: it must not be cut")}


def _rotor(kind: str) -> Entries:
    units = ["kg" if unit == "m/s" else "kg m2" for unit in JOINT_KINDS[kind].rate_units]
    ball = JOINT_KINDS[kind].quaternion is not None
    each = OneOrEach(Number("any"), Vector(units), f"{len(units)} ({', '.join(units)})")
    one = Number(units[0]) if ball or len(units) == 1 else each
    return {"armature": (one, "inertia of the rotor that turns (slides) with it")}


def _start(kind: str) -> Entries:
    told = "coordinate(s) at the start" if kind != "free" else "place and quaternion at the start"
    return {"q0": (start_type(kind, "q0"), told), "v0": (start_type(kind, "v0"), "speed(s) at the start")}


JOINTS: dict[str, Entries] = {
    "revolute": {**_ENDS, **_AXIS, **_start("revolute"), **_CUT, **_rotor("revolute")},
    "prismatic": {**_ENDS, **_AXIS, **_start("prismatic"), **_CUT, **_rotor("prismatic")},
    "screw": {
        **_ENDS,
        **_AXIS,
        "pitch": (Number("m"), "advance of a full turn"),
        **_start("screw"),
        **_CUT,
        **_rotor("screw"),
    },
    "cylindrical": {**_ENDS, **_AXIS, **_start("cylindrical"), **_CUT, **_rotor("cylindrical")},
    "universal": {
        **_ENDS,
        "axes": (List(AXIS), "two axes: on the parent, on the child"),
        **_start("universal"),
        **_CUT,
        **_rotor("universal"),
    },
    "spherical": {**_ENDS, **_start("spherical"), **_CUT, **_rotor("spherical")},
    "planar": {
        **_ENDS,
        **_AXIS,
        "x_axis": (AXIS, "where its x points"),
        **_start("planar"),
        **_CUT,
        **_rotor("planar"),
    },
    "fixed": {**_ENDS, **_CUT},
    "free": {**_ENDS, **_start("free")},
}
_PAIR: Entries = {"a": (BODY, "one body"), "b": (BODY, "the other")}
_LINE: Entries = {**_PAIR, "at": (Points(), "a point of a and a point of b, global, in the drawing")}
_FREE: Entries = {"free_length": (Number("m"), "length without force; default: as drawn")}
_ON: Entries = {"body": (BODY, "the body it acts on")}
_WHEEL: Entries = {**_ON, "at": (PLACE, "its centre in the drawing"), "axis": (AXIS, "what it spins about")}
_GROUND: Entries = {"road": (WAY, "what it rolls on; default: level ground at z = 0"),
                    "places": (Number(whole=True), "where the road is sampled: 1 below, 9 as a disc")}  # fmt: skip
BETWEEN_POINTS = (Text(("linear", "cubic")), "the points: straight lines, or monotone cubics")
LAW = ("length", "rate")  # what a law sees beside time and state
FORCES: dict[str, Entries] = {
    "spring_damper": {**_LINE, "stiffness": (Number("N/m"), ""), "damping": (Number("N s/m"), ""), **_FREE},
    "joint_spring": {
        "joint": (JOINT, "the coordinate"), "stiffness": (Number("any"), "N/m or N m/rad"),
        "damping": (Number("any"), "N s/m or N m s/rad"), "rest": (Number("any"), "coordinate without force"),
    },
    "stop": {
        "joint": (JOINT, "the coordinate"), "lower": (Number("any"), "m or rad"), "upper": (Number("any"), "m or rad"),
        "stiffness": (Number("any"), "compliant, N/m or N m/rad; default: by the inertia behind the joint"),
        "damping": (Number("any"), "compliant, factor 1 + damping d', s/m or s/rad; default 1"),
        "restitution": (Number(), "hard: what arrives at v leaves at -restitution v"),
        "rest_speed": (Number("any"), "hard: slower bounces come to rest, m/s or rad/s; default 1e-5"),
    },
    "friction": {
        "joint": (JOINT, "the coordinate"), "coulomb": (Number("any"), "while it slides, N or N m"),
        "static": (Number("any"), "what it bears while it sticks; default: as coulomb"),
        "stribeck": (Number("any"), "speed with which static friction fades; default: at once"),
        "viscous": (Number("any"), "N s/m or N m s"),
        "law": (Text(("exponential", "hyperbolic")), "how it fades"),
        "mu": (Number(), "by the joint's load, in place of coulomb; static is a coefficient then, too"),
        "radius": (Number("m"), "of the pin, or mean radius of the thread"),
        "span": (Number("m"), "of two bearings that bear the joint's moment"),
    },
    "event": {
        "signal": (Function("any"), "what is watched, an expression"),
        "direction": (Number(whole=True), "1: where it rises through zero, -1: falls, 0: both"),
        "stop": (Flag(), "the run ends there"),
    },
    "hydropneumatic": {
        **_LINE, "pressure": (Number("Pa"), "gauge, of the gas at free_length"), "area": (Number("m2"), "of the piston"),
        "volume": (Number("m3"), "of the gas at free_length"), "exponent": (Number(), "of the gas"),
        "compression": (Number("N s/m"), "damping"), "rebound": (Number("N s/m"), "damping"), **_FREE,
        "ambient": (Number("Pa"), "pressure outside"),
    },
    "bump_stop": {
        **_LINE, "clearance": (Number("m"), "distance below which it pushes"), "stiffness": (Number("any"), "N/m^exponent"),
        "exponent": (Number(), "1: a spring"), "damping": (Number("s/m"), "factor 1 + damping d'"),
    },
    "characteristic": {
        **_LINE, "spring": (Table("m", "N"), "stretch, tension"), "damper": (Table("m/s", "N"), "rate, tension"), **_FREE,
        "between": BETWEEN_POINTS,
    },
    "two_point_force": {**_LINE, "law": (Function("N", more=LAW), "tension: positive pulls the points together")},
    "joint_characteristic": {
        "joint": (JOINT, "the coordinate"), "spring": (Table("any", "any"), "from rest (m, rad), what pushes back (N, N m)"),
        "damper": (Table("any", "any"), "rate, what pushes back"), "rest": (Number("any"), "coordinate without force"),
        "between": BETWEEN_POINTS,
    },
    "torsion_bar": {
        **_PAIR, **_AXIS, "stiffness": (Number("N m"), "per rad"), "damping": (Number("N m s"), "per rad"),
        "rest": (Number("rad"), "angle without torque"),
    },
    "bushing": {
        **_PAIR, "at": (PLACE, "where it is in the drawing"),
        "stiffness": (Vector(("N/m",) * 3 + ("N m",) * 3), "along and about its axes"),
        "damping": (Vector(("N s/m",) * 3 + ("N m s",) * 3), "likewise"), "axis": (AXIS, "its z; default: global axes"),
    },
    "wheel": {
        **_ON, "at": (PLACE, "its centre in the drawing"), "radius": (Number("m"), ""),
        "stiffness": (Number("N/m"), "vertical"), "damping": (Number("N s/m"), "vertical"), **_GROUND,
    },
    "tire": {
        **_WHEEL, "radius": (Number("m"), ""), "stiffness": (Number("N/m"), "vertical"),
        "damping": (Number("N s/m"), "vertical"), "slip_stiffness": (Number("N"), "per unit of slip"),
        "cornering_stiffness": (Number("N"), "per rad"), "friction": (Number(), "of the road"),
        "rolling_resistance": (Number(), "force over load"), "low_speed": (Number("m/s"), "below it the law is viscous"),
        **_GROUND, "law": (Text(("smooth", "fiala", "brush")), "how slip makes force"),
        "sliding_friction": (Number(), "Fiala's and the brush's; default: friction"),
        "patch": (Number("m"), "half the length of the contact"),
    },
    "magic_tire": {
        **_WHEEL, "tir": (TirType(), "its Magic Formula"), "road": _GROUND["road"],
        "relaxation": (Flag(), "slips lag behind"), "side": (Text(("left", "right")), "where it is mounted"),
        "pressure": (Number("Pa"), "in place of the file's"), "damping": (Number("N s/m"), "in place of the file's"),
        "low_speed": (Number("m/s"), "in place of the file's"), "places": _GROUND["places"],
    },
    "track": {
        **_LINE, "radii": (Vector("m", 2), "of the two wheels"), "tension": (Number("N"), "as drawn"),
        "stiffness": (Number("N/m"), "along the span"), "length": (Number("m"), "without stretch; default: as drawn"),
        "support": (Number("any"), "N/m, where the road comes above it"), "support_damping": (Number("any"), "N s/m"),
        **_GROUND, "over": (Flag(), "the return run: over the wheels"),
    },
    "force": {**_ON, "value": (Function("N", 3), "global axes"), "at": (PLACE, "default: its centre of mass")},
    "torque": {**_ON, "value": (Function("N m", 3), "global axes")},
    "joint_torque": {"joint": (JOINT, "the coordinate"), "value": (Function("any"), "N or N m")},
    "state": {"rate": (Function("any"), "v[name] is the state"), "start": (Number("any"), "its value at the start")},
}  # fmt: skip
_COUPLED: Entries = {"a": (JOINT, "a joint's coordinate"), "b": (JOINT, "the other")}
CONSTRAINTS: dict[str, Entries] = {
    "distance": {**_LINE, "length": (Number("m"), "default: as drawn")},
    "point_on_line": {
        **_PAIR, "at": (PLACE, "a point of the line"), **_AXIS, "point": (PLACE, "the point of b; default: at"),
    },
    "point_on_plane": {
        **_PAIR, "at": (PLACE, "a point of the plane"), "normal": (AXIS, "of the plane"),
        "point": (PLACE, "the point of b; default: at"),
    },
    "coupler": {**_COUPLED, "ratio": (Number("any"), "q_a = ratio q_b + offset"), "offset": (Number("any"), "")},
    "gear": {**_COUPLED, "radii": (Vector("1", 2), "or numbers of teeth"), "internal": (Flag(), "a ring gear")},
    "rack": {
        "rack": (JOINT, "the slide"), "pinion": (JOINT, "the turning joint"), "radius": (Number("m"), "of the pinion"),
        "offset": (Number("m"), "of the slide"),
    },
}  # fmt: skip
SHAPES: dict[str, Entries] = {
    "shape": {
        "body": (BODY, "the body it is on, or ground"), "kind": (Text(tuple(SHAPE_KINDS)), "what it is"),
        "radius": (Number("m"), "of a sphere, capsule, cylinder"),
        "length": (Number("m"), "of a cylinder; of a capsule, without its ends"),
        "size": (Vector("m"), "of a box, along x, y, z"), "normal": (AXIS, "of a plane; default z"),
        "axis": (AXIS, "of a capsule or cylinder; default z"), "points": (Array("rows of x, y, z, m", [2]), "that touch"),
        "file": (MeshFile(), "of a mesh"), "scale": (Number(), "of a mesh: its unit in metres"),
        "at": (PLACE, "its middle, in the body frame"), "orientation": (Rotation(), "how it is turned in the body frame"),
        "density": (Number("kg/m3"), "its mass is added to the body's"), "contact": (Flag(), "whether it can touch"),
        "group": (Text(), "a name that several shapes share"), "color": (Text(), "#rrggbb, or a colour's name in English"),
    },
}  # fmt: skip
_SHAPE = Reference("shapes")
CONTACTS: dict[str, Entries] = {
    "contact": {
        "a": (_SHAPE, "one side"), "b": (_SHAPE, "the other"),
        "stiffness": (Number("any"), "k, N/m^exponent; default: by the weight of the lighter body"),
        "restitution": (Number(), "part of the speed that is left; default 0.5"),
        "mu": (Number(), "friction while it slides"), "static": (Number(), "while it sticks; default: as mu"),
        "stribeck": (Number("m/s"), "speed with which the one becomes the other"),
        "rolling": (Number("m"), "arm of the push that resists rolling"),
        "spinning": (Number("m"), "arm that resists turning about the normal"),
        "damping": (Number("s/m"), "c, in place of restitution"), "exponent": (Number(), "n"),
        "shear": (Number(), "stiffness of bristles over that of the push"),
        "slowest": (Number("m/s"), "slower impacts lose more"),
        "overlap": (Flag(), "shapes may start deep in each other"),
    },
}  # fmt: skip
GROUPS: dict[str, dict[str, Entries]] = {
    "bodies": BODIES, "joints": JOINTS, "constraints": CONSTRAINTS, "forces": FORCES, "shapes": SHAPES, "contacts": CONTACTS,
}  # fmt: skip
ALONE = {"bodies": "body", "shapes": "shape", "contacts": "contact"}  # types that need not be told
DRIVE = Function("any")
RUN: Entries = {
    "duration": (Number("s"), "simulated time"), "step": (Number("s"), "of fixed-step methods"),
    "every": (Number("s"), "time between outputs"),
    "method": (Choice(METHODS, {"first_step": "s", "feedback": "1/s"}), "the integrator"),
    "loops": (Choice(LOOP_METHODS, {"closing": "m", "alpha": "1/s", "beta": "1/s"}), "how loops are kept closed"),
    "engine": (Text(("auto", *ENGINES)), "what evaluates the equations"),
    "formulation": (Text(), "recursive, articulated, velocity-transform, cartesian"),
    "frame": (Text(("base", "ground")), "what a moving base's equations refer to"),
    "rtol": (Number(), "relative tolerance"), "atol": (Number(), "absolute tolerance"),
    "max_step": (Number("s"), "longest step"),
    "reactions": (Loads(), "joints and constraints whose loads are recorded, and the axes of their signals"),
    "history": (Flag(), "keep the length and violation of every step"),
}  # fmt: skip
# entries of `run` that have become options of what they belong to
MOVED = {
    **dict.fromkeys(("gamma", "beta"), "method: {newmark: {NAME: ...}}"),
    **dict.fromkeys(("spectral_radius", "alpha"), "method: {generalized-alpha: {NAME: ...}}"),
    **dict.fromkeys(("iterations", "jacobian"), "method: {newmark: {NAME: ...}}"),
    "order": "method: {abm: {NAME: ...}}", "first_step": "method: {dopri: {NAME: ...}}",
    "feedback": "loops: {baumgarte: {alpha: ..., beta: ...}}", "closing": "loops: {projection: {NAME: ...}}",
    "weighting": "loops: {pseudo-inverse: {NAME: ...}}",
}  # fmt: skip
TOP: dict[str, str] = {
    "madi": f"the format's version, {VERSION}",
    "model": "the model's name",
    "description": "what it is, for people",
    "notes": "texts: what an import did not carry over",
    "gravity": "three numbers, m/s2; default [0, 0, -9.81]",
    "parameters": "NAME: number or expression; used in every expression below",
    "tables": "NAME: {points: [[x, y], ...] or {csv: FILE}, between: cubic}; NAME(t) can be used in expressions; cubic: "
    "monotone cubics, level at both ends; linear: straight lines",
    "include": "other files in this folder, FILE or {file, prefix, parameters}",
    "roads": "NAME: a list of parts; wheels and tires name them",
    "bodies": "NAME: what it is; `type` body if none is given",
    "joints": "NAME: {type, parent, child, at, ...}",
    "constraints": "NAME: {type, a, b, ...}",
    "forces": "NAME: {type, ...}",
    "shapes": "NAME: {body, kind, ...}: what bodies look like, weigh and touch",
    "contacts": "NAME: {a, b, ...}: between shapes, or groups of them",
    "drives": "COORDINATE: an expression of t, or `locked`",
    "adjustable": "numbers that stay adjustable in exported code: spring.stiffness, chassis.mass, ...",
    "run": "how it is run where nothing else is said",
}


@cache
def kind(group: str, name: str) -> Kind:
    """A type of element with what its method of `Model` says."""
    entries = GROUPS[group][name]
    method = getattr(Model, name)
    parameters = [p for p in inspect.signature(method).parameters.values() if p.name not in ("self", "name")]
    needed = tuple(p.name for p in parameters if p.default is p.empty)
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    text = " ".join((method.__doc__ or "").split("\n\n")[0].split())
    return Kind(name, group, entries, needed, defaults, text)
