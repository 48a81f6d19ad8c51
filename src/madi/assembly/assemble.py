"""From rough positions to a closed mechanism: position, then velocity.

Coordinates that are pinned stay exactly; the others move as little as they can (Gauss-Newton steps of least weighted norm,
damped). A mechanism is closed in the pose it is drawn in, so a start far from there is reached on foot: pins go from the
drawing to where they are wanted by continuation, the loops closed at each, which keeps the assembly mode of the drawing.

docs/references.md: [Allgower, Georg 1990].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.assembly.redundancy import dependent_drives, length_of, scales
from madi.assembly.rows import Sparse
from madi.constraints import BY_CODE
from madi.constraints.dispatch import pair_frames
from madi.errors import AssemblyError, InputError
from madi.given import Start
from madi.joints.chart import chart_point, retract
from madi.joints.columns import FREE_COLUMN
from madi.kernel import LEAST_SIZE
from madi.topology.settle import column_amounts

if TYPE_CHECKING:
    from madi.system import System

CLOSED = 1e-11  # residual, m or rad
CLOSED_RATE = 1e-10  # the same of a rate, m/s or rad/s, against the largest speed (and 1)
POSITION_RANK, RATE_RANK = 1e-8, 1e-10  # of the largest singular value: below, rows are dependent; positions are still off
SHORTEST = 1e-3  # of a Newton step: where a shorter one gains nothing, none does
STRIDE, BARRED = 0.15, 1e-3  # rad (or typical lengths) a pinned coordinate goes at a time; less, and its way is barred
ARRIVED, APART = 1e-14, 1e-4  # the same: rounding of where it should be; nearer, two configurations are one
MOVED = 1e-9  # m or rad: less is not told


@dataclass(frozen=True)
class Assembly:
    """A closed state, and what it took."""

    system: System
    q: np.ndarray
    v: np.ndarray
    moved: dict[str, float]  # of every coordinate's joint column: how far it is from where it was asked to be
    residual: dict[str, float]  # of every cut joint and constraint
    closed: bool
    released: tuple[str, ...] = ()  # given starts that could not be kept
    t: float = 0.0

    @property
    def a(self) -> np.ndarray:
        """The accelerations there."""
        return self.system.forward_dynamics(self.q, self.v, t=self.t)

    def __str__(self) -> str:
        far = sorted(self.moved.items(), key=lambda item: -abs(item[1]))
        moves = ", ".join(f"{name} by {value:.4g}" for name, value in far[:8] if abs(value) > MOVED) or "nothing"
        return f"{'closed' if self.closed else 'open'}; moved: {moves}"

    def _repr_html_(self) -> str:
        from madi.show.html import heading, table, whole

        moved = ((name, float(value)) for name, value in self.moved.items() if abs(value) > MOVED)
        return whole(
            heading(f"Assembly of {self.system.name}", "closed" if self.closed else "open"),
            table(("coordinate", "value"), zip(self.system.coordinates, map(float, self.q), strict=True)),
            table(("column", "moved by"), moved),
            table(("closes", "residual"), ((name, float(value)) for name, value in self.residual.items())),
        )


class Closer:
    """Evaluates the rows of a system, and closes them."""

    def __init__(self, system: System, t: float):
        self.system, self.t = system, t
        self.model = system.layout.arrays
        self.engine = system.constraint_rows.engine
        self.at = system.constraint_rows.at
        self.rows, self.columns = scales(system)
        self.nr, self.nv = len(system.frozen.rows), system.nv

    def evaluate(self, q: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, Sparse]:
        """Phi, Phi', Phi_q."""
        return self.at(self.t, q, v)

    def least_step(self, J: Sparse, right: np.ndarray, loose: np.ndarray, rank: float) -> np.ndarray:
        """The least change of the loose columns (flags) that changes the rows by `right`."""
        step = np.zeros(self.nv)
        part = J.scaled(self.rows, self.columns).part(None, loose)
        step[loose] = part.least_squares(self.rows * right, rank) * self.columns[loose]
        return step

    def flipped(self) -> bool:
        """Whether an axis points the wrong way, at the configuration evaluated last: a half turn looks closed to a row."""
        work = self.engine.work
        for r in range(self.nr):
            axis = BY_CODE[self.model.row_kind[r]].facing
            if axis is not None:
                pair_frames(self.model, work, int(self.model.row_pair[r]))
                if float(np.dot(work.pair_E[0][:, axis], work.pair_E[1][:, axis])) < 0:
                    return True
        return False

    def close(self, q: np.ndarray, held: np.ndarray, most: int = 60) -> tuple[np.ndarray, float]:
        """Gauss-Newton from q with the columns `held` at rest; the state and its residual (scaled, largest)."""
        phi, _, J = self.evaluate(q)
        size = float(np.max(np.abs(phi), initial=0.0))
        for _ in range(most):
            if size <= 0.01 * CLOSED or held.all():
                break
            step = self.least_step(J, -phi, ~held, POSITION_RANK)
            step *= min(1.0, 0.5 / max(float(np.max(np.abs(step / self.columns))), LEAST_SIZE))
            factor = 1.0
            while True:
                new = np.empty_like(q)
                retract(self.model, q, factor * step, new)
                phi_new, _, J_new = self.evaluate(new)
                if np.linalg.norm(self.rows * phi_new) < np.linalg.norm(self.rows * phi) or factor < SHORTEST:
                    break
                factor *= 0.5
            size_new = float(np.max(np.abs(phi_new)))
            if factor < SHORTEST and not size_new < size:
                break
            q, phi, J, size = new, phi_new, J_new, size_new
        if size <= CLOSED:
            self.evaluate(q)
            if self.flipped():
                return q, np.inf
        return q, size

    def walk(self, start: np.ndarray, goal: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, float]:
        """Close from `start`, then lead the held columns to `goal` by continuation, closing at each step."""
        q, size = self.close(start.copy(), held)
        if size > CLOSED:
            return q, size
        for _ in range(2000):
            way = np.empty(self.nv)
            chart_point(self.model, q, goal, way)
            way[~held] = 0.0
            far = float(np.max(np.abs(way / self.columns), initial=0.0))
            if far < ARRIVED:
                return q, size
            stride = min(1.0, STRIDE / far)
            while True:
                trial = np.empty_like(q)
                retract(self.model, q, stride * way if stride < 1 else way, trial)
                trial, size = self.close(trial, held)
                if size <= CLOSED:
                    q = trial
                    break
                stride *= 0.5
                if stride * far < BARRED:
                    return trial, size
        return q, np.inf


