"""Mechanisms far from the origin: accelerations, loads and runs as near it."""

import numpy as np
import pytest

import madi
from tests.mechanisms import double_pendulum, far_four_bar

FAR = [(1e3, -1e3, 1e3), (1e6, 1e6, -1e6)]


@pytest.mark.parametrize("at", FAR)
@pytest.mark.parametrize("make", [double_pendulum, far_four_bar])
@pytest.mark.parametrize("engine", ["plain", "jit", "compiled"])
def test_a_mechanism_far_away_accelerates_as_at_home(make, at, engine):
    near, far = make((0, 0, 0)).build(), make(at).build()
    q, v = near.start.q, near.start.v
    np.testing.assert_allclose(
        far.forward_dynamics(q, v, engine=engine), near.forward_dynamics(q, v, engine=engine), rtol=1e-9, atol=1e-9
    )
    here, there = near.reactions(q, v, ["A"])["A"], far.reactions(q, v, ["A"])["A"]
    np.testing.assert_allclose(there.force, here.force, atol=1e-8)
    np.testing.assert_allclose(there.moment, here.moment, atol=1e-8)
    assert far.body_pose(q, far.bodies[0])[0] == pytest.approx(np.add(near.body_pose(q, near.bodies[0])[0], at), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"formulation": "cartesian"}, {"loops": "qr"}, {"method": "radau"}])
def test_a_run_far_away_is_the_run_at_home(options):
    near, far = (madi.simulate(far_four_bar(at), 1.0, rtol=1e-9, times=[1.0], engine="jit", **options)
                 for at in ((0, 0, 0), (1e6, -1e6, 1e6)))  # fmt: skip
    assert far["A"][-1] == pytest.approx(near["A"][-1], abs=1e-7)


def test_what_has_gone_far_is_as_exact_as_at_the_start():
    """A pendulum on a cart that has gone 100 km along its rail: accelerations do not depend on where it is."""
    m = madi.Model("cart")
    m.body("cart", 2.0, inertia=(1, 1, 1))
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    m.prismatic("rail", m.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("A", "cart", "bob", at=(0, 0, 0), axis=(0, 1, 0))
    s = m.build()
    here = s.forward_dynamics([0.0, 0.7], [3.0, 2.0], engine="jit")
    np.testing.assert_allclose(s.forward_dynamics([1e5, 0.7], [3.0, 2.0], engine="jit"), here, rtol=1e-13)


def test_a_wheel_far_along_its_road():
    def drawn(x):
        m = madi.Model("wheel")
        m.body("wheel", 20.0, inertia=(1, 1, 1), position=(x, 0, 0.29))
        m.free("wheel_free", m.ground, "wheel")
        m.tire("tire", "wheel", (x, 0, 0.29), (0, 1, 0), radius=0.3, stiffness=2e5, damping=100.0, slip_stiffness=5e4,
               cornering_stiffness=4e4)  # fmt: skip
        return m.build()

    near, far = drawn(0.0), drawn(1e6)
    v = np.array([10.0, 0.5, 0.1, 0.0, 32.0, 0.2])
    np.testing.assert_allclose(
        far.forward_dynamics(far.q0, v, engine="jit"), near.forward_dynamics(near.q0, v, engine="jit"), rtol=1e-9
    )
