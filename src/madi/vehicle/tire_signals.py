"""What tires did in a run: forces, moments and slips at the contacts, in the axes of each contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations.tires import CONTACT, CONTACT_NUMBERS
from madi.errors import InputError
from madi.forces import KINDS as FORCES
from madi.integrate.many import evaluate_rows

if TYPE_CHECKING:
    import xarray as xr

    from madi.results.run import Run
    from madi.vehicle.car import Car

SIGNALS = {
    "fx": ("N", "along the wheel's way"), "fy": ("N", "to the left"), "fz": ("N", "the road's normal"),
    "mx": ("N m", "overturning"), "my": ("N m", "rolling"), "mz": ("N m", "aligning"), "kappa": ("1", "slip along"),
    "alpha": ("rad", "slip angle, > 0 to the left"), "gamma": ("rad", "camber, > 0: top to the right"),
}  # fmt: skip


def tire_signals(car: Car, run: Run, every: int = 1) -> xr.Dataset:
    """Forces and moments of the road on every tire, and its slips, over time (time, tire); ISO axes at the contact.

    Evaluated anew from the states of the run, every so many outputs; moments are about the contact point.
    """
    import xarray as xr

    if not isinstance(every, int) or every < 1:
        raise InputError(f"tire_signals: every={every!r}: a whole number from 1 on")
    system = car.model.build(frame="ground")
    if list(run.data["coordinate"].values) != system.coordinates:
        raise InputError(f"tire_signals: this run is not one of car {car.name!r} as it is drawn now")
    tires = [(e, force) for e, force in enumerate(car.model.forces) if FORCES[force.kind].tire]
    if not tires:
        raise InputError(f"tire_signals: car {car.name!r} has no tires")
    data = run.data.isel(time=slice(None, None, every))
    machine, threads = system.engine("jit"), not system.frozen.signals.callbacks
    t, q, v = (np.ascontiguousarray(data[name].values, dtype=float) for name in ("time", "q", "v"))
    asked = np.array([len(tires), *(e for e, _ in tires)], dtype=float)
    rows = np.zeros((data.sizes["time"], len(tires) * CONTACT_NUMBERS))
    evaluate_rows(machine, lambda: machine.function("tires"), t, q, v, asked, rows, threads)
    system._raise_from_functions()
    found = _signals(CONTACT.views(rows.reshape(len(rows), len(tires), CONTACT_NUMBERS), {}))
    variables = {
        name: (("time", "tire"), values, {"units": unit, "of": what})
        for (name, (unit, what)), values in zip(SIGNALS.items(), found, strict=True)
    }
    return xr.Dataset(variables, {"time": data["time"].values, "tire": [force.name for _, force in tires]})


def _signals(seen: Any) -> list[np.ndarray]:
    """Forces, moments and slips over (time, tire), of contacts in the ground's axes."""
    moment = seen.moment - np.cross(seen.centre + seen.arm, seen.force)
    axes = seen.way, seen.side, seen.normal
    lean = np.arcsin(np.clip(np.sum(seen.axis * seen.normal, axis=-1), -1.0, 1.0))
    along, across = seen.slip[..., 0], seen.slip[..., 1]
    loads = [np.sum(load * axis, axis=-1) for load in (seen.force, moment) for axis in axes]
    return [*loads, along, np.arctan(-across), lean]
