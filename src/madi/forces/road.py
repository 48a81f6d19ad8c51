"""Road profiles: height over the way, the same across each half of the road.

A road is level ground plus features that add up: half-round and half-ellipse bumps, sines, and kinks of which polylines are
made. `two_sided` shifts the features of the right side against those of the left by a phase (metres along the way).
Forces see it averaged over a short footprint (`smoothed`), with continuous slope and curvature whatever the road.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.kernel import asin, cos, fabs, inline, kernel, needed, sin, sqrt, where
from madi.spatial.rotation import PARALLEL, TWO_PI
from madi.spatial.vector import at, cross, dot, plus_scaled, scaled

ROUND, SINE, KINK = 0, 1, 2
WHOLE = 1e-9  # of a wave: rounding of how many there are
ENDLESS = 1e9  # m: where waves without an end have theirs
EDGE, ROUNDING = 1e-6, 1e-14  # 1 - x^2 at the edge of a hill: its slope, without bound, is left out; its integrals go on
SHORTEST_FOOT = 1e-3  # of a hill's half length: a longer footprint, so that second differences keep their digits
LEVEL = 1e-12  # slope that the ends of a polyline leave by rounding
QUARTER_CIRCLE = 0.7853981633974483  # pi / 4: area of a quarter of the unit circle
HEAD, WIDTH = 8, 7  # numbers before the features; of a feature: kind, whether the right side is shifted, how far, four more


@dataclass(frozen=True)
class Road:
    """A road in the direction `forward`, heights along `up`; left is up x forward."""

    features: tuple[tuple[float, ...], ...] = ()
    level: float = 0.0
    forward: tuple[float, float, float] = (1.0, 0.0, 0.0)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)

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

    def polyline(self, points: Sequence[tuple[float, float]]) -> Road:
        """Straight between points (x, height), level before the first and after the last."""
        try:
            way = np.array(points, dtype=float).reshape(-1, 2)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"polyline: {points!r} is not a list of (x, height)") from None
        if len(way) < 2 or not np.all(np.isfinite(way)) or np.any(np.diff(way[:, 0]) <= 0):
            raise InputError("polyline: give at least two points (x, height), finite, x increasing")
        slopes = np.concatenate([[0.0], np.diff(way[:, 1]) / np.diff(way[:, 0]), [0.0]])
        kinks = [
            (KINK, 0, 0.0, float(x), float(change), 0.0, 0.0) for x, change in zip(way[:, 0], np.diff(slopes), strict=True)
        ]
        return replace(self._with(*kinks), level=self.level + float(way[0, 1]))

    def two_sided(self, shift: float) -> Road:
        """The same on both sides, the right side (negative y) `shift` metres later along the way."""
        _finite("two_sided", shift=shift)
        if any(feature[1] for feature in self.features):
            raise InputError("two_sided: this road has two sides already")
        return replace(self, features=tuple((kind, 1, float(shift), *rest) for kind, _, _, *rest in self.features))

    def shortest(self) -> float | None:
        """Length of the shortest bump or wave, m; None if there is none."""
        lengths = [f[4] if f[0] == ROUND else 0.5 * f[6] for f in self.features if f[0] != KINK]
        return min(lengths, default=None)

    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Unit vectors forward and up."""
        up = np.asarray(self.up, dtype=float)
        up = up / np.linalg.norm(up)
        forward = np.asarray(self.forward, dtype=float)
        forward = forward - np.dot(forward, up) * up
        return forward / np.linalg.norm(forward), up

    def pack(self) -> list[float]:
        """The numbers the kernels read."""
        forward, up = self.axes()
        numbers = [*forward, *up, float(self.level), float(len(self.features))]
        return [*map(float, numbers), *(float(x) for feature in self.features for x in feature)]

    def height(self, x: Any, y: float = 0.0) -> np.ndarray:
        """Height at x metres along the way, y metres to the left."""
        numbers = np.array(self.pack())
        return np.array([profile(numbers, 0, float(one), y)[0] for one in np.atleast_1d(np.asarray(x, dtype=float))])

    def normal(self, x: float, y: float = 0.0) -> np.ndarray:
        """Unit normal, global axes."""
        forward, up = self.axes()
        slope = profile(np.array(self.pack()), 0, float(x), y)[1]
        return (up - slope * forward) / np.hypot(1.0, slope)


