"""The contract of all integrators.

The unknowns of one step are x = (theta, v): speeds v, and `theta` the coordinates of a chart at the step's first point
q_n (joints/chart.py), where theta = 0. In it every method is its textbook self; the step ends with q_{n+1} = q_n moved
by theta. So rotations are stepped on the manifold: a unit quaternion stays one, and a steady turn is exact.

A method is a loop kernel with the arguments of `LOOP` (below): the system function, what closes loops at the end of a step
(0: there are none), their contexts, the loops' remarks (loops/kkt.py), the model, outputs, memory. It is resumable: it
returns after `limit` steps (PAUSED), when all outputs are written (DONE), or with a failure, and everything it must
remember is in `state` and `count`.
Integrators are not traced: their kernels may branch on values. Inside a loop the first five arguments go about as one,
`calls` = (system function, its context, what closes loops, its context, the loops' remarks).
Driven coordinates are prescribed inside the system function; what the integrator carries for them is not used.

    state  = t, step size, start, end, then whatever the method keeps
    count  = next output, evaluations, accepted steps, rejected steps, started, then whatever the method keeps
    option = rtol, atol, largest step, first step (0: choose), order, step of fixed-step methods, then the method's own

An implicit method (newton.py) has a loop with the arguments of `IMPLICIT`: beside the system function the residual and the
blocks of its Jacobian; it closes the loops itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from madi.joints.chart import chart_point, chart_rate, retract
from madi.joints.ladder import quaternion_at
from madi.kernel import call, kernel, view1
from madi.loops.kkt import ASKED, CAREFUL, CLOSENESS, GOOD_STEP, LEAPS, LOWEST, NOTED, ROOM

BEYOND = 1e30  # m, m/s, m/s2, rad ...: no state gets there
SINGULAR = 2e-3  # pivot ratio of the loop equations below which a position counts as singular
ROUNDING = 1e-6  # error of a step in a singular position, against the state, up to which rounding may be to blame
DONE, PAUSED = 0, 1
NOT_FINITE, STEP_TOO_SMALL, NEWTON_FAILED = 2, 3, 4
NEXT, EVALUATIONS, ACCEPTED, REJECTED, STARTED, ORDER, STORED, SINCE = range(8)  # count[...]
TIME, STEP, START, END = range(4)  # state[...]
RTOL, ATOL, MAX_STEP, FIRST_STEP, WANTED_ORDER, FIXED_STEP = range(6)  # option[...]


@dataclass(frozen=True)
class Method:
    """A method: its loop, nominal order, whether it chooses its steps, where q starts in its state (v follows), and the
    length of state and buffer it needs."""

    name: str
    loop: Callable[..., int]
    order: int
    adaptive: bool
    first: int
    state: Callable[..., int]  # of (nq, nv); of an implicit method (nq, nv, nr, plan)
    buffer: Callable[..., int]
    fixed_too: bool = False  # adaptive, but takes a fixed step when one is given
    outside: Callable[..., int] | None = None  # a solver that is not ours, in place of the loop
    implicit: bool = False  # solves with the system Jacobian (newton.py); its loop has the arguments of IMPLICIT
    own: tuple[float, ...] = ()  # numbers of its own, from option[6] on
    limits: Mapping[int, tuple[int, int]] = field(default_factory=dict)  # of entries of `count` that are places


@kernel
def derivative(calls, model, t, q0, x, dx, scratch):
    """dx = x' at x = (theta, v) in the chart at q0. scratch: nq + nv numbers, the last nv zero (tau).

    Where the constraints are not safely independent (redundant, or near a singular position), accelerations off the
    closed states are not smooth: there the stage is closed first, and x is given up for it.
    """
    function, context, close, close_context, remarks = calls
    nq, nv = model.nq, model.nv
    q, tau = view1(scratch, 0, nq), view1(scratch, nq, nv)
    theta, v = view1(x, 0, nv), view1(x, nv, nv)
    retract(model, q0, theta, q)
    if close != 0 and remarks[CAREFUL] != 0.0:
        call(close, t, q, v, tau, view1(dx, nv, nv), close_context)
    else:
        call(function, t, q, v, tau, view1(dx, nv, nv), context)
        remarks[ASKED] = remarks[ASKED] + 1.0
    chart_rate(model, theta, v, view1(dx, 0, nv))


@kernel
def derivative_here(calls, model, t, q, v, dx, scratch):
    """dx at the chart's own origin: theta' = v."""
    function, context, remarks = calls[0], calls[1], calls[4]
    nq, nv = model.nq, model.nv
    for c in range(nv):
        dx[c] = v[c]
    call(function, t, q, v, view1(scratch, nq, nv), view1(dx, nv, nv), context)
    remarks[ASKED] = remarks[ASKED] + 1.0


@kernel
def arrive(calls, model, t, q0, x, q, dx, scratch):
    """The end of a step: q is q0 moved by theta of x = (theta, v), and dx = (v, v') there.

    With loops, q and v are first brought back to where the loops are closed, and theta follows; `close` gives the
    accelerations as well (loops/projection.py), or NaN where it fails.
    """
    close, close_context = calls[2], calls[3]
    nq, nv = model.nq, model.nv
    theta, v = view1(x, 0, nv), view1(x, nv, nv)
    retract(model, q0, theta, q)
    if close == 0:
        derivative_here(calls, model, t, q, v, dx, scratch)
        return
    call(close, t, q, v, view1(scratch, nq, nv), view1(dx, nv, nv), close_context)
    chart_point(model, q0, q, theta)
    for c in range(nv):
        dx[c] = v[c]


@kernel
def leaps(calls, h, relative):
    """Whether a step that misses its tolerance (by `relative`, its error against the size of the state) is taken all the
    same. In a singular position of the loops rounding is magnified beyond tight tolerances, and ever shorter steps only
    stay there longer; so steps there are not made much shorter than the last one outside. Leaps are counted."""
    close, remarks = calls[2], calls[4]
    if close == 0 or remarks[LOWEST] >= SINGULAR:
        return False
    if remarks[GOOD_STEP] == 0.0:  # the run begins in such a position
        remarks[GOOD_STEP] = h
    if h <= 0.05 * remarks[GOOD_STEP] or (h <= 0.6 * remarks[GOOD_STEP] and relative < ROUNDING):
        remarks[LEAPS] = remarks[LEAPS] + 1.0
        return True
    return False


@kernel
def note_step(calls, t, h):
    """Remember the length of a step taken where the loops are regular, and look afresh; note singular positions.

    The smallest pivot is the square of something that passes zero straight, so its root is V-shaped where the mechanism
    passes a singular position; a minimum that does not lead to zero like a V is only a near miss.
    """
    close, remarks = calls[2], calls[4]
    if close == 0:
        return
    if remarks[LOWEST] >= SINGULAR:
        remarks[GOOD_STEP] = h
    remarks[LOWEST] = remarks[CLOSENESS]
    root = max(remarks[CLOSENESS], 0.0) ** 0.5
    t0, left, t1, here = remarks[NOTED + 1], remarks[NOTED + 2], remarks[NOTED + 3], remarks[NOTED + 4]
    if here < 0.5 and here <= left and here < root and t0 < t1:
        slope = (left + root) / (t - t0)
        zero = t0 + left / slope
        if abs(here - slope * abs(t1 - zero)) < 0.2 * max(left, root) and remarks[NOTED] < ROOM:
            remarks[NOTED + 5 + int(remarks[NOTED])] = zero
            remarks[NOTED] = remarks[NOTED] + 1.0
    remarks[NOTED + 1], remarks[NOTED + 2], remarks[NOTED + 3], remarks[NOTED + 4] = t1, here, t, root


@kernel
def all_finite(x, n):
    """Whether n numbers are finite, and of a size that mechanisms have: what blows up need not be followed to infinity."""
    total = 0.0
    for j in range(n):
        total += abs(x[j])
    return total < BEYOND


@kernel
def start_step(v, nv, x):
    """x = (0, v)."""
    for c in range(nv):
        x[c] = 0.0
        x[nv + c] = v[c]


@kernel
def write(model, k, q, v, Q, V):
    """Output k is the state (q, v)."""
    for j in range(model.nq):
        Q[k * model.nq + j] = q[j]
    for c in range(model.nv):
        V[k * model.nv + c] = v[c]


@kernel
def first_outputs(model, times, n_times, count, t, q, v, Q, V):
    """Outputs wanted at the start itself."""
    while count[NEXT] < n_times and times[count[NEXT]] <= t:
        write(model, count[NEXT], q, v, Q, V)
        count[NEXT] += 1


@kernel
def hermite_outputs(model, times, n_times, count, t0, h, q0, x0, d0, x1, d1, q1, Q, V, scratch):
    """Write all outputs up to t0 + h: the end itself, or a cubic through both ends of x and x' in between. d1 = (v, v') at
    the end, as its own chart has it; for the cubic theta' is taken in the chart at q0."""
    nv = model.nv
    tiny = 1e-9 * h
    if count[NEXT] < n_times and times[count[NEXT]] <= t0 + h + tiny:
        chart_rate(model, x1, view1(x1, nv, nv), d1)
    theta = view1(scratch, 0, 2 * nv)
    q = view1(scratch, 2 * nv, model.nq)
    while count[NEXT] < n_times and times[count[NEXT]] <= t0 + h + tiny:
        k = count[NEXT]
        s = (times[k] - t0) / h
        if s >= 1.0 - 1e-9:
            write(model, k, q1, view1(x1, nv, nv), Q, V)
        else:
            a, b = (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s), s * (1.0 - s) * (1.0 - s) * h
            c, d = s * s * (3.0 - 2.0 * s), s * s * (s - 1.0) * h
            for j in range(2 * nv):
                theta[j] = a * x0[j] + b * d0[j] + c * x1[j] + d * d1[j]
            retract(model, q0, theta, q)
            write(model, k, q, view1(theta, nv, nv), Q, V)
        count[NEXT] = k + 1
    for c in range(nv):
        d1[c] = x1[nv + c]


