"""Radau IIA of fifth order, three stages, for stiff models at any accuracy (Hairer, Wanner: Solving ODEs II, IV.8).

The stages' increments Z of x = (theta, v) solve  A^-1 Z / h = x'(x0 + Z).  With W = T^-1 Z, T the eigenvectors of A^-1, a
simplified Newton step falls apart into one real system (mu - J) w = r, mu = g/h, and one complex, mu = (a - ib)/h. J is that
of x' = (v, v'), v' from R = 0; its first row is trivial, so of each system only the half in v is left (newton_matrix.py):

    (mu dR/dqdd + dR/dqd + dR/dq / mu) dv + Phi_q^T nu = dR/dqdd r_v - dR/dq r_theta / mu,     Phi_q dv = Phi_q r_v / mu,
    dtheta = (r_theta + dv) / mu.

Stages are evaluated with the full accelerations, loops solved; what the matrix leaves out (the chart's curvature, the
change of gamma) costs iterations, not accuracy. Error estimate, step and Jacobian control as in RADAU5.

docs/references.md: [Hairer, Wanner 1996], [Gustafsson 1994].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from madi.integrate.control import SHORTEST, SMALLEST_ERROR, choose_first_step, error_norm, larger_scales, scales
from madi.integrate.march import adaptive_steps, begin_with_accelerations, fixed_steps
from madi.integrate.memory import AGAIN, DONE, NEWTON_FAILED, NOT_FINITE, AdaptiveMemory
from madi.integrate.method import Adaptive
from madi.integrate.newton_matrix import (
    PART_PHI,
    PART_Q,
    PART_QDD,
    ImplicitMemory,
    assemble,
    assemble_complex,
    block_times,
    blocks_at,
    factorise,
    factorise_complex,
    hold_trial,
    right_side,
    solve,
    solve_complex,
)
from madi.integrate.outputs import AT_END, cubic_ends, cubic_outputs, wanted
from madi.integrate.step import derivative, end_is_finite, end_step, start_step
from madi.kernel import HUGE, call, kernel, view1
from madi.kernel.fields import Reals, integer, real, reals

_R = 6.0**0.5
C = np.array([(4.0 - _R) / 10.0, (4.0 + _R) / 10.0, 1.0])
_A = np.array(
    [[(88 - 7 * _R) / 360, (296 - 169 * _R) / 1800, (-2 + 3 * _R) / 225],
     [(296 + 169 * _R) / 1800, (88 + 7 * _R) / 360, (-2 - 3 * _R) / 225],
     [(16 - _R) / 36, (16 + _R) / 36, 1 / 9]]
)  # fmt: skip


def _eigen():
    """(g, a, b, T): A^-1 T = T [[g, 0, 0], [0, a, b], [0, -b, a]]."""
    values, vectors = np.linalg.eig(np.linalg.inv(_A))
    real = int(np.argmin(np.abs(values.imag)))
    pair = int(np.argmax(values.imag))
    T = np.column_stack([vectors[:, real].real, vectors[:, pair].real, vectors[:, pair].imag])
    return float(values[real].real), float(values[pair].real), float(values[pair].imag), T


G, ALPHA, BETA, T = _eigen()
TI = np.linalg.inv(T)
D1, D2, D3 = -(13.0 + 7.0 * _R) / 3.0, (-13.0 + 7.0 * _R) / 3.0, -1.0 / 3.0  # of the error estimate
# of the polynomial through (0, 0) and the stages, its value in the middle of the step
HALF = np.array([np.prod([(0.5 - c) / (C[i] - c) for c in (0.0, *np.delete(C, i))]) for i in range(3)])
MOST_ITERATIONS = 8  # of a fixed step five times as many, and to this tolerance: nothing else judges the step
MOST_FIXED, TOLERANCE_FIXED, SMALL_FIXED = 5 * MOST_ITERATIONS, 1e-10, 1e-2
ROUNDING = 1e-14  # of the state: Newton is asked for no more
QUICK = 1e-3  # rate of convergence with which a matrix is kept
FAILS = float("inf")  # error of a step whose stages cannot be solved for
STALE, FRESH, KEPT = 0, 1, 2  # the blocks: to be made; made at this point; made before, and still good


class RadauMemory(AdaptiveMemory, ImplicitMemory):
    """Stages, blocks, factors."""

    Z: Reals = reals("6*nv")  # increments of the last step's stages
    W: Reals = reals("6*nv")
    R: Reals = reals("6*nv")
    d: Reals = reals("2*nv")
    real_factor: Reals = reals("n_factor")
    complex_factor: Reals = reals("2*n_factor")
    y: Reals = reals("2*nu")
    z: Reals = reals("nv+nr")
    factored_for: float = real()  # step length, 0: none
    age: int = integer()  # STALE, FRESH, KEPT
    last_length: float = real()  # of the step whose stages Z has, 0: none
    newton_rtol: float = real()
    newton_atol: float = real()
    newton_small: float = real()  # of the tolerance: what Newton may leave
    newton_most: int = integer()
    made: int = integer()  # iterations of the last step, and their last rate of convergence
    rate: float = real()


@kernel
def make_blocks(m: RadauMemory, t):
    """The blocks at (q, v, a); with loops the multipliers are found first, from what R lacks."""
    model, plan, nv, nr = m.model, m.plan, m.model.nv, m.model.nr
    for c in range(nv):
        m.trial[c], m.trial[nv + c] = 0.0, m.a[c]
    for r in range(nr):
        m.trial[2 * nv + r] = 0.0
    hold_trial(m)
    blocks_at(m, t, m.q, m.v)
    if nr > 0:
        assemble(model, plan, m.entries, 1.0, 0.0, 0.0, m.real_factor, 0)
        factorise(model, plan, m.real_factor)
        call(m.residual, t, m.q, m.v, m.trial, m.balance)
        for r in range(nr):
            m.balance[nv + nr + r] = 0.0
        right_side(model, plan, m.balance, 1.0, view1(m.trial, 2 * nv, nr), m.y)
        solve(m.model, plan, m.real_factor, m.y)
        for r in range(nr):
            p = plan.unknown[nv + r]
            if p >= 0:
                m.trial[2 * nv + r] = m.y[p]
        blocks_at(m, t, m.q, m.v)
    m.jacobians += 1


@kernel
def solve_real(m: RadauMemory, mu, r):
    """w of (mu - J) w = r in place of r = (r_theta, r_v)."""
    nv, nr, plan = m.model.nv, m.model.nr, m.plan
    place, y, z = plan.unknown, m.y, m.z
    for k in range(plan.nu):
        y[k] = 0.0
    block_times(m.model, plan, m.entries, PART_QDD, m.real_factor, view1(r, nv, nv), z, nv)
    for c in range(nv):
        y[place[c]] = z[c]
    block_times(m.model, plan, m.entries, PART_Q, m.real_factor, r, z, nv)
    for c in range(nv):
        y[place[c]] = y[place[c]] - z[c] / mu
    if nr > 0:
        block_times(m.model, plan, m.entries, PART_PHI, m.real_factor, view1(r, nv, nv), z, nr)
        for k in range(nr):
            p = place[nv + k]
            if p >= 0:
                y[p] = z[k] / mu
    solve(m.model, plan, m.real_factor, y)
    for c in range(nv):
        dv = y[place[c]]
        r[c] = (r[c] + dv) / mu
        r[nv + c] = dv


@kernel
def add_complex(y, n, p, re, im, x, side):
    """y_p += (re + i im) x for a real part x (side 0), or i x (1); imaginary parts are n further on."""
    if side == 0:
        y[p], y[n + p] = y[p] + re * x, y[n + p] + im * x
    else:
        y[p], y[n + p] = y[p] - im * x, y[n + p] + re * x


@kernel
def solve_pair(m: RadauMemory, mu, nu, r2, r3):
    """The same for the complex mu + i nu and r2 + i r3."""
    nv, nr, plan = m.model.nv, m.model.nr, m.plan
    place, n, y, z = plan.unknown, plan.nu, m.y, m.z
    square = mu * mu + nu * nu
    re, im = mu / square, -nu / square  # 1 / (mu + i nu)
    for k in range(2 * n):
        y[k] = 0.0
    for side in range(2):
        r = r2 if side == 0 else r3
        block_times(m.model, plan, m.entries, PART_QDD, m.real_factor, view1(r, nv, nv), z, nv)
        for c in range(nv):
            add_complex(y, n, place[c], 1.0, 0.0, z[c], side)
        block_times(m.model, plan, m.entries, PART_Q, m.real_factor, r, z, nv)
        for c in range(nv):
            add_complex(y, n, place[c], -re, -im, z[c], side)
        if nr > 0:
            block_times(m.model, plan, m.entries, PART_PHI, m.real_factor, view1(r, nv, nv), z, nr)
            for k in range(nr):
                if place[nv + k] >= 0:
                    add_complex(y, n, place[nv + k], re, im, z[k], side)
    solve_complex(m.model, plan, m.complex_factor, y)
    for c in range(nv):
        p = place[c]
        d2, d3 = y[p], y[n + p]
        a, b = r2[c] + d2, r3[c] + d3
        r2[c], r3[c] = re * a - im * b, re * b + im * a
        r2[nv + c], r3[nv + c] = d2, d3


@kernel
def transform(A, X, Y, n):
    """Y = A X over the three stages: A = T from the eigenvectors' parts to the stages, A = T^-1 back."""
    for j in range(n):
        a, b, c = X[j], X[n + j], X[2 * n + j]
        for i in range(3):
            Y[i * n + j] = A[i, 0] * a + A[i, 1] * b + A[i, 2] * c


