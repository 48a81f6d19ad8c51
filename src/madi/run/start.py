"""Where a run starts: the System of a model, its closed state, and what cannot be run from there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.assemble import start_vector
from madi.errors import InputError
from madi.forces import KINDS as FORCES
from madi.forces.contact_law import ROLLING, SPINNING
from madi.forces.modes import STOP
from madi.given import Start
from madi.integrate.method import Method
from madi.loops.methods import LoopMethod
from madi.model.model import Model
from madi.signals.jumps import Jump
from madi.system import System

DEEP = 0.02  # of the smaller shape: shapes do not start so deep in each other by their weight
BEYOND_STOP = 1e-9  # rad or m; of the coordinate, which counts as 1 at least

if TYPE_CHECKING:
    from madi.assembly.assemble import Assembly


def built(model: Model | System, frame: str | None) -> System:
    """The system of a model, if it moves."""
    if not isinstance(model, Model | System):
        raise InputError(f"simulate: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build(frame=frame or "base")
    if frame is not None and frame != system.frame:
        raise InputError(
            f"frame={frame!r}: this System was built with frame={system.frame!r}; pass the Model, or build anew"
        )
    if system.nv == 0:
        raise InputError(
            f"model {system.name!r} cannot move: no joint leaves a degree of freedom. s.reactions(...) gives its "
            "static loads"
        )
    return system


def assemble(
    model: Model | System,
    q0: Start = None,
    v0: Start = None,
    *,
    pin: Iterable[str] | None = None,
    assembly_mode: int = 0,
    t: float = 0.0,
    branch: Any = None,
) -> Assembly:
    """Close the loops of a model: positions, then speeds, nearest to where the joints start (or to q0, v0).

    `pin`: coordinates that must stay exactly, as those that dictionaries q0, v0 name do. Without `pin`, coordinates whose
    joint was given a start stay too, but are let go if the loops cannot close otherwise (`.released`). `assembly_mode`: 1,
    2, ... other ways to assemble it, by distance. Returns an Assembly: q, v, a, how far each coordinate `moved`, the
    `residual` of each cut joint. Raises AssemblyError (with `.assembly`, the nearest state) if it cannot be closed.
    """
    if not isinstance(model, Model | System):
        raise InputError(f"assemble: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build()
    return system.assemble(q0, v0, pin=pin, assembly_mode=assembly_mode, t=t, branch=branch)


def assembled(system: System, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray]:
    """The state a run starts from: with loops, closed. What a dictionary names stays; what joints were given, if it can."""
    if not system.frozen.rows:
        q = system.checked_coordinates(start_vector(q0, system.coordinates, system.q0, "q0"), "q0")
        return q, system.checked_vector(start_vector(v0, system.speeds, system.v0, "v0"), system.nv, "v0")
    found = system.start if q0 is None and v0 is None else system.assemble(q0, v0)
    refuse_standstill(system, found.q)
    return found.q, found.v


def refuse_modes(system: System, method: Method, formulation: str | None) -> None:
    """What does not know elements that slide or stick, hard stops, events (forces/modes.py)."""
    told = f"{system.held_names[0]!r} slides or sticks, stops or watches, and its run has events"
    if method.outside is not None:
        raise InputError(f"{told}; method={method.name!r} takes its steps outside madi: use radau, dopri or abm")
    if formulation == "cartesian":
        raise InputError(f"{told}; formulation='cartesian' has none: leave it out")


def refuse_beside_hard_contact(system: System) -> None:
    """What a time-stepping method would pass over: it has no events, and friction by numbers or by contact alone."""
    instead = "method=madi.TimeStepping has"
    for force in system.lowered.forces:
        kind, numbers = FORCES[force.kind], force.parameters.get("law")
        if kind.watches:
            raise InputError(f"{force.name!r} is an event; {instead} none: watch the signal in its run, or use dopri or rk4")
        if kind.by_load:
            raise InputError(
                f"friction {force.name!r} is by its joint's load; {instead} none such: give coulomb=, or use dopri"
            )
        if kind.touches is not None and numbers is not None and (numbers[ROLLING] > 0 or numbers[SPINNING] > 0):
            raise InputError(
                f"contact {force.name!r} resists rolling or spinning; {instead} no such resistance: leave rolling= and "
                "spinning= out, or use dopri or radau"
            )


def refuse_beyond_stops(system: System, q: np.ndarray) -> None:
    """A start on the wrong side of a hard stop."""
    model = system.layout.arrays
    for name, kind, e, c in zip(system.held_names, model.held_kind, model.held_of, model.held_column, strict=True):
        if kind != STOP:
            continue
        s, j = int(model.force_at[e]), int(model.column_q[c])
        x, lower, upper = float(q[j]), float(model.parameter[s]), float(model.parameter[s + 1])
        beyond = max(lower - x, x - upper)
        if beyond > BEYOND_STOP * max(1.0, abs(x)):
            raise InputError(
                f"{system.coordinates[j]!r} starts at {x:.6g}, {beyond:.3g} beyond its hard stop {name!r} (from {lower:g} "
                f"to {upper:g}). Start it within (q0=, start=), or move the stop"
            )


def overlaps(system: System, q: np.ndarray) -> list[tuple[str, float]]:
    """Contacts that start with shapes deep in each other, and how deep."""
    if not system.contact_points:
        return []
    gaps, found, k = system.observe(q).touch[0, :, 0], [], 0
    for force in system.lowered.forces:
        geometry = force.parameters.get("geometry")
        if geometry is None:
            continue
        depth = -float(np.min(gaps[k : k + geometry.count]))
        k += geometry.count
        if depth > DEEP * geometry.least and not geometry.overlap:
            found.append((force.name, depth))
    return found


def refuse_overlaps(system: System, q: np.ndarray) -> None:
    """Shapes that start deep in each other would be shot apart."""
    deep = overlaps(system, q)
    if deep:
        told = ", ".join(f"{name!r} by {depth:.3g} m" for name, depth in deep[:4])
        more = f" and {len(deep) - 4} more" if len(deep) > 4 else ""
        raise InputError(
            f"shapes start deep in each other: contact {told}{more}. Start them apart (q0=, start=), leave that pair out of "
            "the contact, or if it is meant so: m.contact(..., overlap=True)"
        )


def refuse_standstill(system: System, q: np.ndarray) -> None:
    """A mechanism that cannot move has no run."""
    freedoms, model = system.mobility(q), system.layout.arrays
    if freedoms.degrees_of_freedom == 0 and not (np.any(model.drive >= 0) or np.any(model.row_signal >= 0)):
        raise InputError(
            f"model {system.name!r} cannot move: its constraints leave no degree of freedom "
            f"({freedoms}). s.reactions(q, v) gives its static loads"
        )


def over_bumps(system: System, start: tuple[np.ndarray, np.ndarray], method: Method) -> float | None:
    """A longest step for adaptive methods, so that none leaps over a bump: half the shortest, at the speed of the start."""
    if method.adaptive is None:
        return None
    (found,) = longest_steps(system, *(part[None, :] for part in start))
    return float(found) if np.isfinite(found) else None


def longest_steps(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The same for rows of states; inf where nothing is in the way."""
    found = np.full(len(q), np.inf)
    bumpy = [(body, road) for body, road in system.roads if body != "ground" and road.shortest() is not None]
    if bumpy:
        velocity = system.observe(q, v).velocity
        for body, road in bumpy:
            speed = np.abs(velocity[:, system.bodies.index(body)] @ road.axes()[0])
            with np.errstate(divide="ignore"):
                found = np.minimum(found, 0.5 * road.shortest() / speed)
    return found


def refuse_jumps(jump: Jump, method: Method, loops: LoopMethod | None) -> None:
    """Where the speed of a drive jumps, an impulse acts; not everything has one."""
    who = (
        f"method={method.name!r}"
        if method.outside is not None
        else f"loops={loops.name!r}"
        if loops and loops.close is None
        else ""
    )
    if who:
        raise InputError(
            f"drive of {jump.coordinate!r}: its speed jumps by {jump.change:.3g} at t = {jump.time:.6g} s; {who} has no "
            "impulse for that. Round the corner off, or use another"
        )
