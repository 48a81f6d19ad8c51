"""Suspensions from hard points: kinematics against an independent solver and closed forms, loads."""

import numpy as np
import pytest
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation

import madi
from madi import vehicle
from madi.papers import lane_change
from madi.vehicle import Car
from tests.vehicle.cars import TRAILING, WISHBONE, chassis, struts, wishbones


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
