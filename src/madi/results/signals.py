"""Signals of a run by readable names."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from madi.errors import InputError, closest
from madi.kernel import LEAST_SIZE
from madi.results.attitude import PARTS as ATTITUDE
from madi.results.attitude import attitude
from madi.results.loads import COMPONENTS, component, load_parts
from madi.results.loads import PARTS as LOADS

AXES = ["x", "y", "z"]
# ending: (variable, what it belongs to, axis)
PARTS = {
    **{a: ("position", "body", a) for a in AXES}, **{"v" + a: ("velocity", "body", a) for a in AXES},
    **{"a" + a: ("acceleration", "body", a) for a in AXES}, **{"w" + a: ("angular_velocity", "body", a) for a in AXES},
    **{"r" + a: ("bryant", "body", a) for a in AXES},
}  # fmt: skip
STATES = (("q", "coordinate", ""), ("q", "coordinate", ".q"), ("v", "speed", ".v"), ("a", "speed", ".a"),
          ("cut_q", "cut", ""), ("cut_q", "cut", ".q"), ("cut_v", "cut", ".v"),
          ("driving_force", "driven", ".drive"))  # fmt: skip
RENAMED = {"step_opening": "step_residual"}
OF_FORCES = {
    "force": "force_value",
    "potential": "force_potential",
    "power": "force_power",
    "dissipated": "force_dissipated",
}


def _gap(data: Any, points: list[int]) -> np.ndarray:
    """The smallest of its points."""
    return np.asarray(np.min(data["contact_gap"].values[:, points], axis=1))


def _slip(data: Any, points: list[int]) -> np.ndarray:
    """The fastest of the points that touch."""
    speeds = np.linalg.norm(data["contact_slip"].values[:, points], axis=2)
    return np.asarray(np.max(np.where(data["contact_push"].values[:, points] > 0, speeds, 0.0), axis=1))


def _friction(data: Any, points: list[int]) -> np.ndarray:
    """The size of the sum of what acts in the planes of contact."""
    push, normal = data["contact_push"].values[:, points, None], data["contact_normal"].values[:, points]
    across = data["contact_force"].values[:, points] - push * normal
    return np.asarray(np.linalg.norm(across.sum(axis=1), axis=1))


OF_CONTACTS = {"gap": _gap, "slip": _slip, "friction": _friction}


def listed(data: Any, dim: str) -> list[str]:
    """Names along a dimension; none where the run has no such thing."""
    return [str(name) for name in data[dim].values] if dim in data.coords else []


def has(data: Any, dim: str, name: str) -> bool:
    """Whether a dimension has an entry of that name; its index knows, so that nothing is searched for in large runs."""
    return dim in data.coords and name in data.indexes[dim]


def states_of(data: Any) -> list[str]:
    """First-order states: entries of v that are no velocity."""
    return [name for name in data.attrs.get("states", "").split("|") if name]


def unit_of(data: Any, variable: str, dim: str, name: str) -> str:
    """The unit of one entry."""
    words = data.attrs.get(f"{variable}_units", "").split("|")
    place = data.indexes[dim].get_loc(name)
    return words[place] if place < len(words) else ""


def signal(data: Any, name: str) -> tuple[np.ndarray, str]:
    """Values and unit of a signal, or an error that lists what there is. The values are the caller's own: whoever turns them
    into degrees where they are must not turn the states, from which other signals follow."""
    values, unit = _seen(data, name)
    return np.array(values), unit


def _seen(data: Any, name: str) -> tuple[np.ndarray, str]:
    """The same; values may be part of the run's."""
    if not isinstance(name, str):
        raise InputError(f"signals have names, such as {str(data['coordinate'].values[0])!r}, not {type(name).__name__}s")
    if name in RENAMED:
        raise InputError(f"signal {name!r} is called {RENAMED[name]!r} now")
    if name in data and data[name].dims == ("time",):
        return data[name].values, data[name].attrs.get("units", "")
    element, _, part = name.rpartition(".")
    if part in PARTS:  # of a body first: a joint of its name may have coordinates called so
        variable, dim, axis = PARTS[part]
        if variable in data and has(data, dim, element):
            return data[variable].sel({dim: element, "axis": axis}).values, data[variable].attrs["units"]
    if part in ATTITUDE and has(data, "body", element):
        return attitude(data, element, part)
    if (part in COMPONENTS or part in LOADS) and has(data, "joint", element):
        variable, k, *word = COMPONENTS.get(part) or LOADS[part]
        return component(data, element, variable, k, *word), data[variable].attrs["units"]
    for of_state, variable in ((name, "v"), (name.removesuffix(".rate"), "a")):
        if of_state in states_of(data):
            return data[variable].sel(speed=of_state).values, unit_of(data, "v", "speed", of_state)
    for variable, dim, ending in STATES:
        stem = name.removesuffix(ending) if ending else name
        if variable in data and (not ending or name.endswith(ending)) and has(data, dim, stem):
            return data[variable].sel({dim: stem}).values, unit_of(data, variable, dim, stem)
    if part in OF_CONTACTS and "contact" in data.coords:
        names_ = listed(data, "contact")
        points = [k for k, one in enumerate(names_) if one == element or one.rpartition(".")[0] == element]
        if points:
            return OF_CONTACTS[part](data, points), "m" if part == "gap" else "m/s" if part == "slip" else "N"
    if part == "mode" and has(data, "switching", element):
        return data["mode"].sel(switching=element).values, "1"
    if has(data, "force", name):
        return data["force_value"].sel(force=name).values, unit_of(data, "force", "force", name)
    if part in OF_FORCES and has(data, "force", element):
        unit = unit_of(data, "force", "force", element) if part == "force" else "J" if part == "potential" else "W"
        return data[OF_FORCES[part]].sel(force=element).values, unit
    if part in ("force", "moment") and has(data, "joint", element):
        variable = data[f"reaction_{part}"].sel(joint=element)
        return np.linalg.norm(variable.values, axis=-1), "N" if part == "force" else "N m"
    raise InputError(_missing(data, name, element, part))


