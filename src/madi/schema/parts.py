"""Entries of a model file that are parts of their own: roads, tires, sections and mode shapes of beams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.flexible import Section, Shape, modes, section
from madi.forces.road import Road, flat
from madi.forces.tir import Tir, judged, read_tir
from madi.schema.document import Node
from madi.schema.fields import Array, Context, Named, Number, Table, Text, Type, Vector, fields, plain
from madi.schema.text import shape_text

ROADS: dict[str, dict[str, Type]] = {
    "flat": {"level": Number("m"), "forward": Vector("1"), "up": Vector("1")},
    "half_round": {"at": Number("m"), "radius": Number("m")},
    "half_ellipse": {"at": Number("m"), "half_length": Number("m"), "height": Number("m")},
    "sine": {"amplitude": Number("m"), "wavelength": Number("m"), "start": Number("m"), "end": Number("m")},
    "polyline": {"points": Table("m", "m")},
    "line": {"points": Table("m", "m"), "shift": Number("m")},
    "two_sided": {"shift": Number("m")},
    "features": {"rows": Array("rows of 7 numbers", [2])},
}


class RoadType(Type):
    """A road: its name, or what is on it."""

    words = "a road's name, or a list of " + ", ".join(ROADS)

    def read(self, node: Node, context: Context) -> Road:
        """The road."""
        if isinstance(node.value, str):
            if node.value not in context.roads:
                known = ", ".join(context.roads) or "none"
                raise node.error(f"there is no road {node.value!r}; roads: has {known}")
            return context.roads[node.value]
        road = flat()
        for k, part in enumerate(node.parts(self.words)):
            road = self._step(road, k, part, context)
        return road

    def _step(self, road: Road, k: int, node: Node, context: Context) -> Road:
        entries = node.entries("a road's parts")
        if len(entries) != 1 or next(iter(entries)) not in ROADS:
            raise node.error(f"one of {', '.join(ROADS)} is expected, as {{half_round: {{at: 20 m, radius: 10 in}}}}")
        name, given = next(iter(entries.items()))
        if name == "flat" and k:
            raise node.error("flat comes first")
        try:
            values = fields(given, ROADS[name], context)
            if name == "flat":
                return flat(**values)
            if name == "features":
                return _features(road, values["rows"], given)
            if name == "line":
                return _line(road, values["points"], values.get("shift"))
            return getattr(road, name)(**values)  # type: ignore[no-any-return]
        except InputError as error:
            raise given.error(str(error)) from None
        except TypeError:
            missing = ", ".join(key for key in ROADS[name] if key not in given.entries(name))
            raise given.error(f"{name} also needs some of: {missing}") from None

    def write(self, value: Road) -> Any:
        """Level ground, the packed features and lines: exact, whatever they were drawn with."""
        base: dict[str, Any] = {}
        if value.level != 0.0:
            base["level"] = plain(value.level)
        if tuple(value.forward) != (1.0, 0.0, 0.0) or tuple(value.up) != (0.0, 0.0, 1.0):
            base |= {"forward": plain(list(value.forward)), "up": plain(list(value.up))}
        found: list[Any] = [{"flat": base}] if base else []
        if value.features:
            found.append({"features": {"rows": [plain(list(row)) for row in value.features]}})
        for line in value.lines:
            shift = {} if line.shift is None else {"shift": plain(line.shift)}
            found.append({"line": {"points": Table("m", "m").write(line.points), **shift}})
        return found

    def json(self) -> dict[str, Any]:
        """Text or an array."""
        return {"type": ["string", "array"]}


def _features(road: Road, rows: np.ndarray, node: Node) -> Road:
    """What another program of madi's wrote: kind, shifted, shift, four numbers."""
    if rows.shape[1] != 7 or not set(rows[:, 0]) <= {0.0, 1.0, 2.0} or not set(rows[:, 1]) <= {0.0, 1.0}:
        raise node.error("features are rows of 7 numbers: kind (0 round, 1 sine, 2 kink), shifted, shift, four more")
    bad = ((rows[:, 0] == 0) & (rows[:, 4] <= 0)) | ((rows[:, 0] == 1) & (rows[:, 6] <= 0))
    if np.any(bad):
        raise node.error("a feature's length is not > 0")
    kinks = rows[:, 0] == 2
    road = road._with(*(tuple([int(row[0]), int(row[1]), *map(float, row[2:])]) for row in rows[~kinks]))
    for shifted, shift in dict.fromkeys((bool(row[1]), float(row[2])) for row in rows[kinks]):
        own = rows[kinks & (rows[:, 1] == shifted) & (rows[:, 2] == shift)]
        road = _line(road, _of_kinks(own[:, 3], own[:, 4]), shift if shifted else None)
    return road


