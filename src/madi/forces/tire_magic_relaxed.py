"""Tire by the Magic Formula with first-order relaxation of both slips. Steady state: tire_magic.py.

The contact patch lags behind the wheel by u along and w across:

    u' = -V_sx - |V_x| u / sigma_x,   kappa = u / sigma_x,      w' = V_y - |V_x| w / sigma_y,   tan(alpha) = w / sigma_y,

so that at standstill the tire is a spring, and slip never divides by a speed; near standstill a damper acts beside it.
u and w are first-order states of the element: they have neither mass nor energy. They do not grow beyond a slip at which
the tire slides anyway (at standstill: where friction is used up); in the air they decay.

References: Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012), eqs. 7.7, 7.9, 8.128; the limits and the decay are ours.

docs/references.md: [Pacejka 2012].
"""

from __future__ import annotations

from madi.forces.fields import Arrays, Work
from madi.forces.magic_formula import at_load, gripping_slips, relaxation_lengths
from madi.forces.tire_contact import LOW_SPEED, tire_kind, touch
from madi.forces.tire_magic import MAGIC, coefficients_at, pack, posture, press
from madi.kernel import fabs, kernel, where

__all__ = ["KIND", "apply", "pack"]
KIND = tire_kind("tire_magic_relaxed", 16, **MAGIC, states=(("lag_along", "m"), ("lag_across", "m")))
MOST_ALONG, MOST_ACROSS = 2.0, 10.0  # slips beyond which the patch no longer lags, at speed
WALK = 3.0  # m/s: well below it they count as standing
FADE = 0.02  # s: how fast it comes back in the air, and from beyond that
NO_LAG = 1e-9  # m, added to the longest lag: a tire without relaxation has none to divide by
DAMPING = 0.01  # s: the damper at standstill, per relaxation length


@kernel
def lag(state, rate, most, carried):
    """Rate of a lag: where it is beyond `most` it grows less and less, and comes back; a decay in the air."""
    beyond = fabs(state) - most
    beyond = where(beyond > 0.0, beyond, 0.0)
    share = 10.0 * beyond / (most + NO_LAG)
    less = where(share < 1.0, 1.0 - share, 0.0)
    rate = where(state * rate > 0.0, less * rate, rate) + where(state < 0.0, beyond, -beyond) / FADE
    return where(carried, rate, -state / FADE)


@kernel
def apply(model: Arrays, work: Work, e):
    """Contact and slip forces on the wheel; rates of the lags."""
    p, s = model.parameter, model.force_at[e]
    low, column = p[s + LOW_SPEED], model.force_state[e]
    normal, slip = touch(model, work, e)
    pace, speed, slide, gamma = posture(model, work, e, normal)
    aside = -slip[1] * speed
    c = coefficients_at(p, s)
    shared = at_load(p, c, normal)
    along_length, across_length = relaxation_lengths(p, c, shared, gamma)
    # at standstill no more is stored than what friction holds
    most_along, most_across = gripping_slips(p, c, shared)
    still = low * low / (speed * speed)
    going = pace * pace / (pace * pace + WALK * WALK)
    most_along = most_along + (MOST_ALONG - most_along) * going
    most_across = most_across + (MOST_ACROSS - most_across) * going
    u, w = work.v[column], work.v[column + 1]
    du = lag(u, -slide - fabs(pace) * u / along_length, most_along * along_length, normal > 0.0)
    dw = lag(w, aside - fabs(pace) * w / across_length, most_across * across_length, normal > 0.0)
    damping = DAMPING * still
    kappa, tangent = (u - damping * slide) / along_length, (w + damping * aside) / across_length
    press(model, work, e, normal, shared, (kappa, tangent), pace, speed, gamma)
    work.tau[column] = work.tau[column] + du
    work.tau[column + 1] = work.tau[column + 1] + dw
