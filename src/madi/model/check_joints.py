"""Defects of bodies and joints, and of what refers to them by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import Finding, InputError, closest
from madi.errors import finite_numbers as numbers
from madi.joints import KINDS
from madi.joints.ladder import drawn_subspace
from madi.model.elements import Body, Joint, body_name, inertia_matrix
from madi.model.flexible import defects, flexible_names, known_points
from madi.spatial.rotation import NO_LENGTH, PARALLEL, as_rotation, frame_with_z

if TYPE_CHECKING:
    from madi.model.model import Model

SYMMETRIC, NEGATIVE = 1e-9, 1e-12  # of the largest moment: difference across the diagonal; what a principal one is below 0
TRIANGLE = 1e-9  # of the sum of two principal moments: rounding of a third that is as large, of a thin plate
ZERO_QUATERNION = 1e-9  # length below which there is no rotation in it
PERPENDICULAR = 1e-6  # cosine of the angle between two axes as given, with seven digits
COMMON = 1e-9  # singular value of unit motions that two joints both allow: rounding


def known_bodies(model: Model) -> set[str]:
    """All that elements may be attached to."""
    return {"ground"} | {body.name for body in model.bodies} | known_points(model)


def unknown(where: str, names: list[Any], known: set[str]) -> Iterator[Finding]:
    """Names of no body, each with the name that is nearest."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            near = (*closest(str(name), sorted(map(str, known)), 1, 0.0), "ground")[0]
            yield Finding(where, f"there is no body {name!r}", f"Did you mean {near!r}? Bodies are added with m.body(...)")


def coordinate(joints: dict[str, Joint], where: str, name: Any) -> Iterator[Finding]:
    """The name must be a coordinate with a rate of its own: of a one-coordinate joint, or "joint.part"."""
    joint = joints.get(str(name).split(".")[0])
    if joint is None:
        known = ", ".join(repr(n) for n in list(joints)[:6]) or "none"
        yield Finding(where, f"there is no joint {name!r}", f"Joints are: {known}")
        return
    kind = KINDS[joint.kind]
    parts = [f"{joint.name}.{part}" if part else joint.name for part in kind.coordinates]
    if kind.quaternion is not None or kind.nv == 0:
        yield Finding(
            where, f"{joint.name!r} is {joint.kind}: it has no such coordinate", "Use a torque or force on the body"
        )
    elif name not in parts:
        yield Finding(where, f"{name!r} is not one coordinate", "Name one of " + ", ".join(map(repr, parts)))


def bodies(model: Model) -> Iterator[Finding]:
    """Defects of bodies."""
    for body in model.bodies:
        where = f"body {body.name!r}"
        if body.flexible is not None:
            yield from defects(body, where)
            continue
        mass = numbers(body.mass)
        if mass is None or mass.shape != () or mass < 0:
            yield Finding(where, f"mass {body.mass!r} is not a finite number >= 0", "Give the mass in kg")
        for what in ("com", "position"):
            if numbers(getattr(body, what), 3) is None:
                yield Finding(where, f"{what} {getattr(body, what)!r} is not three finite numbers", "Give metres: (x, y, z)")
        try:
            as_rotation(body.orientation, where)
        except (InputError, ValueError, TypeError) as error:
            yield Finding(where, str(error).removeprefix(f"{where}: "), "None keeps the global axes")
        yield from _inertia(body, where, float(mass) if mass is not None and mass.shape == () else None)


def _inertia(body: Body, where: str, mass: float | None) -> Iterator[Finding]:
    inertia = inertia_matrix(body)
    if inertia is None:
        yield Finding(where, f"inertia {body.inertia!r} is not 3 or 3x3 finite numbers", "Give (Ixx, Iyy, Izz) in kg m^2")
        return
    scale = float(np.max(np.abs(inertia)))
    if not np.allclose(inertia, inertia.T, atol=SYMMETRIC * scale):
        yield Finding(where, "the 3x3 inertia is not symmetric", "Products of inertia stand on both sides of the diagonal")
        return
    principal = np.linalg.eigvalsh(inertia)
    moments = "(" + ", ".join(f"{value:.4g}" for value in principal) + ")"
    if principal[0] < -NEGATIVE * scale:
        cure = "Check signs and units; off-diagonal entries are -∫xy dm and so on"
        yield Finding(where, f"the inertia is not positive: its principal moments are {moments}", cure)
    elif not body.unphysical and principal[2] > (principal[0] + principal[1]) * (1 + TRIANGLE):
        problem = f"no rigid body has these principal moments, {moments}: the largest exceeds the sum of the others"
        cure = "Correct the inertia, or accept it as it is with unphysical=True (in a file unphysical: true)"
        yield Finding(where, problem, cure)
    if mass == 0.0 and scale > 0.0 and not body.unphysical:
        cure = "Give a mass, leave both out for a massless body, or accept it with unphysical=True"
        yield Finding(where, "inertia without mass", cure)


