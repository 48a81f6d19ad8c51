"""What building blocks share: axles and their corners, parts with an inertia of their own or a rod's, sides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, positive_number

if TYPE_CHECKING:
    from madi.model.model import Model

SIDES = ("left", "right")
NO_LENGTH = 1e-9  # m: ends of a link that are one point
THICK = 0.03  # m: radius of gyration of a link about its own axis, unless its inertia is given


@dataclass
class Corner:
    """One wheel's place: the body that carries it, its centre, what was drawn there."""

    side: str
    carrier: str
    centre: np.ndarray
    springs: list[str] = field(default_factory=list)
    knuckle: str = ""  # the body that is steered
    kingpin: tuple[Any, Any] | None = None  # two points of the axis it is steered about
    wheel: str = ""
    spin: str = ""
    tire: str = ""
    axis: Any = (0.0, 1.0, 0.0)
    radius: float = 0.0
    steered: bool = False  # something holds its steer: a rack's rod, a toe link
    arm: str = ""  # what an anti-roll bar's link is attached to


@dataclass
class Axle:
    """Two corners and a kind."""

    name: str
    kind: str
    corners: dict[str, Corner]


def mirrored_inertia(inertia: Any, side: str) -> Any:
    """Principal moments stay; of a matrix, products with y change sign on the right."""
    try:
        given = np.asarray(inertia, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"inertia {inertia!r} must be three numbers or a 3x3 matrix, kg m2") from None
    if side == "left" or given.ndim < 2:
        return inertia
    flip = np.diag([1.0, -1.0, 1.0])
    return flip @ given @ flip


def link(m: Model, name: str, mass: float, ends: list[np.ndarray], inertia: Any = None, side: str = "left") -> None:
    """A body with its centre of mass amid `ends`; its inertia as given, or that of a rod from the first to the last."""
    positive_number(mass, f"body {name!r}: mass")
    centre = np.mean(ends, axis=0)
    if inertia is None:
        along = ends[-1] - ends[0]
        length = float(np.linalg.norm(along))
        n = along / length if length > NO_LENGTH else np.array([0.0, 0.0, 1.0])
        across = np.eye(3) - np.outer(n, n)
        tensor = mass * ((length**2 / 12 + THICK**2 / 2) * across + THICK**2 * np.outer(n, n))
        m.body(name, mass, inertia=tensor, position=centre)
    else:
        m.body(name, mass, inertia=mirrored_inertia(inertia, side), position=centre)


def across_from(axis: np.ndarray, wanted: Any = (0.0, 0.0, 1.0)) -> np.ndarray:
    """A unit vector perpendicular to `axis`, as near to the `wanted` one as can be."""
    n = axis / np.linalg.norm(axis)
    near = np.asarray(wanted, dtype=float)
    if abs(n @ near) > 0.9:
        near = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 0.0, 1.0])
    away = near - (near @ n) * n
    return away / np.linalg.norm(away)
