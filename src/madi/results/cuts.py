"""Coordinates of cut joints. The equations have none; results measure them, between the two bodies that meet there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from madi.constraints import ROWS
from madi.joints import KINDS
from madi.model.elements import body_name
from madi.spatial.rotation import as_rotation
from madi.topology.frames import joint_frame

if TYPE_CHECKING:
    from madi.system import System

SAFE = 0.5 * np.pi  # between two outputs: what turns farther may have made whole turns that nobody saw


class Cut(NamedTuple):
    """A coordinate of a cut joint: between which bodies, in which frame as drawn, along or about which of its axes."""

    name: str
    unit: str
    ends: tuple[Any, Any]
    frame: Any
    slide: int | None
    turn: int | None


def cut_coordinates(system: System) -> list[Cut]:
    """The coordinates of cut joints that can be measured."""
    found = []
    drawn = {"ground": system.lowered.ground, **{body.name: body for body in system.lowered.bodies}}
    for joint in system.spanning_tree.cuts:
        kind = KINDS[joint.kind]
        if not kind.cut or not kind.measured:
            continue
        frame = joint_frame(joint, drawn[body_name(joint.child)], False)
        ends = drawn[body_name(joint.parent)], drawn[body_name(joint.child)]
        for part, unit, measure in zip(kind.coordinates, kind.units, kind.measured, strict=False):
            name = f"{joint.name}.{part}" if part else joint.name
            if ROWS[measure].slide is not None or ROWS[measure].turn is not None:
                found.append(Cut(name, unit, ends, frame, ROWS[measure].slide, ROWS[measure].turn))
    return found


def cut_motion(system: System, seen: Any, cuts: list[Cut]) -> tuple[np.ndarray, np.ndarray]:
    """(values, rates) of these over time; angles within half a turn either way."""
    values, rates = np.empty((2, len(seen.q), len(cuts)))
    for k, cut in enumerate(cuts):
        a, b = (_Moving(system, seen, end, cut.frame) for end in cut.ends)
        apart = b.o - a.o
        if cut.slide is not None:
            axis = a.E[..., cut.slide]
            values[:, k] = np.sum(axis * apart, axis=-1)
            rates[:, k] = np.sum(axis * (b.v - a.v - np.cross(a.w, apart)), axis=-1)
            continue
        assert cut.turn is not None
        z, x, y = (a.E[..., (cut.turn + k) % 3] for k in range(3))
        arm = b.E[..., (cut.turn + 1) % 3]
        values[:, k] = np.arctan2(np.sum(y * arm, axis=-1), np.sum(x * arm, axis=-1))
        rates[:, k] = np.sum(z * (b.w - a.w), axis=-1)
    return values, rates


def count_turns(cuts: list[Cut], times: np.ndarray, values: np.ndarray, rates: np.ndarray, runs: int = 1) -> None:
    """Put in their whole turns; outputs of all runs, one after the other."""
    for k, cut in enumerate(cuts):
        if cut.turn is not None:
            values[:, k] = with_turns(times, values[:, k], rates[:, k], runs)


def with_turns(times: np.ndarray, angle: np.ndarray, rate: np.ndarray, runs: int = 1) -> np.ndarray:
    """An angle with its whole turns, counted by its rate from one output to the next. Where outputs are too far apart to
    tell (it turns farther than SAFE between them), it stays within half a turn either way. Of several runs at the same
    times, one after the other, each by itself."""
    if runs != 1:
        parts = zip(angle.reshape(runs, -1), rate.reshape(runs, -1), strict=True)
        return np.concatenate([with_turns(times[: len(angle) // runs], *part) for part in parts])
    if len(times) < 2:
        return angle
    ahead = 0.5 * (rate[1:] + rate[:-1]) * np.diff(times)
    if np.max(np.abs(ahead), initial=0.0) > SAFE or np.max(np.abs(np.diff(rate) * np.diff(times)), initial=0.0) > SAFE:
        return angle
    turns = np.round((angle[:-1] + ahead - angle[1:]) / (2 * np.pi))
    return angle + 2 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])


class _Moving:
    """The joint's frame as it moves with one of its bodies: axes, origin, velocity, angular velocity, over time."""

    def __init__(self, system: System, seen: Any, body: Any, here: Any):
        n = len(seen.q)
        if body.name == "ground":
            self.E, self.o = np.broadcast_to(here.R, (n, 3, 3)), np.broadcast_to(here.r, (n, 3))
            self.v, self.w = np.zeros((n, 3)), np.zeros((n, 3))
            return
        k = system.bodies.index(body.name)
        back = as_rotation(body.orientation, body.name).T
        R = seen.rotation[:, k]
        self.E = R @ (back @ here.R)
        lever = R @ (back @ (here.r - np.asarray(body.position, dtype=float)))
        self.o, self.w = seen.position[:, k] + lever, seen.angular_velocity[:, k]
        self.v = seen.velocity[:, k] + np.cross(self.w, lever)
