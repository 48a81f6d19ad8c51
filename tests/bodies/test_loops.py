"""Flexible bodies in loops."""

import numpy as np
import pytest

import madi
from madi.flexible import (
    polynomials,
    rectangle,
)
from madi.verify import slider_crank
from tests.bodies.beams import ALUMINIUM


@pytest.mark.parametrize(
    ("rod", "wanted", "allowed"),
    [(slider_crank.elastic_rod, slider_crank.CONSISTENT, 5e-10), (slider_crank.published_rod, slider_crank.PUBLISHED, 4e-9)],
    ids=["independent", "published"],
)
def test_flexible_slider_crank(rod, wanted, allowed):
    """A loop with an elastic rod, against an independent solution and the test set's digits."""
    m = slider_crank.model(rod)
    runs = [madi.simulate(m, 0.1, rtol=1e-10, atol=1e-13, times=[0.1], loops=way) for way in ("projection", "svd")]
    for run in runs:
        np.testing.assert_allclose(slider_crank.elastic(run)[-1], wanted, atol=allowed)
        assert np.max(run["violation"]) < 1e-10
    assert runs[0]["slider.x"][-1] == pytest.approx(slider_crank.PUBLISHED_SLIDER, abs=1e-7)


def test_spanning_trees_of_flexible_loops():
    """Both ways into a beam are equally long: its own modal joints are never cut."""
    motions = []
    for cut in (None, "B", "C"):
        m = madi.Model("four-bar", gravity=(4, -9.81, 0))
        a = m.body("crank", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.5, 0))
        b = m.beam("coupler", (0, 1, 0), (2, 1, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"y": polynomials(2.0, 2)},
                   y_axis=(0, 1, 0), stiffening=False)  # fmt: skip
        c = m.body("rocker", 1.0, inertia=(0.1, 0.1, 0.1), position=(2, 0.5, 0))
        z = (0, 0, 1)
        m.revolute("A", m.ground, a, at=(0, 0, 0), axis=z)
        m.revolute("D", m.ground, c, at=(2, 0, 0), axis=z)
        m.revolute("B", a, b, at=(0, 1, 0), axis=z, cut=True if cut == "B" else None)
        m.revolute("C", b, c, at=(2, 1, 0), axis=z, cut=True if cut == "C" else None)
        s = m.build()
        assert len(s.cut_joints) == 1
        assert not any("@" in name for name in s.cut_joints)
        run = madi.simulate(m, 0.5, rtol=1e-9, times=np.linspace(0, 0.5, 6))
        motions.append(np.stack([run["coupler@0.x"], run["coupler.y1"]]))
        np.testing.assert_allclose(motions[-1], motions[0], atol=1e-7)
        assert np.ptp(run["energy"]) < 1e-6 * np.max(run["kinetic"])


def test_loads_and_loops_of_every_method_agree():
    m = slider_crank.model()
    found = [madi.simulate(m, 0.01, rtol=1e-9, times=[0.01], loops=way, reactions=["gudgeon", "pin"])
             for way in ("projection", "pseudo-inverse", "svd", "qr", "partition")]  # fmt: skip
    for run in found[1:]:
        np.testing.assert_allclose(slider_crank.elastic(run), slider_crank.elastic(found[0]), atol=1e-9)
        np.testing.assert_allclose(run["gudgeon.fx"], found[0]["gudgeon.fx"], rtol=1e-4)
    # the slider's own equation: what the pin carries along the guide moves it
    assert found[0]["gudgeon.fx"][-1] == pytest.approx(slider_crank.SLIDER * found[0]["slider.ax"][-1], rel=1e-9)
