"""A spring and a damper by their measured curves, along the line between two points.

Force over stretch (l - l0) and force over rate, each a table: between its points straight lines or monotone cubics (no
overshoot where the data have none; but a long piece beside short ones bends), beyond its ends straight on. Potential: the
integral of the first; dissipated: the second times the rate. Data: for every piece its start, four coefficients, and the
integral up to it. In formula form a law is a two_point_force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.errors import finite_numbers
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.forces.takes import LENGTH, Problem, Takes, must
from madi.kernel import kernel, where

PIECE = 6
THROUGH_ZERO = 1e-9  # of the largest force of a damper: what its table may give at no rate, by rounding
GROWING, PRELOAD = "Let the force grow with the rate", "Let it pass through (0, 0); a preload belongs in the spring table"


def table(name: str, value: Any) -> Problem | None:
    """What is wrong with a table of (x, force); one of a damper must not drive the motion."""
    found = finite_numbers(value)
    if found is not None and found.size == 0:
        return None
    if found is None or found.ndim != 2 or found.shape[1] != 2 or len(found) < 2 or np.any(np.diff(found[:, 0]) <= 0):
        return f"its {name} table is not a list of at least two (x, force), x increasing", "Sort it, and leave out doubles"
    x, force = found.T
    if name == "damper" and np.any(np.diff(force) < 0):
        return f"its damper table falls after a rate of {x[np.argmin(np.diff(force))]:g}: it would drive the motion", GROWING
    if name == "damper" and abs(start := np.interp(0.0, x, force)) > THROUGH_ZERO * np.max(np.abs(force)):
        return f"its damper table gives {start:g} at no rate", PRELOAD
    return None


BETWEEN = must(lambda x: x in ("linear", "cubic"), "between={value!r}", "Write one of 'linear', 'cubic'", adjustable=False)
TABLES = {"spring": Takes(table), "damper": Takes(table), "between": BETWEEN}
KIND = ForceKind(
    "characteristic", code=7, value="tension", ends=2, points=2, line=True, takes={**TABLES, "free_length": LENGTH},
    parameters=("ax", "ay", "az", "bx", "by", "bz", "free_length", "spring ...", "damper ..."),
)  # fmt: skip


def pieces(points: Any, between: str) -> list[float]:
    """A table as numbers for `curve`: how many pieces, then for each x0, c3, c2, c1, c0, integral from zero to x0."""
    from scipy.interpolate import PchipInterpolator

    table = np.asarray(points, dtype=float).reshape(-1, 2)
    if not len(table):
        return [0.0]
    x, f = table.T
    if between == "cubic" and len(x) > 2:
        c = PchipInterpolator(x, f).c.T
    else:
        slopes = np.diff(f) / np.diff(x)
        c = np.column_stack([np.zeros((len(slopes), 2)), slopes, f[:-1]])
    first, last = c[0, 2], float(np.polyval(np.polyder(c[-1]), x[-1] - x[-2]))
    rows = [[x[0], 0.0, 0.0, first, f[0]], *np.column_stack([x[:-1], c]).tolist(), [x[-1], 0.0, 0.0, last, f[-1]]]
    areas = [0.0, 0.0]
    for row, end in zip(rows[1:-1], x[1:], strict=True):
        areas.append(areas[-1] + float(np.polyval(np.polyint(row[1:]), end - row[0])))
    numbers = [float(len(rows)), *(float(v) for row, area in zip(rows, areas, strict=True) for v in (*row, area))]
    zero = curve(np.array(numbers), 0, 0.0)[1]
    return [v - zero if k > 0 and k % PIECE == 0 else v for k, v in enumerate(numbers)]


@kernel
def curve(p, s, x):
    """(value, integral from zero) of the table at p[s:]. The first piece is what lies before the table."""
    value, area = 0.0, 0.0
    for k in range(int(p[s])):
        at = s + 1 + PIECE * k
        d = x - p[at]
        v = ((p[at + 1] * d + p[at + 2]) * d + p[at + 3]) * d + p[at + 4]
        i = (((0.25 * p[at + 1] * d + p[at + 2] / 3.0) * d + 0.5 * p[at + 3]) * d + p[at + 4]) * d + p[at + 5]
        if k == 0:
            value, area = v, i
        else:
            value, area = where(d >= 0.0, v, value), where(d >= 0.0, i, area)
    return value, area


@kernel
def apply(model: Arrays, work: Work, e):
    """Pull both bodies together along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    length, rate, u = line(model, work, a, b, s)
    spring, potential = curve(p, s + 7, length - p[s + 6])
    damper, _ = curve(p, s + 8 + PIECE * int(p[s + 7]), rate)
    f = spring + damper
    pull(model, work, a, b, s, f, u)
    account(work, e, f, potential, -f * rate, damper * rate)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Points, free length, the two tables."""
    given = force.parameters
    tables = [number for name in ("spring", "damper") for number in pieces(given[name], given["between"])]
    return [*points, float(given["free_length"]), *tables]