@kernel
def extrapolate(Z, n, ratio):
    """The last step's collocation polynomial, continued over a step `ratio` times as long, as the first guess of Z."""
    for j in range(n):
        z1, z2, z3 = Z[j], Z[n + j], Z[2 * n + j]
        # Newton's divided differences through 0, c1, c2, 1
        d1 = z1 / C[0]
        d2 = ((z2 - z1) / (C[1] - C[0]) - d1) / C[1]
        d3 = (((z3 - z2) / (1.0 - C[1]) - (z2 - z1) / (C[1] - C[0])) / (1.0 - C[0]) - d2) / 1.0
        for i in range(3):
            s = 1.0 + C[i] * ratio
            Z[i * n + j] = s * (d1 + (s - C[0]) * (d2 + (s - C[1]) * d3)) - z3


@kernel
def correction(m: RadauMemory, t, h):
    """R: the correction of W by one Newton step; returns its size against the tolerance."""
    n = 2 * m.model.nv
    W, R = m.W, m.R
    for i in range(3):
        for j in range(n):
            m.x[j] = m.x0[j] + m.Z[i * n + j]
        derivative(m, t + C[i] * h, m.x, view1(R, i * n, n))
    transform(TI, R, R, n)
    for j in range(n):
        w1, w2, w3 = W[j], W[n + j], W[2 * n + j]
        R[j] = R[j] - G / h * w1
        R[n + j] = R[n + j] - (ALPHA * w2 + BETA * w3) / h
        R[2 * n + j] = R[2 * n + j] - (ALPHA * w3 - BETA * w2) / h
    solve_real(m, G / h, R)
    solve_pair(m, ALPHA / h, -BETA / h, view1(R, n, n), view1(R, 2 * n, n))
    worst = 0.0
    for i in range(3):
        e = error_norm(m, view1(R, i * n, n), m.newton_rtol, m.newton_atol)
        if worst == worst and not e <= worst:  # a NaN is taken over, and stays
            worst = e
    return worst


