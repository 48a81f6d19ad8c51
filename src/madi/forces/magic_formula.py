"""Pacejka's Magic Formula, steady state: load and slip to forces and moments. 5.2 and 6.1 (6.2 differs in other parts).

y = D sin(C atan(B x - E (B x - atan B x))) for pure slip, a cosine of the same kind for the loss by the other slip and for
the trail. Axes ISO (x forward, y left, z up): tan(alpha) = V_y / |V_x|, kappa > 0 drives, gamma > 0 leans the top to the
right.

References: Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012), eqs. 4.E1-4.E78; Besselink, Schmeitz, Pacejka, Vehicle System
Dynamics 48 S1 (2010) 337: the 6.1 formula with inflation pressure; MF-Tyre 5.2 manual. Where the book and the programs that
files are fitted with differ, the programs are followed: slip angle and camber themselves (not tan, sin), the trail with
the unscaled nominal load, in Mx atan((q6 Fz/Fz0)^2), My with Fz0. Turn slip is off.
At standstill the shifts fade. Between no load and a thousandth of the nominal one forces are proportional to the load;
above FZMAX (at least three times the nominal load) friction stays as there; camber beyond the file's range counts as its
end; friction and stiffness that lines in the load would make negative stay at a tenth. A file without combined slip gets an
ellipse. Scaling factors and inflation pressure are folded into the coefficients beforehand (`fold`).

docs/references.md: [Pacejka 2012], [Besselink, Schmeitz, Pacejka 2010].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.kernel import atan, cos, exp, fabs, inline, kernel, log, needed, sin, sqrt, tan, where

if TYPE_CHECKING:
    from madi.forces.tir import Tir

# the folded coefficients, as files name them; R0 ... FREFF: what the tire is, CARCASS_X ...: its relaxation
(
    R0, FZ0, FZ0S, V0, LMUV, NEW, SIDE, COMBINED, CAMMIN, CAMMAX, FZMAX, CZ, BREFF, DREFF, FREFF,
    PCX1, PDX1, PDX2, PDX3, PEX1, PEX2, PEX3, PEX4, PKX1, PKX2, PKX3, PHX1, PHX2, PVX1, PVX2, RBX1, RBX2, RBX3, RCX1,
    REX1, REX2, RHX1,
    PCY1, PDY1, PDY2, PDY3, PEY1, PEY2, PEY3, PEY4, PEY5, PKY1, PKY2, PKY3, PKY4, PKY5, PKY6, PKY7, PHY1, PHY2, PHY3,
    PVY1, PVY2, PVY3, PVY4, RBY1, RBY2, RBY3, RBY4, RCY1, REY1, REY2, RHY1, RHY2, RVY1, RVY2, RVY3, RVY4, RVY5, RVY6,
    QSX1, QSX2, QSX3, QSX4, QSX5, QSX6, QSX7, QSX8, QSX9, QSX10, QSX11, QSX12, QSX13, QSX14,
    QSY1, QSY2, QSY3, QSY4, QSY5, QSY6, QSY7,
    QBZ1, QBZ2, QBZ3, QBZ4, QBZ5, QBZ9, QBZ10, QCZ1, QDZ1, QDZ2, QDZ3, QDZ4, QDZ6, QDZ7, QDZ8, QDZ9, QDZ10, QDZ11,
    QEZ1, QEZ2, QEZ3, QEZ4, QEZ5, QHZ1, QHZ2, QHZ3, QHZ4, SSZ1, SSZ2, SSZ3, SSZ4,
    CARCASS_X, PCFX1, PCFX2, CARCASS_Y, PCFY1, PCFY2, PTX1, PTX2, PTX3, PTY1, PTY2,
) = range(138)  # fmt: skip
NAMES = tuple(name for name, value in list(globals().items()) if name.isupper() and type(value) is int)
LEAST_LOAD = 1e-3  # of the nominal load: below it forces are proportional to the load
NO_SLIP = 1e-24  # slip squared, under the root: it has a slope at no slip, too
TWO_BY_PI = 2.0 / math.pi


@inline
def curve(b, e, x):
    """The argument of sine and cosine: atan(B x - E (B x - atan B x)), E at most 1."""
    e = where(e > 1.0, 1.0, e)
    return atan(b * x - e * (b * x - atan(b * x)))


@inline
def cosine_of(x):
    """cos(atan(x))."""
    return 1.0 / sqrt(1.0 + x * x)


@inline
def sign(x):
    """-1 or 1."""
    return where(x < 0.0, -1.0, 1.0)


@inline
def usable_load(p, c, fz):
    """The load coefficients are taken at."""
    least = LEAST_LOAD * p[c + FZ0S]
    load = where(fz > least, fz, least)
    return where(load < p[c + FZMAX], load, p[c + FZMAX])


@inline
def held(value, change):
    """value + change, but not less than a tenth of value: what a line through fitted loads may become far from them."""
    return where(value + change > 0.1 * value, value + change, 0.1 * value)


@inline
def at_load(p, c, fz):
    """(load, its excess, dFx/dkappa at no slip (4.E15), dFy/dalpha of an upright wheel): what several formulas share."""
    load = usable_load(p, c, fz)
    dfz = load / p[c + FZ0S] - 1.0
    kx = load * held(p[c + PKX1], p[c + PKX2] * dfz) * exp(p[c + PKX3] * dfz)
    return load, dfz, kx, p[c + PKY1] * p[c + FZ0S] * sin(p[c + PKY4] * atan(load / (p[c + FZ0S] * p[c + PKY2])))


@inline
def stiffness_across(p, c, shared, gamma):
    """dFy/dalpha at no slip (4.E25)."""
    load, _, _, k = shared
    if needed(p[c + PKY5] != 0.0):
        knee = p[c + PKY2] + p[c + PKY5] * gamma * gamma
        k = p[c + PKY1] * p[c + FZ0S] * sin(p[c + PKY4] * atan(load / (p[c + FZ0S] * knee)))
    return k * held(1.0, -p[c + PKY3] * fabs(gamma))


@kernel
def lateral(p, c, load, dfz, k, alpha, gamma, grip, rolling):
    """Pure side slip, of the stiffness k (4.E19-4.E30): Fy, friction, B C, shift of the angle, shift of the force."""
    mu = held(p[c + PDY1], p[c + PDY2] * dfz) * held(1.0, -p[c + PDY3] * gamma * gamma) * grip
    lift = load * (p[c + PVY3] + p[c + PVY4] * dfz) * gamma * grip
    up = rolling * (load * (p[c + PVY1] + p[c + PVY2] * dfz) * grip + lift)
    if int(p[c + NEW]) == 1:
        by_camber = (load * (p[c + PKY6] + p[c + PKY7] * dfz) * gamma - lift) / k
    else:
        by_camber = p[c + PHY3] * gamma
    shift = rolling * (p[c + PHY1] + p[c + PHY2] * dfz + by_camber)
    x = alpha + shift
    e = (p[c + PEY1] + p[c + PEY2] * dfz) * (
        1.0 + p[c + PEY5] * gamma * gamma - (p[c + PEY3] + p[c + PEY4] * gamma) * sign(x)
    )
    top = mu * load
    b = k / (p[c + PCY1] * top)
    return top * sin(p[c + PCY1] * curve(b, e, x)) + up, mu, b * p[c + PCY1], shift, up


@kernel
def magic(p, c, fz, shared, kappa, alpha, gamma, forward, speed, slide):
    """((Fx, Fy), (Mx, My, Mz)) of the tire whose folded coefficients begin at p[c]; `shared`: what `at_load` gives.

    `forward`: 1, going backwards -1, smooth in between; `speed` of the wheel and `slide`, of the contact over the road.
    """
    load, dfz, kx, upright_ky = shared
    gamma = where(gamma > p[c + CAMMAX], p[c + CAMMAX], where(gamma < p[c + CAMMIN], p[c + CAMMIN], gamma))
    share, ky = where(fz > 0.0, fz, 0.0) / load, stiffness_across(p, c, shared, gamma)
    grip = 1.0 / (1.0 + p[c + LMUV] * slide / p[c + V0])
    rolling = forward * forward  # a tire that stands still has no shifts: it would push the car
    fx, mux = longitudinal(p, c, load, dfz, kx, kappa, gamma, grip, rolling)
    fy, muy, stiff, shift, up = lateral(p, c, load, dfz, ky, alpha, gamma, grip, rolling)
    if int(p[c + COMBINED]) == 0:  # the file says nothing of combined slip: within an ellipse
        both = (fx / (mux * load)) ** 2 + (fy / (muy * load)) ** 2
        short = 1.0 / sqrt(where(both > 1.0, both, 1.0))
        fx, fy = short * fx, short * fy
    fx = left_along(p, c, dfz, kappa, alpha, gamma) * fx
    left = left_across(p, c, dfz, kappa, alpha, gamma)
    fy0, fy = left * fy, left * fy
    if needed(fabs(p[c + RVY1]) + fabs(p[c + RVY2]) + fabs(p[c + RVY3]) > 0.0):  # a file may have none of these, and others
        steer = muy * load * (p[c + RVY1] + p[c + RVY2] * dfz + p[c + RVY3] * gamma) * cosine_of(p[c + RVY4] * alpha)
        fy = fy + steer * sin(p[c + RVY5] * atan(p[c + RVY6] * kappa))
    # aligning: trail, residual, the arm of Fx
    if int(p[c + NEW]) == 1:
        upright, _, _, _, _ = lateral(p, c, load, dfz, upright_ky, alpha, 0.0, grip, rolling)
        fy0 = left * upright
    along, ahead = kx / ky * kappa, cos(alpha)
    mz = residual(p, c, load, dfz, gamma, grip, forward, joined(alpha + shift + up / ky, along), stiff)
    arm = p[c + R0] * (p[c + SSZ1] + p[c + SSZ2] * fy / p[c + FZ0] + (p[c + SSZ3] + p[c + SSZ4] * dfz) * gamma)
    mz = ahead * (mz - trail(p, c, load, dfz, alpha, gamma, grip, forward, along) * fy0) + arm * fx
    mx, my = overturning(p, c, load, fy, gamma), rolling_moment(p, c, load, fx, gamma, forward, speed)
    return (share * fx, share * fy), (share * mx, share * my, share * mz)


@inline
def longitudinal(p, c, load, dfz, k, kappa, gamma, grip, rolling):
    """Pure slip along, of the stiffness k (4.E9-4.E18): Fx, friction."""
    mu = held(p[c + PDX1], p[c + PDX2] * dfz) * held(1.0, -p[c + PDX3] * (gamma * gamma)) * grip
    x = kappa + rolling * (p[c + PHX1] + p[c + PHX2] * dfz)
    e = (p[c + PEX1] + p[c + PEX2] * dfz + p[c + PEX3] * dfz * dfz) * (1.0 - p[c + PEX4] * sign(x))
    top = mu * load
    fx = top * sin(p[c + PCX1] * curve(k / (p[c + PCX1] * top), e, x))
    return fx + rolling * load * (p[c + PVX1] + p[c + PVX2] * dfz) * grip, mu


@inline
def left_over(c, b, e, shift, slip):
    """The part of a force that the other slip leaves: 1 without it."""
    left = cos(c * curve(b, e, slip + shift))
    if needed(shift != 0.0):
        left = left / cos(c * curve(b, e, shift))
    return where(left > 0.0, left, 0.0)


@inline
def left_along(p, c, dfz, kappa, alpha, gamma):
    """What slip across leaves of Fx (4.E50-4.E57)."""
    b = (p[c + RBX1] + p[c + RBX3] * (gamma * gamma)) * cosine_of(p[c + RBX2] * kappa)
    return left_over(p[c + RCX1], b, p[c + REX1] + p[c + REX2] * dfz, p[c + RHX1], alpha)


@inline
def left_across(p, c, dfz, kappa, alpha, gamma):
    """What slip along leaves of Fy (4.E58-4.E65)."""
    b = (p[c + RBY1] + p[c + RBY4] * (gamma * gamma)) * cosine_of(p[c + RBY2] * (alpha - p[c + RBY3]))
    return left_over(p[c + RCY1], b, p[c + REY1] + p[c + REY2] * dfz, p[c + RHY1] + p[c + RHY2] * dfz, kappa)


@inline
def trail(p, c, load, dfz, alpha, gamma, grip, forward, along):
    """The trail of Fy (4.E33-4.E45, 4.E73) over cos(alpha); `along`: the slip along, as a slip angle."""
    x = alpha + p[c + QHZ1] + p[c + QHZ2] * dfz + (p[c + QHZ3] + p[c + QHZ4] * dfz) * gamma
    b = (p[c + QBZ1] + p[c + QBZ2] * dfz + p[c + QBZ3] * dfz * dfz) / grip
    b = b * (1.0 + p[c + QBZ4] * gamma + p[c + QBZ5] * fabs(gamma))
    d = load * p[c + R0] / p[c + FZ0] * (p[c + QDZ1] + p[c + QDZ2] * dfz)
    d = d * (1.0 + p[c + QDZ3] * gamma + p[c + QDZ4] * (gamma * gamma)) * forward
    e = (p[c + QEZ1] + p[c + QEZ2] * dfz + p[c + QEZ3] * dfz * dfz) * (
        1.0 + (p[c + QEZ4] + p[c + QEZ5] * gamma) * TWO_BY_PI * atan(b * p[c + QCZ1] * x)
    )
    return d * cos(p[c + QCZ1] * curve(b, e, joined(x, along)))


@inline
def residual(p, c, load, dfz, gamma, grip, forward, angle, stiff):
    """The aligning moment that no trail explains (4.E36-4.E47, 4.E75) over cos(alpha), at the angle both slips are worth."""
    b = p[c + QBZ9] / grip + p[c + QBZ10] * stiff
    d = (p[c + QDZ8] + p[c + QDZ9] * dfz + (p[c + QDZ10] + p[c + QDZ11] * dfz) * fabs(gamma)) * gamma
    d = load * p[c + R0] * (p[c + QDZ6] + p[c + QDZ7] * dfz + d) * grip * forward
    return d * cosine_of(b * angle)


@inline
def overturning(p, c, load, fy, gamma):
    """Mx (4.E69)."""
    side, relative = fy / p[c + FZ0], load / p[c + FZ0]
    mx = p[c + QSX1] - p[c + QSX2] * gamma + p[c + QSX3] * side
    if int(p[c + NEW]) == 1:
        if needed(p[c + QSX4] != 0.0):
            bow = p[c + QSX6] * relative
            mx = mx + p[c + QSX4] * cos(p[c + QSX5] * atan(bow * bow)) * sin(
                p[c + QSX7] * gamma + p[c + QSX8] * atan(p[c + QSX9] * side)
            )
        if needed(p[c + QSX10] != 0.0):
            mx = mx + p[c + QSX10] * atan(p[c + QSX11] * relative) * gamma
        mx = mx - p[c + QSX12] * gamma * fabs(gamma)
    return p[c + R0] * (load * mx + fy * (p[c + QSX13] + p[c + QSX14] * fabs(gamma)))


@inline
def rolling_moment(p, c, load, fx, gamma, forward, speed):
    """My (4.E70)."""
    pace, relative = fabs(speed) / p[c + V0], load / p[c + FZ0]
    my = p[c + QSY1] + p[c + QSY2] * fx / p[c + FZ0] + p[c + QSY3] * pace + p[c + QSY4] * pace * pace * pace * pace
    my = my + (p[c + QSY5] + p[c + QSY6] * relative) * (gamma * gamma)
    return -forward * p[c + R0] * p[c + FZ0] * my * exp(p[c + QSY7] * log(relative))


@inline
def joined(angle, along):
    """The slip angle that both slips together are worth (Besselink A54)."""
    t = tan(angle)
    return atan(sqrt(t * t + along * along + NO_SLIP)) * sign(angle)


@kernel
def rolling_radius(p, c, fz):
    """Effective rolling radius: the unloaded one less D atan(B F) + F F of the nominal deflection."""
    f = fz / p[c + FZ0]
    return p[c + R0] - p[c + FZ0] / p[c + CZ] * (p[c + DREFF] * atan(p[c + BREFF] * f) + p[c + FREFF] * f)


@kernel
def gripping_slips(p, c, shared):
    """Slips (along, tangent across) at which the slopes at no slip would use up friction."""
    load, dfz, kx, ky = shared
    return held(p[c + PDX1], p[c + PDX2] * dfz) * load / fabs(kx), held(p[c + PDY1], p[c + PDY2] * dfz) * load / fabs(ky)


@kernel
def relaxation_lengths(p, c, shared, gamma):
    """(along, across), m: 6.1 by the carcass' stiffness, 5.2 by coefficients of its own; at least a tenth of the radius."""
    load, dfz, kx, _ = shared
    least = 0.1 * p[c + R0]
    if int(p[c + NEW]) == 1:
        ky = stiffness_across(p, c, shared, gamma)
        along = fabs(kx) / (p[c + CARCASS_X] * (1.0 + p[c + PCFX1] * dfz + p[c + PCFX2] * dfz * dfz))
        across = fabs(ky) / (p[c + CARCASS_Y] * (1.0 + p[c + PCFY1] * dfz + p[c + PCFY2] * dfz * dfz))
    else:
        along = load * (p[c + PTX1] + p[c + PTX2] * dfz) * exp(-p[c + PTX3] * dfz) * p[c + R0] / p[c + FZ0]
        across = p[c + PTY1] * sin(2.0 * atan(load / (p[c + PTY2] * p[c + FZ0S]))) * p[c + R0]
        across = across * (1.0 - p[c + PKY3] * fabs(gamma))
    return where(along > least, along, least), where(across > least, across, least)


