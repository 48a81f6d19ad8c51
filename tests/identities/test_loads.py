"""Joint reactions: both ways agree, driving forces are the generalised forces, a body in hand balances."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import madi
from tests.mechanisms import random_state, random_tree


@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), moving=st.booleans())
def test_selected_equals_newton_euler(seed, n, moving):
    rng = np.random.default_rng(seed)
    s = random_tree(rng, n, moving=moving, reverse=0.3, forces=True).build()
    q, v, tau = random_state(rng, s)
    a = s.forward_dynamics(q, v, tau)
    one = s.reactions(q, v, a=a)
    two = s.reactions(q, v, a=a, way="newton-euler")
    size = max(np.max(np.abs([*r.force, *r.moment])) for r in one.values())
    for name in one:
        assert np.max(np.abs(one[name].force - two[name].force)) < 1e-10 * size
        assert np.max(np.abs(one[name].moment - two[name].moment)) < 1e-10 * size


@given(seed=st.integers(0, 10**6), moving=st.booleans())
def test_reaction_along_the_freedom_is_what_acts_there(seed, moving):
    """B^T R of a free joint is the generalised force handed in (plus the model's own on that coordinate)."""
    rng = np.random.default_rng(seed)
    s = random_tree(rng, 7, moving=moving, reverse=0.3).build()
    q, v, tau = random_state(rng, s)
    a = s.forward_dynamics(q, v, tau)
    driving = {}
    for load in s.reactions(q, v, a=a).values():
        driving |= load.driving
    np.testing.assert_allclose([driving[name] for name in s.speeds], tau, rtol=0, atol=1e-7 * max(1, np.max(np.abs(a))))


def test_hanging_weight_and_lever():
    """Two bodies at rest on a locked joint: force is the weight, moment the weight times the lever, on the child."""
    m = madi.Model("static", gravity=(0, 0, -10))
    arm = m.body("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    bob = m.body("bob", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(2, 0, -0.5))
    m.revolute("A", m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0))
    m.spherical("B", arm, bob, at=(2, 0, 0))
    m.lock("A")
    s = m.build()
    load = s.reactions(s.q0, s.v0)
    np.testing.assert_allclose(load["A"].force, (0, 0, 50), atol=1e-12)
    np.testing.assert_allclose(load["A"].moment, (0, -(2 * 10 * 1 + 3 * 10 * 2), 0), atol=1e-12)
    np.testing.assert_allclose(load["B"].force, (0, 0, 30), atol=1e-12)
    np.testing.assert_allclose(load["B"].moment, (0, 0, 0), atol=1e-12)
    assert load["A"].driving["A"] == np.float64(load["A"].moment[1])


def test_axes_and_drawn_direction():
    """Drawn the other way the load on the (other) child is the opposite; in a turned body's axes it is turned."""
    loads = {}
    for way in (0, 1):
        m = madi.Model("static", gravity=(0, 0, -10))
        bob = m.body("bob", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(2, 0, 0))
        ends = (m.ground, bob) if way == 0 else (bob, m.ground)
        m.universal("A", *ends, at=(0, 0, 0), axes=((0, 0, 1), (1, 0, 0)))
        m.lock("A")
        s = m.build()
        loads[way] = s.reactions(s.q0, s.v0)["A"]
    np.testing.assert_allclose(loads[0].force, -loads[1].force, atol=1e-12)
    np.testing.assert_allclose(loads[0].moment, -loads[1].moment, atol=1e-12)
    q = np.array([np.pi / 2, 0.0])
    s = m.build()
    seen = s.reactions(q, s.v0, axes="bob")["A"]
    ground = s.reactions(q, s.v0)["A"]
    np.testing.assert_allclose(seen.force, s.body_pose(q, "bob")[1].T @ ground.force, atol=1e-12)
