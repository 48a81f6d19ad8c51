"""What every peer offers, in madi's conventions.

A revolute joint has one coordinate, its angle about z of the joint frame; a free link has q = (x, y, z, quaternion
w x y z) in its joint frame and v = (velocity, angular velocity) in its own axes; joint springs and dampers belong to the
model. A peer works in its engine's coordinates, with v_engine = T v and a_engine = T a + b.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.forces.joint_spring import KIND as JOINT_SPRING
from madi.system import System

# A step so short that the state stands still: an engine's stepping loop becomes a loop of evaluations at one state.
STANDSTILL = 1e-9


@dataclass(frozen=True)
class Link:
    """A body and the joint that carries it; the link's frame is the joint frame at q = 0."""

    name: str
    parent: int  # -1: the ground
    free: bool  # else revolute
    C: np.ndarray
    d: np.ndarray
    mass: float
    com: np.ndarray
    J: np.ndarray
    stiffness: float = 0.0
    damping: float = 0.0


def links_of(system: System) -> tuple[list[Link], np.ndarray]:
    """The links of a system (depth first, as the engines want them) and gravity."""
    model = system.layout.arrays
    springs = {}
    for e in range(int(model.ne)):
        at = int(model.force_at[e])
        if model.force_kind[e] != JOINT_SPRING.code or model.parameter[at + 2] != 0:
            raise InputError("peers are built from trees with joint springs at rest angle 0 only")
        springs[int(model.force_a[e])] = (float(model.parameter[at]), float(model.parameter[at + 1]))
    links = []
    for i, joint in enumerate(system.frozen.joints, start=1):
        if joint.kind not in ("revolute", "free") or (joint.kind == "free" and i > 1):
            raise InputError("peers are built from trees of revolute joints, the first joint free or not")
        j = model.J[i]
        stiffness, damping = springs.get(int(model.v_at[i]), (0.0, 0.0))
        links.append(
            Link(
                system.bodies[i - 1], int(model.parent[i]) - 1, joint.kind == "free", model.C[i].copy(), model.d[i].copy(),
                float(model.mass[i]), model.com[i].copy(),
                np.array([[j[0], j[1], j[2]], [j[1], j[3], j[4]], [j[2], j[4], j[5]]]), stiffness, damping,
            )
        )  # fmt: skip
    return links, model.gravity.copy()


@dataclass
class State:
    """A state in an engine's own coordinates."""

    q: np.ndarray
    v: np.ndarray
    T: np.ndarray
    b: np.ndarray

    def force(self, tau: np.ndarray) -> np.ndarray:
        """Generalised forces in the engine's coordinates: the same power."""
        return np.linalg.solve(self.T.T, tau)


def best(run: Callable[[], float], rounds: int = 5) -> float:
    """Shortest of a few timed runs: the least disturbed by the rest of the machine."""
    return min(run() for _ in range(rounds))


def seconds_per_call(call: Callable[[], Any], n: int) -> float:
    """Time of one call from Python, the calling included."""

    def run() -> float:
        start = time.process_time()
        for _ in range(n):
            call()
        return time.process_time() - start

    return best(run) / n


class Peer(ABC):
    """An engine built from links."""

    name = ""

    def __init__(self, links: Sequence[Link], gravity: np.ndarray):
        self.links, self.gravity = list(links), gravity
        self.free = self.links[0].free
        self.extra = 5 if self.free else 0  # coordinates of a free link beyond one
        self.nv = len(self.links) + self.extra
        self.stiffness = np.array([0.0] * self.extra + [link.stiffness for link in self.links])
        self.damping = np.array([0.0] * self.extra + [link.damping for link in self.links])

    def forward_dynamics(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations."""
        s = self.enter(q, v)
        return np.linalg.solve(s.T, self.acceleration(s.q, s.v, s.force(tau)) - s.b)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Generalised forces for accelerations a."""
        s = self.enter(q, v)
        return s.T.T @ self.generalised_force(s.q, s.v, s.T @ a + s.b)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M, full."""
        s = self.enter(q, np.zeros(self.nv))
        return s.T.T @ self.mass(s.q) @ s.T

    def run_rk4(self, q: np.ndarray, v: np.ndarray, duration: float, step: float) -> tuple[float, np.ndarray, np.ndarray]:
        """Seconds, final q and v of a fixed-step RK4 run, the fastest way the engine offers."""
        s = self.enter(q, v)
        seconds, end_q, end_v = self.run(s.q, s.v, np.zeros(self.nv), round(duration / step), step)
        return seconds, *self.leave(end_q, end_v)

    def time_forward(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """Seconds per forward dynamics without the cost of calling from Python: here, RK4 steps in the engine's loop."""
        s = self.enter(q, v)
        steps = max(n // 4, 1)
        return best(lambda: self.run(s.q, s.v, np.zeros(self.nv), steps, STANDSTILL)[0]) / (4 * steps)

    def time_inverse(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """Seconds per inverse dynamics, calling removed; NaN where the engine has none."""
        return float("nan")

    def time_derivatives(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """Seconds for all derivatives of the equations at a state, calling removed; NaN where the engine has none."""
        return float("nan")

    def time_implicit(self, q: np.ndarray, v: np.ndarray, steps: int, h: float) -> float:
        """Seconds per step of the engine's implicit method; NaN where it has none."""
        return float("nan")

    def time_mass(self, q: np.ndarray, n: int) -> float:
        """Seconds per mass matrix, calling removed; NaN where the engine has none."""
        return float("nan")

    @abstractmethod
    def enter(self, q: np.ndarray, v: np.ndarray) -> State:
        """madi's state in the engine's coordinates."""

    @abstractmethod
    def leave(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The engine's state in madi's coordinates."""

    @abstractmethod
    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int, h: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """RK4 in the engine's coordinates."""

    @abstractmethod
    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """In the engine's coordinates."""

    @abstractmethod
    def generalised_force(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """In the engine's coordinates."""

    @abstractmethod
    def mass(self, q: np.ndarray) -> np.ndarray:
        """In the engine's coordinates."""
