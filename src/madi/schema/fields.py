"""Types of the entries of a model file. Each reads a node, writes a value back, and describes itself."""

from __future__ import annotations

import base64
import csv
import dataclasses
import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import FileError, InputError, SeveralErrors, closest, finite_numbers
from madi.files import read_small
from madi.forces.road import Road
from madi.joints import KINDS as JOINTS
from madi.model.elements import Body, Joint
from madi.schema.document import Node
from madi.schema.expression import Expression, Functions, Scope
from madi.schema.units import Dimension, dimension_of


@dataclass
class Context:
    """What a field needs of the file it stands in."""

    scope: Scope
    folder: Path | None = None  # files are taken from here and below, and from nowhere else
    here: Path | None = None  # the folder of this very file, which names of files start from
    roads: dict[str, Road] = field(default_factory=dict)
    rename: Callable[[str, str], str] = lambda group, name: name  # names of an included file get its prefix

    def file(self, node: Node, what: str) -> Path:
        """A file beside the model's."""
        if node.kind != "text":
            raise node.error(f"{what} is a file's name, not {node.tell()}")
        return inside(self.folder, node, self.here)

    def number(self, node: Node, dimension: Dimension | None, unit: str = "") -> float:
        """A number, or an expression with units."""
        if node.kind == "number":
            value = float(node.value)
            if not math.isfinite(value):
                raise node.error(f"{node.value} is not a finite number")
            return value
        if node.kind != "text":
            unit = f' such as "12 {unit}"' if unit and unit != "1" else ""
            raise node.error(f"a number is expected (or an expression{unit}), not {node.tell()}")
        try:
            return self.scope.number(node.value, dimension)
        except InputError as error:
            raise node.error(str(error)) from None


def inside(folder: Path | None, node: Node, here: Path | None = None) -> Path:
    """A path within the folder; nothing outside is touched."""
    if folder is None:
        raise node.error("a model that is not in a file cannot name other files")
    try:
        path = ((here or folder) / node.value).resolve()
        if Path(node.value).is_absolute() or not path.is_relative_to(folder.resolve()):
            raise node.error(f"{node.value!r} is outside the model's folder; put the file beside the model")
        if not path.is_file():
            raise node.error(f"there is no file {node.value!r} in the model's folder")
    except (OSError, ValueError) as error:  # names that no file can have
        raise node.error(f"{node.value!r} cannot be a file's name ({error})") from None
    return path


AXES_OF_LOADS = ("ground", "parent", "child", "joint")


class Type(ABC):
    """One kind of entry."""

    words = ""

    @abstractmethod
    def read(self, node: Node, context: Context) -> Any:
        """The value, or a FileError at the node."""

    @abstractmethod
    def write(self, value: Any) -> Any:
        """Plain data: numbers, text, lists, dicts."""

    def json(self) -> dict[str, Any]:
        """Its JSON Schema."""
        return {}


