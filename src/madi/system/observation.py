"""What a System answers with: rows of the `observe` entry by name, joint loads, the system Jacobian."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

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
    driving: dict[str, Any]
    unique: bool  # all six components are determined by the mechanics of rigid bodies
    determined: np.ndarray  # each of them: force x, y, z, moment x, y, z


class Observation:
    """Rows of the `observe` entry, one per instant, as named arrays: bodies in the frames the user gave them."""

    def __init__(self, system: System, rows: np.ndarray, body_r: np.ndarray | None = None):
        """`body_r`: the bodies' frames in the internal ones, where they differ from row to row (parameters moved them)."""
        frozen, sizes = system.frozen, with_bodies(system.layout.sizes)
        seen = OBSERVED.views(rows, sizes)
        self.q, self.v, self.a, self.force, self.momentum = seen.q, seen.v, seen.a, seen.force, seen.momentum
        self.kinetic, self.potential, self.power, self.dissipated = seen.kinetic, seen.potential, seen.power, seen.dissipated
        self.touch = seen.touch
        body = BODY.views(seen.body, sizes)
        self._R = body.R[..., 0, :, :]
        parts = (getattr(body, name)[..., 0, :] for name in BODY.named if name != "R")
        self._r, self._velocity, self.angular_velocity, self._acceleration, self.angular_acceleration = parts
        self._body_r, self._body_R = frozen.body_r if body_r is None else body_r, frozen.body_R

    @cached_property
    @np.errstate(all="ignore")  # a run that blew up has numbers whose squares do not fit
    def rotation(self) -> np.ndarray:
        """From a body's axes to the ground's."""
        if np.array_equal(self._body_R, np.broadcast_to(np.eye(3), self._body_R.shape)):
            return np.array(self._R)
        return np.einsum("...nij,njk->...nik", self._R, self._body_R)

    @cached_property
    @np.errstate(all="ignore")
    def _lever(self) -> np.ndarray:
        R, r = self._R, self._body_r
        return np.asarray(R[..., 0] * r[..., 0, None] + R[..., 1] * r[..., 1, None] + R[..., 2] * r[..., 2, None])

    @cached_property
    @np.errstate(all="ignore")
    def _turning(self) -> np.ndarray:
        return _cross(self.angular_velocity, self._lever)

    @cached_property
    @np.errstate(all="ignore")
    def position(self) -> np.ndarray:
        """Of the frames' origins."""
        return np.asarray(self._r + self._lever)

    @cached_property
    @np.errstate(all="ignore")
    def velocity(self) -> np.ndarray:
        """Of the frames' origins."""
        return np.asarray(self._velocity + self._turning)

    @cached_property
    @np.errstate(all="ignore")
    def acceleration(self) -> np.ndarray:
        """Of the frames' origins."""
        spun = self._acceleration + _cross(self.angular_acceleration, self._lever)
        return np.asarray(spun + _cross(self.angular_velocity, self._turning))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b along the last axis; NumPy's own takes three times as long on rows that are so short."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        np.subtract(a[..., i] * b[..., j], a[..., j] * b[..., i], out=out[..., k])
    return out
