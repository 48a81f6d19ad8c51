"""Flexible bodies in results: where their centre lines are, and whether they stayed within small deflections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madi.spatial.rotation import turn_by_quaternion

if TYPE_CHECKING:
    from madi.model.elements import Body
    from madi.results.run import Run
    from madi.system import System

MOST_BENT = 0.15  # of a body's size


def centre_line(body: Body, run: Run, points: int = 21, scale: float = 1.0) -> np.ndarray:
    """The line of a beam (of other flexible bodies: their nodes) in the ground at every output, (times, points, 3); its
    deflection times `scale`."""
    field = body.flexible.field
    s, psi = body.flexible.line(points)
    xi = np.stack([run[f"{body.name}.{name}"] for name in field.names], axis=1)
    local = s + scale * np.einsum("tc,cni->tni", xi, psi)
    place = run.arrays["position"].sel(body=body.name).values
    quaternion = run.arrays["orientation"].sel(body=body.name).values
    turned = turn_by_quaternion(tuple(quaternion.T[:, :, None]), tuple(np.moveaxis(local, 2, 0)))
    return place[:, None, :] + np.stack(turned, axis=2)


def large_deflections(system: System, run: Run) -> list[str]:
    """A sentence for every flexible body that bent by more than MOST_BENT of its size."""
    told = []
    for body in system.model.bodies:
        if body.flexible is None or not len(run.arrays["time"]):
            continue
        field = body.flexible.field
        xi = np.stack([run[f"{body.name}.{name}"] for name in field.names], axis=1)
        size = float(np.max(np.ptp(field.points, axis=0)))
        with np.errstate(all="ignore"):
            some = np.linspace(0, len(field.points) - 1, min(25, len(field.points))).astype(int)
            moved = np.linalg.norm(np.einsum("tc,cni->tni", xi, field.psi[:, some]), axis=2)
            reach = np.nan_to_num(np.max(moved, axis=1), nan=np.inf) / size
        if np.max(reach) > MOST_BENT:
            first = int(np.argmax(reach > MOST_BENT))
            largest = float(np.max(reach))
            text = (
                f"flexible body {body.name!r} bends by {100 * largest:.3g} % of its size (more than {100 * MOST_BENT:.0f} % "
                f"from t = {float(run['time'][first]):.4g} s on); its modes are for small deflections. Join several "
                "shorter beams by fixed joints: each may bend a little, all together much"
            )
            if body.flexible.stiffening is False:
                text += (
                    ". It has stiffening=False: turning fast, it lacks the stiffness that centrifugal forces give; use "
                    "stiffening=True"
                )
            told.append(text)
    return told
