"""Every defect of a model, found together: each names the element, the problem and the cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Finding, InputError, closest
from madi.errors import finite_numbers as numbers
from madi.forces import KINDS as FORCES
from madi.forces.characteristic import BETWEEN
from madi.forces.road import Road
from madi.joints import KINDS
from madi.joints.ladder import drawn_subspace
from madi.model.elements import Body, Joint, body_name, joint_name
from madi.model.flexible import conditions, defects, flexible_names, known_points, mixed_up
from madi.spatial.rotation import as_rotation, frame_with_z

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.graph import SpanningTree


def check(model: Model) -> list[Finding]:
    """All defects of `model`."""
    findings: list[Finding] = list(_kinds(model))
    if findings:  # nothing else can be asked of them
        return findings
    for part in (_names, _gravity, _bodies, _joints, _forces, _constraints, _drives, _functions, _connections):
        findings.extend(part(model))
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


def _kinds(model: Model) -> Iterator[Finding]:
    """Kinds that were set by hand must be there."""
    groups: list[tuple[str, list[Any], Any]] = [("joint", model.joints, KINDS), ("force", model.forces, FORCES)]
    for what, elements, known in groups:
        for element in elements:
            if not isinstance(element.kind, str) or element.kind not in known:
                told = f"there is no kind {element.kind!r} of {what}"
                yield Finding(f"{what} {element.name!r}", told, f"There are: {', '.join(known)}")


def _known_bodies(model: Model) -> set[str]:
    return {"ground"} | {body.name for body in model.bodies} | known_points(model)


def _names(model: Model) -> Iterator[Finding]:
    groups: dict[str, list[Any]] = {
        "body": model.bodies, "joint": model.joints, "force": model.forces, "constraint": model.constraints,
    }  # fmt: skip
    for what, elements in groups.items():
        for name, count in Counter(str(element.name) for element in elements).items():
            if count > 1:
                yield Finding(f"{what} {name!r}", f"the name is used {count} times", "Give each its own name")
        for element in elements:
            if not isinstance(element.name, str) or not element.name.strip():
                yield Finding(f"{what} {element.name!r}", "the name is empty or not text", "Name it with a string")
            elif not element.name.isprintable():
                yield Finding(f"{what} {element.name!r}", "the name has characters that cannot be printed", "Use plain text")
            elif what == "body" and "@" in element.name:
                yield Finding(
                    f"body {element.name!r}",
                    "the name has an @",
                    "body@point is a point of a flexible body; leave it out",
                )
            elif what == "joint" and "." in element.name:
                yield Finding(
                    f"joint {element.name!r}",
                    "the name has a dot",
                    "Dots separate a joint from its coordinate; leave it out",
                )
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
        yield from _claim(
            owner, where, parts | {f"{part}{ending}" for part in parts for ending in (".q", ".v", ".a", ".drive")}
        )
    for force in model.forces:
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
    if numbers(model.gravity, 3) is None:
        yield Finding("gravity", f"{model.gravity!r} is not three finite numbers", "Give it as (0, 0, -9.81)")


def _bodies(model: Model) -> Iterator[Finding]:
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


def inertia_matrix(body: Body) -> np.ndarray | None:
    """The 3x3 inertia about the centre of mass, or None if it is not one."""
    given = numbers(body.inertia)
    if given is None or given.shape not in ((3,), (3, 3)):
        return None
    return np.diag(given) if given.shape == (3,) else given


def _inertia(body: Body, where: str, mass: float | None) -> Iterator[Finding]:
    inertia = inertia_matrix(body)
    if inertia is None:
        yield Finding(where, f"inertia {body.inertia!r} is not 3 or 3x3 finite numbers", "Give (Ixx, Iyy, Izz) in kg m^2")
        return
    scale = float(np.max(np.abs(inertia)))
    if not np.allclose(inertia, inertia.T, atol=1e-9 * scale):
        yield Finding(where, "the 3x3 inertia is not symmetric", "Products of inertia stand on both sides of the diagonal")
        return
    principal = np.linalg.eigvalsh(inertia)
    if principal[0] < -1e-12 * scale:
        yield Finding(
            where,
            f"the inertia is not positive: its principal moments are {_list(principal)}",
            "Check signs and units; off-diagonal entries are -∫xy dm and so on",
        )
    elif not body.unphysical and principal[2] > (principal[0] + principal[1]) * (1 + 1e-9):
        yield Finding(
            where,
            f"no rigid body has these principal moments, {_list(principal)}: the largest exceeds the sum of the others",
            "Correct the inertia, or accept it as it is with unphysical=True (in a file unphysical: true)",
        )
    if mass == 0.0 and scale > 0.0 and not body.unphysical:
        yield Finding(
            where,
            "inertia without mass",
            "Give a mass, leave both out for a massless body, or accept it with unphysical=True",
        )


def _list(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"


def _joints(model: Model) -> Iterator[Finding]:
    known = _known_bodies(model)
    pairs: dict[frozenset[str], list[Joint]] = {}
    for joint in model.joints:
        where = f"joint {joint.name!r}"
        ends = [body_name(joint.parent), body_name(joint.child)]
        yield from _unknown(where, ends, known)
        if isinstance(ends[0], str) and ends[0] == ends[1]:
            yield Finding(where, f"connects {ends[0]!r} with itself", "A joint needs two different bodies")
        elif all(isinstance(end, str) and end in known for end in ends):
            pairs.setdefault(frozenset(map(str, ends)), []).append(joint)
        if joint.cut not in (None, True, False):
            yield Finding(where, f"cut={joint.cut!r} is none of None, True, False", "True forces its cut, False forbids it")
        if joint.at is None:
            if KINDS[joint.kind].nv not in (0, 6):
                yield Finding(where, "has no point", "Give at=(x, y, z), global, in the reference pose")
        elif numbers(joint.at, 3) is None:
            yield Finding(where, f"at={joint.at!r} is not three finite numbers", "Give at=(x, y, z) in metres")
        yield from _axes(joint, where)
        kind = KINDS[joint.kind]
        for what, count in (("q0", kind.nq), ("v0", kind.nv)):
            given = getattr(joint, what)
            if given is not None and numbers(np.atleast_1d(np.asarray(given, dtype=object)), count) is None:
                yield Finding(
                    where, f"{what}={given!r} is not {count} finite number(s)", f"A {joint.kind} joint takes {count}"
                )
        yield from _rotor(joint, where)
        at = kind.quaternion
        if at is not None and joint.q0 is not None:
            q0 = numbers(joint.q0, kind.nq)
            if q0 is not None and np.linalg.norm(q0[at : at + 4]) < 1e-9:
                yield Finding(where, "the quaternion in q0 is zero", "No rotation is (1, 0, 0, 0)")
    for pair, joints in pairs.items():
        if len(joints) > 1 and not pair & flexible_names(model):
            yield from _contradiction(sorted(pair), joints)


def _rotor(joint: Joint, where: str) -> Iterator[Finding]:
    """The armature: one number, or one for each coordinate that has an axis of its own."""
    kind, given = KINDS[joint.kind], numbers(joint.armature)
    count = 1 if kind.quaternion is not None else kind.nv
    if given is None or given.shape not in ((), (count,)) or np.any(given < 0):
        yield Finding(
            where, f"armature={joint.armature!r} is not {count} finite number(s) >= 0", "Give kg m^2, or kg on a slide"
        )


def _unknown(where: str, names: list[Any], known: set[str]) -> Iterator[Finding]:
    for name in names:
        if not isinstance(name, str) or name not in known:
            close = _closest(str(name), known)
            yield Finding(where, f"there is no body {name!r}", f"Did you mean {close!r}? Bodies are added with m.body(...)")


def _closest(name: str, known: set[str]) -> str:
    found = closest(name, sorted(known), 1, 0.0)
    return found[0] if found else "ground"


def _axes(joint: Joint, where: str) -> Iterator[Finding]:
    wanted = KINDS[joint.kind].axes
    if not isinstance(joint.axes, tuple | list):
        yield Finding(where, f"axes {joint.axes!r} are no list of directions", f"A {joint.kind} joint takes {wanted}")
        return
    if len(joint.axes) != wanted:
        yield Finding(where, f"{len(joint.axes)} axes are given", f"A {joint.kind} joint takes {wanted}")
        return
    axes = [numbers(axis, 3) for axis in joint.axes]
    for axis, given in zip(axes, joint.axes, strict=True):
        if axis is None:
            yield Finding(where, f"axis {given!r} is not three finite numbers", "Give a direction such as (0, 1, 0)")
        elif np.linalg.norm(axis) < 1e-12:
            yield Finding(where, "the axis is zero", "Give a direction such as (0, 1, 0); its length does not matter")
    if wanted == 2 and all(a is not None and np.linalg.norm(a) > 1e-12 for a in axes):
        a, b = axes
        if abs(np.dot(a, b)) > 1e-6 * np.linalg.norm(a) * np.linalg.norm(b):  # type: ignore[arg-type]
            yield Finding(
                where, "its two axes are not perpendicular", "Make them so, or use two revolute joints and a massless body"
            )
    if numbers(joint.pitch) is None or np.shape(joint.pitch) != ():
        yield Finding(where, f"pitch {joint.pitch!r} is not a finite number", "Give metres of advance per full turn")
    if joint.x_axis is not None:
        x = numbers(joint.x_axis, 3)
        if (
            x is None
            or not np.any(x)
            or (axes and axes[0] is not None and np.linalg.norm(np.cross(x, axes[0])) < 1e-9 * np.linalg.norm(x))
        ):
            yield Finding(
                where, f"x_axis {joint.x_axis!r} is no direction in the plane", "Give one that is not along the axis"
            )


def _contradiction(pair: list[str], joints: list[Joint]) -> Iterator[Finding]:
    """Two joints between the same bodies: legal as two hinges of one door, not when they leave no degree of freedom between
    them."""
    names = " and ".join(repr(joint.name) for joint in joints)
    freedoms = [_freedom(joint) for joint in joints]
    if any(freedom is None for freedom in freedoms):
        return
    space = freedoms[0]
    for freedom in freedoms[1:]:
        space = _intersection(space, freedom)  # type: ignore[arg-type]
    if space is not None and space.shape[1] == 0:
        yield Finding(
            f"joints {names}",
            f"both connect {pair[0]!r} and {pair[1]!r} and together leave no degree of freedom between them",
            "Remove one, line up their axes, or use m.fixed(...) if that is meant",
        )


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
    rank = int(np.sum(s > 1e-9))
    return a @ vt[rank:, : a.shape[1]].T


def _forces(model: Model) -> Iterator[Finding]:
    known = _known_bodies(model)
    for force in model.forces:
        where, kind = f"force {force.name!r}", FORCES[force.kind]
        if kind.ends:
            ends = [body_name(force.a), body_name(force.b)][: kind.ends]
            yield from _unknown(where, ends, known)
            if len(ends) == 2 and ends[0] == ends[1] and ends[0] not in flexible_names(model):
                yield Finding(where, f"connects {ends[0]!r} with itself", "A spring needs two different bodies")
            if ends == ["ground"]:
                yield Finding(where, "acts on the ground", "Name the body it acts on")
            for point in force.at:
                if not (point is None and kind.given) and numbers(point, 3) is None:
                    yield Finding(where, f"point {point!r} is not three finite numbers", "Give it in metres, global")
            if len(force.at) != 2 and kind.points == 2:
                yield Finding(where, f"{len(force.at)} points are given", "Give at=(point on a, point on b)")
        elif kind.on_joint:
            yield from _coordinate(model, where, joint_name(force.a))
        elif any(joint.name == force.name for joint in model.joints):
            yield Finding(where, "a joint has its name, and so its velocity in v", "Give the state a name of its own")
        elif any(mark in force.name for mark in ".|@"):
            yield Finding(
                where, "a state's name is an entry of v and a signal", "Use letters, digits and _, no '.', '|', '@'"
            )
        if force.kind == "track":
            yield from _span(model, force, where)
        yield from _force_numbers(force, where)
        if kind.signals and not callable(force.value):
            given = numbers(np.atleast_1d(np.asarray(force.value, dtype=object)), kind.signals)
            if given is None:
                problem = f"value {force.value!r} is not {kind.signals} finite number(s)"
                yield Finding(where, problem, "Give numbers or a function")


def _span(model: Model, force: Any, where: str) -> Iterator[Finding]:
    """A track's span: a tangent must exist, and its bodies must not turn without end."""
    ends, radii, road = [numbers(at, 3) for at in force.at], numbers(force.parameters["radii"]), force.parameters["road"]
    a, b = ends if len(ends) == 2 else (None, None)
    if a is None or b is None or radii is None or radii.shape != (2,) or not isinstance(road, Road):
        return
    forward, up = road.axes()
    between = b - a
    if np.hypot(between @ forward, between @ up) <= abs(radii[1] - radii[0]) + 1e-9:
        yield Finding(where, "its wheels have no common tangent", "Put their centres farther apart along the road")
    if not isinstance(force.parameters["over"], bool):
        yield Finding(where, f"over={force.parameters['over']!r}", "Write True (the return run) or False")
    left = np.cross(up, forward)
    for body, centre in ((force.a, a), (force.b, b)):
        for joint in model.joints:
            if joint.kind != "revolute" or body_name(joint.child) != body_name(body) or numbers(joint.at, 3) is None:
                continue
            axis = numbers(joint.axes[0], 3) if joint.axes else None
            arm = centre - np.asarray(joint.at, dtype=float)
            if axis is None or not np.any(axis):
                continue
            axis = axis / np.linalg.norm(axis)
            if abs(axis @ left) > 0.99 and np.linalg.norm(arm - (arm @ axis) * axis) < 1e-6:
                yield Finding(where, f"{body_name(body)!r} spins about the wheel's axis: the belt would wind up on it",
                              f"Name the body that carries it, {body_name(joint.parent)!r}")  # fmt: skip


