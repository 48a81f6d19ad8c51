"""A drawn mechanism in Exudyn: absolute coordinates, every joint as constraints, the forces as its own connectors.

Built from the drawing alone (bodies, joints, distances, springs, torsion bars, drives of a `Model`): nothing of madi's tree,
cuts or equations is used. Constraints are kept in positions (index 3), because Exudyn's joints know no driven speed: with
index 2 a driven rack stands still. Generalized-alpha with a spectral radius of 0.5: positions are as good as with 0.9 or 1
within about a factor of two, and loads are free of ringing after a start or a kink of a drive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from madi.bench.peers.exudyn_peer import exu, items, solved
from madi.model.elements import Body, Force, Joint, body_name
from madi.model.model import Model
from madi.spatial.rotation import as_rotation, frame_with_z, matrix_to_quaternion

# what a joint holds: along x, y, z, about x, y, z of its frame (z along its axis; of a universal one x and y are its axes)
HELD = {
    "revolute": (1, 1, 1, 1, 1, 0), "prismatic": (1, 1, 0, 1, 1, 1), "cylindrical": (1, 1, 0, 1, 1, 0),
    "universal": (1, 1, 1, 0, 0, 1), "fixed": (1, 1, 1, 1, 1, 1),
}  # fmt: skip
TOLERANCES = (1e-10, 1e-10)  # relative, absolute, of its Newton iteration; at its default of 1e-8 single loads are wrong
SLIDE = (0, 0, 1, 0, 0, 0)  # a drive is a joint of its own: with x, y, z all held Exudyn counts its offset in ground axes


class Drawn:
    """An Exudyn system made from a model: `bodies` and `joints` by name."""

    def __init__(self, model: Model):
        refuse(model)
        self.mbs = exu.SystemContainer().AddSystem()
        self.bodies: dict[str, int] = {"ground": self.mbs.AddObject(items.ObjectGround())}
        self.joints: dict[str, int] = {}
        self.poses: dict[str, tuple[np.ndarray, np.ndarray]] = {"ground": (np.zeros(3), np.eye(3))}
        start = rigid_start(model)
        for body in model.bodies:
            self._body(body, np.asarray(model.gravity, dtype=float), start)
        drives = {drive.coordinate: drive.function for drive in model.drives}
        for joint in model.joints:
            if joint.kind != "free":
                self._joint(joint, joint.name in drives, drives.get(joint.name))
        for rod in model.constraints:
            ends = np.asarray(rod.at, dtype=float)
            given = rod.parameters["length"]
            self.mbs.AddObject(
                items.ObjectConnectorDistance(
                    markerNumbers=[self._marker(body, at) for body, at in zip((rod.a, rod.b), ends, strict=True)],
                    distance=float(np.linalg.norm(ends[1] - ends[0])) if given is None else given,
                )
            )
        for force in model.forces:
            self._force(force)

    def _body(self, body: Body, gravity: np.ndarray, start: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> None:
        """Euler parameters; Exudyn wants the inertia about the origin of the body."""
        r, com = np.asarray(body.position, dtype=float), np.asarray(body.com, dtype=float)
        A = np.eye(3) if body.orientation is None else as_rotation(body.orientation, body.name)
        J = np.asarray(body.inertia, dtype=float)
        J = (np.diag(J) if J.ndim == 1 else J) + body.mass * (com @ com * np.eye(3) - np.outer(com, com))
        p = matrix_to_quaternion(A)
        velocity, spin = start(r)
        node = self.mbs.AddNode(
            items.NodeRigidBodyEP(
                referenceCoordinates=[*r, *p], initialVelocities=[*velocity, *quaternion_rate(p, A.T @ spin)]
            )
        )
        number = self.mbs.AddObject(
            items.ObjectRigidBody(
                mass=body.mass, inertia=[J[0, 0], J[1, 1], J[2, 2], J[1, 2], J[0, 2], J[0, 1]], centerOfMass=com,
                nodeNumber=node,
            )
        )  # fmt: skip
        self.bodies[body.name], self.poses[body.name] = number, (r, A)
        mass = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=number))
        self.mbs.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=gravity))

    def _marker(self, body: Any, at: Any) -> int:
        """A point of a body, given by where it is drawn."""
        name = body_name(body)
        r, A = self.poses[name]
        local = A.T @ (np.asarray(at, dtype=float) - r)
        return self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=self.bodies[name], localPosition=local))

    def _axes(self, bodies: Sequence[Any], frame: np.ndarray) -> dict[str, np.ndarray]:
        """A drawn frame in the axes of two bodies."""
        return {f"rotationMarker{k}": self.poses[body_name(body)][1].T @ frame for k, body in enumerate(bodies)}

    def _joint(self, joint: Joint, driven: bool, function: Any) -> None:
        """A generic joint; a ball as a spherical one, which tells its force in ground axes."""
        pair = (joint.parent, joint.child)
        at = self.poses[body_name(joint.child)][0] if joint.at is None else joint.at
        markers = [self._marker(body, at) for body in pair]
        if joint.kind == "spherical":
            self.joints[joint.name] = self.mbs.AddObject(items.ObjectJointSpherical(markerNumbers=markers))
            return
        axes = self._axes(pair, joint_frame(joint))
        held = HELD["fixed"] if driven and function is None else HELD[joint.kind]
        self.joints[joint.name] = self.mbs.AddObject(
            items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=held, **axes)
        )
        if function is not None:

            def offset(mbs: Any, t: float, item: int, parameters: Any) -> list[float]:
                return [0.0, 0.0, float(function(t)), 0.0, 0.0, 0.0]

            self.mbs.AddObject(
                items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=SLIDE, offsetUserFunction=offset, **axes)
            )

    def _force(self, force: Force) -> None:
        """A spring and damper between two points, or a torsion bar."""
        given, pair = force.parameters, (force.a, force.b)
        if force.kind == "torsion_bar":
            markers = [self._marker(body, self.poses[body_name(body)][0]) for body in pair]
            self.mbs.AddObject(
                items.ObjectConnectorTorsionalSpringDamper(
                    markerNumbers=markers, stiffness=given["stiffness"], damping=given["damping"], offset=given["rest"],
                    **self._axes(pair, frame_with_z(np.asarray(given["axis"], dtype=float))),
                )
            )  # fmt: skip
            return
        ends = np.asarray(force.at, dtype=float)
        length = float(np.linalg.norm(ends[1] - ends[0])) if given["free_length"] is None else given["free_length"]
        self.mbs.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=[self._marker(body, at) for body, at in zip(pair, ends, strict=True)],
                referenceLength=length, stiffness=given["stiffness"], damping=given["damping"],
            )
        )  # fmt: skip

    def sensor(self, kind: Any, **given: Any) -> int:
        """One that keeps what it sees in memory."""
        return int(self.mbs.AddSensor(kind(storeInternal=True, writeToFile=False, **given)))

    def recorded(self, sensor: int) -> np.ndarray:
        """Rows: time, values."""
        return np.array(self.mbs.GetSensorStoredData(sensor))

    def run(self, duration: float, step: float, every: float, spectral_radius: float) -> None:
        """Generalized-alpha of fixed step; sensors record all `every` s."""
        self.mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = every
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        settings.linearSolver.reuseAnalyzedPattern = True
        stepping = settings.timeIntegration
        stepping.solverType = exu.DynamicSolverType.GeneralizedAlpha
        stepping.generalizedAlpha.spectralRadius = spectral_radius
        stepping.newton.useModifiedNewton = stepping.newton.modifiedNewtonJacUpdatePerStep = True
        stepping.newton.relativeTolerance, stepping.newton.absoluteTolerance = TOLERANCES
        stepping.adaptiveStep = False
        stepping.verboseMode = 0
        stepping.endTime, stepping.numberOfSteps = duration, round(duration / step)
        stepping.minimumStepSize = min(1e-8, 1e-3 * step)
        solved(exu.MainSolverImplicitSecondOrder(), self.mbs, settings)


def refuse(model: Model) -> None:
    """What is not drawn here must not be left out in silence."""
    unknown = [joint.name for joint in model.joints if joint.kind not in (*HELD, "spherical", "free")]
    unknown += [force.name for force in model.forces if force.kind not in ("spring_damper", "torsion_bar")]
    unknown += [constraint.name for constraint in model.constraints if constraint.kind != "distance"]
    kinds = {joint.name: joint.kind for joint in model.joints}
    unknown += [drive.coordinate for drive in model.drives if kinds.get(drive.coordinate) != "prismatic"]
    unknown += [joint.name for joint in model.joints if joint.q0 is not None]
    unknown += [joint.name for joint in model.joints if joint.kind != "free" and joint.v0 is not None]
    if unknown:
        raise ValueError(f"not drawn for Exudyn: {', '.join(unknown)}")


def rigid_start(model: Model) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Velocity at a point and angular velocity: all moves as one body, as the free joint's speeds say (child axes)."""
    free = next((joint for joint in model.joints if joint.kind == "free" and joint.v0 is not None), None)
    if free is None:
        return lambda point: (np.zeros(3), np.zeros(3))
    base = next(body for body in model.bodies if body.name == body_name(free.child))
    A = np.eye(3) if base.orientation is None else as_rotation(base.orientation, base.name)
    at = np.asarray(base.position if free.at is None else free.at, dtype=float)
    velocity, spin = A @ np.asarray(free.v0[:3], dtype=float), A @ np.asarray(free.v0[3:], dtype=float)
    return lambda point: (velocity + np.cross(spin, point - at), spin)


