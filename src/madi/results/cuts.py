"""Coordinates of cut joints. The equations have none; results measure them, between the two bodies that meet there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import ROWS
from madi.joints import KINDS
from madi.model.elements import body_name
from madi.spatial.rotation import as_rotation
from madi.topology.frames import joint_frame

if TYPE_CHECKING:
    from madi.system import System

SAFE = 0.5 * np.pi  # between two outputs: what turns farther may have made whole turns that nobody saw


def cut_motion(system: System, times: np.ndarray, seen: Any) -> tuple[list[str], list[str], np.ndarray, np.ndarray]:
    """(names, units, values, rates) over time of the coordinates of cut joints that can be measured."""
    names: list[str] = []
    units: list[str] = []
    values: list[np.ndarray] = []
    rates: list[np.ndarray] = []
    drawn = {"ground": system.lowered.ground, **{body.name: body for body in system.lowered.bodies}}
    for joint in system.spanning_tree.cuts:
        kind = KINDS[joint.kind]
        if not kind.cut or not kind.measured:
            continue
        here = joint_frame(joint, drawn[body_name(joint.child)], False)
        a, b = (_Moving(system, seen, drawn[body_name(end)], here) for end in (joint.parent, joint.child))
        apart = b.o - a.o
        slip = b.v - a.v - np.cross(a.w, apart)
        for part, unit, measure in zip(kind.coordinates, kind.units, kind.measured, strict=False):
            names.append(f"{joint.name}.{part}" if part else joint.name)
            units.append(unit)
            slide, turn = ROWS[measure].slide, ROWS[measure].turn
            if slide is not None:
                axis = a.E[..., slide]
                values.append(np.sum(axis * apart, axis=-1))
                rates.append(np.sum(axis * slip, axis=-1))
            elif turn is not None:
                z, x, y = (a.E[..., (turn + k) % 3] for k in range(3))
                arm = b.E[..., (turn + 1) % 3]
                angle = np.arctan2(np.sum(y * arm, axis=-1), np.sum(x * arm, axis=-1))
                rates.append(np.sum(z * (b.w - a.w), axis=-1))
                values.append(with_turns(times, angle, rates[-1]))
    shape = (len(times), len(names))
    return names, units, np.array(values).T.reshape(shape), np.array(rates).T.reshape(shape)


def with_turns(times: np.ndarray, angle: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """An angle with its whole turns, counted by its rate from one output to the next. Where outputs are too far apart to
    tell (it turns farther than SAFE between them), it stays within half a turn either way."""
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
