"""Newmark's method and its generalisation, generalized-alpha; with loops closed in position and speed after every step.

One step from q, v, the acceleration a and the algorithmic acceleration A (= a for Newmark) to the next, unknown A1 and lam:

    theta = h v + h^2 ((1/2 - beta) A + beta A1),     q1 = q moved by theta (joints.chart.exponential),
    v1    = v + h ((1 - gamma) A + gamma A1),
    (1 - alpha_m) A1 + alpha_m A = (1 - alpha_f) a1 + alpha_f a,
    R(q1, v1, a1, lam) = 0,   Phi'(q1, v1) = 0,   then  Phi(q1) = 0  by a last correction of theta.

On a Lie group this is the scheme of Bruls and Cardona, J. Comput. Nonlinear Dyn. 5 (2010) 031002; generalized-alpha is Chung
and Hulbert's, J. Appl. Mech. 60 (1993) 371, with alpha_m = (2 rho - 1) / (rho + 1), alpha_f = rho / (rho + 1); HHT is
alpha_m = 0. Second order for gamma = 1/2 - alpha_m + alpha_f. lam belongs to Phi' = 0: with Phi = 0 alone and
velocities projected, accelerations and lam are of first order only (q and v of second); without the projection lam does not
converge. The correction of theta that closes Phi is of third order. Both levels hold after every step, with the matrix at
hand. Of redundant rows only the sum of what they do is determined: eps pulls the rest of lam towards zero (Phi' = c_v eps
lam while Newton iterates). P4: alpha_m = alpha_f = 0, gamma = 1/2, beta = 1/4, the Jacobian once, two iterations.

Newton in one of two modes: until the correction still to come no longer matters (the step is halved where that fails), or
so many iterations and no more (real time). What matters is measured by the step's own error: over a step the acceleration
changes by dA = h a' and h a'' is about dA^2 / (h |A|), so that Newmark's error of the speed, h^3 a'' / 12, is about
h dA^2 / (12 |A|). Newton stops at a small part of it (and never before a tolerance, never below rounding): with a tolerance
alone, what it leaves would add up over ever more steps as they get shorter. The matrix is made at every iteration, at every
step, when Newton gets slow, or once.

docs/references.md: [P4], [Newmark 1959], [Chung, Hulbert 1993], [Hilber, Hughes, Taylor 1977], [Brüls, Cardona 2010].
"""

from __future__ import annotations

from madi.integrate.contract import (
    ACCEPTED,
    DONE,
    EVALUATIONS,
    NEWTON_FAILED,
    NEXT,
    NOT_FINITE,
    PAUSED,
    REJECTED,
    SINCE,
    STARTED,
    STEP,
    STORED,
    TIME,
    Method,
    all_finite,
    first_outputs,
    hermite_outputs,
)
from madi.integrate.newton import (
    ENTRIES,
    NL,
    NU,
    PARTS,
    UNKNOWN,
    assemble,
    blocks_at,
    factor_length,
    factorise,
    right_side,
    rows_side,
    solve,
    value_length,
)
from madi.integrate.rk4 import next_step
from madi.joints.chart import chart_point, chart_rate, exponential
from madi.kernel import as_model, call, kernel, view1
from madi.loops.kkt import ASKED

ALPHA_M, ALPHA_F, BETA, GAMMA, ITERATIONS, POLICY, TOLERANCE, HALVINGS, LENGTH = range(6, 15)  # option[...]
EVERY_ITERATION, EVERY_STEP, WHEN_SLOW, ONCE = range(4)  # option[POLICY]
MOST = 25  # iterations of a step, and of closing the loops after it
PATIENCE = 12  # iterations after which an old matrix is given up, whatever was asked for
FEW = 2  # of closing them where the number of iterations is fixed
SHUT = 1e-13  # m or rad
STILL = 1e-3  # m/s, rad/s: speeds below it count as this much, so that a mechanism may come to rest
ROUNDING = 1e-8  # relative corrections that no longer fall, with a matrix of this very step, are rounding
NOISE = 1e-13  # the same with an older matrix
SHARE = 1e-3  # of the step's own error that Newton may leave
LEAST = 1e-15  # relative correction below which there is nothing to gain
SLOW = 0.05  # how much of a correction may be left by the next, with an old matrix
JACOBIANS = SINCE  # count[...]: matrices made
NEWTONS = STORED  # count[...]: iterations made
LAST = 6  # what a step leaves behind: iterations, last correction, evaluations, matrices made, worst residual's place, size
HISTORY = 6  # steps remembered, (t, h, iterations, correction) each; then the worst residual's place and size
CARRY = 4 + 4 * HISTORY + 2  # state[...]: q, v, a, A, lam; then the step length the factor is for (0: none), the factor