@kernel
def newton(m: RadauMemory, t, h):
    """Solve for the stages; whether that succeeds. m.made, m.rate: iterations, last rate of convergence."""
    n, most, small = 2 * m.model.nv, m.newton_most, m.newton_small
    transform(TI, m.Z, m.W, n)
    before, rate = 0.0, 1.0
    for k in range(most):
        change = correction(m, t, h)
        m.newtons += 1
        for j in range(3 * n):
            m.W[j] = m.W[j] + m.R[j]
        transform(T, m.W, m.Z, n)
        if k > 0:
            rate = change / before
        m.made, m.rate = k + 1, rate
        if most > MOST_ITERATIONS and k > 0 and change < 1.0 and rate > 0.3:  # of a fixed step: rounding, at rest
            return True
        slow = k > 2 and rate ** (most - 1 - k) / (1.0 - rate) * change > 10.0 * small
        if not change < HUGE or (k > 0 and rate >= 1.0) or slow:
            return False
        if change == 0.0 or (k > 0 and rate / (1.0 - rate) * change <= small):
            return True
        before = change
    return False


@kernel
def solve_stages(m: RadauMemory, t, h):
    """Matrices as they should be, a guess, Newton; whether the stages are found."""
    n = 2 * m.model.nv
    start_step(m)
    if m.age == STALE:
        make_blocks(m, t)
        m.age, m.factored_for = FRESH, 0.0
    if m.factored_for != h:
        assemble(m.model, m.plan, m.entries, G / h, 1.0, h / G, m.real_factor, 0)
        factorise(m.model, m.plan, m.real_factor)
        assemble_complex(m.model, m.plan, m.entries, ALPHA / h, -BETA / h, m.complex_factor)
        factorise_complex(m.model, m.plan, m.complex_factor)
        m.factored_for = h
    scales(m, m.q, m.v, m.scale)
    if m.last_length > 0.0:
        extrapolate(m.Z, n, h / m.last_length)
    else:
        for j in range(3 * n):
            m.Z[j] = 0.0
    if not newton(m, t, h):
        return False
    for j in range(n):
        m.x1[j] = m.x0[j] + m.Z[2 * n + j]
    return True


