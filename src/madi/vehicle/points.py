"""Hard points: named places of a vehicle in its design position, x forward, y left, z up; m, or mm from files.

Left points are given; right ones are their mirror images. A file is YAML (safe) or CSV:

    units: mm                       units, mm
    points:                         lca_ball, 5, 720, -80
      lca_ball: [5, 720, -80]       strut_top, -20, 580, 540
"""

from __future__ import annotations

import csv
import io
import numbers
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import InputError, closest
from madi.files import read_small

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
LEAST_APART = 1e-3  # m: between two points, or a wheel and the middle
FAR = 25.0  # m: no point of a vehicle is farther from its origin


def read_points(path: str | Path) -> dict[str, np.ndarray]:
    """Hard points of a file, in metres."""
    text, file = read_small(path, "list of hard points"), Path(path)
    unit, table = _csv(text, file) if file.suffix.lower() == ".csv" else _yaml(text, file)
    if not isinstance(unit, str) or unit not in UNITS:
        raise InputError(f"{file}: units {_short(unit)}; write one of {', '.join(UNITS)}")
    return {name: UNITS[unit] * _three(value, f"{file}: point {name!r}") for name, value in table.items()}


def _yaml(text: str, file: Path) -> tuple[Any, dict[str, Any]]:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Without aliases, which can make a small file endless, and with double names told."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("aliases (*name) are not read")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            names = [key.value for key, _ in node.value]
            for name in names:
                if isinstance(name, str) and names.count(name) > 1:
                    raise yaml.YAMLError(f"{name!r} is given twice")
            return super().construct_mapping(node, deep)

    try:
        data = yaml.load(text, Loader)  # a safe loader
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{file}{line}: not YAML ({_short(getattr(error, 'problem', None) or error)})") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply") from None
    points = data.get("points") if isinstance(data, dict) else None
    if not isinstance(points, dict) or not all(isinstance(name, str) for name in points):
        raise InputError(f"{file}: write `units: mm` and `points:` with lines `name: [x, y, z]`")
    others = [key for key in data if key not in ("units", "points")]
    if others:
        raise InputError(f"{file}: {_short(others[0])} is not known; there are `units` and `points`")
    return data.get("units", "m"), points


def _short(value: Any) -> str:
    """For a message: what a stranger's file says may be long."""
    if isinstance(value, str):
        return repr(value[:60])
    return str(value)[:80] if isinstance(value, Exception | float) else type(value).__name__


def _csv(text: str, file: Path) -> tuple[Any, dict[str, Any]]:
    unit, table = "m", {}
    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise InputError(f"{file}: not CSV ({error})") from None
    for k, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if cells[0].lower() == "units" and len(cells) > 1:
            unit = cells[1]
        elif [cell.lower() for cell in cells[1:4]] == ["x", "y", "z"]:
            continue  # a heading
        elif len(cells) != 4:
            raise InputError(f"{file}, line {k}: {','.join(row)[:60]!r} is not name, x, y, z")
        elif cells[0] in table:
            raise InputError(f"{file}, line {k}: point {cells[0]!r} is given twice")
        else:
            try:
                table[cells[0]] = [float(cell) for cell in cells[1:]]
            except ValueError:
                raise InputError(f"{file}, line {k}: {','.join(row[1:])[:60]!r} are not three numbers") from None
    return unit, table


def _three(value: Any, what: str) -> np.ndarray:
    given = list(value) if isinstance(value, list | tuple | np.ndarray) and len(value) == 3 else []
    try:
        whole = len(given) == 3 and all(isinstance(x, numbers.Real | str) and not isinstance(x, bool) for x in given)
        point = np.array([float(x) for x in given]) if whole else np.full(3, np.nan)  # YAML takes 1e3 for a word
    except (ValueError, OverflowError):
        point = np.full(3, np.nan)
    if not np.isfinite(point).all():
        told = ", ".join(map(_short, given)) if given else _short(value)
        raise InputError(f"{what}: {told} is not three finite numbers")
    return point


def place(points: Any, needed: tuple[str, ...], where: str) -> dict[str, np.ndarray]:
    """The points a block needs, from a dictionary or a file, or an error that names those that are missing."""
    table = read_points(points) if isinstance(points, str | Path) else points
    if not isinstance(table, Mapping):
        raise InputError(f"{where}: give hard points as a dictionary or a file")
    missing = [name for name in needed if name not in table]
    if missing:
        near = [other for name in missing for other in closest(name, [str(key) for key in table], 1, 0.8)]
        hint = f" (there is {', '.join(map(repr, near))})" if near else ""
        raise InputError(f"{where}: hard points {', '.join(missing)} missing{hint}; it needs {', '.join(needed)}")
    found = {str(name): _three(value, f"{where}: point {name!r}") for name, value in table.items()}
    for name in needed:
        if np.max(np.abs(found[name])) > FAR:
            far = np.max(np.abs(found[name]))
            raise InputError(f"{where}: point {name} is {far:g} m away; points are in metres (files may say mm)")
        if found[name][1] < (LEAST_APART if name == "wheel_centre" else 0.0):
            raise InputError(f"{where}: point {name} has y = {found[name][1]:g} m: give the left side's points (y > 0)")
    return found


def mirrored(point: np.ndarray, side: str) -> np.ndarray:
    """A left point as it is on `side`."""
    return point * (1.0, 1.0 if side == "left" else -1.0, 1.0)


def apart(points: dict[str, np.ndarray], a: str, b: str, where: str, least: float = LEAST_APART) -> np.ndarray:
    """The vector from a to b; an error that names both where they coincide."""
    vector = points[b] - points[a]
    if np.linalg.norm(vector) < least:
        raise InputError(f"{where}: hard points {a} and {b} coincide; the suspension would be degenerate")
    return vector


def off_line(points: dict[str, np.ndarray], a: str, b: str, c: str, where: str, least: float = 5e-3) -> None:
    """Point c must not lie on the line through a and b."""
    axis = apart(points, a, b, where)
    away = np.linalg.norm(np.cross(points[c] - points[a], axis)) / np.linalg.norm(axis)
    if away < least:
        raise InputError(
            f"{where}: hard point {c} lies {1e3 * away:.1f} mm from the line through {a} and {b}; the suspension would be "
            "degenerate"
        )
