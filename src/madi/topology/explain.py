"""Tree and cuts in words and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN
from madi.model.elements import body_name

if TYPE_CHECKING:
    from madi.system import System
    from madi.topology.graph import Edge


def explain(system: System) -> str:
    """The tree by name, indented; then cuts and counts."""
    edges, cuts = system.spanning_tree.edges, system.spanning_tree.cuts
    depth = {"ground": 0}
    points = sum(edge.joint.station is not None for edge in edges)
    bodies = f"{len(edges) - points} bodies" + (f" (and {points} points of flexible ones)" if points else "")
    states = f", {len(system.states)} first-order state(s): {', '.join(system.states)}" if system.states else ""
    lines = [f"{system.name}: {bodies}, {system.nq} coordinates, {system.nv - len(system.states)} generalised velocities, "
             f"{system.n_constraints} constraint(s), {len(system.cut_joints)} cut joint(s){states}", "ground"]  # fmt: skip
    driven = _prescribed(system)
    for edge in edges:
        depth[edge.body] = depth[edge.parent] + 1
        kind = KINDS[edge.joint.kind]
        if edge.joint.station is not None:
            lines.append(f"{'  ' * depth[edge.body]}{edge.body}   ({_modal(system, edge)})")
            continue
        parts = f": {', '.join(kind.coordinates)}" if len(kind.coordinates) > 1 else ""
        notes = [f"{kind.name} {edge.joint.name!r}{parts}", f"{kind.nv} dof"]
        if edge.reverse:
            notes.append("drawn the other way")
        if edge.body in system.spanning_tree.floating:
            notes.append("added: nothing ties this group to the ground")
        if edge.joint.name in driven:
            notes.append(driven[edge.joint.name])
        lines.append(f"{'  ' * depth[edge.body]}{edge.body}   ({', '.join(notes)})")
    for joint in cuts:
        parent, child = body_name(joint.parent), body_name(joint.child)
        kind = KINDS[joint.kind]
        also = [row.driven for row in system.frozen.rows if row.element == joint.name and row.driven]
        drives = f", driven: {', '.join(also)}" if also else ""
        lines.append(f"cut: {kind.name} {joint.name!r} between {parent} and {child}, {6 - kind.nv} constraints{drives}")
    for name in dict.fromkeys(row.element for row in system.frozen.rows if not row.joint):
        count = sum(row.element == name for row in system.frozen.rows)
        lines.append(f"constraint: {name!r}, {count} row(s)")
    if system.frozen.rows:
        free, rows = int((system.layout.arrays.drive == FREE_COLUMN).sum()) - len(system.states), system.n_constraints
        lines.append(f"Grübler: {free} - {rows} = {free - rows} degree(s) of freedom; s.mobility() gives the true number")
    return "\n".join(lines)


def _modal(system: System, edge: Edge) -> str:
    """A flexible body, or a point of one."""
    if not edge.reverse:
        return "point of the flexible body"
    names = [name.partition(".")[2] for name in system.speeds if name.startswith(f"{edge.body}.")]
    locked = ", locked" if edge.body in _prescribed(system) else ""
    return f"flexible: {', '.join(names)}, {len(names)} modes{locked}"


def _prescribed(system: System) -> dict[str, str]:
    model = system.layout.arrays
    notes: dict[str, str] = {}
    for c, name in enumerate(system.speeds):
        if model.drive[c] != FREE_COLUMN:
            notes[name.split(".")[0]] = "driven" if model.drive[c] >= 0 else "locked"
    return notes


def picture(system: System, path: Any = None) -> Any:
    """A drawing of the tree, cut joints dashed; saved to `path` if given. Returns the figure."""
    from matplotlib.figure import Figure

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
    figure = Figure(figsize=(min(24, max(4.0, 1.5 * leaves)), min(24, 1.5 + 1.1 * deep)), layout="constrained")
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
