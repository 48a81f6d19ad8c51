"""After the integration: accelerations, poses, energies and joint loads at the output times, in compiled loops."""

from __future__ import annotations

from madi.kernel import call, view1
from madi.loops.kkt import CLOSENESS, CONDITION, DEFICIENT, IDENTITY

HEAD = 6  # numbers of an output's `found` before multipliers and rates: see record_loops


def record(forward, forward_context, observe, observe_context, times, Q, V, A, tau, rows, nq, nv, width, n):
    """A and the rows of the `observe` entry for n outputs."""
    for k in range(n):
        q, v, a = view1(Q, k * nq, nq), view1(V, k * nv, nv), view1(A, k * nv, nv)
        call(forward, times[k], q, v, tau, a, forward_context)
        call(observe, times[k], q, v, a, view1(rows, k * width, width), observe_context)
    return 0


RECORD = "iIiIFFFFFFiiii"


def record_loops(close, close_context, observe, observe_context, times, Q, V, A, tau, rows, phi, rate, lam, pace, tally,
                 found, nq, nv, nr, width, n):  # fmt: skip
    """The same with loops: every output is closed first.

    `phi`, `rate`, `lam`, `pace`, `tally` are where `close` leaves residuals, multipliers, the rates of drives and its
    remarks; `found` gets, for each output, the largest residual and rate, how near the constraints are to losing
    independence and how many have, of null-space methods the error of their identities and the condition number, then the
    multipliers, then the rates.
    """
    for k in range(n):
        q, v, a = view1(Q, k * nq, nq), view1(V, k * nv, nv), view1(A, k * nv, nv)
        call(close, times[k], q, v, tau, a, close_context)
        at = k * (HEAD + 2 * nr)
        for r in range(nr):
            found[at] = max(found[at], abs(phi[r]))
            found[at + 1] = max(found[at + 1], abs(rate[r]))
            found[at + HEAD + r], found[at + HEAD + nr + r] = lam[r], pace[r]
        found[at + 2], found[at + 3] = tally[CLOSENESS], tally[DEFICIENT]
        found[at + 4], found[at + 5] = tally[IDENTITY], tally[CONDITION]
        call(observe, times[k], q, v, a, view1(rows, k * width, width), observe_context)
    return 0


RECORD_LOOPS = "iIiIFFFFFFFFFFFFiiiii"


def record_loads(loads, context, times, Q, V, A, x, rows, found, nq, nv, nr, width, n):
    """Rows of the `loads` entry for n outputs; x after the first nv numbers lists the joints, and ends with the
    multipliers, which `found` has (see above)."""
    after = len(x) - nr
    for k in range(n):
        for c in range(nv):
            x[c] = A[k * nv + c]
        for r in range(nr):
            x[after + r] = found[k * (HEAD + 2 * nr) + HEAD + r]
        call(loads, times[k], view1(Q, k * nq, nq), view1(V, k * nv, nv), x, view1(rows, k * width, width), context)
    return 0


RECORD_LOADS = "iIFFFFFFFiiiii"
