"""Adams-Bashforth-Moulton predictor-corrector (PECE), variable step and order; P0's integrator.

The unknowns are y = (q, v) itself, rotations as the unit quaternions they are in q (P0's Euler parameters), with
y' = (q'(q, v), a): a linear space, so past derivatives need not be carried from chart to chart. Predicted quaternions are
normalised before they are used, and so is each new point.

Past derivatives are kept as modified divided differences (Krogh's; see Shampine & Gordon, Computer Solution of Ordinary
Differential Equations, 1975, ch. 5). With psi_i(n) = t_n - t_{n-i},

    phi_1(n) = f_n,   phi_{i+1}(n) = psi_1(n) ... psi_i(n) f[t_n, ..., t_{n-i}],
    phi*_i = beta_i phi_i(n),   beta_i = prod_{j<i} psi_j(n+1) / psi_j(n)          (1 where steps are equal),
    phi_1(n+1) = f_{n+1},   phi_{i+1}(n+1) = phi_i(n+1) - phi*_i:

a step costs O(k n). With g_i the integrals of the node polynomials over the step,

    predictor, order k:       p = y_n + h sum_{i<=k} g_i phi*_i,
    corrector, order k + 1:   y = p + h g_{k+1} (f(p) - sum_{i<=k} phi*_i).

The bracket is the predicted phi_{k+1}(n+1); it and its neighbours estimate the errors of the orders k - 1, k, k + 1 on the
actual grid, no step ratio is assumed. The result is taken with the last term added (local extrapolation), the error is
that term. Step and order control in the manner of Shampine & Gordon; steps are changed seldom, and while they are equal
the coefficients stay. With a fixed step (option) the order, k + 1, is fixed too, and the first points come from Runge-Kutta.

docs/references.md: [P0], [Shampine, Gordon 1975], [Krogh 1974].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from madi.errors import InputError
from madi.integrate.control import choose_first_step
from madi.integrate.march import adaptive_steps, begin_with_accelerations, fixed_steps, no_outputs
from madi.integrate.memory import DONE, NOT_FINITE, AdaptiveMemory
from madi.integrate.method import Adaptive
from madi.integrate.outputs import AT_END, cubic_outputs, end_outputs, write
from madi.integrate.runge_kutta import CLASSICAL
from madi.integrate.step import accelerations_of_stage, close_and_accelerate, end_is_finite, end_step
from madi.joints.chart import coordinate_rate, normalise
from madi.joints.ladder import quaternion_at
from madi.kernel import exp, kernel, log, view1
from madi.kernel.fields import Reals, integer, over, real, reals

HIGHEST = 12  # order of the predictor
ROWS = HIGHEST + 2  # rows phi_i kept
TABLE = str(ROWS + 1)  # numbers from 1 to ROWS, counted as in the formulas
NO_ORDER = 1e200  # error of an order that is not there
AIM = 0.5  # of the tolerance: the error a step is chosen for
SMALLEST = 1e-12  # of the tolerance: a smaller error lets the step grow no more, and can be zero
SETTLED = math.log(1.05)  # how much longer a step another order must allow
TWICE, WORTH_IT = math.log(2.0), math.log(1.3)  # how much longer a step may be, before it is made so


class AdamsMemory(AdaptiveMemory):
    """The grid, its coefficients, past derivatives."""

    limits = {"order": (1, HIGHEST), "stored": (1, ROWS), "made_for": (0, HIGHEST)}

    k: Reals = reals("4*2*nv")  # of the method it begins with
    y: Reals = over("q", "nq+nv")
    y1: Reals = over("q1", "nq+nv")
    p: Reals = reals("nq+nv")  # predicted
    f: Reals = reals("nq+nv")  # y' at the end of the step
    delta: Reals = reals("nq+nv")
    least: Reals = reals("nq+nv")  # error that y_j may have: this, and `growth` of |y_j|
    growth: Reals = reals("nq+nv")
    phi: Reals = reals(f"{ROWS}*nq+{ROWS}*nv")
    psi: Reals = reals(TABLE)  # psi_i(n)
    beta: Reals = reals(TABLE)
    g: Reals = reals(TABLE)
    w: Reals = reals(str(ROWS + 2))
    last_length: float = (
        real()
    )  # of the last steps, how many there were, and the order for which coefficients were made for it
    taken: float = real()  # length of the step at hand
    equal: int = integer()
    made_for: int = integer()
    wanted_order: int = integer()  # option: of fixed steps
    order: int = integer()
    since: int = integer()  # steps since it changed
    stored: int = integer()  # rows phi_i that are good
    low: float = real()  # errors of the orders below and above
    high: float = real()


@kernel
def coefficients(m: AdamsMemory, h):
    """beta_i for i <= k + 1 and g_i for i <= k + 2 of a step of length h. Made anew unless the last k + 2 steps, and the one
    for which they were made, were as long as this."""
    k, w = m.order, m.w
    equal = m.last_length == h and m.equal >= k + 2
    if equal and m.made_for == k:
        return
    m.made_for = k if equal else 0
    m.beta[1], m.g[1], m.g[2] = 1.0, 1.0, 0.5
    for i in range(2, min(k + 1, m.stored) + 1):
        m.beta[i] = m.beta[i - 1] * (h + m.psi[i - 2]) / m.psi[i - 1]
    for j in range(1, k + 2):
        w[j] = 1.0 / (j * (j + 1.0))
    for i in range(3, k + 3):
        alpha = h / (h + m.psi[i - 2])
        for j in range(1, k + 4 - i):
            w[j] = w[j] - alpha * w[j + 1]
        m.g[i] = w[1]


@kernel
def predict(m: AdamsMemory, h, n):
    """p = y + h sum g_i phi*_i, and delta, the sum of the phi*_i, i <= k; small terms first. By four numbers at once, whose
    sums stay in registers."""
    k, phi = m.order, m.phi
    for j in range(0, n - 3, 4):
        p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
        d0, d1, d2, d3 = 0.0, 0.0, 0.0, 0.0
        for i in range(k, 0, -1):
            at, beta, g = (i - 1) * n + j, m.beta[i], m.g[i]
            a0, a1, a2, a3 = beta * phi[at], beta * phi[at + 1], beta * phi[at + 2], beta * phi[at + 3]
            p0, p1, p2, p3 = p0 + g * a0, p1 + g * a1, p2 + g * a2, p3 + g * a3
            d0, d1, d2, d3 = d0 + a0, d1 + a1, d2 + a2, d3 + a3
        y0, y1, y2, y3 = m.y[j], m.y[j + 1], m.y[j + 2], m.y[j + 3]
        m.p[j], m.p[j + 1], m.p[j + 2], m.p[j + 3] = y0 + h * p0, y1 + h * p1, y2 + h * p2, y3 + h * p3
        m.delta[j], m.delta[j + 1], m.delta[j + 2], m.delta[j + 3] = d0, d1, d2, d3
    for j in range(n - n % 4, n):
        p0, d0 = 0.0, 0.0
        for i in range(k, 0, -1):
            a0 = m.beta[i] * phi[(i - 1) * n + j]
            p0, d0 = p0 + m.g[i] * a0, d0 + a0
        m.p[j], m.delta[j] = m.y[j] + h * p0, d0


@kernel
def evaluate_and_correct(m: AdamsMemory, t, h, n):
    """f at the predicted end, delta = the predicted phi_{k+1}, and y1, corrected. Where accelerations off the closed states
    are not smooth, what is predicted is closed first."""
    nq = m.model.nq
    for j in range(n):
        m.y1[j] = m.p[j]
    normalise(m.model, m.q1)
    accelerations_of_stage(m, t + h, m.q1, m.v1, view1(m.f, nq, m.model.nv))
    coordinate_rate(m.model, m.q1, m.v1, m.f)
    for j in range(n):
        m.delta[j] = m.f[j] - m.delta[j]
        m.y1[j] = m.p[j] + h * m.g[m.order + 1] * m.delta[j]


@kernel
def derivative_at_end(m: AdamsMemory):
    """f = y' at (q1, v1, a1)."""
    coordinate_rate(m.model, m.q1, m.v1, m.f)
    for c in range(m.model.nv):
        m.f[m.model.nq + c] = m.a1[c]


