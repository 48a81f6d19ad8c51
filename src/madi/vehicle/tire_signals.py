"""What tires did in a run: forces, moments and slips at the contacts, in the axes of each contact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.forces import BY_CODE
from madi.forces import KINDS as FORCES
from madi.forces.tire_contact import ARM, AXIS, NORMAL, SIDE, WAY, touch

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
    engine: Any = system.engine("plain")
    data = run.data.isel(time=slice(None, None, every))
    found = np.zeros((len(SIGNALS), data.sizes["time"], len(tires)))
    for k in range(data.sizes["time"]):
        q, v, t = data["q"].values[k], data["v"].values[k], float(data["time"].values[k])
        system.observe(q, v, t, engine="plain")  # leaves positions and speeds in the scratch
        for j, (e, _) in enumerate(tires):
            found[:, k, j] = _contact(engine.model, engine.work, e)
    variables = {
        name: (("time", "tire"), values, {"units": unit, "of": what})
        for (name, (unit, what)), values in zip(SIGNALS.items(), found, strict=True)
    }
    return xr.Dataset(variables, {"time": data["time"].values, "tire": [force.name for _, force in tires]})


def _contact(model: Any, work: Any, e: int) -> list[float]:
    """Forces, moments and slips of tire e at the state in work, whose reference axes are the ground's."""
    i = int(model.force_a[e])
    work.Q[i, :] = 0.0
    BY_CODE[int(model.force_kind[e])].apply(model, work, e)
    force, moment = work.Q[i, :3].copy(), work.Q[i, 3:].copy()
    _, (along, across) = touch(model, work, e)
    contact = work.tire_contact
    way, side, up, axis = (contact[at : at + 3].copy() for at in (WAY, SIDE, NORMAL, AXIS))
    p, s = model.parameter, int(model.force_at[e])
    place = work.r[i] + work.R[i] @ p[s : s + 3] + contact[ARM : ARM + 3]
    moment = moment - np.cross(place, force)
    lean = float(np.arcsin(np.clip(axis @ up, -1.0, 1.0)))
    return [*(float(force @ x) for x in (way, side, up)), *(float(moment @ x) for x in (way, side, up)), float(along),
            float(np.arctan(-across)), lean]  # fmt: skip
