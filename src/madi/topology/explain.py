"""Tree and cuts in words and as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from madi.errors import MadiError
from madi.given import File
from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN
from madi.model.elements import body_name

if TYPE_CHECKING:
    from madi.show.figure import Picture
    from madi.system import System
    from madi.topology.graph import Edge


LARGE = 100  # bodies: of more, a summary is told where nothing else is asked for
BRANCHES, NAMED = 6, 8  # of a summary: branches that are listed, and names


def explain(system: System, full: bool | None = None) -> str:
    """The tree by name, indented; then cuts and counts. `full`: False tells a summary (default for large models)."""
    large = len(system.spanning_tree.edges) > LARGE
    brief = large if full is None else not full
    return "\n".join([_head(system, brief), *(_summary(system) if brief else _whole(system))])


def _head(system: System, brief: bool) -> str:
    edges = system.spanning_tree.edges
    points = sum(edge.joint.station is not None for edge in edges)
    bodies = f"{len(edges) - points} bodies" + (f" (and {points} points of flexible ones)" if points else "")
    names = _some(system.states) if brief else ", ".join(system.states)
    states = f", {len(system.states)} first-order state(s): {names}" if names else ""
    return (f"{system.name}: {bodies}, {system.nq} coordinates, {system.nv - len(system.states)} generalised velocities, "
            f"{system.n_constraints} constraint(s), {len(system.cut_joints)} cut joint(s){states}")  # fmt: skip


def _whole(system: System) -> Iterator[str]:
    """Every body, cut joint and constraint by name."""
    depth, driven, floating = {"ground": 0}, _prescribed(system), set(system.spanning_tree.floating)
    modes: dict[str, list[str]] = {}
    for name in system.speeds:
        modes.setdefault(name.partition(".")[0], []).append(name.partition(".")[2])
    yield "ground"
    for edge in system.spanning_tree.edges:
        depth[edge.body] = depth[edge.parent] + 1
        kind = KINDS[edge.joint.kind]
        if edge.joint.station is not None:
            told = _modal(edge, modes.get(edge.body, []), edge.body in driven)
            yield f"{'  ' * depth[edge.body]}{edge.body}   ({told})"
            continue
        parts = f": {', '.join(kind.coordinates)}" if len(kind.coordinates) > 1 else ""
        notes = [f"{kind.name} {edge.joint.name!r}{parts}", f"{kind.nv} dof"]
        if edge.reverse:
            notes.append("drawn the other way")
        if edge.body in floating:
            notes.append("added: nothing ties this group to the ground")
        if edge.joint.name in driven:
            notes.append(driven[edge.joint.name])
        yield f"{'  ' * depth[edge.body]}{edge.body}   ({', '.join(notes)})"
    rows: dict[str, list[str]] = {}
    for row in system.frozen.rows:
        rows.setdefault(row.element, []).append(row.driven)
    for joint in system.spanning_tree.cuts:
        parent, child = body_name(joint.parent), body_name(joint.child)
        kind = KINDS[joint.kind]
        also = [name for name in rows.get(joint.name, []) if name]
        drives = f", driven: {', '.join(also)}" if also else ""
        yield f"cut: {kind.name} {joint.name!r} between {parent} and {child}, {6 - kind.nv} constraints{drives}"
    for name in dict.fromkeys(row.element for row in system.frozen.rows if not row.joint):
        yield f"constraint: {name!r}, {len(rows[name])} row(s)"
    if system.frozen.rows:
        yield f"{_gruebler(system)}; s.mobility() gives the true number"


def _summary(system: System) -> Iterator[str]:
    """Counts by kind, the depth of the tree, its largest branches, what is cut, how it moves."""
    tree, model = system.spanning_tree, system.lowered
    yield f"joints of the tree: {_kinds(edge.joint.kind for edge in tree.edges)}"
    if tree.floating:
        yield f"floating groups (a free joint was added): {len(tree.floating)}: {_some(tree.floating)}"
    depth, size, children = {"ground": 0}, {"ground": 1}, dict[str, list[str]]()
    for edge in tree.edges:
        depth[edge.body], size[edge.body] = depth[edge.parent] + 1, 1
        children.setdefault(edge.parent, []).append(edge.body)
    for edge in reversed(tree.edges):
        size[edge.parent] += size[edge.body]
    deepest = max(depth, key=lambda name: depth[name])
    yield f"depth of the tree: {depth[deepest]}, to {deepest!r}; bodies on the ground: {len(children.get('ground', []))}"
    fork = "ground"
    while len(children.get(fork, [])) == 1:
        fork = children[fork][0]
    branches = sorted(children.get(fork, []), key=lambda name: -size[name])  # of a mere chain there are none
    if branches:
        listed = ", ".join(f"{name} {size[name]}" for name in branches[:BRANCHES])
        yield f"bodies of the largest branches, from {fork!r}: {listed}{_more(len(branches) - BRANCHES)}"
    if tree.cuts:
        names = _some([joint.name for joint in tree.cuts])
        yield f"cut joints: {_kinds(joint.kind for joint in tree.cuts)}: {names}"
    for what, elements in (("constraints", model.constraints), ("force elements", model.forces)):
        if elements:
            yield f"{what}: {_kinds(element.kind for element in elements)}"
    driven = _prescribed(system)
    if driven:
        yield f"joints driven or locked: {len(driven)}: {_some(list(driven))}"
    yield from _moves(system)
    yield "s.explain(full=True) tells every body by name"


def _moves(system: System) -> Iterator[str]:
    if not system.frozen.rows:
        yield f"degrees of freedom: {_free(system)}"
        return
    try:
        found = system.mobility()
    except MadiError as error:
        yield f"{_gruebler(system)}; the loops were not closed: {str(error).split('. ')[0]}"
        return
    yield (f"{_gruebler(system)}; true at the start: {found.degrees_of_freedom}, "
           f"{len(found.redundant)} redundant constraint(s)")  # fmt: skip


def _free(system: System) -> int:
    return int((system.layout.arrays.drive == FREE_COLUMN).sum()) - len(system.states)


def _gruebler(system: System) -> str:
    free, rows = _free(system), system.n_constraints
    return f"Grübler: {free} - {rows} = {free - rows} degree(s) of freedom"


def _kinds(kinds: Iterable[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in Counter(kinds).most_common())


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + _more(len(names) - NAMED)


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _modal(edge: Edge, names: list[str], locked: bool) -> str:
    """A flexible body, or a point of one."""
    if not edge.reverse:
        return "point of the flexible body"
    return f"flexible: {', '.join(names)}, {len(names)} modes{', locked' if locked else ''}"


def _prescribed(system: System) -> dict[str, str]:
    drive = system.layout.arrays.drive
    notes: dict[str, str] = {}
    for c, name in enumerate(system.speeds):
        if drive[c] != FREE_COLUMN:
            notes[name.split(".")[0]] = "driven" if drive[c] >= 0 else "locked"
    return notes


def picture(system: System, path: File | None = None) -> Picture:
    """A drawing of the tree, cut joints dashed; saved to `path` if given. Returns the figure."""
    from madi.show.figure import Picture

    edges = system.spanning_tree.edges
    children: dict[str, list[str]] = {}
    for edge in edges:
        children.setdefault(edge.parent, []).append(edge.body)
    place: dict[str, tuple[float, float]] = {}
    leaves = 0

    def put(name: str, level: int) -> float:
        nonlocal leaves
        stack: list[tuple[str, int, int]] = [(name, level, 0)]
        while stack:
            node, depth, visited = stack.pop()
            below = children.get(node, [])
            if visited == 0 and below:
                stack.append((node, depth, 1))
                stack.extend((child, depth + 1, 0) for child in reversed(below))
            elif below:
                place[node] = (sum(place[child][0] for child in below) / len(below), -depth)
            else:
                place[node] = (float(leaves), -depth)
                leaves += 1
        return place[name][0]

    put("ground", 0)
    deep = max((-y for _, y in place.values()), default=0)
    figure = Picture(figsize=(min(24, max(4.0, 1.5 * leaves)), min(24, 1.5 + 1.1 * deep)), layout="constrained")
    axis = figure.subplots()
    for edge in edges:
        (x0, y0), (x1, y1) = place[edge.parent], place[edge.body]
        axis.plot([x0, x1], [y0, y1], color="#35618e", linewidth=1.6, zorder=1)
        axis.text((x0 + x1) / 2, (y0 + y1) / 2, edge.joint.name, fontsize=7, color="#35618e", ha="center", zorder=3,
                  bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"})  # fmt: skip
    for joint in system.spanning_tree.cuts:
        (x0, y0), (x1, y1) = place[body_name(joint.parent)], place[body_name(joint.child)]
        axis.annotate("", (x1, y1), (x0, y0), arrowprops={
            "arrowstyle": "-", "linestyle": "--", "color": "#c2410c", "connectionstyle": "arc3,rad=0.35"})  # fmt: skip
        axis.text((x0 + x1) / 2, (y0 + y1) / 2 - 0.25, f"{joint.name} (cut)", fontsize=7, color="#c2410c", ha="center")
    for name, (x, y) in place.items():
        axis.text(x, y, name, ha="center", va="center", fontsize=8, zorder=4,
                  bbox={"boxstyle": "round,pad=0.35", "facecolor": "#eef4fa", "edgecolor": "#35618e"})  # fmt: skip
    axis.margins(0.15)
    axis.set_axis_off()
    axis.set_title(f"{system.name}: spanning tree", fontsize=10)
    if path is not None:
        figure.savefig(path, dpi=140)
    return figure