def flat(level: float = 0.0, forward: Any = (1.0, 0.0, 0.0), up: Any = (0.0, 0.0, 1.0)) -> Road:
    """Level ground: where every road begins. `madi.flat().half_round(at=20.8, radius=0.254)`."""
    _finite("flat", level=level)
    try:
        forward, up = (tuple(float(x) for x in axis) for axis in (forward, up))
        assert len(forward) == len(up) == 3
    except (TypeError, ValueError, AssertionError):
        raise InputError(f"flat: forward={forward!r}, up={up!r} must be three numbers each") from None
    if np.linalg.norm(np.cross(forward, up)) < PARALLEL:
        raise InputError(f"flat: forward={forward} and up={up} are along one line")
    return Road((), float(level), forward, up)


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
def profile(p, s, x, y):
    """(height, slope) of the road packed at p[s:], x metres along the way and y to the left."""
    h, slope = p[s + 6], 0.0
    for k in range(int(p[s + 7])):
        f, kind, a, b, at = feature(p, s, k, x, y)
        if kind == ROUND:
            d = (at - a) / b
            inside = 1.0 - d * d
            on = inside > EDGE
            root = sqrt(where(on, inside, 1.0))
            h, slope = h + where(on, p[f + 5] * root, 0.0), slope + where(on, -p[f + 5] * d / (b * root), 0.0)
        elif kind == SINE:
            turn = TWO_PI / p[f + 6]
            inside = where(at > a, where(at < b, 0.5 * p[f + 5], 0.0), 0.0)
            h, slope = h + inside * (1.0 - cos(turn * (at - a))), slope + inside * turn * sin(turn * (at - a))
        else:
            h, slope = h + where(at > a, b * (at - a), 0.0), slope + where(at > a, b, 0.0)
    return h, slope


@kernel
def smoothed(p, s, x, y, foot):
    """(height, slope, curvature h'') of the road averaged over a tent-shaped footprint from x - foot to x + foot: continuous
    whatever the road. Of a feature h with h = H'', averaged: (H(x + foot) - 2 H(x) + H(x - foot)) / foot^2."""
    h, slope, curve = p[s + 6], 0.0, 0.0
    for k in range(int(p[s + 7])):
        f, kind, a, b, at = feature(p, s, k, x, y)
        if kind == ROUND:
            u, w = (at - a) / b, foot / b
            w = where(w > SHORTEST_FOOT, w, SHORTEST_FOOT)
            near = fabs(u) < 1.0 + w
            if needed(near):
                r0, r1, r2 = half_circle(u - w)
                s0, s1, s2 = half_circle(u)
                t0, t1, t2 = half_circle(u + w)
                size = where(near, p[f + 5] / (w * w), 0.0)
                h, slope = h + size * (r0 - 2.0 * s0 + t0), slope + size / b * (r1 - 2.0 * s1 + t1)
                curve = curve + size / (b * b) * (r2 - 2.0 * s2 + t2)
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
                    curve = curve + size * (s2 - 2.0 * c2 + t2)
        else:
            d = at - a
            before, after = tent(d, foot)
            beyond = where(d >= 0.0, b, 0.0)
            cube = b / (6.0 * foot * foot) * (before * before * before + after * after * after)
            square = b / (2.0 * foot * foot) * (before * before - after * after)
            h, slope = h + beyond * d + cube, slope + beyond + square
            curve = curve + b / (foot * foot) * (before + after)
    return h, slope, curve


@kernel
def has_edges(p, s):
    """Whether the road has features other than waves: their slopes are not small against a wheel."""
    found = 0
    for k in range(int(p[s + 7])):
        if int(p[s + HEAD + WIDTH * k]) != SINE:
            found = 1
    return found == 1


@kernel
def rough(p, s, x, y, reach):
    """Whether the road is anything but level from x - reach to x + reach."""
    near, slope = 0.0, 0.0
    for k in range(int(p[s + 7])):
        _, kind, a, b, at = feature(p, s, k, x, y)
        if kind == ROUND:
            near = near + where(fabs(at - a) < 1.001 * b + reach, 1.0, 0.0)
        elif kind == SINE:
            near = near + where(at > a - reach, where(at < b + reach, 1.0, 0.0), 0.0)
        else:
            near = near + where(fabs(at - a) < reach, 1.0, 0.0)
            slope = slope + where(at > a, b, 0.0)
    return near + where(fabs(slope) > LEVEL, 1.0, 0.0) > 0.5


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
def along_road(p, s, x):
    """The vector in ground axes of x, (along, up) or (along, left, up) on the road packed at p[s:]."""
    forward, up = at(p, s), at(p, s + 3)
    if len(x) == 2:
        return plus_scaled(scaled(x[0], forward), x[1], up)
    return plus_scaled(plus_scaled(scaled(x[0], forward), x[2], up), x[1], cross(up, forward))


@inline
def in_plane(x):
    """(along, up) of (along, left, up)."""
    return x[0], x[2]
