"""`Model`: the mechanism as the user draws it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from madi.constraints import CONSTRAINTS
from madi.errors import Findings, InputError, closest, positive_number
from madi.flexible import Beam, Nodes, Section
from madi.flexible.beam import USUAL
from madi.forces import KINDS as FORCES
from madi.forces.road import Road
from madi.forces.tir import Tir, read_tir
from madi.given import File, Law, Numbers, Points, Rows, Turn, Vector, VectorLaw
from madi.joints import KINDS
from madi.model.elements import Body, BodyLike, Constraint, Drive, Force, Joint, JointLike, Visual, body_name, joint_name
from madi.model.shapes import Contact, Shape
from madi.spatial.rotation import PARALLEL

if TYPE_CHECKING:
    from madi.results.run import Run
    from madi.run.options import RunOptions
    from madi.system import System

MOST_OUTPUTS = 1e7  # `every` is a mistake
END_ROUNDING = 1e-12  # of the duration: an output that near to the end is the end
UPRIGHT = 1e-6  # sine of the angle of a beam to the vertical, below which its y axis is not taken across both
REST_SPEED = 1e-5  # m/s, rad/s: slower bounces of a hard stop are none
TIRES = {kind.choice: kind.name for kind in FORCES.values() if kind.drawn_as == "tire"}


class Model:
    """A mechanism: bodies, joints, constraints, forces and drives by name.

    All points and axes are global, in the *reference pose*, the one in which the bodies are drawn and every joint
    coordinate is zero. SI units, radians. Nothing is checked while drawing; `build()` reports every defect at once.
    `armature` of a joint is the inertia of what turns (or slides) with its coordinate and with nothing else: a motor's rotor
    times the square of its gear ratio, kg m² (kg on a slide).

    >>> import madi
    >>> m = madi.Model("pendulum")
    >>> bob = m.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    >>> _ = m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    >>> m.build().nv
    1
    """

    def __init__(self, name: str = "model", gravity: Vector = (0.0, 0.0, -9.81)):
        self.name = name
        self.gravity = gravity
        self.ground = Body("ground")
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.forces: list[Force] = []
        self.drives: list[Drive] = []
        self.constraints: list[Constraint] = []
        self.shapes: list[Shape] = []
        self.contacts: list[Contact] = []
        self.adjustables: list[str] = []
        self.description = ""
        self.run: dict[str, Any] = {}  # how it is run where nothing else is said: duration, step, method, ...
        self.notes: list[str] = []  # what an import did not carry over, everything counted
        self.places: dict[str, str] = {}  # where its elements stand in the file they were read from

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints, {len(self.forces)} forces>"

    def _repr_html_(self) -> str:
        from madi.show.html import heading, remark, table, whole

        facts = [f"{len(self.bodies)} bodies", f"{len(self.joints)} joints", f"{len(self.forces)} forces"]
        if self.constraints:
            facts.append(f"{len(self.constraints)} constraints")
        bodies = [(body.name, "flexible" if body.flexible else "", _told(body.mass) if not body.flexible else None)
                  for body in self.bodies]  # fmt: skip
        joints = [(j.name, j.kind, str(body_name(j.parent)), str(body_name(j.child)), _told(j.q0)) for j in self.joints]
        forces = [(f.name, f.kind, _ends(f)) for f in [*self.forces, *self.constraints]]
        drives = ", ".join(f"{one.coordinate} ({'locked' if one.function is None else 'driven'})" for one in self.drives)
        return whole(
            heading(f"Model {self.name}", *facts),
            table(("body", "", "mass, kg"), bodies),
            table(("joint", "kind", "parent", "child", "start"), joints),
            table(("force or constraint", "kind", "on"), forces),
            remark(drives),
        )

    # ---- bodies and joints ------------------------------------------------------------------------------------------

    def body(
        self,
        name: str,
        mass: float = 0.0,
        com: Vector = (0.0, 0.0, 0.0),
        inertia: Vector | Rows = (0.0, 0.0, 0.0),
        position: Vector = (0.0, 0.0, 0.0),
        orientation: Turn = None,
        unphysical: bool = False,
    ) -> Body:
        """Add a rigid body.

        `position`, `orientation` (matrix, quaternion (w, x, y, z) or None): the body frame in the reference pose.
        `com` is in the body frame; `inertia` about the centre of mass, in body axes: (Ixx, Iyy, Izz) or 3x3.
        `unphysical=True` accepts an inertia that no rigid body can have (the triangle inequality is broken).
        """
        body = Body(name, mass, com, inertia, position, orientation, unphysical)
        self.bodies.append(body)
        return body

    def beam(
        self,
        name: str,
        start: Vector,
        end: Vector,
        section: Section,
        E: float,
        rho: float,
        modes: Mapping[str, Any] | None = None,
        y_axis: Vector | None = None,
        damping: Numbers = 0.0,
        proportional: Vector = (0.0, 0.0),
        stiffening: bool = True,
        rotary: bool | None = None,
        G: float | None = None,
        points: Mapping[str, float] | None = None,
        q0: Vector | None = None,
        v0: Vector | None = None,
        strict: bool = True,
    ) -> Body:
        """Add a beam that bends, drawn straight from `start` to `end`: its frame is at `start`, x along it.

        `section`: madi.flexible.tube(outer, inner), rectangle(width, height), ...; E, G (Pa; default E / 2.6), rho (kg/m³).
        `modes`: how many, or which shapes: {"y": 2, "z": 2, "twist": 1, "axial": 1} bends in the planes of its y and z axes,
        turns about and stretches along x; a number takes shapes that fit whatever its ends do (clamped_loaded, loaded_rod).
        Default y and z, 3 each; of several beams joined to one, 2 each are enough.
        `y_axis`: where its y axis points (default: horizontal, or along x where the beam is vertical).
        `damping`: ratio of each mode; `proportional`: (a, b) of a M + b K. `stiffening`: bending shortens the beam, so that
        turning fast or hanging stiffens it; `rotary`: sections resist being tilted (None: where that
        changes a mode's frequency by more than 0.1 %).
        `points`: names for points along it, {"tip": 3.0}: `beam.point("tip")` is a body to attach things to, and is
        recorded. Joints and forces attach anywhere along it. `q0`, `v0`: modal coordinates and velocities at the start.
        `strict=False` accepts shapes whose ends do not fit the joints there.
        """
        axes, length = beam_axes(start, end, y_axis)
        given = dict(USUAL) if modes is None else modes
        flexible = Beam(
            name, length, section, E, rho, G, given, damping, proportional, stiffening, rotary, points or {}, strict
        )
        body = Body(name, position=start, orientation=axes, flexible=flexible, q0=q0, v0=v0, drawn=(start, end, y_axis))
        self.bodies.append(body)
        return body

    def flexible_body(
        self,
        name: str,
        nodes: Rows,
        masses: Vector,
        modes: Sequence[Rows] | np.ndarray,
        stiffness: Vector | Rows,
        position: Vector = (0.0, 0.0, 0.0),
        orientation: Turn = None,
        inertias: Rows | Sequence[Rows] | None = None,
        modal_mass: Rows | None = None,
        damping: Numbers = 0.0,
        proportional: Vector = (0.0, 0.0),
        labels: Sequence[str] | None = None,
        q0: Vector | None = None,
        v0: Vector | None = None,
    ) -> Body:
        """Add a flexible body from arrays, as finite element programs give them (Craig-Bampton or other modes).

        nodes (N, 3) in the body frame; masses (N,); modes (k, N, 6): displacement and rotation of every node in every mode,
        or (k, N, 3) without rotations (then only forces and spherical joints attach); stiffness (k,) or (k, k);
        `inertias` (N, 3) or (N, 3, 3) of the nodes; `modal_mass` (k, k) where a consistent one is known. Joints and forces
        attach at nodes; `labels` name them: `body.point(label)`. madi.flexible.craig_bampton(...) makes such modes.
        """
        flexible = Nodes(name, nodes, masses, modes, stiffness, inertias, modal_mass, damping, proportional, labels)
        body = Body(name, position=position, orientation=orientation, flexible=flexible, q0=q0, v0=v0)
        self.bodies.append(body)
        return body

    def visual(
        self, body: BodyLike, kind: str, size: Numbers | None = None, position: Vector = (0.0, 0.0, 0.0),
        orientation: Turn = None, color: str | None = None, file: File | None = None, scale: float = 1.0,
    ) -> Visual:  # fmt: skip
        """What a body (or m.ground) looks like, in its frame: "box" (size x, y, z), "sphere" (radius), "cylinder" (radius,
        length; along z) or "mesh" (`file`: STL or OBJ, `scale`: its unit in metres). It has no part in the mechanics;
        bodies without one are drawn from their joints."""
        named = {one.name: one for one in [self.ground, *self.bodies]}
        owner = body if isinstance(body, Body) else named.get(body)
        if owner is None:
            raise InputError(f"visual: there is no body {body!r}; bodies are: {', '.join(map(str, list(named)[:12]))}")
        visual = Visual(kind, size, position, orientation, color, file, scale)
        visual.check(f"visual of {owner.name!r}")
        owner.visuals.append(visual)
        return visual

    def shape(
        self, name: str, body: BodyLike, kind: str, radius: float | None = None, length: float | None = None,
        size: Vector | None = None, normal: Vector | None = None, axis: Vector | None = None, points: Rows | None = None,
        file: File | None = None, scale: float = 1.0, at: Vector = (0.0, 0.0, 0.0), orientation: Turn = None,
        density: float | None = None, contact: bool = True, group: str | None = None, color: str | None = None,
    ) -> Shape:  # fmt: skip
        """A shape of a body (or m.ground), in its frame: what it looks like, what it weighs, what it touches.

        "sphere" (`radius`), "capsule" and "cylinder" (`radius`, `length` along z or `axis`; a capsule has half balls at its
        ends), "box" (`size` x, y, z), "plane" (all below it is inside; `normal`, default z), "mesh" (`file`; it touches with
        its corners) or "points" (rows, in its own axes). `at`: its middle; `orientation`: how it is turned.
        `density` (kg/m3): its mass, centre and inertia are added to the body's. `contact`: whether it can touch
        (`m.contact` says what), alone or as one of a `group`."""
        shape = Shape(name, body, kind, radius, length, size, normal, axis, points, file, scale, at, orientation, density,
                      contact, group, color)  # fmt: skip
        self.shapes.append(shape)
        return shape

    def contact(
        self, name: str, a: str, b: str, stiffness: float | None = None, restitution: float | None = None, mu: float = 0.0,
        static: float | None = None, stribeck: float = 0.0, rolling: float = 0.0, spinning: float = 0.0,
        damping: float | None = None, exponent: float = 1.5, shear: float = 1.0, slowest: float = 0.01,
        overlap: bool = False,
    ) -> Contact:  # fmt: skip
        """Contact between two shapes, or all of two groups (of one group among themselves: its name twice), by name.

        The push is k x^n (1 + c x'), never a pull: `stiffness` k (None: the weight of the lighter body would sink in by
        a ten-thousandth of its size), `exponent` n, and either `damping` c (s/m) or `restitution` (None: 0.5), the part of
        the speed that is left after an impact; what arrives slower than `slowest` (m/s) loses more. Friction: `mu` while
        it slides, up to `static` (None: as much) while it sticks, `stribeck` the speed with which the one becomes the
        other; it sticks by bristles `shear` times as stiff as the push, without creep. `rolling`, `spinning`: arms (m) of
        the push that resist rolling, and turning about the normal.
        Shapes may not start deep in each other, unless `overlap`.
        With method=madi.TimeStepping(step) contact is hard: of all these it takes restitution and friction."""
        given = {"stiffness": stiffness, "restitution": restitution, "mu": mu, "static": static, "stribeck": stribeck,
                 "rolling": rolling, "spinning": spinning, "damping": damping, "exponent": exponent, "shear": shear,
                 "slowest": slowest, "overlap": overlap}  # fmt: skip
        contact = Contact(name, a, b, given)
        self.contacts.append(contact)
        return contact

    def _joint(self, kind: str, name: str, parent: BodyLike, child: BodyLike, **given: Any) -> Joint:
        joint = Joint(name, kind, parent, child, **given)
        self.joints.append(joint)
        return joint

    def revolute(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axis: Vector, q0: float | None = None,
                 v0: float | None = None, cut: bool | None = None,
                 armature: float = 0.0) -> Joint:  # fmt: skip
        """The child turns about `axis` through `at`. Coordinate: the angle, right-handed about the axis."""
        return self._joint("revolute", name, parent, child, at=at, axes=(axis,), q0=q0, v0=v0, cut=cut, armature=armature)

    def prismatic(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axis: Vector, q0: float | None = None,
                  v0: float | None = None, cut: bool | None = None,
                  armature: float = 0.0) -> Joint:  # fmt: skip
        """The child slides along `axis` (the papers' translational joint)."""
        return self._joint("prismatic", name, parent, child, at=at, axes=(axis,), q0=q0, v0=v0, cut=cut, armature=armature)

    def screw(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axis: Vector, pitch: float,
              q0: float | None = None, v0: float | None = None, cut: bool | None = None,
              armature: float = 0.0) -> Joint:  # fmt: skip
        """The child turns about `axis` and advances by `pitch` metres per full turn. Coordinate: the angle."""
        return self._joint(
            "screw", name, parent, child, at=at, axes=(axis,), pitch=pitch, q0=q0, v0=v0, cut=cut, armature=armature
        )

    def cylindrical(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axis: Vector, q0: Vector | None = None,
                    v0: Vector | None = None, cut: bool | None = None,
                    armature: Numbers = 0.0) -> Joint:  # fmt: skip
        """The child slides along `axis` and turns about it. Coordinates: z, angle."""
        return self._joint("cylindrical", name, parent, child, at=at, axes=(axis,), q0=q0, v0=v0, cut=cut, armature=armature)

    def universal(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axes: tuple[Vector, Vector],
                  q0: Vector | None = None, v0: Vector | None = None, cut: bool | None = None,
                  armature: Numbers = 0.0) -> Joint:  # fmt: skip
        """Two perpendicular axes through `at`: the first fixed to the parent, the second to the child."""
        return self._joint(
            "universal", name, parent, child, at=at, axes=tuple(axes), q0=q0, v0=v0, cut=cut, armature=armature
        )

    def spherical(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, q0: Vector | None = None,
                  v0: Vector | None = None, cut: bool | None = None,
                  armature: float = 0.0) -> Joint:  # fmt: skip
        """The child turns freely about `at`. Coordinates: unit quaternion; speeds: angular velocity in child axes."""
        return self._joint("spherical", name, parent, child, at=at, q0=q0, v0=v0, cut=cut, armature=armature)

    def planar(self, name: str, parent: BodyLike, child: BodyLike, at: Vector, axis: Vector, x_axis: Vector | None = None,
               q0: Vector | None = None, v0: Vector | None = None, cut: bool | None = None,
               armature: Numbers = 0.0) -> Joint:  # fmt: skip
        """The child slides in the plane normal to `axis` and turns about it. Coordinates: x, y, angle."""
        return self._joint(
            "planar", name, parent, child, at=at, axes=(axis,), x_axis=x_axis, q0=q0, v0=v0, cut=cut, armature=armature
        )

    def fixed(
        self, name: str, parent: BodyLike, child: BodyLike, at: Vector | None = None, cut: bool | None = None
    ) -> Joint:
        """The child does not move on its parent. `at` (default: the child's position) is where its load is reported."""
        return self._joint("fixed", name, parent, child, at=at, cut=cut)

    def free(
        self,
        name: str,
        parent: BodyLike,
        child: BodyLike,
        at: Vector | None = None,
        q0: Vector | None = None,
        v0: Vector | None = None,
    ) -> Joint:
        """The child moves freely. Coordinates: its displacement and quaternion from the reference pose; speeds: its
        velocity (of the point `at`, default its position) and angular velocity, in child axes."""
        return self._joint("free", name, parent, child, at=at, q0=q0, v0=v0)

    # ---- forces -----------------------------------------------------------------------------------------------------

    def _force(self, kind: str, name: str, a: Any, b: Any = None, at: tuple[Any, ...] = (), value: Any = None,
               **parameters: Any) -> Force:  # fmt: skip
        force = Force(name, kind, a, b, at, parameters, value)
        self.forces.append(force)
        return force

    def spring_damper(self, name: str, a: BodyLike, b: BodyLike, at: Points, stiffness: float = 0.0,
                      damping: float = 0.0, free_length: float | None = None) -> Force:  # fmt: skip
        """Spring and damper between a point of `a` and a point of `b`. `free_length` None: the length as drawn."""
        return self._force(
            "spring_damper", name, a, b, points(at), stiffness=stiffness, damping=damping, free_length=free_length
        )

    def joint_spring(self, name: str, joint: JointLike, stiffness: float = 0.0, damping: float = 0.0,
                     rest: float = 0.0) -> Force:  # fmt: skip
        """Spring and damper on a joint coordinate ("A", or "A.angle" of a joint with several)."""
        return self._force("joint_spring", name, joint, stiffness=stiffness, damping=damping, rest=rest)

    def stop(self, name: str, joint: JointLike, lower: float | None = None, upper: float | None = None,
             stiffness: float | None = None, damping: float | None = None, restitution: float | None = None,
             rest_speed: float | None = None) -> Force:  # fmt: skip
        """Stops of a joint coordinate at `lower` and `upper` (None: no stop there), compliant or hard.

        Compliant: beyond them k d (1 + damping d') pushes back, d how far it went (rad or m); it begins and ends at zero
        and never pulls. `stiffness` None: by the inertia behind the joint as drawn, so that what hits the stop is back in
        some hundredths of a second; `damping` None: 1.
        Hard, where `restitution` e is given (0 to 1): what arrives at the rate v leaves at -e v, by an impulse that goes
        through the whole mechanism; bounces slower than `rest_speed` (None: 1e-5 m/s or rad/s) come to rest."""
        ends: dict[str, Any] = {"lower": lower, "upper": upper}
        if restitution is None:
            if rest_speed is not None:
                raise InputError(
                    f"stop {name!r}: rest_speed= belongs to a hard stop; give restitution= too, or leave it out"
                )
            given = 1.0 if damping is None else damping
            return self._force("stop", name, joint, **ends, stiffness=stiffness, damping=given)
        if stiffness is not None or damping is not None:
            raise InputError(f"stop {name!r}: a hard stop (restitution=) has no stiffness and no damping; leave them out")
        rest = REST_SPEED if rest_speed is None else rest_speed
        return self._force("hard_stop", name, joint, **ends, restitution=restitution, rest_speed=rest)

    def friction(self, name: str, joint: JointLike, coulomb: float = 0.0, static: float | None = None,
                 stribeck: float = 0.0, viscous: float = 0.0, law: str = "exponential", mu: float | None = None,
                 radius: float | None = None, span: float | None = None) -> Force:  # fmt: skip
        """Dry friction on a joint coordinate, N or N m: `coulomb` while it slides, up to `static` (None: as much) while it
        sticks, which it truly does. `stribeck`: speed with which static friction fades to that of sliding, by `law`:
        "exponential", exp(-(v/vs)^2), or "hyperbolic", 1/(1 + v/vs); 0: at once. `viscous`: N s/m or N m s.
        With `mu` in place of `coulomb` it is by the joint's own load, which is found with it: mu `radius` |F| on a hinge, mu
        |F| across a slide, that of its thread on a screw; `static` is a coefficient then, too. `span`: how far two bearings
        are apart that bear its moment M, 2 |M| / span more."""
        if mu is not None:
            if coulomb:
                raise InputError(f"friction {name!r}: give coulomb= (N, N m) or mu= (by the joint's load), not both")
            loaded: dict[str, Any] = {"mu": mu, "static": static, "stribeck": stribeck, "viscous": viscous, "law": law}
            return self._force("load_friction", name, joint, **loaded, radius=radius, span=span)
        if radius is not None or span is not None:
            raise InputError(f"friction {name!r}: radius= and span= belong to mu=, friction by the joint's load")
        given: dict[str, Any] = {"coulomb": coulomb, "static": static, "stribeck": stribeck, "viscous": viscous, "law": law}
        return self._force("friction", name, joint, **given)

    def event(self, name: str, signal: Law, direction: int = 0, stop: bool = False) -> Force:
        """Note when a signal (a function of t, q, v) comes to zero: rising (`direction` 1), falling (-1) or both (0). A step
        ends there, and run.events has it; `stop` ends the run."""
        return self._force("event", name, None, value=signal, direction=direction, stop=stop)

    def hydropneumatic(self, name: str, a: BodyLike, b: BodyLike, at: Points, pressure: float, area: float,
                       volume: float, exponent: float = 1.4, compression: float = 0.0, rebound: float = 0.0,
                       free_length: float | None = None, ambient: float = 101325.0) -> Force:  # fmt: skip
        """Hydropneumatic unit between two points: gas of `volume` at gauge `pressure` behind a piston of `area` when the
        points are `free_length` apart (None: as drawn), damping one value in compression, another in rebound. `ambient`:
        the pressure outside (Pa); the gas law is that of the absolute pressure."""
        return self._force(
            "hydropneumatic", name, a, b, points(at), pressure=pressure, area=area, volume=volume, exponent=exponent,
            compression=compression, rebound=rebound, free_length=free_length, ambient=ambient,
        )  # fmt: skip

    def bump_stop(self, name: str, a: BodyLike, b: BodyLike, at: Points, clearance: float, stiffness: float,
                  exponent: float = 1.5, damping: float = 0.0) -> Force:  # fmt: skip
        """A stop that pushes two points apart when they come nearer than `clearance`: k d^n (1 + damping d')."""
        return self._force(
            "bump_stop", name, a, b, points(at), clearance=clearance, stiffness=stiffness, exponent=exponent, damping=damping
        )

    def two_point_force(self, name: str, a: BodyLike, b: BodyLike, at: Points, law: Law) -> Force:
        """A pull along the line between a point of `a` and a point of `b`: an actuator, or a spring and damper by formula.

        `law`: a number, f(t), or f(length, rate, t) (any of length, rate, t, q, v, by their names); positive pulls the
        points together. What it delivers is its power: it stores and dissipates nothing."""
        return self._force("two_point_force", name, a, b, points(at), value=law)

    def characteristic(self, name: str, a: BodyLike, b: BodyLike, at: Points, spring: Rows = (), damper: Rows = (),
                       free_length: float | None = None, between: str = "linear") -> Force:  # fmt: skip
        """Spring and damper by tables: `spring` [(stretch, tension)], `damper` [(rate, tension)]. `between` the points:
        "linear", or "cubic" (monotone cubics: smooth, but long pieces bend); straight on beyond the ends. By formula:
        `two_point_force`."""
        return self._force(
            "characteristic", name, a, b, points(at), spring=spring, damper=damper, free_length=free_length, between=between,
        )  # fmt: skip

    def joint_characteristic(self, name: str, joint: JointLike, spring: Rows = (), damper: Rows = (), rest: float = 0.0,
                             between: str = "linear") -> Force:  # fmt: skip
        """Spring and damper on a joint coordinate by tables: `spring` [(angle or way from `rest`, torque or force that
        pushes back)], `damper` [(rate, the same)]; `between` as of `characteristic`. By formula: `joint_torque`, q["A"]."""
        return self._force("joint_characteristic", name, joint, spring=spring, damper=damper, rest=rest, between=between)

    def torsion_bar(self, name: str, a: BodyLike, b: BodyLike, axis: Vector, stiffness: float, damping: float = 0.0,
                    rest: float = 0.0) -> Force:  # fmt: skip
        """A torque about `axis` between two bodies: the angle is the twist of `b` against `a` since the drawing, within half
        a turn; where the axes tilt, the torque is along the gradient of that angle."""
        return self._force("torsion_bar", name, a, b, axis=axis, stiffness=stiffness, damping=damping, rest=rest)

    def bushing(self, name: str, a: BodyLike, b: BodyLike, at: Vector, stiffness: Vector, damping: Vector = (0.0,) * 6,
                axis: Vector | None = None) -> Force:  # fmt: skip
        """Six springs and dampers at a point: three along, three about axes on `a` (z along `axis`, default global)."""
        return self._force("bushing", name, a, b, (at,), axis=axis, stiffness=stiffness, damping=damping)

    def wheel(self, name: str, body: BodyLike, at: Vector, radius: float, stiffness: float, damping: float = 0.0,
              road: Road | None = None, places: int = 1) -> Force:  # fmt: skip
        """A wheel around the point `at` of a body, carried without friction by a road (`madi.flat()...`). `places`: how many
        samples of the road its disc envelops; 1 (waves only: roads with edges take 9) samples it right below."""
        return self._force(
            "wheel", name, body, at=(at,), radius=radius, stiffness=stiffness, damping=damping, places=places,
            road=Road() if road is None else road,
        )  # fmt: skip

    def tire(self, name: str, body: BodyLike, at: Vector, axis: Vector, radius: float, stiffness: float,
             damping: float = 0.0, slip_stiffness: float = 0.0, cornering_stiffness: float = 0.0, friction: float = 0.8,
             rolling_resistance: float = 0.0, low_speed: float = 0.5, road: Road | None = None,
             places: int = 1, law: str = "smooth", sliding_friction: float | None = None,
             patch: float = 0.1) -> Force:  # fmt: skip
        """A tire: a wheel with forces along (N per unit of slip) and across (N/rad) within a friction circle. `at`: its
        centre, `axis`: what it spins about. Below `low_speed` (m/s) slip turns into a viscous law: it can stand still.
        `law`: "smooth" (P4's stiffnesses, bent to the friction circle by x / sqrt(1 + x²)), "fiala" (friction falls to
        `sliding_friction`) or "brush"; of these `patch` (m: half the length of the contact) makes the aligning
        moment."""
        if law == "linear":
            raise InputError(f"tire {name!r}: law='linear' is called 'smooth': x / sqrt(1 + x²) is linear only at first")
        if law not in TIRES:
            raise InputError(f"tire {name!r}: law={law!r}: choose one of {', '.join(TIRES)}")
        return self._force(
            TIRES[law], name, body, at=(at,), axis=axis, radius=radius, stiffness=stiffness, damping=damping,
            slip_stiffness=slip_stiffness, cornering_stiffness=cornering_stiffness, friction=friction,
            rolling_resistance=rolling_resistance, low_speed=low_speed, patch=patch, places=places,
            sliding_friction=friction if sliding_friction is None else sliding_friction,
            road=Road() if road is None else road,
        )  # fmt: skip

    def magic_tire(self, name: str, body: BodyLike, at: Vector, axis: Vector, tir: Tir | str | Path,
                   road: Road | None = None, relaxation: bool = False, side: str | None = None,
                   pressure: float | None = None, damping: float | None = None, low_speed: float | None = None,
                   places: int = 1) -> Force:  # fmt: skip
        """A tire by Pacejka's Magic Formula, its numbers from a `.tir` file (a path, or what madi.read_tir gave): 5.2, 6.1,
        6.2. `at`: its centre; `axis`: what it spins about, to the left when it rolls forward. `relaxation`: slips lag behind
        (two first-order states, NAME.lag_along and NAME.lag_across). `side`: where it is mounted, "left" or "right"; a tire
        measured on the other side is mirrored. `pressure` (Pa), `damping` (N s/m), `low_speed` (m/s): in place of the
        file's."""
        tir = tir if isinstance(tir, Tir) else read_tir(tir)
        if side not in (None, "left", "right"):
            raise InputError(f"tire {name!r}: side={side!r}: write 'left' or 'right'")
        kind = "tire_magic"
        if not isinstance(relaxation, bool):
            raise InputError(f"tire {name!r}: relaxation={relaxation!r}: write True or False")
        if relaxation:
            from madi.forces.magic_formula import refuse_without_relaxation

            refuse_without_relaxation(tir)
            kind = "tire_magic_relaxed"
        return self._force(
            kind, name, body, at=(at,), axis=axis, radius=tir.radius, places=places,
            stiffness=tir["VERTICAL_STIFFNESS"] * tir.get("LCZ", 1.0),
            damping=tir.get("VERTICAL_DAMPING") if damping is None else damping, slip_stiffness=0.0, cornering_stiffness=0.0,
            friction=abs(tir["PDY1"]), low_speed=(tir.get("VXLOW", 1.0) or 1.0) if low_speed is None else low_speed,
            rolling_resistance=0.0, sliding_friction=0.0, patch=0.0, tir=tir, pressure=pressure,
            mirrored=bool(side and tir.side and side != tir.side), road=Road() if road is None else road,
        )  # fmt: skip

    def track(self, name: str, a: BodyLike, b: BodyLike, at: Points, radii: tuple[float, float], tension: float,
              stiffness: float = 0.0, length: float | None = None, support: float = 0.0, support_damping: float = 0.0,
              road: Road | None = None, places: int = 3, over: bool = False) -> Force:  # fmt: skip
        """A span of track under two wheels (centres `at`, `radii`; `over`: over them, the return run): tension along their
        common tangent, and support where the road comes above it. `a`, `b`: the bodies that carry the wheels."""
        return self._force(
            "track", name, a, b, points(at), radii=radii, tension=tension, stiffness=stiffness, length=length,
            support=support, support_damping=support_damping, places=places, over=over,
            road=Road() if road is None else road,
        )  # fmt: skip

    def force(self, name: str, body: BodyLike, value: VectorLaw, at: Vector | None = None) -> Force:
        """A force in global axes on the point `at` of a body (default: its centre of mass).

        `value`: three numbers, or a function f(t) or f(t, q, v) that returns three.
        """
        return self._force("force", name, body, at=(at,), value=value)

    def torque(self, name: str, body: BodyLike, value: VectorLaw) -> Force:
        """A torque in global axes on a body: three numbers, or a function f(t) or f(t, q, v) that returns three."""
        return self._force("torque", name, body, value=value)

    def joint_torque(self, name: str, joint: JointLike, value: Law) -> Force:
        """A torque (force, on a slide) on a joint coordinate: a number, or a function f(t) or f(t, q, v)."""
        return self._force("joint_torque", name, joint, value=value)

    def state(self, name: str, rate: Law, start: float = 0.0) -> Force:
        """A first-order state z with z' = rate: a number, or a function f(t) or f(t, q, v); functions see v["name"]. It
        has no mass, no coordinate and no energy: a filter, a pressure, an actuator's lag."""
        return self._force("state", name, None, value=rate, start=start)

    # ---- constraints beside the joints ------------------------------------------------------------------------------

    def _constraint(self, kind: str, name: str, a: Any, b: Any, at: tuple[Any, ...] = (), axis: Vector | None = None,
                    **parameters: Any) -> Constraint:  # fmt: skip
        constraint = Constraint(name, kind, a, b, at, axis, parameters)
        self.constraints.append(constraint)
        return constraint

    def distance(self, name: str, a: BodyLike, b: BodyLike, at: Points, length: float | None = None) -> Constraint:
        """A massless rod: a point of `a` and a point of `b` keep their distance (None: as drawn)."""
        return self._constraint("distance", name, a, b, points(at), length=length)

    def point_on_line(
        self, name: str, a: BodyLike, b: BodyLike, at: Vector, axis: Vector, point: Vector | None = None
    ) -> Constraint:
        """A point of `b` (default: the one drawn at `at`) stays on the line through `at` along `axis`, fixed to `a`."""
        return self._constraint("point_on_line", name, a, b, (at, at if point is None else point), axis)

    def point_on_plane(
        self, name: str, a: BodyLike, b: BodyLike, at: Vector, normal: Vector, point: Vector | None = None
    ) -> Constraint:
        """A point of `b` (default: the one drawn at `at`) stays in the plane through `at`, fixed to `a`."""
        return self._constraint("point_on_plane", name, a, b, (at, at if point is None else point), normal)

    def coupler(self, name: str, a: JointLike, b: JointLike, ratio: float, offset: float = 0.0) -> Constraint:
        """Two joint coordinates move in a ratio: q_a = ratio q_b + offset."""
        return self._constraint("coupler", name, a, b, ratio=ratio, offset=offset)

    def gear(self, name: str, a: JointLike, b: JointLike, radii: tuple[float, float], internal: bool = False) -> Constraint:
        """Gears (radii or teeth) on two revolute joints with parallel axes on one body, their carrier (the ground, or a
        planet carrier): radius_a q_a = -radius_b q_b; internal: the same way. The teeth press as a couple: bearings are
        not loaded by them."""
        return self._constraint("coupler", name, a, b, ratio=gear_ratio(radii, internal), offset=0.0, radii=radii)

    def rack(self, name: str, rack: JointLike, pinion: JointLike, radius: float, offset: float = 0.0) -> Constraint:
        """Rack and pinion: the slide of joint `rack` is `radius` times the turn of joint `pinion`."""
        return self._constraint("coupler", name, rack, pinion, ratio=radius, offset=offset)

    # ---- prescribed motion ------------------------------------------------------------------------------------------

    def drive(self, joint: JointLike, function: Callable[[Any], Any]) -> Drive:
        """Prescribe a joint coordinate ("A", or "A.angle") as a function of time; its derivatives are exact. The joint's
        own q0 and v0 are then of no account.

        The function may use arithmetic, `madi` or NumPy or `math` functions, and `madi.where` for cases.
        """
        return self._drive(joint, function)

    def lock(self, joint: JointLike | Body) -> Drive:
        """Hold a joint (all its coordinates) where its q0 puts it; or a flexible body's modes: then it is rigid."""
        return self._drive(joint, None)

    def _drive(self, joint: Any, function: Any) -> Drive:
        drive = Drive(joint.name if isinstance(joint, Joint | Body) else joint, function)
        self.drives.append(drive)
        return drive

    def adjustable(self, *names: str) -> None:
        """Mark numbers that stay adjustable in exported code: "spring.stiffness", "chassis.mass", "pivot.at.x", ..."""
        self.adjustables += [name for name in names if name not in self.adjustables]

    # ---- changes ----------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:
        """An element by its name: a body, joint, force or constraint. Where two share it, say which: "joint arm"; "drive A"
        is what drives or locks a coordinate."""
        return self._find(name)[1]

    def remove(self, name: str) -> None:
        """Take an element out, named as in `model[name]`; what still refers to it must be gone first."""
        group, element = self._find(name)
        users = [] if isinstance(element, Drive) else self._users(element)
        if users:
            more = f" and {len(users) - 6} more" if len(users) > 6 else ""
            raise InputError(f"{name!r} is in use by {', '.join(users[:6])}{more}; remove them first")
        group.remove(element)
        if not isinstance(element, Drive):
            self.adjustables = [one for one in self.adjustables if not one.startswith(f"{element.name}.")]

    def replace(self, name: str, **changes: Any) -> Any:
        """Change fields and numbers of an element, all or none: m.replace("spring", stiffness=2e4, damping=100.0)."""
        element = self._find(name)[1]
        trial = copy.copy(element)
        if hasattr(trial, "parameters"):
            trial.parameters = dict(trial.parameters)
        for what, value in changes.items():
            setattr(trial, what, value)
        for what, value in changes.items():
            setattr(element, what, value)
        return element

    def _find(self, name: str) -> tuple[list[Any], Any]:
        groups: dict[str, list[Any]] = {
            "body": self.bodies, "joint": self.joints, "force": self.forces, "constraint": self.constraints,
            "shape": self.shapes, "contact": self.contacts,
        }  # fmt: skip
        what, _, rest = str(name).partition(" ")
        if what == "drive":
            found = [("drive", self.drives, one) for one in self.drives if one.coordinate == rest]
        else:
            named = [(kind, group, one) for kind, group in groups.items() for one in group]
            found = [item for item in named if item[2].name == name]
            found = found or [item for item in named if item[0] == what and item[2].name == rest]
        if not found:
            names = [str(one.name) for group in groups.values() for one in group]
            near = closest(str(name), names)
            raise InputError(f"there is no element {name!r}; {f'near it: {near}' if near else f'there are {len(names)}'}")
        if len(found) > 1:
            kinds = " or ".join(f"m['{kind} {name}']" for kind, _, _ in found)
            raise InputError(f"{len(found)} elements are called {name!r}: say {kinds}")
        return found[0][1], found[0][2]

    def _users(self, element: Any) -> list[str]:
        """What refers to a body or joint."""
        found = []
        if isinstance(element, Body):
            on_bodies = [(f"joint {one.name!r}", (one.parent, one.child)) for one in self.joints]
            on_bodies += [(f"force {one.name!r}", (one.a, one.b)) for one in self.forces if FORCES[one.kind].ends]
            on_bodies += [
                (f"constraint {one.name!r}", (one.a, one.b))
                for one in self.constraints
                if not CONSTRAINTS[one.kind].on_joints
            ]
            on_bodies += [(f"shape {shape.name!r}", (shape.body, None)) for shape in self.shapes]
            for who, ends in on_bodies:
                if any(str(body_name(end)).partition("@")[0] == element.name for end in ends if end is not None):
                    found.append(who)
        if isinstance(element, Shape):
            names = (element.name, element.group)
            found += [f"contact {one.name!r}" for one in self.contacts if one.a in names or one.b in names]
        if isinstance(element, Joint):
            found += [f"drive of {one.coordinate!r}" for one in self.drives if one.coordinate.split(".")[0] == element.name]
            on = [(f"force {f.name!r}", f.a) for f in self.forces if FORCES[f.kind].on_joint]
            on += [
                (f"constraint {c.name!r}", end)
                for c in self.constraints
                if CONSTRAINTS[c.kind].on_joints
                for end in (c.a, c.b)
            ]
            found += [who for who, end in on if str(joint_name(end)).split(".")[0] == element.name]
        return list(dict.fromkeys(found))

    # ---- what follows -----------------------------------------------------------------------------------------------

    def snapshot(self) -> Model:
        """The model as it is now: what is changed in this one later does not reach it."""
        kept = copy.copy(self)
        for group in ("bodies", "joints", "forces", "constraints", "drives", "shapes", "contacts"):
            setattr(kept, group, [copy.copy(element) for element in getattr(self, group)])
        elements: list[Any] = [*kept.forces, *kept.constraints, *kept.contacts]
        for element in elements:
            element.parameters = dict(element.parameters)
        kept.ground, kept.adjustables, kept.run = copy.copy(self.ground), list(self.adjustables), dict(self.run)
        for body in (kept.ground, *kept.bodies):
            body.visuals = list(body.visuals)
        return kept

    def save(self, path: File) -> Path:
        """Write the model as a file (YAML) that `madi.load` reads back exactly. Functions are written as expressions."""
        from madi.schema.write import save

        return save(self, path)

    def simulate(self, duration: float | None = None, **options: Unpack[RunOptions]) -> Run:
        """`madi.simulate` with what `self.run` (a file's `run:`) says, and `options` over it."""
        from madi.run.simulate import simulate

        given: dict[str, Any] = {**fitting(self.run, {**options}), **options}
        if duration is not None:
            given["duration"] = duration
        if "duration" not in given:
            raise InputError(
                f"model {self.name!r}: how long? m.simulate(10.0), --duration 10s, or in its file run: {{duration: 10 s}}"
            )
        span, every = given.pop("duration"), given.pop("every", None)
        if every is not None and given.get("times") is None:
            given["times"] = output_times(span, every)
        return simulate(self, span, **given)

    def check(self) -> Findings:
        """All defects of the model; empty when it can be built."""
        from madi.errors import ModelError

        try:
            self.build()
        except ModelError as error:
            return Findings(error.findings)
        return Findings()

    def build(self, frame: str = "base") -> System:
        """Choose tree and cuts and freeze the model into a System. `frame`: what a moving base's equations refer to,
        "base" (the base body's own axes, P4) or "ground"."""
        from madi.system import System

        return System(self, frame=frame)


def _told(value: Any) -> Any:
    """A number as such, what else was given as it prints."""
    return float(value) if isinstance(value, int | float) else None if value is None else str(value)


def _ends(element: Any) -> str:
    """What a force or constraint acts on."""
    return ", ".join(str(getattr(end, "name", end)) for end in (element.a, element.b) if end is not None)


def fitting(own: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """What a model's own `run` says, less what another choice of step or tolerance now makes meaningless."""
    from madi.integrate import METHODS
    from madi.run.options import word_of

    tolerances = ("rtol", "atol", "max_step")
    method, gone = METHODS.get(word_of(own.get("method"))), set[str]()
    if asked.get("step") is not None:
        gone |= {*tolerances, *(["method"] if method is not None and method.fixed is None else [])}
    elif any(asked.get(name) is not None for name in tolerances):
        gone |= {"step", *(["method"] if method is not None and method.adaptive is None else [])}
    if asked.get("method") is not None and word_of(asked["method"]) != word_of(own.get("method")) and "loops" not in asked:
        gone.add("loops")
    return {name: value for name, value in own.items() if name not in gone}


def output_times(duration: float, every: float) -> np.ndarray:
    """From 0 to `duration`, `every` so many seconds, and the end."""
    count = positive_number(duration, "duration") / positive_number(every, "every")
    if count > MOST_OUTPUTS:
        raise InputError(f"every={every!r}: that would be {count:.0f} outputs")
    times = every * np.arange(int(count * (1 + END_ROUNDING)) + 1)
    return times if times[-1] > duration * (1 - END_ROUNDING) else np.append(times, duration)


def beam_axes(start: Any, end: Any, y_axis: Any) -> tuple[Any, float]:
    """Rotation matrix of a beam's axes, and its length; NaN where the points are none (check.py tells)."""
    try:
        along = np.asarray(end, dtype=float) - np.asarray(start, dtype=float)
        length = float(np.linalg.norm(along))
        x = along / length if along.shape == (3,) and length > 0 else np.full(3, np.nan)
        if y_axis is None:
            y_axis = np.cross((0.0, 0.0, 1.0), x)
            y_axis = (1.0, 0.0, 0.0) if np.linalg.norm(y_axis) < UPRIGHT else y_axis
        y = np.asarray(y_axis, dtype=float) - np.dot(y_axis, x) * x
        y /= np.linalg.norm(y) if np.linalg.norm(y) > PARALLEL else np.nan
        return np.stack([x, y, np.cross(x, y)], axis=1) + 0.0, length
    except (TypeError, ValueError, OverflowError):
        return np.full((3, 3), np.nan), float("nan")


def gear_ratio(radii: Any, internal: bool) -> float:
    """radius_b / radius_a, negative for gears outside each other; NaN where radii are none (check.py tells)."""
    try:
        ratio = float(radii[1]) / float(radii[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return float("nan")
    return ratio if internal else -ratio


def points(at: Any) -> tuple[Any, ...]:
    """What was given as points, unjudged: a list of them, or one thing that is none."""
    return tuple(at) if isinstance(at, list | tuple) or hasattr(at, "__len__") else (at,)


def joint_coordinates(joint: Joint) -> list[str]:
    """Names of a joint's coordinates: "A" alone, or "A.x" and so on."""
    return [f"{joint.name}.{part}" if part else joint.name for part in KINDS[joint.kind].coordinates]


def joint_speeds(joint: Joint) -> list[str]:
    """Names of a joint's speeds."""
    return [f"{joint.name}.{part}" if part else joint.name for part in KINDS[joint.kind].speeds]