LISTS = {"axis": (3,), "radii": (2,)}  # parameters that are lists of so many numbers
MAY_BE_NONE = ("free_length", "length", "axis", "pressure")


def _force_numbers(force: Any, where: str) -> Iterator[Finding]:
    """The parameters of a force element, one by one."""
    for what, value in force.parameters.items():
        missing = value is None and what in MAY_BE_NONE and (force.kind == "bushing" or what != "axis")
        missing = missing or (value is None and force.kind == "stop" and what == "stiffness")
        if what in ("tir", "mirrored", "over") or missing:
            continue
        if what == "between":
            if value not in BETWEEN:
                yield Finding(where, f"between={value!r}", f"Write one of {', '.join(map(repr, BETWEEN))}")
            continue
        if what == "road":
            if not isinstance(value, Road):
                yield Finding(where, f"road {value!r} is not a road", "Give madi.flat() and what is on it")
        elif what in ("spring", "damper"):
            yield from _table(where, what, value)
        elif force.kind == "bushing" and what in ("stiffness", "damping"):
            six = numbers(value, 6)
            if six is None or np.any(six < 0):
                yield Finding(where, f"{what} {value!r} is not six numbers >= 0", "Three along, three about the axes")
        elif what in LISTS:
            given = numbers(value)
            if given is None or given.shape != LISTS[what] or not np.any(given) or (what == "radii" and np.any(given <= 0)):
                yield Finding(where, f"{what} {value!r} is not {LISTS[what][0]} finite numbers", "Give them in SI units")
        else:
            number = numbers(value)
            if number is None or number.shape != ():
                yield Finding(where, f"{what} {value!r} is not a finite number", "Give a number in SI units")
            elif what in FORCES[force.kind].positive and number <= 0:
                yield Finding(where, f"{what} {value!r} is not > 0", "It must be positive")
            elif what in NOT_NEGATIVE and number < 0:
                yield Finding(where, f"{what} is negative", "It must be >= 0")
            elif what == "exponent" and force.kind == "hydropneumatic" and not number >= 1:
                yield Finding(where, f"exponent {value!r} is not >= 1", "Isothermal gas is 1.0, adiabatic 1.4")
            elif what == "exponent" and force.kind == "bump_stop" and not number >= 1:
                yield Finding(where, f"exponent {value!r} is not >= 1", "1 is a spring, 1.5 begins softly")
            elif what == "stiffness" and force.kind == "track" and number < 0:
                yield Finding(where, "stiffness is negative", "It must be >= 0")
            elif what == "places" and not (
                number == int(number) and 0 < number < 100 and (number % 2 == 1 or force.kind == "track")
            ):
                yield Finding(where, f"places {value!r} is not a small odd number", "1 samples it below, 9 envelop it")
            elif what == "stiffness" and force.kind == "stop" and number <= 0:
                yield Finding(where, f"stiffness {value!r} is not > 0", "Leave it out: it is scaled by the inertia there")
    low, high = (numbers(force.parameters.get(what)) for what in ("lower", "upper"))
    if force.kind == "stop" and low is not None and high is not None and not np.all(low < high):
        yield Finding(where, f"lower {low} is not below upper {high}", "Give the range as lower < upper")


