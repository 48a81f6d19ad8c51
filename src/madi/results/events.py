"""What happened in a run: events by time, and the modes of its elements at the outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from madi.forces.modes import AT_LOWER, AT_UPPER, BACKWARD, BY_STATE, EVENT, FORWARD, FRICTION, OPEN, STUCK

if TYPE_CHECKING:
    from madi.results.run import Run
    from madi.system import System

WORDS = {  # what a mode is called, by the kind of its element
    FRICTION: {BY_STATE: "by its speed", FORWARD: "slides", BACKWARD: "slides back", STUCK: "sticks"},
    EVENT: {BY_STATE: "unknown", FORWARD: "above zero", BACKWARD: "below zero"},
}
OF_STOPS = {BY_STATE: "unknown", OPEN: "free", AT_LOWER: "at lower", AT_UPPER: "at upper"}


class Event(NamedTuple):
    """Something that happened: when, by which element, and the energy lost in it (an impact), J."""

    time: float
    name: str
    lost: float


def add_events(run: Run, system: System, events: list[tuple[float, int, float]], held: np.ndarray) -> None:
    """Events, and modes at the outputs, as variables of the run."""
    names, kinds = system.held_names, system.layout.arrays.held_kind
    told = [f"{name}: {mode:g} {word}" for name, kind in zip(names, kinds, strict=True)
            for mode, word in WORDS.get(int(kind), OF_STOPS).items()]  # fmt: skip
    run.arrays.add_coordinate("switching", names)
    run.arrays["mode"] = (("time", "switching"), held, {"units": "1", "modes": "; ".join(told)})
    run.arrays.add_coordinate("event", ("event", np.array([time for time, _, _ in events]), {"units": "s"}))
    run.arrays["event_of"] = ("event", np.array([k for _, k, _ in events], dtype=float), {"units": "1", "of": "switching"})
    run.arrays["event_loss"] = ("event", np.array([lost for _, _, lost in events]), {"units": "J", "of": "energy lost"})


def events_of(data: Any) -> list[Event]:
    """The events of a run, in their order."""
    if "event_of" not in data:
        return []
    names = [str(name) for name in data["switching"].values]
    rows = zip(data["event"].values, data["event_of"].values, data["event_loss"].values, strict=True)
    return [Event(float(time), names[int(k)], float(lost)) for time, k, lost in rows]
