"""From a Model to a model file: everything it has, numbers in SI units to the last bit."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.files import whole_file
from madi.forces import KINDS as FORCES
from madi.forces.road import Road
from madi.joints import KINDS
from madi.model.elements import Body, Constraint, Force, Joint, joint_name
from madi.model.model import gear_ratio
from madi.schema.fields import Function, MeshFile, Table, Type, plain
from madi.schema.kinds import ALONE, GROUPS, RUN, VERSION, VISUAL, Kind, kind
from madi.schema.parts import RoadType, recipes
from madi.schema.text import function_text

if TYPE_CHECKING:
    from madi.model.model import Model

WIDTH = 124
WHOLE = 1e15  # doubles below it that are whole are written as such, with all their digits


@dataclass(frozen=True)
class _How:
    """Where the file will be, and whether all must be in it."""

    folder: Path | None
    strict: bool
    tables: dict[str, Any] = field(default_factory=dict)  # those functions use, by name

    def visuals(self, body: Body) -> list[dict[str, Any]]:
        """A body's looks."""
        return [_visual(one, self.folder) for one in body.visuals if self.strict or one.kind != "mesh"]


def document(model: Model, folder: Path | None = None, strict: bool = True) -> dict[str, Any]:
    """The file's content as plain data; `folder`: where it will be, for the names of meshes. Not `strict`: what cannot be
    written is left out."""
    how = _How(folder, strict)
    names: tuple[Sequence[str], Sequence[str]] | None = None
    if any(_of_state(force) for force in model.forces):
        system = model.build()
        names = system.coordinates, system.speeds
    roads = _roads(model)
    found: dict[str, Any] = {"madi": VERSION, "model": model.name}
    if model.notes:
        found["notes"] = list(model.notes)
    if model.description:
        found["description"] = model.description
    found["gravity"] = plain(np.asarray(model.gravity).tolist())
    if roads:
        found["roads"] = {name: RoadType().write(road) for name, road in roads.items()}
    for group in GROUPS:
        listed = getattr(model, group)
        name, count = next(iter(Counter(str(element.name) for element in listed).most_common(1)), ("", 0))
        if count > 1:
            raise InputError(f"{group}: the name {name!r} is used {count} times; give each its own")
        entries = {str(element.name): _element(element, group, roads, names, how) for element in listed}
        if group == "bodies" and model.ground.visuals:
            entries = {"ground": {"visuals": how.visuals(model.ground)}, **entries}
        if entries:
            found[group] = entries
    if model.drives:
        found["drives"] = {
            drive.coordinate: "locked" if drive.function is None
            else function_text(drive.function, 1, (), (), f"drive of {drive.coordinate!r}", tables=how.tables)[0]
            for drive in model.drives
        }  # fmt: skip
    if how.tables:
        found["tables"] = {
            name: {"points": Table("any", "any").write(table.points), "between": table.between}
            for name, table in how.tables.items()
        }
    if model.adjustables:
        found["adjustable"] = list(model.adjustables)
    if model.run:
        unknown = [name for name in model.run if name not in RUN]
        if unknown and strict:
            raise InputError(f"run: there is no option {unknown[0]!r}; there are: {', '.join(RUN)}")
        found["run"] = {
            name: RUN[name][0].write(value) for name, value in model.run.items() if value is not None and name in RUN
        }
    return found


def _of_state(force: Force) -> bool:
    """Whether its function may name coordinates: those of the model as built are asked for then."""
    from madi.signals.trace import arguments

    return callable(force.value) and (FORCES[force.kind].law or arguments(force.value) == 3)


def _roads(model: Model) -> dict[str, Road]:
    """The roads in use, each named once."""
    different: list[Road] = []
    for force in model.forces:
        road = force.parameters.get("road")
        if isinstance(road, Road) and road != Road() and road not in different:
            different.append(road)
    return {"road" if len(different) == 1 else f"road{k}": road for k, road in enumerate(different, 1)}


