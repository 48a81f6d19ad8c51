"""YAML as data with places: a tree of nodes that know their line. Nothing is constructed from tags, nothing is expanded.

Aliases, tags and double names are refused: the first two can make small files endless or ask for
objects, the last loses data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from madi.errors import FileError

LARGEST = 200_000_000  # bytes of a model file: finite element bodies have long arrays, measured data too
DEEPEST = 24
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True)
class Place:
    """Where in which file."""

    file: str
    line: int
    path: tuple[str, ...] = ()

    def error(self, told: str) -> FileError:
        """An error that names the place."""
        path = ".".join(self.path)
        return FileError(f"{self.file}, line {self.line}{f', {path}' if path else ''}: {told}")


@dataclass(frozen=True)
class Node:
    """A part of the document: `value` is text (of a scalar), a list of nodes, or a dict of nodes by name."""

    place: Place
    value: Any
    plain: bool = False  # a scalar without quotes: a number, true, null

    def error(self, told: str) -> FileError:
        """An error that names this part."""
        return self.place.error(told)

    @property
    def kind(self) -> str:
        """ "mapping", "list", "number", "flag", "nothing" or "text"."""
        if isinstance(self.value, dict):
            return "mapping"
        if isinstance(self.value, list):
            return "list"
        if self.plain and self.value.lower() in WORDS:
            return "nothing" if WORDS[self.value.lower()] is None else "flag"
        return "number" if self.plain and number(self.value) is not None else "text"

    def tell(self) -> str:
        """What it is, for messages."""
        return repr(self.value) if isinstance(self.value, str) else f"a {self.kind}"

    def entries(self, what: str) -> dict[str, Node]:
        """A mapping's parts by name."""
        if self.kind == "nothing":
            return {}
        if not isinstance(self.value, dict):
            raise self.error(f"{what} are written as a mapping, NAME: ..., not as {self.tell()}")
        return self.value

    def parts(self, what: str) -> list[Node]:
        """A list's parts."""
        if not isinstance(self.value, list):
            raise self.error(f"{what} is written as a list, [...], not as {self.tell()}")
        return self.value


def number(text: str) -> float | None:
    """A plain number, or None."""
    try:
        return None if "_" in text or not any(c.isdigit() for c in text) else float(text)
    except ValueError:
        return None


def read_document(path: Path, shown: str | None = None) -> Node:
    """The document in a file."""
    try:
        if path.stat().st_size > LARGEST:
            raise FileError(f"{path}: longer than {LARGEST} bytes; that is no model file")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is not text in UTF-8 (byte {error.start})") from None
    return parse_document(text, shown or str(path))


def parse_document(text: str, file: str = "text") -> Node:
    """The document in a text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        stream = yaml.parse(text, Loader=loader)
        events = (event for event in stream if not isinstance(event, yaml.StreamStartEvent | yaml.StreamEndEvent))
        start = next(events, None)
        if start is None:
            raise FileError(f"{file}: is empty; `madi new four-bar` writes an example")
        node = _compose(next(events), events, file, (), 0)
        next(events)  # the end of the document
        if (more := next(events, None)) is not None:
            raise Place(file, more.start_mark.line + 1).error("a second document begins (---); write one model in one file")
        return node
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # ValueError: characters that YAML does not know
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        told = " ".join(str(part) for part in (getattr(error, "context", None), getattr(error, "problem", None)) if part)
        place = Place(file, mark.line + 1 if mark else 1)
        line = text.splitlines()[mark.line] if mark and mark.line < len(text.splitlines()) else ""
        if "\t" in line:
            told = "there is a tab in the line; YAML is indented with spaces"
        elif "expected key" in told or "mapping values" in told or "block" in told:
            told += " (entries of one mapping begin in one column; text with a colon wants quotes)"
        raise place.error(f"is not YAML: {told or ' '.join(str(error).split())[:200]}") from None


def _compose(event: Any, events: Iterator[Any], file: str, path: tuple[str, ...], depth: int) -> Node:
    import yaml

    place = Place(file, event.start_mark.line + 1, path)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
        raise place.error("anchors (&name) and aliases (*name) are not read; use parameters:, or include:")
    if event.tag is not None and event.tag != "!":
        raise place.error(f"the tag {event.tag!r} is not read; write the value alone")
    if depth > DEEPEST:
        raise place.error("lists and mappings are nested too deeply")
    if isinstance(event, yaml.ScalarEvent):
        return Node(place, event.value, plain=event.implicit[0])
    if isinstance(event, yaml.SequenceStartEvent):
        parts: list[Node] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            parts.append(_compose(event, events, file, (*path, str(len(parts))), depth + 1))
        return Node(place, parts)
    entries: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        key = Place(file, event.start_mark.line + 1, path)
        if not isinstance(event, yaml.ScalarEvent) or event.anchor or (event.tag is not None and event.tag != "!"):
            raise key.error("a name is expected before the colon")
        if event.value in entries:
            raise key.error(f"{event.value!r} is given twice; the first is in line {entries[event.value].place.line}")
        entries[event.value] = _compose(next(events), events, file, (*path, event.value), depth + 1)
    return Node(place, entries)
