"""Vehicles from hard points: suspension kinematics against an independent solver and closed forms, loads, manoeuvres, the
lane change, steady cornering against a single-track model, bad input."""

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import madi
from madi import vehicle
from madi.papers import lane_change
from madi.vehicle import Car

WISHBONE = {
    "uca_front": (0.12, 0.45, 0.50), "uca_rear": (-0.15, 0.46, 0.49), "uca_ball": (-0.02, 0.68, 0.52),
    "lca_front": (0.15, 0.35, 0.20), "lca_rear": (-0.20, 0.36, 0.21), "lca_ball": (0.01, 0.72, 0.18),
    "spring_top": (0.0, 0.50, 0.65), "spring_bottom": (0.0, 0.58, 0.22), "wheel_centre": (0.0, 0.76, 0.31),
    "tie_inner": (-0.14, 0.36, 0.26), "tie_outer": (-0.13, 0.70, 0.25),
}  # fmt: skip
TRAILING = {
    "pivot_inner": (0.4, 0.4, 0.3), "pivot_outer": (0.4, 0.6, 0.3), "wheel_centre": (0.0, 0.7, 0.3),
    "spring_top": (0.1, 0.5, 0.7), "spring_bottom": (0.1, 0.5, 0.3),
}  # fmt: skip
BAR = {"bar": (0.3, 0.3, 0.25), "link_top": (0.1, 0.45, 0.25), "link_bottom": (0.1, 0.5, 0.2)}


def chassis():
    return vehicle.Car("rig", mass=1000.0, inertia=(400.0, 1500.0, 1600.0), com=(-1.2, 0.0, 0.5))


def wishbones(points=None, bar=None):
    c = chassis()
    points = WISHBONE | (points or {})
    c.double_wishbone("front", points, stiffness=25e3, damping=1500.0, preload=3000.0)
    c.rack("rack", "front", points, travel=0.07)
    if bar:
        c.anti_roll_bar("bar", "front", BAR, bar)
    c.wheels("front", 18.0, (0.6, 1.0, 0.6), {"radius": 0.31, "stiffness": 2e5})
    return c


def struts():
    c = chassis()
    c.mcpherson("front", lane_change.FRONT, stiffness=20e3, damping=1500.0, preload=2500.0)
    c.rack("rack", "front", lane_change.FRONT)
    c.wheels("front", 15.0, (0.5, 0.8, 0.5), lane_change.TIRE)
    return c


# ---- kinematics -----------------------------------------------------------------------------------------------------


def knuckle_by_itself(points, kind, height, rack):
    """The left knuckle's motion from lengths alone: rotation vector and shift that keep arms, rod and strut."""
    p = {name: np.array(point, dtype=float) for name, point in points.items()}
    centre = p["wheel_centre"]

    def moved(x, name):
        return centre + x[3:] + Rotation.from_rotvec(x[:3]).apply(p[name] - centre)

    def same(x, name, other, shift=0.0):
        there = p[other] + np.array([0, shift, 0])
        return np.linalg.norm(moved(x, name) - there) - np.linalg.norm(p[name] - p[other])

    def equations(x):
        found = [same(x, "lca_ball", "lca_front"), same(x, "lca_ball", "lca_rear"), same(x, "tie_outer", "tie_inner", rack)]
        if kind == "wishbone":
            found += [same(x, "uca_ball", "uca_front"), same(x, "uca_ball", "uca_rear")]
        else:  # the strut's line, fixed to the knuckle, passes its top
            axis = Rotation.from_rotvec(x[:3]).apply(p["strut_top"] - p["strut_bottom"])
            away = np.cross(p["strut_top"] - moved(x, "strut_bottom"), axis)
            found += [away[0], away[1]]
        return [*found, x[5] - height]

    x, _, ok, told = fsolve(equations, np.array([0, 0, 0, 0, 0, height]), full_output=True, xtol=1e-13)
    assert ok == 1, told
    axis = Rotation.from_rotvec(x[:3]).apply([0, 1, 0])
    return {"camber": -np.arcsin(axis[2]), "steer": np.arctan2(-axis[0], axis[1]), "centre": centre + x[3:], "axis": axis}


