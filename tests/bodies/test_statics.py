"""Static deflections of flexible bodies."""

import numpy as np
import pytest

import madi
from madi.flexible import (
    clamped_loaded,
)
from tests.bodies.beams import one_beam, slender

ELASTICA = {1.0: (0.30172, 0.05643), 2.0: (0.49346, 0.16064), 5.0: (0.71379, 0.38763), 10.0: (0.81061, 0.55500)}


@pytest.mark.parametrize("load", ELASTICA)
def test_many_short_beams_bend_far(load):
    """A cantilever with a dead force at its tip, P L^2 / EI = load: deflection and shortening of the elastica."""
    pieces, EI = 12, 3.0
    m = madi.Model("elastica", gravity=(0, 0, 0))
    before = m.ground
    for k in range(pieces):
        L = 1.0 / pieces
        link = slender(m, f"p{k}", (k * L, 0, 0), ((k + 1) * L, 0, 0), EI, 0.5, {"y": 2}, y_axis=(0, 1, 0),
                       points={"tip": L})  # fmt: skip
        m.fixed(f"j{k}", before, link, at=(k * L, 0, 0))
        before = link
    m.force("P", before, (0, load * EI, 0), at=(1, 0, 0))
    found = madi.statics(m)
    r, _ = m.build().body_pose(found.q, f"p{pieces - 1}@tip")
    down, shorter = ELASTICA[load]
    assert r[1] == pytest.approx(down, rel=2e-3)
    assert 1 - r[0] == pytest.approx(shorter, rel=5e-3)


def test_points_are_told_apart():
    """Labels are names only: forces act where they are drawn."""
    nodes = np.stack([np.linspace(0, 1, 5), np.zeros(5), np.zeros(5)], axis=1)
    modes = np.zeros((1, 5, 6))
    modes[0, :, 2] = nodes[:, 0] ** 2
    for labels in (None, ["root", "", "", "", "tip"], ["root", None, None, None, "tip"]):
        m = madi.Model("nodes", gravity=(0, 0, 0))
        part = m.flexible_body("part", nodes, np.ones(5), modes, [100.0], labels=labels)
        m.fixed("wall", m.ground, part, at=(0, 0, 0))
        m.force("near", part, (0, 0, 1.0), at=(0.25, 0, 0))
        m.force("far", part, (0, 0, 1.0), at=(0.75, 0, 0))
        assert madi.statics(m).q[0] == pytest.approx((0.25**2 + 0.75**2) / 100.0)
    m = one_beam({"z": 1}, "fixed", points={"0.5": 0.1})
    m.gravity = (0, 0, 0)
    m.force("F", "link", (0, 0, 1.0), at=(0.5, 0, 0))
    shape = clamped_loaded(1.0, 1)[0]
    stiffness = m.bodies[0].flexible.field.stiffness[0, 0]
    assert madi.statics(m).q[0] == pytest.approx(shape(0.5) / stiffness)
