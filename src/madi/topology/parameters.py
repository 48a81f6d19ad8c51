"""Numbers of a model that stay adjustable: masses, stiffnesses, hard points, by name.

A name is `element.field`, and for one number of several `element.field.x` (y, z, or a count from 0): "chassis.mass",
"spring.stiffness", "pivot.at.x", "gravity.z". Moving a hard point moves all that hangs on it, as if the model had been drawn
so: the numbers kernels read (topology/layout.py) are taken from the model drawn anew. They are affine in a parameter,
reals = reals0 + slope (p - p0), or it is refused; so the same few products adjust data and generated code.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.topology.freeze import Frozen, freeze
from madi.topology.graph import spanning_tree

if TYPE_CHECKING:
    from madi.model.model import Model

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Parameters:
    """Names and values as drawn; `places[k]`, `slopes[k]`: which reals move with parameter k, and how fast;
    `body_slopes[k]`: how the bodies' frames move in the internal ones."""

    names: list[str]
    values: np.ndarray
    places: list[np.ndarray]
    slopes: list[np.ndarray]
    body_slopes: list[np.ndarray]

    def reals(self, base: Any, values: Any) -> Any:
        """The reals for these values: numbers, or symbols (then an array of objects)."""
        rest = np.array(base, dtype=float)
        for drawn, places, slopes in zip(self.values, self.places, self.slopes, strict=True):
            rest[places] -= slopes * drawn
        moving = np.concatenate([np.zeros(0, dtype=np.int64), *self.places])
        rest[moving] = np.where(np.abs(rest[moving]) < 1e-14 * np.abs(base[moving]), 0.0, rest[moving])
        found = rest.astype(object) if np.asarray(values).dtype.hasobject else rest
        for value, places, slopes in zip(values, self.places, self.slopes, strict=True):
            for place, slope in zip(places, slopes, strict=True):
                found[place] = found[place] + slope * value
        return found

    def body_r(self, base: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The bodies' frames in the internal ones, for these values."""
        return base + sum((s * (v - d) for s, v, d in zip(self.body_slopes, values, self.values, strict=True)), 0.0 * base)


def parameters(model: Model, names: Sequence[str], frame: str = "base") -> Parameters:
    """The parameters of these names, checked."""
    names = list(dict.fromkeys(names))
    base = _frozen(model, frame)
    values, places, slopes, bodies = [], [], [], []
    for name in names:
        drawn = read(model, name)
        values.append(drawn)
        step = 0.125 * max(abs(drawn), 1.0)
        near, far = (_frozen(changed(model, {name: drawn + k * step}), frame) for k in (1.0, 2.0))
        for other in (near, far):
            if not np.array_equal(other.layout.ints, base.layout.ints):
                raise InputError(f"parameter {name!r}: the model's structure changes with it; it cannot stay adjustable")
        slope = (near.layout.reals - base.layout.reals) / step
        size = np.abs(base.layout.reals) + np.abs(far.layout.reals) + 1e-6
        if np.any(np.abs(base.layout.reals + 2 * step * slope - far.layout.reals) > 1e-9 * size):
            raise InputError(
                f"parameter {name!r}: lengths or directions depend on it in a curved way. Give springs their free_length "
                "and rods their length as numbers, or choose another parameter"
            )
        moving = np.flatnonzero(np.abs(slope) * step > 1e-13 * size)
        if not len(moving):
            raise InputError(f"parameter {name!r}: nothing in the equations depends on it")
        places.append(moving)
        slopes.append(_rounded(slope[moving]))
        bodies.append((near.body_r - base.body_r) / step)
    return Parameters(names, np.array(values, dtype=float), places, slopes, bodies)


def _rounded(slope: np.ndarray) -> np.ndarray:
    """Slopes that are whole numbers but for rounding become so: a trace can then drop them."""
    whole = np.round(slope)
    return np.where(np.abs(slope - whole) < 1e-12 * np.maximum(np.abs(whole), 1.0), whole, slope)


def _frozen(model: Model, frame: str) -> Frozen:
    return freeze(model, spanning_tree(model), frame)


def changed(model: Model, values: dict[str, float]) -> Model:
    """A copy of the model with other numbers."""
    other = copy.deepcopy(model)
    for name, value in values.items():
        holder, key, index = _locate(other, name)
        if index is None:
            new: Any = float(value)
        else:
            new = np.array(_get(holder, key), dtype=float)
            new.flat[index] = float(value)
        if isinstance(holder, dict):
            holder[key] = new
        elif isinstance(holder, list):
            holder[int(key)] = new
        else:
            setattr(holder, key, new)
    for force in other.forces:  # points were made lists to be written
        force.at = tuple(force.at)
    for constraint in other.constraints:
        constraint.at = tuple(constraint.at)
    return other


def read(model: Model, name: str) -> float:
    """The value of a parameter as drawn."""
    holder, key, index = _locate(model, name)
    value = _get(holder, key)
    try:
        return float(value if index is None else np.asarray(value, dtype=float).flat[index])
    except (TypeError, ValueError):
        raise InputError(f"parameter {name!r} is not a number, but {value!r}: give it one when drawing") from None


def _get(holder: Any, key: str) -> Any:
    if isinstance(holder, dict):
        return holder[key]
    return holder[int(key)] if isinstance(holder, list | tuple) else getattr(holder, key)


FIELDS = {"Body": ("mass", "com", "inertia", "position"), "Joint": ("at", "pitch"), "Force": ("at",), "Constraint": ("at",)}


def _locate(model: Model, name: str) -> tuple[Any, str, int | None]:
    """(what holds the value, under which key, which of several numbers)."""
    word = str(name)
    elements: dict[str, Any] = {item.name: item for group in (model.bodies, model.joints, model.forces, model.constraints)
                                for item in group}  # fmt: skip
    if word.startswith("gravity."):
        return model, "gravity", _index(word.split(".")[1], 3, word)
    known = [item for item in elements if word.startswith(f"{item}.")]
    if not known:
        raise InputError(f"parameter {name!r}: name an element and its field, as in 'spring.stiffness' or 'pivot.at.x'")
    item = elements[max(known, key=len)]
    field, *rest = word[len(item.name) + 1 :].split(".")
    own = getattr(item, "parameters", {})
    if field in own:
        holder: Any = own
    elif field in FIELDS[type(item).__name__]:
        holder = item
    else:
        numbers = [key for key, value in own.items() if isinstance(value, int | float)]
        fields = ", ".join([*FIELDS[type(item).__name__], *numbers])
        raise InputError(f"parameter {name!r}: {item.name!r} has no {field!r}; it has {fields}")
    value = _get(holder, field)
    if field == "at" and isinstance(item.at, tuple | list) and len(item.at) and np.ndim(item.at[0]) == 1:
        # points of a force: "spring.at.0.x", or "tire.at.x" where there is one
        place = rest.pop(0) if len(rest) == 2 else "0"
        if not place.isdigit() or int(place) >= len(item.at):
            raise InputError(f"parameter {name!r}: {item.name!r} has points 0 to {len(item.at) - 1}")
        item.at = list(item.at)
        holder, field, value = item.at, place, item.at[int(place)]
    if np.ndim(value) == 0:
        if rest:
            raise InputError(f"parameter {name!r}: {field!r} is one number")
        return holder, field, None
    if len(rest) != 1:
        raise InputError(f"parameter {name!r}: which of its numbers? Say for example '{name}.x'")
    return holder, field, _index(rest[0], np.size(value), word)


def _index(word: str, count: int, name: str) -> int:
    index = AXES.get(word, int(word) if word.isdigit() else -1)
    if not 0 <= index < count:
        raise InputError(f"parameter {name!r}: {word!r} is not one of x, y, z or a number from 0 to {count - 1}")
    return index
