"""P0's second experiment: an RSSR mechanism, two revolute and two spherical joints, 2 s under gravity.

Printed: every body 1 kg, links 1 and 3 of 0.5 m; z acceleration of body 1; 5 coordinates and 1 constraint against 28
coordinates and 16 constraints in DADS, time ratio 5.53. Ours, because it is not printed: where the revolute joints stand
and how their axes point, slender rods as bodies, start at rest.

The count "5 coordinates, 1 constraint" does not follow from the model. Cutting a spherical joint leaves the tree revolute,
spherical (4 numbers for 3 freedoms) and revolute: 5 freedoms, 6 coordinates, 3 constraints. Replacing the coupler by a fixed
distance leaves 2 coordinates and 1 constraint (and takes its mass away). Both variants are run. In DADS the ground is a body
too: 28 coordinates are those of four bodies; here the ground has none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.engines.compiler import compiler
from madi.model.model import Model
from madi.papers.compare import apart, both, counts, equal_step, plot
from madi.spatial.rotation import frame_with_z

LINK, MASS, WIDTH = 0.5, 1.0, 0.04
FIRST, SECOND = np.array([0.0, 0.0, 0.0]), np.array([0.9, 0.35, 0.0])  # the revolute joints
AXIS_1, AXIS_3 = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
A = FIRST + LINK * np.array([0.0, 0.8, 0.6])  # end of link 1
B = SECOND + LINK * np.array([0.28, 0.0, 0.96])  # end of link 3
DURATION, STEP = 2.0, 4e-3
PRINTED = {"coordinates": "5 / 28", "constraints": "1 / 16", "time": "0.86 / 4.76", "ratio": "5.53"}


def rod(m: Model, name: str, start: np.ndarray, end: np.ndarray) -> Any:
    """A square rod of 1 kg between two points, its z along it."""
    length = float(np.linalg.norm(end - start))
    across, along = MASS * (length**2 + WIDTH**2) / 12, MASS * WIDTH**2 / 6
    return m.body(name, MASS, inertia=(across, across, along), position=(start + end) / 2,
                  orientation=frame_with_z(end - start))  # fmt: skip


def model(coupler: str = "body") -> Model:
    """The mechanism; `coupler`: "body" (a rod between spherical joints) or "distance" (a massless rod)."""
    m = Model(f"RSSR, coupler as a {coupler}")
    one, three = rod(m, "body1", FIRST, A), rod(m, "body3", SECOND, B)
    m.revolute("R1", m.ground, one, at=FIRST, axis=AXIS_1)
    m.revolute("R3", m.ground, three, at=SECOND, axis=AXIS_3)
    if coupler == "body":
        two = rod(m, "body2", A, B)
        m.spherical("S1", one, two, at=A)
        m.spherical("S2", two, three, at=B)
    else:
        m.distance("coupler", one, three, at=(A, B))
    return m


def report(out: Path) -> dict[str, Any]:
    """Both variants against the Cartesian solver, as Fig. 5 and Table 5."""
    panels, tables, pages = [], {}, []
    values: dict[str, Any] = {}
    made = "generated C" if compiler() else "jitted kernels (no C compiler here)"
    for coupler in ("body", "distance"):
        drawn, name = model(coupler), f"coupler as a {coupler}"
        shorter, error = equal_step(drawn, DURATION, "body1.az", STEP)
        timed: dict[str, Any] = {"method": "rk4", "step": STEP, "cartesian_step": shorter, "repeats": 9, "times": [DURATION]}
        _, _, jitted = both(drawn, DURATION, engine="jit", **timed)
        run, other, ratio = both(drawn, DURATION, engine="compiled" if compiler() else "jit", **timed)
        tables[f"Table 5, {name}; RK4 at an equal error of {error:.1e} in z''"] = counts(drawn, run, other, ratio, PRINTED)
        values[f"{name}: time ratio, relative by {made}"] = ratio
        values[f"{name}: time ratio, both by jitted kernels"] = jitted
        run, other, _ = both(drawn, DURATION, method="abm", rtol=1e-10, repeats=1)
        z, z_cartesian = run["body1.az"], other["body1.az"]
        time = run.data["time"].values
        pages.append(str(run.view(out / f"rssr_{coupler}.html", signals=["body1.az"], trace="body1")))
        panels.append((f"z'' of body 1, m/s²\n({name})", time, {"relative": z, "Cartesian": z_cartesian}))
        values[f"{name}: largest difference of z'' (of its range)"] = apart(z, z_cartesian)
        values[f"{name}: largest constraint residual, m"] = float(run.data["violation"].max())
        values[f"{name}: mobility"] = str(drawn.build().mobility())
    return {
        "title": "P0: RSSR mechanism, relative coordinates against Cartesian ones",
        "values": values,
        "tables": tables,
        "notes": [
            "With the coupler as a body one freedom is passive: its turn about the line through its two ball joints.",
            "Printed counts do not follow from the model (see madi/papers/rssr.py); both variants run.",
        ],
        "figures": [plot(out / "rssr.png", "RSSR: vertical acceleration of body 1 (P0, Fig. 5)", panels)],
        "pages": pages,
    }
