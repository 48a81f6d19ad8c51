"""The papers as a small book: for each its methods, every printed value beside ours, its figures, its conclusions judged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAPERS: dict[str, tuple[str, list[str]]] = {
    "P0": ("Relative joint coordinates (1994)", [
        "Bodies and joints are a graph; Dijkstra over the weights of Table 1 (translational 1.0, revolute 1.5, "
        "cylindrical 2.0, "
        "universal 2.1, spherical 3.0) leaves a spanning tree and cut joints (`topology/graph.py`, `s.path_matrix`).",
        "Velocities are Y = B qd (Table 2: a block for each type of joint; `formulation=\"velocity-transform\"`), "
        "cut joints are "
        "rows Phi(q) = 0 (`constraints/`).",
        "At the end of a step positions, velocities and accelerations are projected onto the constraints with one matrix "
        "(`loops=\"projection\"`, the default); the user's tolerance is `loops=madi.Projection(closing=...)`; "
        "Adams is `method=\"abm\"`.",
        "Its spring-damper-actuator is `spring_damper` with `two_point_force` between the same points.",
        "Each experiment is run in joint coordinates and by the Cartesian solver inside madi (absolute coordinates, "
        "every joint "
        "as constraints: DADS in the paper). Times are CPU times, ratios medians of runs taken in turn, at equal "
        "accuracy: the "
        "Cartesian run takes the loosest tolerance (or longest step) at which its error, against a tight run, is not "
        "larger.",
    ]),
    "P1": ("Recursive dynamics and selected joint forces (1996)", [
        "The state vector (velocity of the point at the origin, angular velocity) makes composite inertias sums of "
        "ten numbers "
        "(`dynamics/recursive.py`); third-order Adams-Bashforth is `method=\"ab3\"`.",
        "The reaction of a joint, R_i = -L_i + K_i Ydot_i + sum K_l B_l qdd_l, takes what forming the equations left behind "
        "(`dynamics/loads.py`, eq. 30; driving forces eq. 36): `simulate(reactions=[...])`, or {joint: axes}.",
    ]),
    "P2": ("Null space by pseudo-inverse and projection (1997)", [
        "Right inverse and projector of the constraint Jacobian, the previous directions projected at every instant "
        "(`loops=\"pseudo-inverse\"`, `loops/null_space.py`), beside svd, qr and partition. madi measures columns "
        "and rows by mass; "
        "P2's own form is `madi.PseudoInverse(weighting=\"none\")`. The multipliers' sign in its eq. 4.11 is the "
        "opposite of its eq. 2.4.",
    ]),
    "P3": ("A symbolic flexible manipulator", [
        "Lagrange's equations from position vectors with mode functions (`madi.symbolic.lagrange`): M, K, G and the "
        "velocity "
        "coupling by Christoffel coefficients, of which only those are derived that neither vanish nor mirror "
        "others; P, Q, R of "
        "eqs. 28-32 are `coupling_parts`. Link data may stay symbols. The closed loop by SVD: `loops=\"svd\"`.",
    ]),
    "P4": ("A 6x6 vehicle in real time (2009)", [
        "All vectors in the chassis' frame (the default for a moving base; `frame=\"ground\"` is the other), code "
        "made for the model "
        "(`engine=\"compiled\"`), implicit Newmark with an exact Jacobian (`method=\"newmark\"`), explicit Newmark "
        "(`\"newmark-explicit\"`).",
        "R = R_sym + R_num: of functions that stay in Python only their own slopes are taken by differences "
        "(`signals/outside.py`), the rest is exact, and generated C calls them back. (The printed K_g leaves d(M "
        "qdd)/dq out; here "
        "it is in.) Look-up tables, the paper's wish: `joint_characteristic`, `characteristic`.",
    ]),
}  # fmt: skip
HEAD = """# The papers' experiments

Written by `madi papers all --book`; do not edit. {machine}

Each paper with its methods, every table with the printed values beside ours, every figure, and each conclusion with a
verdict: holds, does not hold, or depends on something, with the numbers behind it. What a paper does not print, and what is
taken instead, is on top of the file of its experiment (`src/madi/papers/`).
"""


def write(folder: Path, reports: Mapping[str, Mapping[str, Any]], machine: str, table: Any) -> Path:
    """papers.md and images/ in `folder`. `table(rows)`: rows as lines of Markdown."""
    from madi.files import whole_file
    from madi.papers import EXPERIMENTS

    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    lines = [HEAD.format(machine=machine)]
    for paper, (title, methods) in PAPERS.items():
        mine = {name: found for name, found in reports.items() if EXPERIMENTS[name][0] == paper}
        if not mine:
            continue
        lines += [f"## {paper}: {title}", "", *(f"{text}\n" for text in methods)]
        for name, found in mine.items():
            lines += _experiment(name, found, images, table)
    target = folder / "papers.md"
    with whole_file(target) as part:
        part.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return target


def _experiment(name: str, found: Mapping[str, Any], images: Path, table: Any) -> list[str]:
    title = str(found["title"]).partition(": ")[2]
    lines = [f"### {title[0].upper()}{title[1:]} (`madi papers {name}`)", ""]
    if found.get("claims"):
        lines += ["**Conclusions**", "", *table(found["claims"]), ""]
    lines += [f"- {key}: {_shown(value)}" for key, value in found.get("values", {}).items()] + [""]
    for caption, rows in found.get("tables", {}).items():
        lines += [f"**{caption}**", "", *table(rows), ""]
    lines += [" ".join(found.get("notes", [])), ""]
    for figure in map(Path, found.get("figures", [])):
        if figure.suffix == ".png":
            shutil.copyfile(figure, images / figure.name)
            lines += [f"![{title}](images/{figure.name})", ""]
    return lines


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
