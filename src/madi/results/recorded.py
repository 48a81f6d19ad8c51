"""What was recorded of a run, and what is asked of it later."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations import ENTRIES
from madi.integrate.many import FEWEST, evaluate_rows
from madi.kernel.cores import cores
from madi.results.store import HEAP, Heap
from madi.system.evaluate import side_by_side
from madi.system.observation import Observation
from madi.topology.layout import Layout

if TYPE_CHECKING:
    from madi.system import System

# of LoopRecord, what is one number for an output
ALONE = ("residual", "residual_rate", "independence", "dependent", "identity_error", "condition")
ROOM = 1_000_000  # numbers a stretch of observed rows may have (8 MB)


def of_loops(recording: Any) -> dict[str, np.ndarray]:
    """What was recorded of the loops, by name."""
    rows = {name: getattr(recording, name).reshape(recording.outputs, recording.nr) for name in ("multipliers", "paces")}
    return {name: getattr(recording, name) for name in ALONE} | rows


def loop_record(recorded: dict[str, np.ndarray], n: int) -> LoopRecord:
    """Of the first n outputs."""
    return LoopRecord(**{name: recorded[name][:n] for name in (*ALONE, "multipliers", "paces")})


@dataclass(frozen=True)
class LoopRecord:
    """What was recorded of the loops, an entry for each output."""

    residual: np.ndarray
    residual_rate: np.ndarray
    independence: np.ndarray
    dependent: np.ndarray
    identity_error: np.ndarray
    condition: np.ndarray
    multipliers: np.ndarray  # (outputs, rows)
    paces: np.ndarray


@dataclass(frozen=True)
class Known:
    """A run of which all is there."""

    system: System
    times: np.ndarray
    observation: Any
    all_loads: np.ndarray | None
    found: LoopRecord | None
    runs: int = 1
    store: Heap = HEAP

    q = property(lambda self: self.observation.q)
    v = property(lambda self: self.observation.v)
    a = property(lambda self: self.observation.a)

    @property
    def at_once(self) -> int:
        """See Source (later.py): all."""
        return max(len(self.times), 1)

    def seen(self, first: int, last: int) -> Any:
        """See Source."""
        return self.observation

    def loads(self, first: int, last: int) -> np.ndarray:
        """See Source."""
        assert self.all_loads is not None
        return self.all_loads


class Recorded:
    """States and accelerations at the outputs, multipliers; the rest is asked of the engine of the run."""

    def __init__(self, system: System, engines: tuple[str, str], times: np.ndarray,
                 states: tuple[np.ndarray, np.ndarray, np.ndarray], held: np.ndarray, found: LoopRecord | None,
                 request: tuple[float, ...], loads_width: int, store: Heap = HEAP):  # fmt: skip
        """`engines`: for what is observed, and for loads. `states`: q, v, a; `held`: held values. `request`: the loads
        (equations/loads.py)."""
        self.system, self.engines, self.times, self.found = kept(system), engines, times, found
        self.q, self.v, self.a = states
        self.held = held
        self.runs, self.store = 1, store
        self.request, self.loads_width = request, loads_width
        self.width = ENTRIES["observe"].out(system.layout.sizes)

    @property
    def at_once(self) -> int:
        """See Source."""
        return max(ROOM // self.width, FEWEST * cores())

    def seen(self, first: int, last: int) -> Observation:
        """See Source."""
        x = side_by_side(self.a[first:last], self.held[first:last])
        return Observation(self.system, self._rows("observe", 0, x, first, ()))

    def loads(self, first: int, last: int) -> np.ndarray:
        """See Source."""
        multipliers = np.zeros((last - first, 0)) if self.found is None else self.found.multipliers[first:last]
        x = side_by_side(self.a[first:last], self.held[first:last], np.array(self.request), multipliers)
        return self._rows("loads", 1, x, first, self.request)

    def _rows(self, entry: str, which: int, x: np.ndarray, first: int, request: tuple[float, ...]) -> np.ndarray:
        """An entry at the outputs from the first on, as many as x has rows."""
        last, width = first + len(x), self.loads_width if request else self.width
        machine, out = self.system.engine(self.engines[which]), np.zeros((len(x), width))
        asked = lambda: machine.function(entry, request, width if request else 0)  # noqa: E731
        threads = machine.machine_code and not self.system.frozen.signals.callbacks
        states = self.times[first:last], self.q[first:last], self.v[first:last], np.ascontiguousarray(x)
        with np.errstate(all="ignore"):
            evaluate_rows(machine, asked, *states, out, threads)
        return out


def kept(system: System) -> System:
    """The system as it is now: of one whose parameters change from run to run, a copy."""
    if system.parameters is None:
        return system
    other = system._with(Layout(system.layout.ints, system.layout.reals.copy(), system.layout.curve))
    other.frozen = copy.copy(system.frozen)
    if system.values is not None:
        other.values = system.values.copy()
    return other
