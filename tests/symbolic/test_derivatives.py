"""Exact derivatives of accelerations against differences."""

import numpy as np

import madi
from madi.joints.chart import exponential
from madi.topology.parameters import changed
from madi.topology.parameters import parameters as locate
from madi.verify import four_bars
from tests.mechanisms import double_pendulum, four_bar, four_bar_in_space


def test_exact_derivatives_with_loops():
    m = four_bar(q0=0.5, v0=1.0)
    m.joints[2].kind, m.joints[2].axes = "spherical", ()
    m.joints[1].kind, m.joints[1].axes = "universal", ((0, 1, 0), (1, 0, 0))
    s = m.build()
    q, v, tau, h = s.start.q, s.start.v, np.zeros(s.nv), 1e-6
    exact = s.derivatives(q, v, tau)
    for k, found in enumerate(exact):
        columns = []
        for e in np.eye(s.nv):
            ahead, behind = ([x + sign * h * e if j == k else x for j, x in enumerate((q, v, tau))] for sign in (1, -1))
            columns.append(
                (s.forward_dynamics(*ahead, engine="plain") - s.forward_dynamics(*behind, engine="plain")) / (2 * h)
            )
        np.testing.assert_allclose(found, np.array(columns).T, rtol=1e-6, atol=1e-6 * np.max(np.abs(found)))


def test_derivatives_of_a_loop_follow_its_parameters():
    """Before `adjust`, after it, and of the system it is a copy of."""
    names = ["coupler.mass", "gravity.z"]
    first = four_bar(q0=0.5, v0=1.0).build()
    s = first.adjustable(locate(first.model, names, first.frame))
    q, v, h = first.start.q, first.start.v, 1e-6
    found = []
    for values in (None, (3.0, -2.0), (0.4, -30.0)):
        if values is not None:
            s.adjust(np.array(values))
        exact = s.derivatives(q, v)
        found.append(exact[0])
        for k, one in enumerate(exact):
            columns = []
            for e in h * np.eye(s.nv):
                ahead, behind = ([x + sign * e if j == k else x for j, x in enumerate((q, v, 0 * v))] for sign in (1, -1))
                columns.append((s.forward_dynamics(*ahead) - s.forward_dynamics(*behind)) / (2 * h))
            np.testing.assert_allclose(one, np.array(columns).T, rtol=1e-6, atol=2e-6 * np.max(np.abs(one)))
    assert np.max(np.abs(found[1] - found[2])) > 1.0
    np.testing.assert_allclose(first.derivatives(q, v)[0], found[0], rtol=1e-9, atol=1e-9)
    other = four_bar(q0=0.5, v0=1.0)
    other["coupler"].mass, other.gravity = 0.4, (0, 0, -30.0)
    np.testing.assert_allclose(other.build().derivatives(q, v)[0], found[2], rtol=1e-8, atol=1e-8)


def compare(s, q, v, t=0.0, tau=None, rtol=1e-6):
    """Against central differences of the accelerations along the speeds of the chart."""
    tau, h = np.zeros(s.nv) if tau is None else tau, 1e-6
    for k, found in enumerate(s.derivatives(q, v, tau, t)):
        columns = []
        for e in np.eye(s.nv):
            sides = []
            for sign in (1.0, -1.0):
                there = [q, v + sign * h * e * (k == 1), tau + sign * h * e * (k == 2)]
                if k == 0:
                    there[0] = np.empty(s.nq)
                    exponential(s.layout.arrays, q, sign * h * e, there[0])
                sides.append(s.forward_dynamics(*there, t=t))
            columns.append((sides[0] - sides[1]) / (2 * h))
        np.testing.assert_allclose(found, np.array(columns).T, rtol=rtol, atol=rtol * max(1.0, np.max(np.abs(found))))


def windows(n):
    """Four-bars in a row, springs between their rockers."""
    m = four_bars.model(n)
    for i in range(n):
        at = (i, 0.8, 0), (i + 1, 0.3, 0)
        m.spring_damper(f"s{i}", f"rocker{i}", f"rocker{i + 1}", at, stiffness=40.0, damping=0.7, free_length=0.9)
    return m


