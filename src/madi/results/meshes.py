"""Meshes travel with a saved run: its page must not ask for files that are elsewhere by then."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import FileError, MadiWarning, finite_numbers
from madi.model.elements import Visual
from madi.spatial.rotation import as_rotation

if TYPE_CHECKING:
    from madi.model.model import Model

MESH = "mesh_"


def corners(visual: Visual) -> np.ndarray | None:
    """A mesh's triangles in metres; None, and a warning, where its file cannot be read."""
    if visual.triangles is not None:
        return np.asarray(visual.triangles)
    from madi.model.mesh import read_mesh

    try:
        return float(visual.scale) * read_mesh(visual.file)
    except FileError as error:
        warnings.warn(MadiWarning(f"a mesh is not shown: {error}"), stacklevel=3)
        return None


def mesh_variables(model: Model) -> dict[str, Any]:
    """One variable for each mesh, with what else is said of it."""
    found: dict[str, Any] = {}
    for body in (model.ground, *model.bodies):
        for visual in body.visuals:
            triangles = corners(visual) if visual.kind == "mesh" else None
            if triangles is not None:
                told = {
                    "body": body.name, "color": visual.color, "position": np.asarray(visual.position, dtype=float).tolist(),
                    "orientation": as_rotation(visual.orientation, "visual").tolist(),
                }  # fmt: skip
                name = f"{MESH}{len(found)}"
                rows = triangles.reshape(-1, 3).astype(np.float32)
                found[name] = ((f"{name}_corner", f"{name}_axis"), rows, {"visual": json.dumps(told)})
    return found


def give_meshes(model: Model, meshes: list[Any]) -> None:
    """Put the meshes of a run's file on its bodies; what is none is passed over."""
    bodies = {body.name: body for body in (model.ground, *model.bodies)}
    for mesh in meshes:
        try:
            told = json.loads(str(mesh.attrs["visual"]))
            body, color, rows = bodies[told["body"]], told["color"], np.asarray(mesh.values, dtype=float).reshape(-1, 3, 3)
            position, orientation = told["position"], as_rotation(np.asarray(told["orientation"], dtype=float), "mesh")
        except (KeyError, TypeError, ValueError):
            continue
        if finite_numbers(position, 3) is not None and np.isfinite(rows).all() and isinstance(color, str | None):
            body.visuals.append(Visual("mesh", position=position, orientation=orientation, color=color, triangles=rows))