@kernel
def magnitudes(model, q, out):
    """For every column the size of its coordinate, which relative tolerances refer to; 1 for rotations and states."""
    for c in range(model.v_at[0], model.v_end[0]):
        out[c] = 1.0
    for i in range(1, model.n):
        k, l, at = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        for j in range(model.v_end[i] - l):
            if at >= 0 and j >= at:
                out[l + j] = 1.0
            else:
                out[l + j] = abs(q[k + j])


@kernel
def error_norm(model, error, scale, rtol, atol):
    """Largest of error / (atol + rtol scale) over x = (theta, v): every component keeps the tolerance."""
    worst = 0.0
    for j in range(2 * model.nv):
        e = abs(error[j]) / (atol + rtol * scale[j])
        if worst == worst and not e <= worst:  # a NaN is taken over, and stays
            worst = e
    return worst


@kernel
def scales(model, q, v, scale):
    """Sizes of x: coordinates, then speeds."""
    magnitudes(model, q, scale)
    for c in range(model.nv):
        scale[model.nv + c] = abs(v[c])


@kernel
def first_step(calls, model, t, span, q, v, d0, scale, x, dx, scratch, order, rtol, atol):
    """A first step from the sizes of x, x' and x'' (Hairer, Norsett, Wanner: Solving ODEs I, II.4)."""
    n = 2 * model.nv
    size, rate = 0.0, 0.0
    for j in range(n):
        w = 1.0 / (atol + rtol * scale[j])
        size += (scale[j] * w) ** 2
        rate += (d0[j] * w) ** 2
    size, rate = (size / n) ** 0.5, (rate / n) ** 0.5
    h = 1e-6 if size < 1e-5 or rate < 1e-5 else 0.01 * size / rate
    h = min(h, span)
    start_step(v, model.nv, x)
    for j in range(n):
        x[j] = x[j] + h * d0[j]
    derivative(calls, model, t + h, q, x, dx, scratch)
    curve = 0.0
    for j in range(n):
        w = 1.0 / (atol + rtol * scale[j])
        curve += ((dx[j] - d0[j]) * w) ** 2
    curve = (curve / n) ** 0.5 / h
    big = max(rate, curve)
    step = max(1e-6, 1e-3 * h) if big <= 1e-15 else (0.01 / big) ** (1.0 / (order + 1.0))
    return min(100.0 * h, step, span)


LOOP = "iIiIFIFFFFIFFii"  # types of a loop's arguments: i a number; I, F arrays of integers and reals
# after `remarks`: residual, its blocks (0: by differences), a whole step in C (0: none), each with its context; the plan
IMPLICIT = "iIiIFiIiIiIIIFFFFIFFii"
