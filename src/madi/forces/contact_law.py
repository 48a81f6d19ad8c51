"""What happens at a point of contact: a push that depends on the depth, friction that sticks or slides, and the memory that
this takes.

*Push.* With the depth x > 0 and its rate x' (Hunt and Crossley):

    F = k x^n (1 + c x')  >= 0.

It begins and ends at zero, and never pulls. c is given (s/m), or made of a coefficient of restitution e: for every k and n
a body that arrives at the speed v leaves at e v, if d = c v satisfies

    d - ln(1 + d) = -e d - ln(1 - e d)                                                             (1)

(integrate v dv / (1 + c v) = -(k / m) x^n dx over both halves of the impact; Hunt and Crossley's own 3 (1 - e) / 2 is its
first order). So c = d(e) / v, with the speed v at which this contact began; what began slower than `slowest` counts as that.

*Friction.* Sliding at the velocity u in the plane of contact: -mu F u / |u|, with Stribeck's curve mu(|u|) from `static` to
`mu`; below a speed of creep it falls to zero linearly. Sticking, bristles bend by z and hold it:

    f = -s (z + b u),   z' = u,   s = kappa k x^(n-1),   |f| <= static F,

a stiffness that is kappa times that of the push and needs no number of its own; b kills the ringing. Nothing drifts below
the limit. What is bent further gives way.

*Memory.* Whether a point sticks or slides, how far its bristles are bent, how fast the contact began: these are told once a
step, at its end (`keep`, equations/modes.py). Within a step that begins at t0 with z0, u0

    z = z0 + (t - t0) (u0 + u) / 2,

so nothing is stiff while it slides, and nothing creeps while it sticks: with u = 0, z stays z0. Where sliding comes to a
stop, or turns round, bristles begin with the force there is: no force jumps then.

*Rolling and spinning* are the same with angular velocities about axes in the plane and the normal, limits rho F and sigma F
(N m), and a stiffness s L^2, L how far the smaller shape gets from its middle.

docs/references.md: [Hunt, Crossley 1975], [Coulomb 1785], [Stribeck 1902], [Dupont et al. 2002].
"""

from __future__ import annotations

import math

from madi.forces.fields import Arrays, Work
from madi.kernel import exp, inline, kernel, log, sqrt, where
from madi.spatial.vector import at, dot, plus, plus_scaled, put_at, scaled

APART, SLIDES, STICKS, HARD = 0.0, 1.0, 2.0, 3.0  # HARD: a time-stepping method has told the force
BRISTLE = 7  # numbers of one: mode, bend (3), velocity at the start of the step (3)
POINT, TURNING_POINT = 1 + BRISTLE, 1 + 3 * BRISTLE  # of a point: speed of arrival; bristles that slide, roll, spin
(
    STIFFNESS,
    EXPONENT,
    DAMPING,
    BOUNCE,
    SLOWEST,
    MU,
    STATIC,
    STRIBECK,
    SHEAR,
    RINGING,
    CREEP,
    ROLLING,
    SPINNING,
    RESTITUTION,
    LEVER,
    LAW,
) = range(16)  # numbers of a law, from p[s] on
DEAD = 0.01  # restitution that counts as none
FIRST_ORDER, ALMOST = 1e-3, 1.0 - 1e-15  # bounds of eq. (1)'s solution, below 3 (1 - e) / 2 and below 1 / e
REST = 1e-300  # m2/s2: squared speeds below it have no direction


@inline
def power(x, n):
    """x^n for x > 0; 1 and 3/2 without logarithms."""
    if n == 1.0:
        return x
    if n == 1.5:
        return x * sqrt(x)
    return exp(n * log(x))


@kernel
def push(p, s, x, rate, arrived):
    """(F, its elastic part) at the depth x, which grows at `rate`; `arrived`: how fast it began."""
    touching = x > 0.0
    depth = where(touching, x, 1.0)
    elastic = where(touching, p[s + STIFFNESS] * power(depth, p[s + EXPONENT]), 0.0)
    began = where(arrived > p[s + SLOWEST], arrived, p[s + SLOWEST])
    c = p[s + DAMPING] + p[s + BOUNCE] / began
    factor = 1.0 + c * rate
    return elastic * where(factor > 0.0, factor, 0.0), elastic


@kernel
def coefficient(p, s, speed):
    """mu at a sliding speed."""
    vs = p[s + STRIBECK]
    if vs == 0.0:
        return p[s + MU]
    x = speed / vs
    return p[s + MU] + (p[s + STATIC] - p[s + MU]) * exp(-x * x)