@pytest.mark.parametrize("kind", ["wishbone", "strut"])
def test_kinematics_by_lengths_alone(kind):
    car, points, radius = (wishbones(), WISHBONE, 0.31) if kind == "wishbone" else (struts(), lane_change.FRONT, 0.29)
    found = vehicle.kinematics(car, "front", (-0.06, 0.06), steering=(-0.05, 0.05), steps=5)
    for data, name, what in ((found.data, "travel", 0), (found.steering, "rack", 1)):
        for k, value in enumerate(data[name].values):
            alone = knuckle_by_itself(points, kind, *((value, 0.0) if what == 0 else (0.0, value)))
            d = data.sel(side="left").isel({name: k})
            assert float(d["camber"]) == pytest.approx(alone["camber"], abs=1e-9)
            assert float(d["steer"]) == pytest.approx(alone["steer"], abs=1e-9)
            up = np.array([0, 0, 1]) - alone["axis"][2] * alone["axis"]
            patch = alone["centre"] - radius * up / np.linalg.norm(up)
            np.testing.assert_allclose(d["patch"].values, patch, atol=1e-9)
    # left and right are mirror images in travel
    np.testing.assert_allclose(*(found.data["camber"].sel(side=side).values for side in ("left", "right")), atol=1e-9)
    # rates against differences of positions: roll centre, motion ratio
    fine = vehicle.kinematics(car, "front", (-1e-4, 1e-4), steps=3)
    y = fine.data["patch"].sel(side="left", axis="y").values
    z = fine.data["patch"].sel(side="left", axis="z").values
    assert float(fine.data["roll_centre"][1]) == pytest.approx(y[1] * (y[2] - y[0]) / (z[2] - z[0]), rel=1e-5)
    spring = fine.data["spring_force"].sel(side="left").values
    k = 25e3 if kind == "wishbone" else 20e3
    ratio = float(fine.data["motion_ratio"].sel(side="left")[1])
    assert (spring[2] - spring[0]) / k / 2e-4 == pytest.approx(ratio, rel=1e-5)


def test_roll_centre_of_parallel_arms_by_drawing():
    """Flat parallel wishbones: the contact patch moves straight up, the roll centre is on the ground."""
    flat = {
        "uca_front": (0.1, 0.4, 0.5), "uca_rear": (-0.1, 0.4, 0.5), "uca_ball": (0, 0.7, 0.5),
        "lca_front": (0.1, 0.4, 0.2), "lca_rear": (-0.1, 0.4, 0.2), "lca_ball": (0, 0.7, 0.2),
        "tie_inner": (-0.1, 0.4, 0.3), "tie_outer": (-0.1, 0.7, 0.3), "wheel_centre": (0, 0.75, 0.31),
        "spring_top": (0, 0.5, 0.6), "spring_bottom": (0, 0.55, 0.2),
    }  # fmt: skip
    d = vehicle.kinematics(wishbones(flat), "front", (-0.02, 0.02), steps=3).data
    assert float(d["roll_centre"][1]) == pytest.approx(0.0, abs=1e-9)
    assert float(d["camber"].sel(side="left")[2]) == pytest.approx(0.0, abs=1e-12)
    # lower arms that meet the upper ones in a point: the roll centre by the drawn lines
    slant = flat | {"lca_front": (0.1, 0.4, 0.25), "lca_rear": (-0.1, 0.4, 0.25), "tie_inner": (-0.1, 0.4, 0.3)}
    d = vehicle.kinematics(wishbones(slant), "front", (-0.02, 0.02), steps=3).data
    # lower arm's line from the ball: z = 0.2 + (0.7 - y) / 6 meets z = 0.5 at y = -1.1; from there to the patch (0.75, 0)
    expected = 0.5 * 0.75 / (0.75 + 1.1)
    assert float(d["roll_centre"][1]) == pytest.approx(expected, abs=1e-6)


def test_roll_centre_in_roll_by_its_own_drawing():
    """One wheel up, the other down: the normals of the patches' paths, each from its own height."""
    for car, axle in ((wishbones(), "front"), (lane_change.car(), "rear")):
        fine = vehicle.kinematics(car, axle, (0.05 - 1e-5, 0.05 + 1e-5), steps=3, opposite=True).data
        patch = fine["patch"].sel(axis=["y", "z"]).values
        a, b = patch[1]
        da, db = patch[2] - patch[0]
        na, nb = np.array([-da[1], da[0]]), np.array([-db[1], db[0]])
        s = np.linalg.solve(np.column_stack([na, -nb]), b - a)[0]
        y, z = a + s * na
        height = z - (a[1] + (b[1] - a[1]) * (y - a[0]) / (b[0] - a[0]))
        assert float(fine["roll_centre"][1]) == pytest.approx(height, abs=2e-5)
    alike = vehicle.kinematics(lane_change.car(), "rear", (-0.02, 0.02), steps=3).data
    assert float(alike["roll_centre"][1]) == pytest.approx(0.098, abs=2e-3)  # a dependent axle has one too