@kernel
def advance(m: AdamsMemory, h, n):
    """phi_i(n+1) from f = f_{n+1}; the grid moves on. By four numbers at once."""
    m.stored = min(m.stored + 1, m.order + 2)
    last, phi = m.stored - 1, m.phi
    for j in range(0, n - 3, 4):
        f0, f1, f2, f3 = m.f[j], m.f[j + 1], m.f[j + 2], m.f[j + 3]
        for i in range(last):
            at, beta = i * n + j, m.beta[i + 1]
            a0, a1, a2, a3 = phi[at], phi[at + 1], phi[at + 2], phi[at + 3]
            phi[at], phi[at + 1], phi[at + 2], phi[at + 3] = f0, f1, f2, f3
            f0, f1, f2, f3 = f0 - beta * a0, f1 - beta * a1, f2 - beta * a2, f3 - beta * a3
        at = last * n + j
        phi[at], phi[at + 1], phi[at + 2], phi[at + 3] = f0, f1, f2, f3
    for j in range(n - n % 4, n):
        f0 = m.f[j]
        for i in range(last):
            a0 = phi[i * n + j]
            phi[i * n + j] = f0
            f0 = f0 - m.beta[i + 1] * a0
        phi[last * n + j] = f0
    for i in range(ROWS, 0, -1):
        m.psi[i] = h + m.psi[i - 1]
    m.equal = m.equal + 1 if m.last_length == h else 1
    m.last_length = h


