"""Many runs of one model, one after the other: numbers set, a run, its outputs recorded; nothing of it in Python.

What differs from run to run lies in rows of arrays, and so do the results. The loop returns when a slice of runs is done,
and for what happens rarely: a run pauses or fails, or loops that parameters have torn open cannot be closed here.

Open loops are closed on foot, as Python does it (assembly/assemble.py): what is given goes from the drawing to where it is
wanted in strides, the loops closed at each. A coordinate is held by making it heavy: closing moves what is light. So this is
done only where what is given leaves nothing else to choose; then any weights give the same state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.integrate.memory import DONE, EVENT, PAUSED, Loop, Memory, Outputs
from madi.integrate.record import LoadRecording, Recording
from madi.kernel import call, call_loop, kernel, present, view1
from madi.kernel.fields import Fields, Ints, Reals, function, given_reals, integer, ints, part, real, reals, size

OPEN = 100  # of a batch, beside what loops return: the loops are open where a run shall start
FRESH, CLOSED, RUNNING, FAILED = range(4)  # where the next run stands
STRIDE = 0.15  # rad (or typical lengths) a held coordinate goes at a time
FAR = 300.0  # the same: nobody walks so far


class Stepped(Fields):
    """Of a run's memory, what a batch reads and writes: whatever the method, under these names."""

    outputs: Outputs = part(Outputs)
    max_step: float = real()
    end: float = real()
    limit: int = integer()
    upto: int = integer()
    next: int = integer()
    q: Reals = given_reals()
    v: Reals = given_reals()


class SteppedTable:
    """The same in machine code, of the memory of a method: its own table has more, elsewhere in each."""

    def __init__(self, memory: Memory):
        places = list(memory.fields)
        self.memory = memory
        self.table = np.array([memory.table[places.index(name)] for name in Stepped.fields], dtype=np.int64)
        self.table_address = int(self.table.ctypes.data)


class Batch(Fields):
    """A slice of runs, and the memory they are made in. Arrays of integers that are handed in are seen as reals: they are
    only copied."""

    nq: int = size()
    nv: int = size()
    nr: int = size()
    n_held: int = size()
    outputs: int = size()  # of a run, those at stops among them
    n_real: int = size()  # numbers in the run's memory, and in the tally
    n_int: int = size()
    n_tally_real: int = size()
    n_tally_int: int = size()
    n_moving: int = size()  # reals of the model that parameters move, and parameters
    n_parameters: int = size()
    n_parts: int = size()  # of a run, between stops
    n_begun: int = size()  # integers of the loops' scratch that are zero where a run begins
    width: int = size()  # kept of a recorded row; 0: nothing is recorded, states alone are kept
    loads: int = size()  # numbers of the loads recorded
    n_given: int = size()  # coordinates, and speeds, that keep what is given
    n_kept: int = size()
    run: Stepped = part(Stepped)
    recording: Recording = part(Recording)
    loading: LoadRecording = part(LoadRecording)
    loop: Any = function()
    record: Any = function()
    record_loads: Any = function()
    check: Any = function()  # residuals of the constraints and their rates, where a start may be closed
    closing: Any = function()  # closes loops that are open where a run shall start
    # what is set when a run begins
    model_reals: Reals = given_reals()
    parameters: Reals = given_reals()
    run_reals: Reals = given_reals()
    run_ints: Reals = given_reals()
    fresh_reals: Reals = given_reals()
    fresh_ints: Reals = given_reals()
    tally_reals: Reals = given_reals()
    tally_ints: Reals = given_reals()
    fresh_tally_reals: Reals = given_reals()
    fresh_tally_ints: Reals = given_reals()
    work_ints: Reals = given_reals()
    closer_ints: Reals = given_reals()  # of what closes open loops: scratch and tally
    closer_tally_reals: Reals = given_reals()
    closer_tally_ints: Reals = given_reals()
    terms: Reals = given_reals()
    # rows, one for each run of the slice
    moved: Reals = given_reals()
    given: Reals = given_reals()
    q0: Reals = given_reals()
    v0: Reals = given_reals()
    max_steps: Reals = given_reals()
    reached: Reals = given_reals()  # outputs
    q_rows: Reals = given_reals()
    v_rows: Reals = given_reals()
    rows: Reals = given_reals()
    closed: Reals = given_reals()  # of an output: residual, its rate, independence, dependent, identity, condition
    multipliers: Reals = given_reals()
    paces: Reals = given_reals()
    load_rows: Reals = given_reals()
    place: Ints = ints("n_moving")
    begun: Ints = ints("n_begun")
    wanted: Ints = ints("outputs")
    upto: Ints = ints("n_parts")
    ends: Reals = reals("n_parts")
    no_force: Reals = reals("nv+n_held")
    held: Ints = ints("n_given")  # places in q; of the armatures in the model's numbers; their weights and typical sizes
    held_mass: Ints = ints("n_given")
    held_weight: Reals = reals("n_given")
    held_size: Reals = reals("n_given")
    kept: Ints = ints("n_kept")  # columns of the speeds
    kept_mass: Ints = ints("n_kept")
    kept_weight: Reals = reals("n_kept")
    drawn: Reals = reals("nq")  # where what is not held begins
    here: Reals = reals("nq")
    there: Reals = reals("nq")
    speed: Reals = reals("nv")
    answer: Reals = reals("nv")
    light: Reals = reals("n_given+n_kept")  # armatures as they are
    tolerance: float = real()  # of a closed start
    limit: int = integer()  # steps until the loop returns
    next: int = integer()
    last: int = integer()
    as_drawn: int = integer()  # whether all runs start as the model is drawn: then most are closed
    speeds_follow: int = integer()  # whether the speeds given leave nothing else to choose
    valid: int = integer()  # where the scratch says that its matrix is
    stand: int = integer()  # of the next run: FRESH ...
    segment: int = integer()