def _of_kinks(way: np.ndarray, change: np.ndarray) -> np.ndarray:
    """The line that changes its slope so at these places (as files had it once), level before them."""
    places, same = np.unique(way, return_inverse=True)
    slopes = np.cumsum(np.bincount(same, change))[:-1]
    return np.column_stack([places, np.concatenate([[0.0], np.cumsum(slopes * np.diff(places))])])


def _line(road: Road, points: Any, shift: float | None) -> Road:
    """A road with one more polyline, whose heights are over its first point's."""
    added = replace(road.polyline(points), level=road.level)
    return replace(added, lines=(*road.lines, replace(added.lines[-1], shift=shift, averaged={})))


class TirType(Type):
    """A tire property file, or its numbers."""

    words = "a .tir file's name, or {name, version, side, values}"

    def read(self, node: Node, context: Context) -> Tir:
        """The tire."""
        if isinstance(node.value, dict):
            entries = {"name": Text(), "version": Number(), "side": Text(("left", "right", "")), "values": Named(Number())}
            given = fields(node, entries, context, ("name", "version", "values"))
            try:
                return judged(given["name"], given["version"], given["values"], given.get("side", ""))
            except InputError as error:
                raise node.error(str(error)) from None
        try:
            return read_tir(context.file(node, "tir"))
        except InputError as error:
            raise node.error(str(error)) from None

    def write(self, value: Tir) -> Any:
        """Its numbers."""
        side = {"side": value.side} if value.side else {}
        return {
            "name": value.name,
            "version": value.version,
            **side,
            "values": {k: plain(v) for k, v in value.values.items()},
        }

    def json(self) -> dict[str, Any]:
        """Text or an object."""
        return {"type": ["string", "object"]}


SECTIONS: dict[str, dict[str, Type]] = {
    "tube": {"outer": Number("m"), "inner": Number("m")}, "round_bar": {"diameter": Number("m")},
    "rectangle": {"width": Number("m"), "height": Number("m")},
}  # fmt: skip
SECTION = {"area": Number("m2"), "iz": Number("m4"), "iy": Number("m4"), "torsion": Number("m4")}


class SectionType(Type):
    """A beam's section."""

    words = "{tube: {outer, inner}}, {round_bar: {diameter}}, {rectangle: {width, height}} or {area, iz, iy, torsion}"

    def read(self, node: Node, context: Context) -> Section:
        """The section."""
        entries = node.entries("a section")
        name = next(iter(entries), "")
        if name in SECTIONS and len(entries) == 1:
            given = fields(entries[name], SECTIONS[name], context, tuple(SECTIONS[name]))
            try:
                return getattr(section, name)(**given)  # type: ignore[no-any-return]
            except InputError as error:
                raise node.error(str(error)) from None
        given = fields(node, SECTION, context, tuple(SECTION))
        if any(value <= 0 for value in given.values()):
            raise node.error("area and moments of a section must be > 0")
        return Section(**given)

    def write(self, value: Section) -> Any:
        """Its four numbers."""
        return {name: plain(getattr(value, name)) for name in SECTION}

    def json(self) -> dict[str, Any]:
        """An object."""
        return {"type": "object"}


