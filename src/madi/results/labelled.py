"""Arrays with names, as a run first holds them: the part of xarray's Dataset that signals need, without loading xarray."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.results.later import Later, Waiting

if TYPE_CHECKING:
    import xarray as xr

LARGE = 2_000_000  # numbers that were not asked for: as many are computed without being asked when a Dataset is made


def held(values: np.ndarray) -> np.ndarray:
    """An array nobody can write into by this name: others are computed from it later."""
    view = values.view()
    view.flags.writeable = False
    return view


class Variable:
    """An array whose axes have names; `labels` are the coordinates along them. What it is made with is read-only."""

    def __init__(self, dims: Iterable[str], values: Any, attrs: Mapping[str, Any], labels: Mapping[str, Labels]):
        self.dims, self.attrs, self._labels = tuple(dims), dict(attrs), labels
        self._values = values if isinstance(values, Waiting | _Chosen) else held(np.asarray(values))

    @property
    def values(self) -> np.ndarray:
        """The numbers, computed now if they were not yet."""
        if isinstance(self._values, Waiting | _Chosen):
            self._values = self._values.get()
        found: np.ndarray = self._values
        return found

    @property
    def own(self) -> np.ndarray:
        """The numbers as whoever asks may write into them."""
        return self.values if self.values.flags.writeable else np.array(self.values)

    @property
    def waiting(self) -> Waiting | None:
        """What stands for the numbers as long as nobody has asked for them."""
        values = self._values
        return values if isinstance(values, Waiting) and values.name not in values.later.found else None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_values": self.values}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, where: Any) -> np.ndarray:
        found: np.ndarray = self.values[where]
        return found

    def sel(self, chosen: Mapping[str, Any] | None = None, **more: Any) -> Variable:
        """The part at these labels: {dimension: label}."""
        at = {dim: self._labels[dim].place[label] for dim, label in {**(chosen or {}), **more}.items() if dim in self.dims}
        where = tuple(at.get(dim, slice(None)) for dim in self.dims)
        values = self.values[where] if self.waiting is None else _Chosen(self, where)
        return Variable([dim for dim in self.dims if dim not in at], values, self.attrs, self._labels)


class _Chosen:
    """Part of a variable that is still waiting."""

    def __init__(self, variable: Variable, where: tuple[Any, ...]):
        self.variable, self.where = variable, where

    def get(self) -> np.ndarray:
        """The values."""
        return self.variable[self.where]


class Labels(Variable):
    """A coordinate: names (or numbers) along a dimension, and where each is."""

    @cached_property
    def place(self) -> dict[Any, int]:
        """Of each label."""
        return {label: k for k, label in enumerate(self.values.tolist())}

    def __contains__(self, label: object) -> bool:
        return label in self.place

    def get_loc(self, label: Any) -> int:
        """Where a label is."""
        return self.place[label]


class Labelled:
    """Variables over coordinates; made and added to as xarray's Datasets are. `runs`: how many runs at the same times have
    their outputs in it, one after the other."""

    runs = 1

    def __init__(self, variables: Mapping[str, Any], coords: Mapping[str, Any], attrs: Mapping[str, Any]):
        self.coords: dict[str, Labels] = {}
        self.data_vars: dict[str, Variable] = {}
        self.attrs = dict(attrs)
        for name, given in coords.items():
            self.add_coordinate(name, given)
        for name, given in variables.items():
            self[name] = given

    @property
    def indexes(self) -> dict[str, Labels]:
        """Where labels are, by dimension."""
        return self.coords

    def add_coordinate(self, name: str, given: Any) -> None:
        """(dimension, values, attributes), or the labels of the dimension of this name."""
        self.coords[name] = Labels(*_parts(given if isinstance(given, tuple) else (name, given)), self.coords)

    def __setitem__(self, name: str, given: tuple[Any, ...]) -> None:
        """(dimensions, values, attributes)."""
        self.data_vars[name] = Variable(*_parts(given), self.coords)

    def __getitem__(self, name: str) -> Variable:
        return self.data_vars[name] if name in self.data_vars else self.coords[name]

    def __contains__(self, name: object) -> bool:
        return name in self.data_vars or name in self.coords

    def sel(self, **chosen: Any) -> Labelled:
        """The part at these labels."""
        part = Labelled({}, {}, self.attrs)
        for name, labels in self.coords.items():
            one = labels.sel(chosen)
            part.coords[name] = Labels(one.dims, one.values, one.attrs, part.coords)
        part.data_vars = {name: v.sel(chosen) for name, v in self.data_vars.items()}
        return part

    def dataset(self, own: bool = True) -> xr.Dataset:
        """As xarray has it. Where there is much that nobody has asked for, it is computed when somebody does, as if it were
        read from a file. `own`: whoever asks may write into it."""
        import xarray as xr

        waiting = [v.waiting for v in self.data_vars.values() if v.waiting is not None]
        if sum(math.prod(one.shape) for one in waiting) < LARGE:
            self.compute()
            waiting = []
        coords = {name: (v.dims, np.array(v.values), v.attrs) for name, v in self.coords.items()}
        if not waiting:
            there = {name: (v.dims, v.own if own else v.values, v.attrs) for name, v in self.data_vars.items()}
            return xr.Dataset(there, coords, self.attrs)
        from madi.results.unread import unread

        variables = {name: unread(v.dims, v.waiting or v.values, v.attrs) for name, v in self.data_vars.items()}
        return xr.Dataset(variables, coords, self.attrs)

    def later(self) -> Later | None:
        """What computes the variables that are still waiting; None: there are none."""
        return next((v.waiting.later for v in self.data_vars.values() if v.waiting is not None), None)

    def compute(self) -> None:
        """All that is still waiting, in one pass."""
        later = self.later()
        if later is not None:
            later.compute(name for name, v in self.data_vars.items() if v.waiting is not None)
        for variable in self.data_vars.values():
            _ = variable.values

    def __getstate__(self) -> dict[str, Any]:
        self.compute()
        return self.__dict__


def _parts(given: tuple[Any, ...]) -> tuple[tuple[str, ...], Any, dict[str, Any]]:
    """Dimensions, values and attributes, of what may leave out the last and have one name for the first."""
    dims, values, attrs = (*given, {})[:3]
    return (dims,) if isinstance(dims, str) else tuple(dims), values, attrs