def assemble(
    system: System,
    q0: Start = None,
    v0: Start = None,
    *,
    pin: Iterable[str] | None = None,
    assembly_mode: int = 0,
    t: float = 0.0,
    branch: Any = None,
) -> Assembly:
    """The closed state nearest to (q0, v0), each all numbers or {name: value}; see `madi.assemble`."""
    frozen, model = system.frozen, system.layout.arrays
    if branch is not None:
        raise InputError("assemble: 'branch' is called 'assembly_mode' now")
    mode = assembly_mode
    if isinstance(mode, bool) or not isinstance(mode, int) or mode < 0:
        raise InputError(f"assembly_mode={mode!r}: give 0 (the nearest), 1, 2, ...")
    named = _pinned(system, () if pin is None else pin, "pin") | _pinned(system, q0 if isinstance(q0, dict) else (), "q0")
    named_v = _pinned(system, v0 if isinstance(v0, dict) else (), "v0")
    goal = system.checked_coordinates(start_vector(q0, system.coordinates, system.q0, "q0"), "q0").copy()
    speed = system.checked_vector(start_vector(v0, system.speeds, system.v0, "v0"), system.nv, "v0").copy()
    driven = model.drive != FREE_COLUMN
    seen = system.observe(goal, speed, t, engine=system.constraint_rows.engine.name)  # drives put in
    goal, speed = seen.q[0].copy(), seen.v[0].copy()
    if not frozen.rows:
        return Assembly(system, goal, speed, dict.fromkeys(system.speeds, 0.0), {}, True, t=t)
    closer = Closer(system, t)
    everything = np.ones(system.nv, dtype=bool)
    given = everything if q0 is not None and not isinstance(q0, dict) else system._column_flags(frozen.given_q)
    # what was given stays if it can; what was named or pinned stays at any price
    choices = [(given if pin is None else ~everything) | named, named]
    q, size = goal, np.inf
    for held in choices:
        q, size = _position(closer, goal, held | driven, from_drawing=given is not everything)
        if size <= CLOSED:
            break
    if size > CLOSED:
        raise AssemblyError(*_cannot_close(system, closer, q, goal, speed, choices[-1] | driven, t))
    released = tuple(name for name, one in zip(system.speeds, choices[0] & ~held & ~driven, strict=True) if one)
    if mode:
        q = _assembly_mode(closer, q, held | driven, mode)
    tied = dependent_drives(system, closer.evaluate(q)[2])
    if tied:
        raise InputError(
            f"model {system.name!r}: the loops tie these driven or locked coordinates together: {', '.join(tied)}. They "
            "cannot all be prescribed: drive fewer of them, and let the others follow"
        )
    given_v = everything if v0 is not None and not isinstance(v0, dict) else frozen.given_v
    v = _velocity(closer, q, speed, [given_v | named_v | driven, named_v | driven])
    return _report(closer, q, v, goal, True, released)