@kernel
def predict(model, option, h, carry, v1, A1, x):
    """The trial state for A1 = A: v1, and x = (theta, a1, lam)."""
    nq, nv = model.nq, model.nv
    v, a, A = view1(carry, nq, nv), view1(carry, nq + nv, nv), view1(carry, nq + 2 * nv, nv)
    lam = view1(carry, nq + 3 * nv, model.nr)
    f = option[ALPHA_F]
    for c in range(nv):
        A1[c] = A[c]
        x[c] = h * v[c] + 0.5 * h * h * A[c]
        v1[c] = v[c] + h * A[c]
        x[nv + c] = (A[c] - f * a[c]) / (1.0 - f)
    for r in range(model.nr):
        x[2 * nv + r] = lam[r]


@kernel
def make_matrix(calls, model, plan, option, t, h, q, v1, x, F, values, scratch):
    """The factored matrix of a step of length h at the trial state."""
    blocks_at(calls, model, t, q, v1, x, values, scratch)
    c_a = (1.0 - option[ALPHA_M]) / (1.0 - option[ALPHA_F])
    assemble(model, plan, values, c_a, option[GAMMA] * h, option[BETA] * h * h, F, 1)
    factorise(plan, F)


@kernel
def correct(model, plan, option, h, F, out, A, v1, A1, x, y):
    """One Newton correction from the residual in `out`; returns its size, and what may be left of it, against that of the
    speeds (see STILL). A: the acceleration before the step."""
    nv = model.nv
    c_v, c_q = option[GAMMA] * h, option[BETA] * h * h
    c_a = (1.0 - option[ALPHA_M]) / (1.0 - option[ALPHA_F])
    right_side(model, plan, out, 1.0 / c_v, view1(x, 2 * nv, model.nr), y)
    solve(plan, F, y)
    place = plan[UNKNOWN]
    change, size, jump, most = 0.0, 0.0, 0.0, 0.0
    for c in range(nv):
        d = y[plan[place + c]]
        A1[c] = A1[c] + d
        x[c] = x[c] + c_q * d
        v1[c] = v1[c] + c_v * d
        x[nv + c] = x[nv + c] + c_a * d
        if c < model.v_at[0]:  # first-order states are of any size
            size = max(size, abs(v1[c]), h * abs(A1[c]))
        jump, most = max(jump, abs(A1[c] - A[c])), max(most, abs(A1[c]), abs(A[c]))
        if change == change and not abs(d) <= change:  # a NaN is taken over, and stays
            change = abs(d)
    for r in range(model.nr):
        p = plan[place + nv + r]
        if p >= 0:
            x[2 * nv + r] = x[2 * nv + r] + y[p]
    own = h * jump * jump / (12.0 * most) if most > 0.0 else 0.0
    stop = max(LEAST, min(option[TOLERANCE], SHARE * own / (size + STILL)))
    return c_v * change / (size + STILL), stop


@kernel
def closed(model, out, v1):
    """Whether Phi and Phi' are at rounding."""
    gap, rate, fast = 0.0, 0.0, 0.0
    for r in range(model.nr):
        gap = max(gap, abs(out[model.nv + r]))
        rate = max(rate, abs(out[model.nv + model.nr + r]))
    for c in range(model.nv):
        if c < model.v_at[0]:
            fast = max(fast, abs(v1[c]))
    return gap <= SHUT and rate <= SHUT * (10.0 + fast)


@kernel
def bring_back(model, plan, F, out, v1, x, y):
    """theta and speeds to Phi = 0 and Phi' = 0, from the residuals in `out`."""
    nv, place = model.nv, plan[UNKNOWN]
    rows_side(model, plan, out, nv, y)
    solve(plan, F, y)
    for c in range(nv):
        x[c] = x[c] + y[plan[place + c]]
    rows_side(model, plan, out, nv + model.nr, y)
    solve(plan, F, y)
    for c in range(nv):
        v1[c] = v1[c] + y[plan[place + c]]


