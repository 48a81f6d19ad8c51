"""`Car`: a chassis, and what the building blocks put on it; wheels, tires, manoeuvres. Underneath it is a `madi.Model`.

Axes ISO 8855 (x forward, y left, z up), SI. Blocks are given left hard points in the design position and draw both sides.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import InputError, a_number, positive_number
from madi.forces import KINDS as FORCES
from madi.forces.road import Road
from madi.forces.tir import Tir, read_tir
from madi.model.model import Model
from madi.vehicle import manoeuvres, steering, suspension
from madi.vehicle.parts import SIDES, Axle, Corner, mirrored_inertia
from madi.vehicle.points import mirrored


@dataclass(frozen=True)
class Start:
    """The state a run starts from: madi.simulate(car.model, 5.0, **start.given())."""

    q0: np.ndarray
    v0: np.ndarray

    def __repr__(self) -> str:
        return (
            f"<start: {len(self.q0)} coordinates, {len(self.v0)} speeds, fastest {np.max(np.abs(self.v0), initial=0.0):.3g}>"
        )

    def given(self) -> dict[str, Any]:
        """As `simulate` takes it."""
        return {"start": (self.q0, self.v0)}


@dataclass
class Car:
    """A vehicle under construction. `model` is what is simulated; `axles` by name.

    >>> from madi import vehicle
    >>> car = vehicle.Car("cart", mass=800.0, inertia=(200.0, 900.0, 950.0), com=(0.0, 0.0, 0.5))
    >>> axle = car.trailing_arm("rear", {"pivot_inner": (0.4, 0.4, 0.3), "pivot_outer": (0.4, 0.6, 0.3),
    ...     "wheel_centre": (0.0, 0.7, 0.3), "spring_top": (0.1, 0.5, 0.6), "spring_bottom": (0.1, 0.5, 0.32)},
    ...     stiffness=20e3, damping=1500.0)
    >>> axle.corners["left"].carrier
    'rear_left_arm'
    """

    name: str
    mass: float
    inertia: Any
    com: Any = (0.0, 0.0, 0.5)
    gravity: Any = (0.0, 0.0, -9.81)
    fixed: bool = False  # on a rig: the chassis does not move
    model: Model = field(init=False)
    axles: dict[str, Axle] = field(default_factory=dict, init=False)
    racks: dict[str, steering.Rack] = field(default_factory=dict, init=False)
    driver: dict[str, Any] = field(default_factory=dict, init=False)  # what he does: speed, brake
    controls: list[str] = field(default_factory=list, init=False)  # forces of a driver, which do not act on a car at rest
    recipe: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.model = Model(self.name, gravity=self.gravity)
        self.model.body("chassis", self.mass, inertia=self.inertia, position=self.com)
        if self.fixed:
            self.model.fixed("chassis", self.model.ground, "chassis")
        else:
            self.model.free("chassis", self.model.ground, "chassis")

    def _block(self, axle: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Draw a block, and remember how: a rig draws one axle alone."""
        try:
            signature(function).bind(self, *given, **named)
        except TypeError as error:
            options = [name for name, one in signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY]
            raise InputError(f"{function.__name__} of {axle!r}: {error}; options: {', '.join(options) or 'none'}") from None
        m = self.model
        before: Any = [list(part) for part in (m.bodies, m.joints, m.forces, m.constraints, m.drives)]
        try:
            found = function(self, *given, **named)
        except InputError:  # nothing half-drawn stays
            m.bodies, m.joints, m.forces, m.constraints, m.drives = before
            raise
        self.recipe.append((axle, function, given, named))
        return found

    def _new(self, name: str) -> str:
        if not isinstance(name, str) or not name:
            raise InputError(f"car {self.name!r}: an axle's name is a word, not {name!r}")
        if name in self.axles:
            raise InputError(f"car {self.name!r}: axle {name!r} exists already")
        return name

    # ---- suspensions (suspension.py) ----------------------------------------------------------------------------------

    def mcpherson(self, name: str, points: Any, **given: Any) -> Axle:
        """McPherson struts. Points: lca_front, lca_rear, lca_ball, strut_top, strut_bottom, wheel_centre. Options:
        stiffness, damping, preload, arm_mass, strut_mass, knuckle_mass, arm_inertia, strut_inertia, knuckle_inertia."""
        return self._block(self._new(name), suspension.mcpherson, name, points, **given)

    def double_wishbone(self, name: str, points: Any, **given: Any) -> Axle:
        """Double wishbones. Points: uca_front, uca_rear, uca_ball, lca_front, lca_rear, lca_ball, spring_top, spring_bottom,
        wheel_centre; toe_inner, toe_outer for a link to the chassis instead of steering. Options: stiffness, damping,
        preload, upper_mass, lower_mass, knuckle_mass, toe_mass, upper_inertia, lower_inertia, knuckle_inertia."""
        return self._block(self._new(name), suspension.double_wishbone, name, points, **given)

    def trailing_arm(self, name: str, points: Any, **given: Any) -> Axle:
        """Trailing (or semi-trailing) arms. Points: pivot_inner, pivot_outer, spring_top, spring_bottom, wheel_centre.
        Options: stiffness, damping, preload, arm_mass, arm_inertia."""
        return self._block(self._new(name), suspension.trailing_arm, name, points, **given)

    def twist_beam(self, name: str, points: Any, **given: Any) -> Axle:
        """Twist beam. Points: pivot, beam, spring_top, spring_bottom, damper_top, damper_bottom, wheel_centre. Options:
        stiffness, damping, torsion (N m/rad), preload, torsion_damping, arm_mass, rod_mass, tube_mass, arm_inertia."""
        return self._block(self._new(name), suspension.twist_beam, name, points, **given)

    def anti_roll_bar(self, name: str, axle: Axle | str, points: Any, stiffness: float, **given: Any) -> None:
        """A bar on the chassis with drop links, `stiffness` in N m/rad. Points: bar (its end on the axis), link_top,
        link_bottom. Options: mass, damping."""
        axle = self._axle(axle)
        self._block(axle.name, suspension.anti_roll_bar, name, axle.name, points, stiffness, **given)

    def rack(self, name: str, axle: Axle | str, points: Any, **given: Any) -> steering.Rack:
        """Rack and tie rods. Points: tie_inner (on the rack), tie_outer (on the knuckle). Options: travel (m, each way),
        mass, rod_mass."""
        axle = self._axle(axle)
        found: steering.Rack = self._block(axle.name, steering.rack, name, axle.name, points, **given)
        return found

    # ---- wheels -------------------------------------------------------------------------------------------------------

    def wheels(
        self, axle: Axle | str, mass: float, inertia: Any, tire: Any = None, road: Road | None = None, camber: float = 0.0,
        toe: float = 0.0,
    ) -> None:  # fmt: skip
        """Wheels with tires on both sides. `inertia`: (across, spin, across). `tire`: numbers for `Model.tire` as a
        dictionary (radius, stiffness, ...), or for a Magic Formula tire {"tir": file, "relaxation": ...}. `camber` (top
        outwards) and `toe` (front inwards), rad, as drawn."""
        axle = self._axle(axle)
        if not (isinstance(tire, dict) and ("tir" in tire or "radius" in tire)) and tire is not None:
            raise InputError(
                f"wheels of {axle.name!r}: tire is a {type(tire).__name__}: give a dictionary with radius ..., or with tir"
            )
        self._block(axle.name, _wheels, axle.name, mass, inertia, tire, road, camber, toe)

    def _axle(self, axle: Axle | str) -> Axle:
        name = axle.name if isinstance(axle, Axle) else axle
        if name not in self.axles:
            raise InputError(f"car {self.name!r}: there is no axle {name!r}; there are: {', '.join(self.axles) or 'none'}")
        return self.axles[name]

    # ---- driving (manoeuvres.py) ----------------------------------------------------------------------------------------

    def steer(self, function: Callable[[Any], Any], rack: str | None = None, until: float = 20.0) -> None:
        """Move the rack by a function of time (m, to the left; with tie rods behind the axle that turns to the right):
        vehicle.sine(...), vehicle.step(...), your own. That it stays within the rack's travel is checked `until` then."""
        manoeuvres.steer(self, function, rack, until)

    def hold_speed(self, speed: float, axle: Axle | str | None = None, gain: float = 2000.0) -> None:
        """A driver who keeps the speed (m/s) by torque on an axle's wheels (default: all), in proportion to what is missing:
        gain in N per m/s. He lets go when `brake` sets in."""
        manoeuvres.hold_speed(self, speed, axle, gain)

    def brake(self, torque: float, start: float, rise: float = 0.1, front: float = 0.65) -> None:
        """Brake from `start` on: torque (N m, of all wheels together), risen after `rise` s, `front`: the first axle's
        share, 0 to 1. Below 1 rad/s of a wheel it fades (a viscous brake: on a hill the car creeps)."""
        manoeuvres.brake(self, torque, start, rise, front)

    def follow(self, path: Callable[[Any], Any], speed: float, rack: str | None = None, **given: Any) -> None:
        """A driver who steers along y = path(x), looking ahead: vehicle.double_lane_change(...)."""
        manoeuvres.follow(self, path, speed, rack, **given)

    def roll(self, speed: float) -> None:
        """Start as drawn, rolling at `speed`."""
        manoeuvres.roll(self, speed)

    def settle(self, speed: float = 0.0, way: str = "statics", duration: float = 4.0) -> Start:
        """The car at rest on its wheels, then rolling at `speed`: by equilibrium ("statics"), or by waiting ("time"). On
        level ground; drivers do not act."""
        return manoeuvres.settle(self, speed, way, duration)

    def trim(self, height: float = 0.0) -> None:
        """Preload the springs so that the car rests in its design position (its springs as long as drawn)."""
        manoeuvres.trim(self, height)

    def uncontrolled(self) -> Model:
        """The model without its driver."""
        quiet = copy.copy(self.model)
        quiet.forces = [force for force in self.model.forces if force.name not in self.controls]
        return quiet

    def rig(self, axle: str) -> Car:
        """The chassis, held, with that axle alone as its blocks drew it (its springs as they are now), without tires."""
        alone = Car(f"{self.name} {axle} on a rig", self.mass, self.inertia, self.com, self.gravity, fixed=True)
        for name, function, given, named in self.recipe:
            if name == self._axle(axle).name:
                alone.recipe.append((name, function, given, named))
                function(alone, *given, **named)
        mine = {force.name: force for force in self.model.forces}
        alone.model.forces = [force for force in alone.model.forces if not FORCES[force.kind].tire]
        for force in alone.model.forces:  # as they are now: trimmed, or changed by hand
            if force.name in mine:
                force.parameters = dict(mine[force.name].parameters)
        lags = {f"{corner.tire}_lag" for corner in alone.axles[axle].corners.values()}
        alone.model.bodies = [body for body in alone.model.bodies if body.name not in lags]
        alone.model.joints = [joint for joint in alone.model.joints if joint.name not in lags]
        return alone


