"""Newmark and generalized-alpha: order, numerical damping, loops, drives, redundant rows, options."""

import numpy as np
import pytest

import madi


def governor():
    m = madi.Model("governor")
    m.body("shaft", 2.0, inertia=(0.1, 0.1, 0.05), position=(0, 0, 0.2))
    m.revolute("S", m.ground, "shaft", at=(0, 0, 0), axis=(0, 0, 1), v0=8.0)
    m.body("collar", 1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.1))
    m.prismatic("P", "shaft", "collar", at=(0, 0, 0.1), axis=(0, 0, 1))
    for side, name in ((1, "left"), (-1, "right")):
        m.body(name, 0.5, inertia=(0.005, 0.005, 0.005), position=(side * 0.1, 0, 0.3))
        m.revolute(f"{name} pin", "shaft", name, at=(side * 0.02, 0, 0.4), axis=(0, 1, 0))
        m.distance(f"{name} rod", name, "collar", at=((side * 0.1, 0, 0.25), (side * 0.02, 0, 0.1)))
    m.joint_spring("spring", "P", 800.0, 5.0)
    return m


@pytest.mark.parametrize("jacobian", ["slow", "step", "once"])
@pytest.mark.parametrize("method", ["newmark", "generalized-alpha"])
def test_second_order_down_to_small_steps(method, jacobian):
    s = governor().build()
    exact = madi.simulate(s, 1.0, rtol=1e-12, times=[1.0], engine="jit").data["q"].values[-1]
    steps, errors = np.array([1e-2, 1e-3, 1e-4, 2e-5]), []
    for step in steps:
        run = madi.simulate(s, 1.0, step=step, method=method, jacobian=jacobian, times=[1.0], engine="jit")
        errors.append(np.max(np.abs(run.data["q"].values[-1] - exact)))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.all(np.abs(slopes - 2.0) < 0.15), errors