def test_the_rig_takes_springs_as_they_are_and_reports_every_joint():
    c = lane_change.car()
    c.trim()
    rest = madi.statics(c.model)
    carried = -rest.system.powers(rest.q, rest.v, engine="plain")["front_left_spring"]["value"]
    found = vehicle.kinematics(c, "front", (-0.02, 0.02), steps=3)
    assert float(found.data["spring_force"].sel(side="left")[1]) == pytest.approx(carried, rel=1e-3)
    names = set(found.loads())
    assert {"rack", "front_left_spin", "front_left_ball", "rack_left_rod_outer", "front_right_top"} <= names
    half = found.loads(0.01)["front_left_ball"]
    np.testing.assert_allclose(half, (found.loads(0.0)["front_left_ball"] + found.loads(0.02)["front_left_ball"]) / 2)


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


def test_loads_of_a_trailing_arm_by_hand():
    """Statics of one lever: what the spring presses, what the bearing carries."""
    c = chassis()
    c.trailing_arm("rear", TRAILING, stiffness=20e3, damping=0.0, preload=4000.0)
    c.wheels("rear", 10.0, (0.5, 0.8, 0.5), {"radius": 0.3, "stiffness": 2e5})
    found = vehicle.kinematics(c, "rear", (-0.01, 0.01), steps=3, forces=(-500.0, 300.0, None))
    d = found.data.sel(side="left").isel(travel=1)
    # moments about the pivot axis: load * 0.4 - fx * 0.3 (patch 0.3 below) = spring * 0.3
    assert float(d["wheel_load"]) == pytest.approx((4000 * 0.3 + -500 * 0.3) / 0.4, rel=1e-6)
    force = found.loads()["rear_left_arm"][:3]  # of the chassis on the arm
    np.testing.assert_allclose(force, [500, -300, 4000 - float(d["wheel_load"])], atol=1e-5)
    assert float(d["motion_ratio"]) == pytest.approx(0.75, rel=1e-9)


def test_virtual_work_of_loads():
    """Wheel load times travel = spring force times shortening, and a drop link carries the bar's torsion."""
    for car in (wishbones(), struts(), wishbones(bar=800.0)):
        d = vehicle.kinematics(car, "front", (-0.04, 0.04), steps=5).data.sel(side="left")
        # the contact patch does not rise exactly as the centre does: rate of the patch over that of the centre
        rate = np.gradient(d["patch"].sel(axis="z").values, d["travel"].values)
        work = (d["spring_force"] * d["motion_ratio"]).values
        np.testing.assert_allclose((d["wheel_load"].values * rate)[1:-1], work[1:-1], rtol=2e-3)
    sweep = {"axle": "front", "travel": (-0.02, 0.02), "steps": 3}
    stiff = [vehicle.kinematics(wishbones(bar=bar), opposite=True, **sweep).data for bar in (None, 800.0)]
    loads = [float(d["wheel_load"].sel(side="left")[2] - d["wheel_load"].sel(side="left")[0]) for d in stiff]
    assert loads[1] > 1.05 * loads[0]  # stiffer in roll
    alike = [vehicle.kinematics(wishbones(bar=bar), **sweep).data for bar in (None, 800.0)]
    np.testing.assert_allclose(*(d["wheel_load"].values for d in alike), rtol=1e-3)  # not in heave


def test_table_and_picture(tmp_path):
    found = vehicle.kinematics(struts(), "front", (-0.05, 0.05), steering=(-0.03, 0.03), steps=3)
    assert "camber, deg" in str(found)
    assert found.table()[1]["travel, mm"] == pytest.approx(0.0)
    axes = found.plot(tmp_path / "rig.png").axes
    for axis, name, scale in ((axes[0], "camber", 180 / np.pi), (axes[2], "track_change", 1e3)):
        for k, side in enumerate(("left", "right")):
            np.testing.assert_allclose(axis.lines[k].get_xdata(), scale * found.data[name].sel(side=side).values)
            np.testing.assert_allclose(axis.lines[k].get_ydata(), 1e3 * found.data["travel"].values)
    assert [line.get_label() for line in axes[5].lines] == ["left", "right"]
    assert (tmp_path / "rig.png").exists()


def test_twist_beam_between_trailing_arms_and_a_rigid_axle():
    """In heave it is a pair of trailing arms; in roll the wheels lean less than the body does."""
    c = lane_change.car()
    heave = vehicle.kinematics(c, "rear", (-0.02, 0.02), steps=3).data
    np.testing.assert_allclose(heave["camber"].values, 0.0, atol=1e-9)
    roll = vehicle.kinematics(c, "rear", (-0.02, 0.02), steps=3, opposite=True).data
    lean = float(roll["camber"].sel(side="left")[2])
    assert -0.02 / 0.70 < lean < 0.0
    assert c.model.build().mobility().degrees_of_freedom == 14  # six, four wheels' travel, four spins; the rack is held