@kernel
def may_try_again(m: RadauMemory):
    """Stages were not found: whether a matrix of this point, and a guess without the last step, are still to be tried."""
    again = m.age == KEPT or m.last_length > 0.0
    m.age = FRESH if m.age == FRESH else STALE
    m.last_length = 0.0
    return again


@kernel
def step_error(m: RadauMemory, h, d):
    """RADAU5's estimate, (mu - J)^-1 (d + D Z / h), d the derivative at the start; against the tolerance."""
    n, Z = 2 * m.model.nv, m.Z
    for j in range(n):
        m.error[j] = d[j] + (D1 * Z[j] + D2 * Z[n + j] + D3 * Z[2 * n + j]) / h
    solve_real(m, G / h, m.error)
    return error_norm(m, m.error, m.rtol, m.atol)


@kernel
def attempt(m: RadauMemory, t, h):
    """Stages and error of a step."""
    nv, n = m.model.nv, 2 * m.model.nv
    if not solve_stages(m, t, h):
        return FAILS
    for c in range(nv):
        m.d[c], m.d[nv + c] = m.v[c], m.a[c]
    larger_scales(m, m.q, view1(m.x1, nv, nv))
    error = step_error(m, h, m.d)
    if error >= 1.0 and (m.accepted == 0 or m.last_length == 0.0):  # stiff transients: once more through the derivative
        for j in range(n):
            m.x[j] = m.x0[j] + m.error[j]
        derivative(m, t, m.x, m.d)
        error = step_error(m, h, m.d)
    return error


@kernel
def failed(m: RadauMemory, t, h):
    """Newton does not converge: with a fresh matrix, or a shorter step."""
    again = may_try_again(m)
    if h < SHORTEST * max(1.0, abs(t)):
        return NEWTON_FAILED
    m.h = h if again else 0.5 * h
    return DONE


@kernel
def doubt(m: RadauMemory, h):
    """How far the cubic through both ends, of which outputs are taken, is in the middle from the one through the stages,
    against the tolerance: both err by as much."""
    n = 2 * m.model.nv
    x0, d0, x1, d1 = view1(m.cubic, 0, n), view1(m.cubic, n, n), view1(m.cubic, 2 * n, n), view1(m.cubic, 3 * n, n)
    cubic_ends(m, x0, d0, x1, d1)
    for j in range(n):
        ends = 0.5 * (x0[j] + x1[j]) + 0.125 * h * (d0[j] - d1[j])
        m.error[j] = ends - (x0[j] + HALF[0] * m.Z[j] + HALF[1] * m.Z[n + j] + HALF[2] * m.Z[2 * n + j])
    return error_norm(m, m.error, m.rtol, m.atol)


