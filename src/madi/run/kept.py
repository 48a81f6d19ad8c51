"""What is kept of each run of a batch: variables, signals, expressions of signals (`reduction.py`), functions of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations import ENTRIES
from madi.errors import InputError, closest
from madi.results.label import labelled
from madi.results.labelled import Labelled
from madi.results.quantities import Quantities
from madi.results.recorded import ALONE, Known, LoopRecord
from madi.results.run import Run
from madi.results.signals import names, signal
from madi.system.observation import Observation

if TYPE_CHECKING:
    from madi.run.slice import Rows
    from madi.run.solver import Solver
    from madi.schema.reduction import Reduction

STATES = ("q", "v")
OF_STATES = (*STATES, "a", "violation", "violation_rate", "independence", "dependent", "null_space_error", "condition",
             "multiplier")  # fmt: skip
OF_LOADS = ("reaction_force", "reaction_moment", "driving_force", "driving_power", "power")


def by_name(keep: Any) -> dict[str, Any]:
    """{name: variable, signal, expression or function} of what was asked for."""
    if isinstance(keep, Mapping):
        return {str(name): what for name, what in keep.items()}
    found: dict[str, Any] = {}
    for what in [keep] if isinstance(keep, str) or callable(keep) else keep:
        if not isinstance(what, str) and not callable(what):
            raise InputError(f"keep: {what!r} is neither a name, an expression nor a function of a run")
        name = what if isinstance(what, str) else getattr(what, "__name__", type(what).__name__)
        if name in found:
            raise InputError(f"keep: {name!r} is there twice; give names: keep={{'a': ..., 'b': ...}}")
        found[name] = what
    return found


class Kept:
    """What is kept of the runs of a solver."""

    def __init__(self, solver: Solver, keep: Any):
        self.solver, self.asked = solver, by_name(keep)
        system = solver.system
        self.made = Quantities(system, solver.reactions, solver.joints, solver.driven, solver.loops is not None)
        loops = solver.loops
        self.statistics: dict[str, Any] = {} if loops is None else {"loops": loops.name}
        if loops is not None and loops.directions:
            self.statistics["decompositions"] = 0
        self.empty = self._labelled(self._nothing())
        self.variables: dict[str, str] = {}
        self.reductions: dict[str, Reduction] = {}
        self.functions: dict[str, Callable[[Run], Any]] = {}
        taken = {
            *self.empty.coords,
            "run",
            "message",
            "cause",
            *(solver.system.parameters.names if solver.system.parameters else ()),
        }
        for name, what in self.asked.items():
            if name in taken:
                raise InputError(f"keep: {name!r} has a meaning of its own in the dataset; give another name")
            if callable(what):
                self.functions[name] = what
            elif what in self.empty.data_vars and self.empty[what].dims[:1] == ("time",):
                self.variables[name] = what
            else:
                self.reductions[name] = self._reduction(what)
        wanted, others = set(self.variables.values()), bool(self.reductions or self.functions)
        self.states_alone = not others and wanted <= set(STATES)
        self.no_bodies = not others and wanted <= set(OF_STATES)
        self.loads = others or bool(wanted & set(OF_LOADS))

    def _nothing(self) -> Known:
        """A run without outputs: it has all names."""
        solver, none, nr = self.solver, np.zeros(0), self.solver.sizes["nr"]
        seen = Observation(solver.system, np.zeros((0, ENTRIES["observe"].out(solver.system.layout.sizes))))
        found = None
        if solver.loops is not None:
            alone = dict.fromkeys(ALONE, none)
            found = LoopRecord(**alone, multipliers=np.zeros((0, nr)), paces=np.zeros((0, nr)))
        return Known(solver.system, none, seen, np.zeros((0, solver.loads_width)), found)

    def _labelled(self, source: Any) -> Labelled:
        return labelled(source, self.made, self.statistics)

    def _reduction(self, text: str) -> Reduction:
        from madi.schema.reduction import Reduction

        found = Reduction(text)
        for name in found.signals:
            try:
                signal(self.empty, name)
            except InputError:
                near = closest(name, [*map(str, self.empty.data_vars), *names(self.empty)], 3, 0.6)
                told = f"near it: {', '.join(near)}" if near else f"there are {', '.join(map(str, self.empty.data_vars))}"
                raise InputError(f"keep: there is no {name!r} in the results; {told}") from None
        return found

    def states(self, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
        """Of runs of which states alone are kept."""
        return {name: q if what == "q" else v for name, what in self.variables.items()}

    def values(self, rows: Rows) -> dict[str, np.ndarray]:
        """Of the runs of a slice: rows of what is kept."""
        arrays, found, runs = self._labelled(rows), dict[str, np.ndarray](), rows.runs
        later = arrays.later()
        if later is not None:
            later.compute(what for what in self.variables.values() if what in later.quantities)
        for name, what in self.variables.items():
            values = arrays[what].values
            found[name] = values.reshape(runs, -1, *values.shape[1:])
        with np.errstate(all="ignore"):
            for name, reduction in self.reductions.items():
                of = lambda signal_name: signal(arrays, signal_name)[0].reshape(runs, -1)  # noqa: E731
                found[name] = reduction(of, rows.times[: len(rows.times) // runs], runs)
        for name, function in self.functions.items():
            found[name] = self._of_runs(name, function, rows)
        return found

    def _of_runs(self, name: str, function: Callable[[Run], Any], rows: Rows) -> np.ndarray:
        """What a function says of each run; None of those that failed."""
        found, like = np.full(rows.runs, None, dtype=object), None
        for k in range(rows.runs):
            one = rows.one(k)
            if np.isfinite(one.q).all():
                arrays = labelled(one, self.made, self.statistics, like)
                like = like or arrays
                run = Run(arrays, dict(self.statistics), self.solver.system.model)
                try:
                    found[k] = np.asarray(function(run), dtype=float)
                except (TypeError, ValueError) as error:
                    raise InputError(f"keep: {name!r} must give a number or an array of a run ({error})") from error
        return found

    def described(self, name: str) -> tuple[tuple[str, ...], dict[str, Any]]:
        """(dimensions, attributes) of a variable or reduction that is kept; of a reduction, if it is over time."""
        if name in self.variables:
            variable = self.empty[self.variables[name]]
            return ("run", *variable.dims), variable.attrs
        reduction = self.reductions[name]
        units = {unit for one in reduction.signals for unit in [signal(self.empty, one)[1]]}
        attrs = {"expression": reduction.text}
        if reduction.keeps_unit and len(units) == 1:
            attrs["units"] = next(iter(units))
        return ("run",) if reduction.is_number else ("run", "time"), attrs