# ---- the car --------------------------------------------------------------------------------------------------------


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


def test_path_of_the_double_lane_change():
    path = vehicle.double_lane_change(start=10.0)
    assert [float(path(x)) for x in (0.0, 25.0, 40.0, 55.0, 60.0, 80.0, 105.0, 200.0)] == pytest.approx(
        [0, 0, 1.75, 3.5, 3.5, 3.5, 0, 0]
    )


@pytest.mark.parametrize("tire", [None, {"tir": "tests/data/tires/tno_205_60r15_mf62.tir", "relaxation": True}])
def test_on_its_roof(tire):
    """A car thrown on its roof keeps running with finite numbers: its wheels are in the air, then touch again."""
    c = lane_change.car(tire)
    s = c.model.build()
    q = s.start.q.copy()
    at = s.q_slice("chassis").start
    q[at + 2] = 1.5
    q[at + 3 : at + 7] = 0.0, 1.0, 0.0, 0.0
    run = madi.simulate(c.model, 1.5, q0=q, v0={"chassis.vx": 10.0, "chassis.wx": 3.0}, rtol=1e-4)
    assert np.isfinite(run.data["position"].values).all()
    tires = [run[f"{axle}_{side}_tire"] for axle in ("front", "rear") for side in ("left", "right")]
    assert max(tire.max() for tire in tires) > 1000.0  # they touched


# ---- files and bad input --------------------------------------------------------------------------------------------


def test_points_from_files(tmp_path):
    yaml, csv = tmp_path / "front.yaml", tmp_path / "front.csv"
    yaml.write_text("units: mm\npoints:\n" + "".join(f"  {n}: {[1e3 * x for x in p]}\n" for n, p in WISHBONE.items()))
    csv.write_text(
        "units, mm\nname, x, y, z\n"
        + "".join(f"{n}, {1e3 * x}, {1e3 * y}, {1e3 * z}\n" for n, (x, y, z) in WISHBONE.items())
    )
    for path in (yaml, csv):
        found = vehicle.read_points(path)
        for name, point in WISHBONE.items():
            np.testing.assert_allclose(found[name], point, atol=1e-12)
    c = chassis()
    c.double_wishbone("front", yaml, stiffness=25e3, damping=1500.0)
    assert c.model.build().nv > 6


def strut_with(**changed):
    chassis().mcpherson("f", spoiled(lane_change.FRONT, **changed), stiffness=1.0, damping=1.0)


def spoiled(points, **changed):
    return {name: value for name, value in (points | changed).items() if value is not None}


