"""Newmark's method and its generalisation, generalized-alpha; with loops closed in position and speed after every step.

One step from q, v, the acceleration a and the algorithmic acceleration A (= a for Newmark) to the next, unknown A1 and lam:

    theta = h v + h^2 ((1/2 - beta) A + beta A1),     q1 = q moved by theta (joints/chart.py exponential),
    v1    = v + h ((1 - gamma) A + gamma A1),
    (1 - alpha_m) A1 + alpha_m A = (1 - alpha_f) a1 + alpha_f a,
    R(q1, v1, a1, lam) = 0,   Phi'(q1, v1) = 0,   then  Phi(q1) = 0  by a last correction of theta.

On a Lie group this is the scheme of Bruls and Cardona, J. Comput. Nonlinear Dyn. 5 (2010) 031002; generalized-alpha is
Chung and Hulbert's, J. Appl. Mech. 60 (1993) 371, with alpha_m = (2 rho - 1) / (rho + 1), alpha_f = rho / (rho + 1); HHT
is alpha_m = 0. Second order for gamma = 1/2 - alpha_m + alpha_f. lam belongs to Phi' = 0: with Phi = 0 alone and
velocities projected, accelerations and lam are of first order only (q and v of second); without the projection lam does
not converge. The correction of theta that closes Phi is of third order. Both levels are closed after every step, with the
matrix at hand: to rounding, or by as many iterations as were asked for. Of redundant rows only the sum of what they do is
determined: eps pulls the rest of lam towards zero (Phi' = c_v eps lam while Newton iterates). P4: alpha_m = alpha_f = 0,
gamma = 1/2, beta = 1/4, the Jacobian once, two iterations.

Newton in one of two modes: until the correction still to come no longer matters (the step is halved where that fails), or a
fixed number of iterations (real time). What matters is measured by the step's own error: over a step the acceleration
changes by dA = h a' and h a'' is about dA^2 / (h |A|), so that Newmark's error of the speed, h^3 a'' / 12, is about h dA^2 /
(12 |A|). Newton stops at a small part of it (and never before a tolerance, never below rounding): with a tolerance alone,
what it leaves would add up over ever more steps as they get shorter. The matrix is made at every iteration, at every step,
when Newton gets slow, or once. Where it is eliminated without its entries it takes little longer than an iteration, and
"when slow" makes it at every step. What whips turns far in a step, and the matrix of its beginning leads nowhere: where
Newton is slow with it, it is made anew, and in the steps that follow at every iteration, as long as these need it. The first
guess goes on from the last two accelerations where that would have been nearer in the step before; with a fixed number of
iterations it does not.

docs/references.md: [P4], [Newmark 1959], [Chung, Hulbert 1993], [Hilber, Hughes, Taylor 1977], [Brüls, Cardona 2010].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from madi.constraints.fields import REGULARISATION
from madi.errors import InputError
from madi.integrate.march import ON_GRID, begin_with_accelerations, fixed_steps
from madi.integrate.memory import DONE, NEWTON_FAILED, NOT_FINITE
from madi.integrate.method import Method, within
from madi.integrate.newton_matrix import (
    ImplicitMemory,
    assemble,
    blocks_at,
    factorise,
    hold_trial,
    right_side,
    rows_side,
    solve,
)
from madi.integrate.step import all_finite
from madi.joints.chart import exponential
from madi.kernel import call, kernel, present, view1
from madi.kernel.fields import Reals, function, integer, real, reals

EVERY_ITERATION, EVERY_STEP, WHEN_SLOW, ONCE = range(4)  # when the matrix is made
POLICIES = ("iteration", "step", "slow", "once")
TOLERANCE = 1e-10  # of Newton's corrections of speeds, against the largest
HALVINGS = 10  # times a step is halved before a run is given up
ITERATIONS = 25  # of a step, and of closing the loops after it
MOST_ITERATIONS = 100  # that may be asked for: more never converge either
CLOSING_FIXED = 2  # iterations of closing them where the number of iterations is fixed
PATIENCE = 12  # iterations after which an old matrix is given up, whatever was asked for
SHUT = 1e-13  # m or rad
STILL = 1e-3  # m/s, rad/s: speeds below it count as this much, so that a mechanism may come to rest
ROUNDING = 1e-8  # relative corrections that no longer fall, with a matrix of this very step, are rounding
NOISE = 1e-13  # the same with an older matrix
SHARE = 1e-3  # of the step's own error that Newton may leave
LEAST_CORRECTION = 1e-15  # relative: below it there is nothing to gain
SLOW = 0.05  # how much of a correction may be left by the next, with an old matrix
HARD = 0.3  # the same with a matrix of this very step, of an earlier iteration
EASY = 2  # iterations, each with its matrix, after which one matrix is enough again
DIVERGES = 2.0  # how much larger a correction may be than the one before
STALLS = 0.3  # how much of a correction is left where rounding is all that is corrected
LEAST_BETA = 1e-6  # of Newmark, which divides by it: with 0 it is explicit, a method of its own
CAUTION = 10.0  # times what Newton's convergence leaves of a row counts
HISTORY = 6  # steps remembered, (t, h, iterations, correction) each


class StructuralMemory(ImplicitMemory):
    """What a step carries on, and what Newton works with."""

    alpha_m: float = real()
    alpha_f: float = real()
    beta: float = real()
    gamma: float = real()
    iterations: int = integer()  # 0: until they converge
    policy: int = integer()
    halvings: int = integer()
    compiled_substep: Any = function()  # a substep as generated C; ABSENT: the kernels below
    # from the start of a substep to its end
    q_substep: Reals = reals("nq")
    v_substep: Reals = reals("nv")
    a_substep: Reals = reals("nv")
    A_substep: Reals = reals("nv")  # the method's own acceleration
    lam_substep: Reals = reals("nr")
    substep_length: float = real()
    # of the substep before: the acceleration at its start, its length (0: none), whether a straight line led nearer
    A_before: Reals = reals("nv")
    length_before: float = real()
    straight: int = integer()
    A: Reals = reals("nv")  # the same at the start of the step
    lam: Reals = reals("nr")
    v_trial: Reals = reals("nv")
    A_trial: Reals = reals("nv")
    factored_for: float = real()  # step length the factor is for, 0: none
    hard: int = integer()  # 1: a matrix is good for one iteration only
    factor: Reals = reals("n_factor")
    y: Reals = reals("nu")  # right-hand side; follows the factor in memory: generated C takes both as one x
    solved: Reals = reals("nu")
    # the last substep: iterations made, the last correction; where Newton failed, the column whose R and the row whose Phi'
    # is farthest from zero, and how far
    made: int = integer()
    change: float = real()
    left: float = real()  # how much of a correction the next one was, when Newton converged
    worst_equation: int = integer()
    worst_residual: float = real()
    worst_row: int = integer()
    worst_rate: float = real()
    history: Reals = reals(str(HISTORY), 4)


@kernel
def begin(m: StructuralMemory):
    """The start: A = a."""
    status = begin_with_accelerations(m)
    for c in range(m.model.nv):
        m.A[c] = m.a[c]
    m.factored_for, m.hard, m.straight, m.length_before = 0.0, 0, 0, 0.0
    return status


@kernel
def predict(m: StructuralMemory, h):
    """The trial state, speeds and (theta, a1, lam), for a first guess of A1: A; or, where that was nearer over the substep
    before, A on a straight line."""
    nv, f, straight = m.model.nv, m.alpha_f, m.straight == 1 and m.length_before == h and m.iterations == 0
    for c in range(nv):
        A = m.A_substep[c]
        d = A - m.A_before[c] if straight else 0.0
        m.A_trial[c] = A + d
        m.trial[c] = h * m.v_substep[c] + h * h * (0.5 * A + m.beta * d)
        m.v_trial[c] = m.v_substep[c] + h * (A + m.gamma * d)
        m.trial[nv + c] = (A - f * m.a_substep[c] + (1.0 - m.alpha_m) * d) / (1.0 - f)
    for r in range(m.model.nr):
        m.trial[2 * nv + r] = m.lam_substep[r]
    hold_trial(m)


@kernel
def look_back(m: StructuralMemory, h):
    """Which of the two guesses was nearer."""
    flat, straight = 0.0, 0.0
    for c in range(m.model.nv):
        A, before, now = m.A_substep[c], m.A_before[c], m.A_trial[c]
        flat, straight = max(flat, abs(now - A)), max(straight, abs(now - A - (A - before)))
        m.A_before[c] = A
    m.straight = 1 if straight < flat and m.length_before == h else 0
    m.length_before = h


@kernel
def balance(m: StructuralMemory, t):
    """(R, Phi, Phi') at the trial state."""
    call(m.residual, t, m.q_substep, m.v_trial, m.trial, m.balance)
    m.evaluations += 1


@kernel
def make_matrix(m: StructuralMemory, t, h):
    """The factored matrix of a substep of length h at the trial state."""
    c = m.coefficients
    c[0], c[1], c[2] = (1.0 - m.alpha_m) / (1.0 - m.alpha_f), m.gamma * h, m.beta * h * h
    factored_blocks(m, t)
    m.jacobians += 1


@kernel
def factored_blocks(m: StructuralMemory, t):
    """The matrix from the blocks at the trial state. (In generated C this and `solution` are traces.)"""
    blocks_at(m, t, m.q_substep, m.v_trial)
    assemble(m.model, m.plan, m.entries, m.coefficients[0], m.coefficients[1], m.coefficients[2], m.factor, 1)
    factorise(m.model, m.plan, m.factor)


@kernel
def solution(m: StructuralMemory):
    """solved, from the right-hand side y."""
    for k in range(m.plan.nu):
        m.solved[k] = m.y[k]
    solve(m.model, m.plan, m.factor, m.solved)


@kernel
def correct(m: StructuralMemory, h):
    """One Newton correction from the residual; its size against that of the speeds (see STILL) is m.change. Returns the
    tolerance on it."""
    nv, nr, unknown = m.model.nv, m.model.nr, m.plan.unknown
    c_v, c_q = m.gamma * h, m.beta * h * h
    c_a = (1.0 - m.alpha_m) / (1.0 - m.alpha_f)
    right_side(m.model, m.plan, m.balance, 1.0 / c_v, view1(m.trial, 2 * nv, nr), m.y)
    solution(m)
    change, size, jump, most = 0.0, 0.0, 0.0, 0.0
    for c in range(nv):
        d, A = m.solved[unknown[c]], m.A_substep[c]
        m.A_trial[c] = m.A_trial[c] + d
        m.trial[c] = m.trial[c] + c_q * d
        m.v_trial[c] = m.v_trial[c] + c_v * d
        m.trial[nv + c] = m.trial[nv + c] + c_a * d
        if c < m.model.v_at[0]:  # first-order states are of any size
            size = max(size, max(abs(m.v_trial[c]), h * abs(m.A_trial[c])))
        jump, most = max(jump, abs(m.A_trial[c] - A)), max(most, max(abs(m.A_trial[c]), abs(A)))
        if change == change and not abs(d) <= change:  # a NaN is taken over, and stays
            change = abs(d)
    for r in range(nr):
        p = unknown[nv + r]
        if p >= 0:
            m.trial[2 * nv + r] = m.trial[2 * nv + r] + m.solved[p]
    own = h * jump * jump / (12.0 * most) if most > 0.0 else 0.0
    m.change = c_v * change / (size + STILL)
    return max(LEAST_CORRECTION, min(TOLERANCE, SHARE * own / (size + STILL)))


@kernel
def converge(m: StructuralMemory, t, h):
    """Newton's iterations; whether they converge, or are as many as were asked for."""
    fresh, adapts = False, m.iterations == 0 and (m.policy == EVERY_STEP or m.policy == WHEN_SLOW)
    if m.policy <= EVERY_STEP or m.factored_for != h or (adapts and m.plan.width > 0):
        make_matrix(m, t, h)
        m.factored_for = h
        fresh = True
    before = 0.0
    for k in range(m.iterations if m.iterations > 0 else ITERATIONS):
        if k > 0 and (m.policy == EVERY_ITERATION or m.hard == 1):
            make_matrix(m, t, h)
            fresh = True
        balance(m, t)
        stop = correct(m, h)
        change = m.change
        m.made = k + 1
        m.newtons += 1
        if m.iterations > 0:
            continue
        rate = change / before if before > 0.0 else 1.0
        m.left = rate
        # what the next correction would be, from the last two
        if change <= stop or (rate < 0.9 and change * rate <= stop * (1.0 - rate)):
            m.hard = 1 if m.hard == 1 and k >= EASY else 0
            return True
        if k > 0 and rate > STALLS and change <= (ROUNDING if fresh else NOISE):
            return True
        if change != change or (k > 2 and rate > DIVERGES):
            break
        slow = adapts and before > 0.0 and rate > (HARD if fresh else SLOW)
        before = change
        if slow and fresh:
            m.hard = 1
        elif slow or (k == PATIENCE and not fresh):
            make_matrix(m, t, h)
            fresh = True
            before = 0.0
    m.hard = 1 if adapts else 0
    return m.iterations > 0 or m.change <= TOLERANCE


@kernel
def is_shut(m: StructuralMemory):
    """Whether Phi and Phi' are at rounding."""
    nv, nr = m.model.nv, m.model.nr
    gap, rate, fast = 0.0, 0.0, 0.0
    for r in range(nr):
        gap = max(gap, abs(m.balance[nv + r]))
        rate = max(rate, abs(m.balance[nv + nr + r]))
    for c in range(nv):
        if c < m.model.v_at[0]:
            fast = max(fast, abs(m.v_trial[c]))
    return gap <= SHUT and rate <= SHUT * (10.0 + fast)


@kernel
def arrived_shut(m: StructuralMemory, h):
    """Whether Newton's last correction left Phi and Phi' at rounding, told from what they were before it: it takes Phi' to
    eps lam c_v, but for what Newton's convergence leaves of it, and Phi along by c_q / c_v of that."""
    nv, nr, c_v = m.model.nv, m.model.nr, m.gamma * h
    gap, rate, fast, left = 0.0, 0.0, 0.0, CAUTION * m.left
    for r in range(nr):
        before, end = m.balance[nv + nr + r], c_v * m.model.row_value[r, REGULARISATION] * m.trial[2 * nv + r]
        more, missed = m.beta * h * h / c_v * (end - before), left * abs(end - before)
        gap = max(gap, abs(m.balance[nv + r] + more) + m.beta * h * h / c_v * missed)
        rate = max(rate, abs(end) + missed)
    for c in range(nv):
        if c < m.model.v_at[0]:
            fast = max(fast, abs(m.v_trial[c]))
    return gap <= SHUT and rate <= SHUT * (10.0 + fast)


@kernel
def project_onto_constraints(m: StructuralMemory, t, h):
    """theta and speeds to Phi = 0 and Phi' = 0, with the matrix at hand; not looked at where Newton closed them."""
    if m.iterations == 0 and arrived_shut(m, h):
        return
    nv, unknown = m.model.nv, m.plan.unknown
    for _ in range(CLOSING_FIXED if m.iterations > 0 else ITERATIONS):
        balance(m, t)
        if m.iterations == 0 and is_shut(m):
            return
        rows_side(m.model, m.plan, m.balance, nv, m.y)
        solution(m)
        for c in range(nv):
            m.trial[c] = m.trial[c] + m.solved[unknown[c]]
        rows_side(m.model, m.plan, m.balance, nv + m.model.nr, m.y)
        solution(m)
        for c in range(nv):
            m.v_trial[c] = m.v_trial[c] + m.solved[unknown[c]]


@kernel
def find_worst(m: StructuralMemory):
    """Which column's R of the last residual is farthest from zero, and which row's Phi': what Newton solves."""
    nv, nr = m.model.nv, m.model.nr
    m.worst_equation, m.worst_residual, m.worst_row, m.worst_rate = -1, -1.0, -1, -1.0
    for c in range(nv):
        r = abs(m.balance[c])
        if m.worst_residual == m.worst_residual and not r <= m.worst_residual:  # a NaN is taken over, and stays
            m.worst_equation, m.worst_residual = c, r
    for k in range(nr):
        r = abs(m.balance[nv + nr + k])
        if m.worst_rate == m.worst_rate and not r <= m.worst_rate:
            m.worst_row, m.worst_rate = k, r


@kernel
def substep(m: StructuralMemory, t):
    """One substep, of length m.substep_length from time t; what is carried is the next state where it returns DONE."""
    nq, nv, nr, h = m.model.nq, m.model.nv, m.model.nr, m.substep_length
    predict(m, h)
    if not converge(m, t + h, h):
        find_worst(m)
        m.factored_for = 0.0
        return NEWTON_FAILED
    if not (all_finite(m.v_trial, nv) and all_finite(m.trial, 2 * nv + nr)):
        m.factored_for = 0.0
        return NOT_FINITE
    if nr > 0:
        project_onto_constraints(m, t + h, h)
    if m.iterations == 0:
        look_back(m, h)
    exponential(m.model, m.q_substep, m.trial, m.q_stage)
    for j in range(nq):
        m.q_substep[j] = m.q_stage[j]
    for c in range(nv):
        m.v_substep[c] = m.v_trial[c]
        m.a_substep[c] = m.trial[nv + c]
        m.A_substep[c] = m.A_trial[c]
    for r in range(nr):
        m.lam_substep[r] = m.trial[2 * nv + r]
    return DONE


@kernel
def advance(m: StructuralMemory, t, h):
    """A step in as many substeps as Newton needs, halved where it fails; from and to what is carried in them."""
    done, halved, status = 0.0, 0, DONE
    m.substep_length = h
    while done < h * (1.0 - ON_GRID):
        if present(m.compiled_substep):
            status = call(m.compiled_substep, t + done, m.q, m.v, m.a, m.q_stage)
        else:
            status = substep(m, t + done)
        if status == DONE:
            done += m.substep_length
            continue
        m.rejected += 1
        halved += 1
        if halved > m.halvings:
            remember_step(m, t + done, m.substep_length)
            return status
        m.substep_length = 0.5 * m.substep_length
    remember_step(m, t, h)
    return DONE


@kernel
def step(m: StructuralMemory, t, h):
    """See march.fixed_steps."""
    for j in range(m.model.nq):
        m.q_substep[j] = m.q[j]
    for c in range(m.model.nv):
        m.v_substep[c], m.a_substep[c], m.A_substep[c] = m.v[c], m.a[c], m.A[c]
    for r in range(m.model.nr):
        m.lam_substep[r] = m.lam[r]
    status = advance(m, t, h)
    if status != DONE:
        return status
    for j in range(m.model.nq):
        m.q1[j] = m.q_substep[j]
    for c in range(m.model.nv):
        m.v1[c], m.a1[c] = m.v_substep[c], m.a_substep[c]
    if present(m.close):  # the speed of a drive jumps somewhere: its impulse
        call(m.close, t + h, m.q1, m.v1, m.applied, m.v_trial)
    return DONE


@kernel
def remember(m: StructuralMemory):
    """What is carried beside the state."""
    for c in range(m.model.nv):
        m.A[c] = m.A_substep[c]
    for r in range(m.model.nr):
        m.lam[r] = m.lam_substep[r]


@kernel
def remember_step(m: StructuralMemory, t, h):
    """The last steps, the latest last."""
    for k in range(HISTORY - 1):
        for j in range(4):
            m.history[k, j] = m.history[k + 1, j]
    k = HISTORY - 1
    m.history[k, 0], m.history[k, 1], m.history[k, 2], m.history[k, 3] = t, h, 1.0 * m.made, m.change


@dataclass(frozen=True)
class Structural(Method, ABC):
    """Base of Newmark and generalized-alpha. `iterations` of Newton in a step: None, to convergence, or a fixed number (real
    time). `jacobian`: when its matrix is made, "iteration", "step" (the default with a fixed number), "slow" (when Newton
    converges slowly; the default to convergence) or "once"."""

    iterations: int | None = None
    jacobian: str | None = None
    order = 2
    exported = True
    implicit = True
    closes = True
    fixed = fixed_steps("structural", StructuralMemory, step, begin, remember=remember)

    def __post_init__(self) -> None:
        whole = isinstance(self.iterations, int | np.integer) and not isinstance(self.iterations, bool)
        if self.iterations is not None and (not whole or not 1 <= self.iterations <= MOST_ITERATIONS):
            raise InputError(
                f"iterations={self.iterations!r}: give a whole number from 1 to {MOST_ITERATIONS}, or None to converge"
            )
        if self.jacobian is not None and self.jacobian not in POLICIES:
            raise InputError(f"jacobian={self.jacobian!r}: choose one of {', '.join(POLICIES)}")
        if self.jacobian == "slow" and self.iterations is not None:
            raise InputError(
                "jacobian='slow' judges how Newton converges; with a fixed number of iterations use 'step' or 'once'"
            )

    @property
    def keeps_matrix(self) -> bool:
        """See Method."""
        return self.jacobian == "once"

    @abstractmethod
    def scheme(self) -> tuple[float, float, float, float]:
        """(alpha_m, alpha_f, beta, gamma)."""

    def put(self, memory: Any) -> None:
        """See Method."""
        memory.alpha_m, memory.alpha_f, memory.beta, memory.gamma = self.scheme()
        memory.iterations = self.iterations or 0
        memory.policy = POLICIES.index(self.jacobian or ("slow" if self.iterations is None else "step"))
        memory.halvings = 0 if self.iterations else HALVINGS


@dataclass(frozen=True)
class Newmark(Structural):
    """Newmark's method, implicit, for stiff models; fixed step. `gamma`: 1/2 (second order) to 1 (damps); `beta`: None, the
    most damping this gamma allows."""

    gamma: float = 0.5
    beta: float | None = None
    name = "newmark"

    def __post_init__(self) -> None:
        super().__post_init__()
        within(self.gamma, "gamma", 0.5, 1.0)
        if self.beta is not None:
            within(self.beta, "beta", LEAST_BETA, 1.0)

    def scheme(self) -> tuple[float, float, float, float]:
        """See Structural."""
        return 0.0, 0.0, 0.25 * (self.gamma + 0.5) ** 2 if self.beta is None else self.beta, self.gamma


@dataclass(frozen=True)
class GeneralizedAlpha(Structural):
    """Generalized-alpha, implicit, for stiff models; fixed step, second order. `spectral_radius` at infinity: 1 keeps
    vibrations that the step cannot resolve, 0 takes them out in one step; or `alpha` (0 to 1/3) of HHT instead."""

    spectral_radius: float | None = None
    alpha: float | None = None
    name = "generalized-alpha"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.spectral_radius is not None:
            within(self.spectral_radius, "spectral_radius", 0.0, 1.0)
        if self.alpha is not None:
            within(self.alpha, "alpha", 0.0, 1.0 / 3.0)
        if self.spectral_radius is not None and self.alpha is not None:
            raise InputError("give spectral_radius (generalized-alpha) or alpha (HHT), not both")

    def scheme(self) -> tuple[float, float, float, float]:
        """See Structural."""
        rho = 0.8 if self.spectral_radius is None else self.spectral_radius
        m, f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        if self.alpha is not None:
            m, f = 0.0, self.alpha
        gamma = 0.5 - m + f
        return m, f, 0.25 * (gamma + 0.5) ** 2, gamma
