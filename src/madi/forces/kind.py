"""What a force element tells the rest of the package about itself, and what its kernels share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from madi.dynamics.points import from_ground, point, point_velocity, to_ground
from madi.forces.fields import Arrays, Work
from madi.forces.takes import Takes
from madi.kernel import apart, inline, kernel
from madi.spatial.vector import at, cross, join, plus, put, six


@dataclass(frozen=True)
class ForceKind:
    """Name, integer code, names of the reals it reads, and how many signals (functions of time and state) it reads; then
    what the rest of the package asks of a force: no list of kinds is kept elsewhere."""

    name: str
    code: int
    parameters: tuple[str, ...] = ()
    signals: int = 0
    law: bool = False  # its signals may depend on the length of its line and its rate
    value: str = ""  # what work.force[e, 0] is
    unit: str = "N"
    ends: int = 0  # bodies it acts on (0: a joint's coordinate, or no part of the mechanism)
    points: int = 0  # points it is drawn at, `at`
    takes: dict[str, Takes] = field(default_factory=dict)  # what the user gives, by name, and what it must be (takes.py)
    modes: tuple[int, ...] = ()  # kinds of its held values (modes.py)
    states: tuple[tuple[str, str], ...] = ()  # first-order states of its own: name ("": the element's) and unit of each
    watches: bool = False  # it acts on nothing, it looks on
    memory: Callable[[Any], int] | None = None  # of a drawn one: how many numbers it remembers (modes.py)
    touches: Callable[[Any], int] | None = None  # at how many points it touches (work.touch)
    built_in: bool = False  # nearly every model has one: compiled into the forward kernels (dispatch.py)
    line: bool = False  # its value is a pull or push along the line between its two points
    given: bool = False  # the user gives its vector, in ground axes, at a point (none: the centre of mass)
    turns: bool = False  # its own torque holds or turns bodies
    mount: bool = False  # it holds bodies in all six directions, as a joint would
    wheel: bool = False  # it is a wheel on a road, its value the road's push
    tire: bool = False  # it is one with slip, by forces/tire_contact.py
    drawn_as: str = ""  # what model and files call it, if several kinds share a word ...
    choice: str = ""  # ... and its choice among them
    units: tuple[tuple[str, str, str], ...] = ()  # of numbers on a joint's coordinate: name, unit on a hinge, on a slide

    @property
    def on_joint(self) -> bool:
        """Whether it acts on a joint's coordinate."""
        return self.ends == 0 and not self.states and not self.watches


@inline
def seen_from(model: Arrays, a, b):
    """The reference frame from whose origin an element between bodies a and b measures places: near both of them."""
    return model.frame[a if a > 0 else b]


@inline
def origin_apart(work: Work, f, o):
    """From the origin of reference frame o to that of f, ground axes."""
    O = work.frame_r
    return apart(O[f, 0], O[o, 0]), apart(O[f, 1], O[o, 1]), apart(O[f, 2], O[o, 2])


@kernel
def point_state(model: Arrays, work: Work, i, s, common, o):
    """Position and velocity of the point parameter[s:s+3] of body i: in the reference frame both ends share (common), or
    in ground axes, from the origin of reference frame o (0: the ground's own)."""
    x = point(work, i, at(model.parameter, s))
    v = point_velocity(work, i, x)
    if not common:
        f = model.frame[i]
        x, v = plus(to_ground(work, f, x), origin_apart(work, f, o)), to_ground(work, f, v)
    return x, v


@inline
def add_wrench(work: Work, i, f):
    """Add a force (f, n) about the reference origin to body i."""
    put(work.Q, i, plus(six(work.Q, i), f))


@kernel
def add_force(work: Work, i, p, f):
    """Add a force f at the reference coordinates p, in reference axes, to body i."""
    add_wrench(work, i, join(f, cross(p, f)))


@kernel
def add_force_at(model: Arrays, work: Work, i, s, f, common):
    """Add a force at the point parameter[s:s+3] of body i; its axes are the ground's unless `common`."""
    if i > 0:
        if not common:
            f = from_ground(work, model.frame[i], f)
        add_force(work, i, point(work, i, at(model.parameter, s)), f)


@inline
def add_force_and_torque(work: Work, i, x, f, n):
    """Add a force at the reference coordinates x and a torque, both in reference axes, to body i."""
    if i > 0:
        add_wrench(work, i, join(f, plus(cross(x, f), n)))


@kernel
def add_torque(model: Arrays, work: Work, i, n, common):
    """Add a torque to body i; its axes are the ground's unless `common`."""
    if i > 0:
        if not common:
            n = from_ground(work, model.frame[i], n)
        add_wrench(work, i, join((0.0, 0.0, 0.0), n))


@kernel
def account(work: Work, e, value, potential, power, dissipated):
    """The four numbers every force element leaves behind."""
    work.force[e, 0] = value
    work.force[e, 1] = potential
    work.force[e, 2] = power
    work.force[e, 3] = dissipated
