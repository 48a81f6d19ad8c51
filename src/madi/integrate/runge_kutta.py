"""Explicit Runge-Kutta methods: a tableau makes the step.

    x_i = x0 + h sum_{m<i} A_im k_m,   k_i = x'(t + C_i h, x_i),   x1 = x0 + h sum b_i k_i,

in the chart at the step's first point; k_0 = (v, a) is known there.
"""

from __future__ import annotations

import numpy as np

from madi.integrate.memory import DONE, StageMemory
from madi.integrate.step import derivative, end_step, start_step
from madi.kernel import Kernel, kernel, view1
from madi.kernel.fields import Reals, reals


def stages_of(A: np.ndarray, C: np.ndarray, b: np.ndarray) -> Kernel:
    """The kernel stages(m, t, h): all derivatives m.k, and m.x1 = x at the end, by the tableau."""
    stages = len(C)

    @kernel
    def step(m: StageMemory, t, h):
        nv, n = m.model.nv, 2 * m.model.nv
        start_step(m)
        for c in range(nv):
            m.k[c], m.k[nv + c] = m.v[c], m.a[c]
        for i in range(1, stages):
            for j in range(n):
                total = 0.0
                for s in range(i):
                    total += A[i, s] * m.k[s * n + j]
                m.x[j] = m.x0[j] + h * total
            derivative(m, t + C[i] * h, m.x, view1(m.k, i * n, n))
        for j in range(n):
            total = 0.0
            for s in range(stages):
                total += b[s] * m.k[s * n + j]
            m.x1[j] = m.x0[j] + h * total

    return step


def step_of(stages: Kernel) -> Kernel:
    """The kernel of a whole step of fixed length."""

    @kernel
    def step(m: StageMemory, t, h):
        stages(m, t, h)
        end_step(m, t + h, m.x1)
        return DONE

    return step


# the classical method of fourth order: rk4.py, and the first steps of multi-step methods
CLASSICAL = stages_of(
    A=np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]]),
    C=np.array([0, 1 / 2, 1 / 2, 1]),
    b=np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
)


class ClassicalMemory(StageMemory):
    """Its four stages."""

    k: Reals = reals("4*2*nv")
