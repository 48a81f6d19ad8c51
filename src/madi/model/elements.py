"""The elements of a model as the user gave them. Nothing is judged here: `check.py` does that, all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from madi.errors import InputError, finite_numbers, positive_number
from madi.forces import KINDS as FORCES


class Element:
    """What all elements share: fields that can be set later, and no others. What is set counts from the next build on, and
    is checked there like what was drawn."""

    name: str

    def __setattr__(self, field: str, value: Any) -> None:
        numbers = self.__dict__.get("parameters", {})
        if field in type(self).__dataclass_fields__:  # type: ignore[attr-defined]
            object.__setattr__(self, field, value)
        elif field in numbers:
            self._refuse_derived(field)
            numbers[field] = value
        else:
            known = [one for one in type(self).__dataclass_fields__ if one != "parameters"]  # type: ignore[attr-defined]
            raise InputError(
                f"{type(self).__name__.lower()} {self.__dict__.get('name')!r} has no {field!r} that could be set; it has: "
                f"{', '.join([*numbers, *known])}"
            )

    def __getattr__(self, field: str) -> Any:
        numbers = self.__dict__.get("parameters", {})
        if field in numbers:
            return numbers[field]
        raise AttributeError(f"{type(self).__name__.lower()} {self.__dict__.get('name')!r} has no {field!r}")

    def _refuse_derived(self, field: str) -> None:
        """Numbers that others were made of when the element was drawn cannot be set alone."""


VISUAL_SIZES = {"box": 3, "sphere": 1, "cylinder": 2}  # how many numbers tell their size


@dataclass(eq=False)
class Visual:
    """What a body looks like, in its frame: a box, a sphere, a cylinder (along z), or a mesh file. No mechanics."""

    kind: str
    size: Any = None
    position: Any = (0.0, 0.0, 0.0)
    orientation: Any = None
    color: str | None = None
    file: Any = None
    scale: Any = 1.0
    triangles: Any = None  # of a mesh that came with a run: corners (n, 3, 3), m

    def check(self, where: str) -> None:
        """What is wrong is reported at once: nothing later looks at it."""
        if self.kind not in (*VISUAL_SIZES, "mesh"):
            raise InputError(f"{where}: {self.kind!r}; choose one of {', '.join((*VISUAL_SIZES, 'mesh'))}")
        if self.kind == "mesh":
            if not isinstance(self.file, str | Path) or Path(self.file).suffix.lower() not in (".stl", ".obj"):
                raise InputError(f"{where}: a mesh needs a file, .stl or .obj, not {self.file!r}")
            positive_number(self.scale, f"{where}: scale")
            return
        count = VISUAL_SIZES[self.kind]
        size = finite_numbers(np.atleast_1d(np.asarray(self.size, dtype=object)), count)
        if size is None or np.any(size <= 0):
            raise InputError(f"{where}: a {self.kind} needs size: {count} number(s) > 0, not {self.size!r}")
        if finite_numbers(self.position, 3) is None:
            raise InputError(f"{where}: position {self.position!r} is not three finite numbers")


@dataclass(eq=False)
class Body(Element):
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
    drawn: Any = None  # of a beam: start, end, y_axis as given
    visuals: list[Visual] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Body({self.name!r})"

    def point(self, name: str) -> str:
        """A named point of a flexible body, to hang joints and forces on: "link@tip"."""
        return f"{self.name}@{name}"


@dataclass(eq=False)
class Joint(Element):
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
    armature: Any = 0.0  # rotor inertia of each coordinate, or one number for all
    station: Any = None  # of a modal joint: the point of the flexible body it leads to

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.kind})"


@dataclass(eq=False)
class Force(Element):
    """A force element: bodies (or a joint coordinate), points, parameters, and a value that may be a function."""

    name: str
    kind: str
    a: Any
    b: Any = None
    at: tuple[Any, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    value: Any = None

    def _refuse_derived(self, field: str) -> None:
        takes = FORCES[self.kind].takes if self.kind in FORCES else {}
        if field in takes and takes[field].source:
            source = takes[field].source
            raise InputError(f"force {self.name!r}: {source} came with its {field}; remove it and draw it anew")


@dataclass(eq=False)
class Constraint(Element):
    """A constraint beside the joints: between two bodies, or (coupler) between two joint coordinates."""

    name: str
    kind: str
    a: Any
    b: Any
    at: tuple[Any, ...] = ()
    axis: Any = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def _refuse_derived(self, field: str) -> None:
        if field == "radii" or (field == "ratio" and "radii" in self.parameters):
            raise InputError(f"gear {self.name!r}: its ratio was made of its radii; remove it and draw it anew")


@dataclass(eq=False)
class Drive:
    """A joint coordinate prescribed as a function of time; `function` None: held where it is."""

    coordinate: str
    function: Any = None


BodyLike = Body | str  # itself, or its name ("link@tip": a point of a flexible one)
JointLike = Joint | str  # itself, or its name, or one of its coordinates ("A.angle")


def body_name(reference: Any) -> Any:
    """A body is given as the object or by its name."""
    return reference.name if isinstance(reference, Body) else reference


def joint_name(reference: Any) -> Any:
    """A joint (coordinate) is given as the object or by its name."""
    return reference.name if isinstance(reference, Joint) else reference


def inertia_matrix(body: Body) -> np.ndarray | None:
    """The 3x3 inertia about the centre of mass, or None if it is not one."""
    given = finite_numbers(body.inertia)
    if given is None or given.shape not in ((3,), (3, 3)):
        return None
    return np.diag(given) if given.shape == (3,) else given
