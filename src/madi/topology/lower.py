"""Flexible bodies as the graph sees them: a frame with modes, and the points on which joints and forces attach.

A flexible body of the model becomes a body of the same name (its frame, its mass, its modes), one massless body for every
point in use ("link@tip"), and a modal joint from the frame to each of them. Everything after this sees bodies and joints.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Finding, InputError
from madi.flexible import Station, frame_station
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.model.elements import Body, Force, Joint, body_name
from madi.spatial.rotation import as_rotation
from madi.topology.contacts import with_contacts

if TYPE_CHECKING:
    from madi.model.model import Model


def lower(model: Model) -> Model:
    """A checked model with its flexible bodies taken apart."""
    lowered, findings = lowering(model)
    assert not findings, findings  # check.py has told
    return lowered


def lowering(model: Model) -> tuple[Model, list[Finding]]:
    """The model with its flexible bodies taken apart (the same object if it has none), and the joints, forces and
    constraints that attach where a flexible body has no point."""
    model, missed = with_contacts(model)
    if missed or not any(body.flexible is not None for body in model.bodies):
        return model, missed
    work = Lowering(model)
    lowered = copy.copy(model)
    lowered.joints = [work.joint(joint) for joint in model.joints]
    lowered.forces = [work.force(force) for force in model.forces]
    lowered.constraints = [work.constraint(constraint) for constraint in model.constraints]
    lowered.bodies = []
    for body in model.bodies:
        if body.flexible is None:
            lowered.bodies.append(body)
            continue
        parts = work.parts[body.name]
        mass, com, inertia = body.flexible.field.rigid
        frame = replace(body, mass=mass, com=com, inertia=inertia, unphysical=True)
        lowered.bodies += [*(part for part, _ in parts.values()), frame]
        lowered.joints += [
            Joint(part.name, "modal", frame, part, at=part.position, cut=False, station=station)
            for part, station in parts.values()
        ]
        lowered.forces.append(
            Force(f"{body.name}.elastic", "elastic", frame, parameters={
                "stiffness": body.flexible.field.stiffness, "damping": body.flexible.field.damping})
        )  # fmt: skip
    return lowered, work.findings


class Lowering:
    """Finds or makes the point each element attaches to."""

    def __init__(self, model: Model):
        self.flexible = {body.name: body for body in model.bodies if body.flexible is not None}
        self.positions = {"ground": (0.0, 0.0, 0.0), **{body.name: body.position for body in model.bodies}}
        self.parts: dict[str, dict[str, tuple[Body, Station]]] = {name: {} for name in self.flexible}
        self.findings: list[Finding] = []
        for body in self.flexible.values():
            for name, local in body.flexible.named().items():
                self._part(body, local, f"point {name!r} of {body.name!r}")

    def _part(self, body: Body, local: np.ndarray | None, where: str) -> Body | None:
        """The massless body at a point given in body axes (None: the frame)."""
        try:
            field = body.flexible.field
            station = frame_station(len(field.names)) if local is None else body.flexible.station(local)
        except InputError as error:
            self.findings.append(
                Finding(where, f"on flexible body {body.name!r}, {error}", "Attach it where the body is, in the drawing")
            )
            return None
        parts = self.parts[body.name]
        key = f"{station.key:.12g}"
        if key not in parts:
            R = as_rotation(body.orientation, body.name)
            at = np.asarray(body.position, dtype=float) + R @ station.position
            parts[key] = Body(f"{body.name}@{station.label}", position=at, orientation=R), station
        return parts[key][0]

    def _refuse_turning(self, where: str, *ends: Any) -> None:
        """What turns what it acts on, or turns with it, needs to know how that turns; at a named point too."""
        for body in (self.flexible.get(body_name(end).split("@")[0]) for end in ends):
            if body is not None and not body.flexible.field.turns:
                text = f"flexible body {body.name!r} does not know how its nodes turn: modes have 3 numbers a node"
                cure = "Give modes of 6 numbers a node, or use spherical joints and forces at points"
                self.findings.append(Finding(where, text, cure))

    def _end(self, reference: Any, at: Any, where: str) -> Any:
        """What stands for a body in an element that attaches at the global point `at`."""
        body = self.flexible.get(body_name(reference))
        if body is None:
            return reference
        R = as_rotation(body.orientation, body.name)
        local = R.T @ (np.asarray(at, dtype=float) - np.asarray(body.position, dtype=float))
        return self._part(body, local, where) or reference

    def joint(self, joint: Joint) -> Joint:
        """The joint between points."""
        where, kind = f"joint {joint.name!r}", KINDS[joint.kind]
        frame = None if kind.holds else self.flexible.get(body_name(joint.child))  # it places the frame, not a point
        if kind.parts != "ball":
            self._refuse_turning(where, joint.parent, *(() if frame else (joint.child,)))
        if not {body_name(joint.parent), body_name(joint.child)} & set(self.flexible):
            return joint
        at = joint.at if joint.at is not None else self.positions[body_name(joint.child)]
        if frame is not None:
            return replace(joint, parent=self._end(joint.parent, at, where), child=self._part(frame, None, where))
        ends = (self._end(end, at, where) for end in (joint.parent, joint.child))
        return replace(joint, parent=next(ends), child=next(ends), at=at)

    def force(self, force: Force) -> Force:
        """The force on points."""
        where, ends, kind = f"force {force.name!r}", [force.a, force.b], FORCES[force.kind]
        if kind.ends == 0:  # on a joint, or on nothing
            return force
        if kind.turns or kind.tire:
            self._refuse_turning(where, *ends[: kind.ends])
        for k, reference in enumerate(ends):
            body = self.flexible.get(body_name(reference))
            if body is None:
                continue
            at = force.at[min(k, len(force.at) - 1)] if force.at else None
            if at is None:
                named = ", ".join(repr(body.point(name)) for name in body.flexible.named())
                self.findings.append(
                    Finding(where, f"flexible body {body.name!r} has no single motion for it to act on",
                            f"Give one of its points as the body: {named or 'name some with points='}"
                            + (", or at=(x, y, z)" if force.at else ""))
                )  # fmt: skip
                continue
            ends[k] = self._end(reference, at, where)
        return force if ends == [force.a, force.b] else replace(force, a=ends[0], b=ends[1])

    def constraint(self, c: Any) -> Any:
        """The constraint between points."""
        where, kind = f"constraint {c.name!r}", CONSTRAINTS[c.kind]
        if kind.on_joints:
            return c
        if not kind.rod:
            self._refuse_turning(where, c.a)  # its line and its normal are a's
        if not {body_name(c.a), body_name(c.b)} & set(self.flexible):
            return c
        return replace(c, a=self._end(c.a, c.at[0], where), b=self._end(c.b, c.at[1], where))
