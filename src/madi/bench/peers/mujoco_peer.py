"""MuJoCo: composite inertia, sparse factor, RNE; contacts, limits and sensors switched off.

Its evaluation is mj_forward, which is more than an acceleration: it also places inertial frames and centres of mass and
walks through empty constraint and actuator stages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import mujoco
import numpy as np

from madi.bench.peers.base import Link, Peer, State, best, seconds_per_call
from madi.spatial.rotation import as_rotation, matrix_to_quaternion

DIFFERENCE = 1e-6  # of its derivatives: the step its documentation takes


class MuJoCo(Peer):
    """A free joint is placed in the world; its velocity is in world axes, its angular velocity in body axes."""

    name = "MuJoCo"

    def __init__(self, links: Sequence[Link], gravity: np.ndarray):
        super().__init__(links, gravity)
        self.model = build(self.links, gravity)
        self.data = mujoco.MjData(self.model)
        self.tiny = build([Link("one", -1, False, np.eye(3), np.zeros(3), 1.0, np.zeros(3), np.eye(3))], gravity)
        self.tiny_data = mujoco.MjData(self.tiny)

    def enter(self, q: np.ndarray, v: np.ndarray) -> State:
        """World axes for the base's velocity: a_engine gains R (w x v)."""
        q, T, b = np.array(q), np.eye(self.nv), np.zeros(self.nv)
        if self.free:
            base = self.links[0]
            R = base.C @ as_rotation(q[3:7], "base")
            q[:3], q[3:7] = base.d + base.C @ q[:3], matrix_to_quaternion(R)
            T[:3, :3], b[:3] = R, R @ np.cross(v[3:6], v[:3])
        return State(q, T @ v, T, b)

    def leave(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """And back."""
        if self.free:
            base, R = self.links[0], as_rotation(q[3:7], "base")
            q[:3], q[3:7] = base.C.T @ (q[:3] - base.d), matrix_to_quaternion(base.C.T @ R)
            v[:3] = R.T @ v[:3]
        return q, v

    def _calls_alone(self, function: Any, n: int) -> float:
        whole = seconds_per_call(lambda: function(self.model, self.data), n)
        return whole - seconds_per_call(lambda: function(self.tiny, self.tiny_data), n)

    def time_inverse(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """mj_inverse, less its time on one body."""
        s = self.enter(q, v)
        self._set(s.q, s.v, np.zeros(self.nv))
        return self._calls_alone(mujoco.mj_inverse, n)

    def time_derivatives(self, q: np.ndarray, v: np.ndarray, n: int) -> float:
        """mjd_transitionFD: of a step by q and v, forward differences; less its time on one body."""
        s = self.enter(q, v)
        self._set(s.q, s.v, np.zeros(self.nv))
        with self._implicit():
            whole, calling = (
                seconds_per_call(partial(mujoco.mjd_transitionFD, *own, DIFFERENCE, False, A, None, None, None), n)
                for own, A in (((model, data), np.empty((2 * model.nv, 2 * model.nv))) for model, data in self._both)
            )
        return whole - calling

    def time_implicit(self, q: np.ndarray, v: np.ndarray, steps: int, h: float) -> float:
        """Its integrator "implicit": forces linearised by v, one solution a step."""
        s = self.enter(q, v)
        with self._implicit():
            return best(lambda: self.run(s.q, s.v, np.zeros(self.nv), steps, h)[0]) / steps

    @property
    def _both(self) -> tuple[tuple[Any, Any], ...]:
        return (self.model, self.data), (self.tiny, self.tiny_data)

    @contextmanager
    def _implicit(self) -> Iterator[None]:
        """With that integrator (of RK4 it has no derivatives)."""
        before = self.model.opt.integrator
        for model, _ in self._both:
            model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICIT
        yield
        for model, _ in self._both:
            model.opt.integrator = before

    def time_mass(self, q: np.ndarray, n: int) -> float:
        """Kinematics, inertias about the trees' centres, composite inertias; each less its time on one body."""
        s = self.enter(q, np.zeros(self.nv))
        self._set(s.q, s.v, np.zeros(self.nv))
        parts = (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM)
        return sum(self._calls_alone(part, n) for part in parts)

    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int, h: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """All steps in one call."""
        self._set(q, v, tau)
        self.model.opt.timestep = h
        start = time.process_time()
        mujoco.mj_step(self.model, self.data, steps)
        return time.process_time() - start, self.data.qpos.copy(), self.data.qvel.copy()

    def _set(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = q, v, tau

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """mj_forward."""
        self._set(q, v, tau)
        mujoco.mj_forward(self.model, self.data)
        return np.array(self.data.qacc)

    def generalised_force(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """mj_inverse."""
        self._set(q, v, np.zeros(self.nv))
        self.data.qacc[:] = a
        mujoco.mj_inverse(self.model, self.data)
        return np.array(self.data.qfrc_inverse)

    def mass(self, q: np.ndarray) -> np.ndarray:
        """The full matrix from its sparse form."""
        M = np.empty((self.nv, self.nv))
        self._set(q, np.zeros(self.nv), np.zeros(self.nv))
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fullM(self.model, self.data, M)
        return M


def build(links: Sequence[Link], gravity: np.ndarray) -> Any:
    """The compiled model."""
    spec, off = mujoco.MjSpec(), mujoco.mjtDisableBit
    spec.option.gravity = gravity
    # RK4 takes joint damping as a force; the other integrators would take it implicitly
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.disableflags = int(
        off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_ACTUATION | off.mjDSBL_SENSOR
        | off.mjDSBL_AUTORESET  # a run that blows up must not start again in silence
    )  # fmt: skip
    bodies: list[Any] = []
    for link in links:
        # MuJoCo keeps an inertia by its principal axes
        moments, axes = np.linalg.eigh(link.J)
        axes[:, 2] *= np.linalg.det(axes)
        body = (bodies[link.parent] if link.parent >= 0 else spec.worldbody).add_body(
            name=link.name, pos=link.d, quat=matrix_to_quaternion(link.C), mass=link.mass, ipos=link.com,
            inertia=moments, iquat=matrix_to_quaternion(axes), explicitinertial=True,
        )  # fmt: skip
        if link.free:
            body.add_freejoint()
        else:  # stiffness and damping are polynomials in newer versions: the linear coefficient first
            body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1], **_linear(link.stiffness, link.damping))
        bodies.append(body)
    return spec.compile()


def _linear(stiffness: float, damping: float) -> dict[str, Any]:
    if int(mujoco.__version__.split(".")[0]) >= 4:
        return {"stiffness": [stiffness, 0, 0], "damping": [damping, 0, 0]}
    return {"stiffness": stiffness, "damping": damping}
