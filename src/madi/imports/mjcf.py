"""MJCF, MuJoCo's models: nested bodies, joints in bodies, geoms that give mass, equality constraints as loops.

The drawing is MuJoCo's reference configuration (qpos0). A body with several joints becomes a chain of massless bodies, one
without joints is fixed to its parent. Equality constraints are exact here; MuJoCo's are soft.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from madi.imports.urdf import Frame, start, told, warned
from madi.imports.xml import Element, parse_xml, read_xml
from madi.model.elements import Visual
from madi.model.model import Model
from madi.spatial.rotation import NO_LENGTH, as_rotation

OPPOSITE = 1e-12  # 1 + cosine of the angle to z: any half turn will do
DENSITY = 1000.0
LEFT_OUT = ("actuator", "sensor", "tendon", "contact", "keyframe", "deformable", "custom", "extension")
JOINTS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
DEEPEST = 8
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
HEEDED = (  # settings of the compiler that are followed, or do not matter here
    "angle", "coordinate", "eulerseq", "autolimits", "inertiafromgeom", "inertiagrouprange", "boundmass", "boundinertia",
    "settotalmass", "balanceinertia", "meshdir", "texturedir", "assetdir", "strippath", "usethread", "discardvisual",
)  # fmt: skip


def load_mjcf(path: str | Path, limits: bool = False, friction: bool = False) -> Model:
    """A Model from a MuJoCo XML file. `limits`: joints get stops at their range; `friction`: their dry friction.
    `model.notes` tells what was not carried over."""
    file = Path(path)
    return warned(_Reader(read_xml(file), file.parent, limits, friction).model(), file.name)


def mjcf_text(text: str | bytes, limits: bool = False, friction: bool = False) -> Model:
    """The same from text; other files are not read."""
    return _Reader(parse_xml(text, "mjcf"), None, limits, friction).model()


def _names(element: Element) -> set[str]:
    """Names of all bodies and joints of a file."""
    found = {element.get("name")} if element.tag in ("body", "joint", "freejoint") and element.get("name") else set()
    return found.union(*(_names(child) for child in element.children))


class _Reader:
    def __init__(self, root: Element, folder: Path | None, limits: bool, friction: bool):
        if root.tag != "mujoco":
            raise root.error("is no MJCF file: its root element is not <mujoco>")
        self.root, self.folder, self.limits, self.friction = root, folder, limits, friction
        self.notes: dict[str, list[str]] = {}
        self.files = 0
        self._include(root, [])
        self.compiler = {name: text for element in root.all("compiler") for name, text in element.attributes.items()}
        self.degrees = self.compiler.get("angle", "degree") == "degree"
        groups = self.compiler.get("inertiagrouprange", "0 5").split()
        try:
            self.groups = float(groups[0]), float(groups[1])
            _ = [float(self.compiler.get(name, 0)) for name in ("boundmass", "boundinertia", "settotalmass")]
        except (ValueError, IndexError):
            raise root.error(
                "the compiler's inertiagrouprange, boundmass, boundinertia or settotalmass are no numbers"
            ) from None
        if self.compiler.get("coordinate", "local") != "local":
            raise root.error("global coordinates are not read; MuJoCo itself has given them up")
        self.reserved = _names(root)
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in root.all("default"):
            if element.get("class", "main") != "main":
                raise element.error("the outermost default class is called main")
            self._default(element, {}, "main")
        for name in self.compiler:
            if name not in HEEDED:
                self.note("compiler settings", name)

    # ---- files and defaults -------------------------------------------------------------------------------------------

    def _include(self, element: Element, chain: list[Path]) -> None:
        """<include file=...> is replaced by what the file has, from the model's folder and below."""
        children: list[Element] = []
        for child in element.children:
            if child.tag != "include":
                self._include(child, chain)
                children.append(child)
                continue
            path = self._file(child.need("file"), child)
            self.files += 1
            if path in chain or len(chain) > DEEPEST or self.files > 100:
                raise child.error("files include each other, too deeply or without end")
            inner = read_xml(path)
            self._include(inner, [*chain, path])
            children += inner.children
        element.children = children

    def _file(self, name: str, element: Element) -> Path:
        if self.folder is None:
            raise element.error("other files are not read here")
        try:
            path = (self.folder / name).resolve()
            if not path.is_relative_to(self.folder.resolve()):
                raise element.error(f"{name!r} is outside the model's folder")
            if not path.is_file():
                raise element.error(f"there is no file {name!r} in the model's folder")
        except (OSError, ValueError) as error:
            raise element.error(f"{name!r} cannot be a file's name ({error})") from None
        return path

    def _default(self, element: Element, inherited: dict[str, dict[str, str]], name: str) -> None:
        name = element.get("class") or name
        own = self.defaults.get(name) or {tag: dict(values) for tag, values in inherited.items()}  # sections add up
        for child in element.children:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attributes)
        self.defaults[name] = own
        for child in element.all("default"):
            if not child.get("class"):
                raise child.error("a default within a default needs a class")
            self._default(child, own, "main")

    def _filled(self, element: Element, childclass: str, tag: str = "") -> Element:
        """An element with the attributes of its class."""
        name = element.get("class") or childclass or "main"
        if name not in self.defaults:
            raise element.error(f"there is no default class {name!r}")
        inherited = dict(self.defaults[name].get(tag or element.tag, {}))
        if any(way in element.attributes for way in TURNS):  # its own way to say it goes before a class's
            inherited = {key: value for key, value in inherited.items() if key not in TURNS}
        values = {**inherited, **element.attributes}
        return Element(element.tag, values, element.file, element.line, element.children)

    def note(self, what: str, who: str) -> None:
        """Something is not carried over."""
        self.notes.setdefault(what, []).append(who)

    # ---- the model ----------------------------------------------------------------------------------------------------

    def model(self) -> Model:
        """Bodies, joints and equalities."""
        self.m = Model(self.root.get("model") or "mujoco model")
        for option in self.root.all("option"):
            if "gravity" in option.attributes:
                self.m.gravity = tuple(option.numbers("gravity", 3))
            if any(flag.get("gravity") == "disable" for flag in option.all("flag")):
                self.m.gravity = (0.0, 0.0, 0.0)
            for name in ("wind", "density", "viscosity"):
                if name in option.attributes:
                    self.note("fluid forces", f"line {option.line}")
        self.frames: dict[str, Frame] = {"world": Frame(np.eye(3), np.zeros(3))}
        self.bodies: dict[str, Any] = {"world": self.m.ground}
        self.joints: dict[str, str] = {}  # names in the file, and here
        for world in self.root.all("worldbody"):
            self._looks(world, "", self.m.ground, Frame(np.eye(3), np.zeros(3)))
            self._children(world, "", Frame(np.eye(3), np.zeros(3)), self.m.ground)
        for equality in self.root.all("equality"):
            for k, element in enumerate(equality.children):
                self._equality(self._filled(element, "", "equality"), k)
        for tag in LEFT_OUT:
            for element in self.root.all(tag):
                for child in element.children:
                    self.note(f"<{tag}>", child.get("name") or child.tag)
        if not self.m.bodies:
            raise self.root.error("has no bodies")
        self._total()
        self.m.notes = told(self.notes)
        return self.m

    def _children(self, element: Element, childclass: str, frame: Frame, parent: Any) -> None:
        for child in element.children:
            if child.tag == "body":
                self._body(child, childclass, frame, parent)
            elif child.tag == "frame":
                inner = child.get("childclass") or childclass
                self._children(child, inner, frame @ self._pose(child), parent)
            elif child.tag in ("replicate", "composite", "flexcomp", "attach"):
                raise child.error(f"<{child.tag}> is not read; write the bodies out (mj_saveLastXML does)")

    def _free_name(self, wanted: str, taken: list[Any], fallback: str) -> str:
        """A name that nobody has: the file's own where it can be; a changed one is noted and keeps off the file's names."""
        name = (wanted or fallback).replace(".", "_").replace("@", "_")
        name = f"{name}_" if name == "ground" else name
        known = {element.name for element in taken}
        while name in known or (name != wanted and name in self.reserved):
            name += "_"
        if wanted in self.reserved and name != wanted:
            self.note("names changed (a dot or @ has a meaning here)", f"{wanted} is {name}")
        return name

    def _body(self, element: Element, outer: str, above: Frame, parent: Any) -> None:
        childclass = element.get("childclass") or outer
        frame = above @ self._pose(element)
        wanted = element.get("name")
        if wanted and wanted in self.frames:
            raise element.error("the name is used twice")
        name = self._free_name(wanted, self.m.bodies, f"body{len(self.m.bodies) + 1}")
        self.frames[wanted or name] = frame
        given = self._mass(element, childclass)
        joints = list(self._found(element, childclass, Frame(np.eye(3), np.zeros(3)), ("joint", "freejoint")))
        frames: dict[str, Any] = {"position": tuple(frame.r), "orientation": frame.R}
        before = parent
        for k in range(len(joints) - 1):  # several joints: massless bodies between them
            link = self.m.body(self._free_name(f"{name}_{k + 1}", self.m.bodies, ""), **frames)
            self._joint(joints[k][0], name, k, frame @ joints[k][1], before, link)
            before = link
        body = self.m.body(name, **frames, **given)
        self.bodies[wanted or name] = body
        if joints:
            self._joint(joints[-1][0], name, len(joints) - 1, frame @ joints[-1][1], before, body)
        else:
            self.m.fixed(self._free_name(f"{name}_fixed", self.m.joints, ""), parent, body)
        self._looks(element, childclass, body, Frame(np.eye(3), np.zeros(3)))
        if element.get("mocap") == "true":
            self.note("motion capture bodies (held still)", name)
        if element.number("gravcomp", 0.0):
            self.note("gravity compensation", name)
        self._children(element, childclass, frame, body)

    def _joint(self, joint: Element, body: str, k: int, frame: Frame, parent: Any, child: Any) -> None:
        kind = "free" if joint.tag == "freejoint" else joint.get("type", "hinge")
        if kind not in JOINTS:
            raise joint.error(f"type {kind!r}: choose one of {', '.join(JOINTS)}")
        name = self._free_name(joint.get("name"), self.m.joints, f"{body}_joint{k + 1 if k else ''}")
        at = frame.r + frame.R @ joint.vector("pos")
        axis = joint.vector("axis", (0.0, 0.0, 1.0))
        if kind in ("hinge", "slide"):
            if not np.linalg.norm(axis) > 0:
                raise joint.error("the axis is zero")
            getattr(self.m, JOINTS[kind])(name, parent, child, at=tuple(at), axis=tuple(frame.R @ axis))
        elif kind == "ball":
            self.m.spherical(name, parent, child, at=tuple(at))
        else:
            self.m.free(name, parent, child)
        turn = math.pi / 180 if self.degrees and kind == "hinge" else 1.0
        ref = turn * joint.number("ref", 0.0)
        if joint.get("name"):
            self.joints[joint.get("name")] = name
        if ref:
            self.note("coordinates counted from ref (here from the drawing)", name)
        damping, stiffness = joint.numbers("damping", None, (0.0,))[0], joint.numbers("stiffness", None, (0.0,))[0]
        if kind in ("hinge", "slide"):
            if damping or stiffness:
                rest = turn * joint.number("springref", 0.0) - ref
                self.m.joint_spring(f"{name}_spring", name, stiffness=stiffness, damping=damping, rest=rest)
            self._range(joint, name, turn, ref)
        elif damping or stiffness:
            self.note("springs and dampers of ball and free joints", name)
        self._rotor(joint, name, kind)
        if joint.number("frictionloss", 0.0):
            if joint.number("frictionloss") < 0:
                raise joint.error("frictionloss is negative")
            if kind not in ("hinge", "slide"):
                self.note("dry friction of ball and free joints", name)
            elif self.friction:
                self.m.friction(f"{name}_friction", name, coulomb=joint.number("frictionloss"))
            else:
                self.note("dry friction of joints (friction=True, --friction, carries it over)", name)
        if kind == "ball" and "range" in joint.attributes:
            self.note("ranges of ball joints", name)
        for what in ("actuatorfrcrange", "margin", "actuatorgravcomp"):
            if what in joint.attributes:
                self.note(f"{what} of joints", name)
        if "springdamper" in joint.attributes:
            self.note("springs by time constant (springdamper)", name)

    def _rotor(self, joint: Element, name: str, kind: str) -> None:
        inertia = joint.number("armature", 0.0)
        if inertia < 0:
            raise joint.error("the armature is negative")
        if kind == "free" and inertia:
            self.note("armature of free joints", name)
        elif inertia:
            self.m.joints[-1].armature = inertia

    def _range(self, joint: Element, name: str, turn: float, ref: float) -> None:
        low, high = joint.numbers("range", 2, (0.0, 0.0))
        automatic = self.compiler.get("autolimits", "true") == "true" and "range" in joint.attributes
        limited = joint.get("limited", "auto")
        if not (limited == "true" or (limited == "auto" and automatic)) or not low < high:
            return
        if self.limits:
            self.m.stop(f"{name}_stop", name, turn * low - ref, turn * high - ref)
            if "solreflimit" in joint.attributes or "solimplimit" in joint.attributes:
                self.note("how soft limits are (solreflimit, solimplimit)", name)
        else:
            self.note("ranges of joints (limits=True, --limits, makes stops of them)", name)

    # ---- poses, masses, looks -----------------------------------------------------------------------------------------

    def _pose(self, element: Element) -> Frame:
        return Frame(self._turn(element), element.vector("pos"))

    def _turn(self, element: Element) -> np.ndarray:
        unit = math.pi / 180 if self.degrees else 1.0
        if "quat" in element.attributes:
            return as_rotation(self._direction(element, "quat", 4), "quat")
        if "axisangle" in element.attributes:
            *axis, angle = element.numbers("axisangle", 4)
            direction = np.array(axis)
            if not np.linalg.norm(direction) > 0:
                raise element.error("the axis of axisangle is zero")
            direction = direction / np.linalg.norm(direction)
            half = 0.5 * unit * angle
            return as_rotation(np.concatenate([[math.cos(half)], math.sin(half) * direction]), "axisangle")
        if "euler" in element.attributes:
            return self._euler(unit * np.array(element.numbers("euler", 3)), element)
        if "xyaxes" in element.attributes:
            six = np.array(element.numbers("xyaxes", 6))
            x, y = six[:3], six[3:]
            z = np.cross(x, y)
            if not np.linalg.norm(z) > NO_LENGTH:
                raise element.error("xyaxes are along one line")
            x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
            return np.stack([x, np.cross(z, x), z], axis=1)
        if "zaxis" in element.attributes:
            return _least_turn(self._direction(element, "zaxis", 3))
        return np.eye(3)

    def _direction(self, element: Element, name: str, count: int) -> np.ndarray:
        values = np.array(element.numbers(name, count))
        if not np.linalg.norm(values) > NO_LENGTH:
            raise element.error(f"{name} is zero")
        return values / np.linalg.norm(values)

    def _euler(self, angles: np.ndarray, element: Element) -> np.ndarray:
        sequence = self.compiler.get("eulerseq", "xyz")
        if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
            raise element.error(f"eulerseq {sequence!r} is not three of x, y, z")
        R = np.eye(3)
        for letter, angle in zip(sequence, angles, strict=True):
            k = "xyz".index(letter.lower())
            c, s = math.cos(angle), math.sin(angle)
            turn = np.eye(3)
            i, j = (k + 1) % 3, (k + 2) % 3
            turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
            R = R @ turn if letter.islower() else turn @ R
        return R

    def _mass(self, element: Element, childclass: str) -> dict[str, Any]:
        """Mass and inertia: as given, or of the geoms."""
        given = next(self._found(element, childclass, Frame(np.eye(3), np.zeros(3)), ("inertial",)), None)
        mode = self.compiler.get("inertiafromgeom", "auto")
        if given is not None and mode != "true":
            inertial, outer = given
            frame = outer @ self._pose(inertial)
            if "fullinertia" in inertial.attributes:
                xx, yy, zz, xy, xz, yz = inertial.numbers("fullinertia", 6)
                J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            else:
                J = np.diag(inertial.numbers("diaginertia", 3, (0.0, 0.0, 0.0)))
            return self._bounded(inertial.number("mass"), frame.r, frame.R @ J @ frame.R.T)
        if mode == "false":
            return {}
        parts = []
        for geom, frame in self._geoms(element, childclass, Frame(np.eye(3), np.zeros(3))):
            found = self._geom_mass(geom)
            if found is not None:
                place = frame @ self._geom_frame(geom)
                parts.append((found[0], place.r, place.R @ np.diag(found[1]) @ place.R.T))
        mass = sum(part[0] for part in parts)
        if not mass > 0:
            return {}
        com = sum(part[0] * part[1] for part in parts) / mass
        J = np.zeros((3, 3))
        for weight, place, own in parts:
            d = place - com
            J += own + weight * (np.dot(d, d) * np.eye(3) - np.outer(d, d))
        return self._bounded(float(mass), com, J)

    def _bounded(self, mass: float, com: np.ndarray, J: np.ndarray) -> dict[str, Any]:
        """Mass and inertia with what the compiler is to do about them."""
        least, smallest = (float(self.compiler.get(name, 0.0)) for name in ("boundmass", "boundinertia"))
        if smallest > 0 or self.compiler.get("balanceinertia") == "true":
            moments, axes = np.linalg.eigh(J)
            moments = np.maximum(moments, smallest)
            if self.compiler.get("balanceinertia") == "true" and moments[0] + moments[1] < moments[2]:
                moments[:] = moments.mean()
            J = axes @ np.diag(moments) @ axes.T
        return {"mass": max(mass, least), "com": tuple(com), "inertia": J, "unphysical": True}

    def _total(self) -> None:
        """settotalmass: all masses and inertias scaled."""
        wanted = float(self.compiler.get("settotalmass", -1.0))
        total = sum(float(body.mass) for body in self.m.bodies)
        if wanted > 0 and total > 0:
            for body in self.m.bodies:
                body.mass, body.inertia = body.mass * wanted / total, np.asarray(body.inertia) * wanted / total

    def _found(self, element: Element, childclass: str, frame: Frame, tags: tuple[str, ...]) -> Any:
        """A body's own elements with these tags, in frames too, each with the frame it stands in."""
        for child in element.children:
            if child.tag in tags:
                yield self._filled(child, childclass), frame
            elif child.tag == "frame":
                yield from self._found(child, child.get("childclass") or childclass, frame @ self._pose(child), tags)

    def _geoms(self, element: Element, childclass: str, frame: Frame) -> Any:
        return self._found(element, childclass, frame, ("geom",))

    def _geom_frame(self, geom: Element) -> Frame:
        if "fromto" in geom.attributes:
            six = np.array(geom.numbers("fromto", 6))
            along = six[3:] - six[:3]
            if not np.linalg.norm(along) > 0:
                raise geom.error("fromto is one point")
            return Frame(_least_turn(along / np.linalg.norm(along)), 0.5 * (six[:3] + six[3:]))
        return self._pose(geom)

    def _size(self, geom: Element) -> tuple[str, list[float]]:
        """Kind and sizes: (radius), (radius, half length), (three half sides)."""
        kind = geom.get("type") or ("mesh" if "mesh" in geom.attributes else "sphere")
        sizes = list(geom.numbers("size", None, ()))
        if "fromto" in geom.attributes and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            six = np.array(geom.numbers("fromto", 6))
            half = 0.5 * float(np.linalg.norm(six[3:] - six[:3]))
            sizes = [sizes[0], half] if kind in ("capsule", "cylinder") and sizes else [*(sizes * 2)[:1] * 2, half]
        wanted = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}.get(kind, 0)
        if wanted and (len(sizes) < wanted or any(x <= 0 for x in sizes[:wanted])):
            raise geom.error(f"a {kind} needs {wanted} size(s) > 0")
        return kind, sizes[:wanted]

    def _geom_mass(self, geom: Element) -> tuple[float, np.ndarray] | None:
        kind, size = self._size(geom)
        low, high = self.groups
        if kind in ("plane", "hfield") or not low <= geom.number("group", 0.0) <= high:
            return None
        if geom.number("mass", 0.0) < 0 or geom.number("density", 0.0) < 0:
            raise geom.error("its mass is negative")
        if geom.get("shellinertia") == "true":
            self.note("shells (taken as solid)", geom.get("name") or f"line {geom.line}")
        if not size:
            self.note("masses of meshes (give <inertial>)", geom.get("name") or geom.get("mesh") or f"line {geom.line}")
            return None
        volume, moments = _solid(kind, size)
        mass = geom.number("mass") if "mass" in geom.attributes else volume * geom.number("density", DENSITY)
        return mass, mass * moments

    def _looks(self, element: Element, childclass: str, body: Any, start: Frame) -> None:
        for geom, frame in self._geoms(element, childclass, start):
            kind, size = self._size(geom)
            place = frame @ self._geom_frame(geom)
            rgba = geom.numbers("rgba", 4, (-1.0,) * 4)
            color = None if rgba[0] < 0 else "#" + "".join(f"{int(round(255 * min(max(x, 0), 1))):02x}" for x in rgba[:3])
            look: dict[str, Any] = {"position": tuple(place.r), "orientation": place.R, "color": color}
            if kind == "sphere":
                body.visuals.append(Visual("sphere", size=(size[0],), **look))
            elif kind in ("capsule", "cylinder"):
                body.visuals.append(Visual("cylinder", size=(size[0], 2 * size[1]), **look))
            elif kind in ("box", "ellipsoid"):
                body.visuals.append(Visual("box", size=tuple(2 * x for x in size), **look))
            elif kind == "plane":
                self.note("planes (contacts)", geom.get("name") or f"line {geom.line}")
            else:
                self.note("looks of meshes and height fields", geom.get("mesh") or f"line {geom.line}")

    # ---- loops --------------------------------------------------------------------------------------------------------

    def _equality(self, element: Element, k: int) -> None:
        if element.get("active", "true") == "false":
            return
        taken = [*self.m.joints, *self.m.constraints]
        name = self._free_name(element.get("name"), taken, f"{element.tag}{k + 1}")
        if element.tag in ("connect", "weld"):
            if "site1" in element.attributes:
                self.note("equalities between sites", name)
                return
            ends = [element.need("body1"), element.get("body2") or "world"]
            bodies = self.bodies
            for end in ends:
                if end not in bodies:
                    raise element.error(f"there is no body {end!r}")
            frame = self.frames[ends[0]]
            at = frame.r + frame.R @ element.vector("anchor") if element.tag == "connect" else self.frames[ends[1]].r
            if element.tag == "connect":
                element.numbers("anchor", 3)
                self.m.spherical(name, bodies[ends[0]], bodies[ends[1]], at=tuple(at), cut=True)
            else:
                if "relpose" in element.attributes and any(element.numbers("relpose", 7)[3:]):
                    self.note("relative poses of welds (they hold as drawn)", name)
                self.m.fixed(name, bodies[ends[0]], bodies[ends[1]], at=tuple(at), cut=True)
        elif element.tag == "joint":
            self._coupled(element, name)
        else:
            self.note(f"equality <{element.tag}>", name)

    def _coupled(self, element: Element, name: str) -> None:
        known = self.joints
        one, two = element.need("joint1"), element.get("joint2")
        for joint in (one, *([two] if two else [])):
            if joint not in known:
                raise element.error(f"there is no joint {joint!r}")
        c = (*element.numbers("polycoef", None, (0.0, 1.0)), *(0.0,) * 5)[:5]
        if not two or any(c[2:]) or not c[1]:
            self.note("equalities of joints that are no ratio", name)
            return
        # MuJoCo: q1 - ref1 = c0 + c1 (q2 - ref2), and its q - ref is the coordinate here
        self.m.coupler(name, known[one], known[two], ratio=c[1], offset=c[0])
        start(self.m, (known[one], known[two]), c[0])


