"""The classical Runge-Kutta method of fourth order, fixed step."""

from __future__ import annotations

from dataclasses import dataclass

from madi.integrate.march import fixed_steps
from madi.integrate.method import Method
from madi.integrate.runge_kutta import CLASSICAL, ClassicalMemory, step_of


@dataclass(frozen=True)
class RK4(Method):
    """The classical Runge-Kutta method: four evaluations a step, fixed step."""

    name = "rk4"
    order = 4
    stable, exported = 2.78, True
    fixed = fixed_steps("rk4", ClassicalMemory, step_of(CLASSICAL))
