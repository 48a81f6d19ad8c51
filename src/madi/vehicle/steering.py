"""Rack and pinion steering: the rack slides across the chassis and pulls the knuckles by tie rods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from madi.errors import InputError, positive_number
from madi.vehicle.parts import SIDES, link
from madi.vehicle.points import apart, mirrored, off_line, place
from madi.vehicle.suspension import tie_rod

if TYPE_CHECKING:
    from madi.vehicle.car import Car


@dataclass(frozen=True)
class Rack:
    """A rack: its joint (slide to the left, m), how far it can go each way, and what it steers."""

    name: str
    axle: str
    travel: float


def rack(
    car: Car, name: str, axle: str, points: Any, *, travel: float = 0.08, mass: float = 3.0, rod_mass: float = 1.0
) -> Rack:  # fmt: skip
    """Rack on a prismatic joint across the chassis, tie rods universal on it and spherical on the knuckles. It is held in
    the middle until something steers it (`Car.steer`, `Car.follow`)."""
    where = f"rack {name!r}"
    left = place(points, ("tie_inner", "tie_outer"), where)
    apart(left, "tie_inner", "tie_outer", where, 0.02)
    positive_number(travel, f"{where}: travel")
    corners = car.axles[axle].corners
    kingpin = corners["left"].kingpin
    if kingpin is None:
        raise InputError(f"{where}: axle {axle!r} ({car.axles[axle].kind}) has nothing to steer")
    if corners["left"].steered:
        raise InputError(f"{where}: axle {axle!r} has a rack or toe links already")
    ends = {"upper kingpin": kingpin[0], "lower kingpin": kingpin[1], "tie_outer": left["tie_outer"]}
    off_line(ends, "upper kingpin", "lower kingpin", "tie_outer", where, 0.01)
    m, middle = car.model, left["tie_inner"] * (1.0, 0.0, 1.0)
    across = [mirrored(left["tie_inner"], side) for side in SIDES]
    link(m, name, mass, across)
    m.prismatic(name, "chassis", name, at=middle, axis=(0.0, 1.0, 0.0))
    m.lock(name)
    for side in SIDES:
        inner, outer = (mirrored(left[point], side) for point in ("tie_inner", "tie_outer"))
        tie_rod(car, f"{name}_{side}_rod", name, corners[side].knuckle, inner, outer, rod_mass)
        corners[side].steered = True
    found = Rack(name, axle, float(travel))
    car.racks[name] = found
    return found
