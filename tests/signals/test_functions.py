"""Functions of users during a run: what they may ask, and what is said when they fail."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar, pendulum, pinned_bob


def test_a_function_that_fails_in_a_loop_is_named():
    m = four_bar(v0=1.0)

    def torque(t, q, v):
        if t > 0.05:
            raise RuntimeError("boom")
        return (0.0, 0.0, 0.0)

    m.torque("motor", "rocker", torque)
    ways = ({"step": 1e-2}, {"method": "dopri"}, {"step": 1e-2, "loops": "baumgarte"}, {"formulation": "cartesian"})
    for options in ways:
        with pytest.raises(madi.RunError, match=r"motor.* raised RuntimeError: boom"):
            madi.simulate(m, 1.0, engine="jit", **options)


def test_a_function_may_ask_the_system_it_acts_on():
    """Its run has scratch of its own: an evaluation within it does not disturb it."""
    s, found = pendulum(q0=0.5).build(), []
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", madi.in_python(lambda t, q, v: found.append(s.forward_dynamics(q, v)[0]) or 0.0))
    system = m.build()
    run = madi.simulate(system, 0.5, rtol=1e-9, times=[0.5], engine="jit")
    assert found
    assert run["A"][-1] == pytest.approx(madi.simulate(s, 0.5, rtol=1e-9, times=[0.5], engine="jit")["A"][-1], abs=1e-8)


def test_indices_move_and_names_do_not():
    """A torque on a joint moves the cut elsewhere: q[k] is another joint then, q[name] is not."""

    def drawn(torque):
        m = madi.Model("four-bar")
        A, B, C, D = (np.array(p) for p in ((0, 0, 0), (0, 0, 0.3), (0.95, 0, 0.75), (0.9, 0, 0)))
        for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
            m.body(name, 1.0, inertia=(0.05, 0.05, 0.05), position=(P + Q) / 2)
        m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
        m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0))
        m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
        m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
        if torque is not None:
            m.joint_torque("motor", "C", torque)
        return m

    plain = drawn(None).build()
    by_name = drawn(lambda t, q, v: -3.0 * q["A"])
    assert plain.cut_joints != by_name.build().cut_joints
    spring = drawn(None)
    spring.torque("on rocker", "rocker", lambda t, q, v: (0.0, -3.0 * q["A"], 0.0))
    spring.torque("on coupler", "coupler", lambda t, q, v: (0.0, 3.0 * q["A"], 0.0))
    run, same = (madi.simulate(m, 0.5, rtol=1e-9, times=[0.5], engine="jit") for m in (by_name, spring))
    assert run["rocker.ry"][-1] == pytest.approx(same["rocker.ry"][-1], abs=1e-6)
    with pytest.raises(madi.ModelError, match="there is no speed 'spin'"):
        drawn(lambda t, q, v: -v["spin"]).build()


def test_untraceable_drive_says_what_to_use():
    m = pinned_bob()
    m.drive("pin", lambda t: 1.0 if t > 1 else 0.0)
    with pytest.raises(madi.ModelError, match=r"drive of 'pin'.*madi.where"):
        m.build()


def test_an_exception_in_a_users_function_is_told():
    m = pinned_bob()

    def broken(t, q, v):
        if t > 0.3:
            raise KeyError("my table")
        return (0.0, 0.0, 0.0)

    m.force("table", "bob", broken)
    with pytest.raises(madi.RunError, match=r"force 'table' raised KeyError.*my table"):
        madi.simulate(m, 1.0, step=0.01, engine="jit")
