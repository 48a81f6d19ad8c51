"""Draw docs/images/path.svg, the folders of src/madi and who imports whom: `python tools/path.py`, part of `make docs`.

Rows are levels: a folder stands below all it imports. An import that follows from others is not drawn (transitive
reduction), nor are those inside functions. The order of the folders is that of docs/architecture.md.
"""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE, PAGE, PICTURE = ROOT / "src" / "madi", ROOT / "docs" / "architecture.md", ROOT / "docs" / "images" / "path.svg"
WIDE, HIGH, GAP, ROW, MARGIN, TITLE = 92, 24, 16, 46, 10, 118
# where the parts of the path begin: colour, title
PARTS = {
    "show": ("#f0f0f0", "common ground"), "kernel": ("#e8f0e4", "the mechanics"),
    "flexible": ("#fdf1d8", "from a model\nto arrays"), "integrate": ("#e4ecf5", "what is done\nwith them"),
}  # fmt: skip


def folders() -> list[str]:
    """In the order of the page."""
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([a-z_]+)`", row)]


def imported(names: list[str]) -> dict[str, set[str]]:
    """Which folders each imports when it is loaded."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for path in SOURCE.rglob("*.py"):
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.parse(path.read_text()).body:
            if here in found and isinstance(node, ast.ImportFrom) and (node.module or "").startswith("madi."):
                found[here].add(str(node.module).split(".")[1])
    return {here: there & set(names) - {here} for here, there in found.items()}


def reduced(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without those that follow from others; folders come after what they import."""
    reach: dict[str, set[str]] = {}
    for here, there in edges.items():
        reach[here] = there.union(*(reach[name] for name in there))
    return {
        here: {name for name in there if not any(name in reach[other] for other in there)} for here, there in edges.items()
    }


def levels(names: list[str], edges: dict[str, set[str]]) -> dict[str, int]:
    """The row of each folder: below what it imports, and below the part before its own."""
    level: dict[str, int] = {}
    first = 0
    for here in names:
        if here in PARTS:
            first = 1 + max(level.values(), default=-1)
        level[here] = max([first, *(1 + level[name] for name in edges[here])])
    return level


def rows_of(names: list[str], edges: dict[str, set[str]], level: dict[str, int]) -> list[list[tuple[str, ...]]]:
    """Rows of folders (name,) and of places (here, there) where an edge passes, ordered to lie below what they follow."""
    rows: list[list[tuple[str, ...]]] = [[] for _ in range(max(level.values()) + 1)]
    above: dict[tuple[tuple[str, ...], int], list[tuple[str, ...]]] = {}
    for here in names:
        rows[level[here]].append((here,))
        for there in sorted(edges[here]):
            for y in range(level[there] + 1, level[here]):
                rows[y].append((here, there))
                above[(here, there), y] = [(there,) if y == level[there] + 1 else (here, there)]
            above.setdefault(((here,), level[here]), []).append(
                (there,) if level[here] == level[there] + 1 else (here, there)
            )
    for y, row in enumerate(rows[1:], start=1):
        place = {one: k - (len(rows[y - 1]) - 1) / 2 for k, one in enumerate(rows[y - 1])}
        seen = {one: [place[p] for p in above.get((one, y), [])] for one in row}
        row.sort(key=lambda one: sum(seen[one]) / max(len(seen[one]), 1))
    return rows


def places(rows: list[list[tuple[str, ...]]]) -> tuple[dict[tuple[tuple[str, ...], int], tuple[float, float]], float]:
    """Where everything lies, and the width of the picture."""
    wide = [[WIDE if len(one) == 1 else 0 for one in row] for row in rows]
    width = max(sum(w) + GAP * len(w) for w in wide) + TITLE + 2 * MARGIN
    at = {}
    for y, row in enumerate(rows):
        x = TITLE + (width - TITLE - sum(wide[y]) - GAP * (len(row) - 1)) / 2
        for one, w in zip(row, wide[y], strict=True):
            at[one, y] = (x + w / 2, MARGIN + ROW * (y + 0.5))
            x += w + GAP
    return at, width


def picture() -> str:
    """The SVG."""
    names = folders()
    edges = reduced(imported(names))
    level = levels(names, edges)
    rows = rows_of(names, edges, level)
    at, width = places(rows)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {2 * MARGIN + ROW * len(rows)}" '
             'font-family="system-ui, sans-serif" font-size="13" fill="#20242b">']  # fmt: skip
    ends = [*(level[name] for name in list(PARTS)[1:]), len(rows)]
    for (name, (colour, title)), end in zip(PARTS.items(), ends, strict=True):
        y, high = MARGIN + ROW * level[name], ROW * (end - level[name])
        lines.append(f'<rect x="{MARGIN}" y="{y}" width="{width - 2 * MARGIN:.0f}" height="{high}" fill="{colour}"/>')
        for k, line in enumerate(title.split("\n")):
            lines.append(f'<text x="{2 * MARGIN}" y="{y + 22 + 16 * k}" font-style="italic">{line}</text>')
    for here in names:
        for there in sorted(edges[here]):
            way = [at[(there,), level[there]]]
            way += [at[(here, there), y] for y in range(level[there] + 1, level[here])] + [at[(here,), level[here]]]
            path = f"M{way[0][0]:.0f} {way[0][1]:.0f}"
            for (x, y), (u, v) in pairwise(way):
                path += f" C{x:.0f} {(y + v) / 2:.0f} {u:.0f} {(y + v) / 2:.0f} {u:.0f} {v:.0f}"
            lines.append(f'<path d="{path}" fill="none" stroke="#7d8894"/>')
    for name in names:
        x, y = at[(name,), level[name]]
        lines.append(
            f'<rect x="{x - WIDE / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{WIDE}" height="{HIGH}" rx="5" fill="white" '
            f'stroke="#5b6570"/><text x="{x:.0f}" y="{y + 4.5:.0f}" text-anchor="middle">{name}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture())