NOT_NEGATIVE = (
    "damping", "free_length", "compression", "rebound", "support", "support_damping", "length", "slip_stiffness",
    "cornering_stiffness", "friction", "rolling_resistance", "sliding_friction", "patch", "ambient",
)  # fmt: skip


def _table(where: str, what: str, value: Any) -> Iterator[Finding]:
    table = numbers(value)
    if table is not None and table.size == 0:
        return
    if table is None or table.ndim != 2 or table.shape[1] != 2 or len(table) < 2 or np.any(np.diff(table[:, 0]) <= 0):
        yield Finding(
            where,
            f"its {what} table is not a list of at least two (x, force), x increasing",
            "Sort it, and leave out doubles",
        )
    elif what == "damper" and np.any(np.diff(table[:, 1]) < 0):
        x = float(table[int(np.argmin(np.diff(table[:, 1]))), 0])
        yield Finding(
            where,
            f"its damper table falls after a rate of {x:g}: it would drive the motion",
            "Let the force grow with the rate",
        )
    elif what == "damper" and abs(np.interp(0.0, table[:, 0], table[:, 1])) > 1e-9 * np.max(np.abs(table[:, 1])):
        yield Finding(
            where,
            f"its damper table gives {np.interp(0.0, table[:, 0], table[:, 1]):g} at no rate",
            "Let it pass through (0, 0); a preload belongs in the spring table",
        )