def _wheels(car: Car, name: str, mass: float, inertia: Any, tire: Any, road: Road | None, camber: float, toe: float) -> None:
    axle, m = car.axles[name], car.model
    positive_number(mass, f"wheels of {name!r}: mass")
    for what, angle in (("camber", camber), ("toe", toe)):
        if abs(a_number(angle, f"wheels of {name!r}: {what}")) > 0.5:
            raise InputError(f"wheels of {name!r}: {what} {angle!r}: give it in rad")
    if axle.corners["left"].wheel:
        raise InputError(f"wheels of {name!r}: it has wheels already")
    for side in SIDES:
        corner = axle.corners[side]
        stem = f"{name}_{side}"
        centre = corner.centre
        corner.axis = spin_axis(camber, toe, side)
        corner.wheel, corner.spin, corner.tire = f"{stem}_wheel", f"{stem}_spin", f"{stem}_tire"
        m.body(corner.wheel, mass, inertia=about_axis(inertia, spin_axis(camber, toe, "left"), side), position=centre)
        m.revolute(corner.spin, corner.carrier, corner.wheel, at=centre, axis=corner.axis)
        if tire is None:
            continue
        given: dict[str, Any] = dict(tire)
        draw = m.magic_tire if "tir" in given else m.tire
        given = {"side": side, **given} if "tir" in given else given
        try:
            made = draw(corner.tire, corner.wheel, centre, corner.axis, road=road, **given)
        except TypeError as error:
            known = [one for one in signature(draw).parameters if one not in ("name", "body", "at", "axis", "road")]
            raise InputError(f"wheels of {name!r}: tire: {error}; its numbers are: {', '.join(known)}") from None
        corner.radius = float(made.parameters["radius"])


