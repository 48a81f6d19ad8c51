"""Geometry of contact: how far a point is from a shape, and where two shapes are nearest to each other.

A shape is a kind (a code below), a frame on its body, and up to three sizes: radius and half length along z of a capsule or
cylinder, three half sizes of a box; a plane is all below its frame's z = 0. Its *field* is the distance d(y) of a point y in
its axes from its surface, negative inside, and the unit gradient of d there.

Of two shapes one is felt by the other in points, which its frame knows (`PROBES`: corners, centres of spheres and of the
ends of capsules, each a ball of some radius), or which are sought: the lowest points of a disc's rims and two more on each
rim a third of a turn apart (`RIMS`), the nearest points of two axes (`SEGMENTS`: spheres and capsules).

Nearest points of segments: Ericson, Real-Time Collision Detection (2005), 5.1.9.

docs/references.md: [Ericson 2005].
"""

from __future__ import annotations

from madi.kernel import LEAST_SIZE, fabs, inline, kernel, sqrt, where
from madi.spatial.vector import Z_AXIS, dot, minus, plus_scaled, scaled

PLANE, SPHERE, CAPSULE, CYLINDER, BOX, POINTS = range(6)
PROBES, RIMS, SEGMENTS = range(3)
PER_RIM = 3  # points: flat on a plane, a disc stands on three
SIN_THIRD, COS_THIRD = 0.8660254037844386, -0.5
NO_LENGTH = 1e-24  # m2: squares below it have no direction
SAME_WAY = 1e-9  # squared sine of the angle below which two axes are parallel
FLAT = 1e-9  # sine of a disc's tilt below which no point of its rim is lowest


@inline
def clamped(x, low, high):
    """x, not outside its bounds."""
    return where(x < low, low, where(x > high, high, x))


@inline
def sign(x):
    """1 or -1."""
    return where(x < 0.0, -1.0, 1.0)


@kernel
def from_centre(y, radius):
    """Distance from a sphere around the origin; at its very centre the normal is along x."""
    square = dot(y, y)
    none = square < NO_LENGTH
    far = sqrt(where(none, 1.0, square))
    n = scaled(where(none, 0.0, 1.0 / far), y)
    return where(none, 0.0, far) - radius, (n[0] + where(none, 1.0, 0.0), n[1], n[2])


@kernel
def from_cylinder(y, radius, half):
    """Distance from a cylinder around z: from its edge outside both its ends and its barrel, else from the nearer."""
    square = y[0] * y[0] + y[1] * y[1]
    middle = square < NO_LENGTH
    out = sqrt(where(middle, 1.0, square))
    x_out, y_out = where(middle, 1.0, y[0] / out), where(middle, 0.0, y[1] / out)
    a, b = where(middle, 0.0, out) - radius, fabs(y[2]) - half
    edge = where(a > 0.0, where(b > 0.0, 1.0, 0.0), 0.0)
    corner = sqrt(edge * (a * a + b * b) + (1.0 - edge))
    barrel = where(a > b, 1.0, 0.0)
    by_a = where(edge > 0.0, a / corner, barrel)
    by_b = where(edge > 0.0, b / corner, 1.0 - barrel)
    return where(edge > 0.0, corner, where(a > b, a, b)), (by_a * x_out, by_a * y_out, by_b * sign(y[2]))


@kernel
def from_box(y, a, b, c):
    """Distance from a box around the origin, half sizes a, b, c."""
    x, y_, z = fabs(y[0]) - a, fabs(y[1]) - b, fabs(y[2]) - c
    u, v, w = where(x > 0.0, x, 0.0), where(y_ > 0.0, y_, 0.0), where(z > 0.0, z, 0.0)
    square = u * u + v * v + w * w
    outside = square > LEAST_SIZE
    far = sqrt(where(outside, square, 1.0))
    # inside: the nearest side
    first = where(x >= y_, where(x >= z, 1.0, 0.0), 0.0)
    second = where(first > 0.0, 0.0, where(y_ >= z, 1.0, 0.0))
    third = 1.0 - first - second
    d = where(outside, far, first * x + second * y_ + third * z)
    n = (where(outside, u / far, first), where(outside, v / far, second), where(outside, w / far, third))
    return d, (n[0] * sign(y[0]), n[1] * sign(y[1]), n[2] * sign(y[2]))


@kernel
def field(p, s, kind, y):
    """(d, gradient) of the shape with sizes p[s:] at the point y, in its axes."""
    if kind == PLANE:
        return y[2], Z_AXIS
    if kind == SPHERE:
        return from_centre(y, p[s])
    if kind == CAPSULE:
        half = p[s + 1]
        return from_centre((y[0], y[1], y[2] - clamped(y[2], -half, half)), p[s])
    if kind == CYLINDER:
        return from_cylinder(y, p[s], p[s + 1])
    return from_box(y, p[s], p[s + 1], p[s + 2])


@kernel
def rim_point(k, radius, half, axes, n):
    """Point k of the rims of a cylinder with these axes, from its middle: where it lies lowest along n, and a third of a
    turn before and after that."""
    along = dot(n, axes[2])
    a, b = dot(n, axes[0]), dot(n, axes[1])
    size = sqrt(a * a + b * b + LEAST_SIZE)
    flat = size < FLAT
    safe = where(flat, 1.0, size)
    x, y = where(flat, -1.0, -a / safe), where(flat, 0.0, -b / safe)
    turn = k % PER_RIM
    if turn > 0:
        s = SIN_THIRD if turn == 1 else -SIN_THIRD
        x, y = COS_THIRD * x - s * y, s * x + COS_THIRD * y
    end = half if k < PER_RIM else -half
    return plus_scaled(plus_scaled(scaled(radius * x, axes[0]), radius * y, axes[1]), end, axes[2]), along


@kernel
def nearest_on_segments(d, u, h, w, g):
    """(s, t) of the nearest points d + s u and t w of two segments about their middles, |s| <= h, |t| <= g; u, w unit
    vectors. Where they are parallel, the middle of what they share."""
    b, du, dw = dot(u, w), dot(d, u), dot(d, w)
    den = 1.0 - b * b
    parallel = den < SAME_WAY
    # free of ends: s = (b dw - du) / (1 - b^2); parallel: half way between the ends of the part that both have
    low, high = clamped(-du - g, -h, h), clamped(-du + g, -h, h)
    s = where(parallel, 0.5 * (low + high), clamped((b * dw - du) / where(parallel, 1.0, den), -h, h))
    t = clamped(dw + s * b, -g, g)
    s = where(parallel, s, clamped(t * b - du, -h, h))
    return s, t


@kernel
def between_segments(place_a, u, h, place_b, w, g):
    """Of the axes of two capsules: the vector from the nearest point of b's to that of a's, and the latter."""
    d = minus(place_a, place_b)
    s, t = nearest_on_segments(d, u, h, w, g)
    return plus_scaled(plus_scaled(d, s, u), -t, w), plus_scaled(place_a, s, u)
