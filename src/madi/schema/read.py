"""From a model file to a Model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from madi.errors import FileError, InputError, SeveralErrors, a_number, closest
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.model.elements import Visual
from madi.model.model import Model, beam_axes
from madi.schema.document import Node, parse_document, read_document
from madi.schema.expression import WILD, Functions, Scope, fits
from madi.schema.fields import Context, Function, Number, Table, Text, Vector, fields, inside
from madi.schema.grammar import RESERVED
from madi.schema.kinds import ALONE, DRIVE, GROUPS, MOVED, RUN, TOP, VERSION, VISUAL, kind
from madi.schema.parts import RoadType
from madi.signals.table import table

DEEPEST = 8  # files within files
MOST_FILES = 100
TOLD = 20  # mistakes that are listed
SINGULAR = {"bodies": "body", "joints": "joint", "constraints": "constraint", "forces": "force",
            "shapes": "shape", "contacts": "contact"}  # fmt: skip


def load(path: str | Path, /, **parameters: Any) -> Model:
    """Read a model file (YAML). Errors (madi.FileError) name file, line, path in the document and the cure.

    `parameters`: values in place of those in the file, numbers or texts with units: madi.load("arm.yaml", L="0.6 m").
    """
    if not isinstance(path, str | Path):
        raise InputError(f"load: give a path, not {type(path).__name__}")
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{file}: is a folder; name a file in it")
    if not file.exists():
        raise InputError(f"there is no file {str(file)!r}")
    return _Reader(file.parent).model(read_document(file), file.stem, [file.resolve()], parameters)


def loads(text: str, name: str = "text", folder: Path | None = None, parameters: Mapping[str, Any] | None = None) -> Model:
    """Read a model from text; files it names are taken from `folder`, if one is given."""
    return _Reader(folder).model(parse_document(text, name), Path(name).stem, [], parameters or {})


@dataclass
class _Reader:
    folder: Path | None
    files: int = 0
    errors: list[FileError] = field(default_factory=list)
    references: list[tuple[str, str, Node]] = field(default_factory=list)  # group, name, where it is asked for
    drawn: dict[tuple[str, str], Any] = field(default_factory=dict)  # elements by group and name

    def model(self, top: Node, stem: str, chain: list[Path], parameters: Mapping[str, Any]) -> Model:
        """The model of a document."""
        entries = self._entries(top)
        name = Text().read(entries["model"], Context(Scope({}, {}, {}))) if "model" in entries else stem
        model = Model(name)
        context = self._take(model, top, Scope({}, {}, {}), self._asked(entries, parameters), "", chain)
        if "description" in entries:
            model.description = Text().read(entries["description"], context)
        if "notes" in entries:
            model.notes = [Text().read(part, context) for part in entries["notes"].parts("notes")]
        if "gravity" in entries:
            model.gravity = Vector("m/s2").read(entries["gravity"], context)
        if "run" in entries:
            refuse_moved(entries["run"])
            model.run = fields(entries["run"], {name: entry[0] for name, entry in RUN.items()}, context)
        self._tell()
        self._check_references(model)
        return model

    def _asked(self, entries: dict[str, Node], parameters: Mapping[str, Any]) -> dict[str, tuple[float, Any]]:
        """Parameters given in the call."""
        known = list(entries["parameters"].entries("parameters")) if "parameters" in entries else []
        found: dict[str, tuple[float, Any]] = {}
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"the file has no parameter {name!r}; it has: {', '.join(known) or 'none'}")
            found[name] = Scope({}, {}, {}).quantity(value) if isinstance(value, str) else (a_number(value, name), None)
        return found

    def _entries(self, top: Node) -> dict[str, Node]:
        entries = top.entries("a model file's parts")
        if not entries:
            raise top.error("the file is empty; `madi new four-bar` writes an example")
        for name, part in entries.items():
            if name not in TOP:
                near = closest(name, TOP, 1)
                cure = f"did you mean {near[0]}?" if near else f"there are: {', '.join(TOP)}"
                raise part.error(f"there is no part {name!r} of a model file; {cure}")
        if "madi" in entries and (entries["madi"].kind != "number" or float(entries["madi"].value) != VERSION):
            raise entries["madi"].error(f"this madi reads format {VERSION}, not {entries['madi'].tell()}")
        return entries

    # ---- one file -----------------------------------------------------------------------------------------------------

    def _take(
        self, model: Model, top: Node, outer: Scope, given: dict[str, tuple[float, Any]], prefix: str, chain: list[Path],
        here: Path | None = None,
    ) -> Context:  # fmt: skip
        """Add a file's elements to the model; `given`: parameters that an include sets."""
        entries = self._entries(top)
        scope = Scope(dict(outer.values), dict(outer.dimensions), dict(outer.tables))
        context = Context(scope, self.folder, here or self.folder, dict(), self._renamer(entries, prefix))
        self._parameters(entries, scope, given)
        self._tables(entries, context)
        for part in self._listed(entries.get("include")):
            self._include(model, part, context, chain)
        for name, part in entries["roads"].entries("roads").items() if "roads" in entries else ():
            context.roads[name] = RoadType().read(part, context)
        for group in GROUPS:
            for name, part in entries[group].entries(group).items() if group in entries else ():
                self._collected(self._element, model, group, prefix + name, part, context)
        for name, part in entries["drives"].entries("drives").items() if "drives" in entries else ():
            self._collected(self._drive, model, context.rename("joints", name), part, context)
        for part in entries["adjustable"].parts("adjustable") if "adjustable" in entries else ():
            word = Text().read(part, context)
            own = any(word.split(".")[0] in (entries[group].entries(group) if group in entries else ()) for group in GROUPS)
            model.adjustable(prefix + word if own else word)
        return context

    def _collected(self, read: Callable[..., None], *given: Any) -> None:
        """One element that is wrong does not hide the others."""
        try:
            read(*given)
        except SeveralErrors as several:
            self.errors += several.errors
        except FileError as error:
            self.errors.append(error)

    def _listed(self, node: Node | None) -> list[Node]:
        if node is None or node.kind == "nothing":
            return []
        return node.value if isinstance(node.value, list) else [node]

    def _renamer(self, entries: dict[str, Node], prefix: str) -> Callable[[str, str], str]:
        """Names defined in this file get its prefix; others are those of the files around it."""
        own = {group: set(entries[group].entries(group)) if group in entries else set() for group in GROUPS}

        def rename(group: str, name: str) -> str:
            base = name.split("@" if group == "bodies" else ".")[0]
            mine = base in own[group] or (group == "joints" and (base in own["bodies"] or base in own["forces"]))
            return prefix + name if prefix and mine else name

        return rename

    def _parameters(self, entries: dict[str, Node], scope: Scope, given: dict[str, tuple[float, Any]]) -> None:
        listed = entries["parameters"].entries("parameters") if "parameters" in entries else {}
        for name, part in listed.items():
            if not name.isidentifier() or not name.isascii() or name in RESERVED:
                why = "has a meaning of its own (a unit, a function)" if name in RESERVED else "is no name"
                raise part.error(f"a parameter cannot be called {name!r}: it {why}; use letters, digits and _")
            try:
                value, dimension = self._quantity(part, scope)
                if name in given:  # a bare number is in the unit of the file's own
                    fits(f"{name} = {given[name][0]:g}", given[name][1], dimension)
                    value, dimension = given[name][0], given[name][1] or dimension
            except InputError as error:
                raise part.error(str(error)) from None
            scope.values[name], scope.dimensions[name] = value, dimension or WILD  # without a unit it may be anything

    def _quantity(self, part: Node, scope: Scope) -> tuple[float, Any]:
        if part.kind == "number":
            return Context(scope).number(part, None), None
        if part.kind != "text":
            raise part.error(f"a parameter is a number or an expression, not {part.tell()}")
        return scope.quantity(part.value)

    def _tables(self, entries: dict[str, Node], context: Context) -> None:
        for name, part in entries["tables"].entries("tables").items() if "tables" in entries else ():
            if not name.isidentifier() or not name.isascii() or name in RESERVED:
                raise part.error(f"a table cannot be called {name!r}; use letters, digits and _")
            read = fields(part, {"points": Table("any", "any"), "between": Text(("linear", "cubic"))}, context, ("points",))
            try:
                context.scope.tables[name] = table(read["points"], read.get("between", "cubic"))
            except InputError as error:
                raise part.error(str(error)) from None

    def _include(self, model: Model, node: Node, context: Context, chain: list[Path]) -> None:
        prefix, given = "", {}
        file = node
        if isinstance(node.value, dict):
            entries = node.entries("include")
            unknown = [name for name in entries if name not in ("file", "prefix", "parameters")]
            if unknown or "file" not in entries:
                raise node.error("include takes file, prefix, parameters" + (f", not {unknown[0]!r}" if unknown else ""))
            file = entries["file"]
            prefix = Text().read(entries["prefix"], context) if "prefix" in entries else ""
            if "parameters" in entries:
                for name, part in entries["parameters"].entries("parameters").items():
                    try:
                        given[name] = self._quantity(part, context.scope)
                    except InputError as error:
                        raise part.error(str(error)) from None
        path = context.file(file, "include")
        self.files += 1
        if path in chain:
            raise file.error(f"{file.value!r} includes itself")
        if len(chain) >= DEEPEST or self.files > MOST_FILES:
            raise file.error("files include each other too deeply, or too many are included")
        top = read_document(path, str((self.folder or Path()) / file.value))
        listed = self._entries(top).get("parameters")
        for name in given:
            if listed is None or name not in listed.entries("parameters"):
                raise node.error(f"{file.value!r} has no parameter {name!r} that could be set")
        inner = self._take(model, top, context.scope, given, prefix, [*chain, path], path.parent)
        context.roads |= {prefix + name: road for name, road in inner.roads.items()}

    # ---- elements -----------------------------------------------------------------------------------------------------

    def _element(self, model: Model, group: str, name: str, node: Node, context: Context) -> None:
        if not name.strip():
            raise node.error("the name is empty")
        entries = dict(node.entries(f"{group}.{name}"))
        if group == "bodies" and name == "ground":
            if set(entries) - {"visuals"}:
                raise node.error("the ground has nothing but visuals")
            model.ground.visuals += [_visual(part, context) for part in self._listed(entries.get("visuals"))]
            return
        if (group, name) in self.drawn:
            raise node.error(f"there is a {SINGULAR[group]} {name!r} already; give another name, or a prefix to the include")
        word = entries.pop("type", None)
        known = GROUPS[group]
        if word is None and group not in ALONE:
            raise node.error(f"type is missing; one of {', '.join(known)}")
        chosen = ALONE[group] if word is None else Text(tuple(known)).read(word, context)
        what = kind(group, chosen)
        visuals = entries.pop("visuals", None) if group == "bodies" else None
        inner = _noting(context, self.references, node)
        types = {**what.types, **self._on_joint(model, chosen, entries, context)}
        given = fields(Node(node.place, entries), types, inner, what.needed, ("visuals",) if group == "bodies" else ())
        if chosen == "beam" and "modes" in given:
            given["modes"] = _beam_shapes(given, node)
        try:
            element = self.drawn[group, name] = getattr(model, chosen)(name, **given)
        except InputError as error:
            raise node.error(str(error)) from None
        model.places[f"{SINGULAR[group]} {name!r}"] = f"{node.place.file}, line {node.place.line}"
        for part in self._listed(visuals):
            element.visuals.append(_visual(part, context))

    def _slides(self, model: Model, coordinate: str) -> bool | None:
        """Whether a coordinate is a length; None: it is not known."""
        joint = self.drawn.get(("joints", coordinate.split(".")[0]))
        if joint is None:
            return None
        kind = KINDS[joint.kind]
        names = [f"{joint.name}.{part}" if part else joint.name for part in kind.coordinates]
        return kind.units[names.index(coordinate)] == "m" if coordinate in names else None

    def _on_joint(self, model: Model, chosen: str, entries: dict[str, Node], context: Context) -> dict[str, Any]:
        """Types of a force on a joint's coordinate: forces on slides, torques on hinges."""
        units = FORCES[chosen].units if chosen in FORCES else ()
        if not units or "joint" not in entries:
            return {}
        if not isinstance(entries["joint"].value, str):
            return {}  # told when it is read
        slides = self._slides(model, context.rename("joints", entries["joint"].value))
        if slides is None:
            return {}
        what = Function if FORCES[chosen].signals else Number
        return {name: what(on_slide if slides else on_hinge) for name, on_hinge, on_slide in units}

    def _drive(self, model: Model, name: str, node: Node, context: Context) -> None:
        self.references.append(("joints", name, node))
        model.places[f"drive of {name!r}"] = f"{node.place.file}, line {node.place.line}"
        if node.kind == "text" and node.value == "locked":
            model.lock(name)
            return
        slides = self._slides(model, name)
        value = (DRIVE if slides is None else Function("m" if slides else "rad")).read(node, context)
        function = value if isinstance(value, Functions) else Functions([value], single=True)
        if function.of_state:
            raise node.error("a drive depends on t alone; q() and v() are for forces")
        model.drive(name, function)

    def _check_references(self, model: Model) -> None:
        bodies = {"ground", *(body.name for body in model.bodies)}
        joints = {joint.name for joint in model.joints}
        joints |= {force.name for force in model.forces if FORCES[force.kind].states}  # v(name): a first-order state
        names = {"bodies": sorted(bodies), "joints": sorted(joints)}
        for group, name, node in self.references:
            if group == "shapes":  # may be a group's: the check tells
                continue
            known = bodies if group == "bodies" else joints | bodies
            base = name.split("@" if group == "bodies" else ".")[0]
            if base not in known and name not in known:
                near = closest(name, names[group], 1, 0.4) if len(self.errors) < TOLD else []
                cure = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names[group][:12]) or 'none'}"
                self.errors.append(node.error(f"there is no {SINGULAR[group]} {name!r}; {cure}"))
        self._tell()

    def _tell(self) -> None:
        """Raise what was found wrong, if anything was."""
        if self.errors:
            more = f"\n... and {len(self.errors) - TOLD} more" if len(self.errors) > TOLD else ""
            raise FileError("\n".join(map(str, self.errors[:TOLD])) + more)