def plain(value: Any) -> Any:
    """Numbers of NumPy as Python's, arrays as lists."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    raise InputError(f"{value!r} cannot be written to a file")


NUMBER: dict[str, Any] = {"type": ["number", "string"]}


class Number(Type):
    """A number with a unit."""

    def __init__(self, unit: str = "1", whole: bool = False):
        self.unit, self.whole = unit, whole
        self.dimension = None if unit == "any" else dimension_of(unit)
        self.words = "a whole number" if whole else "a number" if unit in ("1", "any") else f"a number, {unit}"

    def read(self, node: Node, context: Context) -> Any:
        """A number in SI units."""
        value = context.number(node, self.dimension, self.unit)
        if self.whole and value != round(value):
            raise node.error(f"{node.value}: a whole number is expected")
        return int(value) if self.whole else value

    def write(self, value: Any) -> Any:
        """As it is."""
        return float(value) if isinstance(value, bool | np.bool_) else plain(value)

    def json(self) -> dict[str, Any]:
        """A number, or text with a unit."""
        return dict(NUMBER)


class Vector(Type):
    """So many numbers, each with its unit."""

    def __init__(self, unit: str | Sequence[str] = "m", count: int | None = 3):
        self.units = [unit] * (count or 1) if isinstance(unit, str) else list(unit)
        self.count = count if isinstance(unit, str) else len(self.units)
        self.dimensions = [None if one == "any" else dimension_of(one) for one in self.units]
        told = self.units[0] if len(set(self.units)) == 1 else ", ".join(self.units)
        self.words = f"{'some' if self.count is None else self.count} numbers" + ("" if told == "1" else f", {told}")

    def read(self, node: Node, context: Context) -> Any:
        """A tuple of floats."""
        parts = node.parts(f"a list of {self.words}")
        if self.count is not None and len(parts) != self.count:
            raise node.error(f"{self.words} are expected, {len(parts)} are given")
        dimensions = self.dimensions * (len(parts) if self.count is None else 1)
        return tuple(context.number(part, of) for part, of in zip(parts, dimensions, strict=True))

    def write(self, value: Any) -> Any:
        """A list."""
        return plain(np.asarray(value).tolist() if isinstance(value, np.ndarray) else list(value))

    def json(self) -> dict[str, Any]:
        """An array."""
        size = {} if self.count is None else {"minItems": self.count, "maxItems": self.count}
        return {"type": "array", "items": NUMBER, **size}


class Points(Type):
    """Two points."""

    words = "two points, each of 3 numbers, m"

    def read(self, node: Node, context: Context) -> Any:
        """A tuple of two tuples."""
        parts = node.parts("a list of two points")
        if len(parts) != 2:
            raise node.error(f"two points are expected, {len(parts)} given: [[x, y, z], [x, y, z]]")
        return tuple(Vector().read(part, context) for part in parts)

    def write(self, value: Any) -> Any:
        """Lists."""
        return [Vector().write(point) for point in value]

    def json(self) -> dict[str, Any]:
        """Two arrays."""
        return {"type": "array", "items": Vector().json(), "minItems": 2, "maxItems": 2}


class Array(Type):
    """Nested lists of plain numbers, or a CSV file of them (rows of a matrix)."""

    def __init__(self, words: str, depths: Sequence[int]):
        self.words, self.depths = words, depths

    def read(self, node: Node, context: Context) -> Any:
        """An array."""
        if isinstance(node.value, dict):
            return read_csv(node, context)
        found = self._nested(node, context)
        if np.ndim(found) not in self.depths or finite_numbers(found) is None:
            raise node.error(f"{self.words} is expected: finite numbers in lists of equal length")
        return np.array(found, dtype=float)

    def _nested(self, node: Node, context: Context) -> Any:
        if not isinstance(node.value, list):
            return context.number(node, None)
        found = [self._nested(part, context) for part in node.value]
        if len({np.shape(part) for part in found}) > 1:
            raise node.error(f"{self.words} is expected: lists of equal length")
        return found

    def write(self, value: Any) -> Any:
        """Nested lists."""
        return plain(np.asarray(value))

    def json(self) -> dict[str, Any]:
        """Arrays, or a file."""
        return {"type": ["array", "number", "string", "object"]}


class Flag(Type):
    """true or false."""

    words = "true or false"

    def read(self, node: Node, context: Context) -> bool:
        """A bool."""
        if node.kind != "flag":
            raise node.error(f"true or false is expected, not {node.tell()}")
        return bool(node.value.lower() == "true")

    def write(self, value: Any) -> Any:
        """As it is."""
        return bool(value)

    def json(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}


class Text(Type):
    """Words; `choices` where only some are known."""

    def __init__(self, choices: Sequence[str] = ()):
        self.choices = tuple(choices)
        self.words = "text" if not choices else "one of " + ", ".join(choices)

    def read(self, node: Node, context: Context) -> str:
        """The text."""
        if not isinstance(node.value, str) or node.kind in ("nothing", "flag"):
            raise node.error(f"{self.words} is expected, not {node.tell()}")
        if self.choices and node.value not in self.choices:
            raise node.error(f"{node.value!r}: choose one of {', '.join(self.choices)}")
        return node.value

    def write(self, value: Any) -> Any:
        """As it is."""
        return str(value)

    def json(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string", **({"enum": list(self.choices)} if self.choices else {})}


class Reference(Type):
    """The name of an element: a body, or a joint (coordinate)."""

    def __init__(self, group: str):
        self.group = group
        words = {"bodies": "a body's name", "shapes": "a shape's name, or a group's"}
        self.words = words.get(group, "a joint's name, or NAME.coordinate")

    def read(self, node: Node, context: Context) -> str:
        """The name."""
        if not isinstance(node.value, str) or not node.value:
            raise node.error(f"{self.words} is expected, not {node.tell()}")
        return context.rename(self.group, node.value)

    def write(self, value: Any) -> Any:
        """The name of the element, or the name itself."""
        return value.name if isinstance(value, Body | Joint) else str(value)

    def json(self) -> dict[str, Any]:
        """A string (names may look like numbers)."""
        return {"type": ["string", "number"]}


class MeshFile(Type):
    """A mesh beside the model."""

    words = "an STL or OBJ file beside the model"

    def read(self, node: Node, context: Context) -> str:
        """Its path."""
        return str(inside(context.folder, node, context.here))

    def write(self, value: Any) -> Any:
        """Its name (write.py knows the folder)."""
        return str(value)

    def json(self) -> dict[str, Any]:
        """A string."""
        return {"type": "string"}


class List(Type):
    """A list of things of one type."""

    def __init__(self, of: Type):
        self.of, self.words = of, f"a list, each {of.words}"

    def read(self, node: Node, context: Context) -> list[Any]:
        """A list."""
        return [self.of.read(part, context) for part in node.parts(self.words)]

    def write(self, value: Any) -> Any:
        """A list."""
        return [self.of.write(part) for part in value]

    def json(self) -> dict[str, Any]:
        """An array."""
        return {"type": "array", "items": self.of.json()}


class Loads(Type):
    """Names of joints; or each with the axes in which its load is wanted."""

    words = f"a list of names, or NAME: {', '.join(AXES_OF_LOADS)}"

    def read(self, node: Node, context: Context) -> Any:
        """A list, or a dict."""
        if node.kind == "list":
            return List(Text()).read(node, context)
        return Named(Text(AXES_OF_LOADS)).read(node, context)

    def write(self, value: Any) -> Any:
        """As it is."""
        return dict(value) if isinstance(value, Mapping) else [str(name) for name in value]

    def json(self) -> dict[str, Any]:
        """Either."""
        return {"anyOf": [List(Text()).json(), {"type": "object", "additionalProperties": {"enum": list(AXES_OF_LOADS)}}]}


class Choice(Type):
    """A word of a registry, or {word: options}: methods and loop methods, whose options are fields of their classes."""

    def __init__(self, registry: Mapping[str, Any], units: Mapping[str, str]):
        """`units`: of options that are no plain numbers, by name."""
        self.registry, self.units = registry, units
        self.words = f"one of {', '.join(registry)}; or WORD: options"

    def options(self, word: str) -> dict[str, Type]:
        """Types of a word's options, by how they are annotated."""
        return {one.name: self._kind(one.name, str(one.type)) for one in dataclasses.fields(self.registry[word])}

    def _kind(self, name: str, annotation: str) -> Type:
        unit = self.units.get(name, "1")
        kinds: dict[str, Type] = {
            "int": Number(whole=True), "float": Number(unit), "str": Text(), "tuple": Vector(unit, 2),
        }  # fmt: skip
        return next(kind for word, kind in kinds.items() if annotation.startswith(word))

    def read(self, node: Node, context: Context) -> Any:
        """The word, or {word: options}."""
        if node.kind != "mapping":
            return Text(tuple(self.registry)).read(node, context)
        entries = node.entries(self.words)
        if len(entries) != 1:
            raise node.error(f"one word and its options are expected, not {len(entries)}")
        (word, part), *_ = entries.items()
        if word not in self.registry:
            raise part.error(f"{word!r}: choose one of {', '.join(self.registry)}")
        found = fields(part, self.options(word), context)
        try:
            self.registry[word](**found)
        except InputError as error:
            raise part.error(str(error)) from None
        return {word: found}

    def write(self, value: Any) -> Any:
        """The word where there is nothing else to say."""
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            (word, options), *_ = value.items()
            value = self.registry[word](**options)
        given = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        given = {one.name: given[one.name] for one in dataclasses.fields(value) if given[one.name] != one.default}
        return {value.name: {name: plain(option) for name, option in given.items()}} if given else value.name

    def json(self) -> dict[str, Any]:
        """Either."""
        each = {
            word: {"type": "object", "properties": {name: kind.json() for name, kind in self.options(word).items()},
                   "additionalProperties": False}
            for word in self.registry
        }  # fmt: skip
        alone = {"type": "object", "properties": each, "additionalProperties": False, "maxProperties": 1}
        return {"anyOf": [{"enum": list(self.registry)}, alone]}


