"""Suspensions from hard points: McPherson strut, double wishbone, trailing arm, twist beam; the anti-roll bar.

Each draws both sides and returns an `Axle`. Spring forces: stiffness (N/m), preload (N, in the design position), damping
(N s/m). Masses not given are those of a small car.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import a_number, not_negative, positive_number
from madi.vehicle.parts import SIDES, Axle, Corner, across_from, link
from madi.vehicle.points import apart, mirrored, off_line, place

if TYPE_CHECKING:
    from madi.vehicle.car import Car

MCPHERSON = ("lca_front", "lca_rear", "lca_ball", "strut_top", "strut_bottom", "wheel_centre")
WISHBONE = ("uca_front", "uca_rear", "uca_ball", "lca_front", "lca_rear", "lca_ball", "spring_top", "spring_bottom",
            "wheel_centre")  # fmt: skip
TRAILING = ("pivot_inner", "pivot_outer", "spring_top", "spring_bottom", "wheel_centre")
TWIST = ("pivot", "beam", "spring_top", "spring_bottom", "damper_top", "damper_bottom", "wheel_centre")
BAR = ("bar", "link_top", "link_bottom")


def _side(points: dict[str, np.ndarray], side: str) -> dict[str, np.ndarray]:
    return {name: mirrored(point, side) for name, point in points.items()}


def _spring(car: Car, corner: Corner, name: str, a: str, b: str, ends: Any, stiffness: float, damping: float,
            preload: float) -> None:  # fmt: skip
    """Spring and damper whose length is the suspension's travel; preload: pushes apart in the design position."""
    where = f"spring {name!r}"
    stiffness, damping = positive_number(stiffness, f"{where}: stiffness"), not_negative(damping, f"{where}: damping")
    preload = a_number(preload, f"{where}: preload")
    length = float(np.linalg.norm(np.subtract(*ends)))
    longer = preload / stiffness
    car.model.spring_damper(name, a, b, at=tuple(ends), stiffness=stiffness, damping=damping, free_length=length + longer)
    corner.springs.append(name)


def _arm(car: Car, name: str, side: str, p: dict[str, np.ndarray], front: str, rear: str, ball: str, mass: float,
         inertia: Any) -> None:  # fmt: skip
    """An A-arm on a revolute joint (of its own name) through its two pivots."""
    middle = 0.5 * (p[front] + p[rear])
    link(car.model, name, mass, [middle, p[ball]], inertia, side)
    car.model.revolute(name, "chassis", name, at=middle, axis=p[front] - p[rear])


def mcpherson(
    car: Car, name: str, points: Any, *, stiffness: float, damping: float, preload: float = 0.0, arm_mass: float = 5.0,
    strut_mass: float = 5.0, knuckle_mass: float = 15.0, arm_inertia: Any = None, strut_inertia: Any = None,
    knuckle_inertia: Any = (0.35, 0.3, 0.25),
) -> Axle:  # fmt: skip
    """Lower arm revolute to the chassis, spherical to the knuckle; strut spherical at its top, the knuckle slides on it."""
    where = f"McPherson axle {name!r}"
    left = place(points, MCPHERSON, where)
    off_line(left, "lca_front", "lca_rear", "lca_ball", where)
    apart(left, "strut_bottom", "strut_top", where)
    apart(left, "lca_ball", "strut_top", where, 0.01)
    axle = Axle(name, "McPherson", {})
    for side in SIDES:
        p, stem, m = _side(left, side), f"{name}_{side}", car.model
        arm, strut, knuckle = f"{stem}_arm", f"{stem}_strut", f"{stem}_knuckle"
        _arm(car, arm, side, p, "lca_front", "lca_rear", "lca_ball", arm_mass, arm_inertia)
        link(m, strut, strut_mass, [p["strut_top"], 0.5 * (p["strut_top"] + p["strut_bottom"])], strut_inertia, side)
        link(m, knuckle, knuckle_mass, [p["wheel_centre"]], knuckle_inertia, side)
        m.spherical(f"{stem}_top", "chassis", strut, at=p["strut_top"])
        m.prismatic(f"{stem}_slide", strut, knuckle, at=p["strut_bottom"], axis=p["strut_top"] - p["strut_bottom"])
        m.spherical(f"{stem}_ball", arm, knuckle, at=p["lca_ball"])
        corner = Corner(side, knuckle, p["wheel_centre"], knuckle=knuckle, arm=arm)
        corner.kingpin = (p["strut_top"], p["lca_ball"])
        ends = (p["strut_top"], p["strut_bottom"])
        _spring(car, corner, f"{stem}_spring", strut, knuckle, ends, stiffness, damping, preload)
        axle.corners[side] = corner
    car.axles[name] = axle
    return axle


