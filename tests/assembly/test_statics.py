"""Equilibria: closed forms, settled simulations, vehicles from the air, and what has none."""

import numpy as np
import pytest

import madi
from madi.papers import six_by_six
from tests.mechanisms import four_bar_in_space, pendulum


def test_springs_in_series_by_hand():
    """Two masses on two springs: z1 = (m1 + m2) g / k1 down, z2 another m2 g / k2."""
    m = madi.Model("series")
    for k, (mass, stiffness) in enumerate(((2.0, 500.0), (3.0, 800.0))):
        m.body(f"b{k}", mass, inertia=(1, 1, 1), position=(0, 0, -k))
        m.prismatic(f"z{k}", m.ground if k == 0 else "b0", f"b{k}", at=(0, 0, -k), axis=(0, 0, 1))
        m.joint_spring(f"s{k}", f"z{k}", stiffness=stiffness)
    found = madi.statics(m)
    np.testing.assert_allclose(found.q, [-5 * 9.81 / 500, -3 * 9.81 / 800], rtol=1e-9)
    assert found.stable
    assert not found.free


def test_a_pendulum_sinks_to_its_lower_rest_from_nearly_the_top():
    m = madi.Model("pendulum")
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    m.revolute("pin", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0), q0=np.pi - 0.05)
    found = madi.statics(m)
    assert np.cos(found.q[0]) == pytest.approx(1.0, abs=1e-12)
    assert found.stable
    top = madi.statics(m, q0=[np.pi])
    assert not top.stable


def test_a_spatial_loop_rests_where_a_damped_run_ends():
    """Crank and rocker in different planes, a rod between them, springs and dampers: no direction is free."""
    m = four_bar_in_space()
    m.bodies = [body for body in m.bodies if body.name != "coupler"]
    m.joints = [joint for joint in m.joints if joint.name in "AD"]
    m.distance("rod", "crank", "rocker", at=((0.4, 0, 0), (1.0, 0.4, 0.6)))
    m.forces[0].parameters["damping"] = 8.0
    found = madi.statics(m)
    assert found.stable
    assert not found.free
    run = madi.simulate(m, 30.0, method="radau", rtol=1e-9, times=[30.0], engine="jit")
    np.testing.assert_allclose(run.data["q"].values[-1], found.q, atol=1e-8)
    assert np.isfinite(found.reactions(["A"])["A"].force).all()
    assert np.max(np.abs(found.system.forward_dynamics(found.q, found.v))) < 1e-7


@pytest.mark.parametrize("height", [0.0, 0.4])
def test_a_vehicle_lands_on_its_wheels(height):
    """From on the road and from the air to the same rest; its rolling directions are free, and said so."""
    s = six_by_six.vehicle(six_by_six.road(False)).build()
    q = s.q0
    q[1] += height
    found = madi.statics(s, q0=q)
    still, _ = six_by_six.start(s, 0.0)
    np.testing.assert_allclose(found.q[[1, 7, 9, 11, 13, 15, 17]], still[[1, 7, 9, 11, 13, 15, 17]], atol=1e-8)
    assert found.stable
    assert "hub_left1" in found.free


def test_drives_hold_and_do_not_throw():
    """A driven joint stands where its drive is; its speed there does not count."""
    m = madi.Model("held")
    m.body("arm", 1.0, inertia=(1, 1, 1), position=(0.5, 0, 0))
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, -0.5))
    m.revolute("A", m.ground, "arm", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "arm", "bob", at=(1, 0, 0), axis=(0, 1, 0), q0=0.4)
    m.drive("A", lambda t: 0.3 + 5 * t)
    found = madi.statics(m, t=0.02)
    assert found.q == pytest.approx([0.4, -0.4], abs=1e-9)


def test_what_has_no_rest_is_told():
    m = madi.Model("falling")
    m.body("stone", 1.0, inertia=(1, 1, 1))
    m.free("sky", m.ground, "stone")
    with pytest.raises(madi.RunError, match=r"no equilibrium.*sky.vz"):
        madi.statics(m)
    with pytest.raises(madi.InputError, match="give a Model"):
        madi.statics("stone")


