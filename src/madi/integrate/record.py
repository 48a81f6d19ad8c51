"""After the integration: accelerations, poses, energies and joint loads at the output times, in compiled loops."""

from __future__ import annotations

from madi.kernel import call, view1


def record(forward, forward_context, observe, observe_context, times, Q, V, A, tau, rows, nq, nv, width, n):
    """A and the rows of the `observe` entry for n outputs."""
    for k in range(n):
        q, v, a = view1(Q, k * nq, nq), view1(V, k * nv, nv), view1(A, k * nv, nv)
        call(forward, times[k], q, v, tau, a, forward_context)
        call(observe, times[k], q, v, a, view1(rows, k * width, width), observe_context)
    return 0


RECORD = "iIiIFFFFFFiiii"


def record_loads(loads, context, times, Q, V, A, x, rows, nq, nv, width, n):
    """Rows of the `loads` entry for n outputs; x after the first nv numbers lists the joints."""
    for k in range(n):
        for c in range(nv):
            x[c] = A[k * nv + c]
        call(loads, times[k], view1(Q, k * nq, nq), view1(V, k * nv, nv), x, view1(rows, k * width, width), context)
    return 0


RECORD_LOADS = "iIFFFFFFiiii"
