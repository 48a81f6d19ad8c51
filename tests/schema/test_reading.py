"""Model files are read as meant: parameters, tables, included files, runs."""

from __future__ import annotations

import numpy as np
import pytest

import madi
from madi.schema.read import loads
from tests.schema.files import PENDULUM, SMALL, again, same_arrays


def test_a_file_is_the_model_drawn_in_python():
    m = madi.Model("pendulum")
    mass = 2 * 0.45359237
    bob = m.body("bob", mass, inertia=(mass * 0.25 / 200, 0.001, 0.001), position=(0, 0, -0.5))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=np.pi / 6)
    same_arrays(m, loads(PENDULUM))


def test_drives_tables_and_forces_of_time_and_state(tmp_path):
    (tmp_path / "lift.csv").write_text("time,height,other\n0,0,5\n1,0.2,6\n2,0,7\n")
    text = (
        PENDULUM
        + """
tables: {lift: {points: {csv: lift.csv, columns: [time, height]}, between: linear}}
forces:
  wind: {type: force, body: bob, value: ["10 N * sin(2 * pi * 0.5 Hz * t)", 0, 0]}
  brake: {type: joint_torque, joint: pin, value: "-0.3 * v(pin) - 2 N m * lift(t) * q(pin)"}
run: {duration: 1 s, step: 1 ms, method: rk4, every: 50 ms}
"""
    )
    m = loads(text, folder=tmp_path)
    s = m.build()
    a = s.forward_dynamics([0.4], [0.7], t=0.5)
    mass = 2 * 0.45359237
    inertia = 0.001 + mass * 0.25
    push = 10 * np.sin(np.pi * 0.5) * -0.5 * np.cos(0.4)  # about +y, the bob hanging at -z
    brake = -0.3 * 0.7 - 2 * 0.1 * 0.4
    assert float(a[0]) == pytest.approx((push + brake - mass * 9.81 * 0.5 * np.sin(0.4)) / inertia, rel=1e-12)
    run = m.simulate()
    np.testing.assert_allclose(run.data["time"].values, np.linspace(0, 1, 21), atol=1e-12)
    again(m)  # parameters and tables are written out


def test_an_included_file_is_drawn_twice_with_other_names(tmp_path):
    (tmp_path / "leg.yaml").write_text("""
parameters: {y: 0.0, kg1: 1 kg}
bodies: {leg: {mass: kg1, inertia: [1, 1, 1], position: [0, y, -1]}}
joints: {hip: {type: revolute, parent: trunk, child: leg, at: [0, y, 0], axis: [0, 1, 0]}}
forces: {motor: {type: joint_torque, joint: hip, value: "-v(hip)"}}
""")
    (tmp_path / "walker.yaml").write_text("""
include: [{file: leg.yaml, prefix: left_, parameters: {y: 20 cm}}, {file: leg.yaml, prefix: right_, parameters: {y: -20 cm}}]
bodies: {trunk: {mass: 10, inertia: [1, 1, 1]}}
joints: {free: {type: free, parent: ground, child: trunk}}
""")
    m = madi.load(tmp_path / "walker.yaml")
    assert [b.name for b in m.bodies] == ["left_leg", "right_leg", "trunk"]
    s = m.build()
    assert float(s.body_pose(s.q0, "right_leg")[0][1]) == pytest.approx(-0.2)
    a = s.forward_dynamics(s.q0, np.eye(s.nv)[s.v_slice("left_hip")][0] * 2.0)
    assert a[s.v_slice("left_hip")][0] < 0, "the prefix reaches v(hip) too"
    same_arrays(m, again(m))


def test_files_of_a_run_give_the_run_of_python():
    m = loads(PENDULUM + "run: {duration: 0.5 s, step: 1 ms}\n")
    a, b = m.simulate(), madi.simulate(m, 0.5, step=1e-3)
    np.testing.assert_array_equal(a.data["q"].values, b.data["q"].values)


def test_files_are_named_from_the_file_that_names_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "b.yaml").write_text(
        "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\nroads: {bump: [{half_round: {at: 3, radius: 0.1}}]}"
    )
    (tmp_path / "parts" / "a.yaml").write_text("include: b.yaml\nadjustable: [spring.stiffness]")
    (tmp_path / "m.yaml").write_text("""
include: parts/a.yaml
joints: {f: {type: free, parent: ground, child: b}}
forces: {w: {type: wheel, body: b, at: [0, 0, 0.3], radius: 0.3, stiffness: 1e4, road: bump}}
""")
    m = madi.load(tmp_path / "m.yaml")
    assert m.forces[0].parameters["road"].features
    assert m.adjustables == ["spring.stiffness"]
    (tmp_path / "parts" / "b.yaml").write_text("include: ../../x.yaml")
    with pytest.raises(madi.FileError, match="outside"):
        madi.load(tmp_path / "m.yaml")


def test_parameters_of_any_name_can_be_set(tmp_path):
    (tmp_path / "m.yaml").write_text(PENDULUM.replace("L:", "path:").replace("L", "path"))
    assert madi.load(tmp_path / "m.yaml", path=0.75).bodies[0].position[2] == -0.75
    with pytest.raises(madi.InputError, match="must be a number"):
        madi.load(tmp_path / "m.yaml", path=[1])


def test_tables_may_have_units():
    m = loads(PENDULUM + "tables: {push: {points: [[0 ms, 0 N], [20 ms, 50 N], [1 s, 0]]}}\n"
              "forces: {f: {type: force, body: bob, value: [push(t), 0, 0]}}\n")  # fmt: skip
    s = m.build()
    assert float(s.observe([0.0], [0.0], 0.02, engine="plain").force[0, 0, 0]) == pytest.approx(50.0)


def test_many_parameters_are_read_in_linear_time():
    """Work, not seconds: looking a name up may not walk over all of them."""
    count = 20_000
    lines = ["p0: 1.5"] + [f"p{k}: 'p{k - 1} + 0.001'" for k in range(1, count)]
    m = loads("parameters:\n  " + "\n  ".join(lines) + "\nbodies: {b: {mass: p19999, inertia: [1, 1, 1]}}\n"
              "joints: {f: {type: free, parent: ground, child: b}}\n")  # fmt: skip
    assert m["b"].mass == pytest.approx(1.5 + 0.001 * (count - 1))


def test_a_csv_with_lone_returns(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x,y\r0,0\r1,2\r2,0\r")
    (tmp_path / "m.yaml").write_text(SMALL + "tables: {lift: {points: {csv: t.csv}, between: linear}}\n"
                                     "forces: {F: {type: force, body: b, value: ['lift(t)', 0, 0]}}\n")  # fmt: skip
    s = madi.load(tmp_path / "m.yaml").build()
    assert s.forward_dynamics(s.q0, np.zeros(6), t=0.5, engine="plain")[0] == pytest.approx(1.0)