def double_wishbone(
    car: Car, name: str, points: Any, *, stiffness: float, damping: float, preload: float = 0.0, upper_mass: float = 3.0,
    lower_mass: float = 6.0, knuckle_mass: float = 15.0, toe_mass: float = 1.0, upper_inertia: Any = None,
    lower_inertia: Any = None, knuckle_inertia: Any = (0.35, 0.3, 0.25),
) -> Axle:  # fmt: skip
    """Two A-arms with ball joints at the knuckle; spring and damper between the lower arm and the chassis."""
    where = f"double wishbone axle {name!r}"
    left = place(points, WISHBONE, where)
    off_line(left, "uca_front", "uca_rear", "uca_ball", where)
    off_line(left, "lca_front", "lca_rear", "lca_ball", where)
    apart(left, "lca_ball", "uca_ball", where, 0.01)
    apart(left, "spring_bottom", "spring_top", where)
    toe = "toe_inner" in left or "toe_outer" in left
    if toe:
        place(left, ("toe_inner", "toe_outer"), where)
        off_line(left, "lca_ball", "uca_ball", "toe_outer", where)
    axle = Axle(name, "double wishbone", {})
    for side in SIDES:
        p, stem, m = _side(left, side), f"{name}_{side}", car.model
        upper, lower, knuckle = f"{stem}_upper", f"{stem}_lower", f"{stem}_knuckle"
        _arm(car, upper, side, p, "uca_front", "uca_rear", "uca_ball", upper_mass, upper_inertia)
        _arm(car, lower, side, p, "lca_front", "lca_rear", "lca_ball", lower_mass, lower_inertia)
        link(m, knuckle, knuckle_mass, [p["wheel_centre"]], knuckle_inertia, side)
        m.spherical(f"{stem}_lower_ball", lower, knuckle, at=p["lca_ball"])
        m.spherical(f"{stem}_upper_ball", upper, knuckle, at=p["uca_ball"])
        corner = Corner(side, knuckle, p["wheel_centre"], knuckle=knuckle, arm=lower)
        corner.kingpin = (p["uca_ball"], p["lca_ball"])
        if toe:
            corner.steered = True
            tie_rod(car, f"{stem}_toe", "chassis", knuckle, p["toe_inner"], p["toe_outer"], toe_mass)
        ends = (p["spring_top"], p["spring_bottom"])
        _spring(car, corner, f"{stem}_spring", "chassis", lower, ends, stiffness, damping, preload)
        axle.corners[side] = corner
    car.axles[name] = axle
    return axle


def tie_rod(car: Car, name: str, a: str, b: str, inner: np.ndarray, outer: np.ndarray, mass: float) -> None:
    """A rod, universal at its inner end and spherical at the outer one."""
    m = car.model
    link(m, name, mass, [inner, outer])
    along = outer - inner
    first = across_from(along)
    m.universal(f"{name}_inner", a, name, at=inner, axes=(first, np.cross(along / np.linalg.norm(along), first)))
    m.spherical(f"{name}_outer", name, b, at=outer)


def trailing_arm(
    car: Car, name: str, points: Any, *, stiffness: float, damping: float, preload: float = 0.0, arm_mass: float = 15.0,
    arm_inertia: Any = None,
) -> Axle:  # fmt: skip
    """An arm on one revolute joint carries the wheel."""
    where = f"trailing arm axle {name!r}"
    left = place(points, TRAILING, where)
    off_line(left, "pivot_inner", "pivot_outer", "wheel_centre", where, 0.05)
    apart(left, "spring_bottom", "spring_top", where)
    axle = Axle(name, "trailing arm", {})
    for side in SIDES:
        p, stem = _side(left, side), f"{name}_{side}"
        arm = f"{stem}_arm"
        _arm(car, arm, side, p, "pivot_outer", "pivot_inner", "wheel_centre", arm_mass, arm_inertia)
        corner = Corner(side, arm, p["wheel_centre"], knuckle=arm, arm=arm)
        ends = (p["spring_top"], p["spring_bottom"])
        _spring(car, corner, f"{stem}_spring", "chassis", arm, ends, stiffness, damping, preload)
        axle.corners[side] = corner
    car.axles[name] = axle
    return axle


