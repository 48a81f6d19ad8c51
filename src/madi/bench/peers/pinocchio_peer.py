"""Pinocchio: articulated body algorithm; the integrator is a Python loop, the package has none."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from madi.bench.peers.base import Link, Peer, State, seconds_per_call

WORLD = pin.Convention.WORLD  # the faster form of aba on all but the smallest trees


class Pinocchio(Peer):
    """Springs and dampers, which Pinocchio leaves to its user, are outside its timed evaluation."""

    name = "Pinocchio"

    def __init__(self, links: Sequence[Link], gravity: np.ndarray):
        super().__init__(links, gravity)
        self.model = pin.Model()
        self.model.gravity.linear = gravity
        for link in self.links:
            joint = pin.JointModelFreeFlyer() if link.free else pin.JointModelRZ()
            i = self.model.addJoint(link.parent + 1, joint, pin.SE3(link.C, link.d), link.name)
            self.model.appendBodyToJoint(i, pin.Inertia(link.mass, link.com, link.J), pin.SE3.Identity())
        self.data = self.model.createData()
        self.passive = bool(self.stiffness.any() or self.damping.any())
        # a model of one joint: what calling a function costs
        self.tiny = pin.Model()
        self.tiny.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "one")
        self.tiny.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
        self.tiny_data = self.tiny.createData()

    def enter(self, q: np.ndarray, v: np.ndarray) -> State:
        """Pinocchio's quaternion is x y z w."""
        q = np.array(q)
        if self.free:
            q[3:7] = q[[4, 5, 6, 3]]
        return State(q, np.array(v), np.eye(self.nv), np.zeros(self.nv))

    def leave(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """And back."""
        if self.free:
            q[3:7] = q[[6, 3, 4, 5]]
        return q, v

    def _calls_alone(self, function: Any, arguments: tuple[Any, ...], n: int) -> float:
        zero = np.zeros(1)
        tiny = tuple(zero if isinstance(a, np.ndarray) else a for a in arguments)
        whole = seconds_per_call(lambda: function(self.model, self.data, *arguments), n)
        return whole - seconds_per_call(lambda: function(self.tiny, self.tiny_data, *tiny), n)

    def time_forward(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """aba, less its time on one joint."""
        s = self.enter(q, v)
        return self._calls_alone(pin.aba, (s.q, s.v, np.zeros(self.nv), WORLD), n)

    def time_inverse(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """rnea, less its time on one joint."""
        s = self.enter(q, v)
        return self._calls_alone(pin.rnea, (s.q, s.v, np.zeros(self.nv)), n)

    def time_derivatives(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """computeRNEADerivatives by q, v and a (its matrices are handed out as they are), less its time on one joint."""
        s = self.enter(q, v)
        return self._calls_alone(pin.computeRNEADerivatives, (s.q, s.v, np.zeros(self.nv)), n)

    def time_mass(self, q: np.ndarray, n: int) -> float:
        """crba, less its time on one joint."""
        return self._calls_alone(pin.crba, (self.enter(q, np.zeros(self.nv)).q,), n)

    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int, h: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """pin.integrate alone is of second order when a free base turns: Munthe-Kaas' brackets make it fourth."""
        model, integrate, acceleration, bracket = self.model, pin.integrate, self.acceleration, self._bracket
        start = time.process_time()
        for _ in range(steps):
            a1 = acceleration(q, v, tau)
            v2 = v + 0.5 * h * a1
            a2 = acceleration(integrate(model, q, 0.5 * h * v), v2, tau)
            v3 = v + 0.5 * h * a2
            a3 = acceleration(integrate(model, q, 0.5 * h * (v2 + 0.25 * h * bracket(v, v2))), v3, tau)
            v4 = v + h * a3
            a4 = acceleration(integrate(model, q, h * v3), v4, tau)
            q = integrate(model, q, h / 6 * (v + 2 * (v2 + v3) + v4 + 0.5 * h * bracket(v, v4)))
            v = v + h / 6 * (a1 + 2 * (a2 + a3) + a4)
        return time.process_time() - start, q, v

    def _bracket(self, x: np.ndarray, y: np.ndarray) -> Any:
        """Lie bracket of two velocities: hinges turn about fixed axes, so only a free base has one."""
        if not self.free:
            return 0.0
        z = np.zeros(self.nv)
        z[:6] = pin.Motion(x[:6]).cross(pin.Motion(y[:6])).vector
        return z

    def _springs(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        # a free base has no stiffness: what of q stands in its places does not matter
        return self.stiffness * q[-self.nv :] + self.damping * v

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Articulated body algorithm."""
        if self.passive:
            tau = tau - self._springs(q, v)
        return pin.aba(self.model, self.data, q, v, tau, WORLD)

    def generalised_force(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Recursive Newton-Euler."""
        return pin.rnea(self.model, self.data, q, v, a) + self._springs(q, v)

    def mass(self, q: np.ndarray) -> np.ndarray:
        """crba fills the upper triangle for sure."""
        M = np.triu(pin.crba(self.model, self.data, q))
        return M + np.triu(M, 1).T
