"""Peers on mechanisms with closed loops: Exudyn in absolute coordinates, MuJoCo as a tree with soft loop constraints.

Both are set as measured best on these mechanisms, not as they come. Exudyn takes index-2 constraints only with Newmark's
parameters (the trapezoidal rule): 2 to 7 times as accurate as index 3 at the same cost, but it stops at the singular
positions of the four-bars, which therefore run with index 3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from madi.bench.peers.exudyn_peer import exu, items, solved
from madi.model.elements import Body
from madi.model.model import Model
from madi.papers import rssr
from madi.spatial.rotation import frame_with_z, matrix_to_quaternion
from madi.verify import andrews, four_bars

Point = Sequence[float] | np.ndarray

ROD = 1 / 12  # of the four-bars' rods about their centres, kg m^2
SLIM = 1e-4  # the same about their length: it plays no part in the plane, but MuJoCo wants one
MUJOCO_SPARSE = 15  # windows: from here on its sparse Jacobian is the faster one
EXUDYN_SPARSE = 60  # coordinates and multipliers: from here on its sparse solver is the faster one


@dataclass
class PeerRun:
    """One timed run; `seconds` is the stepping loop alone."""

    name: str
    seconds: float
    result: np.ndarray
    energy_drift: float


class _Plane:
    """An Exudyn system of 2D bodies with nodes in the centres of mass, which keeps the mass matrix constant."""

    def __init__(self) -> None:
        self.mbs = exu.SystemContainer().AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.places = {self.ground: np.zeros(3)}
        self.nodes: dict[int, int] = {}

    def body(self, mass: float, inertia: float, at: Point, turn: float = 0.0, velocity: Point = (0, 0, 0)) -> int:
        """Its centre of mass `at`; `velocity` (x, y, turn) is in world axes."""
        place = np.array([at[0], at[1], turn])
        node = self.mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=velocity))
        body = self.mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        self.places[body], self.nodes[body] = place, node
        return body

    def marker(self, body: int, at: Point) -> int:
        """A point of the body, given by where it is in the world at the start."""
        x, y, turn = self.places[body]
        local = _turned(-turn, (at[0] - x, at[1] - y))
        return self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[*local, 0.0]))

    def revolute(self, a: int, b: int, at: Point) -> None:
        """Two constraint equations."""
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[self.marker(a, at), self.marker(b, at)]))

    def coordinates(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (x, y, turn) and their rates in the order of the bodies; Exudyn counts from the reference place."""
        data, start = self.mbs.systemData, np.array([self.places[body] for body in self.nodes])
        moved, v = np.array(data.GetODE2Coordinates()), np.array(data.GetODE2Coordinates_t())
        return start + moved.reshape(-1, 3), v.reshape(-1, 3)