@kernel
def structural_step(calls, model, plan, option, t, carry, factor, v1, A1, x, out, y, values, scratch, last):
    """One step of length option[LENGTH] from time t; `carry` is the next state where it returns DONE. factor: the step
    length it is for, then the factor; last: see LAST."""
    residual, residual_context = calls[0], calls[1]
    h, F = option[LENGTH], view1(factor, 1, plan[NU] + 2 * plan[NL])
    nq, nv, nr = model.nq, model.nv, model.nr
    q, A = view1(carry, 0, nq), view1(carry, nq + 2 * nv, nv)
    policy, fixed = option[POLICY], int(option[ITERATIONS])
    predict(model, option, h, carry, v1, A1, x)
    fresh = False
    if policy <= EVERY_STEP or factor[0] != h:
        make_matrix(calls, model, plan, option, t + h, h, q, v1, x, F, values, scratch)
        factor[0] = h
        fresh = True
    evaluations, made = 0.0, 1.0 if fresh else 0.0
    before, converged = 0.0, fixed > 0
    for k in range(fixed if fixed > 0 else MOST):
        if policy == EVERY_ITERATION and k > 0:
            make_matrix(calls, model, plan, option, t + h, h, q, v1, x, F, values, scratch)
            made += 1.0
        call(residual, t + h, q, v1, x, out, residual_context)
        evaluations += 1.0
        change, stop = correct(model, plan, option, h, F, out, A, v1, A1, x, y)
        last[0], last[1], last[2], last[3] = k + 1.0, change, evaluations, made
        if fixed > 0:
            continue
        rate = change / before if before > 0.0 else 1.0
        # what the next correction would be, from the last two
        if change <= stop or (rate < 0.9 and change * rate <= stop * (1.0 - rate)):
            converged = True
            break
        if k > 0 and rate > 0.3 and change <= (ROUNDING if fresh else NOISE):
            converged = True
            break
        if change != change or (k > 2 and rate > 2.0):
            break
        before = change
        if not fresh and ((rate > SLOW and k > 0 and policy == WHEN_SLOW) or k == PATIENCE):
            make_matrix(calls, model, plan, option, t + h, h, q, v1, x, F, values, scratch)
            made += 1.0
            fresh = True
            before = 0.0
    if not converged and not last[1] <= option[TOLERANCE]:
        worst(model, out, last)
        factor[0] = 0.0
        return NEWTON_FAILED
    if not (all_finite(v1, nv) and all_finite(x, 2 * nv + nr)):
        factor[0] = 0.0
        return NOT_FINITE
    if nr > 0:
        for _ in range(FEW if fixed > 0 else MOST):
            call(residual, t + h, q, v1, x, out, residual_context)
            last[2] = last[2] + 1.0
            if fixed == 0 and closed(model, out, v1):
                break
            bring_back(model, plan, F, out, v1, x, y)
    exponential(model, q, x, scratch)
    for j in range(nq):
        carry[j] = scratch[j]
    for c in range(nv):
        carry[nq + c] = v1[c]
        carry[nq + nv + c] = x[nv + c]
        carry[nq + 2 * nv + c] = A1[c]
    for r in range(nr):
        carry[nq + 3 * nv + r] = x[2 * nv + r]
    return DONE


