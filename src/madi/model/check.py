"""Every defect of a model, found together: each names the element, the problem and the cure."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Finding, finite_numbers
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.model.check_elements import constraints, forces
from madi.model.check_joints import bodies, coordinate, joints
from madi.model.elements import Body, Joint, body_name, joint_name
from madi.model.flexible import conditions, flexible_names, mixed_up
from madi.model.shapes import contact_findings, shape_findings

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.graph import SpanningTree


def check(model: Model) -> list[Finding]:
    """All defects of `model`."""
    findings: list[Finding] = list(_kinds(model))
    if findings:  # nothing else can be asked of them
        return findings
    for part in (_names, _gravity, bodies, joints, forces, constraints, shape_findings, _drives, _functions,
                 _connections):  # fmt: skip
        findings.extend(part(model))
    if not findings:
        findings.extend(contact_findings(model))
    if not findings:
        from madi.topology.graph import spanning_tree  # further along the path: only a sound model has a tree
        from madi.topology.lower import lowering

        lowered, missed = lowering(model)
        findings.extend(missed)
        if not findings:
            findings.extend(conditions(lowered))
            tree = spanning_tree(lowered)
            findings.extend(_massless(lowered, tree))
            findings.extend(_on_cut_joints(lowered, tree))
    return [
        replace(f, element=f"{f.element} ({model.places[f.element]})") if f.element in model.places else f for f in findings
    ]


def check_elements(model: Model, elements: list[Any], lowered: Model, tree: SpanningTree) -> list[Finding]:
    """Defects of these elements alone, of a model that was sound before their numbers were changed; `lowered`, `tree`: as
    they were."""

    def with_only(group: str) -> Model:
        part = copy.copy(model)
        setattr(part, group, [element for element in getattr(model, group) if element in elements])
        return part

    findings = list(_gravity(model))
    for group, part in (("bodies", bodies), ("joints", joints), ("forces", forces), ("constraints", constraints)):
        findings += part(with_only(group))
    if not findings and any(isinstance(element, Body | Joint) for element in elements):
        changed, other = {body.name: body for body in elements if isinstance(body, Body)}, copy.copy(lowered)
        other.bodies = [changed.get(body.name, body) for body in lowered.bodies]
        findings += _massless(other, tree)
    return findings


def _kinds(model: Model) -> Iterator[Finding]:
    """Kinds that were set by hand must be there."""
    groups: list[tuple[str, list[Any], Any]] = [("joint", model.joints, KINDS), ("force", model.forces, FORCES)]
    for what, elements, known in groups:
        for element in elements:
            if not isinstance(element.kind, str) or element.kind not in known:
                told = f"there is no kind {element.kind!r} of {what}"
                yield Finding(f"{what} {element.name!r}", told, f"There are: {', '.join(known)}")


def _names(model: Model) -> Iterator[Finding]:
    groups: dict[str, list[Any]] = {
        "body": model.bodies, "joint": model.joints, "force": [*model.forces, *model.contacts],
        "constraint": model.constraints, "shape": model.shapes,
    }  # fmt: skip
    for what, elements in groups.items():
        for name, count in Counter(str(element.name) for element in elements).items():
            if count > 1:
                yield Finding(f"{what} {name!r}", f"the name is used {count} times", "Give each its own name")
        for name in (element.name for element in elements):
            where = f"{what} {name!r}"
            if not isinstance(name, str) or not name.strip():
                yield Finding(where, "the name is empty or not text", "Name it with a string")
            elif not name.isprintable():
                yield Finding(where, "the name has characters that cannot be printed", "Use plain text")
            elif what == "body" and "@" in name:
                yield Finding(where, "the name has an @", "body@point is a point of a flexible body; leave it out")
            elif what == "joint" and "." in name:
                yield Finding(where, "the name has a dot", "Dots separate a joint from its coordinate; leave it out")
    for name in sorted({str(j.name) for j in model.joints} & {str(c.name) for c in model.constraints}):
        yield Finding(f"constraint {name!r}", "a joint has the same name", "Loads are asked for by name: give it another")
    yield from mixed_up(model)
    yield from _signal_names(model)
    if any(body.name == "ground" for body in model.bodies):
        yield Finding("body 'ground'", "the name belongs to the ground", "Use m.ground, or another name")


WHOLE = ("time", "kinetic", "potential", "energy", "power", "dissipated", "violation", "violation_rate", "independence",
         "dependent", "null_space_error", "condition", "momentum")  # fmt: skip


def _signal_names(model: Model) -> Iterator[Finding]:
    """Results are asked for by name: each must mean one thing. (A body's own signals come before coordinates: "b.x".)"""
    owner = dict.fromkeys(WHOLE, "the whole model's signal")
    for joint in model.joints:
        if not isinstance(joint.name, str):
            continue
        kind, where = KINDS[joint.kind], f"joint {joint.name!r}"
        parts = {f"{joint.name}.{part}" if part else joint.name for part in (*kind.coordinates, *kind.speeds)}
        parts |= {f"{joint.name}.{part}" for part in ("force", "moment", "fx", "fy", "fz", "mx", "my", "mz")}
        parts |= {f"{part}{ending}" for part in parts for ending in (".q", ".v", ".a", ".drive")}
        yield from _claim(owner, where, parts)
    for force in (*model.forces, *model.contacts):
        if isinstance(force.name, str):
            parts = {force.name, *(f"{force.name}.{part}" for part in ("force", "potential", "power", "dissipated"))}
            yield from _claim(owner, f"force {force.name!r}", parts)


def _claim(owner: dict[str, str], where: str, names: set[str]) -> Iterator[Finding]:
    """Give an element the names of its signals; one finding if another has one of them."""
    taken = sorted(name for name in names if owner.get(name, where) != where)
    if taken:
        yield Finding(where, f"results would call {taken[0]!r} what {owner[taken[0]]} has too", "Give it another name")
    for name in names:
        owner.setdefault(name, where)


def _gravity(model: Model) -> Iterator[Finding]:
    if not model.bodies:
        yield Finding(f"model {model.name!r}", "has no bodies", "Add one with m.body(...)")
    if finite_numbers(model.gravity, 3) is None:
        yield Finding("gravity", f"{model.gravity!r} is not three finite numbers", "Give it as (0, 0, -9.81)")


def _drives(model: Model) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in model.joints}
    known = joints.keys() | flexible_names(model)  # locked, flexible bodies are rigid
    driven: Counter[str] = Counter()
    for drive in model.drives:
        where, name = f"drive of {drive.coordinate!r}", drive.coordinate
        if drive.function is not None:
            yield from coordinate(joints, where, name)
            if not callable(drive.function):
                yield Finding(where, f"{drive.function!r} is not a function of time", "Give e.g. lambda t: 0.2 * t")
        elif name not in known:
            yield Finding(where, f"there is no joint {name!r} to lock", "Lock a joint by its name")
            continue
        driven[name] += 1
    for name, count in driven.items():
        if count > 1 or ("." in name and driven[name.split(".")[0]] > 0):
            yield Finding(f"drive of {name!r}", "the coordinate is driven or locked twice", "Keep one drive or lock")


