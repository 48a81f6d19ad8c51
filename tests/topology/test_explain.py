"""Explanations of trees, cuts and constraints."""

from tests.mechanisms import four_bar


def test_constraints_are_explained():
    m = four_bar()
    m.distance("rod", "coupler", m.ground, at=((0.5, 1, 0.5), (0.5, 3, 0)))
    text = m.build().explain()
    assert "6 constraint(s), 1 cut joint(s)" in text
    assert "constraint: 'rod', 1 row(s)" in text
    assert "Grübler: 3 - 6 = -3" in text
