"""XML as data with lines. A DOCTYPE is refused: entities can make small files endless, or fetch what they should not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from madi.errors import FileError

BEYOND = 1e30  # no number of a mechanism is larger; their squares and cubes must be numbers too
LARGEST, MOST_ELEMENTS, DEEPEST = 20_000_000, 200_000, 200  # bytes, elements, elements within elements


@dataclass
class Element:
    """A tag with its attributes, children, and place."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)

    def error(self, told: str) -> FileError:
        """An error that names this element."""
        name = self.attributes.get("name")
        return FileError(f"{self.file}, line {self.line}, <{self.tag}{f' name={name!r}' if name else ''}>: {told}")

    def all(self, *tags: str) -> Iterator[Element]:
        """Children with one of these tags."""
        return (child for child in self.children if child.tag in tags)

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next(self.all(tag), None)

    def get(self, name: str, default: str = "") -> str:
        """An attribute's text."""
        return self.attributes.get(name, default)

    def need(self, name: str) -> str:
        """An attribute that must be there."""
        if not self.attributes.get(name, "").strip():
            raise self.error(f"the attribute {name} is missing")
        return self.attributes[name].strip()

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number; without a default it must be there."""
        if name not in self.attributes and default is not None:
            return default
        return self.numbers(name, 1)[0]

    def numbers(self, name: str, count: int | None = None, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Finite numbers, so many."""
        if name not in self.attributes and default is not None:
            return default
        text = self.need(name)
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            raise self.error(f"{name}={text[:60]!r} are not numbers") from None
        if (count is not None and len(values) != count) or not all(abs(value) < BEYOND for value in values):
            raise self.error(f"{name}={text[:60]!r}: {'' if count is None else count} finite number(s) are expected")
        return values

    def vector(self, name: str, default: tuple[float, ...] = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Three numbers."""
        return np.array(self.numbers(name, 3, default))


def read_xml(path: Path) -> Element:
    """The root element of a file."""
    try:
        if path.stat().st_size > LARGEST:
            raise FileError(f"{path}: longer than {LARGEST} bytes")
        return parse_xml(path.read_bytes(), str(path))
    except OSError as error:
        raise FileError(f"{path}: cannot be read ({error.strerror})") from None


def parse_xml(text: bytes | str, file: str = "text") -> Element:
    """The root element of a text."""
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    stack: list[Element] = []
    roots: list[Element] = []
    count = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        made = Element(tag, attributes, file, parser.CurrentLineNumber)
        if count > MOST_ELEMENTS or len(stack) > DEEPEST:
            raise made.error("too many elements, or too many within each other")
        (stack[-1].children if stack else roots).append(made)
        stack.append(made)

    def doctype(*_: object) -> None:
        raise FileError(f"{file}, line {parser.CurrentLineNumber}: a DOCTYPE is not read; delete it")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FileError(f"{file}, line {error.lineno}: is not XML ({expat.errors.messages[error.code]})") from None
    except (ValueError, LookupError) as error:  # encodings that nobody knows
        raise FileError(f"{file}: cannot be read as XML ({error})") from None
    return roots[0]
