"""Manoeuvres: settling, holding a speed, steering by a function of time or along a path, braking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.statics import statics
from madi.errors import InputError, RunError, a_number, positive_number
from madi.kernel import atan2, cos, sin, tanh, where
from madi.run.simulate import simulate
from madi.spatial.rotation import as_rotation
from madi.vehicle.parts import Axle

if TYPE_CHECKING:
    from madi.system import System
    from madi.vehicle.car import Car, Start
    from madi.vehicle.steering import Rack

IN_PLACE = 1e-5  # m: a spring that near to its design length holds the car
WATCHED = 0.01  # s: how often a steering function is compared with the rack's travel
SERVO = (3e5, 6e3)  # N/m, N s/m: how stiffly a driver holds the rack


# ---- shapes in time and along the way -----------------------------------------------------------------------------------


def smooth(u: Any) -> Any:
    """From 0 (u <= 0) to 1 (u >= 1), with two continuous derivatives."""
    u = where(u > 0.0, where(u < 1.0, u, 1.0), 0.0)
    return u * u * u * (10.0 - 15.0 * u + 6.0 * u * u)


def sine(amplitude: float, start: float, end: float, cycles: float = 1.0, ramp: float | None = None) -> Callable[[Any], Any]:
    """`cycles` waves from `start` to `end` s. They fade in and out within `ramp` s (default: a tenth of the whole): a driven
    joint's speed must not jump."""
    length = _later(start, end, "sine")
    a_number(amplitude, "sine: amplitude")
    turn = 2 * np.pi * a_number(cycles, "sine: cycles") / length
    fade = 0.1 * length if ramp is None else positive_number(ramp, "sine: ramp")

    def function(t: Any) -> Any:
        return amplitude * sin(turn * (t - start)) * smooth((t - start) / fade) * smooth((end - t) / fade)

    return function


def step(amplitude: float, start: float, rise: float = 0.1) -> Callable[[Any], Any]:
    """From 0 to `amplitude`, risen after `rise` s."""
    _later(0.0, rise, "step")
    a_number(amplitude, "step: amplitude")
    a_number(start, "step: start")
    return lambda t: amplitude * smooth((t - start) / rise)


def double_lane_change(start: float = 0.0, offset: float = 3.5, out: float = 30.0, back: float = 25.0, lane: float = 25.0,
                       entry: float = 15.0) -> Callable[[Any], Any]:  # fmt: skip
    """The middle of ISO 3888-1's track, y(x): `entry` m straight, `out` m to a lane `offset` m to the left, `lane` m along
    it, `back` m home."""
    first = start + entry
    second = first + out + lane
    return lambda x: offset * (smooth((x - first) / out) - smooth((x - second) / back))


def _later(start: float, end: float, what: str) -> float:
    if not a_number(end, f"{what}: end") > a_number(start, f"{what}: start"):
        raise InputError(f"{what}: its end ({end!r}) must be after its start ({start!r})")
    return float(end - start)


# ---- the driver ---------------------------------------------------------------------------------------------------------


def _rack(car: Car, name: str | None) -> Rack:
    if not car.racks:
        raise InputError(f"car {car.name!r} has no rack to steer with: car.rack(...)")
    if name is not None and name not in car.racks:
        raise InputError(f"car {car.name!r}: there is no rack {name!r}; there are: {', '.join(car.racks)}")
    return car.racks[name or next(iter(car.racks))]


def steer(car: Car, function: Callable[[Any], Any], rack: str | None, until: float) -> None:
    """Drive the rack; where it would leave its travel is reported."""
    chosen = _rack(car, rack)
    if not callable(function):
        raise InputError(f"steer: give a function of time, such as vehicle.sine(0.01, 4, 8), not {function!r}")
    for t in np.arange(0.0, positive_number(until, "steer: until"), WATCHED):
        try:
            way = float(function(float(t)))
        except (TypeError, ValueError, ArithmeticError) as error:
            raise InputError(f"steer: the function of time fails at {t:g} s: {error}") from None
        if not abs(way) <= chosen.travel:
            raise InputError(
                f"steer: at {t:g} s the rack {chosen.name!r} would be at {way:.4g} m; its travel is {chosen.travel:g} m "
                "each way (until=... says how long to look)"
            )
    _release(car, chosen)
    car.model.drive(chosen.name, function)


def _release(car: Car, rack: Rack) -> None:
    """Neither held nor driven any more."""
    car.model.drives = [drive for drive in car.model.drives if drive.coordinate != rack.name]
    car.model.forces = [force for force in car.model.forces if force.name != f"{rack.name}_driver"]


