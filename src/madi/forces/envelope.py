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
and on slopes to 1e-4 r; where the centre is nearer than 0.3 r, the step starts there, and level ground is met to a tenth of
how far it is from there. Where two parts of the road are near (a wheel that meets a step while it still stands on the
ground) both carry, and the contact passes continuously from one to the other: b grows with the square of the number of
places, 1/b = 0.032 r for 9, 0.008 r for 17.

A point follower with a footprint, and a disc that envelops the road: Pacejka, Tire and Vehicle Dynamics (3rd ed. 2012),
ch. 10; the soft minimum is ours.

docs/references.md: [Pacejka 2012], [Hunt, Crossley 1975].
"""

from __future__ import annotations

from madi.forces.road import has_edges, height_of_level, rough, smoothed
from madi.kernel import exp, fabs, kernel, log, needed, sqrt, where
from madi.spatial.vector import minus, plus_scaled, scaled

REACH = 0.95  # of the radius: how far ahead and behind the road is sampled
WIDTH = 0.75  # of the spacing: standard deviation of the weights around the nearest point
FOOT = 0.1  # of the radius: half length of the footprint
FEWEST = 9  # places of a disc
NEAREST = 0.3  # of the radius: a tangent nearer than that says nothing


@kernel
def tangent_distance(p, curve, s, place, foot):
    """As `distance`, of a point from the tangent of the profile at p[s:] below it."""
    h, m, c = smoothed(p, curve, s, place[0], place[1], foot)
    up, g = place[2] - h, 1.0 / sqrt(1.0 + m * m)
    return up * g, (-m * g - up * m * c * g * g * g, g), m, (c, 0.0)


@kernel
def distance(p, curve, s, place, radius, places):
    """(D, (dD/dx, dD/dz), slope, (d slope/dx, d slope/dz)) of a wheel's centre at (x along, y left, z up) of the road packed
    at p[s:] for this radius. The slope is the mean of the profile's, weighed as the distances are."""
    if places == 1 and not has_edges(p, s):
        return tangent_distance(p, curve, s, place, FOOT * radius)
    level = place[2] - height_of_level(p, curve, s, place[0], place[1])
    if int(p[s + 7]) == 0:  # a plane, whatever the depth
        return level, (0.0, 1.0), 0.0, (0.0, 0.0)
    uneven = needed(rough(p, curve, s, place[0], place[1], (REACH + FOOT) * radius))
    if not uneven and not needed(level < NEAREST * radius):  # on level ground both are one, but where it says nothing
        return level, (0.0, 1.0), 0.0, (0.0, 0.0)
    places = max(places, FEWEST)
    step = 2.0 * REACH * radius / (places - 1.0)
    b = radius / (WIDTH * WIDTH * step * step)
    # the tangent's distance, for what differs little from a plane
    a, a_by, _, _ = tangent_distance(p, curve, s, place, FOOT * radius)
    near = a > NEAREST * radius
    a, a_by = where(near, a, NEAREST * radius), (where(near, a_by[0], 0.0), where(near, a_by[1], 0.0))
    flat, rate, bow = level_minimum(a, b, radius, step, places)
    # sums over the profile, weights exp(-b (D_k - low)) with the least distance so far
    low, total, by = 0.0, 0.0, (0.0, 0.0)
    slope, bend, slope_by = 0.0, 0.0, (0.0, 0.0)
    for k in range(places):
        offset = k * step - REACH * radius
        h, m, c = smoothed(p, curve, s, place[0] + offset, place[1], FOOT * radius)
        up = place[2] - h
        arc = sqrt(1.0 + m * m)
        if 2 * k == places - 1:  # straight below
            d, d_z = up, 1.0
        else:
            far = sqrt(offset * offset + up * up)
            d = where(up > 0.0, far, 2.0 * fabs(offset) - far)  # above the centre: ever less, with a continuous slope
            d_z = fabs(up) / far
        if k == 0:
            least, before = d, 0.0
        else:
            least = where(d < low, d, low)
            before = exp(-b * (low - least))
        low, weight = least, arc * exp(-b * (d - least))
        d_by = (-d_z * m - m * c / (b * arc * arc), d_z)
        total, by = total * before + weight, plus_scaled(scaled(before, by), weight, d_by)
        slope, bend = slope * before + weight * m, bend * before + weight * c
        slope_by = plus_scaled(scaled(before, slope_by), weight * m, d_by)
    by, slope = scaled(1.0 / total, by), slope / total
    more = (low - a + log(flat / total) / b) / rate
    slope_by = minus(scaled(1.0 / total, slope_by), scaled(slope, by))
    return (
        a + more,
        scaled(1.0 / rate, minus(by, scaled(bow * more, a_by))),
        slope,
        (bend / total - b * slope_by[0], -b * slope_by[1]),
    )


@kernel
def level_minimum(a, b, radius, step, places):
    """(sum of exp(-b (D_k - a)), F', F'') of the soft minimum F over level ground at the distance a."""
    total, rate, curve, square = 0.0, 0.0, 0.0, 0.0
    for k in range(places):
        offset = k * step - REACH * radius
        d = sqrt(offset * offset + a * a)
        weight, e = exp(-b * (d - a)), a / d
        total, rate = total + weight, rate + weight * e
        curve, square = curve + weight * (1.0 - e * e) / d, square + weight * e * e
    rate = rate / total
    return total, rate, curve / total - b * (square / total - rate * rate)


@kernel
def pressed(stiffness, damping, soft, depth, rate):
    """(force, elastic part) of a spring and damper that only push; the damper sets in over the first `soft` metres, so that
    neither touch-down nor lift-off jumps (Hunt and Crossley: damping in proportion to the depth)."""
    touching = depth > 0.0
    elastic = where(touching, stiffness * depth, 0.0)
    force = elastic + damping * where(touching, where(depth < soft, depth / soft, 1.0), 0.0) * rate
    return where(force > 0.0, force, 0.0), elastic
