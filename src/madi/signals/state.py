"""What users' functions get as q and v: arrays that also know their entries by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from madi.errors import InputError


class Named(np.ndarray):
    """An array whose entries have names: x["A"], x["A.angle"]; of a joint with several, x["A"] is all. x[3] as ever."""

    places: dict[str, Any]
    what: str

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return np.asarray(self)[key]
        if key not in self.places:
            raise InputError(f"there is no {self.what} {key!r} in this model's tree; there are: {', '.join(self.places)}")
        return np.asarray(self)[self.places[key]]

    def __array_finalize__(self, other: Any) -> None:
        self.places, self.what = getattr(other, "places", {}), getattr(other, "what", "coordinate")


def places_of(names: Sequence[str]) -> dict[str, Any]:
    """Where each name is; of a joint with several coordinates, where they all are."""
    return _places(tuple(names))  # asked for again with every function of a model


@lru_cache(maxsize=8)
def _places(names: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {name: k for k, name in enumerate(names)}
    whole: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        whole.setdefault(name.split(".")[0], []).append(k)
    return whole | found  # a coordinate's own name comes first


def named(array: np.ndarray, places: dict[str, Any], what: str) -> Named:
    """The array (not copied) with names."""
    view = array.view(Named)
    view.places, view.what = places, what
    return view
