"""Distance from a wheel's centre to the road: the one number all wheels, tires and track pads take from a profile.

The distance D(x, z) of a centre at x along the way and z up is a smooth function, its gradient the direction in which the
road pushes: a force k (r - D) grad D is conservative on any profile, right on any slope, and continuous over edges.

Profiles are met as a tent-shaped footprint of half length w = 0.1 r averages them (road.smoothed): kinks and vertical edges
then have a continuous slope and curvature.

One place. The tangent of the profile below the centre stands for the road: D = (z - h) / sqrt(1 + h'^2). Exact on slopes;
its gradient is normal to a slope h' (1 + (z - h) h'' / (1 + h'^2)), to first order that at the true foot of the
perpendicular. Good where the road's radius of curvature is larger than the wheel's; so only waves are met so: before an edge
its slope would count as one under the whole wheel, and roads with kinks or half ellipses are always enveloped.

Several places, nine at least: the disc envelops the road. With points P_k = (x + s_k, h_k) of the profile at a spacing
within the disc, their distances D_k from the centre and lengths of arc a_k, proportional to sqrt(1 + h_k'^2), take the soft
minimum

    exp(-b E) = sum a_k exp(-b D_k).

Around the nearest point D_k grows like t^2 / (2 D) with the arc t, so the sum is a Gaussian of width sqrt(r / b), which is
made 3/4 of the spacing: then it does not depend on where the points lie (to 3e-5 / b, on a road that is straight there; on a
crest of curvature c it is too large by ln(1 + c D) / (2 b), and steps are blunted). For level ground at the distance a
the same sum is a function F(a), with F' = 1 - 1/(2 b a) + ...; D is the distance at which level ground would give the same,
by one step of Newton from the distance a of the tangent:  D = a + (E - F(a)) / F'(a).  So it is exact on level ground,
and on slopes to 1e-4 r. Where two parts of the road are near (a wheel that meets a step while it still stands on the ground)
both carry, and the contact passes continuously from one to the other: b grows with the square of the number of places, 1/b =
0.032 r for 9, 0.008 r for 17.

A point follower with a footprint, and a disc that envelops the road: Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012),
ch. 10; the soft minimum is ours.

docs/references.md: [Pacejka 2012], [Hunt, Crossley 1975].
"""

from __future__ import annotations

from madi.kernel import exp, fabs, kernel, log, needed, sqrt, where
from madi.road import has_edges, rough, smoothed

REACH = 0.95  # of the radius: how far ahead and behind the road is sampled
WIDTH = 0.75  # of the spacing: standard deviation of the weights around the nearest point
FOOT = 0.1  # of the radius: half length of the footprint
FEWEST = 9  # places of a disc
LEAST = 0.3  # of the radius: a tangent nearer than that says nothing


@kernel
def tangent_distance(p, s, x, y, z, foot):
    """(D, dD/dx, dD/dz, slope, d slope/dx, d slope/dz) of a point from the tangent of the profile at p[s:] below it."""
    h, m, c = smoothed(p, s, x, y, foot)
    g = 1.0 / sqrt(1.0 + m * m)
    return (z - h) * g, -m * g - (z - h) * m * c * g * g * g, g, m, c, 0.0


@kernel
def distance(p, s, x, y, z, radius, places):
    """(D, dD/dx, dD/dz, slope, d slope/dx, d slope/dz) of a wheel's centre: x along the road packed at p[s:], y to the left,
    z up. The slope is the mean of the profile's, weighed as the distances are."""
    if places == 1 and not has_edges(p, s):
        return tangent_distance(p, s, x, y, z, FOOT * radius)
    if not needed(rough(p, s, x, y, (REACH + FOOT) * radius)):  # on level ground both are one
        return tangent_distance(p, s, x, y, z, FOOT * radius)
    places = max(places, FEWEST)
    step = 2.0 * REACH * radius / (places - 1.0)
    b = radius / (WIDTH * WIDTH * step * step)
    # the tangent's distance, for what differs little from a plane
    a, a_x, a_z, _, _, _ = tangent_distance(p, s, x, y, z, FOOT * radius)
    near = a > LEAST * radius
    a, a_x, a_z = where(near, a, LEAST * radius), where(near, a_x, 0.0), where(near, a_z, 0.0)
    # sums over the profile, weights exp(-b (D_k - low)) with the least distance so far; over level ground, exp(-b (D_k - a))
    low, total, by_x, by_z = 0.0, 0.0, 0.0, 0.0
    slope, bend, slope_x, slope_z = 0.0, 0.0, 0.0, 0.0
    flat, flat_1, flat_2, flat_3 = 0.0, 0.0, 0.0, 0.0
    for k in range(places):
        offset = k * step - REACH * radius
        h, m, c = smoothed(p, s, x + offset, y, FOOT * radius)
        up = z - h
        far = sqrt(offset * offset + up * up + 1e-30)
        arc = sqrt(1.0 + m * m)
        d = where(up > 0.0, far, 2.0 * fabs(offset) - far)  # above the centre: ever less, with a continuous slope
        if k == 0:
            least, before = d, 0.0
        else:
            least = where(d < low, d, low)
            before = exp(-b * (low - least))
        weight = arc * exp(-b * (d - least))
        total = total * before + weight
        d_z = fabs(up) / far
        d_x = -d_z * m - m * c / (b * arc * arc)
        by_x, by_z = by_x * before + weight * d_x, by_z * before + weight * d_z
        slope, bend = slope * before + weight * m, bend * before + weight * c
        slope_x, slope_z = slope_x * before + weight * m * d_x, slope_z * before + weight * m * d_z
        low = least
        d = sqrt(offset * offset + a * a)
        weight = exp(-b * (d - a))
        e = a / d
        flat, flat_1 = flat + weight, flat_1 + weight * e
        flat_2, flat_3 = flat_2 + weight * (1.0 - e * e) / d, flat_3 + weight * e * e
    by_x, by_z, slope = by_x / total, by_z / total, slope / total
    rate = flat_1 / flat
    more = (low - a + log(flat / total) / b) / rate
    curve = (flat_2 / flat - b * (flat_3 / flat - rate * rate)) * more
    return (
        a + more,
        (by_x - curve * a_x) / rate,
        (by_z - curve * a_z) / rate,
        slope,
        bend / total - b * (slope_x / total - slope * by_x),
        -b * (slope_z / total - slope * by_z),
    )


@kernel
def pressed(stiffness, damping, soft, depth, rate):
    """(force, elastic part) of a spring and damper that only push; the damper sets in over the first `soft` metres, so that
    neither touch-down nor lift-off jumps (Hunt and Crossley: damping in proportion to the depth)."""
    touching = depth > 0.0
    elastic = where(touching, stiffness * depth, 0.0)
    force = elastic + damping * where(touching, where(depth < soft, depth / soft, 1.0), 0.0) * rate
    return where(force > 0.0, force, 0.0), elastic
