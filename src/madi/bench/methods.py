"""What each way of closing loops costs, and how the cost grows: time of an evaluation, against the projection's."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.analysis.compare import compare
from madi.model.model import Model
from madi.papers import lane_change, rssr
from madi.verify import andrews, four_bars

METHODS = ("projection", "pseudo-inverse", "svd", "qr", "partition", "cartesian")


def models(quick: bool) -> dict[str, tuple[Model, float]]:
    """What is run, and for how long."""
    sizes = (5, 10, 20) if quick else (5, 10, 20, 40)
    found = {"RSSR": (rssr.model(), 2.0), "Andrews": (andrews.model(), 0.03), "car": (lane_change.model(), 5.0)}
    return found | {f"{n} four-bars": (four_bars.model(n), 0.6) for n in sizes}  # up to the singular position


def report(quick: bool = False) -> dict[str, Any]:
    """One table; all methods are checked to move alike before their times are believed."""
    rows, growth = [], {}
    for name, (model, duration) in models(quick).items():
        found = compare(model, duration, METHODS, rtol=1e-7, repeats=2 if quick else 5, times=np.linspace(0, duration, 11))
        apart = max(row["motion"] for row in found.table)
        if found.failed or apart > 1e-4:
            raise RuntimeError(f"{name}: the methods do not agree ({apart:.1e}) or fail: {found.failed}")
        each = {row["method"]: 1e3 * row["time, ms"] / row["evaluations"] for row in found.table}
        rows.append(
            {"model": name, "columns": model.build().nv, "constraints": model.build().n_constraints,
             "projection, µs": each["projection"],
             **{f"{way} / projection": each[way] / each["projection"] for way in METHODS[1:]},
             "motion apart": apart}
        )  # fmt: skip
        growth[name] = each
    small, large = ("5 four-bars", "20 four-bars") if quick else ("10 four-bars", "40 four-bars")
    times = 4.0
    return {
        "title": "Ways to close loops, per evaluation",
        "values": {
            f"{way}: cost grows from {small} to {large} as N to the power": float(
                np.log(growth[large][way] / growth[small][way]) / np.log(times)
            )
            for way in METHODS
        },
        "tables": {"time of an evaluation": rows},
        "notes": ["dopri, rtol 1e-7, jitted kernels. All factors are sparse; null-space methods keep directions beside."],
    }
