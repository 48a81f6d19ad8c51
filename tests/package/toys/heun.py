"""Heun's method of second order, fixed step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from madi.integrate.march import fixed_steps
from madi.integrate.memory import StageMemory
from madi.integrate.method import Method
from madi.integrate.runge_kutta import stages_of, step_of
from madi.kernel.fields import Reals, reals


class HeunMemory(StageMemory):
    """Its two stages."""

    k: Reals = reals("2*2*nv")


@dataclass(frozen=True)
class Heun(Method):
    """Heun's method: two evaluations a step, fixed step."""

    name = "heun"
    order = 2
    fixed = fixed_steps(
        "heun", HeunMemory, step_of(stages_of(np.array([[0, 0], [1, 0]]), np.array([0, 1]), np.array([0.5, 0.5])))
    )