def _wheels(car: Car, axle: Axle | str | None, what: str) -> list[Any]:
    axles = list(car.axles.values()) if axle is None else [car._axle(axle)]
    corners = [corner for one in axles for corner in one.corners.values() if corner.wheel]
    if not corners:
        raise InputError(f"{what}: car {car.name!r} has no wheels there: car.wheels(...)")
    return corners


def _control(car: Car, name: str, joint: str, function: Callable[..., Any]) -> None:
    car.model.forces = [force for force in car.model.forces if force.name != name]
    car.model.joint_torque(name, joint, function)
    if name not in car.controls:
        car.controls.append(name)


def hold_speed(car: Car, speed: float, axle: Axle | str | None, gain: float) -> None:
    """Torque on the wheels, in proportion to what is missing; it acts between wheel and carrier."""
    corners = _wheels(car, axle, "hold_speed")
    car.driver["speed"] = (a_number(speed, "hold_speed: speed"), corners, positive_number(gain, "hold_speed: gain"))
    _drive(car)


def _drive(car: Car) -> None:
    """The driver's torques as he has been told by now: an earlier order is replaced; he lets go when the brake sets in."""
    car.model.forces = [force for force in car.model.forces if not force.name.endswith("_wheel_drive")]
    if "speed" not in car.driver:
        return
    speed, corners, gain = car.driver["speed"]
    start, rise = car.driver.get("brake", (np.inf, 1.0))

    def push(share: float) -> Callable[..., Any]:
        def torque(t: Any, q: Any, v: Any) -> Any:
            missing = share * (speed - v["chassis.vx"])
            return missing if np.isinf(start) else missing * (1.0 - smooth((t - start) / rise))

        return torque

    for corner in corners:
        _control(car, f"{corner.wheel}_drive", corner.spin, push(gain * corner.radius / len(corners)))


def brake(car: Car, torque: float, start: float, rise: float, front: float) -> None:
    """Torque against the wheels' turning; near standstill it fades, and nothing rolls backwards."""
    positive_number(torque, "brake: torque")
    a_number(start, "brake: start")
    positive_number(rise, "brake: rise")
    if not 0.0 <= a_number(front, "brake: front") <= 1.0:
        raise InputError(f"brake: front={front!r}: the first axle's share, from 0 to 1")
    _wheels(car, None, "brake")
    axles = [axle for axle in car.axles.values() if axle.corners["left"].wheel]
    shares = [front, 1.0 - front] if len(axles) == 2 else [1.0 / len(axles)] * len(axles)

    def against(most: float, joint: str) -> Callable[..., Any]:
        return lambda t, q, v: -most * smooth((t - start) / rise) * tanh(v[joint])

    for axle, share in zip(axles, shares, strict=True):
        for corner in axle.corners.values():
            _control(car, f"{corner.wheel}_brake", corner.spin, against(0.5 * share * torque, corner.spin))
    car.driver["brake"] = (start, rise)
    _drive(car)


def follow(
    car: Car, path: Callable[[Any], Any], speed: float, rack: str | None, preview: float = 0.7, gain: float = 0.012
) -> None:
    """Steer towards the path's point `preview` s ahead: rack = gain (m per m) times how far aside it lies of where the car
    heads. The rack is moved by a stiff servo, within its travel."""
    chosen = _rack(car, rack)
    if not callable(path):
        raise InputError(f"follow: give a function y(x), such as vehicle.double_lane_change(), not {path!r}")
    far, most = positive_number(preview, "follow: preview") * positive_number(speed, "follow: speed"), chosen.travel
    positive_number(gain, "follow: gain")
    _release(car, chosen)
    stiffness, damping = SERVO
    left = _toward_left(car, chosen)

    def servo(t: Any, q: Any, v: Any) -> Any:
        ahead, aside, _, w, x, y, z = q["chassis"]
        yaw = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        wanted = gain * (path(ahead + far * cos(yaw)) - aside - far * sin(yaw))
        wanted = where(wanted > most, most, where(wanted < -most, -most, wanted))
        return stiffness * (left * wanted - q[chosen.name]) - damping * v[chosen.name]

    _control(car, f"{chosen.name}_driver", chosen.name, servo)


