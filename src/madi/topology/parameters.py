"""Numbers of a model that stay adjustable: masses, stiffnesses, hard points, by name.

A name is `element.field`, and for one number of several `element.field.x` (y, z, or a count from 0): "chassis.mass",
"spring.stiffness", "pivot.at.x", "gravity.z". Moving a hard point moves all that is attached to it, as if the model had been
drawn so: the numbers kernels read (topology/layout.py) are taken from the model drawn anew. They are affine in a parameter,
reals = reals0 + slope (p - p0), or it is refused; so the same few products adjust data and generated code.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.forces import KINDS as FORCES
from madi.model.elements import Force
from madi.topology.freeze import Frozen, freeze
from madi.topology.graph import spanning_tree
from madi.topology.lower import lower

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.topology.layout import Layout

NOTHING_LEFT = 1e-14  # of a number: what rounding leaves of it without its parameter
STRAIGHT, MOVES, LEAST_NUMBER = 1e-9, 1e-13, 1e-6  # of a number and the last: off a line, and changes, that are not rounding
WHOLE = 1e-12  # rounding of a slope that is a whole number
OF_MOTION = ("C", "d", "pitch", "shape", "tape_constant")  # fields that poses and speeds depend on
AXES = {"x": 0, "y": 1, "z": 2}
GROUPS = ("bodies", "joints", "forces", "constraints")


@dataclass(frozen=True)
class Parameters:
    """Names and values as drawn; `places[k]`, `slopes[k]`: which reals move with parameter k, and how fast;
    `body_slopes[k]`: how the bodies' frames move in the internal ones."""

    names: list[str]
    values: np.ndarray
    places: list[np.ndarray]
    slopes: list[np.ndarray]
    body_slopes: list[np.ndarray]

    def without(self, base: Any) -> np.ndarray:
        """The reals but for what the parameters add to them."""
        rest = np.array(base, dtype=float)
        for drawn, places, slopes in zip(self.values, self.places, self.slopes, strict=True):
            rest[places] -= slopes * drawn
        moving = np.concatenate([np.zeros(0, dtype=np.int64), *self.places])
        rest[moving] = np.where(np.abs(rest[moving]) < NOTHING_LEFT * np.abs(base[moving]), 0.0, rest[moving])
        return rest

    def reals(self, base: Any, values: Any) -> Any:
        """The reals for these values: numbers, or symbols (then an array of objects)."""
        rest = self.without(base)
        found = rest.astype(object) if np.asarray(values).dtype.hasobject else rest
        for value, places, slopes in zip(values, self.places, self.slopes, strict=True):
            for place, slope in zip(places, slopes, strict=True):
                found[place] = found[place] + slope * value
        return found

    def moving(self, base: Any, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(places that move, what is there for each row of values), as `reals` has it."""
        places = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self.places]))
        found = np.tile(self.without(base)[places], (len(values), 1))
        for k, (own, slopes) in enumerate(zip(self.places, self.slopes, strict=True)):
            found[:, np.searchsorted(places, own)] += slopes * values[:, k, None]
        return places, found

    def leaves_motion(self, layout: Layout) -> bool:
        """Whether poses and speeds at given coordinates are the same for all values."""
        if any(np.any(slope) for slope in self.body_slopes):
            return False
        spans = [reals_of(layout, name) for name in OF_MOTION]
        return not any(np.any((places >= span.start) & (places < span.stop)) for places in self.places for span in spans)

    def key(self) -> str:
        """What code made for these parameters depends on, beside the model's numbers."""
        digest = hashlib.sha256()
        for array in (self.values, *self.places, *self.slopes):
            digest.update(np.asarray(array, dtype=float).tobytes() + b"|")
        return digest.hexdigest()

    def body_r(self, base: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The bodies' frames in the internal ones, for these values."""
        return base + sum((s * (v - d) for s, v, d in zip(self.body_slopes, values, self.values, strict=True)), 0.0 * base)


def parameters(model: Model, names: Sequence[str], frame: str = "base", drawn_as: Frozen | None = None) -> Parameters:
    """The parameters of these names, checked. `drawn_as`: the model frozen, where that is done already."""
    names = list(dict.fromkeys(names))
    base = drawn_as or _frozen(model, frame)
    values, places, slopes, bodies = [], [], [], []
    for name in names:
        drawn = read(model, name)
        values.append(drawn)
        step = 0.125 * max(abs(drawn), 1.0)
        near, far = (_frozen(changed(model, {name: drawn + k * step}), frame) for k in (1.0, 2.0))
        for other in (near, far):
            if not np.array_equal(other.layout.structure, base.layout.structure):
                raise InputError(f"parameter {name!r}: the model's structure changes with it; it cannot stay adjustable")
            if not np.array_equal(other.layout.curve, base.layout.curve):
                raise InputError(
                    f"parameter {name!r}: a table of measured points, or how a road of points is averaged under a wheel, "
                    "changes with it; draw a model for each value"
                )
        slope = (near.layout.reals - base.layout.reals) / step
        size = np.abs(base.layout.reals) + np.abs(far.layout.reals) + LEAST_NUMBER
        if np.any(np.abs(base.layout.reals + 2 * step * slope - far.layout.reals) > STRAIGHT * size):
            raise InputError(
                f"parameter {name!r}: lengths or directions depend on it in a curved way. Give springs their free_length "
                "and rods their length as numbers, or choose another parameter"
            )
        moving = np.flatnonzero(np.abs(slope) * step > MOVES * size)
        if not len(moving):
            raise InputError(f"parameter {name!r}: nothing in the equations depends on it")
        places.append(moving)
        slopes.append(_rounded(slope[moving]))
        bodies.append((near.body_r - base.body_r) / step)
    return Parameters(names, np.array(values, dtype=float), places, slopes, bodies)


def reals_of(layout: Layout, name: str) -> slice:
    """Where a field is among the reals of a layout."""
    own: np.ndarray = getattr(layout.arrays, name)
    first = (own.ctypes.data - layout.reals.ctypes.data) // layout.reals.itemsize
    return slice(first, first + own.size)


def _rounded(slope: np.ndarray) -> np.ndarray:
    """Slopes that are whole numbers but for rounding become so: a trace can then drop them."""
    whole = np.round(slope)
    return np.where(np.abs(slope - whole) < WHOLE * np.maximum(np.abs(whole), 1.0), whole, slope)


def _frozen(model: Model, frame: str) -> Frozen:
    model = lower(model)
    return freeze(model, spanning_tree(model), frame)


def changed(model: Model, values: dict[str, float]) -> Model:
    """A copy of the model with other numbers; elements that have none of them are shared."""
    other, own = copy.copy(model), list[Any]()
    for name, value in values.items():
        place = _locate(other, name)
        if place.item is not None and place.item not in own:
            own.append(_apart(place.item))
            for group in GROUPS:
                setattr(other, group, [own[-1] if item is place.item else item for item in getattr(other, group)])
            place = _locate(other, name)
        place.write(float(value))
    return other


def _apart(item: Any) -> Any:
    """A copy of an element, with parameters of its own."""
    found = copy.copy(item)
    if hasattr(found, "parameters"):
        found.parameters = dict(found.parameters)
    return found


def named(model: Model, names: Sequence[str]) -> list[Any]:
    """The elements these parameters are numbers of."""
    return [item for item in (_locate(model, name).item for name in names) if item is not None]


def read(model: Model, name: str) -> float:
    """The value of a parameter as drawn."""
    value = _locate(model, name).read()
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"parameter {name!r} is not a number, but {value!r}: give it one when drawing") from None


class Place:
    """Where a number is: a field of an element, or of its parameters; one of several, or of several points."""

    def __init__(self, holder: Any, key: str, index: int | None = None, point: int | None = None, item: Any = None):
        """`item`: the element it belongs to."""
        self.holder, self.key, self.index, self.point, self.item = holder, key, index, point, item

    def whole(self) -> Any:
        """All that the field holds."""
        return self.holder[self.key] if isinstance(self.holder, dict) else getattr(self.holder, self.key)

    def read(self) -> Any:
        """The number."""
        value = self.whole() if self.point is None else self.whole()[self.point]
        return value if self.index is None else np.asarray(value, dtype=float).flat[self.index]

    def write(self, number: float) -> None:
        """Put another number there; tuples are made anew, so that nobody else's change."""
        value: Any = number
        if self.index is not None:
            old = self.whole() if self.point is None else self.whole()[self.point]
            value = np.array(old, dtype=float)
            value.flat[self.index] = number
            if value.shape == (3, 3):  # an inertia: both entries off the diagonal
                value.T.flat[self.index] = number
        if self.point is not None:
            points = list(self.whole())
            points[self.point] = value
            value = tuple(points)
        if isinstance(self.holder, dict):
            self.holder[self.key] = value
        else:
            setattr(self.holder, self.key, value)


def _of_block(word: str, items: list[Any]) -> str:
    """A parameter named by the block a user drew ("bar.stiffness") with its element in place of it ("bar_torsion"); "": none
    is called so."""
    block, _, rest = word.partition(".")
    own = [item for item in items if str(item.name).startswith(f"{block}_")]
    found = [str(item.name) for item in own if rest.split(".")[0] in _fields(item)]
    if len(found) > 1:
        raise InputError(f"parameter {word!r}: {block!r} has several: {', '.join(f'{name}.{rest}' for name in found[:8])}")
    return f"{found[0]}.{rest}" if found else ""


FIELDS = {
    "Body": ("mass", "com", "inertia", "position"), "Joint": ("at", "pitch", "armature"),
    "Force": ("at",), "Constraint": ("at",),
}  # fmt: skip


def _locate(model: Model, name: str) -> Place:
    """Where the number of that name is."""
    word = str(name)
    items = [item for group in GROUPS for item in getattr(model, group)]
    known = [item for item in items if word.startswith(f"{item.name}.")]
    if not known and word.startswith("gravity."):
        return Place(model, "gravity", _index(word.split(".", 1)[1], 3, word))
    if not known and (whole := _of_block(word, items)):
        return _locate(model, whole)
    if not known:
        first = word.split(".")[0]
        raise InputError(
            f"parameter {name!r}: there is no element {first!r}; name an element and its field, as in 'spring.stiffness' or "
            "'pivot.at.x'"
        )
    longest = max(len(item.name) for item in known)
    known = [item for item in known if len(item.name) == longest]
    field, *rest = word[longest + 1 :].split(".")
    if any(getattr(item, "flexible", None) is not None for item in known):
        raise InputError(
            f"parameter {name!r}: the numbers of flexible body {known[0].name!r} cannot stay adjustable; draw a model for "
            "each value"
        )
    if any(isinstance(item, Force) and FORCES[item.kind].states and not FORCES[item.kind].ends for item in known):
        raise InputError(f"parameter {name!r}: a first-order state starts where v0 says: v0={{{known[0].name!r}: [...]}}")
    having = [item for item in known if field in _fields(item)]
    if not having:
        fields = ", ".join(dict.fromkeys(field for item in known for field in _fields(item)))
        raise InputError(f"parameter {name!r}: {known[0].name!r} has no {field!r}; it has {fields}")
    if len(having) > 1:
        kinds = " and a ".join(type(item).__name__.lower() for item in having)
        raise InputError(f"parameter {name!r}: a {kinds} share this name; rename one of them")
    item = having[0]
    own = getattr(item, "parameters", {})
    place = Place(own if field in own else item, field, item=item)
    value = place.whole()
    if field == "at" and isinstance(value, tuple | list) and len(value) and np.ndim(value[0]) == 1:
        # points of a force: "spring.at.0.x", or "tire.at.x" where there is one
        number = rest.pop(0) if len(rest) == 2 else "0"
        if not number.isdigit() or int(number) >= len(value):
            raise InputError(f"parameter {name!r}: {item.name!r} has points 0 to {len(value) - 1}")
        place.point, value = int(number), value[int(number)]
    if np.ndim(value) == 0:
        if rest:
            raise InputError(f"parameter {name!r}: {field!r} is one number")
        return place
    if len(rest) != 1:
        raise InputError(f"parameter {name!r}: which of its numbers? Say for example '{name}.x'")
    place.index = _index(rest[0], np.size(value), word)
    return place


def _fields(item: Any) -> list[str]:
    """Fields of an element that may be parameters."""
    takes = FORCES[item.kind].takes if isinstance(item, Force) else {}
    numbers = [key for key in getattr(item, "parameters", {}) if key not in takes or takes[key].adjustable]
    return [*FIELDS[type(item).__name__], *numbers]


def _index(word: str, count: int, name: str) -> int:
    index = AXES.get(word, int(word) if word.isdigit() else -1)
    if not 0 <= index < count:
        raise InputError(f"parameter {name!r}: {word!r} is not one of x, y, z or a number from 0 to {count - 1}")
    return index