def _turned(angle: float, point: Point) -> np.ndarray:
    """Between world and body axes in the plane."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def _solve(mbs: Any, duration: float, step: float, index: int) -> float:
    """Seconds of the stepping loop: generalized-alpha with what made it fastest here at the same result."""
    mbs.Assemble()
    settings, solvers = exu.SimulationSettings(), exu.LinearSolverType
    settings.solution.file.write = settings.solution.sensors.active = False
    size = mbs.systemData.ODE2Size() + mbs.systemData.AEsize()
    settings.linearSolver.solverType = solvers.EigenSparse if size >= EXUDYN_SPARSE else solvers.EigenDense
    settings.linearSolver.reuseAnalyzedPattern = True
    stepping = settings.timeIntegration
    stepping.solverType = exu.DynamicSolverType.GeneralizedAlpha
    stepping.generalizedAlpha.spectralRadius = 0.9  # its default: 1 lets the multipliers oscillate, less is less accurate
    stepping.generalizedAlpha.useNewmark = stepping.generalizedAlpha.useIndex2Constraints = index == 2
    # a fresh Jacobian in each step needs two iterations; keeping it over many steps needs six
    stepping.newton.useModifiedNewton = stepping.newton.modifiedNewtonJacUpdatePerStep = True
    if index == 3:
        # its default of 1e-8 gains no digit on the four-bars and fails to converge at some of their singular positions
        stepping.newton.relativeTolerance, stepping.newton.absoluteTolerance = 1e-6, 1e-8
    stepping.verboseMode = 0
    stepping.endTime, stepping.numberOfSteps = duration, round(duration / step)
    stepping.minimumStepSize = min(1e-8, 1e-3 * step)
    return solved(exu.MainSolverImplicitSecondOrder(), mbs, settings)


def _four_bars_energy(centres: np.ndarray, velocities: np.ndarray) -> float:
    """From the rows (x, y, turn) of all rods, for both peers alike."""
    return float(np.sum(velocities**2 @ [0.5, 0.5, 0.5 * ROD]) + four_bars.GRAVITY * np.sum(centres[:, 1]))


def exudyn_four_bars(windows: int, duration: float, step: float) -> PeerRun:
    """2D bodies in absolute coordinates: 3 (2N + 1) of them under 2 (3N + 1) constraints."""
    plane = _Plane()
    rockers = [plane.body(1.0, ROD, (i, 0.5), velocity=(0.5, 0.0, -1.0)) for i in range(windows + 1)]
    couplers = [plane.body(1.0, ROD, (i + 0.5, 1.0), velocity=(1.0, 0.0, 0.0)) for i in range(windows)]
    for i, rocker in enumerate(rockers):
        plane.revolute(plane.ground, rocker, (i, 0.0))
    for i, coupler in enumerate(couplers):
        plane.revolute(rockers[i], coupler, (i, 1.0))
        plane.revolute(coupler, rockers[i + 1], (i + 1, 1.0))
    for body in plane.nodes:
        mass = plane.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        plane.mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -four_bars.GRAVITY, 0.0]))
    seconds = _solve(plane.mbs, duration, step, index=3)
    q, v = plane.coordinates()
    corner = q[0, :2] + _turned(q[0, 2], (0.0, 0.5))
    return PeerRun("Exudyn", seconds, corner, abs(_four_bars_energy(q, v) - four_bars.energy(windows)))


def mujoco_four_bars(windows: int, duration: float, step: float) -> PeerRun:
    """A forest of two-link chains, closed by soft constraints as stiff as RK4 takes with a margin.

    Impedance 0.9999, the largest MuJoCo takes; solref (step, 1): critical damping with one step as its time constant. The
    usual floor of two steps (refsafe) is for the Euler integrators; RK4 is stable to 0.36 steps. Against that floor the
    energy lost goes down by 2.6. One Newton iteration solves a problem of equalities alone, so the tolerance costs nothing.
    """
    model = mujoco.MjModel.from_xml_string(_four_bars_mjcf(windows, step))
    data = mujoco.MjData(model)
    data.qvel[0::2], data.qvel[1::2] = -1.0, 1.0
    start = time.process_time()
    mujoco.mj_step(model, data, round(duration / step))
    seconds = time.process_time() - start
    rocker, w = data.qpos[0::2], data.qvel[0::2]
    coupler, w_coupler = rocker[:-1] + data.qpos[1::2], w[:-1] + data.qvel[1::2]
    up, up_rate = np.array([-np.sin(rocker), np.cos(rocker)]), w * np.array([-np.cos(rocker), -np.sin(rocker)])
    half = np.array([np.cos(coupler), np.sin(coupler)]) / 2
    half_rate = w_coupler * np.array([-np.sin(coupler), np.cos(coupler)]) / 2
    centres = np.column_stack([[*(up / 2), rocker], [*(up[:, :-1] + half), coupler]]).T
    rates = np.column_stack([[*(up_rate / 2), w], [*(up_rate[:, :-1] + half_rate), w_coupler]]).T
    drift = abs(_four_bars_energy(centres, rates) - four_bars.energy(windows))
    return PeerRun("MuJoCo", seconds, up[:, 0], drift)


def _four_bars_mjcf(windows: int, step: float) -> str:
    """Text, because it is what a user of MuJoCo would write; the settings are those of `mujoco_four_bars`."""
    bodies, loops = "", ""
    for i in range(windows + 1):
        bodies += f'<body name="rocker{i}" pos="{i} 0 0"><joint axis="0 0 1"/>'
        bodies += f'<inertial pos="0 0.5 0" mass="1" diaginertia="{ROD} {SLIM} {ROD}"/>'
        if i < windows:
            bodies += f'<body name="coupler{i}" pos="0 1 0"><joint axis="0 0 1"/>'
            bodies += f'<inertial pos="0.5 0 0" mass="1" diaginertia="{SLIM} {ROD} {ROD}"/></body>'
            loops += f'<connect body1="coupler{i}" body2="rocker{i + 1}" anchor="1 0 0" solref="{step} 1" '
            loops += 'solimp="0.9999 0.9999 0.001"/>'
        bodies += "</body>"
    # one island only: looking for islands is lost time; a run that blows up must not start again in silence
    flags = '<flag contact="disable" refsafe="disable" island="disable" autoreset="disable"/>'
    option = (
        f'<option timestep="{step}" gravity="0 {-four_bars.GRAVITY} 0" integrator="RK4" solver="Newton" iterations="100" '
        f'tolerance="1e-10" jacobian="{"sparse" if windows >= MUJOCO_SPARSE else "dense"}">{flags}</option>'
    )
    return f"<mujoco>{option}<worldbody>{bodies}</worldbody><equality>{loops}</equality></mujoco>"


def exudyn_andrews(duration: float, step: float) -> PeerRun:
    """Seven 2D bodies, ten revolutes; the result is the test set's angles, in the order of `andrews.ANGLES`."""
    plane = _Plane()
    turn = {name: sum(andrews.START[part] for part in parts) for name, (*_, parts) in andrews.BODIES.items()}
    O, A, B, C = (np.array(andrews.GROUND[name]) for name in "OABC")
    F = O + _turned(turn["K1"], (0.007, 0.0))
    E = F + _turned(turn["K2"], (-0.028, 0.0))
    G, H = A + _turned(turn["K5"], (0.04, 0.0)), A + _turned(turn["K7"], (0.0, -0.04))
    D = B + _turned(turn["K3"], (0.02, -0.018))
    origin = {"K1": O, "K2": F, "K3": B, "K4": G, "K5": A, "K6": H, "K7": A}
    k = {
        name: plane.body(mass, inertia, origin[name] + _turned(turn[name], com), turn[name])
        for name, (mass, inertia, com, _) in andrews.BODIES.items()
    }
    for body, at in (("K1", O), ("K3", B), ("K5", A), ("K7", A)):
        plane.revolute(plane.ground, k[body], at)
    pairs = (("K1", "K2", F), ("K5", "K4", G), ("K7", "K6", H), ("K3", "K2", E), ("K3", "K4", E), ("K3", "K6", E))
    for a, b, at in pairs:
        plane.revolute(k[a], k[b], at)
    plane.mbs.AddObject(
        items.ObjectConnectorSpringDamper(
            markerNumbers=[plane.marker(plane.ground, C), plane.marker(k["K3"], D)], stiffness=andrews.STIFFNESS,
            referenceLength=andrews.FREE_LENGTH,
        )
    )  # fmt: skip
    drive = plane.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=plane.nodes[k["K1"]], coordinate=2))
    plane.mbs.AddLoad(items.LoadCoordinate(markerNumber=drive, load=andrews.DRIVE))
    seconds = _solve(plane.mbs, duration, step, index=2)
    # each body's turn is a sum of the angles: solve for them
    sums = np.array([[name in parts for name in andrews.ANGLES] for *_, parts in andrews.BODIES.values()], float)
    angles = np.linalg.solve(sums, plane.coordinates()[0][:, 2])
    return PeerRun("Exudyn", seconds, angles, float("nan"))