DEFAULTS = {
    "LMUV": 0.0,
    "PKY4": 2.0,
    "LONGVL": 16.7,
    "QSY7": 0.85,
    "QSY8": -0.4,
    "PTY2": 1.0,
    "FZMAX": 0.0,
    "CAMMIN": -0.35,
    "CAMMAX": 0.35,
}


def fold(tir: Tir, pressure: float | None = None, mirrored: bool = False) -> np.ndarray:
    """The coefficients in the order of NAMES, with scaling factors and inflation pressure multiplied in."""
    new = tir.version > 6
    value = {name: tir.get(name, DEFAULTS.get(name, 1.0 if name.startswith("L") and name != "LMUV" else 0.0)) for name in
             {*NAMES, "LONGVL", "QSY8", "LMUV", *SCALES, *PRESSURE_TERMS}}  # fmt: skip
    if not new:  # what 5.2 has not, whatever the file says
        value |= dict.fromkeys((*PRESSURE_TERMS, "PEY5", "PKY5", "PKY6", "PKY7", "RBX3", "RBY4", "QDZ10", "QDZ11", "QSX12",
                                "QSX13", "QSX14", "QSY5", "QSY6", "QSY8", "LMUV"), 0.0)  # fmt: skip
        value |= {"PKY4": 2.0, "QSY7": 1.0}
    else:
        value["PHY3"] = 0.0
    nominal = tir.get("NOMPRES")
    now = tir.get("INFLPRES", nominal) if pressure is None else float(pressure)
    if pressure is not None and not tir.get("PRESMIN") <= now <= tir.get("PRESMAX", math.inf):
        told = f"{tir.get('PRESMIN'):g} to {tir.get('PRESMAX', math.inf):g}"
        raise InputError(f"tire {tir.name!r}: pressure={pressure!r} Pa is outside what it was measured at, {told} Pa")
    if new and not (now > 0 and nominal > 0) and (pressure is not None or any(value[key] for key in PRESSURE_TERMS[:-1])):
        raise InputError(f"tire {tir.name!r}: pressure {now:g} Pa with NOMPRES {nominal:g} Pa: give both, > 0")
    d = now / nominal - 1.0 if new and now > 0 and nominal > 0 else 0.0
    v = value
    grow = {
        "PCX1": v["LCX"], "PEX1 PEX2 PEX3": v["LEX"], "PHX1 PHX2": v["LHX"], "PVX1 PVX2": v["LVX"] * v["LMUX"],
        "PDX1 PDX2": v["LMUX"] * (1 + v["PPX3"] * d + v["PPX4"] * d * d), "PDX3": v["LGAX"] ** 2,
        "PKX1 PKX2": v["LKX"] * (1 + v["PPX1"] * d + v["PPX2"] * d * d), "RBX1 RBX3": v["LXAL"],
        "PCY1": v["LCY"], "PEY1 PEY2": v["LEY"], "PEY4": v["LGAY"], "PHY1 PHY2": v["LHY"], "PHY3": v["LGAY"] * v["LKG"],
        "PDY1 PDY2": v["LMUY"] * (1 + v["PPY3"] * d + v["PPY4"] * d * d), "PDY3": v["LGAY"] ** 2,
        "PKY1": v["LKY"] * (1 + v["PPY1"] * d), "PKY2 PKY5": 1 + v["PPY2"] * d, "PKY3": v["LGAY"],
        "PKY6 PKY7": v["LKYC"] * (1 + v["PPY5"] * d), "PVY1 PVY2": v["LVY"] * v["LMUY"],
        "PVY3 PVY4": v["LMUY"] * (v["LKYC"] if new else v["LGAY"] * v["LKG"]), "RBY1 RBY4": v["LYKA"],
        "RVY1 RVY2 RVY3": v["LVYKA"], "QBZ1 QBZ2 QBZ3 QBZ9": v["LKY"] / v["LMUY"], "QBZ4 QBZ5": v["LGAZ"],
        "QDZ1 QDZ2": v["LTR"] * (1 - v["PPZ1"] * d), "QDZ3": v["LGAZ"], "QDZ4": v["LGAZ"] ** 2,
        "QDZ6 QDZ7": v["LRES"] * v["LMUY"],
        "QDZ8 QDZ9": v["LMUY"] * v["LGAZ"] * (v["LKZC"] * (1 + v["PPZ2"] * d) if new else 1),
        "QDZ10 QDZ11": v["LMUY"] * v["LKZC"], "QEZ5": v["LGAZ"], "QHZ3 QHZ4": v["LGAZ"], "SSZ1 SSZ2": v["LS"],
        "SSZ3 SSZ4": v["LS"] * v["LGAZ"], "QSX1": v["LVMX"] * (v["LMX"] if new else 1),
        "QSX2": v["LMX"] * (1 + v["PPMX1"] * d),
        "QSX3 QSX4 QSX10 QSX12 QSX13 QSX14": v["LMX"],
        "QSY1 QSY2 QSY3 QSY4 QSY5 QSY6": v["LMY"] * (1 + d) ** v["QSY8"],
        "PTX1 PTX2": v["LSGKP"], "PTY1": v["LSGAL"] * v["LFZO"],
    }  # fmt: skip
    for names, factor in grow.items():
        for name in names.split():
            value[name] *= factor
    value |= {
        "R0": tir["UNLOADED_RADIUS"], "FZ0": tir["FNOMIN"], "FZ0S": tir["FNOMIN"] * v["LFZO"], "V0": v["LONGVL"],
        "NEW": 1.0 if new else 0.0, "COMBINED": 1.0 if v["RCX1"] or v["RCY1"] else 0.0,
        "SIDE": -1.0 if mirrored else 1.0, "CZ": tir["VERTICAL_STIFFNESS"],
        "CARCASS_X": tir.get("LONGITUDINAL_STIFFNESS") * (1 + tir.get("PCFX3") * d),
        "CARCASS_Y": tir.get("LATERAL_STIFFNESS") * (1 + tir.get("PCFY3") * d),
    }  # fmt: skip
    value["FZMAX"] = max(value["FZMAX"], 3.0 * value["FZ0S"])
    return np.array([float(value[name]) for name in NAMES])