def start_vector(given: Any, names: list[str], default: np.ndarray, what: str) -> Any:
    """A start vector: as given, or the model's own with the entries that a dictionary names put in."""
    if not isinstance(given, dict):
        return default if given is None else given
    for name, value in given.items():
        if name not in names:
            raise InputError(f"{what}: there is no {name!r}; there are: {', '.join(names)}")
        try:
            default[names.index(name)] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{what}[{name!r}]={value!r}: give a number") from None
    return default


def _pinned(system: System, pin: Iterable[str], what: str) -> np.ndarray:
    """Columns of the coordinates named."""
    flags = np.zeros(system.nv, dtype=bool)
    if not isinstance(pin, Iterable):
        raise InputError(f"{what}={pin!r}: give a list of coordinates")
    for name in [pin] if isinstance(pin, str) else pin:
        joint = str(name).split(".")[0]
        found = [c for c, speed in enumerate(system.speeds) if speed == name] or [
            c for c, speed in enumerate(system.speeds) if speed.split(".")[0] == joint
        ]  # one coordinate of a rotation pins all of it
        if not found:
            cut = f" ({joint!r} closes a loop and was cut: cut=False there keeps it)" if joint in system.cut_joints else ""
            raise InputError(f"{what}: there is no coordinate {name!r}{cut}; there are: {', '.join(system.speeds)}")
        flags[found] = True
    return flags


def _position(closer: Closer, goal: np.ndarray, held: np.ndarray, from_drawing: bool) -> tuple[np.ndarray, float]:
    """On foot from the drawing; or, where that leads nowhere, straight from the goal."""
    if from_drawing and not held.all():
        start = _drawing(closer.system, goal, held)
        q, size = closer.walk(start, goal, held)
        if size <= CLOSED:
            return q, size
    return closer.close(goal.copy(), held)