def test_drives_hold_their_joints_where_a_driven_loop_rests():
    """A four-bar whose crank is driven at speed: at rest its motor holds it; loads by hand from the links' weights."""
    from madi.cli.models import template
    from madi.schema.read import loads

    model = loads(template("four-bar"))
    rest = madi.statics(model)
    assert not np.any(rest.v)
    loads_there = rest.reactions()
    total = sum(body.mass for body in model.bodies) * 9.81
    carried = loads_there["A"].force + loads_there["D"].force
    np.testing.assert_allclose(carried, [0, 0, total], atol=1e-9)
    # virtual work: the motor's torque is the rate of the potential energy along the one way the loop can go
    free = loads(template("four-bar"))
    free.drives.clear()
    s, h = free.build(), 1e-5
    high, low = (float(s.observe(s.assemble({"A": x}).q, engine="plain").potential[0]) for x in (h, -h))
    assert loads_there["A"].driving["A"] == pytest.approx((high - low) / (2 * h), rel=1e-6)
    assert madi.linearize(model).A.shape == (0, 0)


def test_statics_of_a_gram_beside_a_ton():
    m = madi.Model("car")
    m.body("car", 1500.0, inertia=(500, 1500, 1500), position=(0, 0, 1))
    m.prismatic("z", m.ground, "car", at=(0, 0, 1), axis=(0, 0, 1))
    m.joint_spring("suspension", "z", stiffness=8e4)
    m.body("sensor", 1e-4, inertia=(1e-9, 1e-9, 1e-9), position=(0, 0, 1.5))
    m.prismatic("mount", "car", "sensor", at=(0, 0, 1.5), axis=(0, 0, 1))
    m.joint_spring("rubber", "mount", stiffness=1e5)
    rest = madi.statics(m)
    np.testing.assert_allclose(rest.q, [-9.81 * 1500.0001 / 8e4, -9.81 * 1e-4 / 1e5], rtol=1e-8)


def test_statics_that_fail_hand_back_the_nearest():
    m = pendulum(q0=0.5)
    m.torque("too much", "bob", (0, -20.0, 0))
    with pytest.raises(madi.RunError, match=r"Farthest from balance is joint 'A'") as caught:
        madi.statics(m)
    assert caught.value.equilibrium.q.shape == (1,)


def test_statics_of_what_cannot_move_gives_its_loads():
    """A three-hinged frame: by the method of joints half the weight each side, and the thrust that closes the triangle."""
    m = madi.Model("frame")
    m.body("left", 10.0, inertia=(1, 1, 1), position=(0.5, 0, 0.5))
    m.body("right", 10.0, inertia=(1, 1, 1), position=(1.5, 0, 0.5))
    m.revolute("A", m.ground, "left", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "left", "right", at=(1, 0, 1), axis=(0, 1, 0))
    m.revolute("C", m.ground, "right", at=(2, 0, 0), axis=(0, 1, 0))
    load = madi.statics(m).reactions(["A"])["A"].force
    np.testing.assert_allclose(load, [98.1 * 0.5, 0, 98.1], atol=1e-8)


def test_a_long_chain_of_springs_by_hand():
    """Each of ninety springs carries what hangs below it; stiffness and frequencies of equal springs in a row are known."""
    n, mass, stiffness = 90, 0.2, 5e3
    m = madi.Model("springs in a row")
    before = m.ground
    for k in range(n):
        pan = m.body(f"p{k}", mass, inertia=(1, 1, 1), position=(0, 0, -k - 1))
        m.prismatic(f"z{k}", before, pan, at=(0, 0, -k), axis=(0, 0, 1))
        m.joint_spring(f"s{k}", f"z{k}", stiffness=stiffness)
        before = pan
    rest = madi.statics(m)
    below = mass * 9.81 * (n - np.arange(n))
    np.testing.assert_allclose(rest.q, -below / stiffness, rtol=1e-9)
    assert rest.stable
    odd = (2 * np.arange(n) + 1) * np.pi / (2 * (2 * n + 1))  # one end held, one free
    frequencies = [mode["frequency"] for mode in madi.linearize(rest).modes]
    np.testing.assert_allclose(frequencies, 2 * np.sqrt(stiffness / mass) * np.sin(odd) / (2 * np.pi), rtol=1e-7)