def _coordinate(model: Model, where: str, name: Any) -> Iterator[Finding]:
    """The name must be a coordinate with a rate of its own: of a one-coordinate joint, or "joint.part"."""
    joints = {joint.name: joint for joint in model.joints}
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


def _drives(model: Model) -> Iterator[Finding]:
    joints = {joint.name: joint for joint in model.joints}
    driven: Counter[str] = Counter()
    flexible = flexible_names(model)  # locked, they are rigid
    for drive in model.drives:
        where = f"drive of {drive.coordinate!r}"
        if drive.function is None:
            if drive.coordinate not in joints and drive.coordinate not in flexible:
                yield Finding(where, f"there is no joint {drive.coordinate!r} to lock", "Lock a joint by its name")
                continue
            driven[drive.coordinate] += 1
            continue
        found = list(_coordinate(model, where, drive.coordinate))
        yield from found
        if not callable(drive.function):
            yield Finding(where, f"{drive.function!r} is not a function of time", "Give e.g. lambda t: 0.2 * t")
        driven[drive.coordinate] += 1
    for name, count in driven.items():
        twice = count > 1 or ("." in name and driven[name.split(".")[0]] > 0)
        if twice:
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
    touched = {str(body_name(end)).partition("@")[0] for joint in model.joints for end in (joint.parent, joint.child)}
    touched |= {str(body_name(end)) for joint in model.joints for end in (joint.parent, joint.child)}
    for body in model.bodies:
        if str(body.name) not in touched:
            yield Finding(
                f"body {body.name!r}",
                "is connected to nothing by a joint",
                f"Add a joint; to let it float: m.free({str(body.name) + '_free'!r}, m.ground, {str(body.name)!r})",
            )