def _toward_left(car: Car, rack: Rack) -> float:
    """Which way the rack moves to steer to the left: to the left where its rods are ahead of the axle, else to the right."""
    corner = car.axles[rack.axle].corners["left"]
    outer = next(joint for joint in car.model.joints if joint.name == f"{rack.name}_left_rod_outer")
    return 1.0 if np.asarray(outer.at)[0] > corner.centre[0] else -1.0


# ---- rest ---------------------------------------------------------------------------------------------------------------


def complete(car: Car) -> None:
    """Whether a car can stand: every axle has wheels with tires, and something holds its steer."""
    if not car.axles:
        raise InputError(f"car {car.name!r} has no axles yet: car.mcpherson(...), car.double_wishbone(...), ...")
    tires = {force.name for force in car.model.forces}
    for axle in car.axles.values():
        corner = axle.corners["left"]
        if corner.kingpin is not None and not corner.steered:
            raise InputError(
                f"axle {axle.name!r}: nothing holds its steer; draw car.rack(...), or give toe_inner and toe_outer"
            )
        if not corner.wheel or corner.tire not in tires:
            raise InputError(f"axle {axle.name!r} has no wheels with tires: car.wheels({axle.name!r}, ..., tire=...)")


def roll(car: Car, speed: float) -> None:
    """Speeds of the joints as drawn: the chassis goes forward, wheels roll on their radius as pressed there."""
    complete(car)
    a_number(speed, "roll: speed")
    for joint in car.model.joints:
        if joint.name == "chassis" and joint.kind == "free":
            joint.v0 = (float(speed), 0.0, 0.0, 0.0, 0.0, 0.0)
    system = car.uncontrolled().build()
    for corner in _wheeled(car):
        joint = next(one for one in car.model.joints if one.name == corner.spin)
        joint.v0 = float(speed) / rolling_radius(system, system.q0, corner)


def settle(car: Car, speed: float, way: str, duration: float) -> Start:
    """See `Car.settle`."""
    from madi.vehicle.car import Start

    if way not in ("statics", "time"):
        raise InputError(f"settle: way={way!r}: choose 'statics' or 'time'")
    complete(car)
    a_number(speed, "settle: speed")
    quiet = car.uncontrolled()
    system = quiet.build()
    if way == "statics":
        q = statics(system).q
    else:
        run = simulate(quiet, duration, rtol=1e-6, times=[duration])
        q = run.data["q"].values[-1]
    v = np.zeros(system.nv)
    heading = as_rotation(q[system.q_slice("chassis")][3:], "chassis")
    v[system.v_slice("chassis")][:3] = heading.T @ np.array([speed, 0.0, 0.0])
    for corner in _wheeled(car):
        v[system.v_slice(corner.spin)] = speed / rolling_radius(system, q, corner)
    return Start(q, v)


def _wheeled(car: Car) -> list[Any]:
    return [corner for axle in car.axles.values() for corner in axle.corners.values() if corner.wheel]


def rolling_radius(system: System, q: np.ndarray, corner: Any) -> float:
    """At which a free wheel of `corner` rolls, pressed as it is at q."""
    tire = next((force for force in system.model.forces if force.name == corner.tire), None)
    if tire is None:
        return corner.radius or 0.3
    load = system.powers(q, np.zeros(system.nv))[corner.tire]["value"]
    if "tir" in tire.parameters:
        from madi.forces.magic_formula import fold
        from madi.forces.magic_formula import rolling_radius as effective

        return float(effective(fold(tire.parameters["tir"], tire.parameters["pressure"]), 0, load))
    return float(corner.radius - load / tire.parameters["stiffness"])


def trim(car: Car, height: float) -> None:
    """Change free lengths until every spring is as long at rest as drawn (longer by `height`)."""
    complete(car)
    names = [name for axle in car.axles.values() for corner in axle.corners.values() for name in corner.springs]
    springs = [force for force in car.model.forces if force.name in names]
    for _ in range(20):
        quiet = car.uncontrolled()
        system = quiet.build()
        rest = statics(system)
        powers = system.powers(rest.q, rest.v)
        worst = 0.0
        for spring in springs:
            stiffness, free = spring.parameters["stiffness"], spring.parameters["free_length"]
            drawn = float(np.linalg.norm(np.subtract(*spring.at))) + height
            length = free + powers[spring.name]["value"] / stiffness
            spring.parameters["free_length"] = free + drawn - length
            worst = max(worst, abs(drawn - length))
        if worst < IN_PLACE:
            return
    raise RunError(f"car {car.name!r}: its springs cannot hold it in its design position ({worst:.3g} m off)")
