"""Gears and racks: ratios and loads."""

import pytest

import madi


def planetary(on_carrier):
    """Sun 20, planet 22, ring 64 teeth: with the ring held, the sun turns 1 + 64/20 = 4.2 times the carrier."""
    m = madi.Model("planetary", gravity=(0, 0, 0))
    for name, x in (("carrier", 0.0), ("sun", 0.0), ("planet", 0.42), ("ring", 0.0)):
        m.body(name, 1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    z = (0, 0, 1)
    m.revolute("C", m.ground, "carrier", at=(0, 0, 0), axis=z)
    base = "carrier" if on_carrier else m.ground
    m.revolute("S", base, "sun", at=(0, 0, 0), axis=z)
    m.revolute("P", "carrier", "planet", at=(0.42, 0, 0), axis=z)
    m.revolute("R", base, "ring", at=(0, 0, 0), axis=z)
    m.gear("sun-planet", "S", "P", radii=(20, 22))
    m.gear("planet-ring", "P", "R", radii=(22, 64), internal=True)
    return m


def test_a_planetary_gear():
    m = planetary(on_carrier=True)
    m.fixed("held", m.ground, "ring")
    m.drive("C", lambda t: t)
    run = madi.simulate(m, 1.0, step=0.01, engine="plain")
    assert run["sun.wz"][-1] == pytest.approx(4.2)
    assert abs(run["ring.wz"][-1]) < 1e-9
    found = planetary(on_carrier=False).check()
    assert len(found) == 2
    assert all("one carrier" in str(finding) for finding in found)


def test_loads_of_gears_and_racks():
    """Two wheels in mesh: 3 N m on the first; by hand (I1 + I2 r^2) a = 3, and the mesh takes I2 r^2 a."""
    m = madi.Model("gears")
    m.body("a", 1.0, inertia=(0.1, 0.1, 0.1))
    m.body("b", 1.0, inertia=(0.2, 0.2, 0.2), position=(1, 0, 0))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "b", m.ground, at=(1, 0, 0), axis=(0, 1, 0))
    m.gear("mesh", "A", "B", radii=(0.5, 0.25))
    m.joint_torque("motor", "A", 3.0)
    a = 3.0 / (0.1 + 0.2 * 4)
    for options in ({}, {"formulation": "cartesian"}):
        run = madi.simulate(m, 0.1, rtol=1e-8, times=[0.1], reactions=["mesh"], engine="jit", **options)
        assert run["mesh.my"][0] == pytest.approx(-0.2 * 4 * a, rel=1e-9)
        assert run["mesh.force"][0] == pytest.approx(0.0, abs=1e-9)
    m = madi.Model("rack")
    m.body("rack", 2.0, inertia=(1, 1, 1))
    m.body("pinion", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1))
    m.prismatic("slide", m.ground, "rack", at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("turn", m.ground, "pinion", at=(0, 0, 1), axis=(0, 1, 0))
    m.rack("mesh", "slide", "turn", radius=0.1)
    m.joint_torque("motor", "turn", 3.0)
    turn = 3.0 / (0.1 + 2.0 * 0.1**2)
    assert m.build().reactions([0, 0], [0, 0], ["mesh"])["mesh"].force[0] == pytest.approx(2.0 * 0.1 * turn, rel=1e-9)
