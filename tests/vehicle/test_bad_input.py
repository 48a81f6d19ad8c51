"""Hard points from files, and what is refused."""

import numpy as np
import pytest

import madi
from madi import vehicle
from madi.papers import lane_change
from tests.vehicle.cars import TRAILING, WISHBONE, chassis, struts, wishbones


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
