"""What a joint type tells the rest of the package about itself."""

from __future__ import annotations

from dataclasses import dataclass

# model.reverse: the tree walks a joint as it is drawn; against that; or against it, seen to by turning its z axis around
FORWARD, AGAINST, AGAINST_BY_AXIS = range(3)


@dataclass(frozen=True)
class JointKind:
    """Name, integer code, weight in the graph (P0), and the names and units of its coordinates and velocities.

    `axes`: how many directions its drawing takes: none (its frame is the child's), one (its z) or two (its z, then its x).
    `one_axis`: it turns about its z axis and slides along it, as one coordinate tells (kernel `motion`); `turns`: not only
    slides. All others have the kernels `pose` and, as far as they have columns, `subspace` and `bias`.
    `quaternion` is where in the joint's coordinates a unit quaternion starts, or None. Where there is none, speeds are
    the rates of the coordinates.
    `cut`: the constraint rows (constraints/) that take the joint's place where it closes a loop, and `measured`
    the rows that measure its coordinates there, as far as they can be driven.
    `parts`: its motion, one word after the other: a slide along "x", "y" or "z" of its frame on the parent, a "turn" about z
    of it, a "second" turn about x of the child's frame, a "shift" (three slides, speeds along the child's axes), a "ball" (a
    unit quaternion, speeds about the child's axes).
    `absolute`: its rows in absolute coordinates (cartesian/): "x", the origins of its two frames agree along global x; "xz",
    x of the parent's frame is normal to z of the child's; "xd", it is normal to the line between the origins; "screw".
    `carrier`: its code where the child carries the reference frame.
    `hinge`: it turns about an axis at rest in both bodies; `bends`: it leads from a flexible body's frame to a point of it.
    """

    name: str
    code: int
    weight: float
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    units: tuple[str, ...]
    speed_units: tuple[str, ...] = ()
    axes: int = 1
    quaternion: int | None = None
    cut: str = ""
    measured: tuple[str, ...] = ()
    parts: str = ""
    absolute: str = ""
    one_axis: bool = False
    turns: bool = True
    carrier: int | None = None
    hinge: bool = False
    bends: bool = False

    @property
    def codes(self) -> tuple[int, ...]:
        """All that model.code may say of this joint."""
        return (self.code,) if self.carrier is None else (self.code, self.carrier)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of generalised velocities: the joint's degrees of freedom."""
        return len(self.speeds)

    @property
    def holds(self) -> bool:
        """Whether it forbids any motion."""
        return bool(self.cut)

    @property
    def rate_units(self) -> tuple[str, ...]:
        """Units of the generalised velocities."""
        return self.speed_units or tuple(f"{unit}/s" for unit in self.units)