def _noting(context: Context, references: list[tuple[str, str, Node]], node: Node) -> Context:
    """The same context, but names that are asked for are noted with their place."""

    def rename(group: str, name: str) -> str:
        found = context.rename(group, name)
        references.append((group, found, node))
        return found

    return Context(context.scope, context.folder, context.here, context.roads, rename)


def _beam_shapes(given: dict[str, Any], node: Node) -> dict[str, Any]:
    """Recipes of shapes, now that the length is known."""
    _, length = beam_axes(given["start"], given["end"], None)
    if not length > 0:
        raise node.error("the beam's start and end are one point")
    return {
        family: [shape for make in listed for shape in make(length)] if isinstance(listed, list) else listed
        for family, listed in given["modes"].items()
    }


def _visual(node: Node, context: Context) -> Visual:
    given = fields(node, {name: entry[0] for name, entry in VISUAL.items()}, context, ("type",))
    chosen = given.pop("type")
    if chosen == "mesh":
        if "file" not in given:
            raise node.error("a mesh needs a file: an STL or OBJ beside the model")
        given["file"] = str(inside(context.folder, node.value["file"], context.here))
    visual = Visual(chosen, **given)
    try:
        visual.check("visual")
    except InputError as error:
        raise node.error(str(error)) from None
    return visual


def refuse_moved(node: Node) -> None:
    """Entries of `run` as they were spelled once."""
    for name, part in node.entries(", ".join(RUN)).items():
        if name in MOVED:
            raise part.error(f"{name!r} is now an option of what it belongs to: {MOVED[name].replace('NAME', name)}")