def quaternion_rate(p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Of a body with angular velocity w in its own axes."""
    return 0.5 * np.array([-p[1:] @ w, *(p[0] * w + np.cross(p[1:], w))])


def joint_frame(joint: Joint) -> np.ndarray:
    """As `HELD` counts the axes."""
    if joint.kind == "fixed":
        return np.eye(3)
    if joint.kind != "universal":
        return frame_with_z(np.asarray(joint.axes[0], dtype=float))
    first, second = (np.asarray(axis, dtype=float) / np.linalg.norm(axis) for axis in joint.axes)
    return np.column_stack([first, second, np.cross(first, second)])


def exudyn_run(
    model: Model, duration: float, step: float, bodies: Sequence[str], loads: Sequence[str] = (), every: float = 0.01,
    spectral_radius: float = 0.5,
) -> dict[str, Any]:  # fmt: skip
    """`time`; of bodies the `position` and the `rotation` (n x 3 x 3); of ball joints (`loads`) the `force` on the child.

    All in ground axes. The model starts as drawn, moving as one rigid body if its free joint has a speed. `every`: how far
    outputs are apart, s.
    """
    drawn, kinds = Drawn(model), exu.OutputVariableType
    places, turns = (
        {name: drawn.sensor(items.SensorBody, bodyNumber=drawn.bodies[name], outputVariableType=kind) for name in bodies}
        for kind in (kinds.Position, kinds.RotationMatrix)
    )
    forces = {
        name: drawn.sensor(items.SensorObject, objectNumber=drawn.joints[name], outputVariableType=kinds.Force)
        for name in loads
    }
    drawn.run(duration, step, every, spectral_radius)
    rows = {name: drawn.recorded(sensor) for name, sensor in places.items()}
    return {
        "time": next(iter(rows.values()))[:, 0],
        "position": {name: row[:, 1:] for name, row in rows.items()},
        "rotation": {name: drawn.recorded(sensor)[:, 1:].reshape(-1, 3, 3) for name, sensor in turns.items()},
        # Exudyn's sign is that of the force on the parent
        "force": {name: -drawn.recorded(sensor)[:, 1:] for name, sensor in forces.items()},
    }
