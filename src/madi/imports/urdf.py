"""URDF: robots as trees of links and joints. Frames are given link by link; here they become one drawing, joints at zero."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import InputError, warn
from madi.imports.xml import Element, parse_xml, read_xml
from madi.model.check_joints import TRIANGLE
from madi.model.elements import Visual
from madi.model.model import Model

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed", "floating": "free",
         "planar": "planar"}  # fmt: skip
TOLD = 8  # names of a note in a warning
LEFT_OUT = {"transmission": "transmissions", "gazebo": "Gazebo's extensions", "sensor": "sensors"}


class Frame:
    """A rotation matrix and a place."""

    def __init__(self, R: np.ndarray, r: np.ndarray):
        self.R, self.r = R, r

    def __matmul__(self, other: Frame) -> Frame:
        return Frame(self.R @ other.R, self.r + self.R @ other.r)


def rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Fixed axes x, y, z: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def origin(element: Element) -> Frame:
    """The <origin> of an element."""
    found = element.first("origin")
    if found is None:
        return Frame(np.eye(3), np.zeros(3))
    return Frame(rpy(*found.vector("rpy")), found.vector("xyz"))


def load_urdf(
    path: str | Path,
    base: str = "fixed",
    limits: bool = False,
    packages: Mapping[str, str | Path] | None = None,
    friction: bool = False,
) -> Model:
    """A Model from a URDF file. `base`: the root link is "fixed" to the ground or "free". `limits`: joints get stops at
    their limits; `friction`: their dry friction. `packages`: folders of the packages that meshes are in
    (package://NAME/...); else meshes are looked for beside the file. `model.notes` tells what was not carried over."""
    file = Path(path)
    return warned(_Robot(read_xml(file), file.parent, base, limits, packages or {}, friction).model(), file.name)


def urdf_text(text: str | bytes, base: str = "fixed", limits: bool = False, friction: bool = False) -> Model:
    """The same from text; meshes are left out."""
    return _Robot(parse_xml(text, "urdf"), None, base, limits, {}, friction).model()


class _Robot:
    def __init__(self, root: Element, folder: Path | None, base: str, limits: bool, packages: Mapping[str, Any],
                 friction: bool):  # fmt: skip
        if root.tag != "robot":
            raise root.error("is no URDF file: its root element is not <robot>")
        if base not in ("fixed", "free"):
            raise InputError(f"base={base!r}: choose 'fixed' or 'free'")
        self.root, self.folder, self.base, self.limits, self.packages = root, folder, base, limits, packages
        self.friction = friction
        self.links = self._named("link")
        self.joints = self._named("joint")
        self.called = _renamed(self.joints, "."), _renamed(self.links, "@")
        self.notes: dict[str, list[str]] = {}
        for names in self.called:
            for old, new in names.items():
                if old != new:
                    self.note("names changed (a dot or @ has a meaning here)", f"{old} is {new}")

    def _named(self, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in self.root.all(tag):
            name = element.need("name")
            if name in found:
                raise element.error(f"the name is used twice; first in line {found[name].line}")
            found[name] = element
        return found

    def note(self, what: str, who: str) -> None:
        """Something is not carried over."""
        self.notes.setdefault(what, []).append(who)

    def model(self) -> Model:
        """Links as bodies, joints as joints."""
        self.m = Model(self.root.get("name") or "robot")
        ends = {name: self._ends(joint) for name, joint in self.joints.items()}
        children = [child for _, child in ends.values()]
        for name, (_, child) in ends.items():
            if children.count(child) > 1:
                raise self.joints[name].error(f"link {child!r} is the child of two joints; URDF describes trees")
        roots = [name for name in self.links if name not in children]
        if len(roots) != 1:
            listed = ", ".join(map(repr, roots[:6])) or "none: the joints form a ring"
            raise self.root.error(f"exactly one link must be no joint's child; here {listed}")
        frames = {roots[0]: Frame(np.eye(3), np.zeros(3))}
        waiting = dict(ends)
        order: list[str] = []
        while waiting:
            ready = [name for name, (parent, _) in waiting.items() if parent in frames]
            if not ready:
                raise self.joints[next(iter(waiting))].error("it is not connected with the root link")
            for name in ready:
                parent, child = waiting.pop(name)
                frames[child] = frames[parent] @ origin(self.joints[name])
                order.append(name)
        self._bodies(roots[0], frames)
        for name in order:
            self._joint(name, *ends[name], frames)
        for name in order:
            self._mimic(name)
        for tag, what in LEFT_OUT.items():
            for element in self.root.all(tag):
                self.note(what, element.get("name") or element.get("reference") or f"line {element.line}")
        self.m.notes = told(self.notes)
        return self.m

    def _ends(self, joint: Element) -> tuple[str, str]:
        found = []
        for tag in ("parent", "child"):
            end = joint.first(tag)
            if end is None:
                raise joint.error(f"has no <{tag}>")
            name = end.need("link")
            if name not in self.links:
                raise end.error(f"there is no link {name!r}")
            found.append(name)
        return found[0], found[1]

    def _bodies(self, root: str, frames: dict[str, Frame]) -> None:
        self.body: dict[str, Any] = {}
        for name, link in self.links.items():
            inertial = link.first("inertial")
            if name == root and inertial is None and self.base == "fixed":
                self.body[name] = self.m.ground
            else:
                frame = frames[name]
                given = {} if inertial is None else self._inertial(inertial)
                called = self.called[1][name]
                self.body[name] = self.m.body(called, position=tuple(frame.r), orientation=frame.R, **given)
            for visual in link.all("visual"):
                self._visual(visual, self.body[name])
            for collision in link.all("collision"):
                self.note("collision shapes", f"{name} (line {collision.line})")
        if self.body[root] is not self.m.ground:
            if self.base == "free":
                self.m.free(self._called("root"), self.m.ground, self.body[root])
            else:
                self.m.fixed(self._called("root"), self.m.ground, self.body[root])

    def _called(self, name: str) -> str:
        """A name that no joint of the file has."""
        while name in self.called[0].values():
            name += "_"
        return name

    def _inertial(self, element: Element) -> dict[str, Any]:
        frame, mass, inertia = origin(element), element.first("mass"), element.first("inertia")
        if mass is None or inertia is None:
            raise element.error("needs <mass> and <inertia>")
        xx, xy, xz, yy, yz, zz = (inertia.number(name, 0.0) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        J = frame.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ frame.R.T
        moments = np.linalg.eigvalsh(J)
        weightless = mass.number("value") == 0 and bool(np.any(J))
        unphysical = weightless or bool(moments[2] > (moments[0] + moments[1]) * (1 + TRIANGLE))
        if unphysical:
            self.note("inertias no rigid body can have (taken as they are)", f"line {inertia.line}")
        return {"mass": mass.number("value"), "com": tuple(frame.r), "inertia": J, "unphysical": unphysical}

    def _joint(self, name: str, parent: str, child: str, frames: dict[str, Frame]) -> None:
        joint, frame = self.joints[name], frames[child]
        kind = joint.need("type")
        if kind not in KINDS:
            raise joint.error(f"type {kind!r}: choose one of {', '.join(KINDS)}")
        axis = joint.first("axis")
        direction = np.array([1.0, 0.0, 0.0]) if axis is None else axis.vector("xyz", (1.0, 0.0, 0.0))
        if KINDS[kind] in ("revolute", "prismatic", "planar") and not np.linalg.norm(direction) > 0:
            raise (axis or joint).error("the axis is zero")
        called = self.called[0][name]
        ends = (called, self.body[parent], self.body[child])
        at = tuple(frame.r)
        if KINDS[kind] in ("revolute", "prismatic", "planar"):
            getattr(self.m, KINDS[kind])(*ends, at=at, axis=tuple(frame.R @ direction))
        elif kind == "fixed":
            self.m.fixed(*ends, at=at)
        else:
            self.m.free(*ends, at=at)
        if KINDS[kind] in ("revolute", "prismatic"):
            self._extras(joint, called, kind)
        elif joint.first("dynamics") is not None or (kind != "fixed" and joint.first("limit") is not None):
            self.note("damping and limits of planar and floating joints", called)

    def _extras(self, joint: Element, name: str, kind: str) -> None:
        dynamics, limit = joint.first("dynamics"), joint.first("limit")
        if dynamics is not None:
            if dynamics.number("damping", 0.0) < 0:
                raise dynamics.error("the damping is negative")
            if dynamics.number("damping", 0.0) > 0:
                self.m.joint_spring(f"{name}_damping", name, damping=dynamics.number("damping"))
            if dynamics.number("friction", 0.0) < 0:
                raise dynamics.error("the friction is negative")
            if dynamics.number("friction", 0.0) > 0 and self.friction:
                self.m.friction(f"{name}_friction", name, coulomb=dynamics.number("friction"))
            elif dynamics.number("friction", 0.0) > 0:
                self.note("dry friction of joints (friction=True, --friction, carries it over)", name)
        if limit is not None and kind != "continuous":
            low, high = limit.number("lower", 0.0), limit.number("upper", 0.0)
            if self.limits and low < high:
                self.m.stop(f"{name}_stop", name, low, high)
            elif low < high:
                self.note("limits of joints (limits=True, --limits, makes stops of them)", name)
            for what in ("effort", "velocity"):
                if limit.number(what, 0.0) > 0:
                    self.note(f"{what} limits", name)
        for tag in ("safety_controller", "calibration"):
            if joint.first(tag) is not None:
                self.note(f"{tag.replace('_', ' ')}s", name)

    def _mimic(self, name: str) -> None:
        mimic = self.joints[name].first("mimic")
        if mimic is None:
            return
        other = mimic.need("joint")
        if other not in self.joints or other == name:
            raise mimic.error(f"there is no joint {other!r} to mimic")
        for one in (name, other):
            if KINDS[self.joints[one].need("type")] not in ("revolute", "prismatic"):
                raise mimic.error(f"joint {one!r} has not one coordinate; only revolute and prismatic joints mimic")
        ratio = mimic.number("multiplier", 1.0)
        if ratio == 0:
            raise mimic.error("multiplier 0 would hold the joint still; make it fixed")
        pair = self.called[0][name], self.called[0][other]
        offset = mimic.number("offset", 0.0)
        self.m.coupler(f"{pair[0]}_mimic", *pair, ratio=ratio, offset=offset)
        start(self.m, pair, offset)

    def _visual(self, element: Element, body: Any) -> None:
        frame, geometry = origin(element), element.first("geometry")
        shape = geometry.children[0] if geometry is not None and geometry.children else None
        color = None
        material = element.first("material")
        if material is not None:
            named = next((m for m in self.root.all("material") if m.get("name") == material.get("name")), material)
            tint = material.first("color") or named.first("color")
            if tint is not None:
                red, green, blue = (int(round(255 * min(max(x, 0.0), 1.0))) for x in tint.numbers("rgba", 4)[:3])
                color = f"#{red:02x}{green:02x}{blue:02x}"
        look: dict[str, Any] = {"position": tuple(frame.r), "orientation": frame.R, "color": color}
        if shape is None:
            self.note("looks without geometry", f"line {element.line}")
            return
        if shape.tag == "box":
            visual = Visual("box", size=shape.numbers("size", 3), **look)
        elif shape.tag == "cylinder":
            visual = Visual("cylinder", size=(shape.number("radius"), shape.number("length")), **look)
        elif shape.tag == "sphere":
            visual = Visual("sphere", size=(shape.number("radius"),), **look)
        elif shape.tag == "mesh":
            file = self._mesh(shape)
            if file is None:
                return
            scale = shape.numbers("scale", 3, (1.0, 1.0, 1.0))
            if len(set(scale)) > 1:
                self.note("meshes scaled differently along their axes (the first is taken)", shape.get("filename"))
            visual = Visual("mesh", file=file, scale=scale[0], **look)
        else:
            self.note("looks of unknown shape", f"<{shape.tag}> in line {shape.line}")
            return
        try:
            visual.check(f"<{shape.tag}>")
        except InputError:
            self.note("looks without size", f"<{shape.tag}> in line {shape.line}")
            return
        body.visuals.append(visual)

    def _mesh(self, shape: Element) -> Path | None:
        """A mesh beside the file, or in a package that was named; none from anywhere else."""
        name = shape.need("filename")
        text = name.removeprefix("file://")
        folders = [] if self.folder is None else [self.folder]
        if text.startswith("package://"):
            package, _, text = text.removeprefix("package://").partition("/")
            folders = [Path(self.packages[package])] if package in self.packages else folders
        for folder in folders:
            try:
                path = (folder / text).resolve()
                if path.is_relative_to(folder.resolve()) and path.is_file():
                    if path.suffix.lower() in (".stl", ".obj"):
                        return path
                    self.note("meshes of other kinds than STL and OBJ", name)
                    return None
            except (OSError, ValueError):
                break
        self.note("meshes that were not found", name)
        return None


def start(m: Model, pair: tuple[str, str], offset: float) -> None:
    """A coupled joint starts where its rule has it; the one it follows as drawn."""
    for joint in m.joints:
        if offset and joint.name in pair:
            joint.q0 = offset if joint.name == pair[0] else 0.0


def _renamed(elements: Mapping[str, Any], refused: str) -> dict[str, str]:
    """Names without a character that means something here; each once."""
    found: dict[str, str] = {}
    for name in elements:
        made = name.replace(refused, "_") if name != "ground" else "ground_link"
        while made in found.values() or (made != name and made in elements):
            made += "_"
        found[name] = made
    return found


def told(notes: Mapping[str, list[str]]) -> list[str]:
    """What was not carried over, everything counted."""
    return [f"{what}{f' ({len(who)})' if len(who) > 1 else ''}: {', '.join(who)}" for what, who in notes.items()]


def warned(model: Model, file: str) -> Model:
    """One warning with what a file says and the model does not; `model.notes` has all of it."""
    if model.notes:
        warn(f"{file}: not carried over: {'; '.join(map(brief, model.notes))}")
    return model


def brief(note: str) -> str:
    """A note with its first names, and how many more there are."""
    what, _, names = note.rpartition(": ")
    listed = names.split(", ")
    return note if len(listed) <= TOLD else f"{what}: {', '.join(listed[:TOLD])} and {len(listed) - TOLD} more"
