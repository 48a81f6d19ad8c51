"""Exact derivatives of accelerations against differences."""

import numpy as np

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
