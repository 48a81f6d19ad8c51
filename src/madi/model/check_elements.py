"""Defects of forces and constraints: what all have in common, and what their kinds declare of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Finding, finite_numbers
from madi.forces import BY_CODE
from madi.forces import KINDS as FORCES
from madi.forces.takes import NUMBER
from madi.model.check_joints import coordinate, known_bodies, unknown
from madi.model.elements import Joint, body_name, joint_name
from madi.model.flexible import flexible_names
from madi.spatial.rotation import NO_LENGTH

if TYPE_CHECKING:
    from madi.model.model import Model


class _Joints:
    """Joints as the checks of kinds see them, their bodies by name: of an element those that concern it."""

    def __init__(self, model: Model):
        self.named: dict[str, Joint] = {joint.name: joint for joint in model.joints}
        self._drawn = model.joints
        self._at: dict[Any, list[int]] = {}  # by body and by name, so that nothing is searched for in all of them
        for k, joint in enumerate(model.joints):
            ends = (str(body_name(end)) for end in (joint.parent, joint.child))
            for key in {("joint", str(joint.name)), *(("body", end) for end in ends)}:
                self._at.setdefault(key, []).append(k)

    def of(self, what: str, *names: Any) -> list[Joint]:
        """Joints on these bodies (`what` is "body"), or of these names ("joint"), in the order drawn."""
        found = sorted({k for name in names for k in self._at.get((what, str(name)), ())})
        drawn = (self._drawn[k] for k in found)
        return [replace(joint, parent=body_name(joint.parent), child=body_name(joint.child)) for joint in drawn]


def forces(model: Model) -> Iterator[Finding]:
    """Defects of force elements."""
    known, joints, flexible = known_bodies(model), _Joints(model), flexible_names(model)
    for force in model.forces:
        where, kind = f"force {force.name!r}", FORCES[force.kind]
        if kind.ends:
            ends = [body_name(force.a), body_name(force.b)][: kind.ends]
            yield from unknown(where, ends, known)
            if len(ends) == 2 and ends[0] == ends[1] and ends[0] not in flexible:
                yield Finding(where, f"connects {ends[0]!r} with itself", "A spring needs two different bodies")
            if ends == ["ground"]:
                yield Finding(where, "acts on the ground", "Name the body it acts on")
            for point in force.at:
                if not (point is None and kind.given) and finite_numbers(point, 3) is None:
                    yield Finding(where, f"point {point!r} is not three finite numbers", "Give it in metres, global")
            if len(force.at) != 2 and kind.points == 2:
                yield Finding(where, f"{len(force.at)} points are given", "Give at=(point on a, point on b)")
        elif kind.on_joint:
            yield from coordinate(joints.named, where, joint_name(force.a))
        elif kind.watches:
            pass
        elif force.name in joints.named:
            yield Finding(where, "a joint has its name, and so its velocity in v", "Give the state a name of its own")
        elif any(mark in force.name for mark in ".|@"):
            yield Finding(
                where, "a state's name is an entry of v and a signal", "Use letters, digits and _, no '.', '|', '@'"
            )
        told = [kind.takes.get(what, NUMBER).problem(what, value) for what, value in force.parameters.items()]
        check: Any = getattr(BY_CODE[kind.code], "check", None)
        if check is not None:
            if kind.on_joint:
                a = joint_name(force.a)
                told += check(replace(force, a=a), joints.of("joint", str(a).partition(".")[0]))
            else:
                a, b = body_name(force.a), body_name(force.b)
                told += check(replace(force, a=a, b=b), joints.of("body", a, b))
        for problem, cure in filter(None, told):
            yield Finding(where, problem, cure)
        value = np.atleast_1d(np.asarray(force.value, dtype=object))
        if kind.signals and not callable(force.value) and finite_numbers(value, kind.signals) is None:
            problem = f"value {force.value!r} is not {kind.signals} finite number(s)"
            yield Finding(where, problem, "Give numbers or a function")


def constraints(model: Model) -> Iterator[Finding]:
    """Defects of constraints beside the joints."""
    known, joints, flexible = known_bodies(model), _Joints(model), flexible_names(model)
    for c in model.constraints:
        where, kind, points = f"constraint {c.name!r}", CONSTRAINTS[c.kind], list[Any]()
        a, b = (joint_name(end) if kind.on_joints else body_name(end) for end in (c.a, c.b))
        if kind.on_joints:
            yield from coordinate(joints.named, where, a)
            yield from coordinate(joints.named, where, b)
            if str(a) == str(b):
                yield Finding(where, f"couples {a!r} with itself", "Name two different coordinates")
        else:
            yield from unknown(where, [a, b], known)
            if a == b and a not in flexible:
                yield Finding(where, f"connects {a!r} with itself", "A constraint needs two different bodies")
            points = [finite_numbers(point, 3) for point in c.at]
            if len(points) != 2 or any(point is None for point in points):
                yield Finding(where, f"at={c.at!r} is not two points", "Give points of three finite numbers, global")
                continue
        for problem, cure in kind.check(replace(c, a=a, b=b), points, joints.of("joint", str(a), str(b))):
            yield Finding(where, problem, cure)
        axis = finite_numbers(c.axis, 3)
        if not (kind.on_joints or kind.rod) and (axis is None or np.linalg.norm(axis) < NO_LENGTH):
            yield Finding(where, f"the direction {c.axis!r} is not one", "Give three numbers, not all zero")
