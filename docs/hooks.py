"""Formulas in the site as MathML: no script, no network. $...$ in a line, $$...$$ by itself; code is left alone."""

import re

from latex2mathml.converter import convert

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.S)


def _block(found):
    return f"\n\n{convert(found.group(1).strip(), display='block')}\n\n"


def on_page_markdown(markdown, **_):
    """Called by mkdocs for every page."""
    parts = _CODE.split(markdown)
    for k in range(0, len(parts), 2):
        text = re.sub(r"\$\$(.+?)\$\$", _block, parts[k], flags=re.S)
        parts[k] = re.sub(r"(?<![\\$])\$([^$\n]+?)\$", lambda found: convert(found.group(1)), text)
    return "".join(parts)