class Named(Type):
    """A mapping of names to things of one type."""

    def __init__(self, of: Type):
        self.of, self.words = of, f"NAME: {of.words}"

    def read(self, node: Node, context: Context) -> dict[str, Any]:
        """A dict."""
        return {name: self.of.read(part, context) for name, part in node.entries(self.words).items()}

    def write(self, value: Any) -> Any:
        """A dict."""
        return {str(name): self.of.write(part) for name, part in value.items()}

    def json(self) -> dict[str, Any]:
        """An object."""
        return {"type": "object", "additionalProperties": self.of.json()}


class Rotation(Type):
    """How a body is turned in the drawing."""

    words = "a quaternion (w, x, y, z), a 3x3 matrix, or {axis: [x, y, z], angle: 30 deg}"

    def read(self, node: Node, context: Context) -> Any:
        """A quaternion or a matrix."""
        if isinstance(node.value, dict):
            given = fields(node, {"axis": Vector("1"), "angle": Number("rad")}, context, ("axis", "angle"))
            axis, half = np.array(given["axis"]), 0.5 * given["angle"]
            if not np.linalg.norm(axis) > 0:
                raise node.error("the axis is zero; give a direction such as [0, 0, 1]")
            return np.concatenate([[math.cos(half)], math.sin(half) * axis / np.linalg.norm(axis)])
        parts = node.parts(self.words)
        if len(parts) == 4:
            return np.array(Vector("1", 4).read(node, context))
        if len(parts) != 3:
            raise node.error(f"{self.words} is expected")
        return np.array([Vector("1").read(part, context) for part in parts])

    def write(self, value: Any) -> Any:
        """Lists."""
        return plain(np.asarray(value, dtype=float))

    def json(self) -> dict[str, Any]:
        """An array or an object."""
        return {"type": ["array", "object"]}


