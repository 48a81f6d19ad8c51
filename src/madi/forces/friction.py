"""Dry friction on a joint coordinate: it slides, or it sticks and does not move at all.

Sliding at the rate v, with s its sign:

    tau = -s F(|v|) - c v,     F = N (mu_k + (mu_s - mu_k) g(|v| / v_s)),     g = exp(-x^2)  or  1 / (1 + x)

(Stribeck's curve; without v_s, F = mu_k N as soon as it slides). N mu are `coulomb` and `static`, in N or N m. Sticking, the
coordinate is held, and the element bears what holds it there, up to `static`. The viscous part c v is no friction: it is
dissipated in both ways.

While it slides, s stays what it was, also in the part of a step that goes too far: F is even, so the step is smooth, and
the event that ends it is where s v comes to zero.

docs/references.md: [Coulomb 1785], [Stribeck 1902], [Armstrong-Hélouvry et al. 1994].
"""

from __future__ import annotations

from typing import Any

from madi.errors import finite_numbers
from madi.forces.fields import Arrays, Work
from madi.forces.kind import ForceKind, account
from madi.forces.modes import BACKWARD, BY_METHOD, BY_STATE, FORWARD, FRICTION, TOLD
from madi.forces.takes import NOT_NEGATIVE, Problems, must
from madi.kernel import exp, kernel, where

LAWS = ("exponential", "hyperbolic")  # how static friction fades with speed
ALWAYS = 1.0  # margin of a mode that nothing ends
KIND = ForceKind(
    "friction", code=22, value="torque", unit="N m", parameters=("coulomb", "static", "stribeck", "viscous", "law"),
    units=(("coulomb", "N m", "N"), ("static", "N m", "N"), ("stribeck", "rad/s", "m/s"), ("viscous", "N m s", "N s/m")),
    takes={
        "coulomb": NOT_NEGATIVE, "static": NOT_NEGATIVE.or_none(), "stribeck": NOT_NEGATIVE, "viscous": NOT_NEGATIVE,
        "law": must(lambda x: x in LAWS, "law {value!r} is not one of " + ", ".join(LAWS), "Give one of them",
                    adjustable=False),
    },
    modes=(FRICTION, TOLD),
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """Against the motion; or nothing beside what holds the column."""
    c, s, k = model.force_a[e], model.force_at[e], model.force_held[e]
    p, v, mode = model.parameter, work.v[c], work.held[k]
    most = p[s + 1]
    sign = where(mode == BY_STATE, where(v > 0.0, 1.0, where(v < 0.0, -1.0, 0.0)), where(mode >= BY_METHOD, 0.0, mode))
    dry = sign * sliding(model, s, sign * v)
    viscous = p[s + 3] * v
    f = where(mode == BY_METHOD, work.held[k + 1], -dry) - viscous
    work.tau[c] = work.tau[c] + f
    work.margin[k] = where(mode == FORWARD, v, where(mode == BACKWARD, -v, ALWAYS))
    work.low[k], work.high[k] = -most, most
    account(work, e, f, 0.0, f * v, -f * v)


@kernel
def sliding(model: Arrays, s, speed):
    """F at this speed."""
    p = model.parameter
    if p[s + 2] == 0.0:
        return p[s]
    x = speed / p[s + 2]
    fading = exp(-x * x) if p[s + 4] == 0.0 else 1.0 / (1.0 + x)
    return p[s] + (p[s + 1] - p[s]) * fading


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Static friction is that of sliding where it is left out; the law as its number."""
    given = force.parameters
    static = given["coulomb"] if given["static"] is None else given["static"]
    numbers = [given["coulomb"], static, given["stribeck"], given["viscous"], LAWS.index(given["law"])]
    return [float(number) for number in numbers]


def check(force: Any, joints: Any) -> Problems:
    """Static friction is not below that of sliding."""
    sliding, static = (finite_numbers(force.parameters[what]) for what in ("coulomb", "static"))
    if force.parameters["static"] is not None and sliding is not None and static is not None and static < sliding:
        yield f"static {static} is below coulomb {sliding}", "What sticks bears at least what it slides against"
