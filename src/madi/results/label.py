"""From arrays to arrays with names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.forces import BY_CODE
from madi.results.attitude import up_axis
from madi.results.labelled import Labelled
from madi.results.later import Later, Waiting
from madi.results.quantities import Quantities
from madi.results.recorded import Known
from madi.results.run import Run
from madi.system.loads import determined

if TYPE_CHECKING:
    from madi.results.recorded import LoopRecord, Recorded
    from madi.system import System
    from madi.system.observation import Observation


def label(
    system: System, times: np.ndarray, seen: Observation, reactions: dict[str, str], joints: list[str],
    loads: np.ndarray | None, driven: list[int], statistics: dict[str, Any], found: LoopRecord | None = None,
) -> Run:  # fmt: skip
    """The results of a run of which all is there. `joints`: all joints whose loads were computed, those asked for
    (`reactions`: {name: axes of its signals}) first."""
    run = label_later(Known(system, times, seen, loads, found), reactions, joints, driven, statistics)
    run.arrays.compute()
    return run


def label_later(
    source: Recorded | Known, reactions: dict[str, str], joints: list[str], driven: list[int], statistics: dict[str, Any]
) -> Run:
    """The results of a run: its states, and what is computed when somebody asks."""
    system = source.system
    made = Quantities(system, reactions, joints, driven, source.found is not None)
    arrays = labelled(source, made, statistics)
    if reactions and system.frozen.rows and len(source.times):
        wanted = [system.load_of(name) for name in reactions]
        sure = determined(system, source.q[0], float(source.times[0]), np.eye(3), wanted)
        told = {"of": "whether rigid-body mechanics determines it (at the first output)"}
        arrays.add_coordinate("load", ["fx", "fy", "fz", "mx", "my", "mz"])
        arrays["reaction_determined"] = (("joint", "load"), sure, told)
    return Run(arrays, statistics, system.model.snapshot())


def labelled(source: Any, made: Quantities, statistics: dict[str, Any], like: Labelled | None = None) -> Labelled:
    """The arrays of runs, with names and units. `like`: those of another run of the same batch, which has the same names."""
    system, found, times = source.system, source.found, source.times
    later = Later(source, made.quantities)
    variables: dict[str, Any] = {
        "q": (("time", "coordinate"), source.q), "v": (("time", "speed"), source.v), "a": (("time", "speed"), source.a),
    }  # fmt: skip
    for name, quantity in made.quantities.items():
        variables[name] = (("time", *quantity.dims), Waiting(later, name), quantity.attrs)
    if found is not None and system.frozen.rows:
        variables |= _closure(system, found, statistics)
    if len(made.frames):
        frames = {"of": "axes of joints in their parents'"}
        variables["joint_frame"] = (("joint", "axis", "joint_axis"), made.frames, frames)
    if like is None:
        coordinates = {"time": ("time", times, {"units": "s"}), **made.coordinates}
        arrays = Labelled(variables, coordinates, _attributes(system, made.drives, made.cut_units))
    else:
        arrays = Labelled(variables, {}, like.attrs)
        arrays.coords.update(like.coords)
    arrays.runs = source.runs
    return arrays


def _closure(system: System, found: LoopRecord, statistics: dict[str, Any]) -> dict[str, Any]:
    """How well the loops are closed, and with what forces."""
    known: dict[str, Any] = {
        "violation": ("time", found.residual, {"units": "m or rad", "of": "largest residual of a constraint"}),
        "violation_rate": ("time", found.residual_rate, {"units": "m/s or rad/s"}),
    }
    if statistics.get("loops") != "baumgarte":  # which looks at no pivots
        dependent = found.dependent + int(np.sum(~system.active_rows))
        known["independence"] = ("time", found.independence, {"units": "1", "of": "smallest pivot of the constraints"})
        known["dependent"] = ("time", dependent, {"units": "1", "of": "constraints that add nothing"})
    if "decompositions" in statistics:
        condition = {"units": "1", "of": "condition number of the constraints, by pivots"}
        known["null_space_error"] = ("time", found.identity_error, {"units": "1", "of": "Phi_q N = 0 and Phi_q I_R = 1"})
        known["condition"] = ("time", found.condition, condition)
    return known | {"multiplier": (("time", "constraint"), found.multipliers)}


def _attributes(system: System, drives: list[str], cut_units: list[str]) -> dict[str, str]:
    """Of the results: whose it is, units of what has one for each entry."""
    from madi import __version__

    rate_units = system.frozen.speed_units
    units = dict(zip(system.coordinates, system.frozen.units, strict=True))
    units |= {row.driven: row.unit for row in system.frozen.rows if row.driven}
    attributes = {
        "model": system.name, "madi": __version__, "frame": system.frame, "model_hash": system.digest,
        "q_units": "|".join(system.frozen.units), "v_units": "|".join(rate_units),
        "a_units": "|".join(f"{unit}2" if unit.endswith("/s") else unit for unit in rate_units),
        "states": "|".join(system.states), "force_units": "|".join(_force_units(system)), "cut_q_units": "|".join(cut_units),
        "cut_v_units": "|".join(f"{unit}/s" for unit in cut_units), "up": up_axis(system.model.gravity),
        "driving_force_units": "|".join("N" if units.get(name) == "m" else "N m" for name in drives),
    }  # fmt: skip
    if system.model.notes:
        attributes["notes"] = "\n".join(system.model.notes)
    return attributes


def _force_units(system: System) -> list[str]:
    """Units of the values of force elements: on a joint's coordinate N or N m, as it slides or turns."""
    arrays, found = system.layout.arrays, []
    for code, a in zip(arrays.force_kind, arrays.force_a, strict=True):
        kind = BY_CODE[int(code)].KIND
        found.append("N" if kind.on_joint and system.frozen.speed_units[int(a)] == "m/s" else kind.unit)
    return found