class Inertia(Type):
    """Three moments, or the matrix."""

    words = "[Ixx, Iyy, Izz], or the 3x3 matrix, kg m2"

    def read(self, node: Node, context: Context) -> Any:
        """A tuple, or an array."""
        parts = node.parts(self.words)
        if len(parts) == 3 and any(isinstance(part.value, list) for part in parts):
            return np.array([Vector("kg m2").read(part, context) for part in parts])
        return Vector("kg m2").read(node, context)

    def write(self, value: Any) -> Any:
        """Lists."""
        return plain(np.asarray(value))

    def json(self) -> dict[str, Any]:
        """An array."""
        return {"type": "array", "minItems": 3, "maxItems": 3}


class Table(Type):
    """Pairs of numbers, here or in a CSV file."""

    def __init__(self, x: str = "1", y: str = "1"):
        self.pair = Vector((x, y))
        pair = "[x, y]" if x == "any" else f"[{x}, {y}]"
        self.words = f"a list of pairs {pair}, or {{csv: FILE, columns: [0, 1]}}"

    def read(self, node: Node, context: Context) -> Any:
        """A list of pairs; of many, an array."""
        if isinstance(node.value, dict) and set(node.value) == {"packed"}:
            return unpacked(node.value["packed"])
        if isinstance(node.value, dict):
            table = read_csv(node, context)
            if table.shape[1] != 2:
                raise node.error(f"the file has {table.shape[1]} columns; choose two: columns: [0, 1]")
            return table if len(table) > LONG else [(row[0], row[1]) for row in table.tolist()]
        return [self.pair.read(part, context) for part in node.parts(self.words)]

    def write(self, value: Any) -> Any:
        """Lists; of many, text that holds the very numbers."""
        pairs = np.asarray(value, dtype=float).reshape(-1, 2)
        return {"packed": packed(pairs)} if len(pairs) > LONG else plain(pairs)

    def json(self) -> dict[str, Any]:
        """An array, or a file."""
        return {"type": ["array", "object"]}


