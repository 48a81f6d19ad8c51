"""The suspension rig: kinematics, and the loads of every link and joint under forces at the contact patches.

The chassis is held, tires are taken off, wheels are locked to their carriers. A pad under each wheel's centre, on a driven
slide, says how high it is; the rack is driven. Travel and steering are stepped through at times 0, 1, 2, ..., by drives
whose speed and acceleration vanish there: every position is at rest. Rates (motion ratio, roll centre) come from the
speeds that the constraints allow: Phi_q v = 0 with the pads moving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.assemble import RATE_RANK
from madi.errors import AssemblyError, InputError, a_number
from madi.joints.columns import FREE_COLUMN
from madi.kernel import sin
from madi.kernel.cores import one_core
from madi.vehicle.manoeuvres import _release
from madi.vehicle.parts import SIDES, Axle

if TYPE_CHECKING:
    import xarray as xr

    from madi.system import System
    from madi.vehicle.car import Car
    from madi.vehicle.parts import Corner

ROUNDING, ONE_WAY = 1e-12, 1e-12  # m, or of the travel: of a sweep's ends; sine between wheels' ways that never meet


@dataclass(frozen=True)
class Kinematics:
    """What `vehicle.kinematics` found. `data`: an xarray Dataset over travel and side, or over steering and side."""

    axle: str
    data: xr.Dataset
    steering: xr.Dataset | None

    def table(self, side: str = "left") -> list[dict[str, float]]:
        """One row for each height of the wheels: mm and degrees, as suspension people write them."""
        d = self.data.sel(side=side)
        return [
            {
                "travel, mm": 1e3 * float(z), "camber, deg": float(np.degrees(d["camber"][k])),
                "toe, deg": float(np.degrees(d["toe"][k])), "half track change, mm": 1e3 * float(d["track_change"][k]),
                "base change, mm": 1e3 * float(d["base_change"][k]), "motion ratio": float(d["motion_ratio"][k]),
                "roll centre, mm": 1e3 * float(self.data["roll_centre"][k]),
                "spring, N": float(d["spring_force"][k]), "wheel load, N": float(d["wheel_load"][k]),
            }
            for k, z in enumerate(self.data["travel"].values)
        ]  # fmt: skip

    def loads(self, travel: float = 0.0) -> dict[str, np.ndarray]:
        """Force and moment of every joint and rod at a wheel travel (m; between the heights of the sweep interpolated): six
        numbers, ground axes, on the joint's child, at the joint (of an arm: amid its two pivots)."""
        heights = self.data["travel"].values
        height = a_number(travel, "loads: travel")
        if not heights[0] - ROUNDING <= height <= heights[-1] + ROUNDING:
            raise InputError(f"loads: travel={travel!r} m is outside the sweep, {heights[0]:g} to {heights[-1]:g} m")
        values = self.data["load"].interp(travel=np.clip(height, heights[0], heights[-1]))
        return {str(name): values.sel(joint=name).values for name in values["joint"].values}

    def __str__(self) -> str:
        rows = self.table()
        heads = list(rows[0])
        text = [heads, *([f"{row[head]:.3f}" for head in heads] for row in rows)]
        widths = [max(len(line[k]) for line in text) for k in range(len(heads))]
        return "\n".join("  ".join(word.rjust(width) for word, width in zip(line, widths, strict=True)) for line in text)

    def _repr_html_(self) -> str:
        from madi.show.html import heading, table, whole

        rows = self.table()
        return whole(
            heading("Kinematics", f"{len(rows)} places"), table(list(rows[0]), [list(row.values()) for row in rows])
        )

    def plot(self, path: Any = None) -> Any:
        """Camber, toe, track change, motion ratio and roll centre over travel; wheel angles over the rack."""
        from madi.show.figure import Picture

        panels = [("camber", "camber (top outwards), deg", 180 / np.pi), ("toe", "toe (front inwards), deg", 180 / np.pi),
                  ("track_change", "half track change, mm", 1e3), ("motion_ratio", "motion ratio", 1.0),
                  ("roll_centre", "roll centre height, mm", 1e3)]  # fmt: skip
        figure = Picture(figsize=(9, 8), layout="constrained")
        axes = figure.subplots(3, 2).reshape(-1)
        travel = 1e3 * self.data["travel"].values
        for axis, (name, label, scale) in zip(axes, panels, strict=False):
            values = scale * self.data[name].values.reshape(len(travel), -1)
            for k in range(values.shape[1]):
                axis.plot(
                    values[:, k], travel, label=SIDES[k] if values.shape[1] > 1 else None, linestyle="-" if k == 0 else "--"
                )
            axis.set_xlabel(label)
            axis.set_ylabel("wheel travel, mm")
            axis.grid(alpha=0.3)
        axes[0].legend(fontsize=8)
        if self.steering is not None:
            rack = 1e3 * self.steering["rack"].values
            for k, side in enumerate(SIDES):
                turned = np.degrees(self.steering["steer"].sel(side=side))
                axes[5].plot(rack, turned, label=side, linestyle="-" if k == 0 else "--")
            axes[5].set_xlabel("rack, mm")
            axes[5].set_ylabel("wheel turned to the left, deg")
            axes[5].grid(alpha=0.3)
            axes[5].legend(fontsize=8)
        else:
            axes[5].axis("off")
        figure.suptitle(f"{self.axle} axle")
        if path is not None:
            figure.savefig(path, dpi=140)
        return figure


