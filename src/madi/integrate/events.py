"""Events: a step ends where the first margin of a mode comes to zero (forces/modes.py), and what follows begins anew.

Where that is, is found with the steps of the method itself: the step is taken again, shorter, until its end is a rounding
behind the first zero. So an event is as exact as the method, whatever its interpolant, and every method has events. What
becomes negative and positive again within a step is looked for in its middle.

Zeros of the least margin are found by the Illinois form of regula falsi: of order 1.44, and never without a bracket.

docs/references.md: [Dowell, Jarratt 1971], [Hairer, Nørsett, Wanner 1993].
"""

from __future__ import annotations

from madi.integrate.memory import DONE, EVENT, LOGGED, Memory
from madi.integrate.outputs import cubic_ends, cubic_point
from madi.joints.chart import retract
from madi.kernel import HUGE, Kernel, call, kernel, present, view1

RESOLUTION = 4e-16  # of the time: rounding
SMALL = 1e-14  # of the change of a margin over the step: as good as zero
MOST = 60  # steps taken again for an event
HALVINGS = 50  # of a step whose margin is zero at the start, until it is positive somewhere
EDGE = 1e-4  # of the bracket: how far from its ends a trial stays, at least
FAILED = -1.0


@kernel
def look(m: Memory, t, q, v):
    """Margins at a state."""
    call(m.watch, t, q, v, m.applied, m.margin)
    m.evaluations += 1


@kernel
def least(margin, n):
    """The smallest of n margins; NaN if one is."""
    found = HUGE
    for k in range(n):
        if not margin[k] >= found:
            found = margin[k]
    return found


@kernel
def least_within(m: Memory, t, h):
    """The smallest margin in the middle of the step, on the cubic through both ends."""
    nv, n = m.model.nv, 2 * m.model.nv
    cubic_ends(m, view1(m.cubic, 0, n), view1(m.cubic, n, n), view1(m.cubic, 2 * n, n), view1(m.cubic, 3 * n, n))
    x = view1(m.cubic, 4 * n, n)
    cubic_point(m, 0.5, h, x)
    retract(m.model, m.q, x, m.q_stage)
    call(m.watch, t + 0.5 * h, m.q_stage, view1(x, nv, nv), m.applied, m.margin_within)
    m.evaluations += 1
    return least(m.margin_within, m.model.n_held)


def margins_of(attempt: Kernel) -> Kernel:
    """The kernel margin_after(m, t, h): the least margin at the end of such a step; minus infinity where it fails.
    `attempt(m, t, h)`: (q1, v1, a1) of a step; DONE, or a failure."""

    @kernel
    def margin_after(m: Memory, t, h):
        if attempt(m, t, h) != DONE:
            return FAILED * HUGE * HUGE  # minus infinity
        look(m, t + h, m.q1, m.v1)
        return least(m.margin, m.model.n_held)

    return margin_after


def shortening(margin_after: Kernel) -> Kernel:
    """The kernel that finds the zero of the least margin within a step, with steps of the method."""

    @kernel
    def shorten(m: Memory, t, h, below, g_below, above, g_above):
        """The zero between `below`, where the least margin is positive, and `above`, where it is negative."""
        whole, last, side = g_below - g_above, 0.0, 0
        weight_below, weight_above = g_below, g_above
        for _ in range(MOST):
            if above - below <= RESOLUTION * (abs(t) + h) or -g_above <= SMALL * whole:
                break
            s = (below * weight_above - above * weight_below) / (weight_above - weight_below)
            edge = EDGE * (above - below)
            s = min(max(s, below + edge), above - edge)
            now = margin_after(m, t, s)
            if not now > -HUGE:
                return FAILED
            last = s
            if now < 0.0:
                above, g_above, weight_above = s, now, now
                if side < 0:
                    weight_below *= 0.5
                side = -1
            else:
                below, weight_below = s, now
                if side > 0:
                    weight_above *= 0.5
                side = 1
        if last != above and not margin_after(m, t, above) > -HUGE:
            return FAILED
        return above

    return shorten


def locating(attempt: Kernel) -> Kernel:
    """The kernel first_event(m, t, h): after a step of length h from t, its margins at the end. If one is negative, the step
    is taken again up to where the first of them has just become so. Returns its length; FAILED where a step fails."""
    margin_after = margins_of(attempt)
    shorten = shortening(margin_after)

    @kernel
    def first_event(m: Memory, t, h):
        look(m, t + h, m.q1, m.v1)
        above, at_end = h, least(m.margin, m.model.n_held)
        if at_end >= 0.0:
            if least_within(m, t, h) >= 0.0:
                return h
            above = 0.5 * h
            at_end = margin_after(m, t, above)
            if at_end >= 0.0:  # the cubic was wrong
                margin_after(m, t, h)
                return h
        below, at_start = 0.0, least(m.margin_before, m.model.n_held)
        if at_start <= 0.0:  # it leaves its end, and comes back within the step
            for _ in range(HALVINGS):
                s = 0.5 * above
                now = margin_after(m, t, s)
                if now > 0.0:
                    below, at_start = s, now
                    break
                above, at_end = s, now
            if at_start <= 0.0:
                for k in range(m.model.n_held):  # it never leaves: what follows is asked for once more
                    if m.margin_before[k] <= 0.0:
                        m.margin[k] = min(m.margin[k], -SMALL)
                return above if at_end > -HUGE else FAILED
        return shorten(m, t, h, below, at_start, above, at_end)

    return first_event


@kernel
def note_event(m: Memory, k):
    """Held value k has come to an end now."""
    if m.events < LOGGED + m.model.n_held:
        m.event_time[m.events], m.event_of[m.events] = m.t, 1.0 * k
    m.events += 1


@kernel
def sides(m: Memory):
    """Signals that have changed sides unnoticed."""
    n = m.model.n_held
    for k in range(n):
        m.margin_before[k] = m.margin[k]
        if m.margin[n + k] > 0.0:
            at = m.model.nv + k
            m.applied[at] = -m.applied[at]


def beginning(begin: Kernel) -> Kernel:
    """The kernel begin_anew(m): modes for the state at hand, the method's own beginning, margins there."""

    @kernel
    def begin_anew(m: Memory):
        call(m.switch, m.t, m.q, m.v, m.applied, m.margin)
        for k in range(m.model.n_held):
            m.lost[k] = m.margin[k]
        m.start, m.grid = m.t, 0
        if present(m.keep):
            call(m.keep, m.t, m.q, m.v, m.applied, m.broke)
        status = begin(m)
        if status != DONE:
            return status
        look(m, m.t, m.q, m.v)
        sides(m)
        return DONE

    return begin_anew


def taking(begin_anew: Kernel) -> Kernel:
    """The kernel take_event(m): what a step that ended at an event leads to. EVENT: somebody wants to know."""

    @kernel
    def take_event(m: Memory):
        told, first = False, m.events
        for k in range(m.model.n_held):
            m.margin_within[k] = m.margin[k]
            if m.margin[k] < 0.0:
                note_event(m, k)
                told = told or m.model.held_column[k] < 0
        status = begin_anew(m)
        if status != DONE:
            return status
        for k in range(m.model.n_held):  # stops that were hit by what an impact elsewhere did
            if m.lost[k] > 0.0 and not m.margin_within[k] < 0.0:
                note_event(m, k)
        for j in range(first, min(m.events, LOGGED + m.model.n_held)):
            k = int(m.event_of[j])
            m.event_loss[j], m.event_mode[j] = m.lost[k], m.applied[m.model.nv + k]
        return EVENT if told or m.events >= LOGGED else DONE

    return take_event