def _solid(kind: str, size: list[float]) -> tuple[float, np.ndarray]:
    """Volume, and moments of inertia of unit mass."""
    if kind == "sphere":
        return 4 / 3 * math.pi * size[0] ** 3, 0.4 * size[0] ** 2 * np.ones(3)
    if kind == "box":
        x, y, z = np.square(size)
        return 8.0 * size[0] * size[1] * size[2], np.array([y + z, x + z, x + y]) / 3
    if kind == "ellipsoid":
        x, y, z = np.square(size)
        return 4 / 3 * math.pi * size[0] * size[1] * size[2], np.array([y + z, x + z, x + y]) / 5
    r, h = size[0], 2 * size[1]
    cylinder = math.pi * r**2 * h
    across, along = (3 * r**2 + h**2) / 12, r**2 / 2
    if kind == "cylinder":
        return cylinder, np.array([across, across, along])
    ball = 4 / 3 * math.pi * r**3  # of a capsule: two half balls, their centres of mass 3/8 r beyond the cylinder
    volume = cylinder + ball
    caps = 0.4 * r**2 + h**2 / 4 + 3 * h * r / 8
    sideways = (cylinder * across + ball * caps) / volume
    return volume, np.array([sideways, sideways, (cylinder * along + ball * 0.4 * r**2) / volume])


def _least_turn(z: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes (0, 0, 1) to z."""
    c = float(z[2])
    if c < -1 + OPPOSITE:
        return np.diag([1.0, -1.0, -1.0])
    v = np.array([-z[1], z[0], 0.0])
    K = np.array([[0, 0, v[1]], [0, 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + K + K @ K / (1 + c)