def kinematics(
    car: Car,
    axle: Axle | str,
    travel: tuple[float, float] = (-0.08, 0.08),
    steering: tuple[float, float] | None = None,
    steps: int = 17,
    forces: Any = (0.0, 0.0, None),
    opposite: bool = False,
    moments: Any = (0.0, 0.0, 0.0),
) -> Kinematics:
    """Sweep an axle's wheels up and down (m), both alike or `opposite` (the right one down when the left one is up), and its
    rack from side to side.

    `forces`: (fx, fy, fz) of the ground on the left contact patch, N (the right one mirrored), or {"left": ..., "right":
    ...}; fz None: what holds the springs at that height; else the pads carry the rest at the wheels' centres. `moments`
    likewise. Springs act; weight does not. Camber: top outwards; toe: front inwards; motion ratio: spring shortening over
    wheel travel; roll centre: height over the ground of the contact patches.
    """
    from madi.vehicle.car import Car

    if not isinstance(car, Car):
        raise InputError(f"kinematics: give a vehicle.Car, not {type(car).__name__}")
    if not isinstance(steps, int) or steps < 2:
        raise InputError(f"kinematics: steps={steps!r}: a whole number, at least two")
    name = car._axle(axle).name
    corner = car.axles[name].corners["left"]
    if corner.kingpin is not None and not corner.steered:
        raise InputError(f"kinematics: nothing holds the steer of axle {name!r}; draw car.rack(...), or toe links")
    heights = _sweep(travel, "travel", steps)
    bench = Bench(car, name, forces, moments, opposite)
    data = bench.over_travel(heights)
    turned = None
    if steering is not None:
        racks = [rack for rack in car.racks.values() if rack.axle == name]
        if not racks:
            raise InputError(f"kinematics: axle {name!r} has no rack to steer with")
        ways = _sweep(steering, "steering", steps)
        if np.max(np.abs(ways)) > racks[0].travel * (1 + ROUNDING):
            raise InputError(
                f"kinematics: steering {steering!r} m is beyond the rack {racks[0].name!r}; its travel is "
                f"{racks[0].travel:g} m each way"
            )
        turned = Bench(car, name, forces, moments, False).over_steering(racks[0].name, ways)
    return Kinematics(name, data, turned)


def _sweep(ends: Any, what: str, steps: int) -> np.ndarray:
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"kinematics: {what}={ends!r}: give two numbers, m") from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise InputError(f"kinematics: {what}={ends!r}: give (lowest, highest), m")
    return np.linspace(low, high, steps)


def stairs(start: float, rise: float) -> Callable[[Any], Any]:
    """start, start + rise, start + 2 rise ... at times 0, 1, 2 ..., at rest there."""
    return lambda t: start + rise * (t - sin(2 * np.pi * t) / (2 * np.pi))


def _both(given: Any, what: str) -> dict[str, np.ndarray]:
    """A left vector and its mirror image, or what is said of both sides."""
    flip = np.array([1.0, -1.0, 1.0]) if what == "forces" else np.array([-1.0, 1.0, -1.0])
    try:
        if isinstance(given, dict):
            found = {side: np.array(given[side], dtype=float) for side in SIDES}
        else:
            left = np.array(given, dtype=float)
            found = {"left": left, "right": left * flip}
        loose = (0, 1) if what == "forces" else (0, 1, 2)  # a vertical force may be left open: NaN
        assert all(v.shape == (3,) and np.isfinite(v[list(loose)]).all() for v in found.values())
    except (KeyError, TypeError, ValueError, AssertionError):
        raise InputError(f"kinematics: {what}={given!r}: give three numbers, or left and right") from None
    return found


