"""Torsion bars: energy with tilted axes, torque about their own."""

import numpy as np

import madi


def test_a_torsion_bar_keeps_energy_however_its_axes_tilt():
    """Two bodies on a ball joint, twisted and tilted: energy to 1e-9 at tilts of half a radian and more."""
    m = madi.Model("bar", gravity=(0, 0, 0))
    m.body("a", 2.0, inertia=(0.3, 0.2, 0.25), com=(0.1, 0, 0))
    m.body("b", 1.0, inertia=(0.1, 0.15, 0.2), com=(0, 0.2, 0.1))
    m.spherical("A", m.ground, "a", at=(0, 0, 0), v0=(0.5, -0.4, 0.3))
    m.spherical("B", "a", "b", at=(0, 0, 0), v0=(2.0, -1.5, 3.0))
    m.torsion_bar("bar", "a", "b", axis=(0, 0, 1), stiffness=40.0)
    run = madi.simulate(m, 5.0, rtol=1e-11, atol=1e-12, times=np.linspace(0, 5, 501))
    s = m.build()
    tilts = []
    for q in run.data["q"].values:
        seen = s.observe(q, np.zeros(s.nv))
        a, b = seen.rotation[0]
        tilts.append(float(np.arccos(np.clip(a[:, 2] @ b[:, 2], -1, 1))))
    assert max(tilts) > 0.5
    energy = run["energy"]
    assert np.ptp(energy) < 1e-9 * np.max(np.abs(energy))


def test_a_torsion_bar_is_a_torque_about_its_axis_where_the_axes_stay_together():
    m = madi.Model("bar", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(0.1, 0.1, 0.2))
    m.free("B", m.ground, "b")
    m.torsion_bar("bar", m.ground, "b", axis=(0, 0, 1), stiffness=40.0, damping=2.0, rest=0.1)
    s = m.build()
    q = s.q0.copy()
    q[3:] = np.cos(0.2), 0, 0, np.sin(0.2)
    a = s.forward_dynamics(q, np.array([0, 0, 0, 0, 0, 0.5]))
    np.testing.assert_allclose(a, [0, 0, 0, 0, 0, (-40.0 * (0.4 - 0.1) - 2.0 * 0.5) / 0.2], atol=1e-12)
