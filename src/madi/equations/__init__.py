"""What can be asked of an engine: the entry kernels, all with one signature, their numbers by name.

    entry(model, work, t, q, v, x, out)

`x` is what the entry needs beside the state (generalised forces, or accelerations), `out` what it gives. A new entry is a
kernel and a line of `ENTRIES`.
"""

from __future__ import annotations

from dataclasses import dataclass

from madi.equations.accelerations import (
    close_loops,
    close_null_space,
    forward_articulated,
    forward_loops,
    forward_loops_velocity_transform,
    forward_recursive,
    forward_velocity_transform,
    meet_drives,
    multipliers,
)
from madi.equations.articulated_slopes import articulated_slopes
from madi.equations.impulses import impulses
from madi.equations.loads import loads, loads_newton_euler
from madi.equations.modes import keep, switch, watch
from madi.equations.observe import OBSERVED, POSES, STATE, body_pose, observe, point_jacobian, poses, state
from madi.equations.residual import BALANCE, GAPS, TERMS, TRIAL, constraints, gaps, inverse_dynamics, mass_matrix, residual
from madi.equations.row import Row, with_bodies
from madi.equations.slopes import slopes
from madi.equations.tires import tires
from madi.kernel import Kernel

A, TAU = Row(a="nv", held="n_held"), Row(tau="nv", held="n_held")  # accelerations; generalised forces; held values


ACCELERATIONS, FORCES = Row(a="nv"), Row(tau="nv")


@dataclass(frozen=True)
class Entry:
    """An entry kernel, what it is given (beside a request, where it takes one: loads, a point) and what it gives; None: as
    long as the caller says."""

    function: Kernel
    gives: Row | None = ACCELERATIONS
    takes: Row = TAU
    traced: bool = True

    @property
    def called(self) -> str:
        """What users call x."""
        return next(iter(self.takes.named), "x")

    def out(self, sizes: dict[str, int]) -> int:
        """Length of out for a layout of these sizes."""
        return 0 if self.gives is None else self.gives.length(with_bodies(sizes))

    def given(self, sizes: dict[str, int]) -> int:
        """Length of x."""
        return self.takes.length(with_bodies(sizes))


FORMULATIONS = ("recursive", "articulated", "velocity-transform")
ENTRIES: dict[str, Entry] = {
    "recursive": Entry(forward_recursive),
    "articulated": Entry(forward_articulated),
    "velocity-transform": Entry(forward_velocity_transform),
    "loops": Entry(forward_loops),
    "loops-velocity-transform": Entry(forward_loops_velocity_transform),
    "multipliers": Entry(multipliers, Row(a="nv", lam="nr")),
    "close": Entry(close_loops, traced=False),
    "meet-drives": Entry(meet_drives, traced=False),
    "close-null-space": Entry(close_null_space, traced=False),
    "impulses": Entry(impulses, Row(numbers="3", apart="nv"), traced=False),
    "keep": Entry(keep, Row(broke="1"), traced=False),
    "watch": Entry(watch, Row(margin="n_held", sides="n_held"), traced=False),
    "switch": Entry(switch, Row(margin="n_held"), traced=False),
    "constraints": Entry(constraints, TERMS),
    "gaps": Entry(gaps, GAPS),
    "inverse": Entry(inverse_dynamics, FORCES, A),
    "residual": Entry(residual, BALANCE, TRIAL),
    "slopes": Entry(slopes, None, TRIAL, traced=False),
    "articulated-slopes": Entry(articulated_slopes, None, TRIAL, traced=False),
    "mass-matrix": Entry(mass_matrix, Row(M="nv*nv")),
    "observe": Entry(observe, OBSERVED, A),
    "state": Entry(state, STATE, A),
    "poses": Entry(poses, POSES),
    "body-pose": Entry(body_pose, Row(position="3", rotation="9"), Row(frame="13")),
    "point-jacobian": Entry(point_jacobian, Row(velocity=("3*nv",), turning=("3*nv",)), Row(point="4")),
    "tires": Entry(tires, None, Row(), traced=False),
    "loads": Entry(loads, None, A),
    "loads-newton-euler": Entry(loads_newton_euler, None, A),
}