@kernel
def arrive(m: RadauMemory, t, h):
    """The end of the step, loops closed."""
    end_step(m, t + h, m.x1)


@kernel
def forget(m: RadauMemory):
    """The stages: they were another step's."""
    m.last_length = 0.0


@kernel
def complete(m: RadauMemory, t, h):
    """The end of the step; where outputs within it would be worse than it is, a step of its own to the next output."""
    end_step(m, t + h, m.x1)
    if not end_is_finite(m):
        return NOT_FINITE
    if wanted(m, t + h * (1.0 - AT_END)) and doubt(m, h) > 1.0:
        m.h, m.last_length = m.outputs.times[m.next] - t, 0.0
        return AGAIN
    cubic_outputs(m, t, h)
    return DONE


@kernel
def keep_blocks(m: RadauMemory, h):
    """Whether the blocks serve the next step too; Z is of this one."""
    m.last_length = h
    m.age = KEPT if m.rate < QUICK or m.made <= 2 else STALE


@kernel
def change_of_step(m: RadauMemory, error):
    """By the error, and shorter where Newton needed many iterations."""
    quickly = 0.9 * (2.0 * MOST_ITERATIONS + 1.0) / (2.0 * MOST_ITERATIONS + m.made)
    return min(8.0, max(0.2, quickly * max(error, SMALLEST_ERROR) ** -0.25))


@kernel
def longer(m: RadauMemory, h, error):
    """RADAU5's step control, with Gustafsson's prediction."""
    factor = change_of_step(m, error)
    if m.last_length > 0.0 and m.accepted > 0:
        factor = min(factor, max(0.2, 0.9 * h / m.last_length * (max(error, 1e-2) ** -0.5 * m.last_error**0.25)))
    m.last_error = max(1e-2, error)
    keep_blocks(m, h)
    if 1.0 <= factor <= 1.2 and m.age == KEPT:
        factor = 1.0
    return h * factor


@kernel
def shorter(m: RadauMemory, h, error):
    """After a rejected step."""
    m.last_length = 0.0
    return h * min(change_of_step(m, error), 0.9)


@kernel
def begin(m: RadauMemory):
    """Accelerations, tolerances of Newton, a first step."""
    status = begin_with_accelerations(m)
    m.age, m.last_length = STALE, 0.0
    m.newton_rtol, m.newton_atol, m.newton_most = m.rtol, m.atol, MOST_ITERATIONS
    m.newton_small = max(ROUNDING / m.rtol, min(0.03, m.rtol**0.5))
    m.last_error = 1.0
    choose_first_step(m, m.d, 3.0)
    return status


@kernel
def begin_fixed(m: RadauMemory):
    """The same with fixed steps: Newton to rounding."""
    m.newton_rtol, m.newton_atol, m.newton_most = TOLERANCE_FIXED, TOLERANCE_FIXED, MOST_FIXED
    m.newton_small = SMALL_FIXED
    m.age, m.last_length = STALE, 0.0
    return begin_with_accelerations(m)


@kernel
def step(m: RadauMemory, t, h):
    """A step of fixed length."""
    while not solve_stages(m, t, h):
        m.rejected += 1
        if not may_try_again(m):
            return NEWTON_FAILED
    end_step(m, t + h, m.x1)
    keep_blocks(m, h)
    return DONE


@dataclass(frozen=True)
class Radau(Adaptive):
    """Radau IIA of fifth order, implicit, for stiff models at any accuracy: rtol, atol, max_step choose the steps, or a
    `step` is fixed. `first_step`: s, None: by the size of the first derivatives."""

    name = "radau"
    order = 5
    implicit = True
    adaptive = adaptive_steps("radau", RadauMemory, begin, attempt, complete, longer, shorter, failed, arrive, forget)
    fixed = fixed_steps("radau-fixed", RadauMemory, step, begin_fixed)

    @property
    def keeps_matrix(self) -> bool:
        """See Method."""
        return True
