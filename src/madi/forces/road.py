"""Road profiles: height over the way, the same across each half of the road.

A road is level ground plus features that add up: half-round and half-ellipse bumps, sines, polylines of any length.
`two_sided` shifts the features of the right side against those of the left by a phase (metres along the way). Forces see it
averaged over a short footprint (`smoothed`), with continuous slope and curvature whatever the road. Of a polyline that
average is a cubic between any two of x_k - foot, x_k, x_k + foot: it is made once, as a block of kernel/lookup.py.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.given import Numbers, Vector
from madi.kernel import asin, cos, fabs, inline, kernel, needed, sin, sqrt, where
from madi.kernel.lookup import lookup, lookup3, on_both_sides, same_piece
from madi.spatial.rotation import PARALLEL, TWO_PI
from madi.spatial.vector import at, cross, dot

ROUND, SINE, LINE = 0, 1, 2
WHOLE = 1e-9  # of a wave: rounding of how many there are
ENDLESS = 1e9  # m: where waves without an end have theirs
EDGE, ROUNDING = 1e-6, 1e-14  # 1 - x^2 at the edge of a hill: its slope, without bound, is left out; its integrals go on
SHORTEST_FOOT = 1e-3  # of a hill's half length: a longer footprint, so that second differences keep their digits
LEVEL = 1e-12  # slope that the ends of a polyline leave by rounding
QUARTER_CIRCLE = 0.7853981633974483  # pi / 4: area of a quarter of the unit circle
HEAD, WIDTH = 8, 7  # numbers before the features; of a feature: kind, whether the right side is shifted, how far, four more


@dataclass(frozen=True, eq=False)
class Polyline:
    """Points (x, height over that of the first), x increasing; level before and after. Of a road with two sides, `shift` is
    how much later the right side has it."""

    points: np.ndarray
    shift: float | None = None
    averaged: dict[float, np.ndarray] = field(default_factory=dict, repr=False)  # by footprint: what `smoothed` made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polyline) and self.shift == other.shift and np.array_equal(self.points, other.points)

    def __hash__(self) -> int:
        return hash((self.points[:8].tobytes(), len(self.points), self.shift))

    def __deepcopy__(self, memo: Any) -> Polyline:
        return self  # nothing of it ever changes, and it may be long

    def at(self, x: np.ndarray, y: float) -> np.ndarray:
        """Places along the line of places along the road."""
        return x if self.shift is None or y >= 0.0 else x - self.shift

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """Of its straight parts, at x; level beyond its ends."""
        way, height = self.points.T
        parts = np.concatenate([[0.0], np.diff(height) / np.diff(way), [0.0]])
        return np.asarray(parts[np.searchsorted(way, x, side="right")])

    def smoothed(self, foot: float) -> np.ndarray:
        """The line averaged with a tent from -foot to foot, as a block of cubics: second and third derivatives are second
        differences of height and slope, what is below them their integrals (in extended precision, where there is such)."""
        if foot not in self.averaged:
            (way, height), long = self.points.T, np.longdouble
            breaks = np.unique(np.concatenate([way - foot, way, way + foot]))
            middle = 0.5 * (breaks[1:] + breaks[:-1])
            third = _averaged(lambda d: self.slopes(middle + d), foot)
            second = _averaged(lambda d: np.interp(breaks[:-1] + d, way, height), foot)
            h = np.diff(breaks).astype(long)
            rate = np.concatenate([[long(0.0)], np.cumsum((0.5 * third * h + second) * h)])[:-1]
            rise = np.concatenate([[long(0.0)], np.cumsum(((third / 6 * h + second / 2) * h + rate) * h)])[:-1]
            pieces = np.stack([third / 6, second / 2, rate, rise], axis=1).astype(float)
            self.averaged[foot] = on_both_sides(breaks, pieces, [0.0], [height[-1]])
        return self.averaged[foot]


def _averaged(of: Callable[[float], np.ndarray], foot: float) -> np.ndarray:
    """The second derivative of the average of a function, by its values at a distance."""
    ahead, here, behind = (of(d).astype(np.longdouble) for d in (foot, 0.0, -foot))
    return np.asarray((ahead - 2 * here + behind) / np.longdouble(foot) ** 2)


@dataclass(frozen=True)
class Road:
    """A road in the direction `forward`, heights along `up`; left is up x forward."""

    features: tuple[tuple[float, ...], ...] = ()
    level: float = 0.0
    forward: tuple[float, float, float] = (1.0, 0.0, 0.0)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    lines: tuple[Polyline, ...] = ()

    def _with(self, *features: tuple[float, ...]) -> Road:
        return replace(self, features=(*self.features, *features))

    def half_round(self, at: float, radius: float) -> Road:
        """A half-round bump whose middle is `at` metres along the way; its edges are vertical (see `half_ellipse`)."""
        return self.half_ellipse(at, radius, radius)

    def half_ellipse(self, at: float, half_length: float, height: float) -> Road:
        """Half an ellipse: `half_length` along the way, `height` up. Its edges are vertical: give wheels that meet them
        places=9 or more (a disc that envelops the road)."""
        _positive("half_ellipse", half_length=half_length, height=height)
        _finite("half_ellipse", at=at)
        return self._with((ROUND, 0, 0.0, float(at), float(half_length), float(height), 0.0))

    def sine(self, amplitude: float, wavelength: float, start: float = 0.0, end: float = np.inf) -> Road:
        """amplitude (1 - cos(2 pi (x - start) / wavelength)) / 2, as many whole waves as there are from `start` to `end`."""
        _positive("sine", wavelength=wavelength)
        _finite("sine", amplitude=amplitude, start=start)
        if not isinstance(end, numbers.Real) or not end - start >= wavelength * (1 - WHOLE):
            raise InputError(f"sine: from {start:g} to {end:g} m there is no whole wave of {wavelength:g} m")
        last = start + wavelength * np.floor((end - start) / wavelength + WHOLE) if np.isfinite(end) else ENDLESS
        return self._with((SINE, 0, 0.0, float(start), float(last), float(amplitude), float(wavelength)))

    def polyline(self, points: Sequence[tuple[float, float]] | np.ndarray) -> Road:
        """Straight between points (x, height), as many as there are, level before the first and after the last."""
        try:
            way = np.array(points, dtype=float).reshape(-1, 2)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"polyline: {points!r} is not a list of (x, height)") from None
        if len(way) < 2 or not np.all(np.isfinite(way)) or np.any(np.diff(way[:, 0]) <= 0):
            raise InputError("polyline: give at least two points (x, height), finite, x increasing")
        start, way = float(way[0, 1]), way - [0.0, way[0, 1]]
        way.setflags(write=False)
        return replace(self, lines=(*self.lines, Polyline(way)), level=self.level + start)

    def two_sided(self, shift: float) -> Road:
        """The same on both sides, the right side (negative y) `shift` metres later along the way."""
        _finite("two_sided", shift=shift)
        if any(feature[1] for feature in self.features) or any(line.shift is not None for line in self.lines):
            raise InputError("two_sided: this road has two sides already")
        lines = tuple(Polyline(line.points, float(shift)) for line in self.lines)
        features = tuple((kind, 1, float(shift), *rest) for kind, _, _, *rest in self.features)
        return replace(self, features=features, lines=lines)

    def shortest(self) -> float | None:
        """Length of the shortest bump or wave, m; None if there is none."""
        lengths = [f[4] if f[0] == ROUND else 0.5 * f[6] for f in self.features]
        return min(lengths, default=None)

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors forward and up."""
        up = np.asarray(self.up, dtype=float)
        up = up / np.linalg.norm(up)
        forward = np.asarray(self.forward, dtype=float)
        forward = forward - np.dot(forward, up) * up
        return forward / np.linalg.norm(forward), up

    def pack(self, foot: float) -> list[Any]:
        """What the kernels read, for a footprint of that half length: numbers, and of polylines blocks."""
        forward, up = self.axes()
        numbers = [*forward, *up, float(self.level), float(len(self.features) + len(self.lines))]
        rows: list[Any] = [x for feature in self.features for x in feature]
        for line in self.lines:
            shift = (0.0, 0.0) if line.shift is None else (1.0, line.shift)
            rows += [LINE, *shift, line.smoothed(float(foot)), 0.0, 0.0, 0.0]
        return [*numbers, *rows]

    def profile(self, x: Any, y: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """(height, slope) at x metres along the way, y to the left."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        h, slope = np.full(x.shape, float(self.level)), np.zeros(x.shape)
        for kind, shifted, shift, a, b, size, length in self.features:
            along = x if not shifted or y >= 0.0 else x - shift
            if kind == ROUND:
                d = (along - a) / b
                on = 1.0 - d * d > EDGE
                root = np.sqrt(np.where(on, 1.0 - d * d, 1.0))
                h, slope = h + np.where(on, size * root, 0.0), slope - np.where(on, size * d / (b * root), 0.0)
            else:
                turn, inside = TWO_PI / length, np.where((along > a) & (along < b), 0.5 * size, 0.0)
                angle = turn * (along - a)
                h, slope = h + inside * (1.0 - np.cos(angle)), slope + inside * turn * np.sin(angle)
        for line in self.lines:
            along = line.at(x, y)
            h, slope = h + np.interp(along, *line.points.T), slope + line.slopes(along)
        return h, slope

    def height(self, x: Numbers, y: float = 0.0) -> np.ndarray:
        """Height at x metres along the way, y metres to the left."""
        return self.profile(x, y)[0]

    def normal(self, x: float, y: float = 0.0) -> np.ndarray:
        """Unit normal, global axes."""
        forward, up = self.axes()
        slope = self.profile(x, y)[1][0]
        return np.asarray((up - slope * forward) / np.hypot(1.0, slope))


def flat(level: float = 0.0, forward: Vector = (1.0, 0.0, 0.0), up: Vector = (0.0, 0.0, 1.0)) -> Road:
    """Level ground: where every road begins. `madi.flat().half_round(at=20.8, radius=0.254)`."""
    _finite("flat", level=level)
    try:
        along, upward = (tuple(map(float, axis)) for axis in (forward, up))
        assert len(along) == len(upward) == 3
    except (TypeError, ValueError, AssertionError):
        raise InputError(f"flat: forward={forward!r}, up={up!r} must be three numbers each") from None
    if np.linalg.norm(np.cross(along, upward)) < PARALLEL:
        raise InputError(f"flat: forward={along} and up={upward} are along one line")
    return Road((), float(level), along, upward)


def _finite(what: str, **values: float) -> None:
    for name, value in values.items():
        if not (isinstance(value, numbers.Real) and np.isfinite(float(value))):
            raise InputError(f"{what}: {name}={value!r} must be a finite number")


def _positive(what: str, **values: float) -> None:
    for name, value in values.items():
        if not (isinstance(value, numbers.Real) and np.isfinite(float(value)) and value > 0):
            raise InputError(f"{what}: {name}={value!r} must be a number > 0")


@inline
def feature(p, s, k, x, y):
    """(first number, kind, its numbers a and b, where x is along it) of feature k of the road packed at p[s:]."""
    f, at = s + HEAD + WIDTH * k, x
    if int(p[f + 1]) == 1:  # the right side is shifted
        at = where(y >= 0.0, x, x - p[f + 2])
    return f, int(p[f]), p[f + 3], p[f + 4], at


@kernel
def smoothed(p, curve, s, x, y, foot):
    """(height, slope, curvature h'') of the road averaged over a tent-shaped footprint from x - foot to x + foot: continuous
    whatever the road. Of a feature h with h = H'', averaged: (H(x + foot) - 2 H(x) + H(x - foot)) / foot^2. Polylines were
    averaged when the road was packed, for the same footprint."""
    h, slope, bend = p[s + 6], 0.0, 0.0
    for k in range(int(p[s + 7])):
        f, kind, a, b, at = feature(p, s, k, x, y)
        if kind == ROUND:
            least = SHORTEST_FOOT * b
            foot_there = where(foot > least, foot, least)
            near = fabs(at - a) < b + foot_there
            if needed(near):
                u, w = (at - a) / b, foot_there / b
                r0, r1, r2 = half_circle(u - w)
                s0, s1, s2 = half_circle(u)
                t0, t1, t2 = half_circle(u + w)
                size = where(near, p[f + 5] / (w * w), 0.0)
                h, slope = h + size * (r0 - 2.0 * s0 + t0), slope + size / b * (r1 - 2.0 * s1 + t1)
                bend = bend + size / (b * b) * (r2 - 2.0 * s2 + t2)
        elif kind == SINE:
            # 1 - cos, from a to b: of the 1 a smoothed step, of the cos differences of (1 - cos) / turn^2, which stays small
            turn = TWO_PI / p[f + 6]
            for end in range(2):
                d = at - a if end == 0 else at - b
                part = 0.5 * p[f + 5] if end == 0 else -0.5 * p[f + 5]
                if needed(d + foot > 0.0):
                    before, after = tent(d, foot)
                    s0, s1, s2 = wave(d - foot, turn)
                    c0, c1, c2 = wave(d, turn)
                    t0, t1, t2 = wave(d + foot, turn)
                    size = part / (foot * foot)
                    step = where(d >= 0.0, part, 0.0) + 0.5 * size * (before * before - after * after)
                    h = h + step - size * (s0 - 2.0 * c0 + t0)
                    slope = slope + size * (before + after) - size * (s1 - 2.0 * c1 + t1)
                    bend = bend + size * (s2 - 2.0 * c2 + t2)
        else:
            more, rise, turn = lookup3(curve, int(a), at)
            h, slope, bend = h + more, slope + rise, bend + turn
    return h, slope, bend


@kernel
def has_edges(p, s):
    """Whether the road has features other than waves: their slopes are not small against a wheel."""
    found = 0
    for k in range(int(p[s + 7])):
        if int(p[s + HEAD + WIDTH * k]) != SINE:
            found = 1
    return found == 1


@kernel
def rough(p, curve, s, x, y, reach):
    """Whether the road is anything but level from x - reach to x + reach."""
    near, slope = 0.0, 0.0
    for k in range(int(p[s + 7])):
        _, kind, a, b, at = feature(p, s, k, x, y)
        if kind == ROUND:
            near = near + where(fabs(at - a) < 1.001 * b + reach, 1.0, 0.0)
        elif kind == SINE:
            near = near + where(at > a - reach, where(at < b + reach, 1.0, 0.0), 0.0)
        else:
            near = near + where(same_piece(curve, int(a), at - reach, at + reach), 0.0, 1.0)
            slope = slope + lookup(curve, int(a), at, 1)
    return near + where(fabs(slope) > LEVEL, 1.0, 0.0) > 0.5


@kernel
def has_shapes(p, s, x, reach):
    """Whether the road has anything but its own level from x - reach to x + reach, on either side; of polylines nobody asks
    where they are."""
    near = 0.0
    for k in range(int(p[s + 7])):
        f = s + HEAD + WIDTH * k
        kind, shift, a, b = int(p[f]), p[f + 2], p[f + 3], p[f + 4]
        if kind == ROUND:
            least, most = a - 1.001 * b - reach, a + 1.001 * b + reach
        else:
            least, most = a - reach, b + reach
        if kind == LINE:
            near = near + 1.0
        else:
            near = near + where(x > least, where(x < most, 1.0, 0.0), 0.0)
            if int(p[f + 1]) == 1:
                near = near + where(x - shift > least, where(x - shift < most, 1.0, 0.0), 0.0)
    return near > 0.5


@kernel
def height_of_level(p, curve, s, x, y):
    """Height of the road where it is not `rough`: its own, and that of the level parts of polylines."""
    h = p[s + 6]
    for k in range(int(p[s + 7])):
        _, kind, a, _, at = feature(p, s, k, x, y)
        if kind == LINE:
            h = h + lookup(curve, int(a), at, 0)
    return h


@kernel
def tent(d, foot):
    """How far d is inside (-foot, 0) and [0, foot), from the outer ends; 0 outside."""
    return (
        where(d + foot > 0.0, where(d < 0.0, d + foot, 0.0), 0.0),
        where(d < foot, where(d >= 0.0, foot - d, 0.0), 0.0),
    )


@kernel
def wave(d, turn):
    """cos(turn d) for d > 0, else 0, integrated twice and once; and 1 - cos not at all."""
    s, c = sin(turn * d), cos(turn * d)
    on = d > 0.0
    return where(on, (1.0 - c) / (turn * turn), 0.0), where(on, s / turn, 0.0), where(on, 1.0 - c, 0.0)


@kernel
def half_circle(u):
    """sqrt(1 - u^2) for |u| < 1, else 0, integrated twice, once and not at all."""
    inside = 1.0 - u * u
    on = inside > ROUNDING
    root = sqrt(where(on, inside, 1.0))
    angle = asin(where(on, u, 0.0))
    twice = 0.5 * (u * angle + root - root * root * root / 3.0)
    return (
        where(on, twice, QUARTER_CIRCLE * fabs(u)),
        where(on, 0.5 * (angle + u * root), where(u > 0.0, QUARTER_CIRCLE, -QUARTER_CIRCLE)),
        where(on, root, 0.0),
    )


@inline
def way(p, s, x):
    """(along, left, up) of a vector x of ground axes, by the axes of the road packed at p[s:]."""
    forward, up = at(p, s), at(p, s + 3)
    return dot(forward, x), dot(cross(up, forward), x), dot(up, x)


@inline
def in_plane(x):
    """(along, up) of (along, left, up)."""
    return x[0], x[2]
