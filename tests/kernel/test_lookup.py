"""Measured curves as blocks: the right piece for every number, polynomials and their derivatives."""

import numpy as np
import pytest
from scipy.interpolate import PPoly

from madi.kernel.lookup import HEAD, Curves, at_many, block, evaluated, lookup3, number_of, numbered, piece

RNG = np.random.default_rng(3)
SPACINGS = {
    "even": np.linspace(-2.0, 5.0, 300),
    "random": np.sort(RNG.uniform(-2.0, 5.0, 300)),
    "over many powers of ten": np.cumsum(10.0 ** RNG.uniform(-9, 2, 300)),
    "two": np.array([1.0, 2.0]),
    "one": np.array([0.5]),
    "neighbours in doubles": np.array([1.0, np.nextafter(1.0, 2.0), 3.0]),
    "too near to count cells": np.array([0.0, 5e-324, 1e-323]),
    "too far apart to count cells": np.array([-1.7e308, 0.0, 1.7e308]),
}


@pytest.mark.parametrize("spacing", SPACINGS)
def test_every_number_is_found_on_its_piece(spacing):
    breaks = SPACINGS[spacing]
    made = block(breaks, RNG.normal(size=(len(breaks) + 1, 4)))
    inside = RNG.uniform(breaks[0] / 2, breaks[-1] / 2, 500) * 2 if len(breaks) > 1 else breaks
    beside = np.concatenate([breaks, np.nextafter(breaks, -np.inf), np.nextafter(breaks, np.inf), inside])
    for x in [*beside, -np.inf, np.inf]:
        assert piece(made, 0, x) == np.searchsorted(breaks, x, side="right")
    assert piece(made, 0, np.nan) == 0


@pytest.mark.parametrize("degree", [0, 1, 3, 4])
def test_values_and_derivatives_are_those_of_the_polynomials(degree):
    breaks, pieces = SPACINGS["random"], RNG.normal(size=(301, degree + 1))
    made = np.concatenate([np.zeros(7), block(breaks, pieces)])  # not at the beginning of its array
    known = PPoly(pieces[1:-1].T, breaks)
    x = RNG.uniform(breaks[0], breaks[-1], 200)
    for order in range(5):
        exact = known.derivative(order)(x) if order else known(x)
        np.testing.assert_allclose([evaluated(made, 7, one, order) for one in x], exact, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(at_many(made, 7, x, order), exact, rtol=1e-12, atol=1e-12)
    for one in (breaks[0] - 0.3, breaks[-1] + 0.3):
        ends = np.poly1d(pieces[0 if one < 0 else -1])
        from_break = one - breaks[0 if one < 0 else -1]
        np.testing.assert_allclose(lookup3(made, 7, one), [ends.deriv(k)(from_break) for k in range(3)], rtol=1e-12)


def test_equal_blocks_are_kept_once_and_numbers_name_arrays():
    one, two = (block([0.0, 1.0], [[y], [y], [y]]) for y in (1.0, 2.0))
    curves = Curves()
    assert curves.numbers([3.5, one, two, one.copy(), two]) == [3.5, 0.0, len(one), 0.0, len(one)]
    assert len(curves.array()) == len(one) + len(two)
    assert evaluated(curves.array(), len(one), 0.3, 0) == 2.0
    assert number_of(one) == number_of(one) != number_of(two)
    assert numbered(number_of(two)) is two
    assert len(one) == HEAD + 3 * 2 + 2