@kernel
def tolerances(m: AdamsMemory):
    """What errors may be. A rotation's angle is twice what its quaternion changes by."""
    model = m.model
    for j in range(model.nq + model.nv):
        m.least[j], m.growth[j] = m.atol, m.rtol
    for i in range(1, model.n):
        at = quaternion_at(model.code[i])
        if at >= 0:
            for j in range(model.q_at[i] + at, model.q_at[i] + at + 4):
                m.least[j], m.growth[j] = 0.5 * (m.atol + m.rtol), 0.0


@kernel
def errors(m: AdamsMemory, h, n):
    """Error at order k; m.low, m.high at k - 1, k + 1; from the predicted phi_{k+1} = delta and its neighbours."""
    k, low, here, high = m.order, 0.0, 0.0, 0.0
    below, above = (k - 1) * n, k * n
    beta, next_beta = m.beta[k], m.beta[k + 1] if m.stored > k else 0.0
    for j in range(n):
        w, delta = 1.0 / (m.least[j] + m.growth[j] * abs(m.y[j])), m.delta[j]
        e = w * abs(delta)
        if here == here and not e <= here:  # a NaN is taken over, and stays
            here = e
        low = max(low, w * abs(delta + beta * m.phi[below + j]))
        high = max(high, w * abs(delta - next_beta * m.phi[above + j]))
    m.low = h * abs(m.g[k] - m.g[k - 1]) * low if k > 1 else NO_ORDER
    m.high = h * abs(m.g[k + 2] - m.g[k + 1]) * high if m.stored > k else NO_ORDER
    return h * abs(m.g[k + 1] - m.g[k]) * here


@kernel
def allowed(error, order):
    """Logarithm of how much longer the next step may be by the error of an order."""
    return log(AIM / max(error, SMALLEST)) / (order + 1.0)


@kernel
def choose_order(m: AdamsMemory, here):
    """The order whose error would allow the longest step: one lower, the same, or (when settled) one higher; returns by how
    much longer than the last, its logarithm."""
    k = m.order
    order, longest = k, allowed(here, k)
    if k > 1:
        other = allowed(m.low, k - 1)
        if other > SETTLED + longest:
            order, longest = k - 1, other
    if order == k and k < HIGHEST and m.stored > k and m.since > k:
        other = allowed(m.high, k + 1)
        if other > SETTLED + longest:
            order, longest = k + 1, other
    if order != k:
        m.order, m.since = order, 0
    return longest


@kernel
def interpolate(m: AdamsMemory, h, back, n):
    """p = y1 + the integral from the end of the step to `back` < 0 before it, of the polynomial through f, the derivative at
    the predicted end, and the k before it: rows phi_i(n+1) as they go, from f and the phi*_i; delta: scratch."""
    k, w = m.order, m.w
    for j in range(1, k + 2):
        w[j] = 1.0 / j
    for j in range(n):
        m.delta[j] = m.f[j]
        m.p[j] = m.f[j]
    before = 0.0
    for i in range(2, k + 2):
        psi, row, beta = h + m.psi[i - 2], (i - 2) * n, m.beta[i - 1]
        shift, part = (back + before) / psi, back / psi
        for j in range(1, k + 3 - i):
            w[j] = shift * w[j] - part * w[j + 1]
        for j in range(n):
            m.delta[j] = m.delta[j] - beta * m.phi[row + j]
            m.p[j] = m.p[j] + w[1] * m.delta[j]
        before = psi
    for j in range(n):
        m.p[j] = m.y1[j] + back * m.p[j]


@kernel
def outputs_within(m: AdamsMemory, end, h, n):
    """Outputs before `end`, where a step of length h comes to y1: not closed yet, and not struck by a drive."""
    while m.next < m.upto and m.outputs.times[m.next] < end - AT_END * h:
        interpolate(m, h, m.outputs.times[m.next] - end, n)
        normalise(m.model, m.p)
        write(m, m.p, view1(m.p, m.model.nq, m.model.nv))


