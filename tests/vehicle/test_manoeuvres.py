"""Manoeuvres: lane changes, steady cornering against a single-track model, braking, bumps."""

import numpy as np
import pytest

import madi
from madi import vehicle
from madi.papers import lane_change


@pytest.mark.slow
def test_lane_change_against_cartesian_coordinates():
    c = lane_change.experiment()
    times = np.linspace(0, 10, 401)
    runs = [
        madi.simulate(c.model, 10.0, times=times, engine="jit", formulation=how, method="dopri", rtol=1e-5)
        for how in (None, "cartesian")
    ]
    mine, other = (lane_change.chassis(run) for run in runs)
    for name in mine:
        assert lane_change.apart(mine[name], other[name]) < 0.01, name
    assert np.max(np.abs(mine["ay"])) > 2.0
    assert runs[0]["chassis.vx"][-1] == pytest.approx(lane_change.SPEED, rel=5e-3)


def test_understeer_against_a_single_track_model():
    """Yaw gains at two speeds give the understeer gradient; the linear single-track model with the tires' stiffnesses, and
    the roll steer of both axles from the rig, gives it too."""
    c = lane_change.car()
    c.trim()
    rack, L, C = -0.0005, 2.4, 2 * 45e3
    masses, x = (np.array([getattr(b, n) for b in c.model.bodies]) for n in ("mass", "position"))
    m, a = masses.sum(), -(masses @ x[:, 0]) / masses.sum()
    b = L - a
    gains, roll_travel = [], {}
    for speed in (12.0, 24.0):
        c.model.drives = []
        c.steer(vehicle.step(rack, 0.5, 0.5))
        c.hold_speed(speed)
        run = madi.simulate(c.model, 10.0, rtol=1e-7, times=[0.0, 9.0, 10.0], **c.settle(speed).given())
        yaw, v = run["chassis.wz"], np.hypot(run["chassis.vx"], run["chassis.vy"])
        assert yaw[2] == pytest.approx(yaw[1], rel=1e-5)
        gains.append((v[2], yaw[2]))
        data = run.data
        for axle in ("front", "rear"):
            wheels = [data["position"].sel(body=f"{axle}_{side}_wheel", axis="z").values[2] for side in ("left", "right")]
            lean = data["bryant"].sel(body="chassis", axis="x").values[2]
            track = 2 * c.axles[axle].corners["left"].centre[1]
            roll_travel[axle] = ((wheels[0] - wheels[1]) / track - lean) * track / 2 / (v[2] * yaw[2])
    (v1, r1), (v2, r2) = gains
    # delta V / r = L + K V^2, delta the same at both speeds (up to the gain of the rack)
    steer = vehicle.kinematics(c, "front", (-0.001, 0.001), steering=(-0.001, 0.001), steps=3).steering["steer"].mean("side")
    delta = rack * float(steer[2] - steer[0]) / 0.002
    K = delta * (v2 / r2 - v1 / r1) / (v2**2 - v1**2)
    turned = {}
    for axle in ("front", "rear"):
        d = vehicle.kinematics(c, axle, (-0.005, 0.005), steps=3, opposite=True).data["steer"].mean("side")
        turned[axle] = float(d[2] - d[0]) / 0.01 * roll_travel[axle]
    own = m * (b - a) / (L * C) + turned["rear"] - turned["front"]
    assert pytest.approx(own, rel=0.05) == K
    assert turned["rear"] != 0.0
    assert r1 > 0  # the rack to the right steers to the left: its rods are behind the axle


def test_speed_brake_and_bump():
    c = lane_change.car()
    c.hold_speed(20.0)
    c.brake(1500.0, start=1.0, rise=0.1)
    run = madi.simulate(c.model, 2.0, rtol=1e-6, times=[1.5, 2.0], **c.settle(20.0).given())
    slowing = np.diff(run["chassis.vx"])[0] / 0.5
    mass = sum(body.mass for body in c.model.bodies) + 4 * 0.8 / 0.275**2
    assert slowing == pytest.approx(-1500.0 / 0.2745 / mass, rel=0.02)
    road = madi.flat().sine(0.04, 0.8, start=5.0, end=5.8)
    over = lane_change.car(road=road)
    over.hold_speed(10.0)
    run = madi.simulate(over.model, 1.5, rtol=1e-6, **over.settle(10.0).given())
    assert np.ptp(run["chassis.az"]) > 2.0
    assert run["chassis.vx"][-1] == pytest.approx(10.0, rel=0.02)


@pytest.mark.slow
def test_double_lane_change_stays_in_its_lanes():
    c = lane_change.car({"tir": "tests/data/tires/book_205_60r15_mf61.tir"})
    speed = 60 / 3.6
    c.hold_speed(speed)
    path = vehicle.double_lane_change(start=20.0)
    c.follow(path, speed)
    run = madi.simulate(c.model, 9.0, rtol=1e-5, **c.settle(speed).given())
    x, y = run["chassis.x"], run["chassis.y"]
    way = np.array([float(path(one)) for one in x])
    assert np.max(np.abs(y - way)) < 0.6
    assert y.max() > 3.0
    assert abs(y[-1]) < 0.3


def test_path_of_the_double_lane_change():
    path = vehicle.double_lane_change(start=10.0)
    assert [float(path(x)) for x in (0.0, 25.0, 40.0, 55.0, 60.0, 80.0, 105.0, 200.0)] == pytest.approx(
        [0, 0, 1.75, 3.5, 3.5, 3.5, 0, 0]
    )
