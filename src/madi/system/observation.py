"""What a System answers with: rows of the `observe` entry by name, joint loads, the system Jacobian."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from madi.equations.observe import BODY, OBSERVED
from madi.equations.row import with_bodies

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
        frozen, sizes = system.frozen, with_bodies(system.layout.sizes)
        seen = OBSERVED.views(rows, sizes)
        self.q, self.v, self.a, self.force, self.momentum = seen.q, seen.v, seen.a, seen.force, seen.momentum
        self.kinetic, self.potential, self.power, self.dissipated = seen.kinetic, seen.potential, seen.power, seen.dissipated
        body = BODY.views(seen.body, sizes)
        R, r, velocity, w, acceleration, e = (getattr(body, name)[:, :, 0] for name in BODY.named)
        lever = np.einsum("tnij,nj->tni", R, frozen.body_r)
        turning = np.cross(w, lever)
        self.angular_velocity, self.angular_acceleration = w, e
        self.position, self.velocity = r + lever, velocity + turning
        self.acceleration = acceleration + np.cross(e, lever) + np.cross(w, turning)
        self.rotation = np.einsum("tnij,njk->tnik", R, frozen.body_R)
