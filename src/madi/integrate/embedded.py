"""Adaptive Runge-Kutta pairs whose last stage stands at the new point: error, dense output, step control (PI).

    error = h sum E_i k_i,      dense output with the fifth term h sum D_i k_i,     k_s = x' at the end, loops closed.

docs/references.md: [Hairer, Nørsett, Wanner 1993], [Gustafsson 1994].
"""

from __future__ import annotations

import numpy as np

from madi.integrate.control import ROUNDING, SMALLEST_ERROR, choose_first_step, error_norm, larger_scales, scales
from madi.integrate.march import adaptive_steps, begin_with_accelerations
from madi.integrate.memory import DONE, AdaptiveMemory, Loop
from madi.integrate.outputs import wanted, write_stage
from madi.integrate.runge_kutta import stages_of
from madi.integrate.step import end_step
from madi.joints.chart import chart_rate
from madi.kernel import kernel, view1
from madi.kernel.fields import reals

SAFETY = 0.9
SHRINK, GROW = 0.2, 5.0  # how much a step may change
PRESENT, PAST = 0.17, 0.04  # exponents of the last two errors, of a pair of fifth order
FIRST_ERROR = 1e-4  # no error before the first step
LATE = 1e-12  # of a step: rounding of its end


def embedded_pair(name: str, A: np.ndarray, b: np.ndarray, C: np.ndarray, E: np.ndarray, D: np.ndarray) -> Loop:
    """The loop of such a pair of fifth order."""
    stages, last = stages_of(A, C, b), len(C)
    memory = type(f"{name}-memory", (AdaptiveMemory,), {"k": reals(f"{last + 1}*2*nv")})

    @kernel
    def begin(m: AdaptiveMemory):
        status = begin_with_accelerations(m)
        m.last_error = FIRST_ERROR
        choose_first_step(m, m.error, 4.0)
        return status

    @kernel
    def attempt(m: AdaptiveMemory, t, h):
        nv, n = m.model.nv, 2 * m.model.nv
        stages(m, t, h)
        end_step(m, t + h, m.x1)
        end = view1(m.k, last * n, n)
        chart_rate(m.model, m.x1, m.v1, end)
        for c in range(nv):
            end[nv + c] = m.a1[c]
        for j in range(n):
            total = 0.0
            for i in range(last + 1):
                total += E[i] * m.k[i * n + j]
            m.error[j] = h * total
        scales(m, m.q, m.v, m.scale)
        larger_scales(m, m.q1, m.v1)
        return error_norm(m, m.error, m.rtol, m.atol)

    @kernel
    def complete(m: AdaptiveMemory, t, h):
        n = 2 * m.model.nv
        while wanted(m, t + h * (1.0 + LATE)):
            s = (m.outputs.times[m.next] - t) / h
            r = 1.0 - s
            for j in range(n):
                difference = m.x1[j] - m.x0[j]
                spline = h * m.k[j] - difference
                back = difference - h * m.k[last * n + j] - spline
                fifth = 0.0
                for i in range(last + 1):
                    fifth += D[i] * m.k[i * n + j]
                m.x[j] = m.x0[j] + s * (difference + r * (spline + s * (back + r * h * fifth)))
            write_stage(m, m.x)
        return DONE

    @kernel
    def longer(m: AdaptiveMemory, h, error):
        factor = SAFETY * max(error, SMALLEST_ERROR) ** -PRESENT * m.last_error**PAST
        # shorter steps are no cure for rounding (accept_despite_error)
        factor = min(GROW, max(1.0 if 1.0 < error < ROUNDING / m.rtol else SHRINK, factor))
        m.last_error = max(error, FIRST_ERROR)
        return h * factor

    @kernel
    def shorter(m: AdaptiveMemory, h, error):
        return h * max(SHRINK, SAFETY * error**-0.2)

    return adaptive_steps(name, memory, begin, attempt, complete, longer, shorter)