def twist_beam(
    car: Car, name: str, points: Any, *, stiffness: float, damping: float, torsion: float, preload: float = 0.0,
    torsion_damping: float = 0.0, arm_mass: float = 20.0, rod_mass: float = 1.5, tube_mass: float = 1.5,
    arm_inertia: Any = None,
) -> Axle:  # fmt: skip
    """Two arms on spherical joints, each with its half of the beam; the halves turn against each other about the beam (and
    slide along it: two spherical joints and a hinge alone would leave no roll) against the beam's torsional stiffness
    (N m/rad). Shock absorbers: a rod spherical on the chassis, sliding in a tube that is universal on the arm (P2)."""
    where = f"twist beam axle {name!r}"
    torsion, damping = not_negative(torsion, f"{where}: torsion"), not_negative(damping, f"{where}: damping")
    left = place(points, TWIST, where)
    beam = left["beam"] * (1.0, 0.0, 1.0)
    off_line({**left, "right pivot": mirrored(left["pivot"], "right")}, "right pivot", "pivot", "wheel_centre", where, 0.05)
    apart(left, "damper_bottom", "damper_top", where)
    apart(left, "spring_bottom", "spring_top", where)
    axle = Axle(name, "twist beam", {})
    m = car.model
    for side in SIDES:
        p, stem = _side(left, side), f"{name}_{side}"
        arm, rod, tube = f"{stem}_arm", f"{stem}_rod", f"{stem}_tube"
        link(m, arm, arm_mass, [p["pivot"], p["wheel_centre"]], arm_inertia, side)
        m.spherical(f"{stem}_pivot", "chassis", arm, at=p["pivot"])
        along = p["damper_top"] - p["damper_bottom"]
        link(m, rod, rod_mass, [p["damper_top"], p["damper_top"] - 0.5 * along])
        link(m, tube, tube_mass, [p["damper_bottom"], p["damper_bottom"] + 0.5 * along])
        m.spherical(f"{stem}_damper_top", "chassis", rod, at=p["damper_top"])
        m.prismatic(f"{stem}_damper_slide", rod, tube, at=p["damper_bottom"], axis=along)
        first = across_from(along, np.array([0.0, 1.0, 0.0]))
        m.universal(
            f"{stem}_damper_eye", arm, tube, at=p["damper_bottom"],
            axes=(first, np.cross(along / np.linalg.norm(along), first)),
        )  # fmt: skip
        corner = Corner(side, arm, p["wheel_centre"], knuckle=arm, arm=arm)
        ends = (p["spring_top"], p["spring_bottom"])
        _spring(car, corner, f"{stem}_spring", "chassis", arm, ends, stiffness, 0.0, preload)
        m.spring_damper(
            f"{stem}_damper", "chassis", arm, at=(p["damper_top"], p["damper_bottom"]), stiffness=0.0, damping=damping
        )
        axle.corners[side] = corner
    one, other = (f"{name}_{side}_arm" for side in SIDES)
    m.cylindrical(f"{name}_beam", one, other, at=beam, axis=(0.0, 1.0, 0.0))
    m.torsion_bar(f"{name}_torsion", one, other, axis=(0.0, 1.0, 0.0), stiffness=torsion, damping=torsion_damping)
    car.axles[name] = axle
    return axle


def anti_roll_bar(
    car: Car, name: str, axle: str, points: Any, stiffness: float, *, mass: float = 2.0, damping: float = 0.0
) -> None:
    """Two half bars that turn on the chassis about the bar's axis, torsion between them (N m/rad), massless drop links to
    the arms."""
    where = f"anti-roll bar {name!r}"
    positive_number(stiffness, f"{where}: stiffness")
    left = place(points, BAR, where)
    off_line({**left, "right bar": mirrored(left["bar"], "right")}, "right bar", "bar", "link_top", where, 0.02)
    apart(left, "link_top", "link_bottom", where, 0.02)
    m, halves = car.model, []
    for side in SIDES:
        p, half = _side(left, side), f"{name}_{side}"
        link(m, half, 0.5 * mass, [p["bar"], p["link_top"]])
        m.revolute(half, "chassis", half, at=p["bar"], axis=(0.0, 1.0, 0.0))
        corner = car.axles[axle].corners[side]
        m.distance(f"{half}_link", half, corner.arm, at=(p["link_top"], p["link_bottom"]))
        halves.append(half)
    m.torsion_bar(f"{name}_torsion", halves[0], halves[1], axis=(0.0, 1.0, 0.0), stiffness=stiffness, damping=damping)