BAD = [
    (lambda: wishbones({"uca_ball": (0.05, 0.4526, 0.4974)}), "uca_ball lies .* from the line"),
    (lambda: strut_with(strut_top=None), "strut_top missing"),
    (lambda: strut_with(lca_ball=(0.1, "a", 2)), "lca_ball.*three"),
    (lambda: strut_with(strut_top=lane_change.FRONT["strut_bottom"]), "coincide"),
    (lambda: wishbones({"tie_outer": (-0.005, 0.70, 0.35)}), "tie_outer lies"),
    (lambda: chassis().trailing_arm("r", spoiled(TRAILING, wheel_centre=(0.4, 0.7, 0.3)), stiffness=1.0, damping=1.0),
     "wheel_centre lies"),
    (lambda: struts().steer(vehicle.sine(0.2, 0, 4)), "rack 'rack' would be at .* travel"),
    (lambda: struts().steer(3.0), "function of time"),
    (lambda: chassis().steer(lambda t: 0 * t), "no rack"),
    (lambda: struts().rack("r2", "rear", {}), "no axle 'rear'"),
    (lambda: vehicle.kinematics(struts(), "front", steering=(-0.2, 0.2)), "beyond the rack"),
    (lambda: vehicle.kinematics(struts(), "front", (-0.5, 0.5)), "cannot reach travel"),
    (lambda: vehicle.kinematics(struts(), "front", (0.1, -0.1)), "lowest, highest"),
    (lambda: vehicle.kinematics(struts(), "front", forces=(1, 2)), "three numbers"),
    (lambda: vehicle.kinematics(struts().model, "front"), "vehicle.Car"),
    (lambda: struts().wheels("front", 1.0, (1, 1, 1), 5), "dictionary"),
    (lambda: struts().wheels("front", -1.0, (1, 1, 1)), "mass"),
    (lambda: struts().settle(way="magic"), "choose"),
    (lambda: vehicle.sine(1.0, 5.0, 2.0), "after its start"),
    (lambda: vehicle.read_points("nothing.yaml"), "cannot be read"),
    (lambda: strut_with(strut_tp=(0, 1, 1), strut_top=None), "there is 'strut_tp'"),
    (lambda: strut_with(lca_ball=(5, 665, 200)), "in metres"),
    (lambda: strut_with(lca_ball=(0.005, -0.665, 0.2)), "left side"),
    (lambda: chassis().mcpherson("f", lane_change.FRONT, stifness=1.0, damping=1.0), "options: stiffness"),
    (lambda: chassis().mcpherson("f", lane_change.FRONT, stiffness="45e3", damping=1.0), "stiffness '45e3'"),
    (lambda: chassis().mcpherson("f", lane_change.FRONT, stiffness=-1.0, damping=1.0), "stiffness -1.0"),
    (lambda: wishbones().double_wishbone("front", WISHBONE, stiffness=1.0, damping=1.0), "exists already"),
    (lambda: wishbones().wheels("front", 1.0, (1, 1, 1)), "wheels already"),
    (lambda: wishbones().rack("second", "front", WISHBONE), "already"),
    (lambda: wishbones().brake(1000.0, 1.0, front=65), "from 0 to 1"),
    (lambda: wishbones().hold_speed(float("nan")), "speed"),
    (lambda: wishbones().settle("10"), "speed"),
    (lambda: lane_change.car({"radius": 0.3, "stifness": 1.0}), "its numbers are"),
    (lambda: vehicle.sine(0.1, 0, 1, ramp=0.0), "ramp"),
    (lambda: vehicle.kinematics(struts(), "front", steps=2.5), "whole number"),
    (lambda: vehicle.kinematics(struts(), "front", steps=3).loads(0.2), "outside the sweep"),
    (lambda: vehicle.example_tire().scaled(LMU=0.5), "near it: .*LMUX"),
    (lambda: vehicle.example_tire().forces(4000.0, pressure=2.2), "outside what it was measured at"),
]  # fmt: skip


@pytest.mark.parametrize("call, told", BAD)
def test_bad_input_is_told(call, told):
    with pytest.raises(madi.InputError, match=told):
        call()


@pytest.mark.parametrize("text, told", [
    ("points: {a: [1, 2]}", "three finite"), ("points: [1, 2]", "points:"), ("units: mile\npoints: {a: [1, 2, 3]}", "units"),
    ("points: {a: [1, 2, .nan]}", "finite"), ("unit: mm\npoints: {a: [1, 2, 3]}", "'unit' is not known"),
    ("points: {a: [1, 2, 3], a: [1, 2, 4]}", "given twice"), ("points: {a: &x [1, 2, 3], b: *x}", "aliases"),
    ("points: {a: [1, 2, " + 5000 * "1" + "]}", "."), ("units: [mm]\npoints: {a: [1, 2, 3]}", "units"),
    ("a: [", "line"), ("points: {a: [1, 2, !!python/name:os.system ]}", "not YAML"),
])  # fmt: skip
def test_bad_files_of_points(text, told, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(madi.InputError, match=told):
        vehicle.read_points(path)


def test_a_wheel_with_camber_and_toe_is_in_balance():
    """Free in space it spins about its own axis: a wheel drawn with camber and toe does not wobble (Euler)."""
    car = Car("car", mass=800.0, inertia=(300, 1000, 1200), com=(0, 0, 0.5))
    hard = {"pivot_inner": (0.4, 0.3, 0.3), "pivot_outer": (0.4, 0.6, 0.3), "spring_top": (0, 0.5, 0.7),
            "spring_bottom": (0.1, 0.5, 0.3), "wheel_centre": (0, 0.7, 0.3)}  # fmt: skip
    car.trailing_arm("rear", hard, stiffness=2e4, damping=1e3)
    car.wheels("rear", 15.0, (0.5, 0.8, 0.5), camber=0.03, toe=0.02)
    for body in car.model.bodies:
        if body.name.endswith("wheel"):
            joint = next(j for j in car.model.joints if j.child in (body, body.name))
            axis = np.asarray(joint.axes[0]) / np.linalg.norm(joint.axes[0])
            np.testing.assert_allclose(np.asarray(body.inertia) @ axis, 0.8 * axis, atol=1e-12)
            across = np.cross(axis, (1, 0, 0))
            np.testing.assert_allclose(np.asarray(body.inertia) @ across, 0.5 * across, atol=1e-12)
