"""The march of all integrators, written once: with steps of a fixed length, or with steps that are judged.

A loop is resumable: it returns after `limit` steps (PAUSED), when the outputs asked for are written (DONE), or with a
failure; everything it must remember is in its memory. A method hands in its own kernels; `after_step` is what happens
between steps whatever the method is.
"""

from __future__ import annotations

from typing import Any

from madi.integrate.control import accept_despite_error, note_step, retry_shorter
from madi.integrate.events import beginning, least, locating, sides, taking
from madi.integrate.memory import AGAIN, DONE, NOT_FINITE, PAUSED, STEP_TOO_SMALL, Loop, Memory
from madi.integrate.outputs import cubic_outputs, first_outputs
from madi.integrate.step import accelerations, all_finite, end_is_finite, shift_state
from madi.kernel import HUGE, Kernel, call, kernel, present

ON_GRID = 1e-9  # of a step: a grid point that near to the end is the end
RESOLVED = 1e-14  # of the time: shorter steps are below its resolution
MOST_IDLE = 100  # events that may follow each other without any time between them
LAST_PART = 1.01  # steps: what is left of a run is one step, not one and a hundredth


@kernel
def nothing(m: Memory):
    """What a method need not do."""


@kernel
def there(m: Memory, t, h):
    """Of a method whose attempt is at the end of the step."""


@kernel
def begin_with_accelerations(m: Memory):
    """Accelerations of the start."""
    accelerations(m, m.t, m.q, m.v, m.a)
    return DONE if all_finite(m.a, m.model.nv) else NOT_FINITE


@kernel
def on_grid(m: Memory):
    """(time, length) of the step from grid point `grid`; the last one ends where the run ends (to rounding: a step that
    differs in its last digits would be another one to a method that keeps a matrix for its length)."""
    t = m.start + m.grid * m.step
    return t, (m.step if t + m.step * (1.0 - ON_GRID) < m.end else m.end - t)


@kernel
def accept(m: Memory, t, h):
    """The end of the step is where the next begins."""
    shift_state(m)
    m.accepted += 1
    m.grid += 1
    m.t = t


@kernel
def no_outputs(m: Memory, t, h):
    """Of a method that writes its outputs itself, or of a step without any."""


@kernel
def remember_step(m: Memory):
    """What elements keep of the step that has ended at the state at hand. Where friction has given way, forces may jump:
    what the method begins the next step with is evaluated again."""
    if present(m.keep):
        call(m.keep, m.t, m.q, m.v, m.applied, m.broke)
        m.evaluations += 1
        if m.broke[0] > 0.0:
            accelerations(m, m.t, m.q, m.v, m.a)


@kernel
def after_step(m: Memory, t, h):
    """A step of length h has led to time t, its outputs are written: the one place for what looks on between steps. (What
    may end a step, an event, belongs before it is completed.)"""
    accept(m, t, h)
    remember_step(m)
    note_step(m, t, h)


def march(begin: Kernel, trial: Kernel) -> Kernel:
    """The loop of every method: what it does at the start, the first time, and outputs there; then `trial(m)`, one step,
    taken or rejected, until all outputs are written, it pauses or fails."""

    begin_anew = beginning(begin)

    def loop(m: Memory):
        if m.started == 0 or m.anew != 0:
            remember_step(m)
            if present(m.watch):
                status = begin_anew(m)
            else:
                status = begin(m)
            if status != DONE:
                return status
            if m.started == 0:
                first_outputs(m)
            m.started, m.anew = 1, 0
        while m.next < m.upto:
            if m.limit <= 0:
                return PAUSED
            m.limit -= 1
            status = trial(m)
            if status != DONE:
                return status
        return DONE

    return loop


def advancing(step: Kernel, outputs: Kernel, remember: Kernel, after: Kernel) -> Kernel:
    """The kernel of a step of fixed length with all that belongs to it; exported C has the same (export/c.py)."""

    @kernel
    def advance(m: Memory, t, h):
        status = step(m, t, h)
        if status != DONE:
            return status
        if not end_is_finite(m):
            return NOT_FINITE
        outputs(m, t, h)
        remember(m)
        m.h = h
        after(m, t + h, h)
        return DONE

    return advance


