"""Exudyn: kinematic tree with the explicit RK44 solver; an evaluation factorises a dense mass matrix.

The kinematic tree has no free joint: it is made of three slides and three hinges about x, y and z with massless links
between them, which is singular when the pitch reaches 90 degrees.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

import numpy as np

from madi.bench.peers.base import STANDSTILL, Link, Peer, State, best
from madi.spatial.rotation import as_rotation, matrix_to_quaternion

# Exudyn reads this at import: its build without range checks and with AVX2 is the faster one
sys.exudynFast = True  # type: ignore[attr-defined]
with redirect_stdout(io.StringIO()):  # it announces itself on stdout, in the midst of --json
    exu: Any = import_module("exudyn")
items: Any = import_module("exudyn.itemInterface")
angles: Any = import_module("exudyn.rigidBodyUtilities")


def solved(solver: Any, mbs: Any, settings: Any) -> float:
    """Seconds of the solver's stepping loop, without its set-up."""
    ready = solver.InitializeSolver(mbs, settings)
    start = time.process_time()
    done = ready and solver.SolveSteps(mbs, settings)
    seconds = time.process_time() - start
    solver.FinalizeSolver(mbs, settings)
    if not done:
        raise RuntimeError(f"Exudyn did not finish: {solver.GetErrorString()}")
    return seconds


class Exudyn(Peer):
    """Accelerations come from its mass matrix and its right-hand side; times from its own stepping loop."""

    name = "Exudyn"

    def __init__(self, links: Sequence[Link], gravity: np.ndarray):
        super().__init__(links, gravity)
        joint, zero, eye, zeros = exu.JointType, np.zeros(3), np.eye(3), np.zeros(self.nv)
        first, rest = self.links[0], self.links[1:]
        parents = [link.parent + self.extra if link.parent >= 0 else -1 for link in rest]
        slides = [joint.PrismaticX, joint.PrismaticY, joint.PrismaticZ, joint.RevoluteX, joint.RevoluteY][: self.extra]
        self.mbs = exu.SystemContainer().AddSystem()
        node = self.mbs.AddNode(
            items.NodeGenericODE2(
                numberOfODE2Coordinates=self.nv, referenceCoordinates=zeros, initialCoordinates=zeros,
                initialCoordinates_t=zeros,
            )
        )  # fmt: skip
        self.tree = self.mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node, gravity=self.gravity, jointTypes=slides + [joint.RevoluteZ] * len(self.links),
                linkParents=[*range(-1, self.extra), *parents],
                # the joint frame of a free link belongs to the first slide
                jointTransformations=exu.Matrix3DList([first.C] + [eye] * self.extra + [link.C for link in rest]),
                jointOffsets=exu.Vector3DList([first.d] + [zero] * self.extra + [link.d for link in rest]),
                linkInertiasCOM=exu.Matrix3DList([0 * eye] * self.extra + [link.J for link in self.links]),
                linkCOMs=exu.Vector3DList([zero] * self.extra + [link.com for link in self.links]),
                linkMasses=[0.0] * self.extra + [link.mass for link in self.links], jointForceVector=zeros,
                jointPControlVector=self.stiffness, jointDControlVector=self.damping,
                jointPositionOffsetVector=zeros, jointVelocityOffsetVector=zeros,
            )
        )  # fmt: skip
        self.mbs.Assemble()
        self.settings = exu.SimulationSettings()
        self.settings.solution.file.write = self.settings.solution.sensors.active = False
        self.settings.linearSolver.solverType = exu.LinearSolverType.EigenDense  # the fastest of its solvers here
        stepping = self.settings.timeIntegration
        stepping.solverType = exu.DynamicSolverType.RK44
        stepping.adaptiveStep = stepping.automaticStepSize = False
        stepping.minimumStepSize = 1e-3 * STANDSTILL
        # both cost time for nothing: there is no Lie group node, and nobody asks for that acceleration
        stepping.explicit.useLieGroupIntegration = stepping.explicit.computeEndOfStepAccelerations = False

    def enter(self, q: np.ndarray, v: np.ndarray) -> State:
        """Angles about x, y, z for the base's quaternion."""
        q, T, b = np.array(q), np.eye(self.nv), np.zeros(self.nv)
        if self.free:
            R = as_rotation(q[3:7], "base")
            turned = angles.RotationMatrix2RotXYZ(R)
            inverse = np.linalg.inv(angles.RotXYZ2GLocal(turned))
            rates = inverse @ v[3:6]
            T[:3, :3], b[:3] = R, R @ np.cross(v[3:6], v[:3])
            T[3:6, 3:6], b[3:6] = inverse, -inverse @ angles.RotXYZ2GLocal_t(turned, rates) @ rates
            q = np.concatenate([q[:3], turned, q[7:]])
        return State(q, T @ v, T, b)

    def leave(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """And back."""
        if self.free:
            R = angles.RotXYZ2RotationMatrix(q[3:6])
            v = np.concatenate([R.T @ v[:3], angles.RotXYZ2GLocal(q[3:6]) @ v[3:6], v[6:]])
            q = np.concatenate([q[:3], matrix_to_quaternion(R), q[6:]])
        return q, v

    def run(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, steps: int, h: float
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The time is that of the stepping loop, without the solver's set-up."""
        self._set(q, v, tau, exu.ConfigurationType.Initial)
        self.settings.timeIntegration.numberOfSteps = steps
        self.settings.timeIntegration.endTime = steps * h
        seconds, end = solved(exu.MainSolverExplicit(), self.mbs, self.settings), self.mbs.systemData
        return seconds, np.array(end.GetODE2Coordinates()), np.array(end.GetODE2Coordinates_t())

    def time_implicit(self, q: np.ndarray, v: np.ndarray, steps: int, h: float) -> float:
        """The trapezoidal rule, Newton to convergence with a matrix in every step."""
        s, stepping = self.enter(q, v), self.settings.timeIntegration
        stepping.numberOfSteps, stepping.endTime = steps, steps * h
        stepping.generalizedAlpha.spectralRadius = 1.0
        stepping.newton.useModifiedNewton = stepping.newton.modifiedNewtonJacUpdatePerStep = True

        def run() -> float:
            self._set(s.q, s.v, np.zeros(self.nv), exu.ConfigurationType.Initial)
            return solved(exu.MainSolverImplicitSecondOrder(), self.mbs, self.settings)

        return best(run) / steps

    def _set(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, configuration: Any) -> None:
        self.mbs.systemData.SetODE2Coordinates(q, configuration)
        self.mbs.systemData.SetODE2Coordinates_t(v, configuration)
        self.mbs.SetObjectParameter(self.tree, "jointForceVector", tau)

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """No call gives it; M and the rest of the equation are those its solver uses."""
        return np.linalg.solve(self.mass(q), -self._rest(q, v, tau))

    def generalised_force(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """M a plus the rest."""
        return self.mass(q) @ a + self._rest(q, v, np.zeros(self.nv))

    def _rest(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        self._set(q, v, tau, exu.ConfigurationType.Current)
        return np.array(self.mbs.ComputeItem(self.tree, exu.ComputeItemType.ODE2LHS))

    def mass(self, q: np.ndarray) -> np.ndarray:
        """The tree's own matrix."""
        self._set(q, np.zeros(self.nv), np.zeros(self.nv), exu.ConfigurationType.Current)
        return np.array(self.mbs.ComputeItem(self.tree, exu.ComputeItemType.MassMatrix))
