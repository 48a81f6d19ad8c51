"""Degrees of freedom, redundant rows and the loads they leave undetermined."""

import numpy as np
import pytest

import madi
from madi.verify import bricard, four_bars
from tests.mechanisms import four_bar


def test_redundant_rows_are_named_and_loads_marked():
    s = four_bar(q0=0.5, v0=1.0).build()
    found = s.mobility()
    assert (found.gruebler, found.degrees_of_freedom) == (-2, 1)
    assert found.redundant == (
        "translation along z at joint C", "rotation about x at joint C", "rotation about y at joint C",
    )  # fmt: skip
    loads = s.reactions(s.start.q, s.start.v, engine="plain")
    for load in loads.values():  # forces in the plane and the moment about its normal are certain, the rest is not
        assert not load.unique
        assert load.determined.tolist() == [True, False, True, False, True, False]
    # a spherical joint in place of C, a universal one in place of B: nothing is redundant any more
    m = four_bar(q0=0.5, v0=1.0)
    m.joints[2].kind, m.joints[2].axes = "spherical", ()
    m.joints[1].kind, m.joints[1].axes = "universal", ((0, 1, 0), (1, 0, 0))
    s = m.build()
    assert s.mobility().redundant == ()
    assert s.mobility().degrees_of_freedom == s.mobility().gruebler
    assert all(load.unique for load in s.reactions(s.start.q, s.start.v, engine="plain").values())


def test_bricard_moves_although_it_should_not():
    found = bricard.model().build().mobility()
    assert (found.gruebler, found.degrees_of_freedom, len(found.redundant)) == (0, 1, 1)
    assert "at joint P4" in found.redundant[0]


def test_scale_does_not_matter():
    """Millimetres or metres: the same rank."""
    for size in (1e-3, 1e3):
        s = four_bar(lengths=tuple(size * x for x in (0.3, 1.0, 0.8, 0.9))).build()
        assert s.mobility().degrees_of_freedom == 1
        assert len(s.mobility().redundant) == 3


def test_a_locked_mechanism_is_told_and_its_statics_work():
    m = madi.Model("truss")
    m.body("bar", 2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.revolute("A", m.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0))
    m.distance("rope", m.ground, "bar", at=((0, 0, 1.5), (2, 0, 0)))
    with pytest.raises(madi.InputError, match="its constraints leave no degree of freedom"):
        madi.simulate(m, 1.0)
    s = m.build()
    loads = s.reactions(s.start.q, s.start.v, joints=["A", "rope"], engine="plain")
    # moments about A: the rope's vertical part carries half the weight; its direction is (-2, 0, 1.5)
    vertical = 0.5 * 2.0 * 9.81
    np.testing.assert_allclose(loads["rope"].force, (-vertical * 2 / 1.5, 0, vertical), rtol=1e-9)
    np.testing.assert_allclose(loads["A"].force, (vertical * 2 / 1.5, 0, vertical), rtol=1e-9)
    assert loads["A"].unique


def test_a_start_in_a_singular_position():
    """A flat four-bar: two freedoms there, one elsewhere."""
    m = four_bars.model(1)
    m.joints[0].v0 = None
    s = m.build()
    assert s.mobility().degrees_of_freedom == 1
    flat = s.assemble(q0=[-np.pi / 2, np.pi / 2, -np.pi / 2])
    assert s.mobility(flat.q).degrees_of_freedom == 2


def test_old_names_are_answered_with_the_new_ones():
    m = four_bar()
    s = m.build()
    with pytest.raises(madi.InputError, match="'degrees_of_freedom'"):
        _ = s.mobility().freedoms
    with pytest.raises(madi.InputError, match="'assembly_mode'"):
        madi.assemble(m, branch=1)
    run = madi.simulate(m, 0.05, history=True)
    assert float(run.data["step_residual"].max()) >= 0.0
    with pytest.raises(madi.InputError, match="'step_residual'"):
        _ = run["step_opening"]
