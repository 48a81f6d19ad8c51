"""Explicit Newmark (beta = 0, gamma = 1/2): one evaluation a step (P4's fastest method).

    q1 = q moved by h v + h^2/2 a,    a1 = a(q1, w),    v1 = v + h/2 (a + a1).

Forces that depend on speed see a predicted one, w; so a1 is kept for the next step and not evaluated again. With loops the
end of the step is closed, which gives its acceleration too. Two predictors, on x'' + 2 D w0 x' + w0^2 x = 0:

    newmark-explicit        w = v + h/2 a: the usual one, central differences that see speeds half a step late. Of second
                            order where neither forces nor inertia depend on speed, else of first;
                            stable to h w0 = 2 (sqrt(1 + D^2) - D)
    newmark-explicit-full   w = v + h a: always of second order; stable to h w0 = 2 (sqrt(1 + 4 D^2) - 2 D), which is
                            half of the other where damping decides
"""

from __future__ import annotations

from dataclasses import dataclass

from madi.integrate.march import fixed_steps
from madi.integrate.memory import DONE, Memory
from madi.integrate.method import Method
from madi.integrate.step import accelerations, close_and_accelerate
from madi.joints.chart import exponential
from madi.kernel import Kernel, kernel, present
from madi.kernel.fields import Reals, reals


class ExplicitMemory(Memory):
    """The displacement of a step, and the speeds that forces see."""

    theta: Reals = reals("nv")
    ahead: Reals = reals("nv")


def step_by(predictor: float) -> Kernel:
    """The step with w = v + predictor h a."""

    @kernel
    def step(m: ExplicitMemory, t, h):
        nv = m.model.nv
        for c in range(nv):
            m.theta[c] = h * m.v[c] + 0.5 * h * h * m.a[c]
            m.ahead[c] = m.v[c] + predictor * h * m.a[c]
        exponential(m.model, m.q, m.theta, m.q1)
        accelerations(m, t + h, m.q1, m.ahead, m.a1)
        for c in range(nv):
            m.v1[c] = m.v[c] + 0.5 * h * (m.a[c] + m.a1[c])
        if present(m.close):
            close_and_accelerate(m, t + h)
        return DONE

    return step


@dataclass(frozen=True)
class ExplicitNewmark(Method):
    """Explicit Newmark: one evaluation a step, fixed step; forces see the speed half a step late."""

    name = "newmark-explicit"
    order = 1
    stable, exported = 2.0, True
    fixed = fixed_steps("newmark-explicit", ExplicitMemory, step_by(0.5))


@dataclass(frozen=True)
class ExplicitNewmarkFull(Method):
    """Explicit Newmark of second order whatever the forces: they see the speed predicted for the end of the step."""

    name = "newmark-explicit-full"
    order = 2
    stable, exported = 1.0, True
    fixed = fixed_steps("newmark-explicit-full", ExplicitMemory, step_by(1.0))