SCALES = (
    "LCX", "LMUX", "LEX", "LKX", "LHX", "LVX", "LGAX", "LCY", "LMUY", "LEY", "LKY", "LHY", "LVY", "LGAY", "LKG", "LKYC",
    "LKZC", "LTR", "LRES", "LGAZ", "LXAL", "LYKA", "LVYKA", "LS", "LMX", "LVMX", "LMY", "LSGKP", "LSGAL", "LFZO",
)  # fmt: skip
PRESSURE_TERMS = ("PPX1", "PPX2", "PPX3", "PPX4", "PPY1", "PPY2", "PPY3", "PPY4", "PPY5", "PPZ1", "PPZ2", "PPMX1", "QSY8")


def refuse_without_relaxation(tir: Tir) -> None:
    """Relaxation lengths need numbers that not every file has."""
    needed = ("LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS") if tir.version > 6 else ("PTX1", "PTY1", "PTY2")
    missing = [key for key in needed if not tir.get(key) > 0]
    if missing:
        raise InputError(
            f"tire {tir.name!r}: relaxation needs {', '.join(missing)} > 0 in the file; or use relaxation=False"
        )


def evaluate(tir: Tir, fz: Any, kappa: Any, alpha: Any, gamma: Any, speed: Any, pressure: float | None) -> dict[str, Any]:
    """Forces and moments, for `Tir.forces`; of arrays, arrays."""
    p = fold(tir, pressure)
    try:
        states = (fz, kappa, alpha, gamma, p[V0] if speed is None else speed)
        given = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in states))
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"tire {tir.name!r}: fz, kappa, alpha, gamma and speed must be numbers, or arrays of one shape"
        ) from None
    found = np.empty((5, *given[0].shape))
    for place in np.ndindex(given[0].shape):
        load, k, a, g, v = (float(x[place]) for x in given)
        slide = abs(v) * math.hypot(k, math.tan(a))
        force, moment = magic(p, 0, load, at_load(p, 0, load), k, a, g, -1.0 if v < 0 else 1.0, v, slide)
        found[(slice(None), *place)] = (*force, *moment)
    return {name: float(x) if x.ndim == 0 else x for name, x in zip(("fx", "fy", "mx", "my", "mz"), found, strict=True)}
