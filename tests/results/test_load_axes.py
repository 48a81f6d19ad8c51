"""Loads of joints along the axes one asks for, as P1 plots them."""

import numpy as np
import pytest

import madi
from madi.papers import rssr


def spinning_top():
    """A wheel on an arm that turns about the vertical, drawn askew: axes of arm and wheel differ from the ground's."""
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    m = madi.Model("top")
    m.body("arm", 1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), orientation=turn)
    m.body("wheel", 2.0, inertia=(0.05, 0.04, 0.04), position=(1, 0, 0))
    m.revolute("turn", m.ground, "arm", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("spin", "arm", "wheel", at=(1, 0, 0), axis=(1, 0, 0), v0=20.0)
    m.drive("turn", lambda t: 3.0 * t)
    return m


def test_a_wheel_on_a_turning_arm():
    """Closed form: towards the axis m r w^2, upwards its weight, and the gyroscopic moment I_spin W w about the way forward,
    constant in the arm's axes (x forward, y inwards) and in the joint's (z along the axle, outwards)."""
    run = madi.simulate(spinning_top(), 1.0, rtol=1e-10, reactions={"spin": "parent", "turn": "ground"})
    inwards, weight = 2.0 * 1.0 * 9.0, 2.0 * 9.81
    np.testing.assert_allclose(run["spin.fy"], inwards, rtol=1e-7)  # as asked: the parent's
    np.testing.assert_allclose(run["spin.fy_parent"], inwards, rtol=1e-7)
    np.testing.assert_allclose(run["spin.fx"], 0.0, atol=1e-6)
    np.testing.assert_allclose(run["spin.fz_joint"], -inwards, rtol=1e-7)
    np.testing.assert_allclose(run["spin.fz_ground"], weight, rtol=1e-7)
    angle = 3.0 * run["time"]
    np.testing.assert_allclose(run["spin.fx_ground"], -inwards * np.cos(angle), atol=1e-6)
    gyroscopic = 0.05 * 20.0 * 3.0  # dL/dt of an axle along e_r: I w W e_phi
    np.testing.assert_allclose(run["spin.mx_parent"], gyroscopic, atol=1e-6)
    spin = 20.0 * run["time"]  # the child turns about the axle, its x
    np.testing.assert_allclose(run["spin.fz_child"], weight * np.cos(spin), atol=2e-5)


def test_loads_of_loops_and_another_formulation(tmp_path):
    """Turning a load does not change its size; both formulations agree; it all survives a file."""
    m = rssr.model()
    wanted = {"S1": "child", "R1": "joint", "S2": "parent"}
    times = np.linspace(0, 0.5, 11)
    run = madi.simulate(m, 0.5, rtol=1e-9, times=times, reactions=wanted)
    other = madi.simulate(m, 0.5, rtol=1e-9, times=times, reactions=wanted, formulation="cartesian")
    kept = madi.load_run(run.save(tmp_path / "run.nc"))
    for joint in wanted:
        for axes in ("ground", "parent", "child", "joint"):
            parts = [run[f"{joint}.f{a}_{axes}"] for a in "xyz"]
            np.testing.assert_allclose(np.linalg.norm(parts, axis=0), run[f"{joint}.force"], rtol=1e-12)
            for a in "xyz":
                np.testing.assert_allclose(kept[f"{joint}.f{a}_{axes}"], run[f"{joint}.f{a}_{axes}"], rtol=1e-12)
        for a in "xyz":
            np.testing.assert_allclose(run[f"{joint}.f{a}"], run[f"{joint}.f{a}_{wanted[joint]}"])
            np.testing.assert_allclose(other[f"{joint}.f{a}"], run[f"{joint}.f{a}"], atol=1e-5)
    np.testing.assert_allclose(run["R1.mz_joint"], 0.0, atol=1e-9)  # a hinge carries no moment about its axis
    assert "S1.fx_child" in run.signals


def test_files_and_bad_words(tmp_path):
    m = spinning_top()
    m.run = {"duration": 0.1, "step": 1e-3, "reactions": {"spin": "child"}}
    again = madi.load(m.save(tmp_path / "top.yaml"))
    assert again.run["reactions"] == {"spin": "child"}
    run = again.simulate()
    np.testing.assert_allclose(run["spin.fz"], run["spin.fz_child"])
    with pytest.raises(madi.InputError, match="axes 'body' of 'spin': choose one of ground, parent, child, joint"):
        madi.simulate(m, 0.1, reactions={"spin": "body"})
    m = rssr.model("distance")
    with pytest.raises(madi.InputError, match="'coupler' has no axes of its own"):
        madi.simulate(m, 0.1, reactions={"coupler": "joint"})


def test_what_cannot_be_told_is_refused_before_anything_is_computed():
    """A rod has no axes; a page of its run is drawn all the same; joints that end on the ground, and joints madi adds, have
    their loads too; a joint on a bending parent has no axes of its own."""
    m = madi.Model("x")
    for name, x in (("b", 0.0), ("c", 1.0)):
        m.body(name, 1.0, inertia=(1, 1, 1), position=(x, 0, -1))
    m.revolute("A", m.ground, "b", at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    m.revolute("B", "c", m.ground, at=(1, 0, 0), axis=(0, 1, 0))
    m.distance("rod", "b", "c", ((0, 0, -1), (1, 0, -1)))
    run = madi.simulate(m, 0.2, rtol=1e-6, reactions={"rod": "ground", "B": "joint"})
    assert "rod.fx_joint" not in run.signals
    assert all(len(run[name]) for name in run.signals if name.startswith(("rod.", "B.")))
    np.testing.assert_allclose(run["B.mz"], 0.0, atol=1e-9)
    free = madi.Model("free")
    free.body("b", 1.0, inertia=(1, 1, 1))
    free.free("float", free.ground, "b")
    madi.simulate(free, 0.1, reactions=free.build().loaded_names)
    with pytest.raises(madi.InputError, match="nothing that carries a load is called 'X'"):
        madi.simulate(m, 1e6, reactions={"X": "child"})