LONG = 2000  # pairs beyond which nobody reads them in a file: they are packed


def packed(pairs: np.ndarray) -> str:
    """Numbers as text, exactly: little-endian doubles in base64 (with - and _), behind a letter."""
    return "f" + base64.urlsafe_b64encode(np.ascontiguousarray(pairs, dtype="<f8").tobytes()).decode().rstrip("=")


def unpacked(node: Node) -> np.ndarray:
    """The pairs again."""
    try:
        text = node.value[1:]
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return np.frombuffer(data, dtype="<f8").reshape(-1, 2).astype(float)
    except (TypeError, ValueError):
        raise node.error("it is not what madi packed; give a list of pairs, or {csv: FILE}") from None


CSV = {"csv": Text(), "columns": List(Text()), "skip": Number(whole=True)}
MOST_BYTES = 500_000_000  # of measured data in one file


def read_csv(node: Node, context: Context) -> np.ndarray:
    """Rows of numbers of {csv: FILE, columns: [by number from 0, or by name], skip: lines}."""
    given = fields(node, CSV, context, ("csv",))
    path = context.file(node.value["csv"], "csv")
    try:
        text = read_small(path, "table", MOST_BYTES)
    except InputError as error:
        raise node.error(str(error)) from None
    rows = [
        (k, row)
        for k, row in enumerate(csv.reader(io.StringIO(text, newline=None)), 1)
        if row and not row[0].lstrip().startswith("#")
    ]
    rows = rows[given.get("skip", 0) :]
    head: list[str] = []
    if rows and any(_float(cell) is None for cell in rows[0][1]):
        head, rows = [cell.strip() for cell in rows[0][1]], rows[1:]
    if not rows:
        raise node.error(f"{path.name}: has no rows of numbers")
    chosen = []
    for word in given.get("columns", range(len(rows[0][1]))):
        place = head.index(word) if word in head else int(word) if str(word).isdigit() else -1
        if not 0 <= place < len(rows[0][1]):
            raise node.error(f"{path.name}: there is no column {word!r}; there are: {', '.join(head) or len(rows[0][1])}")
        chosen.append(place)
    try:
        found = np.array([[row[place] for place in chosen] for _, row in rows], dtype=float)
        if np.all(np.isfinite(found)):
            return found
    except (ValueError, IndexError):
        pass
    for line, row in rows:  # the first that is wrong
        values = [_float(row[place]) if place < len(row) else None for place in chosen]
        if any(value is None or not math.isfinite(value) for value in values):
            raise FileError(f"{path}, line {line}: {','.join(row)[:60]!r} is not {len(chosen)} finite numbers")
    raise node.error(f"{path.name}: its rows are not numbers")


