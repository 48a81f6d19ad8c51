"""Tire laws without a measured file: forces of slip, continuity, sliding, hills."""

import pytest

import madi
from tests.mechanisms import pendulum


def test_the_tire_s_law_says_what_it_is():
    m = pendulum()
    with pytest.raises(madi.InputError, match="'smooth'"):
        m.tire("t", "bob", (0, 0, 0), (0, 1, 0), 0.3, 1e5, law="linear")