def spin_axis(camber: float, toe: float, side: str) -> np.ndarray:
    """The axis a wheel spins about, to the left when it rolls forward."""
    left = np.array([np.sin(toe) * np.cos(camber), np.cos(toe) * np.cos(camber), -np.sin(camber)])
    return left if side == "left" else -mirrored(left, side)


def about_axis(inertia: Any, axis: np.ndarray, side: str) -> Any:
    """A wheel's inertia, given with y along the axis it spins about, in global axes; `axis`: of the left wheel. In global
    axes as given, a wheel with camber or toe would be out of balance."""
    drawn = mirrored_inertia(inertia, "left")
    J = np.asarray(drawn, dtype=float)
    if np.array_equal(axis, (0.0, 1.0, 0.0)) or J.shape not in ((3,), (3, 3)):
        return mirrored_inertia(inertia, side)
    x = np.cross(axis, (0.0, 0.0, 1.0))
    x /= np.linalg.norm(x)
    A = np.column_stack([x, axis, np.cross(x, axis)])
    return mirrored_inertia(A @ (np.diag(J) if J.ndim == 1 else J) @ A.T, side)


def example_tire() -> Tir:
    """A car's tire to begin with: 205/60 R15 by the Magic Formula 6.1 (vehicle/data says where its numbers come from)."""
    return read_tir(Path(__file__).parent / "data" / "car_205_60r15.tir")


__all__ = ["Axle", "Car", "Corner", "Start", "example_tire"]
