"""Where the speed of a drive jumps: there an impulse acts, along the drive's own direction (dynamics/impulse.py).

Only a function with cases (where, floor, abs, ...) can jump. Such drives are looked at on a grid; an interval over which the
speed changes by other than its acceleration is halved until it is as short as numbers allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from madi.signals.tape import CEIL, COPYSIGN, FABS, FLOOR, FMAX, FMIN, FMOD, IF_ELSE_ZERO, LT, SIGN, drive_signals

if TYPE_CHECKING:
    from madi.system import System

GRID = 2000  # intervals looked at
SMALL = 1e-6  # of the largest speed: a change that is not the acceleration's
CASES = (FABS, FLOOR, CEIL, *range(LT, IF_ELSE_ZERO + 1), FMIN, FMAX, SIGN, COPYSIGN, FMOD)


class Jump(NamedTuple):
    """When (the first instant after it), of which coordinate, by how much."""

    time: float
    coordinate: str
    change: float


def speed_jumps(system: System, span: float) -> list[Jump]:
    """Jumps of the speeds of all drives from 0 to `span`, in order."""
    model = system.layout.arrays
    if not np.isin(model.tape_op[: model.nd], CASES).any():
        return []
    driven = {int(s): system.speeds[c] for c, s in enumerate(model.drive) if s >= 0}
    driven |= {int(s): row.driven for s, row in zip(model.row_signal, system.frozen.rows, strict=True) if s >= 0}
    work, q, v = system.engine("plain").work, system.q0, system.v0

    def rates(t: float) -> np.ndarray:
        """(speed, acceleration) of every drive."""
        with np.errstate(all="ignore"):
            drive_signals(model, work, t, q, v)
        return np.array([[work.signal[s + 1], work.signal[s + 2]] for s in driven])

    times = np.linspace(0.0, span, GRID + 1)
    seen = np.array([rates(t) for t in times])
    scale = np.nanmax(np.abs(seen[:, :, 0]), axis=0, initial=0.0) + 1e-12
    found = []
    for k, name in enumerate(driven.values()):
        change = np.diff(seen[:, k, 0]) - 0.5 * (seen[1:, k, 1] + seen[:-1, k, 1]) * np.diff(times)
        for i in np.flatnonzero(np.abs(change) > SMALL * scale[k]):
            jump = _located(rates, k, float(times[i]), float(times[i + 1]))
            if abs(jump[1]) > 1e-9 * scale[k]:
                found.append(Jump(jump[0], name, jump[1]))
    return sorted(found)


def _located(rates, k, a, b):  # type: ignore[no-untyped-def]
    """(time, change) of the largest jump of drive k between a and b."""
    low, high = rates(a)[k, 0], rates(b)[k, 0]
    while True:
        middle = 0.5 * (a + b)
        if not a < middle < b:
            return b, float(high - low)
        here = rates(middle)[k, 0]
        if abs(here - low) > abs(high - here):
            b, high = middle, here
        else:
            a, low = middle, here
