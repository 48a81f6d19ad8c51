"""What a System answers with: rows of the `observe` entry by name, joint loads, the system Jacobian."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from madi.system import System


class SystemJacobian(NamedTuple):
    """dR/dqdd (the mass matrix), dR/dqd, dR/dq, Phi_q; `exact`: from the trace, not by differences."""

    by_qdd: np.ndarray
    by_qd: np.ndarray
    by_q: np.ndarray
    constraints: np.ndarray
    exact: bool


class Reaction(NamedTuple):
    """Load of a joint on its child: N and N m; `driving`: generalised force along each of its coordinates (B^T R)."""

    force: np.ndarray
    moment: np.ndarray
    driving: dict[str, float]
    unique: bool  # all six components are determined by the mechanics of rigid bodies
    determined: np.ndarray  # each of them: force x, y, z, moment x, y, z


class Observation:
    """Rows of the `observe` entry, one per instant, as named arrays: bodies in the frames the user gave them."""

    def __init__(self, system: System, rows: np.ndarray):
        with np.errstate(all="ignore"):  # a run that blew up has numbers whose squares do not fit
            self._take(system, rows)

    def _take(self, system: System, rows: np.ndarray) -> None:
        frozen, nq, nv = system.frozen, system.nq, system.nv
        n, ne = len(frozen.bodies), len(system.forces)
        at = nq + 2 * nv
        self.q, self.v, self.a = rows[:, :nq], rows[:, nq : nq + nv], rows[:, nq + nv : at]
        self.kinetic, self.potential, self.power, self.dissipated = rows[:, at : at + 4].T
        self.momentum = rows[:, at + 4 : at + 10]
        self.force = rows[:, at + 10 : at + 10 + 4 * ne].reshape(len(rows), ne, 4)
        parts = rows[:, at + 10 + 4 * ne :].reshape(len(rows), n, 24)
        R = parts[..., :9].reshape(len(rows), n, 3, 3)
        lever = np.einsum("tnij,nj->tni", R, frozen.body_r)
        self.angular_velocity = parts[..., 15:18]
        self.position = parts[..., 9:12] + lever
        self.angular_acceleration = parts[..., 21:24]
        turning = np.cross(self.angular_velocity, lever)
        self.velocity = parts[..., 12:15] + turning
        self.acceleration = (
            parts[..., 18:21] + np.cross(self.angular_acceleration, lever) + np.cross(self.angular_velocity, turning)
        )
        self.rotation = np.einsum("tnij,njk->tnik", R, frozen.body_R)
