"""States given to a system are checked."""

import numpy as np
import pytest

import madi


def test_states_are_checked():
    m = madi.Model("ball")
    m.body("a", mass=2.0, inertia=(1, 1, 1))
    m.spherical("A", m.ground, "a", at=(0, 0, 0))
    s = m.build()
    with pytest.raises(madi.InputError, match="length 2"):
        s.forward_dynamics([2, 0, 0, 0], [0, 0, 0])
    with pytest.raises(madi.InputError, match="number 1 is not finite"):
        s.forward_dynamics([1, 0, 0, 0], [0, np.nan, 0])
    with pytest.raises(madi.InputError, match="3 numbers"):
        s.forward_dynamics([1, 0, 0, 0], [0, 0])