def _drawing(system: System, goal: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Where the walk begins: held coordinates as drawn (zero, no rotation), the others already where they are wanted."""
    drawn = np.zeros(system.nq)
    for _, at in system._quaternions:
        drawn[at] = 1.0
    theta, q = np.empty(system.nv), np.empty(system.nq)
    chart_point(system.layout.arrays, drawn, goal, theta)
    theta[held] = 0.0
    retract(system.layout.arrays, drawn, theta, q)
    return q


def _velocity(closer: Closer, q: np.ndarray, v0: np.ndarray, choices: list[np.ndarray]) -> np.ndarray:
    """Speeds that keep the loops closed: those held stay, the change of the others is the least."""
    for held in choices:
        v = v0.copy()
        for _ in range(3):
            _, rate, J = closer.evaluate(q, v)
            if held.all() or not np.any(rate):
                break
            v += closer.least_step(J, -rate, ~held, RATE_RANK)
        _, rate, _ = closer.evaluate(q, v)
        worst = float(np.max(np.abs(rate)))
        if worst <= CLOSED_RATE * (1 + float(np.max(np.abs(v), initial=0.0))):
            return v
    raise AssemblyError(
        f"model {closer.system.name!r}: the loops do not allow the speeds asked for at t = {closer.t:g} s (drives or v0; "
        f"largest rate of a constraint: {_by_element(closer, rate)}). Ask for fewer, or in step",
        _report(closer, q, v, q, False, ()),
    )


def _by_element(closer: Closer, values: np.ndarray) -> str:
    return ", ".join(f"{name} {size:.3g}" for name, size in by_element(closer.system, values).items() if size > CLOSED_RATE)


def by_element(system: System, values: np.ndarray) -> dict[str, float]:
    """Largest value among the rows of each cut joint or constraint."""
    found: dict[str, float] = {}
    for row, value in zip(system.frozen.rows, values, strict=True):
        size = abs(float(value)) if np.isfinite(value) else np.inf
        found[row.element] = max(found.get(row.element, 0.0), size)
    return found


def _report(closer: Closer, q: np.ndarray, v: np.ndarray, goal: np.ndarray, closed: bool, released: Any) -> Assembly:
    phi, _, _ = closer.evaluate(q)
    moved = np.empty(closer.nv)
    chart_point(closer.model, goal, q, moved)
    names = closer.system.speeds
    residual = by_element(closer.system, phi)
    return Assembly(
        closer.system, q, v, dict(zip(names, map(float, moved), strict=True)), residual, closed, released, closer.t
    )


def _cannot_close(
    system: System, closer: Closer, q: np.ndarray, goal: np.ndarray, speed: np.ndarray, held: np.ndarray, t: float
) -> tuple[str, Assembly]:
    """The message, and the nearest state: closed if letting go of what is held closes it."""
    phi, _, _ = closer.evaluate(q)
    parts = ", ".join(f"{name} {size:.3g}" for name, size in by_element(system, phi).items())
    text = f"model {system.name!r}: the loops cannot be closed at t = {t:g} s. Open (m or rad): {parts}. "
    free, size = closer.close(q.copy(), np.zeros(len(held), dtype=bool))
    if size <= CLOSED and held.any():
        moved = np.empty(len(held))
        chart_point(closer.model, goal, free, moved)
        where = ", ".join(f"{name} {moved[k]:+.4g}" for k, name in enumerate(system.speeds) if held[k])
        return (
            f"{text}It closes if what is held may move: {where} (error.assembly is that state)",
            replace(_report(closer, free, speed, goal, True, ()), residual=by_element(system, phi)),
        )
    told = f"{text}error.assembly has the nearest state. Check points and lengths: they must be able to meet"
    return told, _report(closer, q, speed, goal, False, ())


def _assembly_mode(closer: Closer, q: np.ndarray, held: np.ndarray, mode: int) -> np.ndarray:
    """Other ways to assemble with the same held coordinates: from many random starts, by distance from the nearest."""
    rng = np.random.default_rng(0)
    found = [q]
    theta = np.empty(closer.nv)
    amounts = column_amounts(closer.system.layout)
    bending = closer.model.modal[closer.model.column_body] >= 0
    for _ in range(60):
        start = np.empty_like(q)
        away = rng.uniform(-np.pi, np.pi, closer.nv) * np.where(closer.columns == 1.0, 1.0, length_of(closer.system) / np.pi)
        away = np.where(bending, amounts, 1.0) * away
        away[held] = 0.0
        retract(closer.model, q, away, start)
        other, size = closer.close(start, held)
        if size <= CLOSED and all(_apart(closer, other, known) > APART for known in found):
            found.append(other)

    def distance(other: np.ndarray) -> float:
        chart_point(closer.model, q, other, theta)
        return float(np.linalg.norm(np.remainder(theta + np.pi, 2 * np.pi) - np.pi))

    found[1:] = sorted(found[1:], key=distance)
    if mode >= len(found):
        raise AssemblyError(
            f"model {closer.system.name!r}: assembly_mode={mode}, but only {len(found)} way(s) to assemble it were found "
            f"(assembly_mode=0 to {len(found) - 1})",
            _report(closer, q, np.zeros(closer.nv), q, True, ()),
        )
    return found[mode]


def _apart(closer: Closer, a: np.ndarray, b: np.ndarray) -> float:
    """How far two states are apart as poses: whole turns do not count."""
    poses = []
    for q in (a, b):
        closer.evaluate(q)
        poses.append(np.concatenate([closer.engine.work.R.reshape(-1), closer.engine.work.r.reshape(-1)]))
    return float(np.max(np.abs(poses[0] - poses[1])))
