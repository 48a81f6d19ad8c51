"""What closes the loops: the pairs of frames and the rows of cut joints, constraints and drives of cut joints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints import CODES, CONSTRAINTS, ROWS
from madi.joints import KINDS
from madi.model.elements import Joint, body_name, joint_name
from madi.model.model import joint_speeds
from madi.signals.trace import Signals, add_drive
from madi.spatial.rotation import frame_with_z

if TYPE_CHECKING:
    from madi.model.model import Model


@dataclass(frozen=True)
class Row:
    """A scalar constraint by name: which element it belongs to, and what it forbids."""

    element: str
    kind: str
    joint: bool  # of a cut joint (or of its drive)
    driven: str = ""  # the coordinate it drives
    slides: bool = False  # a coupler whose first coordinate is a slide

    @property
    def name(self) -> str:
        """ "rotation about x at joint C", or "length of rod"."""
        if self.joint:
            return f"{ROWS[self.kind].words} at joint {self.element}"
        return f"{ROWS[self.kind].words} of {self.element}"

    @property
    def unit(self) -> str:
        """Of the residual."""
        return "m" if self.slides else ROWS[self.kind].unit


@dataclass
class Closures:
    """Pairs and rows in the order of the layout."""

    rows: list[Row] = field(default_factory=list)
    pairs: list[tuple[int, int]] = field(default_factory=list)
    pair_C: list[np.ndarray] = field(default_factory=list)
    pair_d: list[np.ndarray] = field(default_factory=list)
    table: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # pair, kind, signal, column a, column b
    values: list[tuple[float, float]] = field(default_factory=list)

    def pair(self, a: int, b: int, C: np.ndarray, points: tuple[Any, Any], frames: list[Any]) -> int:
        """A frame with axes C (global, in the reference pose) on each of two bodies."""
        self.pairs.append((a, b))
        for body, point in zip((a, b), points, strict=True):
            self.pair_C.append(frames[body].axes(C))
            self.pair_d.append(frames[body].point(point))
        return len(self.pairs) - 1

    def row(self, element: str, kind: str, joint: bool, pair: int, value: tuple[float, float] = (0.0, 0.0), signal: int = -1,
            columns: tuple[int, int] = (-1, -1), driven: str = "", slides: bool = False) -> None:  # fmt: skip
        """One more row."""
        self.rows.append(Row(element, kind, joint, driven, slides))
        self.table.append((pair, CODES[kind], signal, *columns))
        self.values.append(value)

    def arrays(self) -> dict[str, Any]:
        """Fields of the layout, as far as they are known here."""
        table = np.array(self.table, dtype=np.int64).reshape(-1, 5)
        pairs = np.array(self.pairs, dtype=np.int64).reshape(-1, 2)
        names = ("row_pair", "row_kind", "row_signal", "row_a", "row_b")
        return {
            "pair_a": pairs[:, 0], "pair_b": pairs[:, 1], "pair_C": np.array(self.pair_C), "pair_d": np.array(self.pair_d),
            **{name: table[:, k] for k, name in enumerate(names)},
        }  # fmt: skip


def closures(
    model: Model, cuts: tuple[Joint, ...], number: dict[str, int], frames: list[Any], speeds: list[str], signals: Signals,
    joint_frame: Any,
) -> Closures:  # fmt: skip
    """All pairs and rows of a checked model."""
    found = Closures()
    bodies = {"ground": model.ground, **{body.name: body for body in model.bodies}}
    drives = {drive.coordinate: drive for drive in model.drives}
    for joint in cuts:
        kind = KINDS[joint.kind]
        if not kind.cut:
            continue
        here = joint_frame(joint, bodies[body_name(joint.child)], False)
        ends = number[body_name(joint.parent)], number[body_name(joint.child)]
        pair = found.pair(*ends, here.R, (here.r, here.r), frames)
        numbers = {"": 0.0, "pitch": float(joint.pitch) / (2 * np.pi)}
        for name in kind.cut.split():
            found.row(joint.name, name, True, pair, (numbers[ROWS[name].number], 0.0))
        locked = joint.name in drives and drives[joint.name].function is None
        q0 = np.zeros(kind.nq) if joint.q0 is None else np.atleast_1d(np.asarray(joint.q0, dtype=float))
        for name, coordinate, start in zip(kind.measured, joint_speeds(joint), q0, strict=False):
            if locked:
                found.row(joint.name, name, True, pair, (0.0, float(start)))
            elif coordinate in drives:
                signal = add_drive(signals, f"drive of {coordinate!r}", drives[coordinate].function)
                found.row(joint.name, name, True, pair, (0.0, 0.0), signal, driven=coordinate)
    column = {name: c for c, name in reversed(list(enumerate(speeds)))}
    slides = {
        name for joint in model.joints for name, unit in zip(joint_speeds(joint), KINDS[joint.kind].units, strict=False)
        if unit == "m"
    }  # fmt: skip
    for constraint in model.constraints:
        _constraint(found, constraint, number, frames, column, slides)
    return found


def _constraint(
    found: Closures, c: Any, number: dict[str, int], frames: list[Any], column: dict[str, int], slides: set[str]
) -> None:
    """The rows of a constraint that is drawn, between two columns or between two frames."""
    kind = CONSTRAINTS[c.kind]
    if kind.on_joints:
        a, b = (str(joint_name(end)) for end in (c.a, c.b))
        value = kind.number((), c.parameters), float(c.parameters["offset"])
        for name in kind.rows.split():
            found.row(c.name, name, False, -1, value, columns=(column[a], column[b]), slides=a in slides)
        return
    points = tuple(np.asarray(point, dtype=float) for point in c.at)
    axes = np.eye(3) if c.axis is None else frame_with_z(np.asarray(c.axis, dtype=float))
    pair = found.pair(number[body_name(c.a)], number[body_name(c.b)], axes, points, frames)  # type: ignore[arg-type]
    for name in kind.rows.split():
        found.row(c.name, name, False, pair, (kind.number(points, c.parameters), 0.0))
