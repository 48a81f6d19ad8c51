"""Exact derivatives of accelerations against differences."""

import numpy as np

from madi.topology.parameters import parameters
from tests.mechanisms import four_bar


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
    s = first.adjustable(parameters(first.model, names, first.frame))
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
