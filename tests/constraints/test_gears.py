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
