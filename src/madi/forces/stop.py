"""Stops at the ends of a joint coordinate's way: nothing between `lower` and `upper`, beyond them a push back.

With the penetration d > 0 and its rate d':  f = k d (1 + c d'), never pulling (Hunt and Crossley, J. Appl. Mech. 42 (1975)
440). It begins at zero whatever the speed and ends at zero: nothing jumps. Potential k d^2 / 2; what is dissipated is what
the push does beyond it.

docs/references.md: [Hunt, Crossley 1975].
"""

from __future__ import annotations

from typing import Any

from madi.errors import finite_numbers
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.takes import ABOVE_ZERO, NOT_NEGATIVE, NUMBER, Problems, number
from madi.kernel import kernel, where

FAR = 1e30  # m, rad: nobody gets there
QUICK = 0.01  # s: without a stiffness given, k = inertia / QUICK^2: half a swing of what hits the stop takes 31 ms
KIND = ForceKind(
    "stop", code=18, value="torque", unit="N m", parameters=("lower", "upper", "stiffness", "damping"),
    units=(("lower", "rad", "m"), ("upper", "rad", "m"), ("stiffness", "N m", "N/m"), ("damping", "s", "s/m")),
    takes={
        "lower": NUMBER.or_none(), "upper": NUMBER.or_none(), "damping": NOT_NEGATIVE,
        "stiffness": number((*ABOVE_ZERO, "Leave it out: it is scaled by the inertia there")).or_none(quick=QUICK),
    },
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Push the coordinate back into its range."""
    c, s = model.force_a[e], model.force_at[e]
    p, x, v = model.parameter, work.q[model.column_q[c]], work.v[c]
    k, damping = p[s + 2], p[s + 3]
    below, above = p[s] - x, x - p[s + 1]
    low = push(k, damping, below, -v)
    high = push(k, damping, above, v)
    depth = where(below > 0.0, below, where(above > 0.0, above, 0.0))
    f = low - high
    work.tau[c] = work.tau[c] + f
    rate = where(below > 0.0, -v, v)
    account(work, e, f, 0.5 * k * depth * depth, f * v, -f * v - k * depth * rate)


@kernel
def push(k, damping, depth, rate):
    """k d (1 + c d') where d > 0, and never a pull."""
    factor = 1.0 + damping * rate
    return where(depth > 0.0, k * depth * where(factor > 0.0, factor, 0.0), 0.0)


def ends(force: Any) -> list[float]:
    """An end that is left out is out of reach."""
    given = force.parameters
    return [float(far if given[what] is None else given[what]) for what, far in (("lower", -FAR), ("upper", FAR))]


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """A stiffness that is left out is found when inertias are known."""
    return [*ends(force), float(force.parameters["stiffness"] or 0.0), float(force.parameters["damping"])]


def check(force: Any, joints: Any) -> Problems:
    """One of its two ends must be there; two must have a way between them."""
    given = [force.parameters[what] for what in ("lower", "upper")]
    if given == [None, None]:
        yield "it has neither lower nor upper", "Give one of them, or both"
    low, high = map(finite_numbers, given)
    if low is not None and high is not None and low.shape == high.shape == () and not low < high:
        yield f"lower {low} is not below upper {high}", "Give the range as lower < upper"
