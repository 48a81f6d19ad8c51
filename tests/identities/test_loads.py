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


def driven_pendulum(**spring):
    m = madi.Model("driven", gravity=(0, 0, 0))
    bob = m.body("bob", mass=2.0, inertia=(0.2, 0.3, 0.2), position=(0, 0, -1.5))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    m.drive("pin", lambda t: 0.3 + 2.0 * t)
    if spring:
        m.joint_spring("k", "pin", **spring)
    return m


def test_the_motor_also_holds_the_joints_own_spring():
    """Driven at a constant rate against a spring and a damper: the drive supplies exactly their torque."""
    run = madi.simulate(driven_pendulum(stiffness=100.0, damping=3.0), 1.0, step=0.1)
    q = 0.3 + 2 * run.data["time"].values
    np.testing.assert_allclose(run["pin.drive"], 100 * q + 6, rtol=1e-12)
    np.testing.assert_allclose(run.data["driving_power"].values[:, 0], 2 * (100 * q + 6), rtol=1e-12)


def test_users_functions_see_driven_coordinates_as_driven():
    m = driven_pendulum()
    m.joint_torque("t", "pin", lambda t, q, v: 10 * q[0] + v[0])
    run = madi.simulate(m, 1.0, step=0.1)
    q = 0.3 + 2 * run.data["time"].values
    np.testing.assert_allclose(run["pin.drive"], -(10 * q + 2), rtol=1e-12)


def test_axes_of_a_driven_body_are_those_of_the_time():
    s = driven_pendulum().build()
    load = {axes: s.reactions([0.0], [0.0], t=0.5, axes=axes)["pin"].force for axes in ("ground", "bob")}
    assert np.linalg.norm(load["bob"]) > 1
    # at constant speed the pull is along the bar: -z in the body's axes has no x part
    np.testing.assert_allclose(load["bob"], (0, 0, np.linalg.norm(load["ground"])), atol=1e-9)


@given(seed=st.integers(0, 10**6), moving=st.booleans())
def test_drives_and_locks_in_every_formulation(seed, moving):
    """Driven and locked columns: all formulations agree, and inverse dynamics asks for exactly the driving forces."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 7, moving=moving, reverse=0.3, forces=True)
    for joint in m.joints[1:]:
        chance = rng.random()
        if chance < 0.3:
            m.lock(joint)
        elif chance < 0.7 and joint.kind in ("revolute", "prismatic", "screw"):
            w = rng.normal()
            m.drive(joint, lambda t, w=w: 0.3 * madi.sin(w * t) + 0.1 * t)
    s = m.build()
    q, v, tau = random_state(rng, s)
    t = 0.7
    a = s.forward_dynamics(q, v, tau, t)
    for other in ("articulated", "velocity-transform", "recursive"):
        b = s.forward_dynamics(q, v, tau, t, formulation=other)
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-8 * np.max(np.abs(a)))
    seen = s.observe(q, v, t, a)
    needed = s.inverse_dynamics(seen.q[0], seen.v[0], a, t)
    driving = {}
    for load in s.reactions(q, v, t=t, a=a).values():
        driving |= load.driving
    for c, name in enumerate(s.speeds):
        free = s.layout.arrays.drive[c] == -1
        assert abs(needed[c] - driving[name]) < 1e-8 * (1 + np.max(np.abs(needed)))
        if free:
            assert abs(needed[c] - tau[c]) < 1e-7 * (1 + np.max(np.abs(needed)))
