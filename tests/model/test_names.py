"""Names of elements that are refused."""

import pytest

import madi
from tests.mechanisms import pendulum


@pytest.mark.parametrize("draw", [
    lambda m: m.joint_spring("A", "A"), lambda m: m.force("energy", "bob", (0, 0, 1)),
    lambda m: m.force("A.v", "bob", (0, 0, 1)),
])  # fmt: skip
def test_names_that_would_mean_two_things_are_refused(draw):
    m = pendulum()
    draw(m)
    with pytest.raises(madi.ModelError, match=r"results would call"):
        m.build()


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a\nb", "\x1b[2J"])
def test_names_that_cannot_be_printed_are_refused(name):
    m = madi.Model("m")
    m.body(name, 1.0, inertia=(1, 1, 1))
    m.free("f", m.ground, name)
    with pytest.raises(madi.ModelError, match="cannot be printed"):
        m.build()