def _on_cut_joints(model: Model, tree: SpanningTree) -> Iterator[Finding]:
    """A cut joint has no coordinate of its own: it can be driven where its motion can be measured, and no more."""
    cut = {joint.name: joint for joint in tree.cuts}
    another = "Have another joint of the loop cut, with cut=True there"
    for joint in tree.cuts:
        if not KINDS[joint.kind].cut:
            yield Finding(
                f"joint {joint.name!r}", f"a {joint.kind} joint beside other joints constrains nothing", "Leave it out"
            )
        elif (joint.q0 is not None or joint.v0 is not None) and not any(d.coordinate == joint.name for d in model.drives):
            yield Finding(
                f"joint {joint.name!r}", "it closes a loop and has no coordinate that could start at q0 or v0",
                "Give another joint of the loop its start, or have another one cut",
            )  # fmt: skip
        if np.any(np.asarray(joint.armature, dtype=float)):
            yield Finding(
                f"joint {joint.name!r}", "it has an armature, closes a loop and was cut: no coordinate carries it", another
            )
    kept = [joint.name for joint in tree.cuts if joint.cut is False]
    if kept:
        names = ", ".join(repr(joint.name) for joint in model.joints if joint.cut is False)
        yield Finding(
            f"joint(s) {', '.join(map(repr, kept))}", f"cut=False, but the joints that may not be cut form a loop: {names}",
            "Allow the cut of one of them",
        )  # fmt: skip
    on_joints = [force for force in model.forces if FORCES[force.kind].on_joint]
    acting = [(f"force {force.name!r}", str(joint_name(force.a))) for force in on_joints]
    for c in model.constraints:
        if CONSTRAINTS[c.kind].on_joints:
            acting += [(f"constraint {c.name!r}", str(joint_name(end))) for end in (c.a, c.b)]
    for where, name in acting:
        if name.split(".")[0] in cut:
            yield Finding(where, f"joint {name.split('.')[0]!r} closes a loop and was cut: it has no coordinate", another)
    for drive in model.drives:
        driven = cut.get(drive.coordinate.split(".")[0])
        if driven is not None:
            kind = KINDS[driven.kind]
            parts = [f"{driven.name}.{part}" if part else driven.name for part in kind.coordinates[: len(kind.measured)]]
            whole = drive.function is None and len(kind.measured) == kind.nv
            if not whole and drive.coordinate not in parts:
                yield Finding(
                    f"drive of {drive.coordinate!r}",
                    f"joint {driven.name!r} closes a loop and was cut: its motion cannot be prescribed there", another,
                )  # fmt: skip


