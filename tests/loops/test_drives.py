"""Drives in loops: on tree joints and on cut joints, their work, and drives that contradict the loop."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar


@pytest.mark.parametrize("cut", [None, 0, 3])
def test_a_driven_crank(cut):
    """Driven on a tree joint, or on the very joint that closes the loop: the same motion, the same power balance."""
    m = four_bar()
    m.drive("A", lambda t: 2.0 * t + 0.1 * madi.sin(5 * t))
    if cut is not None:
        m.joints[cut].cut = True
    run = madi.simulate(m, 2.0, method="dopri", rtol=1e-10, times=np.linspace(0, 2, 41), engine="jit")
    (angle,) = (
        np.unwrap(2 * np.arctan2(run.data["orientation"].sel(body="crank", quaternion="y"),
                                 run.data["orientation"].sel(body="crank", quaternion="w"))),
    )  # fmt: skip
    t = run.data["time"].values
    np.testing.assert_allclose(angle, 2 * t + 0.1 * np.sin(5 * t), atol=1e-9)
    assert float(run.data["violation"].max()) < 1e-10


def test_driving_torque_by_energy():
    """d(energy)/dt is what the drive delivers."""
    m = four_bar()
    m.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    run = madi.simulate(m, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    rate = np.gradient(run["energy"], run.data["time"].values, edge_order=2)
    np.testing.assert_allclose(rate[5:-5], run["power"][5:-5], atol=2e-4 * np.max(np.abs(rate)))


def test_two_drives_on_one_freedom_are_refused():
    m = four_bar()
    m.drive("A", lambda t: t)
    m.drive("D", lambda t: 0.1 * t)
    with pytest.raises(madi.InputError, match=r"tie these driven or locked coordinates together: A, D"):
        madi.simulate(m, 1.0)
    m = four_bar()
    m.drive("A", lambda t: t)
    m.lock("B")
    with pytest.raises(madi.InputError, match="tie these"):
        madi.simulate(m, 1.0)


def test_a_drive_that_leaves_the_reach_stops_with_names():
    m = four_bar(lengths=(0.6, 1.0, 0.5, 1.0))
    m.drive("A", lambda t: t)
    with pytest.raises(madi.RunError, match=r"loops cannot be closed .*C .*drives \('A'\)") as caught:
        madi.simulate(m, 4.0, step=1e-3, engine="jit")
    kept = caught.value.run.data
    assert len(kept["time"]) > 100
    assert float(kept["violation"].max()) < 1e-10


def test_drives_of_cut_joints_do_work():
    m = four_bar(cut=True)
    m.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    run = madi.simulate(m, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    rate = np.gradient(run["energy"], run.data["time"].values, edge_order=2)
    np.testing.assert_allclose(rate[5:-5], run["power"][5:-5], atol=2e-4 * np.max(np.abs(rate)))
    tree = four_bar()
    tree.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    other = madi.simulate(tree, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    np.testing.assert_allclose(run["A.drive"], other["A.drive"], rtol=1e-6, atol=1e-6)


def test_two_drives_on_one_cut_joint():
    runs = []
    for formulation in (None, "cartesian"):
        m = madi.Model("drill")
        m.body("bit", 1.0, inertia=(1, 1, 1), position=(0, 0, 1))
        m.free("F", m.ground, "bit")
        m.cylindrical("C", m.ground, "bit", at=(0, 0, 0), axis=(0, 0, 1), cut=True)
        m.drive("C.z", lambda t: 0.1 * t)
        m.drive("C.angle", lambda t: 4.0 + 2.0 * t)
        runs.append(madi.simulate(m, 1.0, step=1e-2, engine="jit", formulation=formulation))
    for run in runs:
        assert run["bit.wz"][-1] == pytest.approx(2.0)
        assert run["bit.z"][-1] == pytest.approx(1.1)