@kernel
def bristles(work: Work, m, tau, u, n, stiff, ringing, limits, creep, touching):
    """(force, energy stored, power lost) of the bristles with memory from held[m] on, `tau` after the step began, at the
    velocity u; they are kept off the direction n. `stiff`: their stiffness, and its rate against itself. What is kept of
    them if the step ends here goes to work.kept. `limits`: of what sticks and of what slides."""
    (stiffness, swell), (most, slide) = stiff, limits
    mode, z0, u0 = work.held[m], at(work.held, m + 1), at(work.held, m + 4)
    sticks = mode == STICKS
    z = plus_scaled(z0, 0.5 * tau, plus(u0, u))
    z = plus_scaled(z, -dot(z, n), n)
    trial = scaled(-stiffness, plus_scaled(z, ringing, u))
    square, speed = dot(trial, trial), sqrt(dot(u, u) + REST)
    over = square > most * most
    give = where(over, most / sqrt(where(over, square, 1.0)), 1.0)
    f = scaled(where(sticks, give, 0.0), trial)
    f = plus_scaled(f, where(sticks, 0.0, -slide / where(speed > creep, speed, creep)), u)
    keep_bristles(work, m, u, f, (sticks, over, dot(u, trial), speed, creep, slide), stiffness, ringing, touching)
    bent = where(sticks, where(over, 0.0, 1.0), 0.0)
    stored = 0.5 * stiffness * bent * dot(z, z)
    return f, stored, -dot(f, u) - stiffness * bent * dot(z, u) - swell * stored


@kernel
def keep_bristles(work: Work, m, u, f, found, stiffness, ringing, touching):
    """Mode, bend and velocity that are kept."""
    sticks, over, power_of_trial, speed, creep, slide = found
    mode, z0, u0 = work.held[m], at(work.held, m + 1), at(work.held, m + 4)
    breaks = where(over, where(power_of_trial < 0.0, 1.0, 0.0), 0.0)
    turned = where(mode == SLIDES, where(dot(u, z0) < 0.0, 1.0, 0.0), 0.0)
    slower = where(speed <= creep, where(mode == SLIDES, where(speed <= sqrt(dot(u0, u0)), 1.0, 0.0), 1.0), 0.0)
    held_up = where(sticks, 1.0 - breaks, where(turned > 0.0, 1.0, slower))
    soft = 1.0 / where(stiffness > 0.0, stiffness, 1.0)
    z = scaled(-soft, f)
    # what sticks is bent so that the force stays; what turned round sticks where it slid; what slides remembers its way
    z = plus_scaled(z, where(held_up > 0.0, -ringing, 0.0), u)
    before = sqrt(dot(z0, z0) + REST)
    back = where(sticks, 0.0, turned)
    z = plus_scaled(scaled(1.0 - back, z), back * soft * slide / before, z0)
    on = where(touching, 1.0, 0.0)
    work.broke = work.broke + on * where(sticks, breaks, 0.0)
    work.kept[m] = on * where(held_up > 0.0, STICKS, SLIDES)
    put_at(work.kept, m + 1, scaled(on, z))
    put_at(work.kept, m + 4, u)


@inline
def in_plane(u, n):
    """The part of u normal to n."""
    return plus_scaled(u, -dot(u, n), n)


@kernel
def friction(model: Arrays, work: Work, s, m, tau, u, w, n, F, share, touching):
    """(force, torque, (energy stored, power lost)) of friction at a point with memory from held[m] on: u its velocity of
    sliding, w that of turning, n the normal, in the axes that the memory is in. `share`: the push's own stiffness,
    k x^(n-1), and its rate against itself."""
    p = model.parameter
    stiffness, ringing, creep, swell = p[s + SHEAR] * share[0], p[s + RINGING], p[s + CREEP], share[1]
    u = in_plane(u, n)
    slide = coefficient(p, s, sqrt(dot(u, u) + REST)) * F
    f, stored, lost = bristles(work, m, tau, u, n, (stiffness, swell), ringing, (p[s + STATIC] * F, slide), creep, touching)
    torque = (0.0, 0.0, 0.0)
    rho, sigma = p[s + ROLLING], p[s + SPINNING]
    if rho > 0.0 or sigma > 0.0:
        lever = p[s + LEVER]
        rolls, spins = in_plane(w, n), scaled(dot(w, n), n)
        k, slow = (stiffness * lever * lever, swell), creep / lever
        torque, a, b = bristles(work, m + BRISTLE, tau, rolls, n, k, ringing, (rho * F, rho * F), slow, touching)
        m += 2 * BRISTLE
        about, c, d = bristles(work, m, tau, spins, (0.0, 0.0, 0.0), k, ringing, (sigma * F, sigma * F), slow, touching)
        torque, stored, lost = plus(torque, about), stored + a + c, lost + b + d
    return f, torque, (stored, lost)


@kernel
def keep_arrival(work: Work, m, rate, touching):
    """How fast a contact began: told until it begins, kept until it ends."""
    work.kept[m] = where(touching, work.held[m], where(rate > 0.0, rate, 0.0))


@kernel
def leave(work: Work, m, rate, numbers):
    """Memory of a point that is far from anything."""
    work.kept[m] = where(rate > 0.0, rate, 0.0)
    for k in range(1, numbers):
        work.kept[m + k] = 0.0


def bounce(restitution: float) -> float:
    """d(e) of eq. (1), the largest number where nothing comes back."""
    from scipy.optimize import brentq

    e = max(restitution, DEAD)
    if e >= 1.0:
        return 0.0

    def difference(d: float) -> float:
        return d - math.log(1.0 + d) + e * d + math.log(1.0 - e * d)

    least, most = FIRST_ORDER * (1.0 - e), ALMOST / e
    return most if difference(most) > 0.0 else float(brentq(difference, least, most))