def loop(function, context, close, close_context, remarks, residual, residual_context, parts, parts_context, stepper,
         stepper_context, plan, model, times, Q, V, state, count, option, buffer, n_times, limit):  # fmt: skip
    """See contract.py. state: its four numbers, the history, what is carried, the step the factor is for, the factor."""
    calls = (residual, residual_context, parts, parts_context)
    model = as_model(model)
    nq, nv, nr = model.nq, model.nv, model.nr
    n = 2 * nv
    size = nq + 3 * nv + nr
    entries = 0
    for part in range(PARTS):
        entries += plan[ENTRIES + part]
    history, carry = view1(state, 4, 4 * HISTORY + 2), view1(state, CARRY, size)
    factor = view1(state, CARRY + size, 1 + plan[NU] + 2 * plan[NL])
    kept = view1(buffer, 0, size)
    at = size
    v1, A1, x = view1(buffer, at, nv), view1(buffer, at + nv, nv), view1(buffer, at + n, n + nr)
    at = at + 2 * n + nr
    out, y = view1(buffer, at, nv + 2 * nr), view1(buffer, at + nv + 2 * nr, plan[NU])
    at = at + nv + 2 * nr + plan[NU]
    last, values = view1(buffer, at, LAST), view1(buffer, at + LAST, entries)
    at = at + LAST + entries
    scratch = view1(buffer, at, n + 4 * nr + nq)
    at = at + n + 4 * nr + nq
    x0, d0 = view1(buffer, at, n), view1(buffer, at + n, n)
    x1, d1 = view1(buffer, at + 2 * n, n), view1(buffer, at + 3 * n, n)
    rest = view1(buffer, at + 4 * n, n + nq)
    q, v, a = view1(carry, 0, nq), view1(carry, nq, nv), view1(carry, nq + nv, nv)
    if count[STARTED] == 0:
        count[STARTED] = 1
        for c in range(nv):
            scratch[c] = 0.0
        call(function, state[TIME], q, v, scratch, a, context)
        remarks[ASKED] = remarks[ASKED] + 1.0
        for c in range(nv):
            carry[nq + 2 * nv + c] = a[c]
        count[EVALUATIONS] += 1
        if not all_finite(a, nv):
            return NOT_FINITE
        first_outputs(model, times, n_times, count, state[TIME], q, v, Q, V)
    while count[NEXT] < n_times:
        if limit <= 0:
            return PAUSED
        limit -= 1
        t, h = next_step(state, option, count[ACCEPTED])
        for j in range(size):
            kept[j] = carry[j]
        done, part, halved = 0.0, h, 0
        while done < h * (1.0 - 1e-9):
            option[LENGTH] = part
            if stepper != 0:
                status = call(stepper, t + done, carry, factor, option, last, stepper_context)
            else:
                status = structural_step(
                    calls, model, plan, option, t + done, carry, factor, v1, A1, x, out, y, values, scratch, last
                )
            count[NEWTONS] += int(last[0])
            count[EVALUATIONS] += int(last[2])
            count[JACOBIANS] += int(last[3])
            if status == DONE:
                done += part
                continue
            count[REJECTED] += 1
            halved += 1
            if halved > option[HALVINGS]:
                for j in range(size):
                    carry[j] = kept[j]
                remember(history, t + done, part, last)
                history[4 * HISTORY], history[4 * HISTORY + 1] = last[4], last[5]
                return status
            part = 0.5 * part
        remember(history, t, h, last)
        if close != 0:  # the speed of a drive jumps somewhere: its impulse
            for c in range(nv):
                scratch[c] = 0.0
            call(close, t + h, q, v, scratch, x0, close_context)
        q0 = view1(kept, 0, nq)
        if count[NEXT] < n_times and times[count[NEXT]] <= t + h * (1.0 + 1e-9):
            for c in range(nv):
                x0[c], d0[c], x0[nv + c], d0[nv + c] = 0.0, kept[nq + c], kept[nq + c], kept[nq + nv + c]
                x1[nv + c], d1[nv + c] = v[c], a[c]
            chart_point(model, q0, q, x1)
            chart_rate(model, x1, v, d1)
            hermite_outputs(model, times, n_times, count, t, h, q0, x0, d0, x1, d1, q, Q, V, rest)
        count[ACCEPTED] += 1
        state[TIME], state[STEP] = t + h, h
    return DONE


@kernel
def remember(history, t, h, last):
    """The last steps, the latest last."""
    for j in range(4 * (HISTORY - 1)):
        history[j] = history[j + 4]
    j = 4 * (HISTORY - 1)
    history[j], history[j + 1], history[j + 2], history[j + 3] = t, h, last[0], last[1]


@kernel
def worst(model, out, last):
    """Which equation of the last residual is farthest from zero."""
    place, size = -1.0, -1.0
    for j in range(model.nv + model.nr):
        r = abs(out[j])
        if size == size and not r <= size:
            place, size = 1.0 * j, r
    last[4], last[5] = place, size


def _state(nq, nv, nr, plan):
    return CARRY + nq + 3 * nv + nr + 1 + factor_length(plan)


def _buffer(nq, nv, nr, plan):
    at_hand = nq + 3 * nv + nr + 4 * nv + nr + nv + 2 * nr + int(plan[NU]) + LAST + value_length(plan)
    return at_hand + 2 * nv + 4 * nr + nq + 10 * nv + nq


NEWMARK = Method("newmark", loop, order=2, adaptive=False, first=CARRY, state=_state, buffer=_buffer, implicit=True)
GENERALIZED_ALPHA = Method(
    "generalized-alpha", loop, order=2, adaptive=False, first=CARRY, state=_state, buffer=_buffer, implicit=True
)


def newmark_options(gamma, beta):
    """(alpha_m, alpha_f, beta, gamma) of Newmark's method; beta None: the most damping this gamma allows."""
    return 0.0, 0.0, 0.25 * (gamma + 0.5) ** 2 if beta is None else beta, gamma


def alpha_options(spectral_radius, alpha):
    """The same of generalized-alpha by its spectral radius at infinity, or of HHT by its alpha (0 .. 1/3)."""
    if alpha is not None:
        m, f = 0.0, alpha
    else:
        m, f = (2.0 * spectral_radius - 1.0) / (spectral_radius + 1.0), spectral_radius / (spectral_radius + 1.0)
    gamma = 0.5 - m + f
    return m, f, 0.25 * (gamma + 0.5) ** 2, gamma