def fixed_steps(
    name: str, memory: Any, step: Kernel, begin: Kernel = begin_with_accelerations,
    outputs: Kernel = cubic_outputs, remember: Kernel = nothing,
) -> Loop:  # fmt: skip
    """The loop of a method with steps of a fixed length.

    `step(m, t, h)`: (q1, v1, a1) from (q, v, a), the loops closed; returns DONE or a failure. `begin(m)`: once, at the
    start. `outputs(m, t, h)`: those within the step. `remember(m)`: what is kept of the step before it is taken.
    """
    advance = advancing(step, outputs, remember, after_step)

    @kernel
    def attempt(m: Memory, t, h):
        m.next = m.written
        status = step(m, t, h)
        return NOT_FINITE if status == DONE and not end_is_finite(m) else status

    first_event, take_event = locating(attempt), taking(beginning(begin))

    @kernel
    def advance_to_event(m: Memory, t, h):
        m.written = m.next
        status = attempt(m, t, h)
        if status != DONE:
            return status
        whole = h
        h = first_event(m, t, h)
        if h < 0.0:
            return NOT_FINITE
        m.idle = m.idle + 1 if h < RESOLVED * max(abs(t), abs(m.end)) else 0
        if m.idle > MOST_IDLE:
            return STEP_TOO_SMALL
        outputs(m, t, h)
        remember(m)
        m.h = h
        after_step(m, t + h, h)
        if least(m.margin, m.model.n_held) < 0.0:
            return take_event(m)
        sides(m)
        if h < whole:  # the grid begins anew where a step was cut
            m.start, m.grid = m.t, 0
        return DONE

    @kernel
    def trial(m: Memory):
        t, h = on_grid(m)
        if present(m.watch):
            return advance_to_event(m, t, h)
        return advance(m, t, h)

    return Loop(name, march(begin, trial), memory, begin, step, remember)


def adaptive_steps(
    name: str, memory: Any, begin: Kernel, attempt: Kernel, complete: Kernel,
    longer: Kernel, shorter: Kernel, failed: Kernel = retry_shorter, arrive: Kernel = there, forget: Kernel = nothing,
) -> Loop:  # fmt: skip
    """The loop of a method that chooses its steps.

    `begin(m)`: accelerations of the start and a first step; DONE or a failure. `attempt(m, t, h)`: a trial step, returns its
    error against the tolerance, not finite where it fails: then `failed(m, t, h)` sets a shorter step and returns DONE, or
    a failure. `complete(m, t, h)`: the end of an accepted step, its outputs; returns DONE, AGAIN (not taken) or a failure.
    `arrive(m, t, h)`: after an attempt (q1, v1, a1), if it leaves something else; `forget(m)`: of the last attempt, because
    the step is taken again, shorter: for events.
    `longer(m, h, error)`, `shorter(m, h, error)`: length of the next step after one that was accepted, rejected.
    """

    @kernel
    def retake(m: Memory, t, h):
        forget(m)
        if not attempt(m, t, h) < HUGE:
            return NOT_FINITE
        arrive(m, t, h)
        return DONE

    first_event, take_event = locating(retake), taking(beginning(begin))

    @kernel
    def trial(m: Memory):
        t, h = m.t, m.h
        if h < RESOLVED * max(abs(t), abs(m.end)):
            return STEP_TOO_SMALL
        if t + LAST_PART * h >= m.end:
            h = m.end - t
        error = attempt(m, t, h)
        if not error < HUGE:
            m.rejected += 1
            return failed(m, t, h)
        if error > 1.0 and not accept_despite_error(m, h, error * m.rtol):
            m.rejected += 1
            m.h = shorter(m, h, error)
            return DONE
        if present(m.watch):
            whole = h
            arrive(m, t, h)
            h = first_event(m, t, h)
            if h < 0.0:
                m.rejected += 1
                return failed(m, t, whole)
        status = complete(m, t, h)
        if status == AGAIN:
            return DONE
        if status != DONE:
            return status
        m.h = min(longer(m, h, error), m.max_step)
        after_step(m, t + h if h < m.end - t else m.end, h)
        if present(m.watch):
            if least(m.margin, m.model.n_held) < 0.0:
                return take_event(m)
            sides(m)
        return DONE

    return Loop(name, march(begin, trial), memory)
