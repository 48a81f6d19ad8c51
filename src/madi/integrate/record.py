"""After the integration: accelerations, poses, energies and joint loads at the output times, in compiled loops."""

from __future__ import annotations

from typing import Any

from madi.integrate.memory import Loop
from madi.kernel import call, present, view1
from madi.kernel.fields import Fields, Reals, function, given_reals, integer, part, reals, size
from madi.loops.memory import LoopTally


class States(Fields):
    """The states of a run, at its outputs."""

    nq: int = size()
    nv: int = size()
    nr: int = size()
    n_held: int = size()
    outputs: int = size()
    width: int = size()
    times: Reals = given_reals()
    q: Reals = given_reals()
    v: Reals = given_reals()
    held: Reals = given_reals()
    first: int = integer()  # outputs to record, from this one to the last
    last: int = integer()


class Recording(States):
    """What is recorded of states, a row for each output."""

    forward: Any = function()
    close: Any = function()  # in its place where there are loops: every output is closed first
    observe: Any = function()  # ABSENT: accelerations alone
    phi: Reals = given_reals()  # where `close` leaves residuals, their rates, multipliers, rates of drives, its remarks
    rate: Reals = given_reals()
    lam: Reals = given_reals()
    pace: Reals = given_reals()
    tally: LoopTally = part(LoopTally)
    applied: Reals = reals("nv+n_held")
    seen: Reals = reals("nv+n_held")  # accelerations and held values of an output
    a: Reals = reals("outputs*nv")
    rows: Reals = reals("outputs*width")  # of the entry that observes
    residual: Reals = reals("outputs")  # largest residual and rate of a constraint
    residual_rate: Reals = reals("outputs")
    independence: Reals = reals("outputs")
    dependent: Reals = reals("outputs")
    identity_error: Reals = reals("outputs")
    condition: Reals = reals("outputs")
    multipliers: Reals = reals("outputs*nr")
    paces: Reals = reals("outputs*nr")


class LoadRecording(States):
    """Joint loads of recorded states."""

    asked: int = size()  # numbers of the request: how many joints, which
    loads: Any = function()
    a: Reals = given_reals()
    multipliers: Reals = given_reals()
    x: Reals = reals("nv+n_held+asked+nr")  # accelerations, held values, the request, multipliers
    rows: Reals = reals("outputs*width")


def record(m: Recording):
    """The outputs asked for."""
    nq, nv, nr = m.nq, m.nv, m.nr
    for k in range(m.first, m.last):
        q, v, a = view1(m.q, k * nq, nq), view1(m.v, k * nv, nv), view1(m.a, k * nv, nv)
        for j in range(m.n_held):
            m.applied[nv + j] = m.seen[nv + j] = m.held[k * m.n_held + j]
        if present(m.close):
            call(m.close, m.times[k], q, v, m.applied, a)
            m.residual[k] = m.residual_rate[k] = 0.0
            for r in range(nr):
                m.residual[k] = max(m.residual[k], abs(m.phi[r]))
                m.residual_rate[k] = max(m.residual_rate[k], abs(m.rate[r]))
                m.multipliers[k * nr + r], m.paces[k * nr + r] = m.lam[r], m.pace[r]
            m.independence[k], m.dependent[k] = m.tally.independence, 1.0 * m.tally.dependent
            m.identity_error[k], m.condition[k] = m.tally.identity_error, m.tally.condition
        else:
            call(m.forward, m.times[k], q, v, m.applied, a)
        if present(m.observe):
            for c in range(nv):
                m.seen[c] = a[c]
            call(m.observe, m.times[k], q, v, m.seen, view1(m.rows, k * m.width, m.width))
    return 0


def record_loads(m: LoadRecording):
    """The outputs asked for."""
    nq, nv, nr = m.nq, m.nv, m.nr
    for k in range(m.first, m.last):
        for c in range(nv):
            m.x[c] = m.a[k * nv + c]
        for j in range(m.n_held):
            m.x[nv + j] = m.held[k * m.n_held + j]
        for r in range(nr):
            m.x[nv + m.n_held + m.asked + r] = m.multipliers[k * nr + r]
        q, v = view1(m.q, k * nq, nq), view1(m.v, k * nv, nv)
        call(m.loads, m.times[k], q, v, m.x, view1(m.rows, k * m.width, m.width))
    return 0


RECORD, RECORD_LOADS = Loop("record", record, Recording), Loop("record-loads", record_loads, LoadRecording)
