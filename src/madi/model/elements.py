"""The elements of a model as the user gave them. Nothing is judged here: `check.py` does that, all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Body:
    """A rigid body. `com` in the body frame, `inertia` about the centre of mass in body axes (3 numbers or 3x3).

    A flexible one has `flexible` (a Beam, or Nodes) instead, and starts with the modal coordinates q0 and speeds v0.
    """

    name: str
    mass: Any = 0.0
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = (0.0, 0.0, 0.0)
    position: Any = (0.0, 0.0, 0.0)
    orientation: Any = None
    unphysical: bool = False
    flexible: Any = None
    q0: Any = None
    v0: Any = None

    def __repr__(self) -> str:
        return f"Body({self.name!r})"

    def point(self, name: str) -> str:
        """A named point of a flexible body, to hang joints and forces on: "link@tip"."""
        return f"{self.name}@{name}"


@dataclass(eq=False)
class Joint:
    """A joint as drawn: from `parent` to `child`, at a point, along axes, all global in the reference pose."""

    name: str
    kind: str
    parent: Any
    child: Any
    at: Any = None
    axes: tuple[Any, ...] = ()
    x_axis: Any = None
    pitch: Any = 0.0
    q0: Any = None
    v0: Any = None
    cut: bool | None = None  # True: it must close a loop; False: it must not
    station: Any = None  # of a modal joint: the point of the flexible body it leads to

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.kind})"


@dataclass(eq=False)
class Force:
    """A force element: bodies (or a joint coordinate), points, parameters, and a value that may be a function."""

    name: str
    kind: str
    a: Any
    b: Any = None
    at: tuple[Any, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    value: Any = None


@dataclass(eq=False)
class Constraint:
    """A constraint beside the joints: between two bodies, or (coupler) between two joint coordinates."""

    name: str
    kind: str
    a: Any
    b: Any
    at: tuple[Any, ...] = ()
    axis: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Drive:
    """A joint coordinate prescribed as a function of time; `function` None: held where it is."""

    coordinate: str
    function: Any = None


def body_name(reference: Any) -> Any:
    """A body is given as the object or by its name."""
    return reference.name if isinstance(reference, Body) else reference


def joint_name(reference: Any) -> Any:
    """A joint (coordinate) is given as the object or by its name."""
    return reference.name if isinstance(reference, Joint) else reference