def _element(element: Any, group: str, roads: dict[str, Road], names: Any, how: _How) -> dict[str, Any]:
    read: dict[str, Callable[[Any], tuple[Kind, dict[str, Any]]]] = {
        "bodies": _body, "joints": _joint, "forces": _force, "constraints": _constraint,
        "shapes": _shape, "contacts": _contact,
    }  # fmt: skip
    what, values = read[group](element)
    found: dict[str, Any] = {} if what.name == ALONE.get(group) else {"type": what.name}
    if isinstance(of_mesh := what.types.get("file"), MeshFile) and values.get("file") is not None:
        values["file"] = of_mesh.write(_beside(values["file"], how.folder))
    for name, of in what.types.items():
        value = values.get(name)
        if value is None or (name in what.defaults and _same(value, what.defaults[name])):
            continue
        found[name] = _value(of, value, f"{what.name} {element.name!r}", name, roads, names, how)
    for name in what.needed:
        if name not in found:
            raise InputError(f"{what.name} {element.name!r}: {name} is missing")
    if getattr(element, "visuals", None):
        found["visuals"] = how.visuals(element)
    return found


def _value(of: Type, value: Any, where: str, name: str, roads: dict[str, Road], names: Any, how: _How) -> Any:
    try:
        if isinstance(of, Function) and callable(value):
            coordinates, velocities = names or ((), ())
            found = function_text(value, of.count, coordinates, velocities, where, of.more, how.tables)
            return found[0] if of.count == 1 else found
        if isinstance(value, Road):
            return next(known for known, road in roads.items() if road == value)
        return of.write(value)
    except InputError as error:
        if not how.strict and callable(value):
            return 0.0 if isinstance(of, Function) and of.count == 1 else [0.0, 0.0, 0.0]
        told = str(error)
        raise InputError(told if told.startswith(where) else f"{where}, {name}: {told}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InputError(f"{where}: {name}={value!r} cannot be written; correct it first (m.check() tells)") from None


def _same(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray | list | tuple) and isinstance(default, list | tuple):
        return np.shape(value) == np.shape(default) and bool(np.all(np.asarray(value, dtype=object) == np.asarray(default)))
    if isinstance(value, Road):
        return default is None and value == Road()
    if value is None or default is None:
        return value is default
    return bool(np.isscalar(value) and value == default)


def _body(body: Body) -> tuple[Kind, dict[str, Any]]:
    flexible = body.flexible
    if flexible is None:
        return kind("bodies", "body"), vars(body)
    values = {**vars(flexible), "q0": body.q0, "v0": body.v0}
    if body.drawn is None:
        return kind("bodies", "flexible_body"), {**values, "position": body.position, "orientation": body.orientation}
    start, end, y_axis = body.drawn
    if not np.array_equal(np.asarray(body.position, dtype=float), np.asarray(start, dtype=float)):  # moved since
        start, end = body.position, np.asarray(end, dtype=float) + np.subtract(body.position, start)
    modes = {family: recipes(given, flexible.length) for family, given in flexible.modes.items()}
    return kind("bodies", "beam"), {**values, "start": start, "end": end, "y_axis": y_axis, "modes": modes}


def _joint(joint: Joint) -> tuple[Kind, dict[str, Any]]:
    values = {**vars(joint), "axis": joint.axes[0] if joint.axes else None}
    for name, count in (("q0", KINDS[joint.kind].nq), ("v0", KINDS[joint.kind].nv)):
        if count == 1 and values[name] is not None and np.size(values[name]) == 1:
            values[name] = np.ravel(values[name])[0]
    if joint.kind == "modal":
        raise InputError(f"joint {joint.name!r} is madi's own and cannot be written")
    return kind("joints", joint.kind), values


def _force(force: Force) -> tuple[Kind, dict[str, Any]]:
    own = FORCES[force.kind]
    what = kind("forces", own.drawn_as or own.name)
    values = dict.fromkeys(("value", "rate", "signal"), force.value) | {"law": own.choice or force.value, **force.parameters}
    values |= {"a": force.a, "b": force.b, "body": force.a, "joint": joint_name(force.a)}
    if force.at:
        values["at"] = force.at if what.types["at"].words.startswith("two") else force.at[0]
    if "tir" in force.parameters:
        side = force.parameters["tir"].side
        values["relaxation"] = bool(own.states)
        values["side"] = {"left": "right", "right": "left"}[side] if force.parameters["mirrored"] else None
    return what, values


def _constraint(c: Constraint) -> tuple[Kind, dict[str, Any]]:
    values = {**c.parameters, "a": c.a, "b": c.b, "axis": c.axis, "normal": c.axis}
    name = c.kind
    if "radii" in c.parameters and _is_gear(c):
        name, values["internal"] = "gear", c.parameters["ratio"] > 0
    elif name == "distance":
        values["at"] = c.at
    elif name != "coupler":
        values["at"], values["point"] = c.at
    for end in ("a", "b") if name in ("coupler", "gear") else ():
        values[end] = joint_name(values[end])
    return kind("constraints", name), values


def _is_gear(c: Constraint) -> bool:
    """Whether its ratio is still that of its radii: else it is written as a coupler."""
    ratio, offset = c.parameters["ratio"], c.parameters["offset"]
    return not offset and ratio in (drawn := gear_ratio(c.parameters["radii"], True), -drawn)


def _shape(shape: Any) -> tuple[Kind, dict[str, Any]]:
    return kind("shapes", "shape"), dict(vars(shape))


def _contact(contact: Any) -> tuple[Kind, dict[str, Any]]:
    return kind("contacts", "contact"), {"a": contact.a, "b": contact.b, **contact.parameters}


def _beside(path: Any, folder: Path | None) -> str:
    """The name of a mesh's file in the folder of the model file."""
    if folder is None:
        return str(path)
    file = Path(path).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise InputError(f"the mesh {path} is not in the folder of the model file; copy it there")
    return file.relative_to(folder.resolve()).as_posix()


def _visual(visual: Any, folder: Path | None) -> dict[str, Any]:
    values = {**vars(visual), "type": visual.kind}
    if visual.kind == "mesh" and visual.file is None:
        raise InputError("a mesh that came with a run has no file; give one with m.visual, or leave the look out")
    if visual.file is not None and folder is not None:
        values["file"] = _beside(visual.file, folder)
    defaults = {"position": (0.0, 0.0, 0.0), "scale": 1.0}
    return {
        name: of.write(values[name]) for name, (of, _) in VISUAL.items()
        if values.get(name) is not None and not (name in defaults and _same(values[name], defaults[name]))
    }  # fmt: skip


# ---- YAML ----------------------------------------------------------------------------------------------------------


def to_yaml(data: dict[str, Any]) -> str:
    """Readable YAML: one element a line where it fits."""
    lines: list[str] = []
    for name, value in data.items():
        if lines and isinstance(value, dict):
            lines.append("")
        lines += _block(name, value, 0)
    return "\n".join(lines) + "\n"


def _block(name: str, value: Any, depth: int) -> list[str]:
    indent = "  " * depth
    flat = _flow(value)
    line = f"{indent}{_scalar(str(name))}: {flat}"
    if len(line) <= WIDTH and not (depth == 0 and isinstance(value, dict)):
        return [line]
    if isinstance(value, dict) and value:
        return [
            f"{indent}{_scalar(str(name))}:",
            *(line for key, part in value.items() for line in _block(key, part, depth + 1)),
        ]
    if isinstance(value, list) and value:
        return [
            f"{indent}{_scalar(str(name))}:",
            *(line for part in value for line in _wrapped(_flow(part), indent + "  - ")),
        ]
    return [line]


def _wrapped(text: str, lead: str) -> list[str]:
    """A flow text broken at commas: YAML goes on in lines that are indented deeper. Texts in quotes are not broken."""
    if len(lead) + len(text) <= 4 * WIDTH or '"' in text:
        return [lead + text]
    lines, line = [], lead
    for part in re.split(r"(?<=, )", text):
        if len(line) + len(part) > WIDTH and line.strip("- "):
            lines.append(line.rstrip())
            line = " " * (len(lead) + 2)
        line += part
    return [*lines, line.rstrip()]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(key))}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_flow(part) for part in value) + "]"
    return _scalar(value)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]*(?: [A-Za-z0-9_.@-]+)*\Z")
_TAKEN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise InputError(f"{value!r} cannot be written to a file; correct it first (m.check() tells)")
        if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE and str(value) != "-0.0":
            return repr(int(value))
        return repr(value)
    if _PLAIN.match(value) and value.lower() not in _TAKEN:
        return str(value)
    escaped = "".join(
        c if c.isprintable() and c not in '"\\' else {'"': '\\"', "\\": "\\\\", "\n": "\\n"}.get(c, f"\\U{ord(c):08x}")
        for c in value
    )
    return f'"{escaped}"'


def portable(model: Model) -> str:
    """The model as text that needs no other file, for the results of its runs: functions that are no expressions are
    written as zero, meshes are left out."""
    return to_yaml(document(model, strict=False))


def save(model: Model, path: str | os.PathLike[str]) -> Path:
    """Write a model file; it appears under its name only when it is whole."""
    target = Path(path)
    text = to_yaml(document(model, target.parent))
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8")
    return target
