"""Whole cars: parts, settling, loop methods, tires."""

import numpy as np
import pytest

import madi
from madi import vehicle
from madi.papers import lane_change
from tests.vehicle.cars import chassis


def test_parts_added_after_the_driver():
    """A driver's functions find their coordinates when the model is built."""
    c = lane_change.car()
    c.hold_speed(12.0)
    c.follow(vehicle.double_lane_change(start=1000.0), 12.0)
    c.model.body("trailer", 100.0, inertia=(10, 10, 10), position=(-3.0, 0, 0.5))
    c.model.revolute("hitch", "chassis", "trailer", at=(-2.8, 0, 0.5), axis=(0, 0, 1))
    run = madi.simulate(c.model, 1.0, rtol=1e-5, **c.settle(12.0).given())
    assert run["chassis.vx"][-1] == pytest.approx(12.0, rel=1e-2)
    assert np.max(np.abs(run["rack"])) < 1e-4


def test_a_failed_block_leaves_nothing_behind():
    c = chassis()
    bodies = len(c.model.bodies)
    with pytest.raises(madi.InputError, match="mass"):
        c.mcpherson("front", lane_change.FRONT, stiffness=2e4, damping=1e3, knuckle_mass=-1.0)
    assert len(c.model.bodies) == bodies
    c.mcpherson("front", lane_change.FRONT, stiffness=2e4, damping=1e3)
    c.rack("rack", "front", lane_change.FRONT)
    assert vehicle.kinematics(c, "front", (-0.01, 0.01), steps=3).data["camber"].shape == (3, 2)


def test_settling_both_ways_and_trim():
    c = lane_change.car()
    slow = c.settle(way="time", duration=6.0)
    s = c.model.build()
    quick = madi.statics(c.model)
    heights = [s.observe(q, engine="plain").position[0, :, 2] for q in (quick.q, slow.q0)]
    np.testing.assert_allclose(*heights, atol=1e-5)
    loads = s.powers(quick.q, quick.v, engine="plain")
    weight = 9.81 * sum(body.mass for body in c.model.bodies)
    assert sum(loads[f"{a}_{b}_tire"]["value"] for a in ("front", "rear") for b in ("left", "right")) == pytest.approx(
        weight
    )
    c.trim()
    rest = madi.statics(c.model)
    q = rest.system.q0
    drawn = rest.system.observe(q, engine="plain").position[0]
    found = rest.system.observe(rest.q, engine="plain").position[0]
    chassis_z, wheel_z = (rest.system.bodies.index(name) for name in ("chassis", "front_left_wheel"))
    assert found[wheel_z, 2] - found[chassis_z, 2] == pytest.approx(drawn[wheel_z, 2] - drawn[chassis_z, 2], abs=3e-3)


def test_all_loop_methods_move_the_car_alike():
    c = lane_change.car()
    c.steer(vehicle.sine(0.01, 0.1, 0.9))
    c.hold_speed(15.0)
    start = c.settle(15.0)
    methods = ["projection", "pseudo-inverse", "svd", "qr", "partition"]
    found = madi.compare(
        c.model, 1.0, methods, rtol=1e-9, atol=1e-11, repeats=1, times=np.linspace(0, 1, 21), **start.given()
    )
    assert not found.failed
    for row in found.table:
        assert row["motion"] < 1e-6, row
        assert row["forces"] < 1e-6, row
    first = found.runs["projection"].data["multiplier"].values
    for way in methods[1:]:
        data = found.runs[way].data
        assert np.max(np.abs(data["multiplier"].values - first)) < 1e-6 * np.max(np.abs(first))
        assert float(data["null_space_error"].max()) < 1e-10


@pytest.mark.parametrize("tire", [None, {"tir": "tests/data/tires/tno_205_60r15_mf62.tir"}])
def test_what_tires_did(tire):
    """In a turn their forces, summed in ground axes, are mass times the acceleration of all of it; at rest they carry it."""
    c = lane_change.car(tire)
    c.steer(vehicle.step(-0.005, 0.2, 0.3))
    run = madi.simulate(c.model, 1.5, rtol=1e-7, times=[0.0, 1.0, 1.5], **c.settle(15.0).given())
    found = vehicle.tire_signals(c, run)
    weight = 9.81 * sum(body.mass for body in c.model.bodies)
    assert float(found["fz"].isel(time=0).sum()) == pytest.approx(weight, rel=1e-3)
    np.testing.assert_allclose(
        found["fz"].values, np.column_stack([run[str(name)] for name in found["tire"].values]), rtol=1e-6
    )
    # Newton: momentum changes by the forces; d(momentum)/dt from the accelerations of all bodies
    data = run.data
    masses = {body.name: body.mass for body in c.model.bodies}
    change = sum(masses[name] * data["acceleration"].sel(body=name).values for name in masses)
    yaw = data["bryant"].sel(body="chassis", axis="z").values
    for k in (1, 2):
        # the chassis' heading is near enough to that of the wheels, which are turned by a few degrees
        side = float(found["fy"].isel(time=k).sum())
        across = -np.sin(yaw[k]) * change[k, 0] + np.cos(yaw[k]) * change[k, 1]
        assert side == pytest.approx(across, rel=0.02)
        assert float(np.abs(found["alpha"].isel(time=k)).max()) > 1e-3
    with pytest.raises(madi.InputError, match="every"):
        vehicle.tire_signals(c, run, every=0)


@pytest.mark.parametrize("tire", [None, {"tir": "tests/data/tires/tno_205_60r15_mf62.tir", "relaxation": True}])
def test_on_its_roof(tire):
    """A car thrown on its roof keeps running with finite numbers: its wheels are in the air, then touch again."""
    c = lane_change.car(tire)
    s = c.model.build()
    q = s.start.q.copy()
    at = s.q_slice("chassis").start
    q[at + 2] = 1.5
    q[at + 3 : at + 7] = 0.0, 1.0, 0.0, 0.0
    run = madi.simulate(c.model, 1.5, start=(q, {"chassis.vx": 10.0, "chassis.wx": 3.0}), rtol=1e-4)
    assert np.isfinite(run.data["position"].values).all()
    tires = [run[f"{axle}_{side}_tire"] for axle in ("front", "rear") for side in ("left", "right")]
    assert max(tire.max() for tire in tires) > 1000.0  # they touched
