"""Assembly: given starts stay, the rest follows; assembly modes; what cannot be closed."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar


def test_a_given_start_stays_and_the_rest_follows():
    found = madi.assemble(four_bar(q0=2.5, v0=3.0))
    assert found.closed
    assert found.q[0] == 2.5
    assert found.v[0] == 3.0
    assert found.moved["A"] == 0.0
    assert abs(found.moved["B"]) > 0.1
    assert set(found.residual) == {"C"}
    assert found.residual["C"] < 1e-11
    s = four_bar().build()
    _, rate, _, _ = s.constraint_terms(found.q, found.v, engine="plain")
    assert np.max(np.abs(rate)) < 1e-11


def test_a_rough_start_is_closed_nearby():
    m = four_bar()
    s = m.build()
    right = madi.assemble(m, q0={"A": 0.8}, pin=["A"]).q
    rough = right + [0.0, 0.02, -0.03]
    found = s.assemble(rough)
    assert np.max(np.abs(found.q - rough)) < 0.05
    assert found.residual["C"] < 1e-11


def test_another_assembly_mode():
    m = four_bar()
    first, second = madi.assemble(m, pin=["A"]), madi.assemble(m, pin=["A"], assembly_mode=1)
    assert first.q[0] == second.q[0] == 0.0
    assert second.closed
    # the rocker's end lies on the other side of the line from B to D
    s = m.build()
    side = []
    for state in (first, second):
        (B, _), (R, turn) = s.body_pose(state.q, "coupler"), s.body_pose(state.q, "rocker")
        C = R + turn @ (0, 0, 0.4)
        side.append(np.cross(np.array([0.9, 0, 0]) - (0, 0, 0.3), C - (0, 0, 0.3))[1])
        assert B is not None
    assert side[0] * side[1] < 0
    with pytest.raises(madi.AssemblyError, match="only 2 way"):
        madi.assemble(m, pin=["A"], assembly_mode=7)


def test_what_cannot_close_is_told_with_the_nearest_state():
    m = four_bar(lengths=(0.6, 1.0, 0.5, 1.0))  # not a crank: it cannot turn all the way
    with pytest.raises(
        madi.AssemblyError, match=r"cannot be closed.*C 0\..*It closes if what is held may move: A"
    ) as caught:
        madi.assemble(m, q0={"A": -1.6}, pin=["A"])
    nearest = caught.value.assembly
    assert nearest.residual["C"] > 0.01  # of what was asked for
    assert nearest.closed
    assert np.max(np.abs(m.build().constraints(nearest.q, engine="plain"))) < 1e-10
    m.distance("rod", "crank", m.ground, at=((0, 0, 0.6), (0, 3, 0)), length=0.2)
    with pytest.raises(madi.AssemblyError, match="rod"):
        madi.simulate(m, 1.0)


def test_starts_by_name_are_kept():
    m = four_bar(q0=0.3)
    run = madi.simulate(m, 0.01, step=1e-3, start=({"D": 0.1}, {"A": 1.0}), engine="plain")
    assert run["D"][0] == 0.1  # named: stays; A was only given, and follows
    assert run["A.v"][0] == pytest.approx(1.0)
    found = madi.assemble(m, q0={"A": 0.7})
    assert found.q[0] == 0.7
    assert found.released == ()
    np.testing.assert_allclose(found.a, m.build().forward_dynamics(found.q, found.v, engine="plain"))
