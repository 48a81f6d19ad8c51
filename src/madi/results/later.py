"""What of a run is computed when somebody first asks for it, in a pass over its outputs, stretch by stretch.

A run keeps its states; poses, velocities, energies and loads follow from them. `Quantity` says how each does, `Later` keeps
what was asked for. A stretch is as long as its rows fit in little memory, so no pass needs more than what it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from madi.kernel.forks import Lock
from madi.results.store import Heap


class Source(Protocol):
    """States at the outputs of a run, and what follows from them."""

    system: Any
    times: np.ndarray
    found: Any  # what was recorded of the loops; None: there are none
    at_once: int  # outputs of a stretch
    runs: int  # whose outputs follow each other; of more than one, a stretch has all
    store: Heap  # where what follows is kept

    def seen(self, first: int, last: int) -> Any:
        """Bodies, energies, forces (system/observation.py)."""

    def loads(self, first: int, last: int) -> np.ndarray:
        """Loads of the joints that were asked for or are driven."""


class Stretch:
    """Outputs from first to last, of one run or (all of each) of several; `carried`: what the stretch before left."""

    def __init__(self, source: Source, first: int, last: int, carried: dict[str, Any], runs: int = 1):
        self.source, self.first, self.last, self.carried, self.runs = source, first, last, carried, runs

    @cached_property
    def seen(self) -> Any:
        """See Source."""
        return self.source.seen(self.first, self.last)

    @cached_property
    def loads(self) -> np.ndarray:
        """See Source."""
        return self.source.loads(self.first, self.last)

    def of_loops(self, name: str) -> np.ndarray:
        """What was recorded of the loops."""
        part: np.ndarray = getattr(self.source.found, name)[self.first : self.last]
        return part


@dataclass(frozen=True)
class Quantity:
    """Over time: dimensions after it, their lengths, attributes, how it follows from a stretch. A family is computed
    together; `whole` puts the finish on a family when all outputs are there."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    family: str
    compute: Callable[[Stretch], np.ndarray]
    attrs: dict[str, Any] = field(default_factory=dict)
    whole: Callable[[np.ndarray, dict[str, np.ndarray], int], None] | None = None


class Later:
    """The quantities of a run: computed, or still to be."""

    def __init__(self, source: Source, quantities: Mapping[str, Quantity]):
        self.source, self.quantities = source, dict(quantities)
        self.count = len(source.times)
        self.found: dict[str, np.ndarray] = {}
        self._lock = Lock()

    def shape(self, name: str) -> tuple[int, ...]:
        """Of a quantity."""
        return (self.count, *self.quantities[name].shape)

    def get(self, name: str) -> np.ndarray:
        """A quantity over all outputs."""
        with self._lock:
            if name not in self.found:
                family = self.quantities[name].family
                self.compute(other for other, quantity in self.quantities.items() if quantity.family == family)
            return self.found[name]

    def compute(self, names: Iterable[str]) -> None:
        """These quantities, as far as they are not there, in one pass."""
        with self._lock:
            names = [name for name in self._with_families(names) if name not in self.found]
            made = {name: self.source.store.reals(self.shape(name)) for name in names}
            for first, last, values in self.stretches(names):
                for name, part in values.items():
                    made[name][first:last] = part
            for name in names:
                whole = self.quantities[name].whole
                if whole is not None:
                    whole(self.source.times, made, self.source.runs)
            self.found |= made

    def _with_families(self, names: Iterable[str]) -> list[str]:
        """These, and what they need of their families."""
        found = list(names)
        needed = {self.quantities[name].family for name in found}
        ended = {quantity.family for quantity in self.quantities.values() if quantity.whole is not None}
        return [name for name, q in self.quantities.items() if name in found or q.family in needed & ended]

    def stretches(self, names: Iterable[str]) -> Iterator[tuple[int, int, dict[str, np.ndarray]]]:
        """(first, last, {name: values}) from the first output to the last; what is there already is handed on."""
        names, carried = list(names), dict[str, Any]()
        for first in range(0, self.count, self.source.at_once):
            last = min(first + self.source.at_once, self.count)
            stretch = Stretch(self.source, first, last, carried, self.source.runs)
            with np.errstate(all="ignore"):  # a run that blew up has numbers whose squares do not fit
                yield (
                    first,
                    last,
                    {
                        name: self.found[name][first:last] if name in self.found else self.quantities[name].compute(stretch)
                        for name in names
                    },
                )
            self.source.store.release()


@dataclass(frozen=True)
class Waiting:
    """A quantity that nobody has asked for yet, in place of its values."""

    later: Later
    name: str

    @property
    def shape(self) -> tuple[int, ...]:
        """As its values will have it."""
        return self.later.shape(self.name)

    def get(self) -> np.ndarray:
        """The values."""
        return self.later.get(self.name)