class Bench:
    """One axle on the rig."""

    def __init__(self, car: Car, axle: str, forces: Any, moments: Any, opposite: bool):
        self.car = car.rig(axle)
        self.car.model.gravity = (0.0, 0.0, 0.0)
        self.axle, self.opposite = self.car.axles[axle], opposite
        self.forces, self.moments = _both(forces, "forces"), _both(moments, "moments")
        self.acting = {side: np.zeros(6) for side in SIDES}  # force at the wheel's centre, moment: as they are now
        m = self.car.model
        for side, corner in self.axle.corners.items():
            corner.radius = corner.radius or float(corner.centre[2])
            if corner.spin:
                m.lock(corner.spin)
            pad = f"{side}_pad"
            m.body(pad, 1.0, inertia=(0.1, 0.1, 0.1), position=corner.centre)
            m.prismatic(pad, m.ground, pad, at=corner.centre, axis=(0.0, 0.0, 1.0))
            m.point_on_plane(f"{side}_height", pad, corner.carrier, at=corner.centre, normal=(0.0, 0.0, 1.0))
            body = corner.wheel or corner.carrier
            m.force(f"{side}_patch", body, self._now(side, 0), at=corner.centre)
            m.torque(f"{side}_patch_moment", body, self._now(side, 3))

    def _now(self, side: str, at: int) -> Callable[..., Any]:
        """What acts at this moment; read anew at every evaluation."""

        def value(t: Any, q: Any, v: Any) -> Any:
            float(t)  # a tracer stops here: what is returned may change
            return tuple(self.acting[side][at : at + 3])

        return value

    def _patch(self, corner: Corner, turn: np.ndarray, centre: np.ndarray) -> np.ndarray:
        """Where a wheel turned by `turn` touches the ground: the lowest point of its disc."""
        axis = turn @ np.asarray(corner.axis, dtype=float)
        up = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
        found: np.ndarray = centre - corner.radius * up / np.linalg.norm(up)
        return found

    def _patch_rate(self, corner: Corner, turn: np.ndarray, spin: np.ndarray) -> np.ndarray:
        """How fast the contact point moves against the wheel's centre: the lowest point of the disc, whatever rolls by."""
        axis = turn @ np.asarray(corner.axis, dtype=float)
        change = np.cross(spin, axis)
        up = np.array([0.0, 0.0, 1.0]) - axis[2] * axis
        rate = -change[2] * axis - axis[2] * change
        length = np.linalg.norm(up)
        found: np.ndarray = -corner.radius * (rate - up * (up @ rate) / length**2) / length
        return found

    def _drive(self, heights: Callable[[str], Callable[[Any], Any]]) -> None:
        m = self.car.model
        pads = [f"{side}_pad" for side in SIDES]
        m.drives = [drive for drive in m.drives if drive.coordinate not in pads]
        for side in SIDES:
            m.drive(f"{side}_pad", heights(side))

    def over_travel(self, heights: np.ndarray) -> xr.Dataset:
        """Everything at every height."""
        rise = heights[1] - heights[0]
        sign = {"left": 1.0, "right": -1.0 if self.opposite else 1.0}
        self._drive(lambda side: stairs(sign[side] * heights[0], sign[side] * rise))
        return self._positions("travel", heights, sign)

    def over_steering(self, rack: str, ways: np.ndarray) -> xr.Dataset:
        """Everything at every position of the rack."""
        self._drive(lambda side: lambda t: 0.0 * t)
        _release(self.car, self.car.racks[rack])
        self.car.model.drive(rack, stairs(ways[0], ways[1] - ways[0]))
        return self._positions("rack", ways, {"left": 1.0, "right": 1.0})

    def _positions(self, what: str, values: np.ndarray, sign: dict[str, float]) -> xr.Dataset:
        import xarray as xr

        system = self.car.model.build()
        start = int(np.argmin(np.abs(values)))
        found: list[dict[str, Any] | None] = [None] * len(values)
        rig = {"chassis", *(f"{side}_{part}" for side in SIDES for part in ("pad", "height"))}
        joints = [name for name in system.loaded_names if name not in rig]
        for way in (range(start, len(values)), range(start - 1, -1, -1)):
            q = system.q0 if way.step > 0 or found[start] is None else found[start]["q"]  # type: ignore[index]
            for k in way:
                q = self._closed(system, q, k, what, values[k])
                found[k] = self._seen(system, q, float(k), sign, joints)
        rows = [row for row in found if row is not None]
        reference = {side: self._patch(corner, np.eye(3), corner.centre) for side, corner in self.axle.corners.items()}
        patch = np.array([[row[side]["patch"] for side in SIDES] for row in rows])
        outward = np.array([1.0, -1.0])
        shift = patch - np.array([reference[side] for side in SIDES])
        variables: dict[str, Any] = {
            name: ((what, "side"), np.array([[row[side][name] for side in SIDES] for row in rows]), {"units": unit})
            for name, unit in (("camber", "rad"), ("toe", "rad"), ("steer", "rad"), ("motion_ratio", "1"),
                               ("spring_force", "N"), ("wheel_load", "N"), ("caster", "rad"), ("kingpin", "rad"))
        }  # fmt: skip
        variables["track_change"] = ((what, "side"), shift[:, :, 1] * outward, {"units": "m", "of": "outwards"})
        variables["base_change"] = ((what, "side"), shift[:, :, 0], {"units": "m", "of": "forwards"})
        variables["patch"] = ((what, "side", "axis"), patch, {"units": "m"})
        variables["roll_centre"] = (what, np.array([self._roll_centre(row) for row in rows]), {"units": "m"})
        variables["load"] = ((what, "joint", "component"), np.array([row["loads"] for row in rows]), {"units": "N, N m"})
        return xr.Dataset(
            variables,
            {what: (what, values, {"units": "m"}), "side": list(SIDES), "axis": ["x", "y", "z"], "joint": joints,
             "component": ["fx", "fy", "fz", "mx", "my", "mz"]},
        )  # fmt: skip

    def _closed(self, system: System, q: np.ndarray, k: int, what: str, value: float) -> np.ndarray:
        try:
            closed: np.ndarray = system.assemble(q, np.zeros(system.nv), t=float(k)).q
        except AssemblyError as error:
            names = ", ".join(sorted(error.assembly.residual)) if error.assembly is not None else ""
            raise InputError(
                f"kinematics: axle {self.axle.name!r} cannot reach {what} {1e3 * value:.1f} mm ({names} would open)"
            ) from None
        return closed

    def _seen(self, system: System, q: np.ndarray, t: float, sign: dict[str, float], joints: list[str]) -> dict[str, Any]:
        """Angles, contact points, rates and loads at one position."""
        seen = system.observe(q, np.zeros(system.nv), t)
        q = seen.q[0]
        speeds, rolling = self._rates(system, q, sign), self._rates(system, q, {"left": 1.0, "right": -1.0})
        arms = {}
        powers = system.powers(q, np.zeros(system.nv), t)
        row: dict[str, Any] = {"q": q}
        for side, corner in self.axle.corners.items():
            body = corner.wheel or corner.carrier
            number = system.bodies.index(body)
            turn, centre = seen.rotation[0, number], seen.position[0, number]
            if not corner.wheel:  # the carrier's frame is not at the wheel's centre
                centre = centre + turn @ (corner.centre - self._drawn(corner.carrier))
            row[side] = {**self._angles(corner, turn), "patch": self._patch(corner, turn, centre)}
            arms[side] = row[side]["patch"] - centre
            inside = turn.T @ (centre - seen.position[0, number])
            rate = system.point_jacobian(q, body, inside) @ rolling
            row[side]["roll_rate"] = rate[:3] + self._patch_rate(corner, turn, rate[3:])
            row[side]["spring_force"] = sum(-powers[name]["value"] for name in corner.springs)
            row[side]["motion_ratio"] = sign[side] * self._spring_rate(system, q, speeds, corner)
            row[side] |= self._kingpin(corner, seen, system)
        loads, wheel_loads = self._loads(system, q, t, arms, joints)
        row["loads"] = [np.concatenate([loads[name].force, loads[name].moment]) for name in joints]
        for side, value in zip(SIDES, wheel_loads, strict=True):
            row[side]["wheel_load"] = value
        return row

    def _loads(self, system: System, q: np.ndarray, t: float, arms: dict[str, np.ndarray], joints: list[str]) -> Any:
        """Loads of the joints, and the vertical forces of the ground; where those are open, they take the pads' place."""
        pads = [f"{side}_pad" for side in SIDES]

        def act(vertical: np.ndarray, names: list[str]) -> Any:
            for side, fz in zip(SIDES, vertical, strict=True):
                force = np.array([*self.forces[side][:2], fz])
                self.acting[side] = np.concatenate([force, self.moments[side] + np.cross(arms[side], force)])
            return system.reactions(q, np.zeros(system.nv), joints=names, t=t)

        def carried(vertical: np.ndarray) -> np.ndarray:
            found = act(vertical, pads)
            return np.array([found[pad].force[2] for pad in pads])

        given = np.array([self.forces[side][2] for side in SIDES])
        loose = np.isnan(given)
        vertical = np.where(loose, 0.0, given)
        if loose.any():
            base = carried(vertical)
            columns = np.array([carried(vertical + np.eye(2)[k]) - base for k in range(2)]).T
            vertical[loose] -= np.linalg.solve(columns[np.ix_(loose, loose)], base[loose])
        return act(vertical, joints), vertical

    def _drawn(self, body: str) -> np.ndarray:
        return np.asarray(next(b.position for b in self.car.model.bodies if b.name == body), dtype=float)

    def _angles(self, corner: Corner, turn: np.ndarray) -> dict[str, float]:
        axis = turn @ np.asarray(corner.axis, dtype=float)
        lean = np.arcsin(np.clip(axis[2], -1, 1))  # about x: the top to the right
        steer = np.arctan2(-axis[0], axis[1])  # to the left
        outward = 1.0 if corner.side == "left" else -1.0
        return {"camber": -outward * float(lean), "toe": -outward * float(steer), "steer": float(steer)}

    def _kingpin(self, corner: Corner, seen: Any, system: System) -> dict[str, float]:
        """Caster (top backwards) and kingpin inclination (top inwards) of the axis through both its joints."""
        if corner.kingpin is None:
            return {"caster": np.nan, "kingpin": np.nan}
        number = system.bodies.index(corner.knuckle)
        turn, centre = seen.rotation[0, number], seen.position[0, number]
        drawn = self._drawn(corner.knuckle)
        top = np.asarray(corner.kingpin[0], dtype=float)
        if self.axle.kind != "McPherson":  # the strut's top is on the chassis, which does not move
            top = centre + turn @ (top - drawn)
        low = centre + turn @ (np.asarray(corner.kingpin[1], dtype=float) - drawn)
        x, y, z = top - low
        inward = -1.0 if corner.side == "left" else 1.0
        return {"caster": float(np.arctan2(-x, z)), "kingpin": float(np.arctan2(inward * y, z))}

    def _rates(self, system: System, q: np.ndarray, sign: dict[str, float]) -> np.ndarray:
        """Speeds of all joints when both pads rise at 1 m/s (the right one sinks where they are opposite)."""
        J = system.constraint_jacobian(q)
        speeds = np.zeros(system.nv)
        for side in SIDES:
            speeds[system.v_slice(f"{side}_pad")] = sign[side]
        free = np.asarray(system.layout.arrays.drive) == FREE_COLUMN
        with one_core(len(J)):
            speeds[free] = np.linalg.lstsq(J[:, free], -J[:, ~free] @ speeds[~free], rcond=RATE_RANK)[0]
        return speeds

    def _spring_rate(self, system: System, q: np.ndarray, speeds: np.ndarray, corner: Corner) -> float:
        """How fast the corner's spring shortens."""
        total = 0.0
        seen = system.observe(q, np.zeros(system.nv))
        for force in self.car.model.forces:
            if force.name in corner.springs:
                ends, rates = [], []
                for body, point in zip((force.a, force.b), force.at, strict=True):
                    number = system.bodies.index(body)
                    inside = np.asarray(point, dtype=float) - self._drawn(body)
                    ends.append(seen.position[0, number] + seen.rotation[0, number] @ inside)
                    rates.append(system.point_jacobian(q, body, inside)[:3] @ speeds)
                along = ends[1] - ends[0]
                total += float(-(rates[1] - rates[0]) @ along / np.linalg.norm(along))
        return total

    def _roll_centre(self, row: dict[str, Any]) -> float:
        """Where the normals of both contact points' paths in roll (one up, one down) meet: height over the line through the
        points."""
        ends, normals = [], []
        for side in SIDES:
            ends.append(row[side]["patch"][1:])
            rate = row[side]["roll_rate"][1:]
            normals.append(np.array([-rate[1], rate[0]]))
        (a, b), (n, k) = ends, normals
        across = n[0] * k[1] - n[1] * k[0]
        if abs(across) < ONE_WAY * np.linalg.norm(n) * np.linalg.norm(k):
            return 0.0
        s = ((b - a)[0] * k[1] - (b - a)[1] * k[0]) / across
        y, z = a + s * n
        ground = a[1] + (b[1] - a[1]) * (y - a[0]) / (b[0] - a[0])
        return float(z - ground)
