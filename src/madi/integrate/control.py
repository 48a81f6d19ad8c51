"""How adaptive methods judge a step, where they begin, and what singular positions of the loops do to all that."""

from __future__ import annotations

from madi.integrate.memory import DONE, NOT_FINITE, AdaptiveMemory, Memory
from madi.integrate.step import derivative
from madi.joints.ladder import quaternion_at
from madi.kernel import kernel, present
from madi.loops.kkt import NEARLY_SINGULAR
from madi.loops.memory import REMEMBERED

ROUNDING = 1e-6  # error of a step in a singular position, against the state, up to which rounding may be to blame
SHORTEST = 1e-10  # s, or of the time: a step that still leaves the finite numbers is hopeless
SMALLEST_ERROR = 1e-10  # of the tolerance: a smaller one lets the step grow no more, and can be zero
# the first step: s, where nothing tells its length; sizes and rates, by their tolerances, that are nothing; x' and x'' of a
# motion that is straight; its step, against the trial
SHORT, NEXT_TO_NOTHING, STRAIGHT, STRAIGHT_ON = 1e-6, 1e-5, 1e-15, 1e-3
FAR_SHORTER, SHORTER = 0.1, 0.7  # after a stage that left them; in a singular position
MUCH_SHORTER, SOMEWHAT_SHORTER = 0.05, 0.6  # of the last step in a regular position, see `accept_despite_error`
NEAR_MISS = 0.2  # of a singular position: how far its V may be off


@kernel
def magnitudes(m: Memory, q, out):
    """For every column the size of its coordinate, which relative tolerances refer to; 1 for rotations and states."""
    model = m.model
    for c in range(model.v_at[0], model.v_end[0]):
        out[c] = 1.0
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        for j in range(model.v_end[i] - l):
            out[l + j] = 1.0 if at >= 0 and j >= at else abs(q[k + j])


@kernel
def scales(m: Memory, q, v, scale):
    """Sizes of x: coordinates, then speeds."""
    magnitudes(m, q, scale)
    for c in range(m.model.nv):
        scale[m.model.nv + c] = abs(v[c])


@kernel
def larger_scales(m: AdaptiveMemory, q, v):
    """scale: sizes of x at both ends, (q, v) the second."""
    scales(m, q, v, m.scale1)
    for j in range(2 * m.model.nv):
        m.scale[j] = max(m.scale[j], m.scale1[j])


@kernel
def error_norm(m: AdaptiveMemory, error, rtol, atol):
    """Largest of error / (atol + rtol scale) over x = (theta, v): every component keeps the tolerance."""
    worst = 0.0
    for j in range(2 * m.model.nv):
        e = abs(error[j]) / (atol + rtol * m.scale[j])
        if worst == worst and not e <= worst:  # a NaN is taken over, and stays
            worst = e
    return worst


@kernel
def first_step(m: AdaptiveMemory, d0, x, dx, order):
    """A first step from the sizes of x, x' = d0 and x'' (Hairer, Norsett, Wanner: Solving ODEs I, II.4); x, dx: scratch."""
    nv, n = m.model.nv, 2 * m.model.nv
    size, rate = 0.0, 0.0
    for j in range(n):
        w = 1.0 / (m.atol + m.rtol * m.scale[j])
        size += (m.scale[j] * w) ** 2
        rate += (d0[j] * w) ** 2
    size, rate = (size / n) ** 0.5, (rate / n) ** 0.5
    h = SHORT if size < NEXT_TO_NOTHING or rate < NEXT_TO_NOTHING else 0.01 * size / rate
    h = min(h, m.end - m.t)
    for c in range(nv):
        x[c], x[nv + c] = h * d0[c], m.v[c] + h * d0[nv + c]
    derivative(m, m.t + h, x, dx)
    curve = 0.0
    for j in range(n):
        w = 1.0 / (m.atol + m.rtol * m.scale[j])
        curve += ((dx[j] - d0[j]) * w) ** 2
    curve = (curve / n) ** 0.5 / h
    big = max(rate, curve)
    step = max(SHORT, STRAIGHT_ON * h) if big <= STRAIGHT else (0.01 / big) ** (1.0 / (order + 1.0))
    return min(100.0 * h, step, m.end - m.t)


@kernel
def choose_first_step(m: AdaptiveMemory, d0, order):
    """m.h at the start; a is known."""
    nv = m.model.nv
    for c in range(nv):
        d0[c], d0[nv + c] = m.v[c], m.a[c]
    scales(m, m.q, m.v, m.scale)
    m.h = min(m.first_step if m.first_step > 0.0 else first_step(m, d0, m.x, m.x1, order), m.max_step)


@kernel
def in_singular_position(m: Memory):
    """Whether the loops were in one since the last step."""
    return present(m.close) and m.tally.lowest < NEARLY_SINGULAR


@kernel
def retry_shorter(m: Memory, t, h):
    """A stage left the finite numbers: a shorter step, unless that is hopeless."""
    if h < SHORTEST * max(1.0, abs(t)):
        return NOT_FINITE
    m.h = (SHORTER if in_singular_position(m) else FAR_SHORTER) * h
    return DONE


@kernel
def accept_despite_error(m: Memory, h, relative):
    """Whether a step that misses its tolerance (by `relative`, its error against the size of the state) is taken all the
    same. In a singular position of the loops rounding is magnified beyond tight tolerances, and ever shorter steps only
    stay there longer; so steps there are not made much shorter than the last one outside. Leaps are counted."""
    if not in_singular_position(m):
        return False
    tally = m.tally
    if tally.good_step == 0.0:  # the run begins in such a position
        tally.good_step = h
    if h <= MUCH_SHORTER * tally.good_step or (h <= SOMEWHAT_SHORTER * tally.good_step and relative < ROUNDING):
        tally.leaps += 1
        return True
    return False


@kernel
def note_step(m: Memory, t, h):
    """Remember the length of a step taken where the loops are regular, and look afresh; note singular positions.

    The smallest pivot is the square of something that passes zero straight, so its root is V-shaped where the mechanism
    passes a singular position; a minimum that does not lead to zero like a V is only a near miss.
    """
    tally = m.tally
    if not present(m.close):
        return
    if tally.lowest >= NEARLY_SINGULAR:
        tally.good_step = h
    tally.lowest = tally.independence
    root = max(tally.independence, 0.0) ** 0.5
    t0, left, t1, here = tally.earlier_time, tally.earlier_root, tally.last_time, tally.last_root
    if here < 0.5 and here <= left and here < root and t0 < t1:
        slope = (left + root) / (t - t0)
        zero = t0 + left / slope
        if abs(here - slope * abs(t1 - zero)) < NEAR_MISS * max(left, root) and tally.singular_count < REMEMBERED:
            tally.singular_times[tally.singular_count] = zero
            tally.singular_count += 1
    tally.earlier_time, tally.earlier_root, tally.last_time, tally.last_root = t1, here, t, root
