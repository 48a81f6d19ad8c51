"""A first-order state that a user declares: z' = g(t, q, v), where v holds all generalised velocities and, behind them, all
first-order states, z itself among them. It has no mass, no coordinate and no energy."""

from __future__ import annotations

from typing import Any

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.takes import NUMBER
from madi.kernel import kernel

KIND = ForceKind("state", code=21, signals=1, value="rate", unit="1/s", states=(("", ""),), takes={"start": NUMBER})


@kernel
def apply(model: Arrays, work: Work, e):
    """The rate, to the state's own equation."""
    c, rate = model.force_state[e], work.signal[model.force_signal[e]]
    work.tau[c] = work.tau[c] + rate
    account(work, e, rate, 0.0, 0.0, 0.0)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """No numbers: the start is part of v0."""
    return []
