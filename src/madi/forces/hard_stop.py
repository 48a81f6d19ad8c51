"""Hard stops at the ends of a joint coordinate's way: nothing goes beyond them.

What arrives at the rate v' leaves at -e v' (Newton's restitution), by an impulse at the coordinate that all constraints
pass on at once. Bounces that would be slower than `rest_speed` are none: it stays at the stop, held there by a push, and
leaves when the push would be a pull. What an impact takes is (1 - e^2) m v'^2 / 2, m the mass behind the coordinate.

docs/references.md: [Newton 1687], [Pfeiffer, Glocker 1996].
"""

from __future__ import annotations

from typing import Any

from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.modes import AT_LOWER, AT_UPPER, BY_METHOD, OPEN, STOP, TOLD, UNBOUNDED
from madi.forces.stop import check as check_ends
from madi.forces.stop import ends
from madi.forces.takes import NOT_NEGATIVE, NUMBER, number
from madi.kernel import kernel, where

LOWER, UPPER, RESTITUTION, REST = range(4)  # places of its parameters
ALWAYS = 1.0  # margin of a mode that the force it is held with ends
KIND = ForceKind(
    "hard_stop", code=23, value="torque", unit="N m", parameters=("lower", "upper", "restitution", "rest_speed"),
    units=(("lower", "rad", "m"), ("upper", "rad", "m"), ("rest_speed", "rad/s", "m/s")),
    takes={
        "lower": NUMBER.or_none(), "upper": NUMBER.or_none(), "rest_speed": NOT_NEGATIVE,
        "restitution": number((lambda x: 0 <= x <= 1, "restitution {value!r} is not from 0 to 1", "1 loses nothing")),
    },
    modes=(STOP, TOLD), drawn_as="stop",
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """How far the stops are; at one of them, what it can bear."""
    s, k = model.force_at[e], model.force_held[e]
    p, x, mode = model.parameter, work.q[model.column_q[model.force_a[e]]], work.held[k]
    below, above = x - p[s + LOWER], p[s + UPPER] - x
    work.margin[k] = where(mode == OPEN, where(below < above, below, above), ALWAYS)
    work.low[k] = where(mode == AT_UPPER, -UNBOUNDED, 0.0)
    work.high[k] = where(mode == AT_LOWER, UNBOUNDED, 0.0)
    c = model.force_a[e]
    f = where(mode == BY_METHOD, work.held[k + 1], 0.0)
    work.tau[c] = work.tau[c] + f
    account(work, e, f, 0.0, f * work.v[c], 0.0)


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Its ends, and the rest as given."""
    return [*ends(force), *(float(force.parameters[name]) for name in ("restitution", "rest_speed"))]


check = check_ends