def _missing(data: Any, name: str, element: str, part: str) -> str:
    """What to ask for instead."""
    loads = part in ("force", "moment") or part in COMPONENTS or part in LOADS
    if loads and element not in listed(data, "force") and element not in listed(data, "body"):
        return f"the load {name!r} was not recorded; ask for it: madi.simulate(..., reactions=[{element!r}])"
    joint = name.split(".")[0]
    if joint not in listed(data, "body") and any(row.endswith(f"at joint {joint}") for row in listed(data, "constraint")):
        return f"joint {joint!r} closes a loop and was cut: {name!r} cannot be measured there. With cut=False it is kept"
    near = closest(name, names(data), 3, 0.6)
    told = f" Near it: {', '.join(near)}." if near else ""
    groups = {"Coordinates": "coordinate", "bodies": "body", "force elements": "force", "joints with loads": "joint"}
    parts = [f"{title}: {_some(listed(data, dim))}" for title, dim in groups.items() if listed(data, dim)]
    of_bodies = "Bodies have .x .vx .ax .wx .rx .roll .yaw .ax_body and so on"
    return f"there is no signal {name!r}.{told} {'; '.join(parts)}. {of_bodies}"


def _some(words: list[str]) -> str:
    return ", ".join(words[:12]) + (f" and {len(words) - 12} more" if len(words) > 12 else "")


def names(data: Any) -> list[str]:
    """All signals of a run."""
    found = [str(name) for name in data.data_vars if data[name].dims == ("time",)]
    states = states_of(data)
    for variable, dim, ending in STATES:
        if variable in data and ending != ".q":
            found += [f"{name}{ending}" for name in listed(data, dim) if name not in states or dim != "speed"]
    found += [f"{name}{ending}" for name in states for ending in ("", ".rate")]
    for part, (variable, dim, _) in PARTS.items():
        if variable in data:
            found += [f"{name}.{part}" for name in listed(data, dim)]
    found += [f"{name}.{part}" for part in ATTITUDE for name in listed(data, "body")]
    found += [f"{name}.{part}" for name in listed(data, "force") for part in OF_FORCES]
    elements = dict.fromkeys(n if n in listed(data, "force") else n.rpartition(".")[0] for n in listed(data, "contact"))
    found += [f"{name}.{part}" for name in elements for part in OF_CONTACTS]
    found += [f"{name}.mode" for name in listed(data, "switching")]
    found += [f"{name}.{part}" for name in listed(data, "joint") for part in load_parts(data, name)]
    times = Counter(found)
    taken = [name for name in listed(data, "coordinate") if times[name] > 1]  # a body's signals have these names
    return [*dict.fromkeys(found), *(f"{name}.q" for name in taken)]


def panels(found: list[tuple[str, np.ndarray, str]], spread: float = 30.0) -> list[list[tuple[str, np.ndarray, str]]]:
    """Signals that can share an axis: of one unit, and of ranges that are not too different to be seen together."""
    groups: list[list[tuple[str, np.ndarray, str]]] = []
    sizes: list[tuple[float, float]] = []
    for entry in found:
        _, values, unit = entry
        size = float(np.nanmax(np.abs(values), initial=0.0))
        for k, group in enumerate(groups):
            low, high = sizes[k]
            fits = size == 0 or high == 0 or (size < spread * max(low, LEAST_SIZE) and high < spread * size)
            if group[0][2] == unit and fits:
                group.append(entry)
                known = [s for s in (low, high, size) if s > 0] or [0.0]
                sizes[k] = min(known), max(known)
                break
        else:
            groups.append([entry])
            sizes.append((size, size))
    return groups
