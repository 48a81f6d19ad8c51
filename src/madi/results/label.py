"""From arrays to a Dataset with names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.forces import BY_CODE
from madi.results.attitude import up_axis
from madi.results.cuts import cut_motion
from madi.results.loads import described
from madi.results.run import Run
from madi.results.signals import AXES
from madi.spatial.rotation import bryant_angles, matrix_to_quaternion

if TYPE_CHECKING:
    from madi.run.solver import LoopRecord
    from madi.system.observation import Observation
from madi.system import System
from madi.system.loads import determined


def label(
    system: System, times: np.ndarray, seen: Observation, reactions: dict[str, str], joints: list[str],
    loads: np.ndarray | None, driven: list[int], statistics: dict[str, Any], found: LoopRecord | None = None,
) -> Run:  # fmt: skip
    """The Dataset of a run. `joints`: all joints whose loads were computed, those asked for (`reactions`: {name: axes of its
    signals}) first."""
    import xarray as xr

    drives, driving, pace = _drives(system, seen, joints, loads, driven, found)
    variables = _motion(system, seen, (driving * pace).sum(axis=1))
    coordinates: dict[str, Any] = {
        "time": ("time", times, {"units": "s"}), "coordinate": system.coordinates, "speed": system.speeds,
        "body": system.bodies, "axis": AXES, "quaternion": ["w", "x", "y", "z"],
        "component": ["px", "py", "pz", "lx", "ly", "lz"],
    }  # fmt: skip
    if found is not None and system.frozen.rows:
        coordinates["constraint"] = system.constraint_names
        variables |= _closure(system, found, statistics)
    if system.forces:
        coordinates["force"] = system.forces
        for k, name in enumerate(("value", "potential", "power", "dissipated")):
            variables[f"force_{name}"] = (("time", "force"), seen.force[:, :, k])
    cuts, cut_units, cut_q, cut_v = cut_motion(system, times, seen)
    if cuts:
        coordinates["cut"] = cuts
        variables["cut_q"] = (("time", "cut"), cut_q, {"of": "coordinates of cut joints, measured"})
        variables["cut_v"] = (("time", "cut"), cut_v)
    if loads is not None and reactions:
        six = loads[:, : 6 * len(joints)].reshape(len(times), len(joints), 6)[:, : len(reactions)]
        words, frames = described(system, reactions)
        coordinates |= {"joint": list(reactions), **words, "joint_axis": ["x", "y", "z"]}
        variables["reaction_force"] = (("time", "joint", "axis"), six[..., :3], {"units": "N"})
        variables["reaction_moment"] = (("time", "joint", "axis"), six[..., 3:], {"units": "N m"})
        variables["joint_frame"] = (("joint", "axis", "joint_axis"), frames, {"of": "axes of joints in their parents'"})
        if system.frozen.rows and len(times):
            wanted = [system.load_of(name) for name in reactions]
            sure = determined(system, seen.q[0], float(times[0]), np.eye(3), wanted)
            told = {"of": "whether rigid-body mechanics determines it (at the first output)"}
            coordinates["load"] = ["fx", "fy", "fz", "mx", "my", "mz"]
            variables["reaction_determined"] = (("joint", "load"), sure, told)
    if drives:
        coordinates["driven"] = drives
        variables["driving_force"] = (("time", "driven"), driving)
        variables["driving_power"] = (("time", "driven"), driving * pace, {"units": "W"})
    attributes = _attributes(system, drives, cut_units)
    return Run(xr.Dataset(variables, coordinates, attributes), statistics, system.model.snapshot())


def _drives(
    system: System, seen: Observation, joints: list[str], loads: np.ndarray | None, driven: list[int],
    found: LoopRecord | None,
) -> tuple[list[str], np.ndarray, np.ndarray]:  # fmt: skip
    """Names of the drives, their forces and their speeds; of cut joints: their multipliers are their forces."""
    names = [system.speeds[c] for c in driven]
    driving, pace = np.zeros((len(seen.q), 0)), seen.v[:, driven]
    if loads is not None and driven:
        listed = [c for _, c in system.driving_columns([system.load_of(name) for name in joints])]
        driving = loads[:, [6 * len(joints) + listed.index(c) for c in driven]]
    rows = [r for r, row in enumerate(system.frozen.rows) if row.driven]
    if found is not None and rows:
        names += [system.frozen.rows[r].driven for r in rows]
        driving = np.hstack([driving, -found.multipliers[:, rows]])
        pace = np.hstack([pace, found.paces[:, rows]])
    return names, driving, pace


def _motion(system: System, seen: Observation, driven: np.ndarray) -> dict[str, Any]:
    """State, bodies, energies; `driven`: power of all drives."""
    quaternions = _continuous(matrix_to_quaternion(seen.rotation))
    functional = np.array([bool(BY_CODE[int(code)].KIND.signals) for code in system.layout.arrays.force_kind], dtype=bool)
    applied = seen.force[:, functional, 2].sum(axis=1) + driven
    return {
        "q": (("time", "coordinate"), seen.q), "v": (("time", "speed"), seen.v), "a": (("time", "speed"), seen.a),
        "position": (("time", "body", "axis"), seen.position, {"units": "m"}),
        "orientation": (("time", "body", "quaternion"), quaternions, {"units": "1"}),
        "bryant": (("time", "body", "axis"), bryant_angles(seen.rotation), {"units": "rad", "of": "turns about x, y', z''"}),
        "velocity": (("time", "body", "axis"), seen.velocity, {"units": "m/s"}),
        "angular_velocity": (("time", "body", "axis"), seen.angular_velocity, {"units": "rad/s"}),
        "acceleration": (("time", "body", "axis"), seen.acceleration, {"units": "m/s2"}),
        "angular_acceleration": (("time", "body", "axis"), seen.angular_acceleration, {"units": "rad/s2"}),
        "kinetic": ("time", seen.kinetic, {"units": "J"}), "potential": ("time", seen.potential, {"units": "J"}),
        "energy": ("time", seen.kinetic + seen.potential, {"units": "J"}),
        "power": ("time", applied, {"units": "W", "of": "applied forces and drives: d(energy)/dt = power - dissipated"}),
        "dissipated": ("time", seen.dissipated, {"units": "W"}),
        "momentum": (("time", "component"), seen.momentum),
    }  # fmt: skip


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
    """Of the Dataset: whose it is, units of what has one for each entry."""
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


def _continuous(quaternions: np.ndarray) -> np.ndarray:
    """q and -q are one rotation: take the sign that stays near the instant before."""
    if len(quaternions) < 2:
        return quaternions
    signs = np.sign(np.sum(quaternions[1:] * quaternions[:-1], axis=-1))
    signs[signs == 0] = 1
    quaternions[1:] *= np.cumprod(signs, axis=0)[..., None]
    return quaternions
