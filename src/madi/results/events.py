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
    """Something that happened: when, to which element, what it does from then on ("slides", "sticks", "free", "at lower",
    "above zero" ...), and the energy lost in it (an impact), J."""

    time: float
    name: str
    now: str
    lost: float


def add_events(run: Run, system: System, events: list[tuple[float, int, float, float]], held: np.ndarray) -> None:
    """Events, and modes at the outputs, as variables of the run."""
    modes = system.switching
    names, kinds = [system.held_names[k] for k in modes], system.layout.arrays.held_kind[modes]
    told = [f"{name}: {mode:g} {word}" for name, kind in zip(names, kinds, strict=True)
            for mode, word in WORDS.get(int(kind), OF_STOPS).items()]  # fmt: skip
    run.arrays.add_coordinate("switching", names)
    run.arrays["mode"] = (("time", "switching"), held[:, modes], {"units": "1", "modes": "; ".join(told)})
    rows = np.array(events, dtype=float).reshape(-1, 4).T
    place = {k: j for j, k in enumerate(modes)}
    rows[1] = [place[int(k)] for k in rows[1]]
    run.arrays.add_coordinate("event", ("event", rows[0], {"units": "s"}))
    for name, values, attributes in (
        ("event_of", rows[1], {"units": "1", "of": "its element, by its place in `switching`"}),
        ("event_mode", rows[2], {"units": "1", "of": "the mode that follows, see `mode`"}),
        ("event_loss", rows[3], {"units": "J", "of": "energy lost"}),
    ):
        run.arrays[name] = ("event", values, attributes)


def events_of(data: Any) -> list[Event]:
    """The events of a run, in their order."""
    if "event_of" not in data:
        return []
    words = _words(str(data["mode"].attrs["modes"]))
    names = [str(name) for name in data["switching"].values]
    found = []
    columns = (data[name].values for name in ("event", "event_of", "event_mode", "event_loss"))
    for time, of, mode, lost in zip(*columns, strict=True):
        name = names[int(of)]
        found.append(Event(float(time), name, words.get((name, float(mode)), ""), float(lost)))
    return found


def _words(told: str) -> dict[tuple[str, float], str]:
    """What each mode of each element is called, as `mode` has it in its attributes."""
    found = {}
    for part in told.split("; "):
        name, _, rest = part.rpartition(": ")
        mode, _, word = rest.partition(" ")
        found[name, float(mode)] = word
    return found
