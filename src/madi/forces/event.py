"""An event: something happens where a signal comes to zero. It acts on nothing; what happens is its run's affair.

The held value is the side of zero the signal is on; the event is where it leaves that side in the direction wanted. The
other way it changes sides unnoticed.
"""

from __future__ import annotations

from typing import Any

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.modes import BACKWARD, EVENT, FORWARD
from madi.forces.takes import must
from madi.kernel import kernel, where

ALWAYS = 1.0  # margin of a side it may leave unnoticed
A_DIRECTION = must(lambda x: x in (-1, 0, 1) and not isinstance(x, bool), "direction {value!r} is not -1, 0 or 1",
                   "1: rising, -1: falling, 0: both", adjustable=False)  # fmt: skip
A_FLAG = must(lambda x: isinstance(x, bool), "stop={value!r}", "True: the run ends there", adjustable=False)
KIND = ForceKind(
    "event", code=24, signals=1, value="signal", unit="", parameters=("direction",), modes=(EVENT,), watches=True,
    takes={"direction": A_DIRECTION, "stop": A_FLAG},
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """The signal, and how far it is from leaving its side."""
    k, g, direction = model.force_held[e], work.signal[model.force_signal[e]], model.parameter[model.force_at[e]]
    side = work.held[k]
    falling = where(direction <= 0.0, g, ALWAYS)
    rising = where(direction >= 0.0, -g, ALWAYS)
    work.margin[k] = where(side == FORWARD, falling, where(side == BACKWARD, rising, ALWAYS))
    work.low[k], work.high[k] = g, g
    account(work, e, g, 0.0, 0.0, 0.0)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """The direction."""
    return [float(force.parameters["direction"])]