def _float(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


class Function(Type):
    """A number, or an expression of time (and the state); several for a vector."""

    def __init__(self, unit: str, count: int = 1, more: tuple[str, ...] = ()):
        """`more`: names it may use beside t and the state."""
        self.unit, self.count, self.more = unit, count, more
        self.dimension = None if unit == "any" else dimension_of(unit)
        of = ", ".join((*more, "t"))
        one = f"an expression of {of}{'' if unit == 'any' else f', {unit}'}; q(NAME), v(NAME) are coordinates and velocities"
        self.words = one if count == 1 else f"{count} numbers or expressions of t, {unit}; q(NAME), v(NAME) likewise"

    def read(self, node: Node, context: Context) -> Any:
        """Numbers, or Functions."""
        nodes = [node] if self.count == 1 else node.parts(f"a list of {self.count} numbers or expressions")
        if len(nodes) != self.count:
            raise node.error(f"{self.count} components are expected, {len(nodes)} are given")
        parts: list[Any] = []
        for part in nodes:
            if part.kind == "number":
                parts.append(context.number(part, self.dimension))
                continue
            if part.kind != "text":
                raise part.error(f"a number or an expression of t is expected, not {part.tell()}")
            try:
                found = context.scope.function(
                    part.value, self.dimension, rename=lambda name: context.rename("joints", name), more=self.more
                )
                constant = not any(found.state.values()) and not found.names & {"t", *self.more}
                hidden = found.names & set(self.more) & set(context.scope.values)
                if hidden:
                    name = min(hidden)
                    raise InputError(f"{name!r} is what the element measures, and a parameter of this file; rename that one")
                parts.append(context.number(part, self.dimension) if constant else found)
            except InputError as error:
                raise part.error(str(error)) from None
        if all(not isinstance(part, Expression) for part in parts):
            return parts[0] if self.count == 1 else tuple(parts)
        return Functions(parts, single=self.count == 1)

    def write(self, value: Any) -> Any:
        """Numbers and texts."""
        if isinstance(value, list):
            return value
        return plain(np.asarray(value).tolist() if isinstance(value, np.ndarray) else value)

    def json(self) -> dict[str, Any]:
        """Numbers or text."""
        return dict(NUMBER) if self.count == 1 else {"type": "array", "items": NUMBER, "minItems": 3, "maxItems": 3}


def fields(
    node: Node, known: Mapping[str, Type], context: Context, needed: Sequence[str] = (), others: Sequence[str] = ()
) -> dict[str, Any]:
    """The entries of a mapping by their types; unknown and missing ones are reported. `others`: read elsewhere, but
    known."""
    entries = node.entries(f"{', '.join(known)}" or "nothing")
    wrong: list[FileError] = []
    for name, part in entries.items():
        if name not in known:
            near = closest(name, [*known, *others], 1, 0.6)
            cure = f"did you mean {near[0]}?" if near else f"there are: {', '.join([*known, *others])}"
            wrong.append(part.error(f"there is no entry {name!r} here; {cure}"))
    missing = [name for name in needed if name not in entries]
    if missing:
        wrong.append(node.error(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"))
    found: dict[str, Any] = {}
    for name, part in entries.items():
        if name in known and (part.kind != "nothing" or name in needed):
            try:
                found[name] = known[name].read(part, context)
            except FileError as error:  # the other entries are looked at all the same
                wrong.append(error)
    if wrong:
        raise SeveralErrors(wrong)
    return found


def start_type(kind: str, what: str) -> Type:
    """Type of a joint's q0 ("q0") or v0 ("v0")."""
    joint = JOINTS[kind]
    listed = joint.units if what == "q0" else joint.rate_units
    return Number(listed[0]) if len(listed) == 1 else Vector(listed)
