"""Roll, pitch, yaw and slip of bodies against SciPy."""

import numpy as np

import madi
from madi.verify import tops


def test_attitude_against_scipy():
    from scipy.spatial.transform import Rotation

    run = madi.simulate(tops.heavy(), 2.0, rtol=1e-8, engine="jit")
    w, x, y, z = run.data["orientation"].sel(body="top").values.T
    R = Rotation.from_quat(np.column_stack([x, y, z, w]))
    yaw, pitch, roll = R.as_euler("ZYX").T
    np.testing.assert_allclose(run["top.roll"], roll, atol=1e-12)
    np.testing.assert_allclose(run["top.pitch"], pitch, atol=1e-12)
    np.testing.assert_allclose(np.exp(1j * run["top.yaw"]), np.exp(1j * yaw), atol=1e-12)
    for kind, variable in (("v", "velocity"), ("a", "acceleration"), ("w", "angular_velocity")):
        inside = R.inv().apply(run.data[variable].sel(body="top").values)
        np.testing.assert_allclose(np.column_stack([run[f"top.{kind}{axis}_body"] for axis in "xyz"]), inside, atol=1e-9)


def test_roll_is_roll_after_a_turn():
    """1.08 degrees of roll at 127 of yaw; and where y is up, yaw is about y."""
    from scipy.spatial.transform import Rotation

    for gravity, axes in (((0, 0, -9.81), np.eye(3)), ((0, -9.81, 0), np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T)):
        turn = axes @ Rotation.from_euler("ZYX", [127, 0.26, 1.08], degrees=True).as_matrix() @ axes.T
        x, y, z, w = Rotation.from_matrix(turn).as_quat()
        m = madi.Model("car", gravity=gravity)
        m.body("chassis", 1000.0, inertia=(400, 1500, 1600))
        velocity = turn.T @ axes @ Rotation.from_euler("z", 127 + 3, degrees=True).apply([20.0, 0, 0])
        m.free("chassis", m.ground, "chassis", q0=(0, 0, 0, w, x, y, z), v0=(*velocity, 0, 0, 0))
        run = madi.simulate(m, 0.01, step=0.01, engine="plain")
        found = [np.degrees(run[f"chassis.{part}"][0]) for part in ("roll", "pitch", "yaw", "slip")]
        np.testing.assert_allclose(found, [1.08, 0.26, 127, 3], atol=1e-9)
