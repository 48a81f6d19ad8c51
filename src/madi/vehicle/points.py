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

from madi.errors import InputError

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
LARGEST = 1_000_000  # bytes


def read_points(path: str | Path) -> dict[str, np.ndarray]:
    """Hard points of a file, in metres."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise InputError(f"{file}: longer than {LARGEST} bytes; that is no list of hard points")
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    unit, table = _csv(text, file) if file.suffix.lower() == ".csv" else _yaml(text, file)
    if unit not in UNITS:
        raise InputError(f"{file}: units {unit!r}; write one of {', '.join(UNITS)}")
    return {name: UNITS[unit] * _three(value, f"{file}: point {name!r}") for name, value in table.items()}


def _yaml(text: str, file: Path) -> tuple[Any, dict[str, Any]]:
    import yaml

    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise InputError(f"{file}{line}: not YAML ({getattr(error, 'problem', error)})") from None
    except RecursionError:
        raise InputError(f"{file}: nested too deeply") from None
    points = data.get("points") if isinstance(data, dict) else None
    if not isinstance(points, dict) or not all(isinstance(name, str) for name in points):
        raise InputError(f"{file}: write `units: mm` and `points:` with lines `name: [x, y, z]`")
    return data.get("units", "m"), points


def _csv(text: str, file: Path) -> tuple[Any, dict[str, Any]]:
    unit, table = "m", {}
    for k, row in enumerate(csv.reader(io.StringIO(text)), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if cells[0].lower() == "units" and len(cells) > 1:
            unit = cells[1]
        elif [cell.lower() for cell in cells[1:4]] == ["x", "y", "z"]:
            continue  # a heading
        elif len(cells) != 4:
            raise InputError(f"{file}, line {k}: {row!r} is not name, x, y, z")
        else:
            try:
                table[cells[0]] = [float(cell) for cell in cells[1:]]
            except ValueError:
                raise InputError(f"{file}, line {k}: {row[1:]!r} are not three numbers") from None
    return unit, table


def _three(value: Any, what: str) -> np.ndarray:
    given = list(value) if isinstance(value, list | tuple | np.ndarray) else []
    whole = len(given) == 3 and all(isinstance(x, numbers.Real) and not isinstance(x, bool) for x in given)
    point = np.array(given, dtype=float) if whole else np.full(3, np.nan)
    if not np.isfinite(point).all():
        raise InputError(f"{what}: {value!r} is not three finite numbers")
    return point


def place(points: Any, needed: tuple[str, ...], where: str) -> dict[str, np.ndarray]:
    """The points a block needs, from a dictionary or a file, or an error that names those that are missing."""
    table = read_points(points) if isinstance(points, str | Path) else points
    if not isinstance(table, Mapping):
        raise InputError(f"{where}: give hard points as a dictionary or a file")
    missing = [name for name in needed if name not in table]
    if missing:
        raise InputError(f"{where}: hard points {', '.join(missing)} missing; it needs {', '.join(needed)}")
    return {name: _three(value, f"{where}: point {name!r}") for name, value in table.items()}


def mirrored(point: np.ndarray, side: str) -> np.ndarray:
    """A left point as it is on `side`."""
    return point * (1.0, 1.0 if side == "left" else -1.0, 1.0)


def apart(points: dict[str, np.ndarray], a: str, b: str, where: str, least: float = 1e-3) -> np.ndarray:
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