CLOSURE = 6  # numbers of `closed` for an output


@kernel
def set_numbers(m: Batch, k):
    """The model's numbers are those of run k."""
    for j in range(m.n_moving):
        m.model_reals[m.place[j]] = m.moved[k * m.n_moving + j]
    for j in range(m.n_parameters):
        m.parameters[j] = m.given[k * m.n_parameters + j]


@kernel
def gap(m: Batch, q, v, first, last):
    """The largest of these residuals and rates; FAR if one is no number."""
    call(m.check, 0.0, q, v, m.no_force, m.terms)
    size = 0.0
    for r in range(first, last):
        x = abs(m.terms[r])
        if not x <= size:
            size = x if x < FAR else FAR
    return size


@kernel
def is_closed(m: Batch, k):
    """Whether the loops are closed where run k starts."""
    return gap(m, view1(m.q0, k * m.nq, m.nq), view1(m.v0, k * m.nv, m.nv), 0, 2 * m.nr) < m.tolerance


@kernel
def closes(m: Batch, q, v):
    """Close in place; whether that is possible."""
    call(m.closing, 0.0, q, v, m.no_force, m.answer)
    return m.answer[0] == m.answer[0]


@kernel
def walk(m: Batch, k):
    """Positions of run k, into `here`; whether it got there."""
    far = 0.0
    for j in range(m.nq):
        m.here[j] = m.drawn[j]
    for j in range(m.n_given):
        m.light[j] = m.model_reals[m.held_mass[j]]
        far = max(far, abs(m.q0[k * m.nq + m.held[j]]) / m.held_size[j])
    if not far < FAR:
        return False
    strides, n, good = 1, 0, True
    while strides * STRIDE < far:
        strides += 1
    for j in range(m.n_given):
        m.model_reals[m.held_mass[j]] = m.held_weight[j]
    while good and n <= strides:
        for j in range(m.n_given):
            m.here[m.held[j]] = (m.q0[k * m.nq + m.held[j]] * n) / strides
        for c in range(m.nv):
            m.speed[c] = 0.0
        good = closes(m, m.here, m.speed)
        n += 1
    for j in range(m.n_given):
        m.here[m.held[j]] = m.q0[k * m.nq + m.held[j]]
        m.model_reals[m.held_mass[j]] = m.light[j]
    return good


@kernel
def hurry(m: Batch, k):
    """Speeds of run k at `here`, into `speed`; whether there are any."""
    for c in range(m.nv):
        m.speed[c] = m.v0[k * m.nv + c]
    if gap(m, m.here, m.speed, m.nr, 2 * m.nr) < m.tolerance:
        return True
    if m.speeds_follow == 0:
        return False
    for j in range(m.nq):
        m.there[j] = m.here[j]
    for j in range(m.n_kept):
        m.light[m.n_given + j] = m.model_reals[m.kept_mass[j]]
        m.model_reals[m.kept_mass[j]] = m.kept_weight[j]
    m.closer_ints[m.valid] = 0.0
    good = closes(m, m.there, m.speed)
    for j in range(m.n_kept):
        m.speed[m.kept[j]] = m.v0[k * m.nv + m.kept[j]]
        m.model_reals[m.kept_mass[j]] = m.light[m.n_given + j]
    return good


@kernel
def close_start(m: Batch, k):
    """Close the loops where run k starts; whether that was possible."""
    for j in range(m.n_tally_real):
        m.closer_tally_reals[j] = m.fresh_tally_reals[j]
    for j in range(m.n_tally_int):
        m.closer_tally_ints[j] = m.fresh_tally_ints[j]
    m.closer_ints[m.valid] = 0.0
    if not walk(m, k) or not hurry(m, k):
        return False
    fastest = 1.0
    for c in range(m.nv):
        fastest = max(fastest, abs(m.speed[c]))
    if not gap(m, m.here, m.speed, 0, m.nr) < m.tolerance:
        return False
    if not gap(m, m.here, m.speed, m.nr, 2 * m.nr) < m.tolerance * fastest:
        return False
    for j in range(m.nq):
        m.q0[k * m.nq + j] = m.here[j]
    for c in range(m.nv):
        m.v0[k * m.nv + c] = m.speed[c]
    return True


