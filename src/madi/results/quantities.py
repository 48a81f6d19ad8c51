"""What a run can be asked for: names, units, and how each follows from its states."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.forces import BY_CODE
from madi.results.cuts import count_turns, cut_coordinates, cut_motion
from madi.results.later import Quantity, Stretch
from madi.results.loads import described
from madi.results.signals import AXES
from madi.spatial.rotation import bryant_angles, matrix_to_quaternion

if TYPE_CHECKING:
    from madi.system import System

OF_FORCE = ("value", "potential", "power", "dissipated")
TURNS = "turns about x, y', z''"
BALANCE = "applied forces and drives: d(energy)/dt = power - dissipated"


class Quantities:
    """Of the runs of a system; labels along their dimensions."""

    def __init__(self, system: System, reactions: dict[str, str], joints: list[str], driven: list[int], recorded: bool):
        """`joints`: all whose loads are computed, those asked for (`reactions`) first. `recorded`: loops were."""
        self.system, self.joints, self.driven = system, joints, driven
        self.loaded, self.asked = bool(joints), len(reactions)
        self.coordinates: dict[str, Any] = {
            "coordinate": system.coordinates, "speed": system.speeds, "body": system.bodies, "axis": AXES,
            "quaternion": ["w", "x", "y", "z"], "component": ["px", "py", "pz", "lx", "ly", "lz"],
        }  # fmt: skip
        rows = [r for r, row in enumerate(system.frozen.rows) if row.driven] if recorded else []
        self.driven_rows = rows
        self.drives = [system.speeds[c] for c in driven] + [str(system.frozen.rows[r].driven) for r in rows]
        self.functional = [k for k, code in enumerate(system.layout.arrays.force_kind) if BY_CODE[int(code)].KIND.signals]
        self.cuts = cut_coordinates(system)
        self.cut_units = [cut.unit for cut in self.cuts]
        self.frames = np.zeros((0, 3, 3))
        self.quantities = self._of_bodies() | self._energies()
        if recorded and system.frozen.rows:
            self.coordinates["constraint"] = system.constraint_names
        if system.forces:
            self.coordinates["force"] = system.forces
            self._of_forces()
        if system.contact_points:
            self.coordinates["contact"] = system.contact_points
            self._of_contacts()
        if self.cuts:
            self._of_cuts()
        if reactions:
            self._of_loads(reactions)
        if self.drives:
            self._of_drives()

    def _of_bodies(self) -> dict[str, Quantity]:
        n = len(self.system.bodies)

        def of(name: str, family: str, unit: str) -> Quantity:
            return Quantity(("body", "axis"), (n, 3), family, _seen(name), {"units": unit})

        return {
            "position": of("position", "position", "m"),
            "orientation": Quantity(("body", "quaternion"), (n, 4), "orientation", _orientation, {"units": "1"}),
            "bryant": Quantity(("body", "axis"), (n, 3), "turns", lambda part: bryant_angles(part.seen.rotation),
                               {"units": "rad", "of": TURNS}),
            "velocity": of("velocity", "speed", "m/s"),
            "angular_velocity": of("angular_velocity", "speed", "rad/s"),
            "acceleration": of("acceleration", "acceleration", "m/s2"),
            "angular_acceleration": of("angular_acceleration", "acceleration", "rad/s2"),
        }  # fmt: skip

    def _energies(self) -> dict[str, Quantity]:
        def of(compute: Callable[[Stretch], np.ndarray], unit: str, **more: str) -> Quantity:
            return Quantity((), (), "energy", compute, {"units": unit, **more})

        return {
            "kinetic": of(_seen("kinetic"), "J"), "potential": of(_seen("potential"), "J"),
            "energy": of(lambda part: part.seen.kinetic + part.seen.potential, "J"),
            "power": of(self._power, "W", of=BALANCE), "dissipated": of(_seen("dissipated"), "W"),
            "momentum": Quantity(("component",), (6,), "energy", _seen("momentum")),
        }  # fmt: skip

    def _of_forces(self) -> None:
        count = len(self.system.forces)
        for k, name in enumerate(OF_FORCE):
            compute = lambda part, k=k: part.seen.force[..., k]  # noqa: E731
            self.quantities[f"force_{name}"] = Quantity(("force",), (count,), "energy", compute)

    def _of_contacts(self) -> None:
        count = len(self.system.contact_points)

        def part_of(first: int, last: int) -> Callable[[Stretch], np.ndarray]:
            return lambda part: part.seen.touch[..., first:last]

        alone = lambda k: lambda part: part.seen.touch[..., k]  # noqa: E731
        self.quantities["contact_gap"] = Quantity(("contact",), (count,), "contact", alone(0), {"units": "m"})
        self.quantities["contact_push"] = Quantity(("contact",), (count,), "contact", alone(13), {"units": "N"})
        told = ("normal", "1"), ("place", "m"), ("force", "N"), ("slip", "m/s")
        for k, (name, unit) in enumerate(told):
            quantity = Quantity(("contact", "axis"), (count, 3), "contact", part_of(1 + 3 * k, 4 + 3 * k), {"units": unit})
            self.quantities[f"contact_{name}"] = quantity

    def _of_cuts(self) -> None:
        self.coordinates["cut"] = [cut.name for cut in self.cuts]
        count = len(self.cuts)

        def measured(which: int) -> Callable[[Stretch], np.ndarray]:
            def compute(part: Stretch) -> np.ndarray:
                if "cuts" not in part.__dict__:  # both in one
                    part.__dict__["cuts"] = cut_motion(self.system, part.seen, self.cuts)
                values: np.ndarray = part.__dict__["cuts"][which]
                return values

            return compute

        def whole(times: np.ndarray, found: dict[str, np.ndarray], runs: int) -> None:
            count_turns(self.cuts, times, found["cut_q"], found["cut_v"], runs)

        told = {"of": "coordinates of cut joints, measured"}
        self.quantities["cut_q"] = Quantity(("cut",), (count,), "cut", measured(0), told, whole)
        self.quantities["cut_v"] = Quantity(("cut",), (count,), "cut", measured(1))

    def _of_loads(self, reactions: dict[str, str]) -> None:
        words, self.frames = described(self.system, reactions)
        self.coordinates |= {"joint": list(reactions), **words, "joint_axis": ["x", "y", "z"]}
        count = len(reactions)

        def part_of(at: int) -> Callable[[Stretch], np.ndarray]:
            return lambda part: part.loads[:, : 6 * count].reshape(-1, count, 6)[..., at : at + 3]

        for at, name, unit in ((0, "force", "N"), (3, "moment", "N m")):
            attrs = {"units": unit}
            self.quantities[f"reaction_{name}"] = Quantity(("joint", "axis"), (count, 3), "load", part_of(at), attrs)

    def _of_drives(self) -> None:
        self.coordinates["driven"] = self.drives
        count = len(self.drives)
        self.quantities["driving_force"] = Quantity(("driven",), (count,), "load", self._driving)
        power = lambda part: self._driving(part) * self._pace(part)  # noqa: E731
        self.quantities["driving_power"] = Quantity(("driven",), (count,), "load", power, {"units": "W"})

    def _driving(self, part: Stretch) -> np.ndarray:
        """Forces of the drives; of cut joints: their multipliers are their forces."""
        forces = np.zeros((part.last - part.first, 0))
        if self.driven:
            columns = self.system.driving_columns([self.system.load_of(name) for name in self.joints])
            place = {c: 6 * len(self.joints) + k for k, (_, c) in reversed(list(enumerate(columns)))}
            forces = part.loads[:, [place[c] for c in self.driven]]
        if not self.driven_rows:
            return forces
        return np.hstack([forces, -part.of_loops("multipliers")[:, self.driven_rows]])

    def _pace(self, part: Stretch) -> np.ndarray:
        """Speeds of the drives."""
        speeds = part.seen.v[:, self.driven]
        if not self.driven_rows:
            return np.asarray(speeds)
        return np.hstack([speeds, part.of_loops("paces")[:, self.driven_rows]])

    def _power(self, part: Stretch) -> np.ndarray:
        """Of applied forces and all drives."""
        applied = part.seen.force[..., self.functional, 2].sum(axis=-1)
        driving = (self._driving(part) * self._pace(part)).sum(axis=1)
        return np.asarray(applied + driving)


def _seen(name: str) -> Callable[[Stretch], np.ndarray]:
    """As it was observed."""
    return lambda part: getattr(part.seen, name)


def _orientation(part: Stretch) -> np.ndarray:
    """Quaternions that stay near those of the instant before."""
    raw = matrix_to_quaternion(part.seen.rotation)
    runs = raw.reshape(part.runs, -1, *raw.shape[1:])
    before = part.carried.get("orientation")
    if before is not None:
        runs[:, 0] *= _side(runs[:, 0], before)[..., None]
    if runs.shape[1]:
        runs[:, 1:] *= np.cumprod(_side(runs[:, 1:], runs[:, :-1]), axis=1)[..., None]
        part.carried["orientation"] = runs[:, -1].copy()
    return runs.reshape(raw.shape)


def _side(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """q and -q are one rotation: -1 where a is on the other side of b."""
    return np.where(np.sum(a * b, axis=-1) < 0, -1.0, 1.0)
