"""Loads of joints and constraints at a state."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar


def test_constraint_forces_do_no_work_and_balance():
    """Sum of all reactions on the ground is the rate of momentum less gravity; multipliers do no work."""
    m = four_bar(q0=0.4, v0=2.0)
    s = m.build()
    q, v = s.start.q, s.start.v
    a = s.forward_dynamics(q, v, engine="plain")
    loads = s.reactions(q, v, engine="plain")
    seen = s.observe(q, v, a=a, engine="plain")
    mass = np.array([body.mass for body in (next(b for b in m.bodies if b.name == name) for name in s.bodies)])
    total = (mass[:, None] * (seen.acceleration[0] + (0, 0, 9.81))).sum(axis=0)
    np.testing.assert_allclose(loads["A"].force + loads["D"].force, total, atol=1e-9)
    # what the open tree would need beside its own forces is what the multipliers give: not zero, and without power
    constraint = s.inverse_dynamics(q, v, a, engine="plain")
    assert np.max(np.abs(constraint)) > 1.0
    assert v @ constraint == pytest.approx(0.0, abs=1e-8)


def test_loads_by_the_classical_way_and_of_what_has_no_freedom():
    s = four_bar(q0=0.5, v0=1.0).build()
    a, b = (s.reactions(s.start.q, s.start.v, way=way, engine="plain") for way in ("selected", "newton-euler"))
    for name in a:
        np.testing.assert_allclose(a[name].force, b[name].force, atol=1e-9)
        np.testing.assert_allclose(a[name].moment, b[name].moment, atol=1e-9)
    m = madi.Model("stiff")
    m.body("block", 2.0, inertia=(1, 1, 1))
    m.fixed("A", m.ground, "block")
    m.distance("rod", m.ground, "block", at=((1, 0, 0), (0, 0, 0)))
    s = m.build()
    assert s.mobility().degrees_of_freedom == 0
    assert s.reactions(s.start.q, s.start.v, engine="plain")["A"].unique is False


def test_loads_of_an_open_mechanism_are_refused():
    s = four_bar(q0=0.6).build()
    with pytest.raises(madi.InputError, match=r"open at these positions \('C'"):
        s.reactions(s.q0, s.v0, engine="plain")
    default, start = s.reactions(engine="plain"), s.reactions(s.start.q, s.start.v, engine="plain")
    np.testing.assert_allclose(default["A"].force, start["A"].force)
    m = four_bar(q0=0.6)
    m.distance("rod", "coupler", m.ground, at=((0.5, 1, 0.5), (0.5, 3, 0)))
    assert set(m.build().loaded_names) == {"A", "B", "C", "D", "rod"}
