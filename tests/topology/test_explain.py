"""Explanations of trees, cuts and constraints."""

import numpy as np

import madi
from tests.mechanisms import four_bar


def test_constraints_are_explained():
    m = four_bar()
    m.distance("rod", "coupler", m.ground, at=((0.5, 1, 0.5), (0.5, 3, 0)))
    text = m.build().explain()
    assert "6 constraint(s), 1 cut joint(s)" in text
    assert "constraint: 'rod', 1 row(s)" in text
    assert "Grübler: 3 - 6 = -3" in text


def test_a_loop_is_shown():
    m = madi.Model("four-bar")
    corners = [(0, 0, 0), (0, 0, 1), (2, 0, 1), (2, 0, 0)]
    bars = [m.body(f"bar{k}", mass=1, inertia=(1, 1, 1), position=np.mean(corners[k : k + 2], axis=0)) for k in range(3)]
    for k, (a, b) in enumerate(zip([m.ground, *bars], [*bars, m.ground], strict=True)):
        m.revolute("ABCD"[k], a, b, at=corners[k], axis=(0, 1, 0))
    s = m.build()
    assert s.cut_joints == ["C"]
    assert s.n_constraints == 5
    assert "cut: revolute 'C' between bar1 and bar2, 5 constraints" in s.explain()
