"""What the schema says, for editors (JSON Schema) and for people (the reference page)."""

from __future__ import annotations

from typing import Any

from madi.schema.grammar import CONSTANTS, FUNCTIONS
from madi.schema.kinds import ALONE, DRIVE, GROUPS, RUN, TOP, VERSION, VISUAL, Entries, Kind, kind
from madi.schema.parts import ROADS
from madi.schema.units import UNITS


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of model files: editors complete and check with it while one types."""
    number = {"type": ["number", "string"]}
    groups = {
        group: {"type": ["object", "null"], "description": TOP[group],
                "additionalProperties": {"anyOf": [_json_kind(kind(group, name)) for name in kinds]}}
        for group, kinds in GROUPS.items()
    }  # fmt: skip
    included = {
        "type": "object", "required": ["file"], "additionalProperties": False,
        "properties": {"file": {"type": "string"}, "prefix": {"type": "string"}, "parameters": {"type": "object"}},
    }  # fmt: skip
    file: dict[str, Any] = {"anyOf": [{"type": "string"}, included]}
    properties: dict[str, Any] = {
        "madi": {"const": VERSION, "description": TOP["madi"]},
        "model": {"type": ["string", "number"]},
        "description": {"type": "string"},
        "notes": {"type": "array", "items": {"type": "string"}},
        "gravity": {"type": "array", "items": number, "minItems": 3, "maxItems": 3},
        "parameters": {"type": "object", "additionalProperties": number},
        "tables": {"type": "object", "additionalProperties": {"type": "object"}},
        "include": {"anyOf": [file, {"type": "array", "items": file}]},
        "roads": {"type": "object", "additionalProperties": {"type": "array"}},
        **groups,
        "drives": {"type": "object", "additionalProperties": DRIVE.json()},
        "adjustable": {"type": "array", "items": {"type": "string"}},
        "run": {"type": "object", "properties": _json_entries(RUN), "additionalProperties": False},
    }
    for name, told in TOP.items():
        properties[name].setdefault("description", told)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "madi model file", "type": "object",
        "properties": properties, "additionalProperties": False,
    }  # fmt: skip


def _json_entries(entries: Entries) -> dict[str, Any]:
    return {
        name: {**of.json(), "description": f"{of.words}{f': {told}' if told else ''}"}
        for name, (of, told) in entries.items()
    }


def _json_kind(what: Kind) -> dict[str, Any]:
    properties: dict[str, Any] = {"type": {"const": what.name}, **_json_entries(what.entries)}
    needed = [] if what.name == ALONE.get(what.group) else ["type"]
    if what.group == "bodies":
        visual = {"type": "object", "properties": _json_entries(VISUAL), "required": ["type"], "additionalProperties": False}
        properties["visuals"] = {"type": "array", "items": visual}
    return {
        "type": "object", "description": what.help, "properties": properties, "required": [*needed, *what.needed],
        "additionalProperties": False,
    }  # fmt: skip


def reference_page() -> str:
    """The reference of model files in Markdown."""
    lines = ["# Model files: reference", "", "Made from the schema by `madi schema --reference`; do not edit.", ""]
    lines += [
        "| part of the file | what it is |",
        "|---|---|",
        *(f"| `{name}` | {told} |" for name, told in TOP.items()),
        "",
    ]
    lines += [
        "## Numbers and expressions",
        "",
        'Wherever a number stands, an expression in quotes may stand: `"2 * L + 3 mm"`. Angles are rad, all else SI; units:',
        ", ".join(f"`{name}`" for name in UNITS) + "; products and quotients of them (`lbf s/in`, `kg mm^2`, `N/(m s)`).",
        "A number without unit fits anything; where units are given they must fit.",
        "",
        "Operators `+ - * / ** < <= > >= == != and or not`; functions " + ", ".join(f"`{name}`" for name in FUNCTIONS) + ";",
        "constants " + ", ".join(f"`{name}`" for name in CONSTANTS) + '. Parts can be named: `"s = t / 2; s - sin(s)"`.',
        "In drives and forces `t` is time; in forces `q(NAME)`, `v(NAME)` are coordinates and velocities.",
        "",
        "Roads are lists of " + ", ".join(f"`{name}: {{{', '.join(entries)}}}`" for name, entries in ROADS.items()) + ".",
        "",
    ]
    for group, kinds in GROUPS.items():
        lines += [f"## {group}", ""]
        for name in kinds:
            lines += _page_kind(kind(group, name))
    lines += ["## Looks of a body (`visuals`)", "", *_page_entries(VISUAL, ("type",), {})]
    lines += ["## run", "", "Options of `madi run` and `m.simulate()`; the command line's go before them.", ""]
    lines += _page_entries(RUN, (), {})
    return "\n".join(lines).rstrip() + "\n"


def _page_kind(what: Kind) -> list[str]:
    return [f"### {what.name}", "", what.help, "", *_page_entries(what.entries, what.needed, what.defaults)]


def _page_entries(entries: Entries, needed: tuple[str, ...], defaults: dict[str, Any]) -> list[str]:
    rows = ["| entry | value | default | |", "|---|---|---|---|"]
    for name, (of, told) in entries.items():
        default = defaults.get(name)
        shown = "must be given" if name in needed else "" if default is None else f"`{_shown(default)}`"
        rows.append(f"| `{name}` | {of.words.replace('|', '/')} | {shown} | {told} |")
    return [*rows, ""]


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return str(list(default)) if isinstance(default, tuple) else str(default)
