"""Tire by the Magic Formula, steady state. Contact: tire_contact.py; the formula: magic_formula.py; its numbers: a .tir
file.

Slip along refers to the effective rolling radius, kappa = (w Re - V_x) / V; slip angle and camber are those of the
contact: tan(alpha) = V_y / V, sin(gamma) = e . n. Below the low speed V does not fall with the wheel's (tire_contact.py),
and what changes its sign with the direction of travel (trail, rolling moment) passes smoothly through zero. A tire
measured on the other side of the car is mirrored: alpha, gamma, Fy, Mx, Mz change sign. Slips are measured up to a few
times those at which the slopes at no slip would use up friction. Between 4.5 and 12 times (some 0.25 and 0.6) the force
turns, at the size the formula gives it, from the formula's direction to that against the sliding velocity: combined-slip
coefficients say nothing of a locked wheel that goes sideways.

References: as in magic_formula.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from madi.forces import tire_contact
from madi.forces.fields import Arrays, Work
from madi.forces.magic_formula import SIDE, at_load, fold, gripping_slips, magic, rolling_radius
from madi.forces.road import HEAD, WIDTH
from madi.forces.takes import ANYTHING, NUMBER
from madi.forces.tire_contact import AXIS, LOW_SPEED, NORMAL, ROAD, SPEED, SPIN, WAY, push, tire_kind, touch
from madi.kernel import LEAST_SIZE, asin, atan, fabs, kernel, sqrt, where
from madi.spatial.vector import NO_DIRECTION, at, dot

FROM_FILE = replace(ANYTHING, source="radius and stiffness", adjustable=False)
TAKES = tire_contact.TAKES | {"radius": NUMBER, "stiffness": NUMBER, "tir": FROM_FILE, "mirrored": FROM_FILE}
TAKES["pressure"] = NUMBER.or_none()
MAGIC: dict[str, Any] = {"more": ("coefficients ...",), "takes": TAKES, "drawn_as": "magic_tire"}
KIND = tire_kind("tire_magic", 15, **MAGIC)
FIRST, LAST = 4.5, 12.0  # slips, by those that would use up friction, between which the force turns
UPRIGHT = 0.999  # |sin(gamma)| at most: beyond, the wheel lies on its side


@kernel
def coefficients_at(p, s):
    """Where the folded coefficients begin: behind the road."""
    return s + ROAD + HEAD + WIDTH * int(p[s + ROAD + 7])


@kernel
def posture(model: Arrays, work: Work, e, normal):
    """(speed of the centre along, its size with the floor, speed of the slip along, camber) of the wheel in
    work.tire_contact."""
    p, s = model.parameter, model.force_at[e]
    k, low = work.tire_contact, p[s + LOW_SPEED]
    axis = at(k, AXIS)
    pace, turn, lean = dot(at(k, SPEED), at(k, WAY)), dot(at(k, SPIN), axis), dot(axis, at(k, NORMAL))
    lean = where(lean > UPRIGHT, UPRIGHT, where(lean < -UPRIGHT, -UPRIGHT, lean))
    speed = sqrt(pace * pace + low * low)
    return pace, speed, pace - turn * rolling_radius(p, coefficients_at(p, s), normal), asin(lean)


@kernel
def press(model: Arrays, work: Work, e, normal, shared, slip, pace, speed, gamma):
    """The formula's forces and moments at a slip (kappa, tan(alpha)) onto the wheel; `shared`: see `at_load`."""
    p, s = model.parameter, model.force_at[e]
    c = coefficients_at(p, s)
    side = p[c + SIDE]
    kappa, tangent = slip
    slide = fabs(pace) * sqrt(dot(slip, slip) + LEAST_SIZE)
    f, m = magic(p, c, normal, shared, kappa, side * atan(tangent), side * gamma, pace / speed, pace, slide)
    # beyond what is measured the force turns against the sliding velocity
    along, across = gripping_slips(p, c, shared)
    used = (kappa / along, tangent / across)
    share = (sqrt(dot(used, used) + LEAST_SIZE) - FIRST) / (LAST - FIRST)
    share = where(share < 0.0, 0.0, where(share > 1.0, 1.0, share))
    share = share * share * (3.0 - 2.0 * share)
    turned, rest = share * sqrt((dot(f, f) + NO_DIRECTION) / (dot(slip, slip) + NO_DIRECTION)), 1.0 - share
    force = (rest * f[0] + turned * kappa, rest * side * f[1] - turned * tangent)
    push(model, work, e, normal, force, (side * m[0], m[1], side * m[2]))


@kernel
def apply(model: Arrays, work: Work, e):
    """Contact and slip forces on the wheel."""
    normal, slip = touch(model, work, e)
    pace, speed, slide, gamma = posture(model, work, e, normal)
    shared = at_load(model.parameter, coefficients_at(model.parameter, model.force_at[e]), normal)
    press(model, work, e, normal, shared, (-slide / speed, -slip[1]), pace, speed, gamma)


def pack(force: Any, points: list[float], bodies: Any) -> list[Any]:
    """As other tires, then the coefficients."""
    given = force.parameters
    return [*tire_contact.pack(force, points, bodies), *map(float, fold(given["tir"], given["pressure"], given["mirrored"]))]
