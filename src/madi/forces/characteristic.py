"""A spring and a damper by their measured curves, along the line between two points.

Force over stretch (l - l0) and force over rate, each a table: between its points straight lines or monotone cubics (no
overshoot where the data have none; but a long piece beside short ones bends), beyond its ends straight on. Potential: the
integral of the first; dissipated: the second times the rate. Data: blocks of kernel/lookup.py of the integrals, whose first
derivative is the force. In formula form a law is a two_point_force.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.errors import finite_numbers
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.line import line, pull
from madi.forces.takes import LENGTH, Problem, Takes, must
from madi.kernel import inline, kernel
from madi.kernel.lookup import evaluated, lookup2, on_both_sides

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
    parameters=("ax", "ay", "az", "bx", "by", "bz", "free_length", "spring", "damper"),
)  # fmt: skip


def integrals(points: Any, between: str) -> np.ndarray:
    """A table as the block of its integral from zero."""
    from scipy.interpolate import PchipInterpolator

    table = np.asarray(points, dtype=float).reshape(-1, 2)
    if not len(table):
        return on_both_sides([0.0], np.zeros((0, 1)), [0.0], [0.0])
    x, f = table.T
    if between == "cubic" and len(x) > 2:
        c = PchipInterpolator(x, f).c.T
    else:
        slopes = np.diff(f) / np.diff(x)
        c = np.column_stack([np.zeros((len(slopes), 2)), slopes, f[:-1]])
    quartic = np.column_stack([c[:, 0] / 4, c[:, 1] / 3, c[:, 2] / 2, c[:, 3], np.zeros(len(c))])
    h = np.diff(x)
    gained = (((quartic[:, 0] * h + quartic[:, 1]) * h + quartic[:, 2]) * h + quartic[:, 3]) * h
    area = np.concatenate([[0.0], np.cumsum(gained)])
    slope = float(np.polyval(np.polyder(c[-1]), h[-1]))  # beyond the ends straight on
    ends = np.array([c[0, 2] / 2, f[0], 0.0]), np.array([slope / 2, f[-1], area[-1]])
    quartic[:, 4] = area[:-1]
    zero = evaluated(on_both_sides(x, quartic, *ends), 0, 0.0, 0)
    quartic[:, 4] -= zero
    return on_both_sides(x, quartic, *(end - [0.0, 0.0, zero] for end in ends))


@inline
def curve(data, s, x):
    """(value, integral from zero) of the table whose block is at data[s:]."""
    area, value = lookup2(data, s, x, 0)
    return value, area


@kernel
def apply(model: Arrays, work: Work, e):
    """Pull both bodies together along the line."""
    a, b, s = model.force_a[e], model.force_b[e], model.force_at[e]
    p = model.parameter
    length, rate, u = line(model, work, a, b, s)
    spring, potential = curve(model.curve, int(p[s + 7]), length - p[s + 6])
    damper, _ = curve(model.curve, int(p[s + 8]), rate)
    f = spring + damper
    pull(model, work, a, b, s, f, u)
    account(work, e, f, potential, -f * rate, damper * rate)


def tables(given: dict[str, Any]) -> list[np.ndarray]:
    """The two tables as blocks."""
    return [integrals(given[name], given["between"]) for name in ("spring", "damper")]


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
    """Points, free length, the two tables."""
    return [*points, float(force.parameters["free_length"]), *tables(force.parameters)]
