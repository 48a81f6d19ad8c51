"""Defects of flexible bodies: what they are made of, names that would be mixed up, shapes that do not fit their joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Finding, InputError, finite_numbers
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.kernel.cores import one_core
from madi.model.elements import Body, Joint, body_name, joint_name
from madi.spatial.rotation import as_rotation

if TYPE_CHECKING:
    from madi.model.model import Model

WORDS = {"y": "bending in its x-y plane", "z": "bending in its x-z plane", "twist": "twisting", "axial": "stretching"}
OPEN = {"y": "clamped_loaded", "z": "clamped_loaded", "twist": "loaded_rod", "axial": "loaded_rod"}
AT_END = 1e-6  # of the length: a joint that near to an end is on it
ALONG = 1e-6  # sine of the angle between directions as drawn that are meant to be one, cosine of those across
LIGHT = 0.01  # of the beam's own: a body of less inertia on its end asks for next to no moment


def flexible_names(model: Model) -> set[str]:
    """Names of the flexible bodies."""
    return {str(body.name) for body in model.bodies if body.flexible is not None}


def known_points(model: Model) -> set[str]:
    """The named points of flexible bodies, which can stand where a body can."""
    known: set[str] = set()
    for body in model.bodies:
        if body.flexible is not None:
            try:
                known |= {body.point(name) for name in body.flexible.named()}
            except (InputError, TypeError, ValueError, AttributeError):  # told by `defects`: let what refers to them pass
                known |= {str(body_name(end)) for joint in model.joints for end in (joint.parent, joint.child)}
    return known


def mixed_up(model: Model) -> Iterator[Finding]:
    """Names that would be taken for a point or a mode of a flexible body."""
    flexible = flexible_names(model)
    if not flexible:
        return
    for what, elements in (("body", model.bodies), ("joint", model.joints)):
        for element in elements:  # type: ignore[attr-defined]
            if "@" in str(element.name):
                yield Finding(f"{what} {element.name!r}", "the name has an @", "That marks points of flexible bodies")
    for joint in model.joints:
        if str(joint.name) in flexible:
            yield Finding(
                f"joint {joint.name!r}", "a flexible body has the same name", "Its modes are called so: rename one"
            )
    for name in sorted(flexible):
        if "." in name:
            yield Finding(f"body {name!r}", "the name has a dot", "Dots separate a flexible body from its modes")


def defects(body: Body, where: str) -> Iterator[Finding]:
    """A flexible body: its frame, what it is made of, its start."""
    axes = body.orientation
    if finite_numbers(body.position, 3) is None or (isinstance(axes, np.ndarray) and np.isnan(axes).any()):
        yield Finding(
            where, "its start, end and y_axis make no frame", "Give two different points, and y_axis not along them"
        )
        return
    try:
        as_rotation(body.orientation, where)
        with one_core():
            names = body.flexible.field.names
    except (InputError, ValueError, TypeError, FloatingPointError) as error:
        text = str(error)
        text = text.partition(": ")[2] if text.startswith(("beam", "flexible", where)) else text
        problem, _, cure = text.rpartition("; ")
        yield Finding(where, problem or text, cure[:1].upper() + cure[1:] if problem else "Correct it")
        return
    for what, given in (("q0", body.q0), ("v0", body.v0)):
        unknown = [name for name in given if name not in names] if isinstance(given, dict) else []
        values = list(given.values()) if isinstance(given, dict) else given
        if unknown or (
            given is not None and finite_numbers(values, len(values) if isinstance(given, dict) else len(names)) is None
        ):
            yield Finding(where, f"{what}={given!r} does not fit its modes", f"They are {', '.join(names)}, in this order")


def conditions(lowered: Model) -> Iterator[Finding]:
    """Shapes that cannot carry what a joint does where it is: such beams do not converge. `lowered`: joints and forces
    attach to points by now (topology/lower.py)."""
    for body in lowered.bodies:
        if body.flexible is not None and body.flexible.strict:
            yield from _beam(lowered, body)


def _beam(lowered: Model, body: Body) -> Iterator[Finding]:
    L, where = body.flexible.length, f"body {body.name!r}"
    places = {joint.child.name: joint.station.key for joint in lowered.joints if joint.station and joint.parent is body}

    def here(*ends: Any) -> list[float]:
        return [places[name] for name in map(body_name, ends) if name in places]

    drawn = [joint for joint in lowered.joints if joint.station is None]
    joints = [(joint, x) for joint in drawn if KINDS[joint.kind].holds for x in here(joint.parent, joint.child)]
    elements: list[Any] = [*lowered.forces, *lowered.constraints]
    held = [x for _, x in joints] + [x for element in elements for x in here(element.a, element.b)]
    # held by other means than these joints
    floating = any(FORCES[force.kind].mount and here(force.a, force.b) for force in lowered.forces)
    floating = floating or any(not KINDS[joint.kind].holds and here(joint.parent, joint.child) for joint in drawn)
    ends: dict[str, dict[float, str]] = {}
    for family, x, kind in body.flexible.ends():
        ends.setdefault(family, {})[x] = kind
    bare = set(body.flexible.unstrained())
    for family, kinds in ends.items():
        plane = f"shapes for {WORDS[family]}"
        free = [x for x, kind in kinds.items() if kind == "free"]
        loose = [(joint, x) for joint, x in joints if any(abs(x - end) < AT_END * L for end in free)]
        if joints and len(loose) == len(joints) and not floating:
            joint, x = loose[0]
            bare -= {(family, end) for end in free}
            yield Finding(
                where, f"its {plane} end free at x = {x:.4g} m: no shear, no moment, but joint {joint.name!r}, its "
                "only hold, is there",
                "Draw the beam from the end that is held (swap start and end), or give a number of shapes "
                "(clamped_loaded); strict=False accepts it",
            )  # fmt: skip
        if all(kind in ("pinned", "clamped") for kind in kinds.values()):
            for end in kinds:
                if not any(abs(x - end) < AT_END * L for x in held):
                    yield Finding(
                        where, f"its {plane} hold the point at x = {end:.4g} m in place, but no joint is there",
                        "Use shapes that are free there (clamped_free, clamped_tip); strict=False accepts it",
                    )  # fmt: skip
    for family, end in sorted(bare):
        for joint, x in joints:
            if abs(x - end) < AT_END * L and _loads(lowered, joint, body, family):
                yield _unfit(where, family, x, joint)


def _unfit(where: str, family: str, x: float, joint: Joint) -> Finding:
    load = "force" if family == "axial" else "moment"
    return Finding(
        where, f"its shapes for {WORDS[family]} carry no {load} at x = {x:.4g} m, but the {joint.kind} joint {joint.name!r} "
        "brings one",
        f"Give a number, modes={{{family!r}: 2}}: shapes for whatever comes there ({OPEN[family]}); strict=False accepts it",
    )  # fmt: skip


def _loads(lowered: Model, joint: Joint, beam: Body, family: str) -> bool:
    """Whether a joint loads the end of a beam as these shapes must answer: by a moment about the axis they turn about, or
    (axial) by a force. What it leaves free does not, nor a light body that nothing else holds."""
    R = as_rotation(beam.orientation, beam.name)
    axis = R[:, {"y": 2, "z": 1, "twist": 0, "axial": 0}[family]]
    if (_slides if family == "axial" else _turns)(joint, axis) and not _worked(lowered, joint):
        return False
    names = [body_name(end) for end in (joint.parent, joint.child)]
    other = next((b for b in lowered.bodies if b.name in names and not b.name.startswith(f"{beam.name}@")), None)
    if other is None or _held(lowered, other, joint):
        return True
    if family == "axial":
        return bool(other.mass > LIGHT * beam.mass)
    own = beam.inertia[0, 0] if family == "twist" else beam.mass * beam.flexible.length**2
    return _about(other, joint.at, axis) > LIGHT * own


def _held(lowered: Model, body: Body, joint: Joint) -> bool:
    """Whether anything but this joint holds or turns a body."""
    elements: list[Any] = [*lowered.constraints, *(f for f in lowered.forces if FORCES[f.kind].turns)]
    pairs = [(j.parent, j.child) for j in lowered.joints if j is not joint] + [(e.a, e.b) for e in elements]
    return any(body.name in map(body_name, pair) for pair in pairs)


def _worked(lowered: Model, joint: Joint) -> bool:
    """Whether the joint is driven or locked, or something acts on its coordinates."""
    on = [drive.coordinate for drive in lowered.drives]
    on += [joint_name(force.a) for force in lowered.forces if FORCES[force.kind].on_joint]
    on += [joint_name(end) for c in lowered.constraints if CONSTRAINTS[c.kind].on_joints for end in (c.a, c.b)]
    return any(str(name).split(".")[0] == joint.name for name in on)


def _about(body: Body, point: Any, axis: np.ndarray) -> float:
    """A rigid body's inertia about an axis through a point."""
    R, J = as_rotation(body.orientation, body.name), np.asarray(body.inertia, dtype=float)
    J = np.diag(J) if J.ndim == 1 else J
    arm = np.cross(np.asarray(body.position) + R @ np.asarray(body.com, dtype=float) - np.asarray(point), axis)
    return float(axis @ R @ J @ R.T @ axis + body.mass * arm @ arm)


def _slides(joint: Joint, axis: np.ndarray) -> bool:
    """Whether the joint lets the beam slide along an axis."""
    slides = set(KINDS[joint.kind].parts.split())
    if slides >= {"x", "y"} and abs(_unit(joint.axes[0]) @ axis) < ALONG:
        return True
    return "z" in slides and bool(np.linalg.norm(np.cross(_unit(joint.axes[0]), axis)) < ALONG)


def _turns(joint: Joint, axis: np.ndarray) -> bool:
    """Whether the joint lets the beam turn about an axis."""
    turns = set(KINDS[joint.kind].parts.split())
    if "ball" in turns:
        return True
    if "turn" not in turns:
        return False
    turn = np.stack([_unit(a) for a in joint.axes])
    return bool(np.linalg.norm(axis - turn.T @ np.linalg.lstsq(turn.T, axis, rcond=None)[0]) < ALONG)


def _unit(axis: Any) -> np.ndarray:
    return np.asarray(axis, dtype=float) / np.linalg.norm(np.asarray(axis, dtype=float))