@kernel
def starts_closed(m: Batch, k):
    """Whether run k starts closed; open loops are closed."""
    if not present(m.check):
        return True
    if m.as_drawn != 0 and is_closed(m, k):
        return True
    return present(m.closing) and close_start(m, k)


@kernel
def begin_run(m: Batch, k):
    """All memory as before a run, and where run k starts."""
    for j in range(m.n_real):
        m.run_reals[j] = m.fresh_reals[j]
    for j in range(m.n_int):
        m.run_ints[j] = m.fresh_ints[j]
    for j in range(m.n_tally_real):
        m.tally_reals[j] = m.fresh_tally_reals[j]
    for j in range(m.n_tally_int):
        m.tally_ints[j] = m.fresh_tally_ints[j]
    for j in range(m.n_begun):
        m.work_ints[m.begun[j]] = 0.0
    m.run.max_step = m.max_steps[k]
    for j in range(m.nq):
        m.run.q[j] = m.q0[k * m.nq + j]
    for c in range(m.nv):
        m.run.v[c] = m.v0[k * m.nv + c]
    m.segment = 0


@kernel
def go_on(m: Batch):
    """The run, from one stop to the next."""
    while True:
        m.run.upto, m.run.end, m.run.limit = m.upto[m.segment], m.ends[m.segment], m.limit
        status = call_loop(m.loop)
        if status == EVENT:
            continue
        if status != DONE or m.segment + 1 == m.n_parts:
            return status
        m.segment += 1


@kernel
def keep_reached(m: Batch):
    """The outputs that were reached, without those at stops, at the beginning of the run's; how many."""
    n, nq, nv = 0, m.nq, m.nv
    for j in range(m.run.next):
        if m.wanted[j] != 0:
            if n < j:
                for i in range(nq):
                    m.run.outputs.q_out[n * nq + i] = m.run.outputs.q_out[j * nq + i]
                for c in range(nv):
                    m.run.outputs.v_out[n * nv + c] = m.run.outputs.v_out[j * nv + c]
                for i in range(m.n_held):
                    m.run.outputs.held_out[n * m.n_held + i] = m.run.outputs.held_out[j * m.n_held + i]
            n += 1
    return n


@kernel
def keep_recorded(m: Batch, k, n, shown):
    """What was recorded of run k."""
    width, nr, loads = m.width, m.nr, m.loads
    for j in range(n):
        at = k * shown + j
        for i in range(width):
            m.rows[at * width + i] = m.recording.rows[j * m.recording.width + i]
        for i in range(loads):
            m.load_rows[at * loads + i] = m.loading.rows[j * loads + i]
        if present(m.recording.close):
            x = view1(m.closed, CLOSURE * at, CLOSURE)
            x[0], x[1], x[2] = m.recording.residual[j], m.recording.residual_rate[j], m.recording.independence[j]
            x[3], x[4], x[5] = m.recording.dependent[j], m.recording.identity_error[j], m.recording.condition[j]
            for r in range(nr):
                m.multipliers[at * nr + r] = m.recording.multipliers[j * nr + r]
                m.paces[at * nr + r] = m.recording.paces[j * nr + r]


@kernel
def end_run(m: Batch, k):
    """The outputs of run k."""
    n, nq, nv, shown = keep_reached(m), m.nq, m.nv, m.recording.outputs
    m.reached[k] = n
    if m.width > 0:
        for j in range(min(2, m.n_begun)):  # directions begin anew with the first output
            m.work_ints[m.begun[j]] = 0.0
        m.recording.first, m.recording.last = 0, n
        call_loop(m.record)
        if m.loads > 0:
            m.loading.first, m.loading.last = 0, n
            call_loop(m.record_loads)
        keep_recorded(m, k, n, shown)
        return
    for j in range(n * nq):
        m.q_rows[k * shown * nq + j] = m.run.outputs.q_out[j]
    for c in range(n * nv):
        m.v_rows[k * shown * nv + c] = m.run.outputs.v_out[c]


def batch(m: Batch):
    """Runs from the next to the last. OPEN: Python puts another start in its row and says CLOSED. PAUSED: go on. Else the
    next run has failed: Python asks why, and goes on."""
    while m.next < m.last:
        k = m.next
        if m.stand == FRESH or m.stand == CLOSED:
            set_numbers(m, k)
            if m.stand == FRESH and not starts_closed(m, k):
                return OPEN
            begin_run(m, k)
            m.stand = RUNNING
        if m.stand == RUNNING:
            status = go_on(m)
            if status == PAUSED:
                return PAUSED
            if status != DONE:
                m.stand = FAILED
                return status
        end_run(m, k)
        m.next += 1
        m.stand = FRESH
    return DONE


BATCH = Loop("batch", batch, Batch)