@kernel
def finish(m: AdamsMemory, t, h, n):
    """From y1 as corrected to the end of the step: outputs within it, the closed state, its derivative."""
    written, end = m.next, t + h if h < m.end - t else m.end
    outputs_within(m, end, h, n)
    normalise(m.model, m.q1)
    close_and_accelerate(m, t + h)
    if not end_is_finite(m):
        m.next = written  # a step that does not arrive leaves no outputs
        return NOT_FINITE
    end_outputs(m, end + AT_END * h)
    return DONE


@kernel
def remember(m: AdamsMemory):
    """The derivative at the end of the step becomes a past one."""
    derivative_at_end(m)
    advance(m, m.taken, m.model.nq + m.model.nv)


@kernel
def begin(m: AdamsMemory):
    """The first row."""
    normalise(m.model, m.q)
    status = begin_with_accelerations(m)
    coordinate_rate(m.model, m.q, m.v, m.phi)
    for c in range(m.model.nv):
        m.phi[m.model.nq + c] = m.a[c]
    m.order, m.since, m.stored = 1, 0, 1
    m.equal = m.made_for = 0
    return status


@kernel
def begin_adaptive(m: AdamsMemory):
    """The first row, the first step."""
    status = begin(m)
    tolerances(m)
    choose_first_step(m, m.error, 1.0)
    return status


@kernel
def attempt(m: AdamsMemory, t, h):
    """Predict, evaluate, correct."""
    n = m.model.nq + m.model.nv
    coefficients(m, h)
    predict(m, h, n)
    evaluate_and_correct(m, t, h, n)
    return errors(m, h, n)


@kernel
def arrive(m: AdamsMemory, t, h):
    """a1 as at the predicted end: the corrected one is not closed yet."""
    for c in range(m.model.nv):
        m.a1[c] = m.f[m.model.nq + c]


@kernel
def complete(m: AdamsMemory, t, h):
    """See march.adaptive_steps."""
    status = finish(m, t, h, m.model.nq + m.model.nv)
    if status == DONE:
        m.taken = h
        remember(m)
    return status


@kernel
def longer(m: AdamsMemory, h, error):
    """The next step; small changes are not worth making."""
    m.since += 1
    longest = choose_order(m, error)
    if longest >= TWICE:
        return 2.0 * h
    if longest < 0.0:
        return h * max(0.5, min(0.9, exp(longest)))
    return 1.2 * h if longest > WORTH_IT else h


@kernel
def shorter(m: AdamsMemory, h, error):
    """After a rejected step; of lower order where that errs less."""
    k = m.order
    m.since = 0
    if k > 1 and m.low < error:
        m.order = k - 1
    return h * min(0.7, max(0.2, (AIM / error) ** (1.0 / (k + 1.0))))


@kernel
def begin_fixed(m: AdamsMemory):
    """The first row; the order is given."""
    status = begin(m)
    m.order = max(1, m.wanted_order - 1)
    return status


@kernel
def step(m: AdamsMemory, t, h):
    """A step of fixed length and order; by Runge-Kutta while there are too few points."""
    n = m.model.nq + m.model.nv
    m.taken = h
    coefficients(m, h)
    if m.stored >= m.order:
        predict(m, h, n)
        evaluate_and_correct(m, t, h, n)
        return finish(m, t, h, n)
    CLASSICAL(m, t, h)
    end_step(m, t + h, m.x1)
    if not end_is_finite(m):
        return NOT_FINITE
    cubic_outputs(m, t, h)
    return DONE


@dataclass(frozen=True)
class Adams(Adaptive):
    """Adams-Bashforth-Moulton, PECE: variable step and order by rtol, atol, max_step; with a `step`, of fixed step and
    `order` (2 to 5). `first_step`: s, None: by the size of the first derivatives."""

    order: int = 4  # type: ignore[misc]
    name = "abm"
    stable = 1.2
    adaptive = adaptive_steps("abm", AdamsMemory, begin_adaptive, attempt, complete, longer, shorter, arrive=arrive)
    fixed = fixed_steps("abm-fixed", AdamsMemory, step, begin_fixed, no_outputs, remember)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order not in (2, 3, 4, 5):
            raise InputError(f"order={self.order!r}: give 2 to 5 (the first points are of fourth order)")

    def refuse(self, step: float | None) -> None:
        """See Method."""
        super().refuse(step)
        if step is None and self.order != Adams.order:
            raise InputError(
                f"order={self.order!r}: it belongs to fixed steps; without `step` the order is chosen. Leave it out"
            )

    def put(self, memory: object) -> None:
        """See Method."""
        super().put(memory)
        memory.wanted_order = self.order  # type: ignore[attr-defined]
