"""Small HTML for notebooks: headings, remarks, tables. All text is escaped: names are the user's, or a stranger's file's."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

MOST_ROWS = 30  # of a table; what is longer is told, not shown
LEFT, RIGHT = ' style="text-align:left;vertical-align:top"', ' style="text-align:right;vertical-align:top"'


def written(value: Any) -> str:
    """A number as people read it, other things as they print; None is nothing."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # no -0
    return str(value)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> str:
    """A table, numbers to the right; of a long one the first rows and how many more there are."""
    listed = list(rows)
    if not listed:
        return ""
    sides = [RIGHT if _is_number(value) else LEFT for value in listed[0]]
    head = "".join(f"<th{side}>{html.escape(one)}</th>" for one, side in zip(heads, sides, strict=True))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in listed[:most])
    left = len(listed) - most
    more = f'<tr><td colspan="{len(heads)}"{LEFT}>and {left} more</td></tr>' if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    return f"<td{RIGHT if _is_number(value) else LEFT}>{html.escape(written(value))}</td>"


def heading(name: str, *facts: str) -> str:
    """What it is, in bold, and what is to be said of it."""
    told = f": {html.escape(', '.join(facts))}" if facts else ""
    return f"<div><b>{html.escape(name)}</b>{told}</div>"


def remark(text: str) -> str:
    """A line of text, if there is any."""
    return f"<div>{html.escape(text)}</div>" if text else ""


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a row, of many the first ones."""
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def whole(*parts: str) -> str:
    """All of it as one block."""
    return f"<div>{''.join(parts)}</div>"