SHAPES: dict[str, dict[str, Type]] = {
    **{name: {} for name in ("clamped_free", "clamped_pinned", "clamped_clamped", "clamped_loaded", "pinned_pinned",
                             "free_free", "clamped_rod", "loaded_rod")},
    "clamped_tip": {"mass_ratio": Number(), "inertia_ratio": Number()}, "polynomials": {"start": Number(whole=True)},
}  # fmt: skip


class ModesType(Type):
    """How a beam bends: families, each a number of shapes or a list of them."""

    words = "{y: 2, z: 2, twist: 1, axial: 1}; or lists of {shape: clamped_tip, count: 2, mass_ratio: 0.5} or of 'x**2'"

    def __init__(self) -> None:
        self.item = {"shape": Text(tuple(SHAPES)), "count": Number(whole=True), "number": Number(whole=True),
                     "length": Number("m"), "mass_ratio": Number(), "inertia_ratio": Number(),
                     "start": Number(whole=True)}  # fmt: skip

    def read(self, node: Node, context: Context) -> Any:
        """A dict of recipes; shapes are made when the length is known (kinds.beam)."""
        found: dict[str, Any] = {}
        for family, part in node.entries("modes").items():
            if not isinstance(part.value, list):
                found[family] = Number(whole=True).read(part, context)
                continue
            found[family] = [self._recipe(one, context) for one in part.value]
        return found

    def _recipe(self, node: Node, context: Context) -> Callable[[float], list[Shape]]:
        if isinstance(node.value, str):
            try:
                function = context.scope.function(node.value, None, "x")
            except InputError as error:
                raise node.error(str(error)) from None
            return lambda length: [_made(node, lambda: modes.user(function, length, node.value))]
        given = fields(node, self.item, context, ("shape",))
        name, number, own = given.pop("shape"), given.pop("number", None), given.pop("length", None)
        if unknown := [key for key in given if key not in ("count", *SHAPES[name])]:
            raise node.error(f"{name} has no {unknown[0]}; it takes {', '.join(('count', *SHAPES[name]))}")

        def make(length: float) -> list[Shape]:
            whole = _made(node, lambda: getattr(modes, name)(own or length, **given))
            if number is not None and not 1 <= number <= len(whole):
                raise node.error(f"number: {number}; there are {len(whole)}")
            return whole if number is None else [whole[number - 1]]

        return make

    def write(self, value: Any) -> Any:
        """Numbers, or recipes."""
        return dict(value)  # as `recipes` made it

    def json(self) -> dict[str, Any]:
        """An object."""
        return {"type": "object", "propertyNames": {"enum": ["y", "z", "twist", "axial"]}}


def _made(node: Node, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except InputError as error:
        raise node.error(str(error)) from None
    except TypeError:
        raise node.error("the shape needs more: clamped_tip takes mass_ratio") from None


def recipes(given: Any, length: float) -> Any:
    """A family's shapes, of a beam of that length, as a file has them: how many, or recipes."""
    if isinstance(given, int | np.integer):
        return int(given)
    found: list[Any] = []
    listed = [given] if isinstance(given, Shape) else list(given)
    k = 0
    while k < len(listed):
        recipe = listed[k].recipe
        if callable(recipe):
            found.append(shape_text(recipe, f"shape {listed[k].name!r}"))
        elif recipe is None:
            raise InputError(f"shape {listed[k].name!r} was made by hand and cannot be written; use madi.flexible's shapes")
        else:
            name, number, options = recipe
            own = {} if listed[k].length == length else {"length": listed[k].length}
            whole = [one.recipe for one in listed[k : k + options["count"]]]
            if whole == [(name, n, options) for n in range(1, options["count"] + 1)]:
                found.append({"shape": name, **options, **own})
                k += options["count"]
                continue
            found.append({"shape": name, "number": number, **options, **own})
        k += 1
    return found