def test_derivatives_of_many_loops():
    s = windows(6).build()
    q, v = s.start.q, s.start.v
    compare(s, q, v, tau=np.linspace(-1, 1, s.nv))


def test_derivatives_after_the_numbers_are_changed():
    """The same system with other numbers: what was derived before does not stay."""
    m = windows(2)
    names = ["rocker1.mass", "coupler0.com.x", "s0.stiffness", "C1.at.x"]
    drawn = m.build()
    s = drawn.adjustable(locate(m, names))
    q, v = drawn.start.q, drawn.start.v
    before = s.derivatives(q, v)
    s.adjust(np.array([3.0, 0.1, 900.0, 2.0]))
    compare(s, q, v)
    assert not np.allclose(s.derivatives(q, v)[0], before[0])
    alone = changed(m, dict(zip(names, [3.0, 0.1, 900.0, 2.0], strict=True))).build().derivatives(q, v)
    for found, right in zip(s.derivatives(q, v), alone, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9 * np.max(np.abs(right)))
    s.adjust(drawn.adjustable(locate(m, names)).values)
    for found, right in zip(s.derivatives(q, v), before, strict=True):
        np.testing.assert_array_equal(found, right)


def test_derivatives_of_driven_mechanisms():
    """What is prescribed does not change; a tree and a loop."""
    tree = double_pendulum((0, 0, 0))
    tree.drive("A", lambda t: 0.3 * t * t)
    s = tree.build()
    compare(s, s.q0 + 0.2, s.v0 + 0.4, t=0.7)
    assert not np.any(s.derivatives(s.q0 + 0.2, s.v0, t=0.7)[0][s.speeds.index("A")])
    loop = four_bar_in_space()
    loop.free("cube_free", loop.ground, loop.body("cube", 1.0, inertia=(0.1, 0.2, 0.3)))
    s = loop.build()
    q, v = s.start.q, s.start.v + 0.0
    v[s.v_slice("cube_free")] = 0.1, -0.4, 0.2, 0.5, 0.3, -0.2
    compare(s, q, v)


def test_derivatives_of_many_states_at_once():
    s = windows(2).build()
    q = np.array([s.start.q, s.start.q + 0.01])
    together = s.derivatives(q, s.start.v)
    for k in range(2):
        for found, one in zip(together, s.derivatives(q[k], s.start.v), strict=True):
            np.testing.assert_allclose(found[k], one, rtol=1e-12, atol=1e-12 * np.max(np.abs(one)))


def test_derivatives_with_redundant_rows():
    """A planar loop that a fifth link crosses: along the motion the accelerations know nothing of the rows that add
    nothing."""
    m = madi.Model("parallelograms", gravity=(0, -9.81, 0))
    rail = m.body("rail", 2.0, inertia=(0.1, 0.1, 0.2), position=(1, 1, 0))
    for i in range(3):
        rocker = m.body(f"r{i}", 1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0.5, 0))
        m.revolute(f"A{i}", m.ground, rocker, at=(i, 0, 0), axis=(0, 0, 1), v0=0.7 if i == 0 else None)
        m.revolute(f"B{i}", rocker, rail, at=(i, 1, 0), axis=(0, 0, 1))
    s = m.build()
    q, v = s.start.q, s.start.v
    assert s.mobility().redundant
    by_q, by_v, by_tau = s.derivatives(q, v)
    h, way = 1e-6, v / np.max(np.abs(v))
    ahead, behind = (s.assemble(q + sign * h * way).q for sign in (1.0, -1.0))
    slope = (s.forward_dynamics(ahead, 0 * v) - s.forward_dynamics(behind, 0 * v)) / (2 * h)
    np.testing.assert_allclose(s.derivatives(q, 0 * v)[0] @ way, slope, rtol=1e-5, atol=1e-5 * np.max(np.abs(slope)))
    slope = (s.forward_dynamics(q, v + h * way) - s.forward_dynamics(q, v - h * way)) / (2 * h)
    np.testing.assert_allclose(by_v @ way, slope, atol=1e-6)
    e = np.eye(s.nv)[0]
    np.testing.assert_allclose(by_tau @ e, s.forward_dynamics(q, v, e) - s.forward_dynamics(q, v), atol=1e-8)
    assert np.isfinite(by_q).all()