def _gear(model: Model, where: str, c: Any) -> Iterator[Finding]:
    """Gears: radii > 0, on revolute joints about parallel axes of one carrier."""
    radii = numbers(c.parameters["radii"], 2)
    if radii is None or np.any(radii <= 0):
        yield Finding(where, f"radii {c.parameters['radii']!r} are not two numbers > 0", "Give radii or numbers of teeth")
    joints = [j for end in (c.a, c.b) for j in model.joints if j.name == str(joint_name(end))]
    if len(joints) != 2:
        return
    if any(joint.kind != "revolute" for joint in joints):
        yield Finding(where, "gears sit on revolute joints", "For a slide use m.rack(...) or m.coupler(...)")
        return
    ends = [{body_name(joint.parent), body_name(joint.child)} for joint in joints]
    if not ends[0] & ends[1]:
        yield Finding(
            where, f"joints {joints[0].name!r} and {joints[1].name!r} have no body in common: gears turn on one carrier",
            "Draw both wheels' joints on the carrier (for a planet: sun and ring on the planet carrier)",
        )  # fmt: skip
    a, b = (numbers(joint.axes[0], 3) if joint.axes else None for joint in joints)
    if a is None or b is None:
        return
    if np.linalg.norm(np.cross(a, b)) > 1e-9 * np.linalg.norm(a) * np.linalg.norm(b) or np.dot(a, b) < 0:
        yield Finding(where, "the axes of its joints do not point one way", "Turn one of them, or use m.coupler(...)")


def _constraints(model: Model) -> Iterator[Finding]:
    known = _known_bodies(model)
    for c in model.constraints:
        where = f"constraint {c.name!r}"
        if CONSTRAINTS[c.kind].on_joints:
            for end in (c.a, c.b):
                yield from _coordinate(model, where, joint_name(end))
            if str(joint_name(c.a)) == str(joint_name(c.b)):
                yield Finding(where, f"couples {joint_name(c.a)!r} with itself", "Name two different coordinates")
            if "radii" in c.parameters:
                yield from _gear(model, where, c)
                continue
            for what in ("ratio", "offset"):
                number = numbers(c.parameters[what])
                if number is None or number.shape != ():
                    yield Finding(where, f"its {what} {c.parameters[what]!r} is not a finite number", "Give a number")
                elif what == "ratio" and number == 0:
                    yield Finding(where, "its ratio is zero", "That would lock the first joint: give radii or a ratio > 0")
            continue
        ends = [body_name(c.a), body_name(c.b)]
        yield from _unknown(where, ends, known)
        if ends[0] == ends[1] and ends[0] not in flexible_names(model):
            yield Finding(where, f"connects {ends[0]!r} with itself", "A constraint needs two different bodies")
        points = [numbers(point, 3) for point in c.at]
        if len(points) != 2 or any(point is None for point in points):
            yield Finding(where, f"at={c.at!r} is not two points", "Give points of three finite numbers, global")
            continue
        if c.kind == "distance":
            given = c.parameters["length"]
            length = numbers(np.linalg.norm(points[1] - points[0]) if given is None else given)  # type: ignore[operator]
            if length is None or length.shape != () or length <= 0:
                yield Finding(
                    where, f"its length {given if given is not None else 0.0!r} is not a number > 0",
                    "Give length= in metres; points that coincide are a spherical joint",
                )  # fmt: skip
        else:
            axis = numbers(c.axis, 3)
            if axis is None or np.linalg.norm(axis) < 1e-12:
                yield Finding(where, f"the direction {c.axis!r} is not one", "Give three numbers, not all zero")


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
            yield Finding(
                f"body {edge.body!r}",
                f"has no mass, and none is attached to it: joint {edge.joint.name!r} would have nothing to accelerate",
                "Give it a mass, or fix it to a body that has one",
            )
