"""Discontinuities of a function along a path, found by bisection."""

import numpy as np


def largest_jump(function, start, end, points=401, followed=3):
    """(largest change over an interval of 1e-12 of the path, values at all points): the largest changes between neighbours
    are followed by bisection; of a continuous function nothing is left of them."""
    places = np.linspace(start, end, points)
    values = np.array([function(x) for x in places])
    changes = np.max(np.abs(np.diff(values, axis=0)), axis=1)
    worst = 0.0
    for k in np.argsort(-changes)[:followed]:
        (low, high), (f, g) = places[k : k + 2], values[k : k + 2]
        while high - low > 1e-12 * (end - start):
            middle = 0.5 * (low + high)
            between = function(middle)
            if np.max(np.abs(between - f)) > np.max(np.abs(g - between)):
                high, g = middle, between
            else:
                low, f = middle, between
        worst = max(worst, float(np.max(np.abs(g - f))))
    return worst, values
