"""Dry friction of a joint by its own load: it slides, or sticks, against what presses it together.

    tau = -s mu(|v|) a N - c v

with s the sign of v, mu as in friction.py, N what presses and a its arm. R = (F, n) is the load of the joint (P1's reaction)
without what acts along its coordinate, d its axis:

    hinge     N = |F| + 2 |n - (n.d) d| / span,              a = radius
    slide     N = |F - (F.d) d| + 2 |n| / span,              a = 1
    screw     N = |F.d| / (cos l - u mu sin l),              a = radius / cos l,  tan l = lead / radius

(`span`: how far two bearings are apart that bear a moment; none: it costs nothing. u = 1 where the screw moves against
its load, else -1.) Friction depends on the load, the load on accelerations, and these on friction: N is found with them
(loops/joint_friction.py), so here stands only which way it acts. Where accelerations are given, as in implicit methods,
nothing has to be found.

docs/references.md: [P1], [Coulomb 1785], [Stribeck 1902].
"""

from __future__ import annotations

from typing import Any

from madi.errors import finite_numbers
from madi.forces.fields import Arrays, Work
from madi.forces.friction import ALWAYS, LAWS
from madi.forces.kind import ForceKind, account
from madi.forces.modes import BACKWARD, BY_METHOD, BY_STATE, FORWARD, FRICTION, TOLD
from madi.forces.takes import NOT_NEGATIVE, Problems, must
from madi.joints import KINDS
from madi.kernel import exp, kernel, where

MU, STATIC, STRIBECK, VISCOUS, LAW, RADIUS, SPAN = range(7)  # places of its parameters
KIND = ForceKind(
    "load_friction", code=27, value="torque", unit="N m", drawn_as="friction",
    parameters=("mu", "static", "stribeck", "viscous", "law", "radius", "span"),
    units=(("stribeck", "rad/s", "m/s"), ("viscous", "N m s", "N s/m")),
    takes={
        "mu": NOT_NEGATIVE, "static": NOT_NEGATIVE.or_none(), "stribeck": NOT_NEGATIVE, "viscous": NOT_NEGATIVE,
        "law": must(lambda x: x in LAWS, "law {value!r} is not one of " + ", ".join(LAWS), "Give one of them",
                    adjustable=False),
        "radius": NOT_NEGATIVE.or_none(), "span": NOT_NEGATIVE.or_none(),
    },
    modes=(FRICTION, TOLD), by_load=True,
)  # fmt: skip


@kernel
def apply(model: Arrays, work: Work, e):
    """The viscous part; what friction does for each newton of load, and which side it is on."""
    c, s, k = model.force_a[e], model.force_at[e], model.force_held[e]
    v, mode = work.v[c], work.held[k]
    sign = where(mode == BY_STATE, where(v > 0.0, 1.0, where(v < 0.0, -1.0, 0.0)), where(mode >= BY_METHOD, 0.0, mode))
    viscous = model.parameter[s + VISCOUS] * v
    told = where(mode == BY_METHOD, work.held[k + 1], 0.0)
    work.rub_side[e], work.rub_load[e], work.rubbed[e] = sign, 0.0, 0.0
    work.tau[c] = work.tau[c] - viscous + told
    work.margin[k] = where(mode == FORWARD, v, where(mode == BACKWARD, -v, ALWAYS))
    account(work, e, told - viscous, 0.0, (told - viscous) * v, (viscous - told) * v)


@kernel
def coefficient(model: Arrays, s, speed):
    """mu at this speed."""
    p = model.parameter
    if p[s + STRIBECK] == 0.0:
        return p[s + MU]
    x = speed / p[s + STRIBECK]
    fading = exp(-x * x) if p[s + LAW] == 0.0 else 1.0 / (1.0 + x)
    return p[s + MU] + (p[s + STATIC] - p[s + MU]) * fading


def pack(force: Any, points: list[float], bodies: Any) -> list[float]:
    """Static friction is that of sliding where it is left out; no span: moments cost nothing."""
    given = force.parameters
    static = given["mu"] if given["static"] is None else given["static"]
    numbers = [given["mu"], static, given["stribeck"], given["viscous"], LAWS.index(given["law"])]
    return [float(number) for number in (*numbers, given["radius"] or 0.0, given["span"] or 0.0)]


def check(force: Any, joints: Any) -> Problems:
    """Static friction is not below that of sliding; what turns has a radius, a ball no coordinate for it."""
    sliding, static = (finite_numbers(force.parameters[what]) for what in ("mu", "static"))
    if force.parameters["static"] is not None and sliding is not None and static is not None and static < sliding:
        yield f"static {static} is below mu {sliding}", "What sticks bears at least what it slides against"
    for joint in joints:
        kind, part = KINDS[joint.kind], str(force.a).partition(".")[2]
        if kind.quaternion is not None:
            yield f"a {kind.name} joint has no coordinate to rub along", "Use contact, or three hinges"
        elif part in kind.coordinates:
            turning = kind.rate_units[kind.coordinates.index(part)] == "rad/s"
            if turning and not force.parameters["radius"]:
                yield f"{force.a!r} turns, and it has no radius", "Give the radius of its pin (of its thread)"