def exudyn_rssr(duration: float, step: float) -> PeerRun:
    """Three bodies with Euler parameters, faster here than Lie group nodes; the result is body 1's centre of mass."""
    mbs, drawn = exu.SystemContainer().AddSystem(), Model("rods")
    ground = mbs.AddObject(items.ObjectGround())
    one, two, three = (
        rssr.rod(drawn, name, *ends)
        for name, ends in (("1", (rssr.FIRST, rssr.A)), ("2", (rssr.A, rssr.B)), ("3", (rssr.SECOND, rssr.B)))
    )
    nodes, objects = {}, {}
    for rod in (one, two, three):
        pose = [*rod.position, *matrix_to_quaternion(rod.orientation)]
        nodes[rod.name] = mbs.AddNode(items.NodeRigidBodyEP(referenceCoordinates=pose))
        objects[rod.name] = mbs.AddObject(
            items.ObjectRigidBody(mass=rod.mass, inertia=[*rod.inertia, 0.0, 0.0, 0.0], nodeNumber=nodes[rod.name])
        )
        mass = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=objects[rod.name]))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=drawn.gravity))

    def marker(rod: Body, at: np.ndarray) -> int:
        """A point of a rod, given by where it is in the world at the start."""
        local = rod.orientation.T @ (at - rod.position)
        return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=objects[rod.name], localPosition=local))

    for rod, at, axis in ((one, rssr.FIRST, rssr.AXIS_1), (three, rssr.SECOND, rssr.AXIS_3)):
        fixed, frame = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=at)), frame_with_z(axis)
        mbs.AddObject(
            items.ObjectJointRevoluteZ(
                markerNumbers=[fixed, marker(rod, at)], rotationMarker0=frame, rotationMarker1=rod.orientation.T @ frame
            )
        )
    for rod, at in ((one, rssr.A), (three, rssr.B)):
        mbs.AddObject(items.ObjectJointSpherical(markerNumbers=[marker(rod, at), marker(two, at)]))
    seconds = _solve(mbs, duration, step, index=2)
    centre = np.array(mbs.GetNodeOutput(nodes["1"], exu.OutputVariableType.Position))
    return PeerRun("Exudyn", seconds, centre, float("nan"))