def _functions(model: Model) -> Iterator[Finding]:
    """Drives and forces of time alone: can they be called, and what do they return. (Those of the state: when frozen.)"""
    from madi.signals.trace import Signals, add_drive, add_function, arguments  # further along the path

    for drive in model.drives:
        if callable(drive.function):
            signals = Signals()
            add_drive(signals, f"drive of {drive.coordinate!r}", drive.function)
            yield from signals.findings
    for force in model.forces:
        count, law = FORCES[force.kind].signals, FORCES[force.kind].law
        if count and not law and callable(force.value) and arguments(force.value) != 3:
            signals = Signals()
            add_function(signals, f"force {force.name!r}", force.value, count, np.zeros(0), np.zeros(0))
            yield from signals.findings


def _connections(model: Model) -> Iterator[Finding]:
    ends = [str(body_name(end)) for joint in model.joints for end in (joint.parent, joint.child)]
    touched = {*ends, *(end.partition("@")[0] for end in ends)}
    for body in model.bodies:
        name = str(body.name)
        if name not in touched:
            cure = f"Add a joint; to let it float: m.free({name + '_free'!r}, m.ground, {name!r})"
            yield Finding(f"body {body.name!r}", "is connected to nothing by a joint", cure)


def _on_cut_joints(model: Model, tree: SpanningTree) -> Iterator[Finding]:
    """A cut joint has no coordinate of its own: it can be driven where its motion can be measured, and no more."""
    cut = {joint.name: joint for joint in tree.cuts}
    drives = {drive.coordinate for drive in model.drives}
    another = "Have another joint of the loop cut, with cut=True there"
    for joint in tree.cuts:
        where, driven = f"joint {joint.name!r}", joint.name in drives
        if not KINDS[joint.kind].cut:
            yield Finding(where, f"a {joint.kind} joint beside other joints constrains nothing", "Leave it out")
        elif (joint.q0 is not None or joint.v0 is not None) and not driven:
            problem = "it closes a loop and has no coordinate that could start at q0 or v0"
            yield Finding(where, problem, "Give another joint of the loop its start, or have another one cut")
        if np.any(np.asarray(joint.armature, dtype=float)):
            yield Finding(where, "it has an armature, closes a loop and was cut: no coordinate carries it", another)
    kept = ", ".join(repr(joint.name) for joint in tree.cuts if joint.cut is False)
    if kept:
        names = ", ".join(repr(joint.name) for joint in model.joints if joint.cut is False)
        problem = f"cut=False, but the joints that may not be cut form a loop: {names}"
        yield Finding(f"joint(s) {kept}", problem, "Allow the cut of one of them")
    acting = [(f"force {force.name!r}", force.a) for force in model.forces if FORCES[force.kind].on_joint]
    coupled = [c for c in model.constraints if CONSTRAINTS[c.kind].on_joints]
    acting += [(f"constraint {c.name!r}", end) for c in coupled for end in (c.a, c.b)]
    for where, end in acting:
        name = str(joint_name(end)).split(".")[0]
        if name in cut:
            yield Finding(where, f"joint {name!r} closes a loop and was cut: it has no coordinate", another)
    for drive in model.drives:
        name = drive.coordinate.split(".")[0]
        if name in cut:
            kind = KINDS[cut[name].kind]
            parts = [f"{name}.{part}" if part else name for part in kind.coordinates[: len(kind.measured)]]
            whole = drive.function is None and len(kind.measured) == kind.nv
            if not whole and drive.coordinate not in parts:
                problem = f"joint {name!r} closes a loop and was cut: its motion cannot be prescribed there"
                yield Finding(f"drive of {drive.coordinate!r}", problem, another)


def _massless(model: Model, tree: SpanningTree) -> Iterator[Finding]:
    """A massless body at the end of a chain has no equation of motion; inside a chain it is legal."""
    heavy = {body.name: float(body.mass) > 0 or np.any(body.inertia) for body in model.bodies}
    heavy["ground"] = True
    for edge in reversed(tree.edges):
        heavy[edge.parent] = heavy[edge.parent] or heavy[edge.body]
    locked = {drive.coordinate for drive in model.drives}
    for edge in tree.edges:
        moves = KINDS[edge.joint.kind].nv > 0 and edge.joint.name not in locked and not np.any(edge.joint.armature)
        if moves and not heavy[edge.body]:
            problem = f"has no mass, and none is attached to it: joint {edge.joint.name!r} would have nothing to accelerate"
            yield Finding(f"body {edge.body!r}", problem, "Give it a mass, or fix it to a body that has one")