def joints(model: Model) -> Iterator[Finding]:
    """Defects of joints, one by one and of those between the same two bodies."""
    known = known_bodies(model)
    pairs: dict[frozenset[str], list[Joint]] = {}
    for joint in model.joints:
        where, kind = f"joint {joint.name!r}", KINDS[joint.kind]
        ends = [body_name(joint.parent), body_name(joint.child)]
        yield from unknown(where, ends, known)
        if isinstance(ends[0], str) and ends[0] == ends[1]:
            yield Finding(where, f"connects {ends[0]!r} with itself", "A joint needs two different bodies")
        elif all(isinstance(end, str) and end in known for end in ends):
            pairs.setdefault(frozenset(map(str, ends)), []).append(joint)
        if joint.cut not in (None, True, False):
            yield Finding(where, f"cut={joint.cut!r} is none of None, True, False", "True forces its cut, False forbids it")
        if joint.at is None:
            if kind.nv not in (0, 6):
                yield Finding(where, "has no point", "Give at=(x, y, z), global, in the reference pose")
        elif numbers(joint.at, 3) is None:
            yield Finding(where, f"at={joint.at!r} is not three finite numbers", "Give at=(x, y, z) in metres")
        yield from _axes(joint, where)
        for what, count in (("q0", kind.nq), ("v0", kind.nv)):
            given = getattr(joint, what)
            if given is not None and numbers(np.atleast_1d(np.asarray(given, dtype=object)), count) is None:
                problem = f"{what}={given!r} is not {count} finite number(s)"
                yield Finding(where, problem, f"A {joint.kind} joint takes {count}")
        yield from _rotor(joint, where)
        at, q0 = kind.quaternion, numbers(joint.q0, kind.nq)
        if at is not None and q0 is not None and np.linalg.norm(q0[at : at + 4]) < ZERO_QUATERNION:
            yield Finding(where, "the quaternion in q0 is zero", "No rotation is (1, 0, 0, 0)")
    flexible = flexible_names(model)
    for pair, between in pairs.items():
        if len(between) > 1 and not pair & flexible:
            yield from _contradiction(sorted(pair), between)


def _rotor(joint: Joint, where: str) -> Iterator[Finding]:
    """The armature: one number, or one for each coordinate that has an axis of its own."""
    kind, given = KINDS[joint.kind], numbers(joint.armature)
    count = 1 if kind.quaternion is not None else kind.nv
    if given is None or given.shape not in ((), (count,)) or np.any(given < 0):
        problem = f"armature={joint.armature!r} is not {count} finite number(s) >= 0"
        yield Finding(where, problem, "Give kg m^2, or kg on a slide")


def _axes(joint: Joint, where: str) -> Iterator[Finding]:
    wanted = KINDS[joint.kind].axes
    listed = isinstance(joint.axes, tuple | list)
    if not listed or len(joint.axes) != wanted:
        problem = f"{len(joint.axes)} axes are given" if listed else f"axes {joint.axes!r} are no list of directions"
        yield Finding(where, problem, f"A {joint.kind} joint takes {wanted}")
        return
    axes = [numbers(axis, 3) for axis in joint.axes]
    for axis, given in zip(axes, joint.axes, strict=True):
        if axis is None:
            yield Finding(where, f"axis {given!r} is not three finite numbers", "Give a direction such as (0, 1, 0)")
        elif np.linalg.norm(axis) < NO_LENGTH:
            yield Finding(where, "the axis is zero", "Give a direction such as (0, 1, 0); its length does not matter")
    if wanted == 2 and all(a is not None and np.linalg.norm(a) > NO_LENGTH for a in axes):
        a, b = axes
        if abs(np.dot(a, b)) > PERPENDICULAR * np.linalg.norm(a) * np.linalg.norm(b):  # type: ignore[arg-type]
            cure = "Make them so, or use two revolute joints and a massless body"
            yield Finding(where, "its two axes are not perpendicular", cure)
    if numbers(joint.pitch) is None or np.shape(joint.pitch) != ():
        yield Finding(where, f"pitch {joint.pitch!r} is not a finite number", "Give metres of advance per full turn")
    if joint.x_axis is not None:
        x = numbers(joint.x_axis, 3)
        z = axes[0] if axes else None
        along = x is not None and z is not None and np.linalg.norm(np.cross(x, z)) < PARALLEL * np.linalg.norm(x)
        if x is None or not np.any(x) or along:
            problem = f"x_axis {joint.x_axis!r} is no direction in the plane"
            yield Finding(where, problem, "Give one that is not along the axis")


def _contradiction(pair: list[str], joints: list[Joint]) -> Iterator[Finding]:
    """Two joints between the same bodies: legal as two hinges of one door, not when they leave no degree of freedom between
    them."""
    names = " and ".join(repr(joint.name) for joint in joints)
    freedoms = [freedom for freedom in map(_freedom, joints) if freedom is not None]
    if len(freedoms) == len(joints) and reduce(_intersection, freedoms).shape[1] == 0:
        problem = f"both connect {pair[0]!r} and {pair[1]!r} and together leave no degree of freedom between them"
        cure = "Remove one, line up their axes, or use m.fixed(...) if that is meant"
        yield Finding(f"joints {names}", problem, cure)


def _freedom(joint: Joint) -> np.ndarray | None:
    """Columns (v, w) about the global origin of the motions the joint allows in the reference pose."""
    kind, at = KINDS[joint.kind], numbers(joint.at, 3)
    axes = [numbers(axis, 3) for axis in joint.axes]
    if kind.nv == 0 or kind.nv == 6:
        return np.eye(6)[:, : kind.nv]
    if at is None or len(axes) != kind.axes or any(axis is None or not np.any(axis) for axis in axes):
        return None
    frame = frame_with_z(axes[0], axes[1] if kind.axes == 2 else None) if axes else np.eye(3)  # type: ignore[arg-type]
    q, S = np.zeros(kind.nq), np.zeros((6, 6))
    if kind.quaternion is not None:
        q[kind.quaternion] = 1.0
    drawn_subspace(kind.code, float(joint.pitch) / (2 * np.pi), q, np.eye(3), np.zeros(3), S)
    v, w = S[: kind.nv, :3] @ frame.T, S[: kind.nv, 3:] @ frame.T
    return np.hstack([v + np.cross(at, w), w]).T


def _intersection(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Basis of the common subspace of the columns of a and b."""
    _, s, vt = np.linalg.svd(np.hstack([a, -b]))
    rank = int(np.sum(s > COMMON))
    return a @ vt[rank:, : a.shape[1]].T
